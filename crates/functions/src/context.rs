//! Evaluation contexts: what functions read of their statement, session and server.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mayfly_memory::{Budget, BudgetKind, LimitError, Reservation};
use mayfly_types::common_type::string_of;
use mayfly_types::convert::CastContext;
use mayfly_types::convert::text::format_value;
use mayfly_types::error::codes;
use mayfly_types::{
    CollationId, Diagnostics, Error, Interrupt, Result, SessionParameters, SqlType, TypeKind, Value,
};

use crate::block_encryption::BlockEncryption;
use crate::signature::Signature;
use crate::stored::StoredFunction;

/// Environment of a call: settings, clock and diagnostics, all injected, so that a statement can be run again with
/// the same result. Made once per statement; shared by its threads.
#[derive(Debug, Clone)]
pub struct EvaluationContext {
    /// Settings of the session.
    pub session: Arc<SessionParameters>,
    /// Whether the statement stores its values under a strict `sql_mode`, so that some warnings
    /// (division by zero) are errors.
    pub is_strict_store: bool,
    /// The receiver of warnings.
    pub diagnostics: Arc<Diagnostics>,
    /// The instant at which the statement began (or `@@timestamp`): microseconds since 1970 UTC.
    pub now_utc_microseconds: i64,
    /// Results of the information functions.
    pub facts: SessionFacts,
    /// `block_encryption_mode`: the mode of AES_ENCRYPT().
    pub block_encryption: BlockEncryption,
    /// `@name` variables of the session.
    pub user_variables: Arc<UserVariables>,
    /// States of RAND(): the session's, and one for each call with a seed.
    pub random: Arc<Mutex<RandomStates>>,
    /// Source of random bytes (UUID(), RANDOM_BYTES()).
    pub entropy: fn(&mut [u8]),
    /// The wall clock of SYSDATE() and UUID(): microseconds since 1970 UTC.
    pub clock: fn() -> i64,
    /// Facts about the server.
    pub server: Arc<dyn ServerFacts>,
    /// The files that LOAD_FILE() may read.
    pub files: Arc<dyn ServerFiles>,
    /// The session's interface to named locks: GET_LOCK().
    pub user_locks: Arc<dyn UserLocks>,
    /// The session as stored functions are called in it.
    pub stored_functions: Arc<dyn CallStored>,
    /// The next UUID_SHORT() of the server.
    pub short_uuids: Arc<AtomicU64>,
    /// Tells whether the statement is to end; polled by SLEEP() and BENCHMARK().
    pub interrupt: Interrupt,
    /// The budget that long results are charged to.
    pub memory: Arc<dyn WorkingMemory>,
    /// Bytes of long results made so far, by which the batch size is chosen.
    pub made: Arc<AtomicU64>,
}

/// Memory budget of a statement.
pub trait WorkingMemory: fmt::Debug + Send + Sync {
    /// A reservation of 0 bytes.
    fn reservation(&self) -> Reservation;

    /// Resizes a reservation to `bytes`, or returns the limit that forbids it.
    fn resize(&self, held: &mut Reservation, bytes: u64) -> Result<()>;
}

/// A budget without a limit.
#[derive(Debug)]
struct Unlimited;

impl WorkingMemory for Unlimited {
    fn reservation(&self) -> Reservation {
        Budget::unlimited(BudgetKind::Memory).reservation()
    }

    fn resize(&self, held: &mut Reservation, bytes: u64) -> Result<()> {
        held.try_resize(bytes)
            .map_err(|error| codes::ER_OUT_OF_MEMORY.with(&[&error]))
    }
}

/// Results of VERSION(), USER() and their kind.
#[derive(Debug, Clone)]
pub struct SessionFacts {
    /// VERSION()
    pub version: &'static str,
    /// USER(): `name@host` of the client.
    pub user: Arc<str>,
    /// CURRENT_USER(): the account that matched.
    pub current_user: Arc<str>,
    /// CURRENT_ROLE(): the active roles.
    pub current_role: Cow<'static, str>,
    /// DATABASE(); `None` without a current database.
    pub database: Option<Arc<str>>,
    /// CONNECTION_ID()
    pub connection_id: u64,
    /// LAST_INSERT_ID()
    pub last_insert_id: Arc<AtomicU64>,
    /// ROW_COUNT() of the statement before.
    pub row_count: i64,
    /// FOUND_ROWS() of the statement before.
    pub found_rows: u64,
    /// Whether the session may see role grants: ROLES_GRAPHML().
    pub sees_roles: bool,
}

/// Facts about the server.
pub trait ServerFacts: fmt::Debug + Send + Sync {
    /// Whether the connection with this number is open.
    fn is_connected(&self, connection: u64) -> bool;

    /// The names of all accounts, and the role grants among them: (account, role, with ADMIN OPTION), both
    /// as indexes of names.
    fn role_graph(&self) -> (Vec<String>, Vec<(usize, usize, bool)>);
}

/// A context without a server.
#[derive(Debug)]
struct NoServer;

impl ServerFacts for NoServer {
    fn is_connected(&self, _connection: u64) -> bool {
        false
    }

    fn role_graph(&self) -> (Vec<String>, Vec<(usize, usize, bool)>) {
        (Vec::new(), Vec::new())
    }
}

/// The server's files that statements may read. Functions access files only through this.
pub trait ServerFiles: fmt::Debug + Send + Sync {
    /// A file's contents, if it has at most `most` bytes.
    fn read(&self, path: &str, most: u64) -> FileContents;
}

/// Outcome of reading a file.
#[derive(Debug)]
pub enum FileContents {
    /// The file does not exist or may not be read.
    Missing,
    /// The path names a directory or another non-regular file.
    NotAFile,
    /// The file is longer than allowed.
    TooLong,
    /// The contents.
    Bytes(Vec<u8>),
}

#[derive(Debug)]
struct NoFiles;

impl ServerFiles for NoFiles {
    fn read(&self, _path: &str, _most: u64) -> FileContents {
        FileContents::Missing
    }
}

/// Named locks of one session. Names are already checked and in lower case.
pub trait UserLocks: fmt::Debug + Send + Sync {
    /// Acquires a lock, recursively if the session holds it; false on timeout. 3058 on deadlock; whatever ends the
    /// statement ends the wait.
    fn acquire(&self, name: &str, longest: Duration, interrupt: &Interrupt) -> Result<bool>;

    /// Releases a lock once; false when another session holds it, `None` when nobody does.
    fn release(&self, name: &str) -> Option<bool>;

    /// The connection that holds a lock.
    fn holder(&self, name: &str) -> Option<u64>;

    /// Releases all locks of the session; returns the number of acquisitions.
    fn release_all(&self) -> u64;
}

/// No locks: constant folding.
#[derive(Debug)]
struct NoLocks;

impl UserLocks for NoLocks {
    fn acquire(&self, _name: &str, _longest: Duration, _interrupt: &Interrupt) -> Result<bool> {
        Ok(false)
    }

    fn release(&self, _name: &str) -> Option<bool> {
        None
    }

    fn holder(&self, _name: &str) -> Option<u64> {
        None
    }

    fn release_all(&self) -> u64 {
        0
    }
}

/// Caller of stored functions in the session of a running statement.
pub trait CallStored: fmt::Debug + Send + Sync {
    /// Runs the body for arguments of the signature's types; the value is of the type of the signature's result. The
    /// signature's text names the value in messages.
    fn call(
        &self,
        function: &Arc<StoredFunction>,
        arguments: &[Value],
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<Value>;
}

/// No session: constant folding, and expressions that contain no stored function.
#[derive(Debug)]
struct NoSession;

impl CallStored for NoSession {
    fn call(
        &self,
        function: &Arc<StoredFunction>,
        _arguments: &[Value],
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<Value> {
        Err(Error::internal(format!(
            "{function:?} is called outside of a session"
        )))
    }
}

impl EvaluationContext {
    /// A context of a fresh session with these settings, for constant folding and tests. The engine overwrites the
    /// fields that it knows better.
    pub fn new(
        session: Arc<SessionParameters>,
        diagnostics: Arc<Diagnostics>,
        now_utc_microseconds: i64,
    ) -> Self {
        Self {
            session,
            is_strict_store: false,
            diagnostics,
            now_utc_microseconds,
            facts: SessionFacts {
                version: "8.4.0-Mayfly",
                user: Arc::from("root@localhost"),
                current_user: Arc::from("root@localhost"),
                current_role: Cow::Borrowed("NONE"),
                database: None,
                connection_id: 1,
                last_insert_id: Arc::default(),
                row_count: -1,
                found_rows: 0,
                sees_roles: true,
            },
            block_encryption: BlockEncryption::default(),
            user_variables: Arc::default(),
            random: Arc::new(Mutex::new(RandomStates::new(1))),
            entropy: system_entropy,
            clock: system_clock,
            server: Arc::new(NoServer),
            files: Arc::new(NoFiles),
            user_locks: Arc::new(NoLocks),
            stored_functions: Arc::new(NoSession),
            short_uuids: Arc::default(),
            interrupt: Interrupt::default(),
            memory: Arc::new(Unlimited),
            made: Arc::default(),
        }
    }

    /// The context of a conversion; `operand` is the value's name in messages.
    pub fn cast<'a>(&'a self, operand: &'a str) -> CastContext<'a> {
        let session = &self.session;
        let now = session
            .time_zone
            .local_of_unix(self.now_utc_microseconds)
            .unwrap_or_default();
        CastContext {
            sql_mode: session.sql_mode,
            diagnostics: &self.diagnostics,
            time_zone: &session.time_zone,
            now,
            operand,
            room: None,
        }
    }

    /// Adds a warning to the statement's diagnostics.
    pub(crate) fn warn(&self, warning: Error) {
        self.diagnostics.warn(warning);
    }

    /// Whether the statement is to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.check().is_err()
    }
}

/// Fills bytes with the randomness of the system.
pub fn system_entropy(bytes: &mut [u8]) {
    // Without a source of entropy in the operating system the clock is the only fallback.
    if getrandom::fill(bytes).is_err() {
        let mut state = MysqlRandom::from_seed(system_clock().cast_unsigned());
        for byte in bytes {
            *byte = (state.next() * 256.0) as u8;
        }
    }
}

fn system_clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
    })
}

/// The error of a memory limit of a session.
pub fn memory_exceeded(error: &LimitError) -> Error {
    codes::ER_CAPACITY_EXCEEDED.with(&[&error.value(), &error.setting, error])
}

/// User variables by their case-insensitive names.
#[derive(Default)]
pub struct UserVariables(Mutex<Variables>);

#[derive(Default)]
struct Variables {
    by_name: HashMap<String, (SqlType, Value)>,
    /// Bytes of the variables, and their reservation.
    bytes: u64,
    held: Option<Reservation>,
}

/// Estimated bytes of a variable besides its name and its string.
const VARIABLE_BYTES: u64 = 256;
/// Step in bytes in which memory of variables is charged.
const VARIABLES_STEP: u64 = 16 << 10;

fn variable_bytes(name: &str, value: &Value) -> u64 {
    let text = match value {
        Value::Bytes(bytes) => bytes.capacity() as u64,
        _ => 0,
    };
    VARIABLE_BYTES + name.len() as u64 + text
}

impl Variables {
    /// Resizes the reservation to the bytes.
    fn charge(&mut self, bytes: u64) -> Result<()> {
        if let Some(held) = &mut self.held {
            let step = bytes.next_multiple_of(VARIABLES_STEP);
            if step != held.bytes() {
                held.try_resize(step)
                    .map_err(|error| memory_exceeded(&error))?;
            }
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl UserVariables {
    /// No variables; later ones are charged to `held`, which holds 0 bytes.
    pub fn charged_to(held: Reservation) -> Self {
        Self(Mutex::new(Variables {
            held: Some(held),
            ..Variables::default()
        }))
    }

    /// Estimated bytes of all variables.
    pub fn memory_bytes(&self) -> u64 {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Variables> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A variable's type and value; `None` when it was never set.
    pub fn get(&self, name: &str) -> Option<(SqlType, Value)> {
        let variables = self.lock();
        match variables.by_name.get(name) {
            Some(found) => Some(found.clone()),
            None => variables.by_name.get(&name.to_lowercase()).cloned(),
        }
    }

    /// Sets a variable, or returns the limit that forbids it. A bare NULL keeps the variable's type.
    pub fn set(&self, name: &str, ty: SqlType, value: Value) -> Result<()> {
        let mut variables = self.lock();
        let name = name.to_lowercase();
        let known = variables.by_name.get(&name);
        let before = known.map_or(0, |(_, value)| variable_bytes(&name, value));
        let (ty, value) = match known {
            Some((known, _)) if ty.kind == TypeKind::Null => (known.clone(), Value::Null),
            _ => kept(ty, value),
        };
        let bytes = variables.bytes - before + variable_bytes(&name, &value);
        variables.charge(bytes)?;
        variables.by_name.insert(name, (ty, value));
        Ok(())
    }

    /// Every variable, by name.
    pub fn all(&self) -> Vec<(String, SqlType, Value)> {
        let mut all: Vec<_> = self
            .lock()
            .by_name
            .iter()
            .map(|(name, (ty, value))| (name.clone(), ty.clone(), value.clone()))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Removes all variables.
    pub fn clear(&self) {
        let mut variables = self.lock();
        variables.by_name = HashMap::new();
        variables.bytes = 0;
        if let Some(held) = &mut variables.held {
            held.free();
        }
    }
}

/// The stored form of a value: integers, decimals, doubles and strings are unchanged, everything else becomes text.
fn kept(ty: SqlType, value: Value) -> (SqlType, Value) {
    match ty.kind {
        TypeKind::Decimal | TypeKind::Double => (ty, value),
        TypeKind::Float => (SqlType::double(), value),
        TypeKind::Null => {
            let text = SqlType::text(TypeKind::LongText, CollationId::BINARY);
            (text, Value::Null)
        }
        TypeKind::Year | TypeKind::Bit => (
            SqlType {
                length: 21,
                ..SqlType::bigint_unsigned()
            },
            value,
        ),
        _ if ty.is_integer() => {
            let kept = SqlType {
                length: 21,
                unsigned: ty.unsigned,
                ..SqlType::bigint()
            };
            (kept, value)
        }
        // That a binary literal was a number is not remembered.
        _ if ty.is_string() => {
            let kept = SqlType {
                unsigned: false,
                is_bytes_literal: false,
                ..ty
            };
            (kept, value)
        }
        _ => {
            let collation = match ty.kind {
                TypeKind::Enum | TypeKind::Set => ty.collation,
                TypeKind::Json => CollationId::UTF8MB4_BIN,
                _ => CollationId::default(),
            };
            let text = format_value(&value, &ty).map_or(Value::Null, Value::Bytes);
            (string_of(&ty, collation), text)
        }
    }
}

impl fmt::Debug for UserVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.lock().by_name).finish()
    }
}

/// MySQL's generator of RAND(): two linear congruential sequences modulo 2^30 - 1, kept so that
/// `RAND(3)` gives the numbers that the manual shows.
#[derive(Debug, Clone, Copy)]
pub struct MysqlRandom {
    seed1: u64,
    seed2: u64,
}

const RANDOM_MODULUS: u64 = 0x3FFF_FFFF;

impl MysqlRandom {
    /// The generator of `RAND(seed)`.
    pub(crate) fn from_seed(seed: u64) -> Self {
        // MySQL computes both seeds in 32 bits.
        let seed = seed as u32;
        let first = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
        let second = seed.wrapping_mul(0x1000_0001);
        Self {
            seed1: u64::from(first) % RANDOM_MODULUS,
            seed2: u64::from(second) % RANDOM_MODULUS,
        }
    }

    /// The generator with this state: `rand_seed1` and `rand_seed2`.
    pub fn from_seeds(seed1: u64, seed2: u64) -> Self {
        Self {
            seed1: seed1 % RANDOM_MODULUS,
            seed2: seed2 % RANDOM_MODULUS,
        }
    }

    /// The state.
    pub fn seeds(self) -> (u64, u64) {
        (self.seed1, self.seed2)
    }

    /// The next number, at least 0 and less than 1.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator would promise an end"
    )]
    pub fn next(&mut self) -> f64 {
        self.seed1 = (self.seed1 * 3 + self.seed2) % RANDOM_MODULUS;
        self.seed2 = (self.seed1 + self.seed2 + 33) % RANDOM_MODULUS;
        self.seed1 as f64 / RANDOM_MODULUS as f64
    }
}

/// The generators of a session.
#[derive(Debug)]
pub struct RandomStates {
    /// RAND() without an argument.
    pub session: MysqlRandom,
    /// `RAND(constant)`: one sequence per call in the statement, keyed by the address of the call's signature.
    /// Cleared when a statement begins.
    pub calls: HashMap<usize, MysqlRandom>,
}

impl RandomStates {
    /// The states of a session that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            session: MysqlRandom::from_seed(seed),
            calls: HashMap::new(),
        }
    }
}

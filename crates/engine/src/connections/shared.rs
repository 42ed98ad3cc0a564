//! The part of a session that other threads use: its account, its progress, and its kill signal.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_exec::Progress;
use mayfly_plan::explain::Change;
use mayfly_plan::physical::QueryPlan;
use mayfly_storage::UserTable;
use mayfly_types::CollationId;
use parking_lot::{Mutex, RwLock};

use crate::accounts::account::AccountName;
use crate::budgets::SessionMemory;
use crate::connections::ConnectAttributes;
use crate::connections::activity::Activity;
use crate::engines::Engine;
use crate::instrumentation::{AccountActivity, History, StageEvent, StatementEvent, TotalsByKind};
use crate::status::Counters;

/// The query of a plan, and the change made with its rows.
pub(crate) type PlanParts = (Option<Arc<QueryPlan>>, Option<Change>);

/// Plan of a running statement, as EXPLAIN FOR CONNECTION shows it.
pub(crate) trait RunningPlan: Debug + Send + Sync {
    /// The parts to explain; `None` for plans that cannot be explained.
    fn parts(&self) -> Option<PlanParts>;
}

/// Options of a new session: its account, and the client's settings.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The account's name.
    pub user: String,
    /// The client's host.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// Whether the client is interactive: `wait_timeout` starts as `interactive_timeout`.
    pub interactive: bool,
    /// Initial value of `character_set_client` and its like, if the client sends one.
    pub collation: Option<CollationId>,
    /// Whether the client can set a new password when the account's is expired.
    pub changes_expired_password: bool,
    /// Whether an UPDATE reports found rows, including unchanged ones.
    pub found_rows: bool,
    /// Whether `sql_mode` starts with IGNORE_SPACE added.
    pub ignore_space: bool,
    /// Connection attributes: names and values, such as `program_name`.
    pub attributes: Vec<(String, String)>,
}

impl SessionOptions {
    /// Options of `root@localhost` in the database `test`.
    pub fn new() -> Self {
        Self {
            user: "root".to_owned(),
            host: "localhost".to_owned(),
            database: Some("test".to_owned()),
            interactive: false,
            collation: None,
            changes_expired_password: false,
            found_rows: false,
            ignore_space: false,
            attributes: Vec::new(),
        }
    }
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The account of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) user: String,
    pub(crate) host: String,
    /// The account that it has logged in to; `None` for an embedded session.
    pub(crate) account: Option<AccountName>,
    /// The client's connection attributes.
    pub(crate) attributes: ConnectAttributes,
}

/// Callback when a connection is to end.
type Wake = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Signal {
    /// Set to end the running statement.
    killed: Arc<AtomicBool>,
    /// Set to fail every further statement.
    closed: AtomicBool,
    wake: Mutex<Option<Wake>>,
}

/// Handle to end a session, or its running statement, from another thread.
#[derive(Clone, Default)]
pub struct KillHandle(Arc<Signal>);

impl Debug for KillHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KillHandle")
            .field("killed", &self.0.killed)
            .field("closed", &self.0.closed)
            .finish_non_exhaustive()
    }
}

impl KillHandle {
    /// Ends the running statement, if there is one, with error 1317.
    pub fn kill(&self) {
        self.0.killed.store(true, Ordering::Relaxed);
    }

    /// Ends the session: its statement, and any wait for its client.
    pub fn close(&self) {
        self.release();
        self.kill();
        if let Some(wake) = &*self.0.wake.lock() {
            wake();
        }
    }

    /// Whether the session is to end.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Sets a callback for the session's end; it is called at once if the session is ended already. It must not
    /// block, and replaces an earlier one.
    pub fn on_close(&self, wake: impl Fn() + Send + Sync + 'static) {
        let mut wake_now = self.0.wake.lock();
        if self.is_closed() {
            wake();
        }
        *wake_now = Some(Box::new(wake));
    }

    /// Ends the session after its running statement.
    pub(crate) fn release(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// Begins a statement: a kill of an earlier statement does not end it.
    #[inline]
    pub(crate) fn reset(&self) {
        self.0.killed.store(false, Ordering::Relaxed);
    }

    /// The flag that the running statement checks.
    pub(crate) fn killed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.killed)
    }
}

/// Progress of the running statement, for a progress bar in another thread.
#[derive(Debug, Clone)]
pub struct ProgressHandle {
    pub(crate) progress: Arc<Progress>,
}

impl ProgressHandle {
    /// Rows read from tables so far.
    pub fn rows_read(&self) -> u64 {
        self.progress.rows_read.load(Ordering::Relaxed)
    }

    /// Expected number of rows, when known; 0 otherwise.
    pub fn rows_expected(&self) -> u64 {
        self.progress.rows_expected.load(Ordering::Relaxed)
    }
}

/// The session's account, and its budgets.
#[derive(Debug, Clone)]
struct Owner {
    identity: Arc<Identity>,
    memory: SessionMemory,
    /// Activity of the account's sessions; `None` before the session begins, and after it has ended.
    account: Option<Arc<AccountActivity>>,
}

/// The part of a session that other sessions see: SHOW PROCESSLIST, KILL, global status. It persists through a change
/// of user.
#[derive(Debug)]
pub(crate) struct SessionShared {
    pub(crate) id: u64,
    /// The client's port, for TCP.
    pub(crate) port: Option<u16>,
    owner: RwLock<Owner>,
    pub(crate) counters: Counters,
    pub(crate) kill: KillHandle,
    pub(crate) activity: Activity,
    /// Its temporary tables.
    pub(crate) temporary_tables: Mutex<Vec<TemporaryTable>>,
    /// The plan of the running statement, if others may see it.
    pub(crate) running: Mutex<Option<Arc<dyn RunningPlan>>>,
    /// The client's transport; unset for an embedded session.
    pub(crate) transport: OnceLock<Transport>,
    /// History of statement events.
    pub(crate) history: History<StatementEvent>,
    /// History of stage events.
    pub(crate) stages: History<StageEvent>,
    /// Totals of its statements, by kind.
    pub(crate) statements: TotalsByKind,
    /// Whether its statements are instrumented: `INSTRUMENTED` of performance_schema's `threads`.
    pub(crate) is_instrumented: AtomicBool,
    /// Whether its events are kept: `HISTORY`.
    pub(crate) has_history: AtomicBool,
    /// Temporary files that another server would have made, under `tmp_table_compat`.
    pub(crate) predicted_files: AtomicU64,
    /// Whether these are counted, and not the files that were made.
    pub(crate) counts_predicted: AtomicBool,
    events: AtomicU64,
    /// The number of the last statement removed from `events_statements_current`.
    forgotten: AtomicU64,
}

/// Transport of a connection, as SHOW STATUS shows it.
#[derive(Debug, Clone, Default)]
pub struct Transport {
    /// Its encryption, if it is encrypted.
    pub encryption: Option<Encryption>,
    /// Its compression, if it is compressed.
    pub compression: Option<Compression>,
}

/// Compression of a connection.
#[derive(Debug, Clone)]
pub struct Compression {
    /// `Compression_algorithm`: `zlib` or `zstd`.
    pub algorithm: String,
    /// `Compression_level`
    pub level: u32,
}

/// Encryption of a connection: shown by SHOW STATUS, and required by accounts.
#[derive(Debug, Clone, Default)]
pub struct Encryption {
    /// `Ssl_version`, such as `TLSv1.3`.
    pub version: String,
    /// `Ssl_cipher`
    pub cipher: String,
    /// The client's certificate, if it is valid.
    pub certificate: Option<ClientCertificate>,
}

/// A client's certificate, signed by an authority that the server trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// Its subject, in OpenSSL's one line: `/C=DE/O=Example/CN=ann`.
    pub subject: String,
    /// The issuer, in the same form.
    pub issuer: String,
}

/// A temporary table of a session, as others see it.
#[derive(Debug, Clone)]
pub(crate) struct TemporaryTable {
    /// Process-wide unique id.
    pub(crate) id: u64,
    /// Whether its definition is a global temporary table's, and the session has the rows alone.
    pub(crate) is_global: bool,
    /// Database and name.
    pub(crate) name: Arc<Mutex<(String, String)>>,
    pub(crate) engine: Engine,
    pub(crate) columns: usize,
    /// Microseconds since 1970 UTC.
    pub(crate) created: i64,
    /// Its rows.
    pub(crate) table: UserTable,
}

impl SessionShared {
    pub(crate) fn new(
        id: u64,
        port: Option<u16>,
        identity: Arc<Identity>,
        memory: SessionMemory,
        (statements, stages): (usize, usize),
    ) -> Self {
        Self {
            history: History::new(statements),
            stages: History::new(stages),
            statements: TotalsByKind::default(),
            is_instrumented: AtomicBool::new(true),
            has_history: AtomicBool::new(true),
            predicted_files: AtomicU64::new(0),
            counts_predicted: AtomicBool::new(false),
            events: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            id,
            port,
            owner: RwLock::new(Owner {
                identity,
                memory,
                account: None,
            }),
            counters: Counters::new(),
            kill: KillHandle::default(),
            activity: Activity::new(None),
            temporary_tables: Mutex::default(),
            running: Mutex::default(),
            transport: OnceLock::new(),
        }
    }

    /// Changes the session's account.
    pub(crate) fn change(
        &self,
        identity: Arc<Identity>,
        memory: SessionMemory,
        account: Arc<AccountActivity>,
    ) {
        self.leave_account();
        let mut owner = self.owner.write();
        *owner = Owner {
            identity,
            memory,
            account: Some(account),
        };
    }

    /// Adds its totals to the account's, and leaves the account.
    pub(crate) fn leave_account(&self) {
        let mut owner = self.owner.write();
        if let Some(account) = owner.account.take() {
            account.leave(&self.statements, owner.memory.rows.peak());
        }
    }

    /// Adds its totals so far to the account's.
    pub(crate) fn give_to_account(&self) {
        if let Some(account) = &self.owner.read().account {
            self.statements.move_into(&account.ended);
        }
    }

    /// Removes the last ended statement from the current ones.
    pub(crate) fn forget_current(&self) {
        let last = self.events.load(Ordering::Relaxed);
        self.forgotten.store(last, Ordering::Relaxed);
    }

    /// The event of the last ended statement, if it is kept.
    pub(crate) fn last_statement(&self) -> Option<StatementEvent> {
        let forgotten = self.forgotten.load(Ordering::Relaxed);
        self.history.last().filter(|event| event.id > forgotten)
    }

    /// Sets whether its statements are instrumented, and its events kept.
    pub(crate) fn set_seen(&self, (is_seen, has_history): (bool, bool)) {
        self.is_instrumented.store(is_seen, Ordering::Relaxed);
        self.has_history.store(has_history, Ordering::Relaxed);
    }

    /// Whether its statements are instrumented.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_instrumented.load(Ordering::Relaxed)
    }

    /// Numbers an ended statement, from 1.
    #[inline]
    pub(crate) fn next_event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the last ended statement.
    pub(crate) fn last_event(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Its account.
    pub(crate) fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.owner.read().identity)
    }

    /// Its budgets.
    pub(crate) fn memory(&self) -> SessionMemory {
        self.owner.read().memory.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken_by(handle: &KillHandle) -> Arc<AtomicBool> {
        let woken = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&woken);
        handle.on_close(move || flag.store(true, Ordering::Relaxed));
        woken
    }

    #[test]
    fn a_wait_for_a_client_is_woken_when_the_session_is_to_end() {
        let handle = KillHandle::default();
        let woken = woken_by(&handle);
        handle.kill();
        assert!(!woken.load(Ordering::Relaxed));
        handle.close();
        assert!(woken.load(Ordering::Relaxed) && handle.is_closed());
        let late = woken_by(&handle);
        assert!(late.load(Ordering::Relaxed));
    }
}

//! What other threads see and hold of a session: its account, its progress, and how to end it.

use parking_lot::{Mutex, RwLock};
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_exec::Progress;
use mayfly_storage::UserTable;
use mayfly_types::CollationId;

use crate::accounts::account::AccountName;
use crate::budgets::SessionMemory;
use crate::connections::ConnectAttributes;
use crate::connections::activity::Activity;
use crate::instrumentation::{AccountActivity, History, StageEvent, StatementEvent, TotalsByKind};
use crate::prepared::AnyPlan;
use crate::status::Counters;

/// The account of a session, and what the client says of itself.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The account's name.
    pub user: String,
    /// Where the client is.
    pub host: String,
    /// The database of unqualified names.
    pub database: Option<String>,
    /// A person types: `wait_timeout` begins as `interactive_timeout`.
    pub interactive: bool,
    /// What `character_set_client` and its like begin as, if the client says.
    pub collation: Option<CollationId>,
    /// The client can ask for another password when that of the account is expired.
    pub changes_expired_password: bool,
    /// An UPDATE reports the rows that it found, also those that had their values already.
    pub found_rows: bool,
    /// `sql_mode` begins with IGNORE_SPACE too.
    pub ignore_space: bool,
    /// Connection attributes: names and values, such as `program_name`.
    pub attributes: Vec<(String, String)>,
}

impl SessionOptions {
    /// `root@localhost` in the database `test`.
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
    /// The account that it has logged in to, if it had to.
    pub(crate) account: Option<AccountName>,
    /// What its client says of itself.
    pub(crate) attributes: ConnectAttributes,
}

/// What is called when a connection is to end.
type Wake = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Signal {
    /// The running statement is to end.
    killed: Arc<AtomicBool>,
    /// Every further statement fails.
    closed: AtomicBool,
    wake: Mutex<Option<Wake>>,
}

/// Ends the statement that a session runs, or the session, from another thread.
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
    /// The running statement, if there is one, ends with error 1317.
    pub fn kill(&self) {
        self.0.killed.store(true, Ordering::Relaxed);
    }

    /// The session ends: its statement, and any wait for its client.
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

    /// Calls a function when the session is to end; at once if it is already. The function must not
    /// block, and replaces the one before.
    pub fn on_close(&self, wake: impl Fn() + Send + Sync + 'static) {
        let mut wake_now = self.0.wake.lock();
        if self.is_closed() {
            wake();
        }
        *wake_now = Some(Box::new(wake));
    }

    /// The session ends after its running statement, which does not.
    pub(crate) fn release(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// A statement begins: a kill that was meant for the one before does not end it.
    #[inline]
    pub(crate) fn reset(&self) {
        self.0.killed.store(false, Ordering::Relaxed);
    }

    /// The flag that the running statement checks.
    pub(crate) fn killed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.killed)
    }
}

/// How far the running statement is, for a progress bar in another thread.
#[derive(Debug, Clone)]
pub struct ProgressHandle {
    pub(crate) progress: Arc<Progress>,
}

impl ProgressHandle {
    /// Rows read from tables so far.
    pub fn rows_read(&self) -> u64 {
        self.progress.rows_read.load(Ordering::Relaxed)
    }

    /// Rows that will be read, when known; 0 otherwise.
    pub fn rows_expected(&self) -> u64 {
        self.progress.rows_expected.load(Ordering::Relaxed)
    }
}

/// The session's account and the budgets that belong to it.
#[derive(Debug, Clone)]
struct Owner {
    identity: Arc<Identity>,
    memory: SessionMemory,
    /// What the account's sessions do; none before the session begins, and after it has ended.
    account: Option<Arc<AccountActivity>>,
}

/// What other sessions may see of a session: SHOW PROCESSLIST, KILL, global status. It stays the same
/// when the session gets another account.
#[derive(Debug)]
pub(crate) struct SessionShared {
    pub(crate) id: u64,
    /// The port of a client that came through TCP.
    pub(crate) port: Option<u16>,
    owner: RwLock<Owner>,
    pub(crate) counters: Counters,
    pub(crate) kill: KillHandle,
    pub(crate) activity: Activity,
    /// Its temporary tables.
    pub(crate) temporary_tables: Mutex<Vec<TemporaryTable>>,
    /// The plan of the running statement, where it has one that takes a while.
    pub(crate) running: Mutex<Option<AnyPlan>>,
    /// How its client is connected, if it is another process.
    pub(crate) transport: OnceLock<Transport>,
    /// The last statements.
    pub(crate) history: History<StatementEvent>,
    /// The last stages.
    pub(crate) stages: History<StageEvent>,
    /// What its statements did, by their kind.
    pub(crate) statements: TotalsByKind,
    /// Its statements are seen: `INSTRUMENTED` of performance_schema's `threads`.
    pub(crate) is_instrumented: AtomicBool,
    /// They are remembered: `HISTORY`.
    pub(crate) has_history: AtomicBool,
    events: AtomicU64,
    /// The number of the last statement that `events_statements_current` has forgotten.
    forgotten: AtomicU64,
}

/// How a connection carries its packets, as SHOW STATUS shows it.
#[derive(Debug, Clone, Default)]
pub struct Transport {
    /// Its encryption, if it is encrypted.
    pub encryption: Option<Encryption>,
    /// Its compression, if it is compressed.
    pub compression: Option<Compression>,
}

/// How a connection is compressed.
#[derive(Debug, Clone)]
pub struct Compression {
    /// `Compression_algorithm`: `zlib` or `zstd`.
    pub algorithm: String,
    /// `Compression_level`
    pub level: u32,
}

/// How a connection is encrypted: what SHOW STATUS shows, and what an account may require.
#[derive(Debug, Clone, Default)]
pub struct Encryption {
    /// `Ssl_version`, such as `TLSv1.3`.
    pub version: String,
    /// `Ssl_cipher`
    pub cipher: String,
    /// The certificate that the client gave, if it is valid.
    pub certificate: Option<ClientCertificate>,
}

/// A client's certificate that an authority of the server's has signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// Its subject, in OpenSSL's one line: `/C=DE/O=Example/CN=ann`.
    pub subject: String,
    /// The authority that has signed it, in the same form.
    pub issuer: String,
}

/// A table that a session has made with CREATE TEMPORARY TABLE, as others see it.
#[derive(Debug, Clone)]
pub(crate) struct TemporaryTable {
    /// Distinct for the life of the process.
    pub(crate) id: u64,
    pub(crate) database: String,
    pub(crate) name: String,
    pub(crate) engine: String,
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

    /// The session goes on with another account.
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

    /// What its statements did is its account's.
    pub(crate) fn leave_account(&self) {
        let mut owner = self.owner.write();
        if let Some(account) = owner.account.take() {
            account.leave(&self.statements, owner.memory.rows.peak());
        }
    }

    /// What its statements did so far is its account's from here on.
    pub(crate) fn give_to_account(&self) {
        if let Some(account) = &self.owner.read().account {
            self.statements.move_into(&account.ended);
        }
    }

    /// The last statement that has ended is shown no more as the current one.
    pub(crate) fn forget_current(&self) {
        let last = self.events.load(Ordering::Relaxed);
        self.forgotten.store(last, Ordering::Relaxed);
    }

    /// The last statement that has ended, if it is remembered.
    pub(crate) fn last_statement(&self) -> Option<StatementEvent> {
        let forgotten = self.forgotten.load(Ordering::Relaxed);
        self.history.last().filter(|event| event.id > forgotten)
    }

    /// Its statements are seen and remembered, or not.
    pub(crate) fn set_seen(&self, (is_seen, has_history): (bool, bool)) {
        self.is_instrumented.store(is_seen, Ordering::Relaxed);
        self.has_history.store(has_history, Ordering::Relaxed);
    }

    /// Whether its statements are seen.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_instrumented.load(Ordering::Relaxed)
    }

    /// The number of a statement that has ended, from 1.
    #[inline]
    pub(crate) fn next_event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the last statement that has ended.
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

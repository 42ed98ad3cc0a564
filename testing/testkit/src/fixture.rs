//! A database for one Rust test: a directory of its own, and the check that nothing is left of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::{Database, DatabaseOptions, Error, Session, SessionOptions};

use crate::cell;

/// An open database and its directory for temporary files.
#[derive(Debug)]
pub struct Fixture {
    /// The database.
    pub database: Arc<Database>,
    tmpdir: PathBuf,
}

impl Fixture {
    /// Opens a database of two threads with the options that `change` asks for.
    ///
    /// # Panics
    /// When that fails: a test cannot go on.
    #[must_use]
    pub fn open(change: impl FnOnce(&mut DatabaseOptions)) -> Self {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("mayfly-fixture-{}-{serial}", std::process::id());
        let tmpdir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&tmpdir).expect("the system's temporary directory is writable");
        let mut options = DatabaseOptions::new();
        options.tmpdir.clone_from(&tmpdir);
        options.threads = 2;
        change(&mut options);
        let database = Database::open(options).expect("the options of a test are valid");
        Self { database, tmpdir }
    }

    /// The directory for temporary files.
    #[must_use]
    pub fn tmpdir(&self) -> &Path {
        &self.tmpdir
    }

    /// What a database without sessions and tables still holds; empty when nothing leaks.
    #[must_use]
    pub fn leaks(&self) -> Vec<String> {
        let held = [
            ("bytes of memory", self.database.memory_used()),
            ("bytes of temporary space", self.database.temp_space_used()),
            (
                "temporary tables",
                self.database.temporary_table_count() as u64,
            ),
        ];
        let held = held.iter().filter(|(_, amount)| *amount != 0);
        held.map(|(what, amount)| format!("{amount} {what}"))
            .collect()
    }

    /// Closes the database, whose sessions and tables must be gone.
    ///
    /// # Panics
    /// When anything is left: memory, temporary space, a temporary table, a file.
    pub fn finish(self) {
        let mut left = self.leaks();
        let Self { database, tmpdir } = self;
        assert_eq!(Arc::strong_count(&database), 1, "a session is still open");
        drop(database);
        let files = std::fs::read_dir(&tmpdir).into_iter().flatten().flatten();
        left.extend(files.map(|file| file.path().display().to_string()));
        assert!(left.is_empty(), "left behind: {left:?}");
        // Empty, and harmless if it stays.
        let _ = std::fs::remove_dir_all(&tmpdir);
    }
}

/// System variables as options have them.
#[must_use]
pub fn variables<V: ToString>(pairs: &[(&str, V)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, V)| ((*name).to_owned(), value.to_string());
    pairs.iter().map(owned).collect()
}

/// A data directory that is opened again and again, and goes with its test.
#[derive(Debug)]
pub struct DataDirectory(PathBuf);

impl DataDirectory {
    /// An empty one; `name` is no other test's.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mayfly-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// One that is there already.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Opens it.
    ///
    /// # Panics
    /// When that fails: a test cannot go on.
    #[must_use]
    pub fn open(&self) -> Arc<Database> {
        self.open_with(|_| {}).expect("a data directory opens")
    }

    /// Opens it with the options that `change` asks for.
    ///
    /// # Errors
    /// The database's.
    pub fn open_with(
        &self,
        change: impl FnOnce(&mut DatabaseOptions),
    ) -> Result<Arc<Database>, Error> {
        let mut options = DatabaseOptions::new();
        options.threads = 2;
        options.datadir = Some(self.0.clone());
        change(&mut options);
        Database::open(options)
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ends the process when a test hangs: a thread that waits for ever cannot be ended otherwise.
#[derive(Debug)]
pub struct Watchdog {
    _alive: std::sync::mpsc::Sender<()>,
}

impl Watchdog {
    /// Longer than any test takes, on a busy machine too.
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

    /// Watches until it is dropped.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is no value")]
    pub fn new() -> Self {
        let (alive, receiver) = std::sync::mpsc::channel::<()>();
        let name = std::thread::current().name().unwrap_or("?").to_owned();
        std::thread::spawn(move || {
            use std::sync::mpsc::RecvTimeoutError;
            if receiver.recv_timeout(Self::PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let text = format!("the test {name} hangs\n");
                let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
                std::process::abort();
            }
        });
        Self { _alive: alive }
    }
}

/// Panics that a test makes itself are not printed: there are thousands.
pub fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<&str>();
            if !text.is_some_and(|text| text.contains("an injected bug")) {
                before(panic);
            }
        }));
    });
}

/// A session of an account without a password, in no database.
///
/// # Errors
/// The login's.
pub fn log_in(database: &Arc<Database>, user: &str) -> Result<Session, Error> {
    let login = database.account_for(user, "localhost");
    let _ = login.check_password(b"");
    let options = SessionOptions {
        database: None,
        ..SessionOptions::new()
    };
    database.log_in(database.accept()?, &login, options)
}

/// The rows of the last statement of `sql`, one line each, a tab between columns.
///
/// # Errors
/// The statement's.
pub fn rows(session: &mut Session, sql: &str) -> Result<Vec<String>, Error> {
    let results = session.execute(sql)?;
    let Some(result) = results.last() else {
        return Ok(Vec::new());
    };
    let line = |row| {
        let values = result.row_bytes(row);
        let cells = values.iter().map(|value| cell::escape(value.as_deref()));
        cells.collect::<Vec<_>>().join("\t")
    };
    Ok((0..result.row_count()).map(line).collect())
}

/// [`rows`] of statements that must succeed.
///
/// # Panics
/// When one fails.
pub fn must(session: &mut Session, sql: &str) -> Vec<String> {
    match rows(session, sql) {
        Ok(rows) => rows,
        Err(error) => {
            let head: String = sql.chars().take(200).collect();
            panic!("{head}: {error}")
        }
    }
}

//! A database for one Rust test, with its own directory and the check for leaks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::{Database, DatabaseOptions, Defaults, Error, Session, SessionOptions};

use crate::cell;

/// An open database and its directory for temporary files. When it is dropped, its sessions must be closed; it drops
/// its tables and checks that no memory, temporary space, temporary table or file is left.
#[derive(Debug)]
pub struct Fixture {
    /// The database.
    pub database: Arc<Database>,
    tmpdir: EmptyAtEnd,
}

impl Fixture {
    /// Opens a database of two threads with the options that `change` sets.
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
        options.defaults = Defaults::MySql;
        options.tmpdir.clone_from(&tmpdir);
        options.threads = 2;
        change(&mut options);
        let database = Database::open(options).expect("the options of a test are valid");
        Self {
            database,
            tmpdir: EmptyAtEnd(tmpdir),
        }
    }

    /// A fixture with the default options, and a session, which must be bound after it to be dropped before it.
    #[must_use]
    pub fn with_session() -> (Self, Session) {
        let fixture = Self::open(|_| {});
        let session = fixture.session();
        (fixture, session)
    }

    /// A new session of the database.
    #[must_use]
    pub fn session(&self) -> Session {
        self.database.session()
    }

    /// The directory for temporary files.
    #[must_use]
    pub fn tmpdir(&self) -> &Path {
        &self.tmpdir.0
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let sessions = Arc::strong_count(&self.database) - 1;
        assert_eq!(sessions, 0, "a session is still open");
        // Base tables outlive their sessions.
        let databases = "SELECT CONCAT('DROP DATABASE `', REPLACE(schema_name, '`', '``'), '`') \
             FROM information_schema.schemata WHERE schema_name NOT IN \
             ('information_schema', 'mysql', 'performance_schema', 'sys')";
        let mut session = self.session();
        let databases = session.execute(databases).expect("it has this table");
        for drop in databases[0].rows_text().into_iter().flatten().flatten() {
            session.must(&drop);
        }
        drop(session);
        let leaks = leaks(&self.database);
        assert!(leaks.is_empty(), "left behind: {leaks:?}");
    }
}

/// A directory that must be empty, except for logs, when it is dropped.
#[derive(Debug)]
struct EmptyAtEnd(PathBuf);

impl Drop for EmptyAtEnd {
    fn drop(&mut self) {
        let mut files = files_in(&self.0);
        // A log remains that a statement has turned on.
        files.retain(|name| !name.ends_with(".log"));
        assert!(
            files.is_empty() || std::thread::panicking(),
            "left behind: {files:?}"
        );
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Resources that a database without sessions and tables still holds; empty when nothing leaks.
#[must_use]
pub fn leaks(database: &Database) -> Vec<String> {
    let held = [
        ("bytes of memory", database.memory_used()),
        ("bytes of temporary space", database.temp_space_used()),
        ("temporary tables", database.temporary_table_count() as u64),
    ];
    let held = held.iter().filter(|(_, amount)| *amount != 0);
    held.map(|(what, amount)| format!("{amount} {what}"))
        .collect()
}

/// The names of the files of a directory, in order.
#[must_use]
pub fn files_in(directory: &Path) -> Vec<String> {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// System variables as pairs of name and value, the form of the options.
#[must_use]
pub fn variables<V: ToString>(pairs: &[(&str, V)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, V)| ((*name).to_owned(), value.to_string());
    pairs.iter().map(owned).collect()
}

/// A data directory that is opened repeatedly, and is removed with its test unless that fails.
#[derive(Debug)]
pub struct DataDirectory(PathBuf);

impl DataDirectory {
    /// An empty directory; `name` is used by no other test.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let above = std::env::temp_dir();
        // The kernel's name for it, without symbolic links.
        let above = above.canonicalize().unwrap_or(above);
        let path = above.join(format!("mayfly-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// An existing directory.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
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

    /// Opens it with the options that `change` sets.
    ///
    /// # Errors
    /// Those of the database.
    pub fn open_with(
        &self,
        change: impl FnOnce(&mut DatabaseOptions),
    ) -> Result<Arc<Database>, Error> {
        let mut options = DatabaseOptions::new();
        options.defaults = Defaults::MySql;
        options.threads = 2;
        options.datadir = Some(self.0.clone());
        change(&mut options);
        Database::open(options)
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Ends the process when a test hangs, since a thread that waits for ever cannot be ended otherwise.
#[derive(Debug)]
pub struct Watchdog {
    _alive: std::sync::mpsc::Sender<()>,
}

impl Watchdog {
    /// Longer than any test takes, even on a busy machine.
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

/// Suppresses the output of panics that a test causes: there are thousands.
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

/// A session of an account without a password and without a database.
///
/// # Errors
/// Those of the login.
pub fn log_in(database: &Arc<Database>, user: &str) -> Result<Session, Error> {
    let login = database.account_for(user, "localhost");
    let _ = login.check_password(b"");
    let options = SessionOptions {
        database: None,
        ..SessionOptions::new()
    };
    database.log_in(database.accept()?, &login, options)
}

/// Test helpers of a session.
pub trait SessionExt {
    /// The rows of the last statement of `sql`, one line each, columns separated by tabs.
    ///
    /// # Errors
    /// Those of the statements.
    fn rows(&mut self, sql: &str) -> Result<Vec<String>, Error>;

    /// [`Self::rows`] of statements that must succeed.
    ///
    /// # Panics
    /// When one fails.
    fn must(&mut self, sql: &str) -> Vec<String> {
        self.rows(sql).unwrap_or_else(|error| {
            let head: String = sql.chars().take(200).collect();
            panic!("{head}: {error}")
        })
    }

    /// Runs statements that must succeed.
    ///
    /// # Panics
    /// When one fails.
    fn must_all<S: AsRef<str>>(&mut self, statements: impl IntoIterator<Item = S>) {
        for statement in statements {
            self.must(statement.as_ref());
        }
    }

    /// The first row of statements that must succeed.
    ///
    /// # Panics
    /// When one fails or there is no row.
    fn value(&mut self, sql: &str) -> String {
        self.must(sql).swap_remove(0)
    }
}

/// Test helpers of a session of any server.
pub trait Errno {
    /// The number of the error that a statement ends with; 0 for none.
    fn errno(&mut self, sql: &str) -> u16;
}

impl Errno for Session {
    fn errno(&mut self, sql: &str) -> u16 {
        self.execute(sql).map_or_else(|error| error.errno(), |_| 0)
    }
}

impl SessionExt for Session {
    fn rows(&mut self, sql: &str) -> Result<Vec<String>, Error> {
        let results = self.execute(sql)?;
        let Some(result) = results.last() else {
            return Ok(Vec::new());
        };
        let line = |row| cell::line(&result.row_bytes(row));
        Ok((0..result.row_count()).map(line).collect())
    }
}

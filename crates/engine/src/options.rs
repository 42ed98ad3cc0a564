//! Options of a database. Everything that a test may want to fix (clock, threads, batch size, hash) is here, so that
//! a failing run can be repeated.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_memory::io::{IoBackend, SystemIo, make_private, private_file};
use mayfly_types::{Checkpoint, Error};

/// Clock. Injected so that a run can be repeated.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    fn now_utc_microseconds(&self) -> i64;
}

/// The clock of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_utc_microseconds(&self) -> i64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .ok()
            .and_then(|elapsed| i64::try_from(elapsed.as_micros()).ok())
            .unwrap_or(0)
    }
}

/// Source of random bytes for salts and generated passwords. Injected so that a run can be repeated.
pub trait Randomness: Send + Sync + std::fmt::Debug {
    /// Fills the bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The system's random bytes, as for RANDOM_BYTES().
#[derive(Debug, Clone, Copy)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        mayfly_functions::context::system_entropy(bytes);
    }
}

/// Receiver of errors that are for who runs the server: of background work, which cannot be reported to a client, and of
/// disks.
pub trait BackgroundErrors: Send + Sync + std::fmt::Debug {
    /// Syncing the data directory failed; without an error, it works again.
    fn sync(&self, error: Option<&Error>);

    /// The data directory was accessible to other users until it was opened.
    fn was_open_to_others(&self, _directory: &Path) {}

    /// A log file was accessible to other users until it was opened.
    fn log_was_open_to_others(&self, _file: &Path) {}

    /// A statement ended because a disk is full or fails. Comes once a minute at most, with the number of such
    /// statements since the last time.
    fn storage(&self, _error: &Error, _unreported: u64) {}

    /// Writing a log entry failed; without an error, writing works again.
    fn log_file(&self, _file: &Path, _error: Option<&io::Error>) {}
}

/// Files of the slow log and the general log. Injected so that a test can make them fail.
pub trait LogFiles: Send + Sync + std::fmt::Debug {
    /// Opens a file for appending; it is created if needed.
    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>>;

    /// Removes other users' access to an existing file; returns whether they had any.
    fn make_private(&self, _path: &Path) -> bool {
        false
    }
}

/// The files of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemLogFiles;

impl LogFiles for SystemLogFiles {
    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        let file = private_file().create(true).append(true).open(path)?;
        Ok(Box::new(file))
    }

    fn make_private(&self, path: &Path) -> bool {
        // A device or a pipe does not belong to the log.
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        is_file && std::fs::File::open(path).is_ok_and(|file| make_private(&file))
    }
}

/// Hash function of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashMode {
    /// A good hash function.
    Normal,
    /// Every row hashes to the same number: a test of everything that relies on hashing.
    Collide,
    /// Every row hashes to one of 64 numbers: a similar test, where a single one would take too long.
    Crowd,
}

/// Files that LOAD DATA INFILE and SELECT … INTO OUTFILE may access: `secure_file_priv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAccess {
    /// Any file that the process can access (an empty `secure_file_priv`).
    Anywhere,
    /// Only files in this directory or below.
    Directory(PathBuf),
    /// None (`secure_file_priv` is NULL).
    Disabled,
}

/// Set of defaults for system variables whose best value depends on the engine's use.
///
/// | | `Embedded` | `Server` | `MySql` |
/// |---|---|---|---|
/// | `temptable_max_ram` | half of the memory that the process may use, or `memory_limit` | as before | 3 % of the machine's, 1 to 4 GiB |
/// | `tmp_table_size` | none: a table holds as much as it leaves free | none | 16 MiB |
/// | `cte_max_recursion_depth` | 4294967295 | 1000 | 1000 |
/// | `group_concat_max_len` | 1 MiB, as MariaDB | 1024 | 1024 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Defaults {
    /// For programs that run statements in their own process and can end it.
    #[default]
    Embedded,
    /// For a server with many clients.
    Server,
    /// MySQL 9.7's.
    MySql,
}

/// Options to open a [`crate::Database`] with.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// Limit in bytes of all memory: tables and temporary tables. `None`: no limit but `temptable_max_ram` for
    /// temporary tables.
    pub memory_limit: Option<u64>,
    /// Maximum number of threads of a statement. Fewer are used where `memory_limit` has less than 3 MiB for each.
    pub threads: usize,
    /// Directory of durable tables: `datadir`. `None`: a directory below `tmpdir`, without syncs, which is removed at
    /// the end.
    pub datadir: Option<PathBuf>,
    /// Directories of temporary files: `tmpdir`. One, or several as [`std::env::split_paths`] reads them, of which
    /// the first with free space is used; see `tmpdir_capacity`.
    pub tmpdir: PathBuf,
    /// Least number of input rows for parallel execution.
    pub parallel_rows_min: u64,
    /// Number of rows per batch.
    pub batch_size: usize,
    /// Makes every temporary table overflow to disk as early as possible: a test mode.
    pub force_overflow: bool,
    /// Whether sessions may set `tmp_debug`, with which their temporary files fail on purpose.
    pub allow_tmp_debug: bool,
    /// Caches the plan of every statement at its first run: a test mode.
    pub keep_all_plans: bool,
    /// Hash function of rows.
    pub hash_mode: HashMode,
    /// Whether optional rules of the optimizer run.
    pub optimizer: bool,
    /// Makes cost-based optimizer rules apply every possible rewrite: a test mode.
    pub all_rewrites: bool,
    /// Offloads every statement that the secondary engine takes, whatever it costs, and loads the tables that it reads: a
    /// test mode.
    pub offloads_all: bool,
    /// EXECUTE IMMEDIATE runs all statements of its text inside itself, and gives the rows of each: a test mode, for
    /// clients of statements with several results.
    pub executes_texts: bool,
    /// Files that statements may read and write.
    pub file_access: FileAccess,
    /// Whether LOAD DATA LOCAL may read files of the process itself (an embedded engine's client
    /// is the process).
    pub local_infile: bool,
    /// I/O of temporary files.
    pub temp_io: Arc<dyn IoBackend>,
    /// Called wherever a statement could end early, for tests.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Receiver of errors that cannot be reported to a client.
    pub background_errors: Option<Arc<dyn BackgroundErrors>>,
    /// Files of the logs.
    pub log_files: Arc<dyn LogFiles>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Source of random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// The defaults of system variables.
    pub defaults: Defaults,
    /// System variables set before the first session, as by `SET GLOBAL`: name and text of the
    /// value.
    pub variables: Vec<(String, String)>,
}

impl DatabaseOptions {
    /// Default options: no memory limit, all cores, the system's directory for temporary files.
    pub fn new() -> Self {
        Self {
            memory_limit: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            datadir: None,
            tmpdir: std::env::temp_dir(),
            parallel_rows_min: 100_000,
            batch_size: 8192,
            force_overflow: false,
            allow_tmp_debug: false,
            keep_all_plans: false,
            hash_mode: HashMode::Normal,
            optimizer: true,
            all_rewrites: false,
            offloads_all: false,
            executes_texts: false,
            file_access: FileAccess::Anywhere,
            local_infile: true,
            temp_io: Arc::new(SystemIo),
            checkpoint: None,
            background_errors: None,
            log_files: Arc::new(SystemLogFiles),
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            defaults: Defaults::Embedded,
            variables: Vec::new(),
        }
    }
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self::new()
    }
}

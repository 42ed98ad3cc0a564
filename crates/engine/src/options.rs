//! What a database is opened with. Everything that a test may want to fix (clock, threads, batch
//! size, hash) is here, so that a failing run can be repeated.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_memory::io::{IoBackend, SystemIo, make_private, private_file};
use mayfly_types::{Checkpoint, Error};

/// Tells the time. Injected so that a run can be repeated.
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

/// Gives random bytes, for salts and generated passwords. Injected so that a run can be repeated.
pub trait Randomness: Send + Sync + std::fmt::Debug {
    /// Fills the bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The randomness of the system, as RANDOM_BYTES() has it.
#[derive(Debug, Clone, Copy)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        mayfly_functions::context::system_entropy(bytes);
    }
}

/// Receives errors of background work, which can be reported to no client.
pub trait BackgroundErrors: Send + Sync + std::fmt::Debug {
    /// The data directory could not be brought to disk; without an error, it is on disk again.
    fn sync(&self, error: Option<&Error>);

    /// Others could read or write in the data directory until it was opened.
    fn was_open_to_others(&self, _directory: &Path) {}

    /// Others could read or write a log until it was opened.
    fn log_was_open_to_others(&self, _file: &Path) {}

    /// An entry of a log could not be written; without an error, entries are written again.
    fn log_file(&self, _file: &Path, _error: Option<&io::Error>) {}
}

/// Opens the files of the slow log and the general log. Injected so that a test can make them fail.
pub trait LogFiles: Send + Sync + std::fmt::Debug {
    /// A file, to be appended to; it is made if it is not there.
    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>>;

    /// Takes from others what they may do with a file that is there; true where there was something.
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
        // A device or a pipe is not the log's.
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        is_file && std::fs::File::open(path).is_ok_and(|file| make_private(&file))
    }
}

/// How rows are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashMode {
    /// By a good hash function.
    Normal,
    /// Every row hashes to the same number: a test of everything that relies on hashing.
    Collide,
    /// Every row hashes to one of 64 numbers: the same, where one would take too long.
    Crowd,
}

/// Which files LOAD DATA INFILE and SELECT … INTO OUTFILE may touch: `secure_file_priv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAccess {
    /// Any file that the process may touch (an empty `secure_file_priv`).
    Anywhere,
    /// Only files in this directory or below.
    Directory(PathBuf),
    /// None (`secure_file_priv` is NULL).
    Disabled,
}

/// Which defaults some system variables have: those that an engine cannot choose alike for everybody.
///
/// | | `Embedded` | `Server` | `MySql` |
/// |---|---|---|---|
/// | `temptable_max_ram` | half of the memory that the process may use, or `memory_limit` | as before | 3 % of the machine's, 1 to 4 GiB |
/// | `tmp_table_size` | none: a table holds as much as it leaves free | none | 16 MiB |
/// | `cte_max_recursion_depth` | 4294967295 | 1000 | 1000 |
/// | `group_concat_max_len` | 1 MiB, as MariaDB | 1024 | 1024 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Defaults {
    /// For who runs statements in a process of their own and can end it.
    #[default]
    Embedded,
    /// For a server with many clients.
    Server,
    /// MySQL 9.7's.
    MySql,
}

/// What a [`crate::Database`] is opened with.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// The most bytes of memory that everything together may use: tables and temporary tables.
    /// `None`: no limit but `temptable_max_ram` for temporary tables.
    pub memory_limit: Option<u64>,
    /// How many threads a large statement may use. There are fewer where `memory_limit` has less than
    /// 3 MiB for each.
    pub threads: usize,
    /// Where durable tables are: `datadir`. `None`: in a directory below `tmpdir`, without syncs,
    /// which is removed at the end.
    pub datadir: Option<PathBuf>,
    /// Where temporary tables overflow to: `tmpdir`. A directory, or several as
    /// [`std::env::split_paths`] reads them, of which the first that has room is used; see
    /// `tmpdir_capacity`.
    pub tmpdir: PathBuf,
    /// Inputs of fewer rows stay on the caller's thread.
    pub parallel_rows_min: u64,
    /// How many rows travel together between operators.
    pub batch_size: usize,
    /// Every temporary table overflows to disk as early as it can, whatever its size: a test mode.
    pub force_overflow: bool,
    /// Every statement is treated as one that was run before, so that its plan is cached: a test mode.
    pub keep_all_plans: bool,
    /// How rows are hashed.
    pub hash_mode: HashMode,
    /// Whether optional rules of the optimizer run.
    pub optimizer: bool,
    /// Rules of the optimizer that ask what a rewrite costs make every one that they can: a test mode.
    pub all_rewrites: bool,
    /// Which files statements may read and write.
    pub file_access: FileAccess,
    /// Whether LOAD DATA LOCAL may read files of the process itself (an embedded engine's client
    /// is the process).
    pub local_infile: bool,
    /// Makes, writes and reads temporary files.
    pub temp_io: Arc<dyn IoBackend>,
    /// Called at every point at which a statement could end early, for tests.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Receives errors that can be reported to no client.
    pub background_errors: Option<Arc<dyn BackgroundErrors>>,
    /// Opens the files of logs.
    pub log_files: Arc<dyn LogFiles>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// The defaults of system variables.
    pub defaults: Defaults,
    /// System variables set before the first session, as by `SET GLOBAL`: name and text of the
    /// value.
    pub variables: Vec<(String, String)>,
}

impl DatabaseOptions {
    /// The usual options: no memory limit, all cores, the system's directory for temporary files.
    pub fn new() -> Self {
        Self {
            memory_limit: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            datadir: None,
            tmpdir: std::env::temp_dir(),
            parallel_rows_min: 100_000,
            batch_size: 8192,
            force_overflow: false,
            keep_all_plans: false,
            hash_mode: HashMode::Normal,
            optimizer: true,
            all_rewrites: false,
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

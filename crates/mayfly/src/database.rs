//! Opening a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_engine::{Checkpoint, DatabaseOptions, Defaults, FileAccess, Result, TableProvider};

use crate::Connection;
use crate::function::Function;
use crate::source::{Provider, TableSource};

/// A set of tables that connections share. Cloning gives another handle to it; it is closed when the last handle and the
/// last connection are gone.
#[derive(Debug, Clone)]
pub struct Database(Arc<mayfly_engine::Database>);

impl Database {
    /// A database whose tables end with the process.
    ///
    /// # Errors
    /// When the directory for temporary files cannot be used.
    pub fn in_memory() -> Result<Self> {
        Options::new().open()
    }

    /// The database in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// When another process has the database open, or the directory cannot be read or written.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self> {
        Options::new().directory(directory).open()
    }

    /// A new connection, in the database `test`.
    pub fn connect(&self) -> Connection {
        Connection::new(&self.0)
    }

    /// Sets the secondary engine, which keeps copies of tables and runs queries over them.
    ///
    /// # Errors
    /// Any error of reading the data directory.
    pub fn set_secondary_engine(
        &self,
        engine: Option<Arc<dyn mayfly_engine::SecondaryEngine>>,
    ) -> Result<()> {
        self.0.set_secondary_engine(engine)
    }

    /// The engine's database.
    #[cfg(feature = "server")]
    pub(crate) fn engine(&self) -> &Arc<mayfly_engine::Database> {
        &self.0
    }

    /// Adds a table whose rows a program provides, as `table` (in the database `test`) or `database.table`. It is read only;
    /// DROP TABLE removes it, and it is gone with the process.
    ///
    /// # Errors
    /// 1049 without the database, 1050 when it has a table of that name, 1059, 1060, 1103 and 1166 for names that tables cannot
    /// have, 1235 for a column of a type that no SQL type stands for.
    pub fn register(&self, name: &str, source: impl TableSource + 'static) -> Result<()> {
        let (database, table) = name.split_once('.').unwrap_or(("test", name));
        let provider: Arc<dyn TableProvider> = Arc::new(Provider::new(source)?);
        self.0.register_table(database, table, &provider)
    }

    /// Adds a function, as `function` (in the database `test`) or `database.function`. Statements whose current database it is call
    /// it by its name alone; DROP FUNCTION removes it, and it is gone with the process.
    ///
    /// # Errors
    /// 1049 without the database, 1059 for a name that is too long, 1304 when the database has a function of the name.
    pub fn add_function(&self, name: &str, function: Function) -> Result<()> {
        let (database, name) = name.split_once('.').unwrap_or(("test", name));
        self.0.add_function(database, function.definition(name))
    }

    /// Writes a copy of a database in a directory, as of now, into another directory; statements go on meanwhile.
    ///
    /// # Errors
    /// When this is no database in a directory, or the other one cannot be written.
    pub fn back_up(&self, directory: impl AsRef<Path>) -> Result<()> {
        self.0.backup(directory.as_ref())
    }

    /// Bytes of memory that tables, temporary tables and running statements take.
    pub fn memory_used(&self) -> u64 {
        self.0.memory_used()
    }

    /// Bytes of temporary tables in temporary files.
    pub fn temporary_space_used(&self) -> u64 {
        self.0.temp_space_used()
    }
}

/// How a database is opened.
///
/// ```
/// # fn main() -> mayfly::Result<()> {
/// let database = mayfly::Options::new().memory_limit(512 << 20).threads(2).open()?;
/// # drop(database);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Options(DatabaseOptions);

impl Options {
    /// In memory, with all cores; temporary tables take up to half of the machine's memory before they go on in files.
    pub fn new() -> Self {
        Self(DatabaseOptions::new())
    }

    /// Durable tables are in this directory.
    #[must_use]
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.0.datadir = Some(directory.as_ref().to_owned());
        self
    }

    /// The most bytes of memory that tables and statements take together. What does not fit goes on in temporary files.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.0.memory_limit = Some(bytes);
        self
    }

    /// The most threads of one statement.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.0.threads = threads.max(1);
        self
    }

    /// Where temporary files are; the system's directory for them without this.
    #[must_use]
    pub fn temporary_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.0.tmpdir = directory.into();
        self
    }

    /// Statements read and write files (LOAD DATA INFILE, SELECT … INTO OUTFILE) in this directory alone; without this,
    /// wherever the process may. Objects that URLs name then need the variable `remote_file_access` to be ON.
    #[must_use]
    pub fn files_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.0.file_access = FileAccess::Directory(directory.into());
        self
    }

    /// Statements read and write no files.
    #[must_use]
    pub fn without_files(mut self) -> Self {
        self.0.file_access = FileAccess::Disabled;
        self.0.local_infile = false;
        self
    }

    /// The defaults of MySQL for what depends on the machine or the use: tables of 16 MiB in memory, recursion of 1000
    /// rounds.
    #[must_use]
    pub fn mysql_defaults(mut self) -> Self {
        self.0.defaults = Defaults::MySql;
        self
    }

    /// A system variable, as SET GLOBAL sets it before the first connection.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.variables.push((name.into(), value.into()));
        self
    }

    /// Observes every point at which a statement may end early, on all of its threads: where a program that has other
    /// duties looks after them, and interrupts the statement if need be. Waiting statements come by every 0.1 seconds.
    #[must_use]
    pub fn checkpoint(mut self, checkpoint: Arc<dyn Checkpoint>) -> Self {
        self.0.checkpoint = Some(checkpoint);
        self
    }

    /// Lets EXECUTE IMMEDIATE run a text of several statements: a test mode.
    #[doc(hidden)]
    #[must_use]
    pub fn executes_texts(mut self) -> Self {
        self.0.executes_texts = true;
        self
    }

    /// Opens the database.
    ///
    /// # Errors
    /// When a directory cannot be used, another process has the database open, or a variable has no such value.
    pub fn open(self) -> Result<Database> {
        let database = mayfly_engine::Database::open(self.0)?;
        #[cfg(feature = "files")]
        mayfly_files::register(&database);
        Ok(Database(database))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

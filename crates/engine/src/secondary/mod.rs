//! Secondary engines: another engine that keeps copies of tables and runs queries over them (the manual, "Secondary
//! Engines" of HeatWave).
//!
//! The program that embeds the engine plugs one in ([`crate::Database::set_secondary_engine`]). A table whose definition
//! names it is loaded by ALTER TABLE … SECONDARY_LOAD: the rows of one snapshot, in the order of the primary key and
//! without the NOT SECONDARY columns, are given to it in parts. The parts of a table are a copy ([`copies`]), which
//! knows as of which version of the table its rows are; [`loading`] makes it, and makes it anew after changes from the parts that
//! changed. The engine itself keeps nothing but the parts.
//!
//! Tables of files need no copy where the members of the engine see the files ([`SecondaryEngine::call`]). While a job runs, its exchanges are
//! seen as temporary tables are ([`exchanges`]).
//!
//! A statement reads a copy only if the rows are those that it would read here: the table has not changed since, and
//! the statement's snapshot has all of it.

pub(crate) mod copies;
mod exchanges;
pub(crate) mod jobs;
pub(crate) mod loading;

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_offload::Job;
pub use mayfly_offload::{CallOption, JobObserver, Rows, Share, TableCall};
use mayfly_types::{Interrupt, Result, SqlType};

/// An engine beside this one, which keeps copies of tables.
pub trait SecondaryEngine: Debug + Send + Sync {
    /// Its name in `SECONDARY_ENGINE =`, compared without regard to case.
    fn name(&self) -> &'static str;

    /// Number of rows of a part, from which on the next one begins.
    fn part_rows(&self) -> u64 {
        1 << 20
    }

    /// Keeps a part of a table. TIMESTAMPs are in UTC.
    ///
    /// The engine reads `rows` to the end, and passes their error on. After an error it keeps nothing of the part.
    ///
    /// # Errors
    /// 3889 where it fails; 1317 for a killed statement.
    fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart>;

    /// Removes a part, which nobody reads any more.
    ///
    /// # Errors
    /// 3889 where it fails.
    fn unload(&self, part: &TablePart) -> Result<()>;

    /// The call by which the members of the engine read a table of files, with the paths that they know; `None` where they do
    /// not see the files.
    fn call(&self, call: TableCall) -> Option<TableCall> {
        let _ = call;
        None
    }

    /// Number of partitions of a job: runs of each fragment that does not run once.
    fn partitions(&self) -> usize;

    /// Starts a job. The rows are those of the last fragment, of all of its runs, in their envelopes
    /// ([`mayfly_offload::exchange`]). Dropping them ends the job, and so does the end of the statement. While the job runs,
    /// `observer` is told what its runs do, as often as the engine likes.
    ///
    /// # Errors
    /// 3889 where the engine fails; errors of the job's fragments; 1317 and 3024 for a statement that has ended.
    fn run(
        &self,
        job: &Arc<Job>,
        interrupt: &Interrupt,
        observer: &Arc<dyn JobObserver>,
    ) -> Result<Box<dyn Rows>>;

    /// What it runs on: the rows of SHOW CLUSTER.
    ///
    /// # Errors
    /// 3889 where it cannot be asked.
    fn members(&self) -> Result<Vec<Member>>;
}

/// A part of a table that is about to be loaded.
#[derive(Debug)]
pub struct PartToLoad<'p> {
    /// The table's database.
    pub database: &'p str,
    /// The table's name.
    pub table: &'p str,
    /// The columns of the rows.
    pub columns: &'p [LoadedColumn],
    /// A number that no other part of this process has.
    pub number: u64,
    /// The version of the snapshot that the rows are read from.
    pub version: u64,
    /// The end of the statement; long work checks it.
    pub interrupt: &'p Interrupt,
}

/// A column of a loaded table.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A part of a table that a secondary engine keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePart {
    /// Where it is, in the words of the engine.
    pub location: String,
    /// Number of its rows.
    pub rows: u64,
    /// Bytes that it takes.
    pub bytes: u64,
}

/// State of a member of a secondary engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberState {
    /// A member that takes work.
    Available,
    /// A member that has started, and takes no work yet.
    Starting,
    /// A member that is not reached.
    Down,
}

impl MemberState {
    /// The word in SHOW CLUSTER.
    pub fn name(self) -> &'static str {
        match self {
            Self::Available => "AVAILABLE",
            Self::Starting => "STARTING",
            Self::Down => "DOWN",
        }
    }
}

/// A member of a secondary engine: a process that works for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, of which there is no other.
    pub name: String,
    /// What it does, such as `executor`.
    pub role: String,
    /// Host and port.
    pub address: String,
    /// Its state.
    pub state: MemberState,
    /// Number of tasks that it runs at a time at most.
    pub slots: u64,
    /// Number of tasks that it runs.
    pub tasks: u64,
    /// Bytes of memory that its work takes.
    pub memory_used: u64,
    /// Bytes of memory that its work may take.
    pub memory_limit: u64,
    /// Bytes of temporary space that its work takes.
    pub disk_used: u64,
}

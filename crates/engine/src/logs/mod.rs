//! The slow log and the general log, in files and in tables.
//!
//! A session makes an entry for each request of its client; pure functions decide the rest: [`filter`] selects the
//! statements of the slow log, [`slow_format`] and [`general_format`] format lines as MySQL, MariaDB and Percona do.
//! A log that is off costs a statement the test of a flag. An entry is one write to its file; an error of the file
//! never fails a statement.

mod entry;
mod filter;
mod general_format;
mod log_file;
mod log_options;
mod log_table;
mod slow_format;
mod time_text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use mayfly_memory::Budget;
use mayfly_types::Error;
use parking_lot::RwLock;

pub(crate) use self::entry::{
    ExplainLine, GeneralEntry, HandlerCounts, LoggedCondition, SlowEntry, StatementKind,
};
use self::filter::{Decision, Throttle};
use self::log_file::LogFile;
pub(crate) use self::log_options::LogOptions;
use self::log_table::LogTable;
pub(crate) use self::log_table::{GeneralRow, SlowRow};
use crate::options::{BackgroundErrors, DatabaseOptions};
use crate::variables::logs::SessionLogOptions;
use crate::variables::typed;
use crate::variables::{Setting, Settings, all};

const SLOW: u8 = 1;
const GENERAL: u8 = 2;
/// `log_queries_not_using_indexes`, whether the log is on or not.
const WITHOUT_INDEX: u8 = 4;

/// Maximum bytes of a log table's rows, without a memory limit.
const TABLE_BYTES: u64 = 16 << 20;

/// The slow log and the general log, with their files and tables.
#[derive(Debug)]
pub(crate) struct Logs {
    /// Bit set of the logs that are on.
    on: AtomicU8,
    options: RwLock<Arc<LogOptions>>,
    slow: LogFile,
    general: LogFile,
    pub(crate) slow_table: LogTable<SlowRow>,
    pub(crate) general_table: LogTable<GeneralRow>,
    throttle: Throttle,
    /// Number of slow statements since the start, for the sampling of `log_slow_rate_limit`.
    slow_statements: AtomicU64,
    errors: Option<Arc<dyn BackgroundErrors>>,
    /// Directory of relative file names.
    directory: PathBuf,
}

impl Logs {
    /// The configured logs, none of them open. Their memory is charged below `memory`.
    pub(crate) fn new(options: &DatabaseOptions, globals: &Settings, memory: &Budget) -> Self {
        let file = || LogFile::new(Arc::clone(&options.log_files));
        let limit = options.memory_limit.map_or(TABLE_BYTES, |limit| limit / 64);
        let limit = limit.min(TABLE_BYTES);
        let directory = directory(options);
        Self {
            on: AtomicU8::new(0),
            options: RwLock::new(Arc::new(LogOptions::read(globals, &directory))),
            directory,
            slow: file(),
            general: file(),
            slow_table: LogTable::new(memory.child("mysql.slow_log", limit)),
            general_table: LogTable::new(memory.child("mysql.general_log", limit)),
            throttle: Throttle::default(),
            slow_statements: AtomicU64::new(0),
            errors: options.background_errors.clone(),
        }
    }

    /// Sets the default names of the log files.
    pub(crate) fn name_files(options: &DatabaseOptions, globals: &mut Settings) {
        for variable in [typed::SLOW_QUERY_LOG_FILE, typed::GENERAL_LOG_FILE] {
            if globals.at(variable.position()) == &all()[variable.position()].default_setting()
                && let Some((position, named)) =
                    default_file(&directory(options), globals, variable.position())
            {
                globals.set(position, named);
            }
        }
    }

    /// The default file name of a log's variable, for SET … = DEFAULT, with the variable's position; `None` for
    /// another variable.
    pub(crate) fn default_file(&self, globals: &Settings, position: usize) -> Option<Setting> {
        default_file(&self.directory, globals, position).map(|(_, named)| named)
    }

    /// The full path of a log's file.
    pub(crate) fn full_path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether slow statements are written anywhere.
    #[inline]
    pub(crate) fn slow_is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed) & SLOW != 0
    }

    /// Whether general log entries are written anywhere.
    #[inline]
    pub(crate) fn general_is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed) & GENERAL != 0
    }

    /// Whether any log is on.
    #[inline]
    pub(crate) fn any_is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed) & (SLOW | GENERAL) != 0
    }

    /// Whether statements without an index count as slow.
    #[inline]
    pub(crate) fn counts_without_index(&self) -> bool {
        self.on.load(Ordering::Relaxed) & WITHOUT_INDEX != 0
    }

    /// The global settings.
    pub(crate) fn options(&self) -> Arc<LogOptions> {
        Arc::clone(&self.options.read())
    }

    /// Bytes of the rows in tables.
    pub(crate) fn bytes(&self) -> u64 {
        self.slow_table.bytes() + self.general_table.bytes()
    }

    /// Prepares a change of settings: opens the file to be written, so that SET fails on error.
    pub(crate) fn will_be(
        &self,
        globals: &Settings,
        change: (usize, &Setting),
    ) -> Result<(), Error> {
        let mut globals = globals.clone();
        globals.set(change.0, change.1.clone());
        self.open(&LogOptions::read(&globals, &self.directory), change.0)
    }

    /// Applies changed settings.
    pub(crate) fn set(&self, globals: &Settings) {
        let options = Arc::new(LogOptions::read(globals, &self.directory));
        let writes_files = options.writes_files();
        let writes = options.output & crate::variables::logs::NONE == 0;
        let on = [(options.slow, SLOW), (options.general, GENERAL)];
        let bits = on.iter().filter(|(is_on, _)| *is_on && writes);
        let bits = bits.fold(0, |bits, (_, bit)| bits | bit);
        let without_index = u8::from(options.without_index) * WITHOUT_INDEX;
        *self.options.write() = options;
        self.on.store(bits | without_index, Ordering::Relaxed);
        for (file, bit) in [(&self.slow, SLOW), (&self.general, GENERAL)] {
            if bits & bit == 0 || !writes_files {
                file.close();
            }
        }
    }

    /// Opens the files that a change of a variable requires.
    fn open(&self, options: &LogOptions, changed: usize) -> Result<(), Error> {
        let of = |variables: &[usize]| variables.contains(&changed);
        let output = typed::LOG_OUTPUT.position();
        let (slow, slow_file) = (typed::SLOW_QUERY_LOG, typed::SLOW_QUERY_LOG_FILE);
        let (general, general_file) = (typed::GENERAL_LOG, typed::GENERAL_LOG_FILE);
        if options.slow
            && options.writes_files()
            && of(&[slow.position(), slow_file.position(), output])
        {
            self.slow
                .open(&options.slow_file, &options.header, self.errors.as_deref())?;
        }
        if options.general
            && options.writes_files()
            && of(&[general.position(), general_file.position(), output])
        {
            self.general.open(
                &options.general_file,
                &options.header,
                self.errors.as_deref(),
            )?;
        }
        Ok(())
    }

    /// Opens the logs at startup. A file that cannot be opened is reported, and tried again with each entry.
    pub(crate) fn start(&self, globals: &Settings) {
        self.set(globals);
        let options = self.options();
        for (is_on, file, path) in [
            (options.slow, &self.slow, &options.slow_file),
            (options.general, &self.general, &options.general_file),
        ] {
            if is_on
                && options.writes_files()
                && file
                    .open(path, &options.header, self.errors.as_deref())
                    .is_err()
            {
                file.append(path, &options.header, self.errors.as_deref(), |_, _| {});
            }
        }
    }

    /// FLUSH LOGS: reopens the slow log's file, so that a renamed one is left alone.
    pub(crate) fn reopen_slow(&self) -> Result<(), Error> {
        let options = self.options();
        if self.slow_is_on() && options.writes_files() {
            self.slow
                .open(&options.slow_file, &options.header, self.errors.as_deref())?;
        }
        Ok(())
    }

    /// FLUSH GENERAL LOGS: reopens the general log's file.
    pub(crate) fn reopen_general(&self) -> Result<(), Error> {
        let options = self.options();
        if self.general_is_on() && options.writes_files() {
            self.general.open(
                &options.general_file,
                &options.header,
                self.errors.as_deref(),
            )?;
        }
        Ok(())
    }

    /// Decides whether an ended statement is in the slow log, which is on, and updates the counters of sampling and
    /// throttling. Returns the format options of its entry.
    pub(crate) fn takes(
        &self,
        entry: &SlowEntry,
        session: &SessionLogOptions,
    ) -> Option<SessionLogOptions> {
        let options = self.options();
        let session = session.under(options.control, &options.globals);
        let decision = filter::decide(entry, &session, &options);
        if decision == Decision::No {
            return None;
        }
        let is_for_index = decision == Decision::ForIndex;
        let (suppressed, ended) = self.throttle.count(entry, is_for_index, options.throttle);
        if let Some(ended) = ended {
            self.write(&ended, &options);
        }
        if suppressed {
            return None;
        }
        let number = self.slow_statements.fetch_add(1, Ordering::Relaxed);
        filter::is_in_sample(entry, &session, &options, number).then_some(session)
    }

    /// Whether the statements of a session need their EXPLAIN for the slow log.
    pub(crate) fn wants_explain(&self, session: &SessionLogOptions) -> bool {
        let options = self.options();
        let session = session.under(options.control, &options.globals);
        options.writes_files()
            && session.verbosity.explain
            && options.format(&session.verbosity).is_mariadb()
    }

    /// Writes an entry of the slow log.
    pub(crate) fn write_slow(&self, entry: &SlowEntry) {
        self.write(entry, &self.options());
    }

    fn write(&self, entry: &SlowEntry, options: &LogOptions) {
        if options.writes_files() {
            let errors = self.errors.as_deref();
            let (path, header) = (&options.slow_file, &options.header);
            self.slow.append(path, header, errors, |written, out| {
                slow_format::write(entry, options, written, out);
            });
        }
        if options.writes_tables() {
            self.slow_table.add(SlowRow::of(entry, options.server_id));
        }
    }

    /// Writes an entry of the general log.
    pub(crate) fn write_general(&self, entry: &GeneralEntry<'_>) {
        let options = self.options();
        if options.writes_files() {
            let errors = self.errors.as_deref();
            let (path, header) = (&options.general_file, &options.header);
            self.general.append(path, header, errors, |_, out| {
                general_format::write(entry, options.system_time, out);
            });
        }
        if options.writes_tables() {
            let row = GeneralRow::of(entry, options.server_id);
            self.general_table.add(row);
        }
    }
}

/// Directory of relative file names. It is absolute, so that resolving a name again changes nothing.
fn directory(options: &DatabaseOptions) -> PathBuf {
    let directory = options.datadir.as_deref().unwrap_or(&options.tmpdir);
    std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned())
}

/// MySQL's default file names: those of the machine.
fn default_file(directory: &Path, globals: &Settings, position: usize) -> Option<(usize, Setting)> {
    let end = if position == typed::SLOW_QUERY_LOG_FILE.position() {
        "-slow.log"
    } else if position == typed::GENERAL_LOG_FILE.position() {
        ".log"
    } else {
        return None;
    };
    let path = directory.join(format!("{}{end}", globals.text(typed::HOSTNAME)));
    let text = Setting::Text(Some(Arc::from(&*path.to_string_lossy())));
    Some((position, text))
}

//! Runs one golden file through a driver and reports every record that fails.
//!
//! A failing record does not end the file: a list of all failures shows their common cause, which the first one alone
//! would hide.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use libtest_mimic::Failed;
use sqllogictest::{
    Connection, DB, ExpectedError, Normalizer, QueryExpect, Record, Runner, StatementExpect,
    TestErrorKind,
};

use crate::column::{ColumnKind, same_kinds};
use crate::corpus;

/// The directories that a golden file may name: `${DATA}` (files to load, `tests/data`) and `${TMP}` (a fresh directory
/// for files that it writes).
#[derive(Debug, Clone)]
pub struct Paths {
    data: PathBuf,
    tmp: PathBuf,
}

impl Paths {
    /// Makes a fresh directory for one run of one file.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn new() -> std::io::Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("mayfly-golden-{}-{serial}", std::process::id());
        let tmp = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&tmp)?;
        // A server that runs as another user must be able to write here.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&tmp, mode)?;
        Ok(Self {
            data: corpus::root().join("tests").join("data"),
            tmp,
        })
    }

    /// The directory of this run, for the driver's own files.
    #[must_use]
    pub fn tmp(&self) -> &Path {
        &self.tmp
    }

    /// Replaces the names by the real paths in a statement.
    #[must_use]
    pub fn insert(&self, sql: &str) -> String {
        sql.replace("${DATA}", &self.data.to_string_lossy())
            .replace("${TMP}", &self.tmp.to_string_lossy())
    }

    /// Replaces the real paths by the names in a result or a message.
    #[must_use]
    pub fn remove(&self, text: &str) -> String {
        text.replace(&*self.data.to_string_lossy(), "${DATA}")
            .replace(&*self.tmp.to_string_lossy(), "${TMP}")
    }

    /// Removes the run's directory.
    pub fn clean(&self) {
        // The error is ignored: a directory left in the system's temporary directory is harmless.
        let _ = std::fs::remove_dir_all(&self.tmp);
    }
}

/// Strictness of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Values, column types, and the whole text of errors.
    Exact,
    /// Values, and only the number of errors: what servers of one family share.
    Family,
}

/// A record with another result than in the file.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Line of the record in the file.
    pub line: u32,
    /// The statement.
    pub sql: String,
    /// What was expected.
    pub expected: String,
    /// The actual result.
    pub actual: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "line {}: {}", self.line, self.sql)?;
        writeln!(
            f,
            "  expected: {}",
            self.expected.replace('\n', "\n            ")
        )?;
        write!(
            f,
            "  actual:   {}",
            self.actual.replace('\n', "\n            ")
        )
    }
}

/// Result of running a file.
#[derive(Debug, Default)]
pub struct Report {
    /// Statements and queries that ran.
    pub n_records: usize,
    /// Statements and queries skipped by `skipif` or `onlyif`.
    pub n_skipped: usize,
    /// Records with another result than in the file.
    pub failures: Vec<Failure>,
}

/// The account of the sessions of a file that names no other.
pub const ROOT: &str = "root";

/// The account of a connection: `connection ann@localhost`, with a suffix behind a `#` where there are several.
/// Connections with other names are root's.
#[must_use]
pub fn account_of(connection: &str) -> &str {
    connection
        .split_once("@localhost")
        .map_or(ROOT, |(user, _)| user)
}

/// The statement that restarts the server, after closing all of its sessions.
const RESTART: &str = "RESTART";

/// Runs all records of `file`, in order, each on the connection that it names; `connect` opens the session of an
/// account without a password, `restart` performs RESTART.
///
/// # Errors
/// The file cannot be read or parsed.
pub fn run_file<D>(
    file: &Path,
    strictness: Strictness,
    connect: impl FnMut(&str) -> Result<D, D::Error>,
    mut restart: impl FnMut() -> Result<(), String>,
) -> Result<Report, String>
where
    D: DB<ColumnType = ColumnKind> + Send,
{
    let records = sqllogictest::parse_file::<ColumnKind>(file)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    // The account of the next connection.
    let account = RefCell::new(ROOT.to_owned());
    let connect = RefCell::new(connect);
    let begin = || {
        let connect = || connect.borrow_mut()(&account.borrow());
        let mut runner = Runner::new(move || std::future::ready(connect()));
        runner.with_normalizer(Clone::clone);
        runner.with_validator(same_rows);
        if strictness == Strictness::Exact {
            runner.with_column_validator(same_kinds);
        }
        runner
    };
    let mut runner = begin();
    let mut report = Report::default();
    for mut record in records {
        if strictness == Strictness::Family {
            loosen(&mut record);
        }
        let (line, sql) = match &record {
            Record::Statement {
                loc,
                sql,
                connection,
                ..
            }
            | Record::Query {
                loc,
                sql,
                connection,
                ..
            } => {
                let name = match connection {
                    Connection::Named(name) => account_of(name),
                    Connection::Default => ROOT,
                };
                account.replace(name.to_owned());
                (loc.line(), sql.clone())
            }
            Record::Halt { .. } => break,
            _ => (0, String::new()),
        };
        if sql == RESTART {
            runner.shutdown();
            restart()?;
            runner = begin();
            continue;
        }
        let counts = line != 0;
        match runner.run(record) {
            Ok(sqllogictest::RecordOutput::Nothing) if counts => report.n_skipped += 1,
            Ok(_) if counts => report.n_records += 1,
            Ok(_) => {}
            Err(error) => {
                report.n_records += 1;
                let (expected, actual) = describe(&error.kind());
                report.failures.push(Failure {
                    line,
                    sql,
                    expected,
                    actual,
                });
            }
        }
    }
    runner.shutdown();
    Ok(report)
}

/// The result of a trial that found these problems.
///
/// # Errors
/// All of them, if there are any.
pub fn verdict(problems: impl IntoIterator<Item = String>) -> Result<(), Failed> {
    let problems: Vec<String> = problems.into_iter().collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n").into())
    }
}

/// Compares rows, one line per row with columns separated by tabs; see [`crate::cell`].
fn same_rows(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.len() == expected.len()
        && actual
            .iter()
            .zip(expected)
            .all(|(row, line)| row.join("\t") == *line)
}

/// Reduces an expected error to its number.
fn loosen(record: &mut Record<ColumnKind>) {
    let expected = match record {
        Record::Statement {
            expected: StatementExpect::Error(expected),
            ..
        }
        | Record::Query {
            expected: QueryExpect::Error(expected),
            ..
        } => expected,
        _ => return,
    };
    let text = match expected {
        ExpectedError::Inline(regex) => regex.as_str().to_owned(),
        ExpectedError::Multiline(text) => text.clone(),
        _ => return,
    };
    if let Some(number) = text.split_whitespace().nth(1)
        && let Ok(regex) = regex::Regex::new(&format!("^ERROR {number} "))
    {
        *expected = ExpectedError::Inline(regex);
    }
}

fn describe(kind: &TestErrorKind) -> (String, String) {
    match kind {
        TestErrorKind::Ok { .. } => ("an error".into(), "no error".into()),
        TestErrorKind::Fail { err, .. } => ("no error".into(), err.to_string()),
        TestErrorKind::ErrorMismatch {
            expected_err, err, ..
        } => (expected_err.clone(), err.to_string()),
        TestErrorKind::StatementResultMismatch {
            expected, actual, ..
        } => (format!("{expected} rows affected"), actual.clone()),
        TestErrorKind::QueryResultMismatch {
            expected, actual, ..
        } => (expected.clone(), actual.clone()),
        TestErrorKind::QueryResultColumnsMismatch {
            expected, actual, ..
        } => (format!("columns {expected}"), format!("columns {actual}")),
        other => (String::new(), other.to_string()),
    }
}

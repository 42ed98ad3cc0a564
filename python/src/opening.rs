//! The function `connect`, and the options of a database.

use std::path::PathBuf;
use std::sync::Arc;

use mayfly::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::connection::{Connection, Settings};
use crate::database::{OpenDatabase, Refused, open};
use crate::errors::{self, Class};
use crate::watched::SignalCheckpoint;

/// Opens a connection.
///
/// ``path`` is a directory, which is made if it is not there; None or ``":memory:"`` is a database of its own in memory, and
/// ``":memory:NAME"`` one in memory that connections of this process share. Connections to one directory share the database.
///
/// :param autocommit: whether each statement is a transaction of its own; PEP 249 wants False at first
/// :param database: the current database
/// :param memory_limit: the most memory of everything, in bytes or as ``"512M"``; what does not fit goes on in files
/// :param threads: the most threads of a statement
/// :param temporary_directory: where temporary files are
/// :param files: whether statements read and write files; a path allows those below it
/// :param mysql_defaults: the defaults of MySQL for what depends on the machine
/// :param variables: system variables and their values
/// :param python_variables: whether a table that does not exist may be a variable of the caller, as in ``FROM df``
#[pyfunction]
#[pyo3(signature = (
    path = None, *, autocommit = false, database = "test", memory_limit = None, threads = None,
    temporary_directory = None, files = None, mysql_defaults = false, variables = None, python_variables = true,
))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn connect(
    py: Python<'_>,
    path: Option<PathBuf>,
    autocommit: bool,
    database: &str,
    memory_limit: Option<Bound<'_, PyAny>>,
    threads: Option<usize>,
    temporary_directory: Option<PathBuf>,
    files: Option<Bound<'_, PyAny>>,
    mysql_defaults: bool,
    variables: Option<Bound<'_, PyDict>>,
    python_variables: bool,
) -> PyResult<Connection> {
    let options = DatabaseSettings {
        memory_limit,
        threads,
        temporary_directory,
        files,
        mysql_defaults,
        variables,
    };
    let opened = options.open(py, path)?;
    let settings = Settings {
        autocommit,
        database: database.to_owned(),
        python_variables,
    };
    Connection::to(py, &opened, settings)
}

/// The options of a database, as Python gives them.
pub(crate) struct DatabaseSettings<'py> {
    pub(crate) memory_limit: Option<Bound<'py, PyAny>>,
    pub(crate) threads: Option<usize>,
    pub(crate) temporary_directory: Option<PathBuf>,
    pub(crate) files: Option<Bound<'py, PyAny>>,
    pub(crate) mysql_defaults: bool,
    pub(crate) variables: Option<Bound<'py, PyDict>>,
}

impl DatabaseSettings<'_> {
    /// Opens the database of a path, or finds it among the open ones.
    pub(crate) fn open(self, py: Python<'_>, path: Option<PathBuf>) -> PyResult<Arc<OpenDatabase>> {
        let mut options = Options::new().checkpoint(Arc::new(SignalCheckpoint));
        let mut given = Vec::new();
        if let Some(limit) = self.memory_limit {
            let bytes = size(&limit)?;
            given.push(format!("memory_limit={bytes}"));
            options = options.memory_limit(bytes);
        }
        if let Some(threads) = self.threads {
            given.push(format!("threads={threads}"));
            options = options.threads(threads);
        }
        if let Some(directory) = self.temporary_directory {
            given.push(format!("temporary_directory={}", directory.display()));
            options = options.temporary_directory(directory);
        }
        if self.mysql_defaults {
            given.push("mysql_defaults=True".to_owned());
            options = options.mysql_defaults();
        }
        if let Some(files) = self.files {
            given.push(format!("files={files}"));
            options = match files.cast::<PyBool>() {
                Ok(flag) if flag.is_true() => options,
                Ok(_) => options.without_files(),
                Err(_) => options.files_in(files.extract::<PathBuf>()?),
            };
        }
        for (name, value) in self.variables.iter().flatten() {
            let name: String = name.extract()?;
            let value = match value.cast::<PyBool>() {
                Ok(flag) => u8::from(flag.is_true()).to_string(),
                Err(_) => value.str()?.to_string(),
            };
            given.push(format!("{name}={value}"));
            options = options.variable(name, value);
        }
        let opened = py.detach(|| open(path, options, given.join(", ")));
        opened.map_err(|error| match error {
            Refused::Engine(error) => errors::of_engine(py, &error),
            Refused::Options { known, asked } => {
                let known = if known.is_empty() { "none" } else { &known };
                let why = format!("the database is open with other options: {known}; not {asked}");
                errors::of_package(py, Class::Programming, why)
            }
        })
    }
}

/// Bytes: a number, or a text such as `512M`.
fn size(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if given.is_instance_of::<PyInt>() {
        return given.extract();
    }
    let refuse = || {
        let why = format!("{given} is no size: a number of bytes, or one with K, M, G or T");
        errors::of_package(given.py(), Class::Programming, why)
    };
    let text = given.cast::<PyString>().map_err(|_| refuse())?.to_string();
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_suffix('B').unwrap_or(&text);
    let text = text.strip_suffix('I').unwrap_or(text);
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..).unwrap_or_default() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(refuse()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| refuse())?;
    number.checked_mul(1 << shift).ok_or_else(refuse)
}

//! The driver for Mayfly in this process, and the check that nothing leaks.
//!
//! A file gets its own database and its own directory for temporary files. After the file every
//! session is dropped, and what the engine still holds is a failure: memory, temporary space, a
//! temporary table in the registry, or a file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use mayfly_engine::{
    Database, DatabaseOptions, HashMode, Prepared, RootPassword, Session, SqlType, StatementResult,
    TypeKind,
};
use sqllogictest::{DB, DBOutput};

use crate::cell;
use crate::column::ColumnKind;
use crate::config::Config;
use crate::fixture;
use crate::prepared::parameterize;
use crate::runner::{Paths, ROOT};

/// An error of a statement, in the form golden files use.
#[derive(Debug, Clone)]
pub struct StatementError {
    sqlstate: &'static str,
    text: String,
}

impl std::fmt::Display for StatementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StatementError {}

fn statement_error(error: &mayfly_engine::Error, paths: &Paths) -> StatementError {
    StatementError {
        sqlstate: error.sqlstate(),
        text: paths.remove(&error.to_string()),
    }
}

/// A database opened for one golden file.
#[derive(Debug)]
pub struct Embedded {
    database: Arc<Database>,
    statements: Vec<String>,
    temporary_tables: bool,
    memory_tables: bool,
    prepared: bool,
    paths: Paths,
    tmpdir: PathBuf,
}

impl Embedded {
    /// Opens a database as `config` says.
    ///
    /// # Errors
    /// A text that says which option is wrong, or what the engine answered.
    pub fn open(config: &Config, paths: Paths) -> Result<Self, String> {
        let tmpdir = paths.tmp().join("mayfly-temp-space");
        std::fs::create_dir_all(&tmpdir).map_err(|error| error.to_string())?;
        let mut options = DatabaseOptions::new();
        options.tmpdir.clone_from(&tmpdir);
        options.threads = 2;
        if config.data_directory {
            options.datadir = Some(paths.tmp().join("mayfly-data"));
        }
        for (name, value) in &config.options {
            set(&mut options, name, value)
                .ok_or_else(|| format!("{}: option {name} = {value:?}", config.name))?;
        }
        let database = Database::open(options).map_err(|error| error.to_string())?;
        let root = database.set_up_root(RootPassword::Empty);
        root.map_err(|error| error.to_string())?;
        Ok(Self {
            database,
            statements: config.statements.clone(),
            temporary_tables: config.temporary_tables,
            memory_tables: config.memory_tables,
            prepared: config.prepared,
            paths,
            tmpdir,
        })
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// A new session of the database.
    ///
    /// # Errors
    /// When a statement of the configuration fails.
    pub fn session(&self) -> Result<EmbeddedSession, StatementError> {
        self.session_of(ROOT)
    }

    /// A new session of an account without a password; root needs none.
    ///
    /// # Errors
    /// When the account is refused, or a statement of the configuration fails.
    pub fn session_of(&self, user: &str) -> Result<EmbeddedSession, StatementError> {
        let session = if user == ROOT {
            self.database.session()
        } else {
            fixture::log_in(&self.database, user)
                .map_err(|error| statement_error(&error, &self.paths))?
        };
        let mut session = EmbeddedSession {
            session: Some(session),
            temporary_tables: self.temporary_tables,
            memory_tables: self.memory_tables,
            prepared: self.prepared.then(HashMap::new),
            paths: self.paths.clone(),
        };
        for statement in &self.statements {
            session.run(statement)?;
        }
        Ok(session)
    }

    /// What is still held, after every session is gone; empty when nothing leaks.
    #[must_use]
    pub fn leaks(&self) -> Vec<String> {
        let mut leaks = Vec::new();
        let mut check = |what: &str, amount: u64| {
            if amount != 0 {
                leaks.push(format!("{what}: {amount}"));
            }
        };
        check(
            "bytes of memory still reserved",
            self.database.memory_used(),
        );
        check(
            "bytes of temporary space still used",
            self.database.temp_space_used(),
        );
        check(
            "temporary tables still registered",
            self.database.temporary_table_count() as u64,
        );
        leaks
    }

    /// Closes the database, in which everything must be in order, and opens it anew.
    ///
    /// # Errors
    /// A text that says what is not in order, what is left, or why it cannot be opened.
    pub fn restart(self, config: &Config) -> Result<Self, String> {
        self.database.check().map_err(|error| error.to_string())?;
        let paths = self.paths.clone();
        let left = self.close();
        if left.is_empty() {
            Self::open(config, paths)
        } else {
            Err(left.join("\n"))
        }
    }

    /// Closes the database; gives the temporary files that outlive it.
    #[must_use]
    pub fn close(self) -> Vec<String> {
        let Self {
            database, tmpdir, ..
        } = self;
        drop(database);
        std::fs::read_dir(&tmpdir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| format!("left in tmpdir: {}", entry.path().display()))
            .collect()
    }
}

/// Sets an option by name; `None` when there is no such option or the value has another type.
fn set(options: &mut DatabaseOptions, name: &str, value: &toml::Value) -> Option<()> {
    let number = || {
        value
            .as_integer()
            .and_then(|number| u64::try_from(number).ok())
    };
    match name {
        "memory_limit" => options.memory_limit = Some(number()?),
        "threads" => options.threads = usize::try_from(number()?).ok()?,
        "batch_size" => options.batch_size = usize::try_from(number()?).ok()?,
        "force_overflow" => options.force_overflow = value.as_bool()?,
        "keep_all_plans" => options.keep_all_plans = value.as_bool()?,
        "optimizer" => options.optimizer = value.as_bool()?,
        "hash_mode" => {
            options.hash_mode = match value.as_str()? {
                "normal" => HashMode::Normal,
                "collide" => HashMode::Collide,
                "crowd" => HashMode::Crowd,
                _ => return None,
            }
        }
        "variables" => {
            for (name, value) in value.as_table()? {
                let text = match value {
                    toml::Value::String(text) => text.clone(),
                    toml::Value::Integer(number) => number.to_string(),
                    toml::Value::Boolean(switch) => u8::from(*switch).to_string(),
                    _ => return None,
                };
                options.variables.push((name.clone(), text));
            }
        }
        _ => return None,
    }
    Some(())
}

/// A session of an [`Embedded`] database.
#[derive(Debug)]
pub struct EmbeddedSession {
    session: Option<Session>,
    temporary_tables: bool,
    memory_tables: bool,
    /// Statements by their text, if statements run prepared.
    prepared: Option<HashMap<String, Arc<Prepared>>>,
    /// Whether queries run three times.
    paths: Paths,
}

/// What the MEMORY engine has no place for: BLOB and TEXT, generated columns, keys over expressions.
const NOT_IN_MEMORY: [u16; 3] = [1163, 1478, 3106];

fn creates_table(sql: &str) -> bool {
    let mut words = sql.split_whitespace().map(str::to_ascii_lowercase);
    let mut next = || words.next().unwrap_or_default();
    next() == "create" && ["table", "temporary"].contains(&next().as_str())
}

/// Runs a CREATE TABLE whose table is of the MEMORY engine if it can be.
fn execute_in_memory(
    session: &mut Session,
    sql: &str,
) -> Result<Vec<StatementResult>, mayfly_engine::Error> {
    let mut execute = |engine: &str| {
        for variable in ["default_storage_engine", "default_tmp_storage_engine"] {
            session.execute(&format!("SET {variable} = {engine}"))?;
        }
        session.execute(sql)
    };
    match execute("MEMORY") {
        Err(error) if NOT_IN_MEMORY.contains(&error.errno()) => execute("InnoDB"),
        result => result,
    }
}

/// The statement with TEMPORARY in its CREATE TABLE, if it is one.
fn temporary(sql: &str) -> Option<String> {
    let mut words = sql.split_whitespace();
    let mut is = |expected: &str| {
        words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case(expected))
    };
    let rest = sql.trim_start().get("create".len()..)?;
    (is("create") && is("table")).then(|| format!("CREATE TEMPORARY{rest}"))
}

impl DB for EmbeddedSession {
    type Error = StatementError;
    type ColumnType = ColumnKind;

    fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnKind>, StatementError> {
        let Some(session) = &mut self.session else {
            return Err(StatementError {
                sqlstate: "HY000",
                text: "session is closed".into(),
            });
        };
        let changed = self.temporary_tables.then(|| temporary(sql)).flatten();
        let sql = changed.as_deref().unwrap_or(sql);
        let sql = self.paths.insert(sql);
        let results = match &mut self.prepared {
            _ if self.memory_tables && creates_table(&sql) => execute_in_memory(session, &sql),
            Some(prepared) => execute(session, prepared, &sql),
            None => session.execute(&sql),
        };
        let results = results.map_err(|error| statement_error(&error, &self.paths))?;
        match results.last() {
            Some(result) if result.has_rows() => Ok(rows(result, &self.paths)),
            Some(result) => Ok(DBOutput::StatementComplete(result.affected_rows)),
            None => Ok(DBOutput::StatementComplete(0)),
        }
    }

    fn shutdown(&mut self) {
        self.session = None;
    }

    fn engine_name(&self) -> &str {
        "mayfly"
    }

    fn error_sql_state(error: &StatementError) -> Option<String> {
        Some(error.sqlstate.to_owned())
    }
}

/// Whether a statement is a query that gives the same when it runs again, and leaves nothing but its warnings.
fn is_repeatable(sql: &str) -> bool {
    const STATEFUL: [&str; 20] = [
        "@",
        "rand",
        "uuid",
        "sleep",
        "insert_id",
        "row_count",
        "found_rows",
        "sql_calc",
        "into",
        "for update",
        "for share",
        "share mode",
        "benchmark",
        "lock",
        "now(",
        "sysdate",
        "status",
        "processlist",
        "temp",
        "events",
    ];
    let sql = sql.trim_start().to_ascii_lowercase();
    let is_query = ["select", "with", "(", "table ", "values"]
        .iter()
        .any(|word| sql.starts_with(word));
    is_query && !STATEFUL.iter().any(|word| sql.contains(word))
}

/// Runs a statement prepared if it has literals that `?` can stand for, and by its text otherwise.
/// Statements that differ in such literals alone are one prepared statement; a query runs twice, the
/// second time by the plan of the first.
fn execute(
    session: &mut Session,
    prepared: &mut HashMap<String, Arc<Prepared>>,
    sql: &str,
) -> mayfly_engine::Result<Vec<StatementResult>> {
    let changed = parameterize(sql, session.connection_collation());
    let statement = changed.as_ref().and_then(|changed| {
        let key = format!("{:?} {}", session.current_database(), changed.text);
        if let Some(statement) = prepared.get(&key) {
            return Some(Arc::clone(statement));
        }
        let statement = session.prepare(&changed.text).ok()?;
        prepared.insert(key, Arc::clone(&statement));
        Some(statement)
    });
    let mut run = || match (&statement, &changed) {
        (Some(statement), Some(changed)) => {
            let outcome = session.execute_prepared(statement, &changed.values)?;
            outcome.into_result().map(|result| vec![result])
        }
        _ => session.execute(sql),
    };
    let first = run()?;
    if is_repeatable(sql) { run() } else { Ok(first) }
}

fn rows(result: &StatementResult, paths: &Paths) -> DBOutput<ColumnKind> {
    let types = result
        .columns
        .iter()
        .map(|column| kind(&column.ty))
        .collect();
    let rows = (0..result.row_count())
        .map(|row| {
            let values = result.row_bytes(row);
            values
                .iter()
                .map(|value| paths.remove(&cell::escape(value.as_deref())))
                .collect()
        })
        .collect();
    DBOutput::Rows { types, rows }
}

/// The family of a type, as the protocol shows it to a client.
fn kind(ty: &SqlType) -> ColumnKind {
    match ty.kind {
        TypeKind::Boolean
        | TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Bit
        | TypeKind::Year => ColumnKind::Integer,
        TypeKind::Decimal => ColumnKind::Decimal,
        TypeKind::Float | TypeKind::Double => ColumnKind::Real,
        TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
            ColumnKind::Moment
        }
        _ => ColumnKind::Text,
    }
}

//! The driver for Mayfly in this process, with the check for leaks.
//!
//! A file gets its own database and its own directory for temporary files. After the file every session is dropped, and
//! anything that the engine still holds is a failure: memory, temporary space, a temporary table in the registry, or a
//! file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use mayfly_engine::{
    Condition, Database, DatabaseOptions, Defaults, HashMode, Prepared, RootPassword, Session,
    SqlType, StatementResult, TypeKind, codes,
};
use regex::Regex;
use sqllogictest::{DB, DBOutput};

use crate::cell;
use crate::client::{LOST, ServerError};
use crate::column::ColumnKind;
use crate::config::Config;
use crate::fixture;
use crate::prepared::parameterize;
use crate::runner::{Paths, ROOT};
use crate::secondary::MemoryEngine;

/// Rows of a part of a table in the secondary engine: few, so that tables of tests have several parts.
const PART_ROWS: u64 = 100;

fn statement_error(error: &mayfly_engine::Error, paths: &Paths) -> ServerError {
    ServerError {
        state: error.sqlstate().to_owned(),
        message: paths.remove(error.message()),
        code: error.errno(),
    }
}

/// A database opened for one golden file.
#[derive(Debug)]
pub struct Embedded {
    database: Arc<Database>,
    config: Config,
    paths: Paths,
    tmpdir: PathBuf,
}

impl Embedded {
    /// Opens a database with the options of `config`.
    ///
    /// # Errors
    /// A text that names the wrong option, or has the engine's error.
    pub fn open(config: &Config, paths: Paths) -> Result<Self, String> {
        let tmpdir = paths.tmp().join("mayfly-temp-space");
        std::fs::create_dir_all(&tmpdir).map_err(|error| error.to_string())?;
        let mut options = DatabaseOptions::new();
        options.defaults = Defaults::MySql;
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
        if config.secondary_engine {
            let engine = MemoryEngine::new(PART_ROWS);
            let set = database.set_secondary_engine(Some(engine));
            set.map_err(|error| error.to_string())?;
        }
        let root = database.set_up_root(RootPassword::Empty);
        root.map_err(|error| error.to_string())?;
        Ok(Self {
            database,
            config: config.clone(),
            paths,
            tmpdir,
        })
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// A new session of an account without a password; root needs none.
    ///
    /// # Errors
    /// When the account is refused, or a statement of the configuration fails.
    pub fn session_of(&self, user: &str) -> Result<EmbeddedSession, ServerError> {
        let session = if user == ROOT {
            self.database.session()
        } else {
            fixture::log_in(&self.database, user)
                .map_err(|error| statement_error(&error, &self.paths))?
        };
        let mut session = EmbeddedSession {
            session: Some(session),
            temporary_tables: self.config.temporary_tables,
            memory_tables: self.config.memory_tables,
            prepared: self.config.prepared.then(HashMap::new),
            paths: self.paths.clone(),
        };
        for statement in &self.config.statements {
            session.run(statement)?;
        }
        Ok(session)
    }

    /// Resources still held after every session was dropped; empty when nothing leaks.
    #[must_use]
    pub fn leaks(&self) -> Vec<String> {
        fixture::leaks(&self.database)
    }

    /// Closes the database after checking it, and opens it again.
    ///
    /// # Errors
    /// A text that says what is damaged, what is left, or why it cannot be opened.
    pub fn restart(self) -> Result<Self, String> {
        self.database.check().map_err(|error| error.to_string())?;
        let (config, paths) = (self.config.clone(), self.paths.clone());
        let left = self.close();
        if left.is_empty() {
            Self::open(&config, paths)
        } else {
            Err(left.join("\n"))
        }
    }

    /// Closes the database; returns the temporary files that outlive it.
    #[must_use]
    pub fn close(self) -> Vec<String> {
        let Self {
            database, tmpdir, ..
        } = self;
        drop(database);
        let files = fixture::files_in(&tmpdir).into_iter();
        files
            .map(|name| format!("left in tmpdir: {name}"))
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
        "parallel_rows_min" => options.parallel_rows_min = number()?,
        "batch_size" => options.batch_size = usize::try_from(number()?).ok()?,
        "force_overflow" => options.force_overflow = value.as_bool()?,
        "allow_tmp_debug" => options.allow_tmp_debug = value.as_bool()?,
        "keep_all_plans" => options.keep_all_plans = value.as_bool()?,
        "optimizer" => options.optimizer = value.as_bool()?,
        "offloads_all" => options.offloads_all = value.as_bool()?,
        "all_rewrites" => options.all_rewrites = value.as_bool()?,
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
    paths: Paths,
}

/// Errors of columns and keys that MEMORY cannot store: BLOB and TEXT, generated columns, keys over expressions.
const NOT_IN_MEMORY: [u16; 4] = [1163, 1178, 1478, 3106];

fn pattern(of: &str) -> Regex {
    Regex::new(of).expect("the pattern is right")
}

static CREATE_TABLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)^\s*create\s+(table|temporary)\b"));

/// Statements with other effects than warnings, or with varying results.
static STATEFUL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?xi-u) @ | rand | uuid | sleep | insert_id | row_count | found_rows | sql_calc | into | for\ update
        | for\ share | share\ mode | benchmark | lock | now\( | sysdate | status | processlist | temp | events",
    )
});

static QUERY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)^\s*(select|with|\(|table |values)"));

/// Runs a CREATE TABLE as one of the MEMORY engine if possible.
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
    let created = CREATE_TABLE.captures(sql)?.get(1)?;
    let (_, rest) = sql.split_at(created.start());
    let is_temporary = created.as_str().eq_ignore_ascii_case("temporary");
    (!is_temporary).then(|| format!("CREATE TEMPORARY {rest}"))
}

impl DB for EmbeddedSession {
    type Error = ServerError;
    type ColumnType = ColumnKind;

    fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnKind>, ServerError> {
        let Some(session) = &mut self.session else {
            return Err(ServerError {
                state: "HY000".to_owned(),
                message: "session is closed".to_owned(),
                code: LOST,
            });
        };
        let changed = self.temporary_tables.then(|| temporary(sql)).flatten();
        let sql = changed.as_deref().unwrap_or(sql);
        let sql = self.paths.insert(sql);
        let results = match &mut self.prepared {
            _ if self.memory_tables && CREATE_TABLE.is_match(&sql) => {
                execute_in_memory(session, &sql)
            }
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

    fn error_sql_state(error: &ServerError) -> Option<String> {
        Some(error.state.clone())
    }
}

/// Whether a statement is a query with a repeatable result and no effects but its warnings.
fn is_repeatable(sql: &str) -> bool {
    QUERY.is_match(sql) && !STATEFUL.is_match(sql)
}

/// Runs a statement prepared if it has literals that `?` can stand for, and by its text otherwise. Statements that
/// differ only in such literals share one prepared statement; a query runs twice, the second time with the plan of the
/// first.
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
    let run = |session: &mut Session| match (&statement, &changed) {
        (Some(statement), Some(changed)) => {
            let outcome = session.execute_prepared(statement, &changed.values)?;
            outcome.into_result().map(|result| vec![result])
        }
        _ => session.execute(sql),
    };
    let first = run(session)?;
    if !is_repeatable(sql) {
        return Ok(first);
    }
    // An invalid text is converted once as a parameter, with another warning than a literal's, or NULL where the
    // literal is an error.
    let was_converted = |condition: &Condition| {
        statement.is_some() && condition.error.is(&codes::ER_TRUNCATED_WRONG_VALUE)
    };
    if session.warnings().iter().any(was_converted) {
        return session.execute(sql);
    }
    run(session)
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
            let cells = values.iter().map(|value| cell::escape(value.as_deref()));
            cells.map(|text| paths.remove(&text)).collect()
        })
        .collect();
    DBOutput::Rows { types, rows }
}

/// The family of a type, as a client sees it in the protocol.
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
            ColumnKind::Temporal
        }
        _ => ColumnKind::Text,
    }
}

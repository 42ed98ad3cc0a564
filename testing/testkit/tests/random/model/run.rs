//! Runs steps on a database and compares its answers.

use std::sync::Arc;

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture::{DataDirectory, SessionExt, variables};

use crate::model::checks;
use crate::model::rows::durable;
use crate::model::world::{Answer, Expected, SESSIONS, World};

/// Opens a directory with options that the seed chooses: small limits now and then.
pub(crate) fn open(directory: &DataDirectory, seed: u64, flush: u64) -> Arc<Database> {
    let buffer = [8 << 20, 0, 64 << 10][usize::try_from(seed % 3).unwrap_or(0)];
    let overflow = if seed % 4 == 1 { 32_768 } else { 16 << 20 };
    let opened = directory.open_with(|options| {
        options.threads = 1 + usize::from(seed.is_multiple_of(2));
        options.batch_size = if seed.is_multiple_of(3) { 7 } else { 1024 };
        if seed.is_multiple_of(4) {
            options.memory_limit = Some(48 << 20);
        }
        options.parallel_rows_min = if seed.is_multiple_of(5) { 100 } else { 10_000 };
        options.variables = variables(&[
            ("innodb_flush_log_at_trx_commit", flush),
            ("innodb_lock_wait_timeout", 3),
            ("lock_wait_timeout", 3),
            ("write_buffer_size", buffer),
            ("tmp_table_size", overflow),
            ("max_heap_table_size", 256 << 20),
            ("cte_max_recursion_depth", 1_000_000),
        ]);
    });
    opened.expect("a data directory opens")
}

/// The sessions of one database.
pub(crate) struct Sessions {
    pub(crate) database: Arc<Database>,
    all: Vec<Session>,
    /// A session that reads committed rows.
    pub(crate) other: Session,
}

fn session(database: &Arc<Database>) -> Session {
    let mut session = database.session();
    session.must("CREATE DATABASE IF NOT EXISTS model");
    session.must("USE model");
    session.must("SET sql_mode = 'STRICT_TRANS_TABLES'");
    session.must("SET time_zone = '+00:00'");
    session
}

impl Sessions {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self {
            all: (0..SESSIONS).map(|_| session(&database)).collect(),
            other: session(&database),
            database,
        }
    }

    pub(crate) fn open(directory: &DataDirectory, seed: u64) -> Self {
        Self::new(open(directory, seed, 2))
    }
}

/// A step as a line of a script.
pub(crate) fn line(expected: &Expected) -> String {
    let session = expected.session;
    match &expected.answer {
        Answer::Statement { sql, file, errno } => {
            let error = match errno {
                0 => String::new(),
                errno => format!(" -- error {errno}"),
            };
            let file = match file {
                Some(file) => format!(" -- of {file:?}"),
                None => String::new(),
            };
            format!("/* {session} */ {sql};{error}{file}")
        }
        Answer::Rows { table, lock, seed } => {
            let (name, lock) = (&table.name, lock.sql());
            format!("/* {session} */ SELECT * FROM {name}{lock}; -- {seed}")
        }
        Answer::Definition(table) => format!("/* {session} */ SHOW CREATE TABLE {};", table.name),
        Answer::Restart => "-- restart".to_owned(),
        Answer::Backup(_) => "-- backup".to_owned(),
    }
}

/// Runs a step; returns the difference in its answer.
pub(crate) fn run(
    sessions: &mut Option<Sessions>,
    directory: &DataDirectory,
    seed: u64,
    expected: &Expected,
) -> Result<(), String> {
    if matches!(expected.answer, Answer::Restart) {
        drop(sessions.take());
        *sessions = Some(Sessions::open(directory, seed));
    }
    let Some(open) = sessions else {
        return Ok(());
    };
    let session = &mut open.all[expected.session];
    match &expected.answer {
        Answer::Restart => Ok(()),
        Answer::Statement { sql, file, errno } => {
            let path = directory.path().with_extension("tsv");
            let mut sql = sql.clone();
            if let Some(file) = file {
                std::fs::write(&path, file).map_err(|error| error.to_string())?;
                sql = sql.replace("${FILE}", &path.display().to_string());
            }
            let result = session.rows(&sql);
            if file.is_some() {
                let _ = std::fs::remove_file(&path);
            }
            let (found, text) = match result {
                Ok(_) => (0, String::new()),
                Err(error) => (error.errno(), error.to_string()),
            };
            if found == *errno {
                return Ok(());
            }
            Err(format!("error {found} instead of {errno}: {text}\n{sql}"))
        }
        Answer::Rows { table, lock, seed } => checks::table(session, table, *lock, Some(*seed))
            .map_err(|text| format!("session {}: {text}", expected.session)),
        Answer::Definition(table) => checks::definition(session, table),
        Answer::Backup(tables) => {
            open.database.check().map_err(|error| error.to_string())?;
            let path = directory.path().with_extension("backup");
            let _ = std::fs::remove_dir_all(&path);
            open.database
                .backup(&path)
                .map_err(|error| error.to_string())?;
            let copy = DataDirectory::at(path);
            let database = self::open(&copy, seed, 2);
            checks::database(&mut self::session(&database), &durable(tables))
                .map_err(|text| format!("the backup: {text}"))
        }
    }
}

/// Ends all transactions, checks everything once more, and drops it.
pub(crate) fn finish(sessions: Option<Sessions>, world: &mut World) -> Result<(), String> {
    let Some(Sessions {
        database,
        mut all,
        mut other,
    }) = sessions
    else {
        return Ok(());
    };
    checks::database(&mut other, &world.committed)
        .map_err(|text| format!("another session: {text}"))?;
    for (number, session) in all.iter_mut().enumerate() {
        session.rows("COMMIT").map_err(|error| error.to_string())?;
        world.commit(number);
    }
    for (session, known) in all.iter_mut().zip(&world.sessions) {
        checks::tables(session, known.temporary.values())?;
    }
    checks::database(&mut other, &world.committed).map_err(|text| format!("at the end: {text}"))?;
    drop(all);
    database.check().map_err(|error| error.to_string())?;
    other
        .rows("DROP DATABASE model")
        .map_err(|error| error.to_string())?;
    drop(other);
    match (database.memory_used(), database.temp_space_used()) {
        (0, 0) => Ok(()),
        (memory, space) => Err(format!(
            "{memory} bytes of memory and {space} of files are left"
        )),
    }
}

//! Opens the database that the command line names.

use mayfly_engine::{Database, Session};

use crate::options::Options;

/// A session of the database that the options describe. Its current database is `current`, which is created if it does
/// not exist.
pub(crate) fn open(options: &Options, current: &str) -> Result<Session, String> {
    let database = Database::open(options.engine.database_options()?).map_err(|e| e.to_string())?;
    mayfly_files::register(&database);
    let mut session = database.session();
    let quoted = current.replace('`', "``");
    for sql in [
        format!("CREATE DATABASE IF NOT EXISTS `{quoted}`"),
        format!("USE `{quoted}`"),
    ] {
        session.execute(&sql).map_err(|e| e.to_string())?;
    }
    Ok(session)
}

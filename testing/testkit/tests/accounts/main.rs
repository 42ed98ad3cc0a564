//! Accounts: who may log in, what each privilege allows, and that all of it is kept.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod logins;
mod privileges;
mod reading;
mod restrictions;
mod storage;

use std::sync::Arc;

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture;

/// A session of an account without a password.
fn log_in(database: &Arc<Database>, user: &str) -> Session {
    fixture::log_in(database, user).unwrap()
}

/// The number of the error that a statement ends with; 0 for none.
fn errno(session: &mut Session, statement: &str) -> u16 {
    session
        .execute(statement)
        .map_or_else(|error| error.errno(), |_| 0)
}

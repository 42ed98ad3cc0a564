//! Accounts: logins, the statements that each privilege allows, and the persistence of accounts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod logins;
mod privileges;
mod reading;
mod restrictions;
mod storage;

use std::sync::Arc;

use mayfly_engine::{Database, Session, SessionOptions};
use mayfly_testkit::fixture::{self, Errno};

/// A session of an account without a password.
fn log_in(database: &Arc<Database>, user: &str) -> Session {
    fixture::log_in(database, user).unwrap()
}

/// A session of an account with an expired password, whose client supports setting another one.
fn log_in_to_change(database: &Arc<Database>, user: &str) -> Session {
    let options = SessionOptions {
        database: None,
        changes_expired_password: true,
        ..SessionOptions::new()
    };
    let login = database.account_for(user, "localhost");
    database
        .log_in(database.accept().unwrap(), &login, options)
        .unwrap()
}

/// Runs statements that must succeed.
fn succeed<T: AsRef<str>>(session: &mut impl Errno, statements: impl IntoIterator<Item = T>) {
    for statement in statements {
        let statement = statement.as_ref();
        assert_eq!(session.errno(statement), 0, "{statement}");
    }
}

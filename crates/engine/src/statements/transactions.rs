//! Transactions: accepted, so that clients work; every statement is durable by itself for as long as
//! base tables live only as long as the process.

use mayfly_syntax::ast::{AccessMode, IsolationLevel, SetTransaction, VariableScope};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::variables::{self, Setting};

/// BEGIN
pub(super) fn begin(session: &mut Session) -> Result<Outcome> {
    super::count(session, Counter::ComBegin);
    Ok(StatementResult::default().into())
}

/// COMMIT
pub(super) fn commit(session: &mut Session) -> Result<Outcome> {
    super::count(session, Counter::ComCommit);
    Ok(StatementResult::default().into())
}

/// ROLLBACK
pub(super) fn rollback(session: &mut Session) -> Result<Outcome> {
    super::count(session, Counter::ComRollback);
    Ok(StatementResult::default().into())
}

/// SET TRANSACTION: the variables that SELECT @@transaction_isolation shows.
pub(super) fn set(session: &mut Session, statement: &SetTransaction) -> Result<Outcome> {
    let isolation = statement.isolation.map(|level| match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    });
    let read_only = statement
        .access_mode
        .map(|mode| mode == AccessMode::ReadOnly);
    let changes = [
        isolation.map(|level| ("transaction_isolation", Setting::Unsigned(level))),
        read_only.map(|only| ("transaction_read_only", Setting::Boolean(only))),
    ];
    for (name, setting) in changes.into_iter().flatten() {
        match statement.scope {
            // Without a scope only the next transaction is meant; there is nothing to keep for it.
            None => {}
            Some(VariableScope::Session) => session.set_setting_by_name(name, setting),
            Some(_) => {
                let unknown = || codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]);
                let position = variables::position(name).ok_or_else(unknown)?;
                session.database.set_global(position, setting);
            }
        }
    }
    Ok(StatementResult::default().into())
}

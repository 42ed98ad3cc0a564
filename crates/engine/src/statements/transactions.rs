//! BEGIN, COMMIT, ROLLBACK, savepoints and SET TRANSACTION.

use mayfly_syntax::ast::{
    AccessMode, Completion, IsolationLevel, SetTransaction, StartTransaction, Statement,
    VariableScope,
};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statement_options::CompletionType;
use crate::statements::table_names::qualified;
use crate::statements::table_references::{self, Access, TableReference};
use crate::transaction::{Characteristics, Isolation, NotUndone};
use crate::variables::typed;

/// BEGIN and START TRANSACTION: what was open is committed.
pub(super) fn begin(
    context: &mut StatementContext<'_>,
    statement: &StartTransaction,
) -> Result<Outcome> {
    let next = if context.transaction_mut().is_begun() {
        None
    } else {
        context.transaction_mut().characteristics()
    };
    commit_open(context)?;
    context.session.transaction.unlock_tables();
    let usual = next.unwrap_or(context.options().transaction);
    let read_only = statement
        .access_mode
        .map_or(usual.read_only, |mode| mode == AccessMode::ReadOnly);
    let characteristics = Characteristics { read_only, ..usual };
    context.transaction_mut().begin(characteristics);
    // Each statement sees what is there when it begins, or locks it.
    if statement.consistent_snapshot && characteristics.isolation != Isolation::RepeatableRead {
        let ignored = codes::HA_ERR_UNSUPPORTED.error();
        context.warn(ignored);
    } else if statement.consistent_snapshot {
        context.session.transaction.durable()?.take_snapshot()?;
    }
    Ok(StatementResult::default().into())
}

/// COMMIT
pub(super) fn commit(
    context: &mut StatementContext<'_>,
    completion: &Completion,
) -> Result<Outcome> {
    let characteristics = context.transaction_mut().characteristics();
    commit_open(context)?;
    complete(context, completion, characteristics);
    Ok(StatementResult::default().into())
}

/// Commits what is open: 1290 when that may no longer change what lasts, and nothing of it is kept.
pub(super) fn commit_open(context: &mut StatementContext<'_>) -> Result<()> {
    if context.transaction_mut().has_written()
        && let Err(refused) = context.privileges().refuse_read_only_server()
    {
        let incomplete = context.transaction_mut().roll_back();
        warn_incomplete(context, &incomplete);
        return Err(refused);
    }
    context.transaction_mut().commit()
}

/// ROLLBACK
pub(super) fn rollback(
    context: &mut StatementContext<'_>,
    completion: &Completion,
) -> Result<Outcome> {
    let characteristics = context.transaction_mut().characteristics();
    let incomplete = context.transaction_mut().roll_back();
    warn_incomplete(context, &incomplete);
    complete(context, completion, characteristics);
    Ok(StatementResult::default().into())
}

/// Warns of what ROLLBACK leaves as it is.
fn warn_incomplete(context: &StatementContext<'_>, incomplete: &[NotUndone]) {
    for what in incomplete {
        let warning = match what {
            NotUndone::Rows => codes::ER_WARNING_NOT_COMPLETE_ROLLBACK,
            NotUndone::TablesMade => {
                codes::ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE
            }
            NotUndone::TablesDropped => {
                codes::ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE
            }
        };
        context.warn(warning.error());
    }
}

/// AND CHAIN, RELEASE, or what `completion_type` says.
fn complete(
    context: &mut StatementContext<'_>,
    completion: &Completion,
    before: Option<Characteristics>,
) {
    let (usual, begins_with) = (context.options().completion, context.options().transaction);
    let chain = completion.chain.unwrap_or(usual == CompletionType::Chain);
    let release = completion
        .release
        .unwrap_or(usual == CompletionType::Release);
    if chain {
        context
            .transaction_mut()
            .begin(before.unwrap_or(begins_with));
    } else if release {
        context.session.shared.kill.release();
    }
}

/// SAVEPOINT: alone, a statement is a transaction that ends with it, and the savepoint too.
pub(super) fn savepoint(context: &mut StatementContext<'_>, name: &str) -> Result<Outcome> {
    if context.is_in_transaction() {
        context.transaction_mut().set_savepoint(name);
    }
    Ok(StatementResult::default().into())
}

/// ROLLBACK TO SAVEPOINT
pub(super) fn rollback_to(context: &mut StatementContext<'_>, name: &str) -> Result<Outcome> {
    let incomplete = context.transaction_mut().roll_back_to_savepoint(name)?;
    warn_incomplete(context, &incomplete);
    Ok(StatementResult::default().into())
}

/// RELEASE SAVEPOINT
pub(super) fn release(context: &mut StatementContext<'_>, name: &str) -> Result<Outcome> {
    context.transaction_mut().release_savepoint(name)?;
    Ok(StatementResult::default().into())
}

/// Whether a statement that changes definitions changes more than temporary tables.
pub(super) fn changes_what_lasts(context: &StatementContext<'_>, statement: &Statement) -> bool {
    let references = table_references::of_statement(context.session, statement);
    let mut defined = references
        .iter()
        .filter(|reference| reference.access == Access::Define)
        .peekable();
    let lasts = |reference: &TableReference| match qualified(context, &reference.table) {
        Ok((database, name)) => context.temporary_table(&database, &name).is_none(),
        Err(_) => true,
    };
    match statement {
        Statement::CreateTable(create) => !create.temporary,
        Statement::DropTable(drop) if drop.temporary => false,
        _ => defined.peek().is_none() || defined.any(lasts),
    }
}

/// SET TRANSACTION
pub(super) fn set(
    context: &mut StatementContext<'_>,
    statement: &SetTransaction,
) -> Result<Outcome> {
    let isolation = statement.isolation.map(|level| match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    });
    let read_only = statement
        .access_mode
        .map(|mode| mode == AccessMode::ReadOnly);
    if statement.scope.is_none() {
        let usual = context.options().transaction;
        let next = context.transaction_mut().characteristics().unwrap_or(usual);
        context.transaction_mut().set_next(Characteristics {
            isolation: isolation.map_or(next.isolation, Isolation::of_setting),
            read_only: read_only.unwrap_or(next.read_only),
        })?;
        return Ok(StatementResult::default().into());
    }
    let changes = [
        isolation.map(|level| typed::TRANSACTION_ISOLATION.setting(level)),
        read_only.map(|only| typed::TRANSACTION_READ_ONLY.setting(only)),
    ];
    for (position, setting) in changes.into_iter().flatten() {
        if statement.scope == Some(VariableScope::Session) {
            context.session.set_setting(position, setting);
        } else {
            context.database().set_global(position, setting);
        }
    }
    Ok(StatementResult::default().into())
}

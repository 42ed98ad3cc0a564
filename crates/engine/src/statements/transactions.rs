//! BEGIN, COMMIT, ROLLBACK, savepoints and SET TRANSACTION.

use std::sync::Arc;

use mayfly_storage::DurableTransaction;
use mayfly_syntax::ast::{
    AccessMode, Completion, IsolationLevel, SetTransaction, StartTransaction, Statement,
    VariableScope,
};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::BaseTable;
use crate::catalog::trees::Lifespan;
use crate::session::StatementContext;
use crate::statement_options::CompletionType;
use crate::statements::table_names::qualified;
use crate::statements::table_references::{self, Access};
use crate::status::Counter;
use crate::transaction::{Characteristics, Isolation, NotUndone};
use crate::variables::typed;

/// BEGIN and START TRANSACTION: commits the open transaction first.
pub(super) fn begin(
    context: &mut StatementContext<'_>,
    statement: &StartTransaction,
) -> Result<()> {
    let transaction = context.transaction();
    let next = transaction.characteristics();
    let next = next.filter(|_| !transaction.is_begun());
    commit_open(context)?;
    context.session.transaction.unlock_tables();
    let usual = next.unwrap_or(context.options().transaction);
    let read_only = statement
        .access_mode
        .map_or(usual.read_only, |mode| mode == AccessMode::ReadOnly);
    let characteristics = Characteristics { read_only, ..usual };
    context.transaction_mut().begin(characteristics);
    if !statement.consistent_snapshot {
        return Ok(());
    }
    if characteristics.isolation == Isolation::RepeatableRead {
        let transaction = &context.session.transaction;
        transaction.durable(Lifespan::Lasting)?;
        if context.database().has_volatile_store() {
            transaction.durable(Lifespan::Volatile)?;
        }
        let mut all = transaction.all_durable();
        return all.try_for_each(DurableTransaction::take_snapshot);
    }
    // At other levels each statement has a snapshot of its own, or locks what it reads.
    context.warn(codes::HA_ERR_UNSUPPORTED.error());
    Ok(())
}

/// COMMIT
pub(super) fn commit(context: &mut StatementContext<'_>, completion: &Completion) -> Result<()> {
    let characteristics = context.transaction().characteristics();
    if context.session.holds_tables() {
        context.count(Counter::HandlerCommit);
    }
    commit_open(context)?;
    complete(context, completion, characteristics);
    Ok(())
}

/// Commits the open transaction. 1290 when it has written and the server is read-only now: then it is rolled back.
pub(super) fn commit_open(context: &mut StatementContext<'_>) -> Result<()> {
    if context.transaction().has_written()
        && let Err(refused) = context.privileges().refuse_read_only_server()
    {
        let incomplete = context.transaction_mut().roll_back();
        warn_incomplete(context, &incomplete);
        return Err(refused);
    }
    context.transaction_mut().commit()
}

/// ROLLBACK
pub(super) fn rollback(context: &mut StatementContext<'_>, completion: &Completion) {
    let characteristics = context.transaction().characteristics();
    if context.session.holds_tables() {
        context.count(Counter::HandlerRollback);
    }
    let incomplete = context.transaction_mut().roll_back();
    warn_incomplete(context, &incomplete);
    complete(context, completion, characteristics);
}

/// Warns of changes that ROLLBACK cannot undo.
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

/// AND CHAIN, RELEASE, or their defaults from `completion_type`.
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

/// SAVEPOINT: under autocommit the statement is a transaction of its own, and the savepoint ends with it.
pub(super) fn savepoint(context: &mut StatementContext<'_>, name: &str) {
    if context.is_in_transaction() {
        context.transaction_mut().set_savepoint(name);
    }
}

/// ROLLBACK TO SAVEPOINT
pub(super) fn rollback_to(context: &mut StatementContext<'_>, name: &str) -> Result<()> {
    let incomplete = context.transaction_mut().roll_back_to_savepoint(name)?;
    warn_incomplete(context, &incomplete);
    Ok(())
}

/// Whether a statement that changes definitions changes more than temporary tables.
pub(super) fn changes_what_lasts(context: &StatementContext<'_>, statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => return !create.is_temporary(),
        Statement::DropTable(drop) if drop.temporary => return false,
        _ => {}
    }
    let references = table_references::of_statement(context.session, statement);
    let mut defined = references
        .iter()
        .filter(|it| it.access == Access::Define)
        .peekable();
    defined.peek().is_none()
        || defined.any(|reference| match qualified(context, &reference.table) {
            Ok((database, name)) => {
                let truncates = matches!(statement, Statement::TruncateTable(_));
                let is_private = |table: Arc<BaseTable>| table.private().is_some();
                let found = context.catalog().table(&database, &name);
                context.temporary_table(&database, &name).is_none()
                    && !(truncates && found.is_some_and(is_private))
            }
            Err(_) => true,
        })
}

/// SET TRANSACTION
pub(super) fn set(context: &mut StatementContext<'_>, statement: &SetTransaction) -> Result<()> {
    let isolation = statement.isolation.map(|level| match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    });
    let read_only = statement
        .access_mode
        .map(|mode| mode == AccessMode::ReadOnly);
    let Some(scope) = statement.scope else {
        let usual = context.options().transaction;
        let next = context.transaction().characteristics().unwrap_or(usual);
        return context.transaction_mut().set_next(Characteristics {
            isolation: isolation.map_or(next.isolation, Isolation::of_setting),
            read_only: read_only.unwrap_or(next.read_only),
        });
    };
    let changes = [
        isolation.map(|level| typed::TRANSACTION_ISOLATION.setting(level)),
        read_only.map(|only| typed::TRANSACTION_READ_ONLY.setting(only)),
    ];
    for (position, setting) in changes.into_iter().flatten() {
        if scope == VariableScope::Session {
            context.session.set_setting(position, setting);
        } else {
            context.database().set_global(position, setting);
        }
    }
    Ok(())
}

//! Resolution of the names of changed tables.

use std::sync::Arc;

use mayfly_syntax::ast::TableName;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::BaseTable;
use crate::error::refuse;
use crate::locks::table::TableUse;
use crate::names::check_name;
use crate::session::StatementContext;
use crate::system_schemas::is_schema;

/// The database and name of a table: 1046 without a current database, 1102 and 1103 for invalid names.
pub(crate) fn qualified(
    context: &StatementContext<'_>,
    table: &TableName,
) -> Result<(String, String)> {
    let database = context.database_or_current(table.database.as_deref())?;
    check_name(&table.name, &codes::ER_WRONG_TABLE_NAME)?;
    Ok((database.to_owned(), table.name.clone()))
}

/// The table that rows are written to: 1146, or 1044 for a system table.
pub(crate) fn writable_table(
    context: &StatementContext<'_>,
    database: &str,
    name: &str,
) -> Result<Arc<BaseTable>> {
    let table = changeable_table(context, database, name)?;
    note_write(context, &table)?;
    Ok(table)
}

/// Checks and records a write to a table: 1792 in a READ ONLY transaction, 1290 on a read-only server, 1442 while a
/// statement around this one uses the table.
pub(crate) fn note_write(context: &StatementContext<'_>, table: &BaseTable) -> Result<()> {
    context.refuse_used_outside(table)?;
    if !table.definition.has_private_rows() {
        refuse_read_only(context)?;
        context.privileges().refuse_read_only_server()?;
        context.transaction().note_write();
    }
    Ok(())
}

/// A table that a statement may change: 1146, or 1044 for a system table.
pub(crate) fn changeable_table(
    context: &StatementContext<'_>,
    database: &str,
    name: &str,
) -> Result<Arc<BaseTable>> {
    refuse_system_schema(context, database)?;
    let table = context.use_table_as(database, name, None, TableUse::Write)?;
    table.ok_or_else(|| context.missing_for_use(database, name))
}

/// 1044: the databases that the engine provides are read-only.
pub(crate) fn refuse_system_schema(context: &StatementContext<'_>, database: &str) -> Result<()> {
    refuse(is_schema(database), || {
        let (user, host) = (context.privileges().user(), context.privileges().host());
        codes::ER_DBACCESS_DENIED_ERROR.with(&[&user, &host, &database.to_lowercase()])
    })
}

/// 1223 under FLUSH TABLES WITH READ LOCK, 1792 when the transaction or the session is READ ONLY.
pub(super) fn refuse_read_only(context: &StatementContext<'_>) -> Result<()> {
    refuse(context.session.transaction.has_read_lock(), || {
        codes::ER_CANT_UPDATE_WITH_READLOCK.error()
    })?;
    let usual = context.options().transaction;
    let transaction = context.transaction().characteristics().unwrap_or(usual);
    refuse(transaction.read_only, || {
        codes::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.error()
    })
}

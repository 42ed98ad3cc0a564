//! Statements, one file each; [`run`] is the one place that knows them all.

pub(crate) mod accounts;
mod alter_table;
mod alter_work;
mod auto_increment;
mod change;
mod create_table;
mod databases;
mod describe;
mod drop_table;
mod duplicates;
mod explain;
mod foreign_keys;
pub(crate) mod found_rows;
mod hints;
pub(crate) mod insert;
mod kill;
mod load_data;
mod lock_tables;
mod locking_read;
pub(crate) mod locking_subqueries;
mod maintenance;
mod point;
pub(crate) mod prepared;
mod rename_table;
mod returning;
mod row_rules;
mod row_sink;
mod row_target;
mod row_writer;
pub(crate) mod select;
mod select_into;
mod set;
mod show;
mod simple;
mod stored_programs;
mod table_change;
mod transactions;
mod views;
mod writers;

use std::sync::Arc;

use mayfly_syntax::ParsedStatement;
use mayfly_syntax::ast::{ShowKind, Statement, TableName};
use mayfly_types::Result;
use mayfly_types::error::codes;

pub(crate) use self::row_target::Additions;
pub(crate) use self::transactions::begins_or_ends_transaction;
use crate::accounts::check;
use crate::catalog::BaseTable;
use crate::result::Outcome;
use crate::session::Session;
use crate::status::{Counter, commands};
use crate::table_locks::TableUse;

/// Runs a statement of a text.
pub(crate) fn run(session: &mut Session, parsed: &ParsedStatement<'_>) -> Result<Outcome> {
    if parsed.parameters > 0 {
        // A `?` that nothing can be bound to is a character that nothing begins with.
        let near = parsed
            .text
            .find('?')
            .map_or("", |place| &parsed.text[place..]);
        return Err(codes::ER_PARSE_ERROR.with(&[&near, &1]));
    }
    check::admit(session, &parsed.statement)?;
    session.note_statement(&parsed.statement);
    dispatch(session, &parsed.statement)
}

/// Runs a statement.
pub(crate) fn dispatch(session: &mut Session, statement: &Statement) -> Result<Outcome> {
    if let Some(counter) = commands::counter(statement) {
        count(session, counter);
    }
    if transactions::commits_implicitly(statement) {
        transactions::commit_open(session)?;
    }
    check::statement(session, statement)?;
    if transactions::changes_tables(statement) {
        transactions::refuse_read_only(session)?;
    }
    if transactions::changes_what_lasts(session, statement) {
        session.refuse_read_only_server()?;
    }
    match statement {
        Statement::Query(query) => select::run(session, query, &[], None),
        Statement::SelectInto(into) => select_into::run(session, into, &[]),
        Statement::Insert(insert) => insert::run(session, insert, &[], None),
        Statement::Update(update) => change::update(session, update, &[], None),
        Statement::Delete(delete) => change::delete(session, delete, &[], None),
        Statement::LoadData(load) => load_data::run(session, load),
        Statement::CreateTable(create) => create_table::run(session, create),
        Statement::DropTable(drop) => drop_table::run(session, drop),
        Statement::TruncateTable(table) => drop_table::truncate(session, table),
        Statement::CreateDatabase(create) => databases::create(session, create),
        Statement::AlterDatabase(alter) => databases::alter(session, alter),
        Statement::DropDatabase(drop) => databases::drop(session, drop),
        Statement::Use(name) => databases::use_database(session, name),
        Statement::Show(show) => show::run(session, show),
        Statement::Describe(describe) => describe::run(session, describe),
        Statement::Explain(explain) => explain::run(session, explain),
        Statement::Set(items) => set::run(session, items),
        Statement::SetTransaction(set) => transactions::set(session, set),
        Statement::Flush(flush) => simple::flush(session, flush),
        Statement::StartTransaction(start) => transactions::begin(session, start),
        Statement::Commit(completion) => transactions::commit(session, completion),
        Statement::Rollback(completion) => transactions::rollback(session, completion),
        Statement::Savepoint(name) => transactions::savepoint(session, name),
        Statement::RollbackToSavepoint(name) => transactions::rollback_to(session, name),
        Statement::ReleaseSavepoint(name) => transactions::release(session, name),
        Statement::Do(expressions) => simple::do_expressions(session, expressions),
        Statement::Kill { query_only, id } => kill::run(session, *query_only, id),
        Statement::Shutdown => simple::shutdown(session),
        Statement::ResetPersist { name, if_exists } => {
            set::reset_persist(session, name.as_deref(), *if_exists)
        }
        Statement::Prepare(prepare) => prepared::prepare(session, prepare),
        Statement::Execute(execute) => prepared::execute(session, execute),
        Statement::Deallocate(name) => prepared::deallocate(session, name),
        Statement::LockTables(tables) => lock_tables::lock(session, tables),
        Statement::UnlockTables => lock_tables::unlock(session),
        Statement::TableMaintenance(maintenance) => maintenance::run(session, maintenance),
        Statement::AlterTable(alter) => alter_table::run(session, alter),
        Statement::RenameTable(rename) => rename_table::run(session, rename),
        Statement::CreateIndex(create) => alter_table::create_index(session, create),
        Statement::DropIndex(drop) => alter_table::drop_index(session, drop),
        Statement::CreateView(create) => views::create(session, create),
        Statement::DropView(drop) => views::drop(session, drop),
        Statement::Handler(_) => unsupported("HANDLER"),
        Statement::Help(_) => Ok(simple::help()),
        Statement::Account(account) => accounts::run(session, account),
        Statement::DropStoredProgram(drop) => stored_programs::drop(session, drop),
        Statement::Empty => Ok(simple::empty(session)),
        Statement::Unsupported(name) => unsupported(name),
    }
}

/// The one place of what comes later: 1235.
fn unsupported(what: &str) -> Result<Outcome> {
    Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]))
}

/// SHOW WARNINGS and its like read the diagnostics of the statement before, and leave them as they are.
pub(crate) fn keeps_diagnostics(statement: &Statement) -> bool {
    match statement {
        Statement::Show(show) => matches!(
            show.kind,
            ShowKind::Warnings | ShowKind::Errors | ShowKind::CountWarnings | ShowKind::CountErrors
        ),
        _ => false,
    }
}

/// The database and name that a table's name stands for: 1046 when none is selected.
pub(crate) fn qualified(session: &Session, table: &TableName) -> Result<(String, String)> {
    let database = table
        .database
        .as_deref()
        .or_else(|| session.current_database());
    let database = database.ok_or_else(|| codes::ER_NO_DB_ERROR.error())?;
    Ok((database.to_owned(), table.name.clone()))
}

/// The table that rows are written to: 1146, or 1044 for a system table.
pub(crate) fn writable_table(
    session: &Session,
    database: &str,
    name: &str,
) -> Result<Arc<BaseTable>> {
    refuse_system_schema(session, database)?;
    let table = session.use_table_as(database, name, None, TableUse::Write)?;
    if let Some(table) = table {
        if !table.definition.temporary {
            transactions::refuse_read_only(session)?;
            session.refuse_read_only_server()?;
            session.transaction.note_write();
        }
        return Ok(table);
    }
    let catalog = &session.database.catalog;
    if catalog.database_collation(database).is_none() {
        return Err(codes::ER_BAD_DB_ERROR.with(&[&database]));
    }
    Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name]))
}

/// 1044: nobody changes what is in the databases that the engine makes itself.
pub(crate) fn refuse_system_schema(session: &Session, database: &str) -> Result<()> {
    if !crate::information_schema::is_schema(database) {
        return Ok(());
    }
    let denied = codes::ER_DBACCESS_DENIED_ERROR;
    Err(denied.with(&[&session.user(), &session.host(), &database.to_lowercase()]))
}

/// Counts a statement of a kind.
pub(crate) fn count(session: &Session, counter: Counter) {
    session.counters().add(counter, 1);
}

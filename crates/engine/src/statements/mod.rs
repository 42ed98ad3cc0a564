//! Statements, one file each. There is one way to run one: [`execute`] finds or makes its plan ([`planning`]) and
//! runs that with its parameter values, whatever the source of the statement. A statement that is not planned ahead
//! is a utility statement, run from its syntax tree.

pub(crate) mod accounts;
pub(crate) mod admission;
mod alter_table;
mod alter_work;
mod auto_increment;
mod built_in_objects;
mod change;
mod create_table;
mod data_file;
mod databases;
mod drop_table;
mod eras;
mod explain;
pub(crate) mod file_rows;
mod hints;
mod histograms;
mod inner_statements;
pub(crate) mod insert;
mod kill;
mod listed_columns;
mod load_data;
mod lock_tables;
mod locking_read;
pub(crate) mod locking_subqueries;
mod logging;
mod maintenance;
mod offload;
mod parameters;
mod plan_validity;
mod planned;
mod planning;
pub(crate) mod point;
pub(crate) mod prepared;
mod properties;
mod rename_table;
mod returning;
mod row_hooks;
mod row_rules;
mod row_sink;
mod row_target;
mod same_values;
mod secondary_load;
pub(crate) mod select;
mod select_into;
mod set;
mod shortened_columns;
mod show;
mod simple;
mod stored_programs;
mod system_tables;
mod table_change;
mod table_names;
mod table_references;
mod templates;
mod texts;
mod tracing;
mod transaction_work;
mod transactions;
mod view_names;
mod views;
mod writers;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_syntax::ast::{
    AlterAction, ColumnAttribute, GeneratedStorage, LoadDuplicate, OnDuplicateRow, SetItem,
    Statement,
};
use mayfly_types::error::codes;
use mayfly_types::{Refusal, Result, SqlMode, SqlType, Stage, Value};

use self::properties::properties;
use crate::error::refuse;
use crate::prepared::{PlanSlot, Prepared};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;

/// Runs a statement with its parameter values.
pub(crate) fn execute(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    parameters: &[(Value, SqlType)],
) -> Result<Outcome> {
    tracing::begin(context, prepared, parameters);
    let parameters = &*parameters::settle(context, prepared, parameters)?;
    if let Some(outcome) = planning::run_point(context, prepared, parameters)? {
        return Ok(outcome);
    }
    context.now();
    context.variables = prepared.variables;
    context.set_parameters(parameters);
    context.set_names_database(prepared.database());
    mayfly_syntax::with_stack(prepared.height(), || {
        let statement = prepared.statement();
        begin(context, statement)?;
        if let Statement::Query(query) = &**statement {
            hints::apply(context, query);
        }
        let outcome = match locking_subqueries::of_statement(context, prepared)? {
            // The plan is not cached: it contains the rows that were locked this time.
            Some(without) => run(context, &Arc::new(without), None),
            None => run(context, statement, prepared.plan()),
        };
        // A warning raised to an error came before the error.
        outcome.map_err(|error| context.refuse_warnings().err().unwrap_or(error))
    })
}

/// Common start of a statement.
fn begin(context: &mut StatementContext<'_>, statement: &Statement) -> Result<()> {
    let properties = properties(statement);
    if let Some(counter) = properties.counter {
        context.count(counter);
    }
    refuse(
        context.session.is_in_frame() && properties.ends_transaction(),
        || codes::ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.error(),
    )?;
    // Under `temp_ddl_transactional` a change of temporary tables alone is a part of the transaction.
    let is_undone = properties.changes_definitions
        && context.session.undoes_definitions()
        && !transactions::changes_what_lasts(context, statement);
    if properties.commits_implicitly && !is_undone {
        transactions::commit_open(context)?;
    }
    context.diagnostics().refuse(refusal(context, statement));
    context.stages().enter(Stage::CheckingPermissions);
    admission::statement(context, statement)?;
    if properties.changes_definitions {
        table_names::refuse_read_only(context)?;
        if transactions::changes_what_lasts(context, statement) {
            context.hold_definitions()?;
            context.privileges().refuse_read_only_server()?;
        }
    }
    Ok(())
}

/// Which warnings of its expressions end a statement: some warnings of statements that change rows, in strict mode
/// and without IGNORE.
fn refusal(context: &StatementContext<'_>, statement: &Statement) -> Refusal {
    let mode = context.options().session.sql_mode;
    let ignores = match statement {
        _ if !mode.is_strict() => true,
        Statement::Insert(insert) => insert.ignore,
        Statement::Update(update) => update.ignore,
        Statement::Delete(delete) => delete.ignore,
        Statement::LoadData(load) => match load.duplicates {
            LoadDuplicate::Ignore => true,
            LoadDuplicate::Unspecified => load.local,
            LoadDuplicate::Replace => false,
        },
        Statement::CreateTable(create) => {
            let source = create.select.as_ref();
            source.is_some_and(|source| source.on_duplicate == OnDuplicateRow::Ignore)
        }
        // A virtual column is not computed yet.
        Statement::AlterTable(alter) => alter.actions.iter().all(adds_virtual_column),
        Statement::CreateIndex(_) => false,
        _ => true,
    };
    match ignores {
        true => Refusal::Nothing,
        false if mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) => Refusal::ValuesAndDivisions,
        false => Refusal::Values,
    }
}

/// Whether an ALTER TABLE action adds a virtual column.
fn adds_virtual_column(action: &AlterAction) -> bool {
    let is_virtual = |attribute: &ColumnAttribute| matches!(attribute, ColumnAttribute::Generated { storage, .. } if *storage == GeneratedStorage::Virtual);
    match action {
        AlterAction::AddColumn { column, .. } => column.attributes.iter().any(is_virtual),
        _ => false,
    }
}

/// Runs a statement, or a part of one that runs by itself.
pub(crate) fn run(
    context: &mut StatementContext<'_>,
    statement: &Arc<Statement>,
    slot: Option<&PlanSlot>,
) -> Result<Outcome> {
    if let Some(outcome) = system_tables::run(context, statement)? {
        return Ok(outcome);
    }
    if let Some(outcome) = built_in_objects::run(context, statement)? {
        return Ok(outcome);
    }
    let is_of_era = context.options().era.is_some();
    let shared = &context.session.shared;
    shared.counts_predicted.store(is_of_era, Ordering::Relaxed);
    if properties(statement).has_plan {
        context.prediction = eras::predict(context, statement);
        planning::run(context, statement, slot)
    } else {
        context.stages().enter(Stage::Executing);
        utility(context, statement)
    }
}

/// SET STATEMENT … FOR: runs a statement with settings of its own.
fn set_statement(
    context: &mut StatementContext<'_>,
    items: &[SetItem],
    inner: &Arc<Statement>,
) -> Result<Outcome> {
    for (position, setting) in set::session_settings(context, items)? {
        context.set_own(position, setting);
    }
    begin(context, inner)?;
    if let Statement::Query(query) = &**inner {
        hints::apply(context, query);
    }
    run(context, inner, None)
}

/// Runs a statement that has no plan. Most return no rows.
fn utility(context: &mut StatementContext<'_>, statement: &Statement) -> Result<Outcome> {
    match statement {
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_) => simple::unsupported("a statement without its plan")?,
        Statement::SelectInto(into) => return select_into::run(context, into),
        Statement::LoadData(load) => return load_data::run(context, load),
        Statement::CreateTable(create) => {
            return context.sampling_types(|context| create_table::run(context, create));
        }
        Statement::DropTable(drop) => drop_table::run(context, drop)?,
        Statement::TruncateTable(table) => drop_table::truncate(context, table)?,
        Statement::CreateDatabase(create) => return databases::create(context, create),
        Statement::AlterDatabase(alter) => return databases::alter(context, alter),
        Statement::DropDatabase(drop) => return databases::drop(context, drop),
        Statement::Use(name) => context.session.use_database(name)?,
        Statement::Show(show) => return show::run(context, show),
        Statement::Describe(describe) => return show::describe(context, describe),
        Statement::Explain(explain) => return explain::run(context, explain),
        Statement::Set(items) => set::run(context, items)?,
        Statement::SetStatement(items, inner) => return set_statement(context, items, inner),
        Statement::SetTransaction(set) => transactions::set(context, set)?,
        Statement::Flush(flush) => simple::flush(context, flush)?,
        Statement::StartTransaction(start) => transactions::begin(context, start)?,
        Statement::Commit(completion) => transactions::commit(context, completion)?,
        Statement::Rollback(completion) => transactions::rollback(context, completion),
        Statement::Savepoint(name) => transactions::savepoint(context, name),
        Statement::RollbackToSavepoint(name) => transactions::rollback_to(context, name)?,
        Statement::ReleaseSavepoint(name) => context.transaction_mut().release_savepoint(name)?,
        Statement::Do(expressions) => simple::do_expressions(context, expressions)?,
        Statement::Kill { target, id } => kill::run(context, *target, id)?,
        Statement::Shutdown => simple::shutdown(context)?,
        Statement::ResetPersist { name, if_exists } => {
            set::reset_persist(context, name.as_deref(), *if_exists)?;
        }
        Statement::Prepare(prepare) => return prepared::prepare(context, prepare),
        Statement::Execute(execute) => return prepared::execute(context, execute),
        Statement::Deallocate(name) => prepared::deallocate(context, name)?,
        Statement::LockTables(tables) => lock_tables::lock(context, tables)?,
        Statement::UnlockTables => lock_tables::unlock(context)?,
        Statement::TableMaintenance(maintenance) => return maintenance::run(context, maintenance),
        Statement::AlterTable(alter) => return alter_table::run(context, alter),
        Statement::RenameTable(rename) => rename_table::run(context, rename)?,
        Statement::CreateIndex(create) => return alter_table::create_index(context, create),
        Statement::DropIndex(drop) => return alter_table::drop_index(context, drop),
        Statement::CreateView(create) => views::create(context, create)?,
        Statement::DropView(drop) => views::drop(context, drop)?,
        Statement::Handler(_) => simple::unsupported("HANDLER")?,
        Statement::Help(_) => return Ok(simple::help()),
        Statement::Account(account) => return accounts::run(context, account),
        Statement::DropStoredProgram(drop) => stored_programs::drop(context, drop)?,
        Statement::Empty => {}
        Statement::Unsupported(name) => simple::unsupported(name)?,
    }
    Ok(StatementResult::default().into())
}

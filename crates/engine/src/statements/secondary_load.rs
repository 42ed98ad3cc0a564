//! ALTER TABLE … SECONDARY_LOAD and SECONDARY_UNLOAD.
//!
//! A load holds the table for reading, so that its definition stays, while others change its rows: the copy has those of
//! the snapshot, and changes since are left to the refresh. Without the engine that the definition names, the statement
//! does nothing, with a warning.

use mayfly_syntax::ast::{SecondaryAction, TableName};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, Stage};

use crate::catalog::definition::TableDefinition;
use crate::catalog::{BaseTable, loaded_tables};
use crate::engines::Engine;
use crate::error::refuse;
use crate::locks::table::TableUse;
use crate::result::{Outcome, StatementResult};
use crate::secondary::loading::LoadCause;
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, refuse_system_schema};

fn failed(reason: &str) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[&reason])
}

/// Runs the statement.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    table: &TableName,
    action: &SecondaryAction,
) -> Result<Outcome> {
    let (database, name) = qualified(context, table)?;
    if context.temporary_table(&database, &name).is_some() {
        return Err(failed("No secondary engine defined."));
    }
    let is_view = context.catalog().view(&database, &name).is_some();
    refuse(is_view, || {
        codes::ER_WRONG_OBJECT.with(&[&database, &name, &"BASE TABLE"])
    })?;
    refuse_system_schema(context, &database)?;
    let Some((table, _held)) = context.hold_table(&database, &name, TableUse::Read)? else {
        return Err(context.missing_for_use(&database, &name));
    };
    let definition = &table.definition;
    let Some(engine_name) = definition.secondary_engine() else {
        return Err(failed("No secondary engine defined."));
    };
    refuse(
        action.is_load && definition.secondary_columns().is_empty(),
        || failed("All columns marked as NOT SECONDARY."),
    )?;
    let engine = context.database().secondary_engine(engine_name);
    if engine.is_some() {
        check_partitions(definition, &action.partitions)?;
    }
    match engine {
        Some(_) if !action.is_load => unload(context, &table)?,
        Some(engine) => {
            context.stages().enter(Stage::SecondaryLoad);
            let interrupt = context.interrupt();
            let database = context.database();
            database.load_copy(&table, &engine, interrupt, LoadCause::Statement)?;
            record(context, &table, true)?;
        }
        None if Engine::by_name(engine_name).is_none() => {
            context.warn(codes::ER_UNKNOWN_STORAGE_ENGINE.with(&[&engine_name]));
        }
        None if action.is_load => return Err(failed("Unsupported secondary storage engine.")),
        None => {}
    }
    Ok(StatementResult::default().into())
}

/// No table has partitions of its own: 1505 for names of partitions of a table that is not partitioned, else 1235.
fn check_partitions(definition: &TableDefinition, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    Err(match definition.partitioning {
        None => codes::ER_PARTITION_MGMT_ON_NONPARTITIONED.error(),
        Some(_) => {
            let what = "ALTER TABLE … SECONDARY_LOAD PARTITION";
            codes::ER_NOT_SUPPORTED_YET.with(&[&what])
        }
    })
}

/// Ends the copy of a table, which need not have one.
pub(super) fn unload(context: &StatementContext<'_>, table: &BaseTable) -> Result<()> {
    if table.copy.end() {
        record(context, table, false)?;
    }
    Ok(())
}

/// Records for restarts whether a table is loaded.
fn record(context: &StatementContext<'_>, table: &BaseTable, is_loaded: bool) -> Result<()> {
    let Some(trees) = table.trees() else {
        return Ok(());
    };
    if context.database().options.datadir.is_none() {
        return Ok(());
    }
    let transaction = context.transaction_of(table)?.beside();
    loaded_tables::set(&transaction, trees, is_loaded)?;
    transaction.commit()
}

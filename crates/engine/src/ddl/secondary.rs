//! Rules of definitions with a secondary engine (the manual, "CREATE TABLE Statement" and "ALTER TABLE Statement").
//!
//! A definition may name any engine, also one that does not exist: a load says so. The rules are MySQL's: only an InnoDB
//! table that is not temporary has a secondary engine, its primary engine stays as long as it has one, and a
//! table that names a storage engine cannot be altered at all, since no storage engine takes part in definitions.

use mayfly_syntax::ast::{AlterAction, TableOption};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::definition::{SECONDARY_ENGINE, TableDefinition};
use crate::engines::Engine;
use crate::error::refuse;
use crate::session::StatementContext;

/// The last of the options that names a secondary engine.
fn written<'o>(options: impl Iterator<Item = &'o TableOption>) -> Option<&'o TableOption> {
    options
        .filter(|option| option.name == SECONDARY_ENGINE)
        .last()
}

/// Whether an option is `SECONDARY_ENGINE = NULL`.
fn is_null(option: &TableOption) -> bool {
    option.value.is_empty() && !option.quoted
}

/// Checks the definition of a CREATE TABLE with these options: 3889 for a temporary table, 1178 for a storage engine
/// without secondary engines.
pub(crate) fn check_new(definition: &TableDefinition, options: &[TableOption]) -> Result<()> {
    let Some(_) = written(options.iter()) else {
        return Ok(());
    };
    refuse(definition.is_volatile(), || {
        let reason = "Temporary table cannot have a secondary engine.";
        codes::ER_SECONDARY_ENGINE.with(&[&reason])
    })?;
    check_primary(definition)
}

/// Checks the definition of a CREATE TABLE … LIKE: 3889 for a temporary table.
pub(crate) fn check_copied(definition: &TableDefinition) -> Result<()> {
    match definition.secondary_engine() {
        Some(name) if definition.is_volatile() => {
            Err(codes::ER_SECONDARY_ENGINE_OF_TEMPORARY.with(&[&name]))
        }
        _ => Ok(()),
    }
}

/// 1178 for a storage engine without secondary engines.
fn check_primary(definition: &TableDefinition) -> Result<()> {
    refuse(definition.engine != Engine::InnoDb, || {
        codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&SECONDARY_ENGINE])
    })
}

/// Checks an ALTER TABLE that changes `old` into `new`: 3889 for another secondary engine than the table's, and for
/// another primary one; a warning where the table has the named one already.
pub(crate) fn check_altered(
    context: &StatementContext<'_>,
    old: &TableDefinition,
    new: &TableDefinition,
    actions: &[AlterAction],
) -> Result<()> {
    let options = || {
        actions.iter().filter_map(|action| match action {
            AlterAction::Option(option) => Some(option),
            _ => None,
        })
    };
    let failed = |reason: &str| Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
    if let Some(option) = written(options()).filter(|option| !is_null(option)) {
        let name = &option.value;
        if old.is_volatile() {
            return Err(codes::ER_SECONDARY_ENGINE_OF_TEMPORARY.with(&[name]));
        }
        match old.secondary_engine() {
            Some(known) if known.eq_ignore_ascii_case(name) => {
                let text = "Table already has the same secondary engine defined.";
                context.warn(codes::ER_SECONDARY_ENGINE_PLUGIN.with(&[&text]));
            }
            Some(_) => return failed("Table already has a secondary engine defined."),
            None => {}
        }
        check_primary(new)?;
    }
    if old.secondary_engine().is_some() && options().any(|option| option.name == "ENGINE") {
        return failed(
            "Cannot change the primary engine of a table with a defined secondary engine.",
        );
    }
    Ok(())
}

/// 3890 for a change of a table whose secondary engine is a storage engine.
pub(crate) fn refuse_change(definition: &TableDefinition) -> Result<()> {
    let engine = definition.secondary_engine().and_then(Engine::by_name);
    refuse(engine.is_some(), || codes::ER_SECONDARY_ENGINE_DDL.error())
}

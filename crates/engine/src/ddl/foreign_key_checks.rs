//! Checks of foreign keys between tables: errors of CREATE TABLE and ALTER TABLE that depend on the parent, or on
//! children that were created before their parent.

use std::sync::Arc;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind};

use crate::catalog::BaseTable;
use crate::catalog::column_uses::names_column;
use crate::catalog::definition::{
    ColumnDefinition, ForeignKeyDefinition, KeyDefinition, TableDefinition,
};
use crate::catalog::foreign_keys::ReferentialAction;
use crate::locks::table::{HeldTable, TableUse};
use crate::names::same_name;
use crate::session::StatementContext;
use crate::variables::typed;

/// Checks the foreign keys of a new definition and completes their names from the parents. `old` is the previous
/// definition.
pub(crate) fn check(
    context: &StatementContext<'_>,
    table: &mut TableDefinition,
    old: Option<&TableDefinition>,
) -> Result<NewForeignKeys> {
    let mut new = NewForeignKeys::default();
    if table.is_volatile() {
        return Ok(new);
    }
    let mut foreign_keys = std::mem::take(&mut table.foreign_keys);
    for foreign in &mut foreign_keys {
        check_own_columns(table, foreign)?;
        let was_there = |old: &&TableDefinition| {
            let mut known = old.foreign_keys.iter();
            known.any(|known| same_name(&known.name, &foreign.name))
        };
        if old.filter(was_there).is_none() {
            new.parents.extend(check_new(context, table, foreign, old)?);
            new.keys.push(foreign.clone());
        }
    }
    table.foreign_keys = foreign_keys;
    if old.is_none() {
        check_children(context, table)?;
    }
    Ok(new)
}

/// The new foreign keys of a table.
#[derive(Debug, Default)]
pub(crate) struct NewForeignKeys {
    /// Their definitions.
    pub(crate) keys: Vec<ForeignKeyDefinition>,
    /// Locks that keep the parents unchanged.
    parents: Vec<HeldTable>,
}

/// Checks a foreign key against its own table.
fn check_own_columns(table: &TableDefinition, foreign: &ForeignKeyDefinition) -> Result<()> {
    if table.partitioning.is_some() {
        return Err(codes::ER_FOREIGN_KEY_ON_PARTITIONED.error());
    }
    let references = &foreign.references;
    let clauses = [
        ("ON UPDATE", &references.on_update),
        ("ON DELETE", &references.on_delete),
    ];
    let sets_null =
        [foreign.on_update(), foreign.on_delete()].contains(&ReferentialAction::SetNull);
    let changes = sets_null || foreign.on_update() == ReferentialAction::Cascade;
    let columns = foreign.columns.iter();
    let columns = columns.filter_map(|name| table.column_position(name));
    for column in columns.map(|position| &table.columns[position]) {
        if let Some(generated) = &column.generated {
            if !generated.stored {
                let uses = codes::ER_FK_CANNOT_USE_VIRTUAL_COLUMN;
                return Err(uses.with(&[&foreign.name, &column.name]));
            }
            for (event, action) in clauses {
                let action = action.as_deref().unwrap_or_default();
                let cascades = action == "CASCADE" && event == "ON UPDATE";
                if cascades || action == "SET NULL" || action == "SET DEFAULT" {
                    let wrong = codes::ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN;
                    return Err(wrong.with(&[&format!("{event} {action}")]));
                }
            }
        }
        if sets_null && !column.nullable {
            return Err(codes::ER_FK_COLUMN_NOT_NULL.with(&[&column.name, &foreign.name]));
        }
        if !changes {
            continue;
        }
        let mut checks = table.checks.iter();
        if let Some(check) = checks.find(|check| names_column(&check.expression, &column.name)) {
            let using = codes::ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN;
            return Err(using.with(&[&column.name, &check.name, &foreign.name]));
        }
        let is_base = |other: &ColumnDefinition| {
            let generated = other.generated.as_ref();
            generated.is_some_and(|generated| {
                generated.stored && names_column(&generated.expression, &column.name)
            })
        };
        if table.columns.iter().any(is_base) {
            return Err(codes::ER_CANNOT_ADD_FOREIGN.error());
        }
    }
    Ok(())
}

fn check_new(
    context: &StatementContext<'_>,
    table: &TableDefinition,
    foreign: &mut ForeignKeyDefinition,
    old: Option<&TableDefinition>,
) -> Result<Option<HeldTable>> {
    let catalog = context.catalog().databases();
    let others = catalog.get(&table.database).map(|entry| &entry.tables);
    let others = others.into_iter().flat_map(|tables| tables.values());
    let is_itself = |other: &TableDefinition| old.is_some_and(|old| old.name == other.name);
    for other in others.filter(|other| !is_itself(&other.definition)) {
        let mut known = other.definition.foreign_keys.iter();
        if known.any(|known| same_name(&known.name, &foreign.name)) {
            return Err(codes::ER_FK_DUP_NAME.with(&[&foreign.name]));
        }
    }
    let (database, name) = foreign.parent(&table.database);
    let (database, name) = (database.to_owned(), name.to_owned());
    let is_own = |known: &TableDefinition| known.database == database && known.name == name;
    if is_own(table) || old.is_some_and(is_own) {
        complete(context, table, foreign, table)?;
        return Ok(None);
    }
    let parent = context.hold_table(&database, &name, TableUse::ReadAlone)?;
    let usable = |(parent, _): &(Arc<BaseTable>, HeldTable)| {
        let parent = &parent.definition;
        parent.engine.has_foreign_keys() && !parent.is_volatile()
    };
    let Some((parent, held)) = parent.filter(usable) else {
        return match foreign.references.columns.is_empty() {
            _ if context.options().foreign_key_checks => {
                Err(codes::ER_FK_CANNOT_OPEN_PARENT.with(&[&name]))
            }
            true => Err(no_columns(None)),
            false => Ok(None),
        };
    };
    complete(context, table, foreign, &parent.definition)?;
    Ok(Some(held))
}

/// Error 1239: the columns that a foreign key refers to do not match its own.
pub(super) fn no_columns(name: Option<&str>) -> Error {
    let name = name.unwrap_or("foreign key without name");
    let reason = "Key reference and table reference don't match";
    codes::ER_WRONG_FK_DEF.with(&[&name, &reason])
}

/// Checks a foreign key against its parent, and takes the columns' names from there.
fn complete(
    context: &StatementContext<'_>,
    table: &TableDefinition,
    foreign: &mut ForeignKeyDefinition,
    parent: &TableDefinition,
) -> Result<()> {
    if parent.partitioning.is_some() {
        return Err(codes::ER_FOREIGN_KEY_ON_PARTITIONED.error());
    }
    if foreign.references.columns.is_empty() {
        let columns = parent.primary_key().and_then(KeyDefinition::whole_columns);
        let columns = columns.filter(|columns| columns.len() == foreign.columns.len());
        let columns = columns.ok_or_else(|| no_columns(None))?;
        let names = columns.iter().map(|at| parent.columns[*at].name.clone());
        foreign.references.columns = names.collect();
    }
    let mut columns = Vec::with_capacity(foreign.columns.len());
    let name = foreign.name.clone();
    for (own, referenced) in foreign.columns.iter().zip(&mut foreign.references.columns) {
        let Some(position) = parent.column_position(referenced) else {
            let missing = codes::ER_FK_NO_COLUMN_PARENT;
            return Err(missing.with(&[referenced, &name, &parent.name]));
        };
        let column = &parent.columns[position];
        referenced.clone_from(&column.name);
        if column.is_virtual() {
            let uses = codes::ER_FK_CANNOT_USE_VIRTUAL_COLUMN;
            return Err(uses.with(&[&name, referenced]));
        }
        let own = table.column_position(own).map(|own| &table.columns[own]);
        if let Some(own) = own.filter(|own| !are_compatible(&own.ty, &column.ty)) {
            let incompatible = codes::ER_FK_INCOMPATIBLE_COLUMNS;
            return Err(incompatible.with(&[&own.name, referenced, &name]));
        }
        columns.push(position);
    }
    if has_standard_key(parent, &columns) {
        return Ok(());
    }
    if restricts(context) {
        return Err(codes::ER_FK_NO_UNIQUE_INDEX_PARENT.with(&[&name, &parent.name]));
    }
    if parent.index_beginning_with(&columns).is_none() {
        return Err(codes::ER_FK_NO_INDEX_PARENT.with(&[&name, &parent.name]));
    }
    let warning = codes::ER_WARN_DEPRECATED_NON_STANDARD_KEY.with(&[&name]);
    context.warn(warning);
    Ok(())
}

/// Whether a foreign key must refer to a whole unique key.
fn restricts(context: &StatementContext<'_>) -> bool {
    let variable = typed::RESTRICT_FK_ON_NON_STANDARD_KEY;
    context.settings().get(variable)
}

/// Whether a unique key has exactly these columns.
pub(crate) fn has_standard_key(parent: &TableDefinition, columns: &[usize]) -> bool {
    let is_it = |key: &KeyDefinition| key.whole_columns().as_deref() == Some(columns);
    parent.unique_keys().any(is_it)
}

/// Checks the foreign keys of children created before this parent.
fn check_children(context: &StatementContext<'_>, table: &TableDefinition) -> Result<()> {
    let waited_for = table.engine.has_foreign_keys() && context.options().foreign_key_checks;
    if !waited_for {
        return Ok(());
    }
    let catalog = context.catalog().databases();
    for (child, position) in catalog.children_of(table) {
        let Some(foreign) = child.definition.foreign_keys.get(*position) else {
            continue;
        };
        let own = &child.definition;
        let fits = |(column, referenced): (&usize, &usize)| {
            are_compatible(&own.columns[*column].ty, &table.columns[*referenced].ty)
        };
        let columns = own.column_positions(&foreign.columns).unwrap_or_default();
        let referenced = table.column_positions(&foreign.references.columns);
        let referenced = referenced.filter(|referenced| columns.iter().zip(referenced).all(fits));
        let columns = referenced
            .filter(|_| !columns.is_empty())
            .unwrap_or_default();
        if columns.is_empty() || table.index_beginning_with(&columns).is_none() {
            return Err(codes::ER_CANNOT_ADD_FOREIGN.error());
        }
        if restricts(context) && !has_standard_key(table, &columns) {
            let missing = codes::ER_FK_NO_UNIQUE_INDEX_PARENT;
            return Err(missing.with(&[&foreign.name, &table.name]));
        }
    }
    Ok(())
}

/// Whether a column of one type may refer to one of another: values are compared as stored. (DECIMALs of different
/// scales could not be equal in InnoDB either.)
pub(crate) fn are_compatible(child: &SqlType, parent: &SqlType) -> bool {
    let family = |ty: &SqlType| match ty.kind {
        TypeKind::Char | TypeKind::VarChar => TypeKind::VarChar,
        TypeKind::Set | TypeKind::Enum => TypeKind::Enum,
        TypeKind::DateTime | TypeKind::Timestamp => TypeKind::DateTime,
        kind => kind,
    };
    // Bytes of a member's number.
    let bytes = |ty: &SqlType| match (ty.kind, ty.members.len()) {
        (TypeKind::Set, members) if members > 32 => 8,
        (TypeKind::Set, members) => members.div_ceil(8),
        (TypeKind::Enum, members) => 1 + usize::from(members > 255),
        _ => 0,
    };
    let same_text = family(child) != TypeKind::VarChar || child.collation == parent.collation;
    family(child) == family(parent)
        && (child.unsigned == parent.unsigned || !child.is_integer())
        && same_text
        && bytes(child) == bytes(parent)
        && child.physical() == parent.physical()
}

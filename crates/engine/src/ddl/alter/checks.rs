//! Checks of dependencies: generated columns, checks, keys and foreign keys that a change would break.

use std::sync::Arc;

use mayfly_syntax::ast::AlterAction;
use mayfly_types::error::codes;
use mayfly_types::{Result, TypeKind};

use super::Alteration;
use crate::catalog::BaseTable;
use crate::catalog::column_uses::names_column;
use crate::catalog::definition::{
    CheckConstraint, ColumnDefault, ColumnDefinition, ForeignKeyDefinition, KeyDefinition,
    KeyTarget, TableDefinition,
};
use crate::ddl::foreign_key_checks::are_compatible;
use crate::error::refuse;
use crate::names::same_name;

impl Alteration<'_> {
    /// The foreign keys that refer to the table, with the tables that have them.
    pub(super) fn references(&self) -> Vec<(Arc<BaseTable>, ForeignKeyDefinition)> {
        let catalog = &self.session().database().catalog;
        catalog.foreign_references(self.old)
    }

    /// Checks for references to dropped or renamed columns: by generated columns, defaults, checks, and foreign keys.
    pub(super) fn check_dependencies(&mut self) -> Result<()> {
        for (position, old) in self.old.columns.iter().enumerate() {
            let mut columns = self.columns.iter();
            let new = columns.find(|column| column.source == Some(position));
            let Some(new) = new.map(|new| new.definition.clone()) else {
                self.check_users_of(old, true)?;
                self.check_foreign_keys_of(old)?;
                continue;
            };
            if !same_name(&new.name, &old.name) {
                self.check_users_of(old, false)?;
                let foreign_keys = self.builder.table.foreign_keys.iter_mut();
                for column in foreign_keys.flat_map(|foreign| &mut foreign.columns) {
                    if same_name(column, &old.name) {
                        column.clone_from(&new.name);
                    }
                }
            } else if new.ty != old.ty {
                self.check_change(old, &new)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_users_of(&mut self, old: &ColumnDefinition, dropped: bool) -> Result<()> {
        let uses = |check: &CheckConstraint| names_column(&check.expression, &old.name);
        let old_checks = &self.old.checks;
        let was_there =
            |check: &CheckConstraint| old_checks.iter().any(|old| old.name == check.name);
        // A check over the dropped column alone is dropped with it.
        if dropped {
            let columns = &self.old.columns;
            self.builder.table.checks.retain(|check| {
                let others = columns.iter().any(|other| {
                    other.name != old.name && names_column(&check.expression, &other.name)
                });
                !was_there(check) || !uses(check) || others
            });
        }
        let mut checks = self.builder.table.checks.iter();
        if let Some(check) = checks.find(|check| was_there(check) && uses(check)) {
            let uses = codes::ER_DEPENDENT_BY_CHECK_CONSTRAINT;
            return Err(uses.with(&[&check.name, &old.name]));
        }
        for column in &self.columns {
            // New expressions of the statement are bound against the new columns.
            let Some(source) = column.source else {
                continue;
            };
            let column = &self.old.columns[source];
            if let Some(generated) = &column.generated
                && names_column(&generated.expression, &old.name)
            {
                return Err(codes::ER_DEPENDENT_BY_GENERATED_COLUMN.with(&[&old.name]));
            }
            if let ColumnDefault::Expression { expression, .. } = &column.default
                && names_column(expression, &old.name)
            {
                let dependent = codes::ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE;
                return Err(dependent.with(&[&old.name, &self.old.name]));
            }
        }
        for key in &self.old.keys {
            let dropped_key = self.actions.iter().any(
                |action| matches!(action, AlterAction::DropKey(name) if same_name(name, &key.name)),
            );
            for part in &key.parts {
                if let KeyTarget::Expression(hidden) = part.target
                    && !dropped_key
                    && let Some(generated) = &self.old.columns[hidden].generated
                    && names_column(&generated.expression, &old.name)
                {
                    return Err(codes::ER_DEPENDENT_BY_FUNCTIONAL_INDEX.with(&[&old.name]));
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_foreign_keys_of(&self, old: &ColumnDefinition) -> Result<()> {
        let has = |columns: &[String]| columns.iter().any(|name| same_name(name, &old.name));
        let foreign_keys = &self.builder.table.foreign_keys;
        if let Some(foreign) = foreign_keys.iter().find(|foreign| has(&foreign.columns)) {
            return Err(codes::ER_FK_COLUMN_CANNOT_DROP.with(&[&old.name, &foreign.name]));
        }
        for (child, foreign) in self.references() {
            if has(&foreign.references.columns) {
                let needed = codes::ER_FK_COLUMN_CANNOT_DROP_CHILD;
                return Err(needed.with(&[&old.name, &foreign.name, &child.definition.name]));
            }
        }
        Ok(())
    }

    /// Checks the new type of a column in a foreign key: it must stay comparable, and under `foreign_key_checks` be
    /// unchanged or longer.
    pub(super) fn check_change(
        &self,
        old: &ColumnDefinition,
        new: &ColumnDefinition,
    ) -> Result<()> {
        let longer = old.ty.kind == new.ty.kind
            && old.ty.kind == TypeKind::VarChar
            && old.ty.collation == new.ty.collation;
        if longer {
            return Ok(());
        }
        // Members are compared by number, whatever their character set.
        let same_members = matches!(old.ty.kind, TypeKind::Enum | TypeKind::Set)
            && old.ty.kind == new.ty.kind
            && old.ty.members == new.ty.members;
        let checks = self.session().options().foreign_key_checks && !same_members;
        let at = |columns: &[String]| columns.iter().position(|name| same_name(name, &old.name));
        let catalog = &self.session().database().catalog;
        for foreign in &self.builder.table.foreign_keys {
            let Some(position) = at(&foreign.columns) else {
                continue;
            };
            let (database, name) = foreign.parent(&self.old.database);
            let parent = catalog.table(database, name);
            let referenced = &foreign.references.columns[position];
            let column = parent.as_ref().and_then(|parent| {
                let position = parent.definition.column_position(referenced)?;
                Some(&parent.definition.columns[position].ty)
            });
            if column.is_some_and(|referenced| !are_compatible(&new.ty, referenced)) {
                let incompatible = codes::ER_FK_INCOMPATIBLE_COLUMNS;
                return Err(incompatible.with(&[&new.name, referenced, &foreign.name]));
            }
            if checks {
                let changes = codes::ER_FK_COLUMN_CANNOT_CHANGE;
                return Err(changes.with(&[&old.name, &foreign.name]));
            }
        }
        for (child, foreign) in self.references() {
            let Some(position) = at(&foreign.references.columns) else {
                continue;
            };
            let child = &child.definition;
            let own = &foreign.columns[position];
            let column = child.column_position(own).map(|own| &child.columns[own].ty);
            if column.is_some_and(|own| !are_compatible(own, &new.ty)) {
                let incompatible = codes::ER_FK_INCOMPATIBLE_COLUMNS;
                return Err(incompatible.with(&[own, &new.name, &foreign.name]));
            }
            if checks {
                let child = format!("{}.{}", child.database, child.name);
                let used = codes::ER_FK_COLUMN_CANNOT_CHANGE_CHILD;
                return Err(used.with(&[&old.name, &foreign.name, &child]));
            }
        }
        Ok(())
    }

    /// Refuses to drop a key that a foreign key needs, of this table or of one that refers to it.
    pub(super) fn check_needed(&self, key: &KeyDefinition) -> Result<()> {
        let leads = |definition: &TableDefinition, key: &KeyDefinition, columns: &[String]| {
            let columns = definition.column_positions(columns);
            columns.is_some_and(|columns| definition.key_begins_with(key, &columns))
        };
        let table = &self.builder.table;
        let needs = |columns: &[String]| {
            leads(self.old, key, columns)
                && !table.keys.iter().any(|other| leads(table, other, columns))
        };
        let (mut own, others) = (table.foreign_keys.iter(), self.references());
        let mut others = others
            .iter()
            .map(|(_, foreign)| &foreign.references.columns);
        let is_needed = own.any(|it| needs(&it.columns)) || others.any(|columns| needs(columns));
        refuse(is_needed, || codes::ER_DROP_INDEX_FK.with(&[&key.name]))
    }
}

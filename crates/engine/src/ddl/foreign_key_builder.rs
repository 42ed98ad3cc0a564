//! Foreign keys of a statement: names, columns, and the indexes that they need.

use mayfly_syntax::ast::{self, ColumnAttribute, KeyKind};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::definition::{ForeignKeyDefinition, KeyDefinition, KeyPart};
use crate::ddl::create::{Builder, generated_name};
use crate::ddl::{foreign_key_checks, structured_keys};
use crate::names::{check_name, same_name};

impl Builder<'_> {
    /// Adds the CHECKs and foreign keys of a column's attributes.
    pub(super) fn column_constraints(&mut self, column: &ast::ColumnDefinition) -> Result<()> {
        for attribute in &column.attributes {
            match attribute {
                ColumnAttribute::Check(check) => self.check(check)?,
                ColumnAttribute::References(references) => {
                    self.foreign_key(&ast::ForeignKey {
                        name: None,
                        index_name: None,
                        columns: vec![column.name.clone()],
                        references: references.clone(),
                    })?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a foreign key, with the checks that need no parent.
    pub(super) fn foreign_key(&mut self, foreign: &ast::ForeignKey) -> Result<()> {
        if self.table.is_volatile() {
            return Err(codes::ER_CANNOT_ADD_FOREIGN.error());
        }
        let mut references = foreign.references.clone();
        // Without columns it refers to the parent's primary key.
        let counts_differ = references.columns.len() != foreign.columns.len();
        if counts_differ && !references.columns.is_empty() {
            return Err(foreign_key_checks::no_columns(foreign.name.as_deref()));
        }
        let mut positions = Vec::with_capacity(foreign.columns.len());
        for name in &foreign.columns {
            let missing = || codes::ER_KEY_COLUMN_DOES_NOT_EXIST.with(&[name]);
            let position = self.table.column_position(name).ok_or_else(missing)?;
            if positions.contains(&position) {
                return Err(codes::ER_DUP_FIELDNAME.with(&[name]));
            }
            let (column, parts) = (&self.table.columns[position], foreign.columns.len());
            structured_keys::check(KeyKind::Plain, parts, column, None, false)?;
            positions.push(position);
        }
        let known = self.table.foreign_keys.iter();
        let dropped = self.dropped_foreign_keys.iter().map(String::as_str);
        let mut known = known.map(|foreign| foreign.name.as_str()).chain(dropped);
        let name = match &foreign.name {
            Some(name) if known.any(|known| same_name(known, name)) => {
                return Err(codes::ER_FK_DUP_NAME.with(&[name]));
            }
            Some(name) => {
                check_name(name, &codes::ER_WRONG_NAME_FOR_INDEX)?;
                name.clone()
            }
            None => generated_name(&self.table.name, "_ibfk_", known),
        };
        let database = &mut references.table.database;
        database.take_if(|database| *database == self.table.database);
        let names = positions.iter();
        let names = names.map(|at| self.table.columns[*at].name.clone());
        self.table.foreign_keys.push(ForeignKeyDefinition {
            name,
            columns: names.collect(),
            references,
        });
        let index_name = foreign.name.as_ref().or(foreign.index_name.as_ref());
        self.foreign_indexes.push((index_name.cloned(), positions));
        Ok(())
    }

    /// Adds the indexes of new foreign keys, and drops generated ones that other keys can replace. A table of an
    /// engine without foreign keys gets only the indexes.
    pub(super) fn index_foreign_keys(&mut self) -> Result<()> {
        let needed = std::mem::take(&mut self.foreign_indexes);
        let first_new = self.table.keys.len();
        let mut names: Vec<Option<String>> = Vec::with_capacity(needed.len());
        for (name, columns) in needed {
            let parts = columns.into_iter().map(KeyPart::of_column);
            names.push(name);
            self.table.keys.push(KeyDefinition {
                generated: true,
                ..KeyDefinition::new(KeyKind::Plain, parts.collect())
            });
        }
        let mut kept = vec![true; self.table.keys.len()];
        for position in 0..kept.len() {
            kept[position] = !self.is_replaced(position, &kept);
        }
        let keys = std::mem::take(&mut self.table.keys);
        for (position, mut key) in keys.into_iter().enumerate() {
            if !kept[position] {
                continue;
            }
            if let Some(new) = position.checked_sub(first_new) {
                let name = names[new].take();
                key.name = name.unwrap_or_else(|| self.key_name(&key.parts));
                let same = |known: &KeyDefinition| same_name(&known.name, &key.name);
                if self.table.keys.iter().any(same) {
                    return Err(codes::ER_DUP_KEYNAME.with(&[&key.name]));
                }
            }
            self.table.keys.push(key);
        }
        if !self.table.engine.has_foreign_keys() {
            self.table.foreign_keys.clear();
            for key in &mut self.table.keys {
                key.generated = false;
            }
        }
        Ok(())
    }

    /// Whether a generated key is redundant: of two equivalent ones the later one stays.
    fn is_replaced(&self, position: usize, kept: &[bool]) -> bool {
        let keys = &self.table.keys;
        let key = &keys[position];
        let (true, Some(columns)) = (key.generated, key.whole_columns()) else {
            return false;
        };
        keys.iter().enumerate().any(|(other, candidate)| {
            let is_better =
                !candidate.generated || candidate.parts.len() > key.parts.len() || other > position;
            let mut first_parts = candidate.parts.iter().take(columns.len());
            other != position
                && kept[other]
                && is_better
                && !candidate.is_hash()
                && !candidate.has_no_index()
                && first_parts.all(|part| !part.descending)
                && self.table.key_begins_with(candidate, &columns)
        })
    }
}

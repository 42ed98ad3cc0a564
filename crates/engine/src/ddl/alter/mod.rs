//! From an ALTER TABLE statement to the table's new definition, and the source of each column. Nothing is changed
//! here: the statement copies rows, if it must, and replaces the table.
//!
//! The order of the steps, and so of the errors, is MySQL's: columns, keys, constraints.

mod checks;
mod options;

use mayfly_syntax::ast::{
    self, AlterAction, AlterTable, ColumnPosition, KeyKind, KeyPartTarget, TableElement,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result, TypeKind};

use crate::catalog::BaseTable;
use crate::catalog::definition::{
    ColumnDefault, ColumnDefinition, KeyDefinition, KeyPart, KeyTarget, TableDefinition,
};
use crate::ddl::column_type::DeclaredCollation;
use crate::ddl::create::{Builder, check_key_count, is_null};
use crate::ddl::structured_keys;
use crate::error::refuse;
use crate::names::{check_name, same_name};
use crate::session::StatementContext;

/// Result of an ALTER TABLE.
pub(crate) struct Altered {
    /// The new definition.
    pub(crate) definition: TableDefinition,
    /// For each new column, the old column with its values.
    pub(crate) sources: Vec<Option<usize>>,
    /// Old and new names of columns.
    pub(crate) renamed_columns: Vec<(String, String)>,
}

/// The altered definition, under the old name and in the old database.
pub(crate) fn definition(
    context: &StatementContext<'_>,
    table: &BaseTable,
    statement: &AlterTable,
) -> Result<Altered> {
    let old: &TableDefinition = &table.definition;
    let mut alteration = Alteration {
        old,
        builder: Builder {
            context,
            table: TableDefinition {
                columns: Vec::new(),
                keys: Vec::new(),
                auto_increment_start: 1,
                created: context.now(),
                ..old.clone()
            },
            foreign_indexes: Vec::new(),
            dropped_foreign_keys: old.foreign_keys.iter().map(|it| it.name.clone()).collect(),
            collation: DeclaredCollation::new(context.options()),
        },
        actions: &statement.actions,
        columns: Vec::new(),
        new_keys: Vec::new(),
        converted: None,
    };
    alteration.options()?;
    alteration.drop_constraints()?;
    alteration.columns()?;
    alteration.convert_character_set();
    alteration.check_dependencies()?;
    alteration.keys()?;
    alteration.constraints()?;
    let sources = alteration.columns.iter().map(|column| column.source);
    let mut sources: Vec<Option<usize>> = sources.collect();
    let mut definition = alteration.builder.finish()?;
    let hidden = definition.columns.iter().skip(sources.len());
    sources.extend(hidden.map(|new| {
        let text = |column: &ColumnDefinition| column.generated.as_ref().map(|g| g.text.clone());
        let same =
            |old: &ColumnDefinition| old.is_hidden() && old.ty == new.ty && text(old) == text(new);
        old.columns.iter().position(same)
    }));
    let numbered = definition.auto_increment_column();
    let was_numbered = |column: usize| sources[column] == old.auto_increment_column();
    if numbered.is_some_and(was_numbered) && !is_numbered_anew(&statement.actions) {
        definition.auto_increment_start = table.numbers(context).next();
    }
    let renamed = sources.iter().zip(&definition.columns);
    let renamed_columns = renamed
        .filter_map(|(source, column)| {
            let old = &old.columns[(*source)?].name;
            (*old != column.name).then(|| (old.clone(), column.name.clone()))
        })
        .collect();
    Ok(Altered {
        definition,
        sources,
        renamed_columns,
    })
}

/// Whether the statement sets AUTO_INCREMENT.
pub(crate) fn is_numbered_anew(actions: &[AlterAction]) -> bool {
    let is_it = |action: &AlterAction| matches!(action, AlterAction::Option(option) if option.name == "AUTO_INCREMENT");
    actions.iter().any(is_it)
}

/// A column of the new table.
struct NewColumn {
    definition: ColumnDefinition,
    /// The old column with its values.
    source: Option<usize>,
    /// Whether NULL was written.
    explicit_null: bool,
    /// Whether the statement defines it.
    written: bool,
}

impl NewColumn {
    /// An old column, perhaps renamed.
    fn of_old(definition: ColumnDefinition, source: usize) -> Self {
        Self {
            definition,
            source: Some(source),
            explicit_null: false,
            written: false,
        }
    }
}

struct Alteration<'s> {
    old: &'s TableDefinition,
    builder: Builder<'s>,
    actions: &'s [AlterAction],
    columns: Vec<NewColumn>,
    /// Keys from attributes of new columns.
    new_keys: Vec<ast::KeyDefinition>,
    /// The collation of CONVERT TO CHARACTER SET.
    converted: Option<CollationId>,
}

impl Alteration<'_> {
    fn session(&self) -> &StatementContext<'_> {
        self.builder.context
    }

    /// DROP CHECK, DROP FOREIGN KEY and DROP CONSTRAINT, before columns are processed.
    fn drop_constraints(&mut self) -> Result<()> {
        for action in self.actions {
            let table = &mut self.builder.table;
            match action {
                AlterAction::DropCheck(name) if !remove_check(table, name) => {
                    return Err(codes::ER_CHECK_CONSTRAINT_NOT_FOUND.with(&[name]));
                }
                AlterAction::DropForeignKey(name) if !remove_foreign_key(table, name) => {
                    return Err(codes::ER_CANT_DROP_FIELD_OR_KEY.with(&[name]));
                }
                AlterAction::DropConstraint(name) => {
                    let check = table.checks.iter().any(|it| same_name(&it.name, name));
                    let mut foreign_keys = table.foreign_keys.iter();
                    let foreign = foreign_keys.any(|it| same_name(&it.name, name));
                    let mut keys = self.old.unique_keys();
                    let key = keys.any(|it| same_name(&it.name, name));
                    match (check, foreign, key) {
                        (false, false, false) => {
                            return Err(codes::ER_CONSTRAINT_NOT_FOUND.with(&[name]));
                        }
                        (true, false, false) => _ = remove_check(table, name),
                        (false, true, false) => _ = remove_foreign_key(table, name),
                        // Keys are dropped with the other keys.
                        (false, false, true) => {}
                        _ => {
                            let several = codes::ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME;
                            return Err(several.with(&[name]));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Processes the columns: first the old ones, kept, dropped or changed in place, then added or moved ones.
    fn columns(&mut self) -> Result<()> {
        let unknown = |name: &str| codes::ER_BAD_FIELD_ERROR.with(&[&name, &self.old.name]);
        let mut used = vec![false; self.actions.len()];
        // Old columns that are placed or dropped: no other action may name them.
        let mut taken = vec![true; self.old.columns.len()];
        let mut kept = Vec::with_capacity(self.old.columns.len());
        for (position, old) in self.old.named_columns().enumerate() {
            let drops = |action: &AlterAction| matches!(action, AlterAction::DropColumn(name) if same_name(name, &old.name));
            let changes = |action: &AlterAction| {
                changed_column(action).is_some_and(|name| same_name(name, &old.name))
            };
            let dropped = self.actions.iter().position(drops);
            let found = dropped.or_else(|| self.actions.iter().position(changes));
            let Some(index) = found else {
                kept.push((position, None));
                continue;
            };
            match &self.actions[index] {
                AlterAction::DropColumn(_) => used[index] = true,
                AlterAction::ChangeColumn {
                    position: asked, ..
                }
                | AlterAction::ModifyColumn {
                    position: asked, ..
                } if *asked != ColumnPosition::Unspecified => taken[position] = false,
                _ => {
                    used[index] = true;
                    kept.push((position, Some(index)));
                }
            }
        }
        for (action, used) in self.actions.iter().zip(&used) {
            if let (AlterAction::DropColumn(name), false) = (action, used) {
                return Err(codes::ER_CANT_DROP_FIELD_OR_KEY.with(&[name]));
            }
        }
        for (position, change) in kept {
            let column = match change {
                None => NewColumn::of_old(self.old.columns[position].clone(), position),
                Some(index) => self.changed(position, &self.actions[index])?,
            };
            self.columns.push(column);
        }
        for (index, action) in self.actions.iter().enumerate() {
            if used[index] {
                continue;
            }
            let (column, asked) = match action {
                AlterAction::AddColumn { column, position } => {
                    (self.written(column, None)?, position)
                }
                AlterAction::ChangeColumn { position, .. }
                | AlterAction::ModifyColumn { position, .. } => {
                    let name = changed_column(action).unwrap_or_default();
                    let source = self.old.column_position(name);
                    let source = source.filter(|at| !std::mem::replace(&mut taken[*at], true));
                    let source = source.ok_or_else(|| unknown(name))?;
                    (self.changed(source, action)?, position)
                }
                AlterAction::RenameColumn { old_name, .. } => return Err(unknown(old_name)),
                _ => continue,
            };
            let index = match asked {
                ColumnPosition::Unspecified => self.columns.len(),
                ColumnPosition::First => 0,
                ColumnPosition::After(other) => {
                    let is_other = |column: &NewColumn| same_name(&column.definition.name, other);
                    let found = self.columns.iter().position(is_other);
                    found.ok_or_else(|| unknown(other))? + 1
                }
            };
            self.columns.insert(index, column);
        }
        self.column_settings()?;
        if self.columns.is_empty() {
            return Err(codes::ER_CANT_REMOVE_ALL_FIELDS.error());
        }
        for (index, column) in self.columns.iter().enumerate() {
            let name = &column.definition.name;
            let same = |other: &NewColumn| same_name(&other.definition.name, name);
            if self.columns[..index].iter().any(same) {
                return Err(codes::ER_DUP_FIELDNAME.with(&[name]));
            }
        }
        Ok(())
    }

    /// A column as written.
    fn written(
        &mut self,
        column: &ast::ColumnDefinition,
        source: Option<usize>,
    ) -> Result<NewColumn> {
        Ok(NewColumn {
            definition: self.builder.column_definition(column, &mut self.new_keys)?,
            source,
            explicit_null: is_null(column),
            written: true,
        })
    }

    fn changed(&mut self, source: usize, action: &AlterAction) -> Result<NewColumn> {
        match action {
            AlterAction::ChangeColumn { column, .. } | AlterAction::ModifyColumn { column, .. } => {
                let column = self.written(column, Some(source))?;
                if self.old.columns[source].is_virtual() != column.definition.is_virtual() {
                    let refused = codes::ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN;
                    return Err(refused.with(&[&"Changing the STORED status"]));
                }
                Ok(column)
            }
            AlterAction::RenameColumn { new_name, .. } => {
                check_name(new_name, &codes::ER_WRONG_COLUMN_NAME)?;
                let definition = ColumnDefinition {
                    name: new_name.clone(),
                    ..self.old.columns[source].clone()
                };
                Ok(NewColumn::of_old(definition, source))
            }
            _ => Err(Error::internal("no change of a column")),
        }
    }

    /// ALTER COLUMN … SET DEFAULT, DROP DEFAULT, SET VISIBLE.
    fn column_settings(&mut self) -> Result<()> {
        for action in self.actions {
            let (AlterAction::SetDefault { column: name, .. }
            | AlterAction::SetColumnVisible { column: name, .. }) = action
            else {
                continue;
            };
            // MySQL does not find a column here that the statement changes otherwise, too.
            let is_named = |column: &NewColumn| match column.source {
                Some(source) => !column.written && same_name(&self.old.columns[source].name, name),
                None => false,
            };
            let Some(index) = self.columns.iter().position(is_named) else {
                return Err(codes::ER_BAD_FIELD_ERROR.with(&[name, &self.old.name]));
            };
            let column = &self.columns[index].definition;
            match action {
                AlterAction::SetColumnVisible { visible, .. } => {
                    self.columns[index].definition.invisible = !visible;
                }
                AlterAction::SetDefault { default, .. } => {
                    let default = match default {
                        None => ColumnDefault::Dropped,
                        // MySQL accepts it without effect.
                        Some(_) if column.auto_increment => continue,
                        Some(_) if column.generated.is_some() => {
                            let wrong = codes::ER_WRONG_USAGE;
                            return Err(wrong.with(&[&"DEFAULT", &"generated column"]));
                        }
                        Some(expr) => self.builder.default(column, expr)?,
                    };
                    self.columns[index].definition.default = default;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// CONVERT TO CHARACTER SET: every text column, old and new, gets the collation.
    fn convert_character_set(&mut self) {
        let Some(collation) = self.converted else {
            return;
        };
        let bytes_max = |collation: CollationId| collation.charset().max_length();
        for column in &mut self.columns {
            let column = &mut column.definition;
            if !crate::catalog::type_text::has_character_set(&column.ty) {
                continue;
            }
            // The longest text may need more bytes than its type has.
            if bytes_max(collation) > bytes_max(column.ty.collation) {
                let longer = match column.ty.kind {
                    TypeKind::TinyText => Some(TypeKind::Text),
                    TypeKind::Text => Some(TypeKind::MediumText),
                    TypeKind::MediumText => Some(TypeKind::LongText),
                    _ => None,
                };
                if let Some(kind) = longer {
                    column.ty = mayfly_types::SqlType::text(kind, collation);
                }
            }
            column.ty.collation = collation;
        }
    }

    /// Copies, drops and renames keys, then adds the new ones.
    fn keys(&mut self) -> Result<()> {
        let columns = self.columns.iter().map(|column| column.definition.clone());
        self.builder.table.columns = columns.collect();
        let mut dropped = vec![false; self.old.keys.len()];
        for action in self.actions {
            let name = match action {
                AlterAction::DropPrimaryKey => "PRIMARY",
                AlterAction::DropKey(name) => name,
                AlterAction::DropConstraint(name) => name,
                _ => continue,
            };
            let mut keys = self.old.keys.iter();
            match keys.position(|key| same_name(&key.name, name)) {
                Some(index) if !dropped[index] => dropped[index] = true,
                _ if matches!(action, AlterAction::DropConstraint(_)) => {}
                _ => return Err(codes::ER_CANT_DROP_FIELD_OR_KEY.with(&[&name])),
            }
        }
        let old = self.old;
        let old_keys = || old.keys.iter().zip(&dropped);
        for (key, _) in old_keys().filter(|(_, dropped)| !**dropped) {
            let key = self.kept_key(key)?;
            self.builder.table.keys.extend(key);
        }
        self.change_keys()?;
        let added = self.actions.iter().filter_map(|action| match action {
            AlterAction::Add(TableElement::Key(key)) => Some(key),
            _ => None,
        });
        let added: Vec<&ast::KeyDefinition> = added.collect();
        let new_keys = std::mem::take(&mut self.new_keys);
        check_key_count(self.builder.table.keys.len() + added.len() + new_keys.len())?;
        for key in &new_keys {
            self.builder.key(key)?;
        }
        for key in added {
            if key.kind == KeyKind::Primary {
                self.forget_null_defaults();
                self.refuse_null_parts(key)?;
            }
            self.builder.key(key)?;
        }
        let mut lost = old_keys().filter(|(_, dropped)| **dropped);
        lost.try_for_each(|(key, _)| self.check_needed(key))
    }

    /// 1171: the statement declares a part of its primary key NULL.
    fn refuse_null_parts(&self, key: &ast::KeyDefinition) -> Result<()> {
        let columns = || self.builder.table.columns.iter().zip(&self.columns);
        let is_null = |name: &str| {
            columns().any(|(column, new)| new.explicit_null && same_name(&column.name, name))
        };
        let has_null = key.parts.iter().any(|part| match &part.target {
            KeyPartTarget::Column { name, .. } => is_null(name),
            KeyPartTarget::Expression(_) => false,
        });
        refuse(has_null, || codes::ER_PRIMARY_CANT_HAVE_NULL.error())
    }

    /// A column with DEFAULT NULL may become part of a primary key, unless the statement writes the default.
    fn forget_null_defaults(&mut self) {
        let columns = self.builder.table.columns.iter_mut().zip(&self.columns);
        for (column, _) in columns.filter(|(_, new)| !new.written) {
            column.forget_null_default();
        }
    }

    /// An old key over the new columns; `None` when all of its columns are dropped.
    fn kept_key(&mut self, key: &KeyDefinition) -> Result<Option<KeyDefinition>> {
        let primary = key.kind == KeyKind::Primary;
        let mut parts = Vec::with_capacity(key.parts.len());
        for part in &key.parts {
            let old = match part.target {
                KeyTarget::Column(old) => old,
                KeyTarget::Expression(old) => {
                    if let Some(generated) = &self.old.columns[old].generated {
                        parts.push(KeyPart {
                            target: self.builder.key_expression(&generated.expression, false)?,
                            ..part.clone()
                        });
                    }
                    continue;
                }
            };
            let mut columns = self.columns.iter();
            let Some(new) = columns.position(|column| column.source == Some(old)) else {
                continue;
            };
            let column = &mut self.builder.table.columns[new];
            if primary {
                if self.columns[new].explicit_null {
                    return Err(codes::ER_PRIMARY_CANT_HAVE_NULL.error());
                }
                column.nullable = false;
                column.forget_null_default();
            }
            let written = part.prefix;
            structured_keys::check(key.kind, key.parts.len(), column, written, part.descending)?;
            let is_long = column.ty.is_blob();
            let prefix = part.prefix.filter(|prefix| {
                column.ty.is_string() && (is_long || *prefix < u64::from(column.ty.length))
            });
            if is_long && prefix.is_none() && !key.has_no_index() {
                return Err(codes::ER_BLOB_KEY_WITHOUT_LENGTH.with(&[&column.name]));
            }
            if column.ty.kind == TypeKind::Json {
                return Err(codes::ER_JSON_USED_AS_KEY.with(&[&column.name]));
            }
            parts.push(KeyPart {
                target: KeyTarget::Column(new),
                prefix,
                descending: part.descending,
            });
        }
        Ok((!parts.is_empty()).then(|| KeyDefinition {
            parts,
            ..key.clone()
        }))
    }

    /// RENAME INDEX and ALTER INDEX.
    fn change_keys(&mut self) -> Result<()> {
        let table = &mut self.builder.table;
        for action in self.actions {
            let (AlterAction::RenameKey { old_name: name, .. }
            | AlterAction::SetIndexVisible { name, .. }) = action
            else {
                continue;
            };
            let found = table.keys.iter().position(|key| same_name(&key.name, name));
            if let AlterAction::RenameKey { new_name, .. } = action {
                for name in [name, new_name] {
                    if name.eq_ignore_ascii_case("PRIMARY") {
                        return Err(codes::ER_WRONG_NAME_FOR_INDEX.with(&[name]));
                    }
                }
            }
            let missing = || codes::ER_KEY_DOES_NOT_EXIST.with(&[name, &table.name]);
            let index = found.ok_or_else(missing)?;
            match action {
                AlterAction::RenameKey { new_name, .. } => {
                    let taken = table.keys.iter().enumerate();
                    let mut taken = taken.filter(|(other, _)| *other != index);
                    if taken.any(|(_, key)| same_name(&key.name, new_name)) {
                        return Err(codes::ER_DUP_KEYNAME.with(&[new_name]));
                    }
                    table.keys[index].name.clone_from(new_name);
                }
                AlterAction::SetIndexVisible { visible, .. } => {
                    table.keys[index].invisible = !visible;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// ADD CHECK, ADD FOREIGN KEY and ALTER CHECK.
    fn constraints(&mut self) -> Result<()> {
        for action in self.actions {
            match action {
                AlterAction::Add(TableElement::Check(check)) => self.builder.check(check)?,
                AlterAction::Add(TableElement::ForeignKey(foreign)) => {
                    self.builder.foreign_key(foreign)?;
                }
                AlterAction::AddColumn { column, .. }
                | AlterAction::ChangeColumn { column, .. }
                | AlterAction::ModifyColumn { column, .. } => {
                    self.builder.column_constraints(column)?;
                }
                AlterAction::SetCheckEnforced {
                    name,
                    enforced,
                    any_constraint,
                } => {
                    let checks = &mut self.builder.table.checks;
                    let found = checks.iter_mut().find(|check| same_name(&check.name, name));
                    match found {
                        Some(check) => check.enforced = *enforced,
                        None if *any_constraint => {
                            return Err(codes::ER_CONSTRAINT_NOT_FOUND.with(&[name]));
                        }
                        None => return Err(codes::ER_CHECK_CONSTRAINT_NOT_FOUND.with(&[name])),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The old name of the column that an action changes.
fn changed_column(action: &AlterAction) -> Option<&str> {
    match action {
        AlterAction::ChangeColumn { old_name, .. } | AlterAction::RenameColumn { old_name, .. } => {
            Some(old_name)
        }
        AlterAction::ModifyColumn { column, .. } => Some(&column.name),
        _ => None,
    }
}

fn remove_check(table: &mut TableDefinition, name: &str) -> bool {
    let before = table.checks.len();
    table.checks.retain(|check| !same_name(&check.name, name));
    table.checks.len() < before
}

fn remove_foreign_key(table: &mut TableDefinition, name: &str) -> bool {
    let before = table.foreign_keys.len();
    table.foreign_keys.retain(|it| !same_name(&it.name, name));
    table.foreign_keys.len() < before
}

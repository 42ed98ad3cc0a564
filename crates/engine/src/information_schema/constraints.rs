//! Constraints: `TABLE_CONSTRAINTS`, `KEY_COLUMN_USAGE`, `CHECK_CONSTRAINTS`,
//! `REFERENTIAL_CONSTRAINTS`.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::Value;

use super::columns::escaped_quotes;
use super::relation::{Relation, Row, text, text_or_null, yes_no};
use crate::catalog::definition::{ForeignKeyDefinition, TableDefinition};
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("TABLE_CONSTRAINTS", table_constraints),
    Relation::new("KEY_COLUMN_USAGE", key_column_usage),
    Relation::new("CHECK_CONSTRAINTS", check_constraints),
    Relation::new("REFERENTIAL_CONSTRAINTS", referential_constraints),
];

pub(super) fn table_constraints(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in context.privileges().visible_tables() {
        let definition = &table.definition;
        let mut push = |name: &str, kind: &str, enforced: bool| {
            rows.push(vec![
                text("def"),
                text(&definition.database),
                text(name),
                text(&definition.database),
                text(&definition.name),
                text(kind),
                yes_no(enforced),
            ]);
        };
        for key in definition.unique_keys() {
            let primary = key.kind == KeyKind::Primary;
            push(
                &key.name,
                if primary { "PRIMARY KEY" } else { "UNIQUE" },
                true,
            );
        }
        for foreign in &definition.foreign_keys {
            push(&foreign.name, "FOREIGN KEY", true);
        }
        for check in &definition.checks {
            push(&check.name, "CHECK", check.enforced);
        }
    }
    rows
}

fn key_column_usage(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = context.rights();
    for table in context.privileges().visible_tables() {
        let definition = &table.definition;
        let start = |constraint: &str, column: &str, position: u64| {
            vec![
                text("def"),
                text(&definition.database),
                text(constraint),
                text("def"),
                text(&definition.database),
                text(&definition.name),
                text(column),
                Value::UInt(position),
            ]
        };
        let is_shown =
            |column: &str| rights.sees_column(&definition.database, &definition.name, column);
        for key in definition.unique_keys() {
            for (part, position) in key.parts.iter().zip(1..) {
                if let Some(column) = part.column()
                    && is_shown(&definition.columns[column].name)
                {
                    let mut row = start(&key.name, &definition.columns[column].name, position);
                    row.resize(12, Value::Null);
                    rows.push(row);
                }
            }
        }
        for foreign in &definition.foreign_keys {
            let references = &foreign.references;
            let pairs = foreign.columns.iter().zip(&references.columns).zip(1..);
            for ((column, parent), position) in pairs.filter(|((column, _), _)| is_shown(column)) {
                let mut row = start(&foreign.name, column, position);
                row.push(Value::UInt(position));
                row.push(text(
                    references
                        .table
                        .database
                        .as_ref()
                        .unwrap_or(&definition.database),
                ));
                row.push(text(&references.table.name));
                row.push(text(parent));
                rows.push(row);
            }
        }
    }
    rows
}

fn check_constraints(context: &StatementContext<'_>) -> Vec<Row> {
    let tables = context.privileges().visible_tables();
    let rows = tables.iter().flat_map(|table| {
        table.definition.checks.iter().map(|check| {
            vec![
                text("def"),
                text(&table.definition.database),
                text(&check.name),
                text(escaped_quotes(&check.text)),
            ]
        })
    });
    rows.collect()
}

/// The unique key that a foreign key refers to: one of just its columns, or one that begins with them.
fn referenced_key(
    context: &StatementContext<'_>,
    child: &TableDefinition,
    foreign: &ForeignKeyDefinition,
) -> Option<String> {
    let (database, name) = foreign.parent(&child.database);
    let parent = context.catalog().table(database, name)?;
    let parent = &parent.definition;
    let columns = parent.column_positions(&foreign.references.columns)?;
    let mut exact = parent.unique_keys();
    let exact = exact.find(|key| key.whole_columns().as_ref() == Some(&columns));
    let mut partial = parent.unique_keys();
    let key = exact.or_else(|| partial.find(|key| key.begins_with(&columns)));
    key.map(|key| key.name.clone())
}

fn referential_constraints(context: &StatementContext<'_>) -> Vec<Row> {
    let tables = context.privileges().visible_tables();
    let rows = tables.iter().flat_map(|table| {
        let definition = &table.definition;
        definition.foreign_keys.iter().map(|foreign| {
            let references = &foreign.references;
            let rule = |action: &Option<String>| {
                text(action.clone().unwrap_or_else(|| "NO ACTION".to_owned()))
            };
            vec![
                text("def"),
                text(&definition.database),
                text(&foreign.name),
                text("def"),
                text(
                    references
                        .table
                        .database
                        .as_ref()
                        .unwrap_or(&definition.database),
                ),
                text_or_null(referenced_key(context, definition, foreign).as_deref()),
                text("NONE"),
                rule(&references.on_update),
                rule(&references.on_delete),
                text(&definition.name),
                text(&references.table.name),
            ]
        })
    });
    rows.collect()
}

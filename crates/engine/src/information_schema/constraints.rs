//! Constraints: `TABLE_CONSTRAINTS`, `KEY_COLUMN_USAGE`, `CHECK_CONSTRAINTS`,
//! `REFERENTIAL_CONSTRAINTS`.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::Value;

use super::asked::Asked;
use super::columns::escaped_quotes;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use crate::catalog::definition::{ForeignKeyDefinition, TableDefinition};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("TABLE_CONSTRAINTS", table_constraints)
        .with_row_count(RelationContext::table_count),
    Relation::asked("KEY_COLUMN_USAGE", key_column_usage)
        .with_row_count(RelationContext::table_count),
    Relation::asked("CHECK_CONSTRAINTS", check_constraints),
    Relation::asked("REFERENTIAL_CONSTRAINTS", referential_constraints),
];

pub(super) fn table_constraints(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in asked.tables(context) {
        let definition = &table.definition;
        let mut push = |name: &str, kind: &str, enforced: bool| {
            let (database, table) = (&definition.database, &definition.name);
            rows.push(row![
                "def",
                database,
                name,
                database,
                table,
                kind,
                yes_no(enforced)
            ]);
        };
        for key in definition.unique_keys() {
            let primary = key.kind == KeyKind::Primary;
            let kind = if primary { "PRIMARY KEY" } else { "UNIQUE" };
            push(&key.name, kind, true);
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

fn key_column_usage(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = context.rights();
    for table in asked.tables(context) {
        let definition = &table.definition;
        let (database, table) = (&definition.database, &definition.name);
        let mut push = |name: &str, column: &str, position: u64, referenced: Row| {
            if rights.sees_column(database, table, column) {
                let mut row = row![
                    "def", database, name, "def", database, table, column, position
                ];
                row.extend(referenced);
                rows.push(row);
            }
        };
        for key in definition.unique_keys() {
            for (part, position) in key.parts.iter().zip(1..) {
                if let Some(column) = part.column() {
                    let column = &definition.columns[column].name;
                    push(&key.name, column, position, vec![Value::Null; 4]);
                }
            }
        }
        for foreign in &definition.foreign_keys {
            let columns = foreign.columns.iter().zip(&foreign.references.columns);
            for ((column, parent_column), position) in columns.zip(1..) {
                let (parent_database, parent) = foreign.parent(database);
                let referenced = row![position, parent_database, parent, parent_column];
                push(&foreign.name, column, position, referenced);
            }
        }
    }
    rows
}

fn check_constraints(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let tables = context.privileges().visible_tables();
    let tables = asked.wanted(&["CONSTRAINT_SCHEMA"], tables, |table| {
        row![&table.definition.database]
    });
    let rows = tables.iter().flat_map(|table| {
        let checks = table.definition.checks.iter();
        checks.map(|check| {
            let database = &table.definition.database;
            row!["def", database, &check.name, escaped_quotes(&check.text)]
        })
    });
    rows.collect()
}

/// The unique key that a foreign key refers to: one with exactly its columns, or one that begins with them.
fn referenced_key(
    context: &RelationContext,
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
    let key = exact.or_else(|| partial.find(|key| parent.key_begins_with(key, &columns)));
    key.map(|key| key.name.clone())
}

fn referential_constraints(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let tables = context.privileges().visible_tables();
    let tables = asked.named(["CONSTRAINT_SCHEMA", "TABLE_NAME"], tables, |table| {
        (&table.definition.database, &table.definition.name)
    });
    let rows = tables.iter().flat_map(|table| {
        let definition = &table.definition;
        definition.foreign_keys.iter().map(|foreign| {
            let references = &foreign.references;
            let (parent_database, parent) = foreign.parent(&definition.database);
            row![
                "def",
                &definition.database,
                &foreign.name,
                "def",
                parent_database,
                referenced_key(context, definition, foreign),
                "NONE",
                references.on_update.as_deref().unwrap_or("NO ACTION"),
                references.on_delete.as_deref().unwrap_or("NO ACTION"),
                &definition.name,
                parent,
            ]
        })
    });
    rows.collect()
}

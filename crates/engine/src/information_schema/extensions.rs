//! Relations of further properties: `TABLES_EXTENSIONS` and its kin, and `PARTITIONS`, where each table is one
//! partition.

use mayfly_types::Value;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, text};
use super::{columns, constraints, schemata, tables};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("SCHEMATA_EXTENSIONS", schemata_extensions),
    Relation::asked("TABLES_EXTENSIONS", tables_extensions),
    Relation::asked("COLUMNS_EXTENSIONS", columns_extensions),
    Relation::asked("TABLE_CONSTRAINTS_EXTENSIONS", constraints_extensions),
    Relation::asked("PARTITIONS", partitions),
];

/// Rows of the values at some positions, plus two NULL engine attributes.
fn with_attributes(rows: Vec<Row>, positions: &[usize]) -> Vec<Row> {
    let extended = |row: Row| {
        let kept = positions.iter().filter_map(|position| row.get(*position));
        let kept = kept.cloned();
        kept.chain([Value::Null, Value::Null]).collect()
    };
    rows.into_iter().map(extended).collect()
}

fn schemata_extensions(context: &RelationContext) -> Vec<Row> {
    let named = schemata::rows(context).into_iter();
    let row = |row: Row| row.into_iter().take(2).chain([text("")]).collect();
    named.map(row).collect()
}

fn tables_extensions(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    with_attributes(tables::rows(context, asked), &[0, 1, 2])
}

fn columns_extensions(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    with_attributes(columns::rows(context, asked), &[0, 1, 2, 3])
}

fn constraints_extensions(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    with_attributes(
        constraints::table_constraints(context, asked),
        &[0, 1, 2, 4],
    )
}

/// A row for each base table and view, without a partition name: Mayfly stores a table as one part whatever its
/// PARTITION BY says.
fn partitions(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let tables = tables::rows(context, asked).into_iter();
    let is_view = |row: &Row| row.get(3) == Some(&text("VIEW"));
    let is_table = |row: &Row| row.get(4).is_some_and(|engine| *engine != Value::Null);
    let row = |table: Row| {
        let at = |position: usize| table.get(position).cloned().unwrap_or(Value::Null);
        let mut row = vec![at(0), at(1), at(2)];
        row.resize(13, Value::Null);
        // TABLE_ROWS to DATA_FREE, and the three times.
        row.extend((7..13).map(|position| {
            if is_view(&table) {
                Value::UInt(0)
            } else {
                at(position)
            }
        }));
        row.extend((14..17).map(at));
        row.extend([Value::Null, text(""), text(""), Value::Null]);
        row
    };
    tables
        .filter(|row| is_table(row) || is_view(row))
        .map(row)
        .collect()
}

//! `information_schema.STATISTICS`, and the same with the session's temporary tables for SHOW INDEX.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::Value;

use super::columns::escaped_quotes;
use super::relation::{Columns, Relation, Row, text, text_or_null, yes_no};
use crate::catalog::BaseTable;
use crate::catalog::definition::KeyTarget;
use crate::session::Session;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::standard("STATISTICS", rows),
    Relation {
        schema: "information_schema",
        name: "#temporary_statistics",
        columns: Columns::Standard("STATISTICS"),
        rows: temporary,
    },
];

fn rows(session: &Session) -> Vec<Row> {
    session
        .database
        .catalog
        .all_tables()
        .iter()
        .flat_map(|table| table_rows(session, table))
        .collect()
}

fn temporary(session: &Session) -> Vec<Row> {
    session
        .temporary_tables()
        .flat_map(|table| table_rows(session, table))
        .collect()
}

fn table_rows(session: &Session, table: &BaseTable) -> Vec<Row> {
    let definition = &table.definition;
    let row_count = table.statistics(session).rows;
    let mut rows = Vec::new();
    for key in &definition.keys {
        for (part, sequence) in key.parts.iter().zip(1_u64..) {
            let index_type = match key.kind {
                KeyKind::FullText => "FULLTEXT",
                KeyKind::Spatial => "SPATIAL",
                _ if definition.engine == "MEMORY" && key.using.as_deref() != Some("BTREE") => {
                    "HASH"
                }
                _ => "BTREE",
            };
            // Only a tree has an order.
            let ordered = index_type == "BTREE";
            let (column, nullable, expression) = match &part.target {
                KeyTarget::Column(position) => {
                    let column = &definition.columns[*position];
                    (Some(column.name.as_str()), column.nullable, None)
                }
                KeyTarget::Expression(column) => {
                    let text = escaped_quotes(definition.hidden_text(*column));
                    (None, true, Some(text))
                }
            };
            let direction = if part.descending { "D" } else { "A" };
            rows.push(vec![
                text("def"),
                text(&definition.database),
                text(&definition.name),
                Value::Int(i64::from(!key.is_unique())),
                text(&definition.database),
                text(&key.name),
                Value::UInt(sequence),
                text_or_null(column),
                if ordered {
                    text(direction)
                } else {
                    Value::Null
                },
                Value::UInt(row_count),
                part.prefix.map_or(Value::Null, Value::UInt),
                Value::Null,
                text(if nullable { "YES" } else { "" }),
                text(index_type),
                text(""),
                text(&key.comment),
                yes_no(!key.invisible),
                text_or_null(expression.as_deref()),
            ]);
        }
    }
    rows
}

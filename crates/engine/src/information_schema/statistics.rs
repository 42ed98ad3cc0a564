//! `information_schema.STATISTICS`, and its rows with the session's temporary tables for SHOW INDEX.

use mayfly_storage::{IndexId, Table};
use mayfly_syntax::ast::KeyKind;
use mayfly_types::Value;

use super::asked::Asked;
use super::columns::escaped_quotes;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use crate::catalog::BaseTable;
use crate::catalog::definition::{KeyTarget, TableDefinition};
use crate::catalog::indexes::indexed_keys;
use crate::engines::Engine;
use crate::names::word_if;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("STATISTICS", rows).with_row_count(RelationContext::table_count),
    Relation::asked("#temporary_statistics", temporary),
];

fn rows(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let tables = asked.tables(context);
    let rows = tables.iter();
    rows.flat_map(|table| table_rows(context, asked, table))
        .collect()
}

fn temporary(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let tables = context.temporary_tables.iter();
    let rows = tables.flat_map(|table| table_rows(context, asked, table));
    rows.collect()
}

/// Estimated cardinality of the first `parts` parts of a key. The MEMORY engine knows it only for a whole hash index,
/// which is not `ordered`.
fn cardinality(
    content: &dyn Table,
    definition: &TableDefinition,
    position: usize,
    parts: u64,
    ordered: bool,
) -> Option<u64> {
    let parts = usize::try_from(parts).ok()?;
    let mut indexed = indexed_keys(definition).into_iter();
    let Some(index) = indexed.position(|key| key == position) else {
        return Some(content.statistics().rows);
    };
    let spec = content.indexes().get(index)?;
    let is_known = definition.engine != Engine::Memory || (!ordered && parts == spec.parts.len());
    is_known.then(|| content.distinct_keys(IndexId(index), parts))
}

fn table_rows(context: &RelationContext, asked: &Asked<'_>, table: &BaseTable) -> Vec<Row> {
    let definition = &table.definition;
    let content = asked.reads(&["CARDINALITY"]);
    let content = content.then(|| table.storage(context).ok()).flatten();
    let mut rows = Vec::new();
    for (key_position, key) in definition.keys.iter().enumerate() {
        for (part, sequence) in key.parts.iter().zip(1_u64..) {
            let index_type = match key.kind {
                KeyKind::FullText => "FULLTEXT",
                KeyKind::Spatial => "SPATIAL",
                _ if definition.engine == Engine::Memory
                    && key.using.as_deref() != Some("BTREE") =>
                {
                    "HASH"
                }
                _ => "BTREE",
            };
            // Only a BTREE is ordered.
            let ordered = index_type == "BTREE";
            let position = part.stored_column();
            let column = &definition.columns[position];
            let (name, expression) = match part.target {
                KeyTarget::Column(_) => (Some(&column.name), None),
                KeyTarget::Expression(_) => {
                    (None, Some(escaped_quotes(definition.hidden_text(position))))
                }
            };
            let distinct = content.as_deref().and_then(|content| {
                cardinality(content, definition, key_position, sequence, ordered)
            });
            let direction = if part.descending { "D" } else { "A" };
            rows.push(row![
                "def",
                &definition.database,
                &definition.name,
                Value::Int(i64::from(!key.is_unique())),
                &definition.database,
                &key.name,
                sequence,
                name,
                ordered.then_some(direction),
                distinct,
                part.prefix,
                Value::Null,
                word_if(column.nullable, "YES"),
                index_type,
                "",
                &key.comment,
                yes_no(!key.invisible),
                expression,
            ]);
        }
    }
    rows
}

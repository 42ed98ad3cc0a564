//! Rule for joins that read a whole table for each row, or build a hash table of it, because no index finds its rows.

use super::context::{Context, index_change};
use crate::finding::{Cause, Confidence, Finding};
use crate::index;
use crate::quantities::{runs, seconds};
use crate::schema::Table;
use crate::statement::{Block, ColumnPlace};

/// Least number of rows of a table whose full scan counts.
const ROWS_MIN: u64 = 100;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let counted = context.digest.full_joins;
    if counted == Some(0) {
        return;
    }
    for block in &context.statement.blocks {
        for (left, right) in block.joined_columns() {
            let tables = [left, right].map(|place| block.tables[place.table].base());
            let [Some(a), Some(b)] = tables else { continue };
            if has_index(block, left, a) || has_index(block, right, b) || small(a) || small(b) {
                continue;
            }
            if index::is_one_row(block, left.table) || index::is_one_row(block, right.table) {
                continue;
            }
            let alias = |place: ColumnPlace| block.tables[place.table].alias.clone();
            let buffered = context.explain.map(|explain| {
                let names = [alias(left), alias(right)];
                explain
                    .rows
                    .iter()
                    .any(|row| names.contains(&row.table) && row.extra.contains("join buffer"))
            });
            if buffered == Some(false) {
                continue;
            }
            // The larger table gets the index.
            let target = if a.rows.unwrap_or(0) > b.rows.unwrap_or(0) {
                left
            } else {
                right
            };
            let Some(advice) = index::advise(block, target.table, &[target.column]) else {
                continue;
            };
            let name = |place: ColumnPlace| {
                let column = block
                    .column(place)
                    .map_or("", |column| column.name.as_str());
                format!("{}.{column}", alias(place))
            };
            let (confidence, because) = match (counted, buffered) {
                (Some(_), _) => (
                    Confidence::Certain,
                    "the server counted joins without an index, and the schema has none for these columns",
                ),
                (None, Some(_)) => (
                    Confidence::Certain,
                    "the server's EXPLAIN shows a join buffer, and the schema has no index",
                ),
                (None, None) => (
                    Confidence::Likely,
                    "the schema has no index for either column",
                ),
            };
            let mut change = index_change(&advice, "the join");
            // A hash join reads each table once, and may be faster.
            change.is_uncertain = context.server.has_hash_joins();
            findings.push(Finding {
                cause: Cause::JoinWithoutIndex,
                confidence,
                because: because.to_owned(),
                evidence: format!("neither {} nor {} has an index, so that one table is read whole for the rows of the other", name(left), name(right)),
                changes: vec![change],
                gain: format!("{} read {} rows in {}", runs(context.digest.runs), context.digest.rows_examined, seconds(context.digest.seconds)),
            });
        }
    }
}

fn has_index(_block: &Block, place: ColumnPlace, table: &Table) -> bool {
    table.indexes.iter().any(|index| {
        index
            .parts
            .first()
            .is_some_and(|(column, _)| *column == Some(place.column))
    })
}

fn small(table: &Table) -> bool {
    table.rows.is_some_and(|rows| rows < ROWS_MIN)
}

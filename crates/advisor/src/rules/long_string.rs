//! Rule for strings of more than 512 characters (`CONVERT_IF_BIGGER_TO_BLOB`): the cause in article
//! 1.

use super::blob;
use super::context::{Context, list_of};
use super::size_limit::characters_that_fit;
use crate::finding::{Cause, Change, ChangeKind, Finding};
use crate::rewrite;
use crate::server::LONG_STRING_CHARACTERS;
use crate::statement::{Block, Value};
use crate::temp_tables::{Held, TemporaryTable};

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let values = context.disk_values(Held::is_long);
    let Some((first, held)) = values.first() else {
        return;
    };
    let longest = values
        .iter()
        .filter_map(|(_, held)| held.value.characters())
        .max()
        .unwrap_or(0);
    let evidence = format!(
        "{} may have {longest} characters by its declaration; more than {LONG_STRING_CHARACTERS} make it a BLOB, which {} keeps on disk, however short the values are",
        list_of(values.iter().map(|(_, held)| &held.expr)),
        context.server.name
    );
    let mut finding = context.finding(Cause::LongString, first.strength, evidence);
    for (table, held) in &values {
        if let Some(block) = context.block(table) {
            finding
                .changes
                .extend(shorter_columns(context, table, block, held));
        }
    }
    let text = held.expr.to_string();
    let is_subquery = text.trim_start().starts_with('(');
    let most = characters_that_fit(context, first, held, LONG_STRING_CHARACTERS, bytes_of(held));
    if let Some(sql) = context.text().filter(|_| !is_subquery)
        && let Some(most) = most
        && let Some(sql) = rewrite::with_expression(sql, &text, &format!("LEFT({text}, {most})"))
    {
        finding.changes.push(
            Change::new(
                ChangeKind::Rewrite,
                sql,
                format!("the value is cut to {most} characters and stays in memory"),
            )
            .at_risk(format!(
                "values that differ only behind {most} characters become one"
            )),
        );
    }
    findings.push(finding);
}

/// Bytes of the longest character of a value.
fn bytes_of(held: &Held) -> u64 {
    match held.value {
        Value::Text {
            bytes_per_character,
            ..
        } => bytes_per_character,
        _ => 4,
    }
}

/// Columns whose declaration could be shortened so that the value becomes short enough.
fn shorter_columns(
    context: &Context<'_>,
    table: &TemporaryTable,
    block: &Block,
    held: &Held,
) -> Vec<Change> {
    // A subquery reads its columns in its own block.
    let mut places: Vec<(&Block, crate::statement::ColumnPlace)> = block
        .columns_of([&held.expr])
        .into_iter()
        .map(|place| (block, place))
        .collect();
    for inner in &context.statement.blocks {
        if matches!(inner.role, crate::statement::Role::Subquery(_))
            && held.expr.to_string().contains(&inner.select.to_string())
        {
            places.extend(
                inner
                    .columns_of(inner.items())
                    .into_iter()
                    .map(|place| (inner, place)),
            );
        }
    }
    let characters = |block: &Block, place| {
        let column = block.column(place)?;
        crate::statement::Value::of(&column.ty).characters()
    };
    let bytes = bytes_of(held);
    let total: u64 = held.value.characters().unwrap_or(0);
    let mut changes: Vec<(f64, Change)> = Vec::new();
    for (block, place) in places {
        let Some(own) = characters(block, place) else {
            continue;
        };
        // The length of the rest of the expression is unchanged.
        let others = total.saturating_sub(own);
        let room = characters_that_fit(context, table, held, LONG_STRING_CHARACTERS, bytes)
            .and_then(|most| most.checked_sub(others));
        let Some(room) = room.filter(|room| *room >= 16 && *room < own) else {
            continue;
        };
        let kept = room as f64 / own as f64;
        changes.extend(blob::alter(block, place, room).map(|change| (kept, change)));
    }
    // The column that keeps most of its length is the least likely to hold longer values.
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    changes.into_iter().map(|(_, change)| change).collect()
}

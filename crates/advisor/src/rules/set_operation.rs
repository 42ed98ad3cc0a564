//! Rule for UNION and other set operations.

use mayfly_syntax::ast::{Expr, Value};

use super::context::Context;
use crate::finding::{Cause, Change, ChangeKind, Confidence, Finding};
use crate::rewrite;
use crate::statement::{Block, SetOperation};
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables {
        let Purpose::SetOperation(number) = table.purpose else {
            continue;
        };
        let Some(operation) = context.statement.set_operations.get(number) else {
            continue;
        };
        if operation.all || operation.name != "UNION" {
            findings.push(other(context, operation, table.strength));
            continue;
        }
        let evidence =
            "UNION keeps the rows of all arms in a table with a unique index, to remove duplicates";
        let mut finding = context.finding(Cause::UnionDistinct, table.strength, evidence);
        let is_same = are_disjoint(context, operation);
        if let Some(sql) = context
            .text()
            .filter(|_| is_same)
            .and_then(rewrite::union_all)
        {
            let does = "rows are sent as they come, without a table; no row can be in two arms, nor twice in one, so that the result is the same";
            let mut change = Change::new(ChangeKind::Rewrite, sql, does);
            if operation.ordered {
                change = change.at_risk("the ORDER BY over the union still needs a table");
            }
            finding.changes.push(change);
        } else {
            finding.confidence = finding.confidence.min(Confidence::Likely);
            finding.changes.push(Change::advice(
                "use UNION ALL wherever no row can be in two arms, nor twice in one: it sends rows as they come, without a \
                 table, and gives others several times",
            ));
        }
        findings.push(finding);
    }
}

fn other(
    context: &Context<'_>,
    operation: &SetOperation,
    strength: crate::temp_tables::Strength,
) -> Finding {
    let evidence = if operation.all {
        "ORDER BY over a UNION ALL keeps the rows of all arms, to sort them".to_owned()
    } else {
        format!(
            "{} keeps the rows of its first arm in a table",
            operation.name
        )
    };
    let mut finding = context.finding(Cause::SetOperation, strength, evidence);
    finding.changes.push(Change::advice(match operation.name {
        "INTERSECT" => "EXISTS or IN over an index finds the same rows without a table, except for duplicates and NULLs",
        "EXCEPT" => "NOT EXISTS over an index finds the same rows without a table, except for duplicates and NULLs",
        _ => "give each arm an ORDER BY … LIMIT of its own, so that few rows are kept",
    }));
    finding
}

/// Whether no row can occur in two of the arms, nor twice in one of them.
fn are_disjoint(context: &Context<'_>, operation: &SetOperation) -> bool {
    let blocks: Option<Vec<&Block>> = operation
        .blocks
        .iter()
        .map(|number| context.statement.blocks.get(*number))
        .collect();
    let Some(blocks) = blocks else { return false };
    let [first, second] = blocks.as_slice() else {
        return false;
    };
    has_unique_rows(first)
        && has_unique_rows(second)
        && (differ_in_constant(first, second) || differ_in_condition(first, second))
}

/// Whether a single table's unique key is in the select list.
fn has_unique_rows(block: &Block) -> bool {
    let [table] = block.tables.as_slice() else {
        return false;
    };
    let Some(source) = table.base().filter(|_| block.group_by.is_empty()) else {
        return false;
    };
    let columns: Vec<usize> = block
        .items()
        .filter_map(|item| block.place(item))
        .map(|place| place.column)
        .collect();
    source
        .indexes
        .iter()
        .filter(|index| index.unique && !index.parts.is_empty())
        .any(|index| {
            index.parts.iter().all(|(column, prefix)| {
                prefix.is_none()
                    && column.is_some_and(|column| {
                        columns.contains(&column) && !source.columns[column].nullable
                    })
            })
        })
}

/// Whether items at the same position are two different constants.
fn differ_in_constant(first: &Block, second: &Block) -> bool {
    first
        .items()
        .zip(second.items())
        .any(|(a, b)| match (a, b) {
            (Expr::Value(a), Expr::Value(b)) => {
                let text = |value: &Value| value.to_string().to_lowercase();
                text(a) != text(b) && text(a) != "null" && text(b) != "null" && text(a) != "?"
            }
            _ => false,
        })
}

/// Whether one column of one table must equal two different constants.
fn differ_in_condition(first: &Block, second: &Block) -> bool {
    let table = |block: &Block| {
        block.tables.first().and_then(|table| {
            table
                .base()
                .map(|table| (table.database.clone(), table.name.clone()))
        })
    };
    if table(first).is_none() || table(first) != table(second) {
        return false;
    }
    let fixed = |block: &Block| -> Vec<(usize, String)> {
        let pairs = block
            .conditions
            .iter()
            .filter_map(|condition| match condition {
                Expr::BinaryOp {
                    left,
                    op: mayfly_syntax::ast::BinaryOperator::Eq,
                    right,
                } => {
                    let place = block.place(left)?;
                    matches!(**right, Expr::Value(_))
                        .then(|| (place.column, right.to_string().to_lowercase()))
                }
                _ => None,
            });
        pairs.collect()
    };
    let others = fixed(second);
    fixed(first).iter().any(|(column, value)| {
        others
            .iter()
            .any(|(other, theirs)| column == other && value != theirs)
    })
}

//! Number of groups.

use mayfly_functions::scalar::Fact;
use mayfly_functions::{ScalarFunction, scalar};
use mayfly_types::Value;

use super::columns::Columns;
use super::example_rows;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Computed};

/// Number of groups by unknown keys, as a fraction of the rows.
const GROUPS: f64 = 0.5;

/// Number of values up to which the result size of a function is not estimated.
const FEW: f64 = 16.0;

/// Maximum number of distinct values of an expression, if known.
pub(crate) fn distinct_of(columns: &dyn Columns, expression: &Expression) -> Option<f64> {
    match &expression.kind {
        ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) => Some(1.0),
        ExpressionKind::Column(id) => Some(columns.distinct(*id)? * columns.left_values(*id)),
        ExpressionKind::Cast(inner, _) => distinct_of(columns, inner),
        ExpressionKind::Compare { .. }
        | ExpressionKind::And(_)
        | ExpressionKind::Or(_)
        | ExpressionKind::Not(_)
        | ExpressionKind::IsNull(_)
        | ExpressionKind::IsTruth(..)
        | ExpressionKind::InList { .. } => Some(2.0),
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            let results = branches.iter().map(|(_, result)| result);
            let results = results.chain(otherwise.as_deref());
            let counts: Option<Vec<f64>> =
                results.map(|result| distinct_of(columns, result)).collect();
            Some(counts?.iter().sum())
        }
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } => {
            let of_arguments: Option<Vec<f64>> = arguments
                .iter()
                .map(|argument| distinct_of(columns, argument))
                .collect();
            let of_arguments = of_arguments.map(|all| all.iter().product::<f64>());
            // EXTRACT() has the values of the function that its unit names.
            let part = match arguments.first().map(|first| &first.kind) {
                Some(ExpressionKind::Literal(Value::Bytes(unit)))
                    if function.has(Fact::ExtractsPart) =>
                {
                    std::str::from_utf8(unit).ok().and_then(scalar::by_name)
                }
                _ => function.built_in(),
            };
            let most = part.and_then(ScalarFunction::distinct_values_max);
            let is_year = part.is_some_and(|part| part.has(Fact::YearOfDate));
            match (of_arguments, most) {
                (Some(all), Some(most)) => Some(all.min(most.into())),
                (None, Some(most)) => Some(most.into()),
                // Days per year, approximately.
                (Some(all), None) if is_year => Some((all / 300.0).max(1.0)),
                (Some(all), None) if all <= FEW => Some(all),
                (all, None) => match example_rows::distinct(columns, expression) {
                    Some(seen) => {
                        let read = expression.columns();
                        let left: f64 = read.iter().map(|id| columns.left_values(id)).product();
                        Some(all.map_or(seen * left, |all| all.min(seen * left)))
                    }
                    None => all,
                },
            }
        }
        _ => None,
    }
}

/// Expected number of distinct values among `rows` rows drawn with replacement from `distinct` values.
pub(crate) fn met(distinct: f64, rows: f64) -> f64 {
    if distinct <= 1.0 {
        return distinct.min(rows);
    }
    // Cardenas' formula.
    let met = distinct * (1.0 - (rows * (-1.0 / distinct).ln_1p()).exp());
    met.clamp(0.0, distinct.min(rows))
}

/// Expected number of distinct values among `rows` of the `all` rows of a table with `distinct` values.
pub(crate) fn drawn(distinct: f64, rows: f64, all: f64) -> f64 {
    if rows >= all {
        return distinct;
    }
    // A value is missing if all of its rows are (Yao's formula, approximated for any number of rows per value).
    let missing = (1.0 - rows / all).powf(all / distinct.max(1.0));
    (distinct * (1.0 - missing)).clamp(0.0, distinct.min(rows))
}

/// Number of groups of `rows` rows by `keys`, of which at most `first_groups` are wanted.
pub(crate) fn grouped(
    columns: &dyn Columns,
    rows: f64,
    keys: &[Computed],
    first_groups: Option<u64>,
) -> f64 {
    if keys.is_empty() {
        return 1.0;
    }
    // Whether nothing is known about a key.
    let mut is_unknown = false;
    // For each table: number of distinct values of its key columns, and whether these identify its rows.
    let mut tables: Vec<(ColumnId, f64, Vec<usize>, Vec<f64>)> = Vec::new();
    let mut others: Vec<f64> = Vec::new();
    // Fraction of the tables' rows that conditions on the keys leave.
    let mut left_rows = 1.0;
    for key in keys {
        let column = match key.expression.kind {
            ExpressionKind::Column(id) => columns.table(columns.origin(id)).map(|at| (id, at)),
            _ => None,
        };
        match column {
            Some((id, (table, column))) => match table.column(column) {
                Some(facts) => {
                    let nulls = f64::from(u8::from(facts.null_fraction > 0.0));
                    let left = columns.left_values(columns.origin(id));
                    let distinct = facts.distinct * left + nulls;
                    left_rows *= left;
                    match tables.iter_mut().find(|(first, ..)| *first == table.first) {
                        Some((_, _, known, all)) => {
                            known.push(column);
                            all.push(distinct);
                        }
                        None => {
                            let rows = table.rows();
                            tables.push((table.first, rows, vec![column], vec![distinct]));
                        }
                    }
                    continue;
                }
                None => is_unknown = true,
            },
            None => match columns
                .distinct(key.id)
                .or_else(|| distinct_of(columns, &key.expression))
            {
                Some(distinct) => others.push(distinct),
                None => is_unknown = true,
            },
        }
    }
    let mut groups = if is_unknown {
        (rows * GROUPS).max(rows.min(1.0))
    } else {
        let only_table = match (tables.as_slice(), others.is_empty()) {
            ([(_, table_rows, ..)], true) => Some(*table_rows * left_rows),
            _ => None,
        };
        let mut all: Vec<f64> = others;
        for (first, table_rows, known, distinct) in tables {
            // Columns of one table have at most as many combinations as it has rows.
            let table = columns.table(first).map(|(table, _)| table);
            let is_key = table.as_ref().is_some_and(|table| table.is_unique(&known));
            let together = table.and_then(|table| table.distinct_together(&known));
            all.push(match together {
                _ if is_key => table_rows,
                Some(together) if known.len() > 1 => together,
                _ => product(distinct).min(table_rows),
            });
        }
        let groups = match only_table {
            Some(table_rows) => drawn(product(all), rows, table_rows),
            None => met(product(all), rows),
        };
        groups.min(rows).max(rows.min(1.0))
    };
    if let Some(first) = first_groups {
        groups = groups.min(first as f64);
    }
    groups
}

/// Number of combinations of values: with many columns, fewer than the product.
fn product(mut distinct: Vec<f64>) -> f64 {
    distinct.sort_unstable_by(|a, b| b.total_cmp(a));
    let power = |at: usize| 0.5_f64.powi(at.saturating_sub(1).min(8) as i32);
    let damped = distinct.iter().enumerate();
    damped
        .map(|(at, distinct)| distinct.max(1.0).powf(power(at)))
        .product()
}

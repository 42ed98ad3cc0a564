//! Selectivity: the fraction of rows for which predicates are true.
//!
//! Conjuncts on one column are brought into ranges of its values, as for an index over that column alone
//! ([`crate::access::analysis`]), and the statistics are asked for these. Conditions that are not ranges are evaluated
//! over example rows ([`super::example_rows`]), and so are conditions on several columns of a table, which are often
//! correlated. Where few example rows match, the prior estimate matters: the strictest two conditions count in full,
//! the next ones with roots ("exponential backoff", as in SQL Server, which takes roots from the second one on).

use std::ops::Bound;
use std::sync::Arc;

use mayfly_functions::scalar::Fact;
use mayfly_types::{IndexMethod, SqlMode, SqlType, Value};

use super::columns::{ColumnFacts, Columns, TableFacts};
use super::{example_rows, having};
use crate::access::analysis::analyse;
use crate::access::constant::known_value;
use crate::access::key_ranges::{Condition, KeyRanges};
use crate::asked::ColumnRanges;
use crate::catalog::{IndexPartSource, IndexSource, ValueRange};
use crate::statistics::{ColumnStatistics, Point};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, free_columns, with_stack};

/// Selectivities of an equality, an inequality, a range and LIKE on a column without statistics.
const EQUAL: f64 = 0.1;
const NOT_EQUAL: f64 = 0.9;
const RANGE: f64 = 0.3333;
const LIKE: f64 = 0.1111;
const UNKNOWN: f64 = 0.5;

/// Selectivity of a predicate.
pub(crate) fn of(columns: &dyn Columns, predicate: &Expression) -> f64 {
    of_conjunction(columns, std::slice::from_ref(predicate))
}

/// Selectivity of a conjunction of predicates.
pub(crate) fn of_conjunction(columns: &dyn Columns, predicates: &[Expression]) -> f64 {
    with_stack(|| match predicates {
        [] => 1.0,
        [
            Expression {
                kind: ExpressionKind::And(operands),
                ..
            },
        ] => of_conjunction(columns, operands),
        _ => conjunction(columns, predicates),
    })
}

fn conjunction(columns: &dyn Columns, predicates: &[Expression]) -> f64 {
    let tables = |predicate: &Expression| {
        let read = predicate.columns();
        let tables = read
            .iter()
            .map(|id| columns.table(id).map(|(table, _)| table.first));
        let mut tables: Vec<Option<ColumnId>> = tables.collect();
        tables.sort_unstable();
        tables.dedup();
        tables
    };
    if predicates.len() == 1 {
        return of_one_table(columns, predicates);
    }
    let mut parts: Vec<(Vec<Option<ColumnId>>, Vec<usize>)> = Vec::new();
    for (number, predicate) in predicates.iter().enumerate() {
        let tables = tables(predicate);
        match parts.iter_mut().find(|(known, _)| *known == tables) {
            Some((_, part)) => part.push(number),
            None => parts.push((tables, vec![number])),
        }
    }
    if parts.len() == 1 {
        return of_one_table(columns, predicates);
    }
    // Conditions on different tables are assumed to be independent.
    let parts = parts.into_iter().map(|(_, part)| {
        let part = part.into_iter().map(|number| predicates[number].clone());
        of_one_table(columns, &part.collect::<Vec<_>>())
    });
    parts.product()
}

/// Selectivity of conditions on one set of tables.
fn of_one_table(columns: &dyn Columns, predicates: &[Expression]) -> f64 {
    let mut counted = vec![false; predicates.len()];
    let mut fractions = Vec::with_capacity(predicates.len());
    let mut seen: Vec<ColumnId> = Vec::new();
    for (at, predicate) in predicates.iter().enumerate() {
        if counted[at] || matches!(predicate.kind, ExpressionKind::Literal(_)) {
            continue;
        }
        let Some(id) = only_column(predicate).filter(|id| !seen.contains(id)) else {
            continue;
        };
        seen.push(id);
        let Some(ranges) = ranges_of(columns, id, predicates) else {
            continue;
        };
        let mut is_counted = false;
        for (counted, by_ranges) in counted.iter_mut().zip(&ranges.counted) {
            is_counted |= *by_ranges && !*counted;
            *counted |= *by_ranges;
        }
        if is_counted {
            fractions.push(ranges.fraction);
        }
    }
    let open = predicates.iter().zip(&counted);
    let open = open.filter(|(_, counted)| !**counted);
    fractions.extend(open.map(|(predicate, _)| {
        example_rows::fraction(columns, std::slice::from_ref(predicate))
            .or_else(|| having::fraction(columns, predicate))
            .unwrap_or_else(|| single(columns, predicate))
    }));
    let thought = together(&mut fractions);
    if fractions.len() > 1 {
        return example_rows::fraction_together(columns, predicates, thought).unwrap_or(thought);
    }
    thought
}

/// Ranges of the values of a column that conditions leave, if any condition is on it.
fn ranges_of(
    columns: &dyn Columns,
    id: ColumnId,
    predicates: &[Expression],
) -> Option<Arc<ColumnRanges>> {
    let (table, column) = columns.table(id)?;
    // The predicates use the number of the column.
    let first = id.checked_sub(column)?;
    let find = || {
        let facts = table.column_with_values(column)?;
        let analysis = analyse(predicates, &table.source, first, &index_over(column), &[])?;
        let ty = &table.source.columns[column].ty;
        Some(Arc::new(ColumnRanges {
            fraction: of_ranges(&facts, ty, &analysis.ranges),
            counted: analysis.counted,
        }))
    };
    match &table.statistics {
        Some(asked) => asked.column_ranges.get(id, predicates, find),
        None => find(),
    }
}

/// Combined selectivity of conditions with these selectivities.
fn together(fractions: &mut [f64]) -> f64 {
    fractions.sort_unstable_by(f64::total_cmp);
    let power = |at: usize| 0.5_f64.powi(at.saturating_sub(1).min(8) as i32);
    let damped = fractions.iter().enumerate();
    damped
        .map(|(at, fraction)| fraction.clamp(0.0, 1.0).powf(power(at)))
        .product()
}

/// A hypothetical index over a single column.
fn index_over(column: usize) -> IndexSource {
    IndexSource {
        id: None,
        name: String::new(),
        parts: vec![IndexPartSource {
            column,
            prefix: None,
            descending: false,
            approximate: false,
            elements: None,
        }],
        unique: false,
        method: IndexMethod::BTree,
        visible: false,
        covers: Vec::new(),
    }
}

/// The column that a predicate reads, if it is only one.
fn only_column(predicate: &Expression) -> Option<ColumnId> {
    let columns = predicate.columns();
    let mut columns = columns.iter();
    let first = columns.next()?;
    columns.next().is_none().then_some(first)
}

/// Fraction of the rows whose value is in the ranges.
fn of_ranges(facts: &ColumnFacts, ty: &SqlType, ranges: &KeyRanges) -> f64 {
    let mut value_of = |value: &Expression| Ok(known_value(value, &[], SqlMode::DEFAULT));
    let any = (1.0 - facts.null_fraction) / facts.distinct.max(1.0);
    if let Ok(Some(known)) = ranges.resolve_usual(&mut value_of) {
        return of_value_ranges(facts, ty, &known);
    }
    let boxes = ranges.boxes.iter().map(|one| {
        let conditions = one.parts.first().map_or(&[][..], Vec::as_slice);
        let points = conditions.iter().filter(|one| one.is_points(ty));
        match points.map(Condition::point_count).min() {
            Some(points) => any * points as f64,
            None => RANGE.powi(conditions.len().min(2) as i32),
        }
    });
    boxes.sum::<f64>().clamp(0.0, 1.0)
}

/// Selectivity of known value ranges of a column.
pub(crate) fn of_value_ranges(facts: &ColumnFacts, ty: &SqlType, ranges: &[ValueRange]) -> f64 {
    let any = (1.0 - facts.null_fraction) / facts.distinct.max(1.0);
    let parts = ranges.iter().map(|range| match &facts.statistics {
        Some(statistics) => of_range(statistics, ty, range, any),
        None => of_range_unseen(facts, range, any),
    });
    parts.sum::<f64>().clamp(0.0, 1.0)
}

/// Value of a bound.
fn bound_of(bound: &Bound<Vec<Value>>) -> Bound<Option<&Value>> {
    match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(values) => Bound::Included(values.first()),
        Bound::Excluded(values) => Bound::Excluded(values.first()),
    }
}

fn of_range(statistics: &ColumnStatistics, ty: &SqlType, range: &ValueRange, any: f64) -> f64 {
    let nulls = statistics.null_fraction;
    let (start, end) = (bound_of(&range.start), bound_of(&range.end));
    match (start, end) {
        (Bound::Included(Some(Value::Null)), Bound::Included(Some(Value::Null))) => return nulls,
        (Bound::Included(Some(a)), Bound::Included(Some(b))) if a == b => {
            return Point::of(a, ty).map_or(any, |point| statistics.equal(&point));
        }
        _ => {}
    }
    let point = |bound: Bound<Option<&Value>>| match bound {
        Bound::Unbounded | Bound::Included(None) | Bound::Excluded(None) => Some(Bound::Unbounded),
        Bound::Included(Some(Value::Null)) | Bound::Excluded(Some(Value::Null)) => {
            Some(Bound::Unbounded)
        }
        Bound::Included(Some(value)) => Point::of(value, ty).map(Bound::Included),
        Bound::Excluded(Some(value)) => Point::of(value, ty).map(Bound::Excluded),
    };
    let with_nulls = match start {
        Bound::Unbounded | Bound::Included(Some(Value::Null)) => nulls,
        _ => 0.0,
    };
    let (Some(low), Some(high)) = (point(start), point(end)) else {
        return RANGE;
    };
    (statistics.between(low.as_ref(), high.as_ref()) + with_nulls).min(1.0)
}

/// Selectivity of a range of a column of which only the number of distinct values is known.
fn of_range_unseen(facts: &ColumnFacts, range: &ValueRange, any: f64) -> f64 {
    let is_value = |bound: Bound<Option<&Value>>| {
        let (Bound::Included(value) | Bound::Excluded(value)) = bound else {
            return false;
        };
        value.is_some_and(|value| !value.is_null())
    };
    let (start, end) = (bound_of(&range.start), bound_of(&range.end));
    match (start, end) {
        (Bound::Included(a), Bound::Included(b)) if a == b => match a {
            Some(Value::Null) => facts.null_fraction.max(any),
            _ => any,
        },
        _ => match (is_value(start), is_value(end)) {
            (true, true) => RANGE * RANGE,
            (false, false) => 1.0 - facts.null_fraction,
            _ => RANGE,
        },
    }
}

/// Selectivity of a predicate that cannot be expressed as ranges.
fn single(columns: &dyn Columns, predicate: &Expression) -> f64 {
    let fraction = match &predicate.kind {
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => match comparison {
            Comparison::Equal | Comparison::NullSafeEqual => equality(columns, left, right),
            Comparison::NotEqual => {
                let equal = equality(columns, left, right);
                (1.0 - equal).min(NOT_EQUAL.max(1.0 - 2.0 * equal))
            }
            _ => RANGE,
        },
        ExpressionKind::And(operands) => of_conjunction(columns, operands),
        ExpressionKind::Or(operands) => disjunction(columns, operands),
        ExpressionKind::Not(operand) => {
            let nulls = only_column(operand)
                .and_then(|id| columns.facts(id))
                .map_or(0.0, |facts| facts.null_fraction);
            match operand.kind {
                ExpressionKind::IsNull(_) => 1.0 - of(columns, operand),
                _ => 1.0 - nulls - of(columns, operand),
            }
        }
        ExpressionKind::IsNull(operand) => match &operand.kind {
            ExpressionKind::Column(id) => {
                let facts = columns
                    .facts(*id)
                    .filter(|facts| facts.statistics.is_some());
                facts.map_or(EQUAL, |facts| facts.null_fraction)
            }
            _ => EQUAL,
        },
        ExpressionKind::IsTruth(operand, Some(true)) => of(columns, operand),
        ExpressionKind::IsTruth(operand, Some(false)) => 1.0 - of(columns, operand),
        ExpressionKind::InList {
            operand,
            list,
            negated,
        } => {
            let distinct = super::groups::distinct_of(columns, operand);
            let each = distinct.map_or(EQUAL, |distinct| 1.0 / distinct.max(1.0));
            let found = (list.len() as f64 * each).min(0.5);
            if *negated { 1.0 - found } else { found }
        }
        ExpressionKind::Literal(value) => match value {
            Value::Int(0) | Value::Null => 0.0,
            _ => 1.0,
        },
        ExpressionKind::Call { function, .. } if function.has(Fact::Like) => LIKE,
        _ => UNKNOWN,
    };
    fraction.clamp(0.0, 1.0)
}

fn disjunction(columns: &dyn Columns, operands: &[Expression]) -> f64 {
    let none: f64 = operands
        .iter()
        .map(|operand| 1.0 - of(columns, operand))
        .product();
    1.0 - none
}

/// Fraction of rows, or of pairs of rows, for which two expressions are equal.
pub(crate) fn equality(columns: &dyn Columns, left: &Expression, right: &Expression) -> f64 {
    let facts = |side: &Expression| {
        let id = crate::access::analysis::key_column(side)?;
        columns.facts(id)
    };
    let (a, b) = (facts(left), facts(right));
    if let (Some(a), Some(b)) = (&a, &b) {
        if let (Some(x), Some(y)) = (&a.statistics, &b.statistics)
            && left.ty.physical() == right.ty.physical()
            && (!left.ty.is_string() || left.ty.collation == right.ty.collation)
        {
            return x.equal_pairs(a.distinct, y, b.distinct);
        }
        let valued = (1.0 - a.null_fraction) * (1.0 - b.null_fraction);
        return valued / a.distinct.max(b.distinct);
    }
    // A comparison of rows with an aggregate of their own group.
    let is_of_group = |side: &Expression| match &side.kind {
        ExpressionKind::Column(id) => columns.is_extreme(*id),
        ExpressionKind::LogicalSubquery(subquery) => !free_columns(&subquery.relation).is_empty(),
        _ => false,
    };
    if is_of_group(left) || is_of_group(right) {
        return EQUAL;
    }
    let distinct = |side: &Expression| match side.kind {
        ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) => None,
        _ => super::groups::distinct_of(columns, side),
    };
    match (distinct(left), distinct(right)) {
        (Some(a), Some(b)) => 1.0 / a.max(b).max(1.0),
        (Some(one), None) | (None, Some(one)) => 1.0 / one.max(1.0),
        (None, None) => {
            // Each row of the larger table is assumed to have one partner.
            let rows = |side: &Expression| {
                let (table, _) = columns.table(crate::access::analysis::key_column(side)?)?;
                Some((table.first, table.rows()))
            };
            match (rows(left), rows(right)) {
                (Some((a, x)), Some((b, y))) if a != b => 1.0 / x.min(y).max(1.0),
                _ => EQUAL,
            }
        }
    }
}

/// Rows per key of some columns of a table, without NULLs.
pub(crate) fn rows_per_key(table: &TableFacts, columns: &[usize]) -> Option<f64> {
    let singles = columns.iter().map(|column| table.column(*column));
    let singles: Vec<ColumnFacts> = singles.collect::<Option<_>>()?;
    let valued: f64 = singles
        .iter()
        .map(|facts| 1.0 - facts.null_fraction)
        .product();
    let most = singles.iter().map(|facts| facts.distinct).product::<f64>();
    let least = singles
        .iter()
        .map(|facts| facts.distinct)
        .fold(1.0, f64::max);
    let distinct = match (columns, table.distinct_together(columns)) {
        ([_], _) | (_, None) => (least * (most / least).sqrt()).min(table.rows()),
        (_, Some(known)) => known.clamp(least, most.max(least)),
    };
    Some(table.rows() * valued / distinct.max(1.0))
}

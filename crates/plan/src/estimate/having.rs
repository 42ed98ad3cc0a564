//! Selectivity of conditions on aggregates: the fraction of groups with a sum, an average or a count beyond a value.
//!
//! Values are assumed to be independent of their groups, so that by the central limit theorem aggregates of groups of
//! one size are approximately normally distributed. The group sizes are those observed where equal keys are adjacent,
//! and else those of a random distribution. Reports often ask for rare groups (`HAVING SUM(quantity) > 300`), where a
//! fixed fraction would be wrong by orders of magnitude.

use arrow_array::{Array, ArrayRef};
use mayfly_functions::aggregate::Kind;
use mayfly_types::convert::array_value;
use mayfly_types::{SqlMode, SqlType};

use super::columns::{AggregateFacts, Columns};
use crate::access::constant::known_value;
use crate::statistics::Point;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::ColumnId;

/// (mean, standard deviation) of an aggregate over all groups.
fn distribution(columns: &dyn Columns, facts: &AggregateFacts) -> Option<(f64, f64)> {
    let rows = facts.group_rows.max(1.0);
    if facts.kind == Kind::Count {
        return Some((rows, rows.sqrt()));
    }
    let (id, ty) = facts.column.as_ref()?;
    let (mean, variance) = moments(columns, *id, ty)?;
    Some(match facts.kind {
        Kind::Sum => (mean * rows, (rows * (variance + mean * mean)).sqrt()),
        _ => (mean, (variance / rows).sqrt()),
    })
}

/// Fraction of the groups whose aggregate is above a value.
fn above(columns: &dyn Columns, facts: &AggregateFacts, value: f64) -> Option<f64> {
    let part =
        |mean: f64, deviation: f64| normal_above((value - mean) / deviation.max(f64::MIN_POSITIVE));
    if facts.sizes.is_empty() || facts.kind == Kind::Avg {
        let (mean, deviation) = distribution(columns, facts)?;
        return Some(part(mean, deviation));
    }
    let (mean, variance) = match (&facts.column, facts.kind) {
        (_, Kind::Count) => (1.0, 0.0),
        (Some((id, ty)), _) => moments(columns, *id, ty)?,
        (None, _) => return None,
    };
    let of_size = |(rows, share): &(f64, f64)| share * part(mean * rows, (variance * rows).sqrt());
    Some(facts.sizes.iter().map(of_size).sum())
}

/// (mean, variance) of the values of a column.
fn moments(columns: &dyn Columns, id: ColumnId, ty: &SqlType) -> Option<(f64, f64)> {
    let (table, column) = columns.table(id)?;
    let find = || {
        let statistics = table.column_with_values(column)?.statistics?;
        moments_of(statistics.examples()?, ty)
    };
    let asked = table.statistics.as_ref()?;
    asked.moments.get(column, &[], find)
}

fn moments_of(values: &ArrayRef, ty: &SqlType) -> Option<(f64, f64)> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for row in 0..values.len() {
        if let Some(Point::Number(value)) = Point::of(&array_value(values, row), ty) {
            count += 1.0;
            sum += value;
            squares += value * value;
        }
    }
    (count > 0.0).then(|| {
        let mean = sum / count;
        (mean, (squares / count - mean * mean).max(0.0))
    })
}

/// Fraction of groups for which a comparison of an aggregate with a constant is true.
pub(crate) fn fraction(columns: &dyn Columns, predicate: &Expression) -> Option<f64> {
    let ExpressionKind::Compare {
        comparison,
        left,
        right,
    } = &predicate.kind
    else {
        return None;
    };
    of_sides(columns, left, *comparison, right)
        .or_else(|| of_sides(columns, right, comparison.mirrored(), left))
}

fn of_sides(
    columns: &dyn Columns,
    aggregate: &Expression,
    comparison: Comparison,
    value: &Expression,
) -> Option<f64> {
    let id = column_of(aggregate)?;
    let facts = columns.aggregate(id)?;
    let value = known_value(value, &[], SqlMode::DEFAULT)?;
    let Point::Number(value) = Point::of(&value, &aggregate.ty)? else {
        return None;
    };
    // Counts are integers: move the value between two of them.
    let value = match (facts.kind, comparison) {
        (Kind::Count, Comparison::Greater | Comparison::LessOrEqual) => value.floor() + 0.5,
        (Kind::Count, Comparison::GreaterOrEqual | Comparison::Less) => value.ceil() - 0.5,
        _ => value,
    };
    let above = above(columns, &facts, value)?;
    let fraction = match comparison {
        Comparison::Greater | Comparison::GreaterOrEqual => above,
        Comparison::Less | Comparison::LessOrEqual => 1.0 - above,
        _ => return None,
    };
    // Real groups are less regular: some are always above.
    Some(fraction.clamp(0.5 / facts.groups.max(1.0), 1.0))
}

/// The column that an expression is, seen through conversions.
pub(crate) fn column_of(expression: &Expression) -> Option<ColumnId> {
    match &expression.kind {
        ExpressionKind::Column(id) => Some(*id),
        ExpressionKind::Cast(inner, _) => column_of(inner),
        _ => None,
    }
}

/// Upper tail of the normal distribution above `deviations` standard deviations (Abramowitz and Stegun, 26.2.17).
fn normal_above(deviations: f64) -> f64 {
    let x = deviations.abs();
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let series = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let sum = series
        .iter()
        .rev()
        .fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if deviations < 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::normal_above;

    #[test]
    fn the_tails_are_those_of_the_tables() {
        for (deviations, part) in [
            (0.0, 0.5),
            (1.0, 0.158_655),
            (-1.0, 0.841_345),
            (3.0, 0.001_35),
        ] {
            let found = normal_above(deviations);
            assert!((found - part).abs() < 1e-5, "{deviations}: {found}");
        }
    }
}

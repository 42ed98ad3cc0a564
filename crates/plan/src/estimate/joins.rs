//! Cardinality of joins.

use super::columns::{ColumnFacts, Columns, TableFacts};
use super::groups::drawn;
use super::selectivity;
use crate::access::analysis::key_column;
use crate::predicates::implied;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet};
use crate::tree::physical::JoinKind;

/// Minimum fraction of the left rows assumed to have no partner.
const ANTI_MIN: f64 = 0.02;
/// Fraction of left rows with a partner, when nothing is known.
const PARTNER: f64 = 0.5;

/// Cardinality of a join whose `left` rows form `pairs` pairs.
fn of_pairs(kind: JoinKind, left: f64, pairs: f64) -> f64 {
    match kind {
        JoinKind::Inner => pairs,
        JoinKind::Left => pairs.max(left),
        JoinKind::Semi => pairs.min(left),
        JoinKind::Anti | JoinKind::NullAwareAnti => (left - pairs).max(left * ANTI_MIN),
    }
}

/// Cardinality of an index lookup join that finds `found` right rows for each left row.
pub(crate) fn looked_up(kind: JoinKind, left: f64, found: f64) -> f64 {
    of_pairs(kind, left, left * found)
}

/// Cardinality of a lateral join whose right side gives `right` rows for each left row.
pub(crate) fn lateral(kind: JoinKind, left: f64, right: f64) -> f64 {
    of_pairs(kind, left, left * right.max(1.0))
}

/// Cardinality of a join of inputs of known cardinality, under its conditions and the pairs of NOT IN.
pub(crate) fn joined(
    columns: &dyn Columns,
    kind: JoinKind,
    (left, right): (f64, f64),
    right_columns: &ColumnSet,
    (on, null_aware): (&[Expression], &[(Expression, Expression)]),
) -> f64 {
    let partnered = || partnered(columns, right, right_columns, on, null_aware);
    match kind {
        JoinKind::Inner => left * right * of_conditions(columns, on),
        JoinKind::Left => {
            let pairs = left * right * of_conditions(columns, on);
            // Each left row comes out, whatever the estimates of pairs and of partners.
            (pairs + left * (1.0 - partnered())).max(left)
        }
        JoinKind::Semi => left * partnered(),
        JoinKind::Anti | JoinKind::NullAwareAnti => left * (1.0 - partnered()).max(ANTI_MIN),
    }
}

/// Both sides of an equality.
fn sides(predicate: &Expression) -> Option<(&Expression, &Expression)> {
    match &predicate.kind {
        ExpressionKind::Compare {
            comparison: Comparison::Equal | Comparison::NullSafeEqual,
            left,
            right,
        } => Some((left, right)),
        _ => None,
    }
}

/// The columns that an equality compares.
pub(super) fn columns_of_equality(predicate: &Expression) -> Option<(ColumnId, ColumnId)> {
    let (a, b) = sides(predicate)?;
    Some((key_column(a)?, key_column(b)?))
}

/// Selectivity of a condition on pairs of rows.
#[derive(Debug, Clone)]
pub(crate) enum PairCondition {
    /// Equality of columns of two tables.
    Link(Link),
    /// Selectivity of any other condition.
    Other(f64),
}

impl PairCondition {
    pub(crate) fn fraction(&self) -> f64 {
        match self {
            Self::Link(link) => link.fraction,
            Self::Other(fraction) => *fraction,
        }
    }

    pub(crate) fn of(columns: &dyn Columns, predicate: &Expression) -> Self {
        let link = sides(predicate).and_then(|(a, b)| {
            let (x, y) = (key_column(a)?, key_column(b)?);
            let find = || selectivity::equality(columns, a, b);
            (x != y).then(|| Link {
                columns: [columns.origin(x), columns.origin(y)],
                fraction: columns.equality([x, y], &find),
            })
        });
        link.map_or_else(|| Self::Other(of_other(columns, predicate)), Self::Link)
    }
}

/// Selectivity of a condition that is not an equality of two tables. The filters on single tables that follow from a
/// disjunction are already applied ([`crate::rules`], `derive_filters`): rows that they remove are not among the pairs.
fn of_other(columns: &dyn Columns, predicate: &Expression) -> f64 {
    let fraction = selectivity::of(columns, predicate);
    if !matches!(predicate.kind, ExpressionKind::Or(_)) {
        return fraction;
    }
    let read = predicate.columns();
    let mut tables: Vec<(ColumnId, ColumnSet)> = Vec::new();
    for id in read.iter() {
        let Some((table, _)) = columns.table(id) else {
            return fraction;
        };
        match tables.iter_mut().find(|(first, _)| *first == table.first) {
            Some((_, own)) => {
                own.insert(id);
            }
            None => tables.push((table.first, [id].into_iter().collect())),
        }
    }
    if tables.len() < 2 {
        return fraction;
    }
    let derived = tables.iter().filter_map(|(_, own)| implied(predicate, own));
    let passed: f64 = derived
        .map(|derived| selectivity::of(columns, &derived))
        .product();
    (fraction / passed.max(f64::MIN_POSITIVE)).min(1.0)
}

/// An equality of columns of two tables.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    columns: [ColumnId; 2],
    fraction: f64,
}

/// Selectivity of join conditions for pairs of rows.
///
/// Of redundant equalities (`a = b`, and `a = c` where `b = c` holds) only the strictest counts. Several equalities of
/// two tables are often on a key of one of them, and the key has no more values than its table has rows.
pub(crate) fn of_conditions(columns: &dyn Columns, on: &[Expression]) -> f64 {
    let conditions: Vec<PairCondition> = on
        .iter()
        .map(|predicate| PairCondition::of(columns, predicate))
        .collect();
    together(columns, conditions.iter())
}

/// Combined selectivity of conditions whose own selectivities are known.
pub(crate) fn together<'c>(
    columns: &dyn Columns,
    conditions: impl IntoIterator<Item = &'c PairCondition>,
) -> f64 {
    let mut links: Vec<Link> = Vec::new();
    let mut rest = 1.0;
    for condition in conditions {
        match condition {
            PairCondition::Link(link) => links.push(link.clone()),
            PairCondition::Other(fraction) => rest *= fraction,
        }
    }
    match links.as_slice() {
        [only] => rest * only.fraction,
        _ => rest * of_links(columns, links),
    }
}

fn of_links(columns: &dyn Columns, mut links: Vec<Link>) -> f64 {
    links.sort_by(|a, b| a.fraction.total_cmp(&b.fraction));
    let mut kept: Vec<Link> = Vec::new();
    for link in links {
        let [a, b] = link.columns;
        let is_said = kept.iter().any(|known| {
            let [x, y] = known.columns;
            x == a || x == b || y == a || y == b
        });
        if !is_said {
            kept.push(link);
        }
    }
    let table = |id: ColumnId| {
        columns
            .table(id)
            .map(|(table, column)| (table.first, column, table))
    };
    // Grouped by pairs of tables.
    let mut pairs: Vec<(ColumnId, ColumnId, Vec<Link>)> = Vec::new();
    let mut fraction = 1.0;
    for link in kept {
        let [a, b] = link.columns;
        let (Some((x, ..)), Some((y, ..))) = (table(a), table(b)) else {
            fraction *= link.fraction;
            continue;
        };
        let (low, high) = (x.min(y), x.max(y));
        match pairs.iter_mut().find(|(l, h, _)| *l == low && *h == high) {
            Some((_, _, links)) => links.push(link),
            None => pairs.push((low, high, vec![link])),
        }
    }
    for (low, high, links) in pairs {
        let ends = [low, high];
        let product: f64 = links.iter().map(|link| link.fraction).product();
        if links.len() == 1 {
            fraction *= product;
            continue;
        }
        let known = ends.iter().filter_map(|first| {
            let (table, _) = columns.table(*first)?;
            distinct_of(columns, &table, &links)
        });
        let distinct = known.fold(1.0, f64::max);
        fraction *= if distinct > 1.0 {
            product.max(1.0 / distinct)
        } else {
            // The strictest in full, the others with exponential backoff. Several columns are mostly a key of one table
            // that the other refers to, such as the lines of orders; the combinations are at most its rows.
            let powers = (0..links.len()).map(|at| 0.5_f64.powi(at as i32));
            let together: f64 = links
                .iter()
                .zip(powers)
                .map(|(link, power)| link.fraction.powf(power))
                .product();
            let tables = ends.iter().filter_map(|first| columns.table(*first));
            let rows = tables.map(|(table, _)| table.rows()).fold(1.0, f64::max);
            together.max(1.0 / rows)
        };
    }
    fraction
}

/// Number of distinct combinations of the linked columns of a table, if known from its keys.
fn distinct_of(columns: &dyn Columns, table: &TableFacts, links: &[Link]) -> Option<f64> {
    let of_table = links.iter().flat_map(|link| link.columns).filter_map(|id| {
        let (known, column) = columns.table(id)?;
        (known.first == table.first).then_some(column)
    });
    let of_table: Vec<usize> = of_table.collect();
    table.distinct_together(&of_table)
}

/// Fraction of the rows of one side of a join whose key is among the keys of `other_rows` rows of the other side, whose
/// values are assumed to be contained in those of this side.
pub(crate) fn met_keys(
    columns: &dyn Columns,
    own: &Expression,
    other: &Expression,
    other_rows: f64,
) -> f64 {
    let (Some(key), Some(id)) = (key_column(own), key_column(other)) else {
        return 1.0;
    };
    let Some(facts) = columns.facts(key) else {
        return 1.0;
    };
    if let Some((table, column)) = columns.table(id)
        && table.is_unique(&[column])
    {
        let find = || selectivity::equality(columns, own, other);
        return (other_rows * columns.equality([key, id], &find)).min(1.0);
    }
    let distinct = match columns.facts(id) {
        Some(facts) => drawn(facts.distinct, other_rows, facts.rows),
        None => columns
            .distinct(id)
            .map_or(other_rows, |distinct| distinct.min(other_rows)),
    };
    matched(&facts, distinct)
}

/// Fraction of the rows of a column whose value is among `met` values, which are assumed to be its own.
fn matched(own: &ColumnFacts, met: f64) -> f64 {
    (met / own.distinct.max(1.0)).min(1.0) * (1.0 - own.null_fraction)
}

/// Fraction of left rows that have a partner: the values of one side are assumed to be contained in those of the other.
fn partnered(
    columns: &dyn Columns,
    right: f64,
    right_columns: &ColumnSet,
    on: &[Expression],
    null_aware: &[(Expression, Expression)],
) -> f64 {
    if right <= 0.0 {
        return 0.0;
    }
    let mut all_matched = 1.0_f64;
    // Right rows per value.
    let mut partners = right;
    let mut is_known = false;
    let mut is_open = false;
    let equalities = on.iter().filter_map(sides);
    let pairs = null_aware.iter().map(|(left, right)| (left, right));
    for (a, b) in equalities.chain(pairs) {
        let (own, other) = if a.columns().intersects(right_columns) {
            (b, a)
        } else {
            (a, b)
        };
        let facts = |side: &Expression| columns.facts(key_column(side)?);
        let (Some(own), Some(other)) = (facts(own), facts(other)) else {
            is_open = true;
            continue;
        };
        let met = drawn(other.distinct, right, other.rows);
        all_matched = all_matched.min(matched(&own, met));
        partners = partners.min(right / met.max(1.0));
        is_known = true;
    }
    if is_open && !is_known {
        return PARTNER;
    }
    let rest = on.iter().filter(|predicate| sides(predicate).is_none());
    let rest: f64 = rest
        .map(|predicate| selectivity::of(columns, predicate))
        .product();
    // One of several partners is enough.
    all_matched * (1.0 - (1.0 - rest.min(1.0)).powf(partners.max(1.0)))
}

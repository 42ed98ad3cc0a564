//! Loose index scans: GROUP BY and DISTINCT of the first parts of an index, or of the parts behind those with a single
//! value, with MIN and MAX of the next part, read the ends of each group and seek the next group behind it (the manual,
//! "Loose Index Scan").

use mayfly_functions::aggregate::Kind;
use mayfly_types::PhysicalType;

use crate::access::lookup;
use crate::access::path::{Path, SEEK_COST, START_COST};
use crate::rules::index_orders::Key;
use crate::tree::access::{Access, GroupRows};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, Scan, visit_expression, with_stack};
use crate::tree::physical::AggregateCall;

/// The loose index scan of `ordered`, which gives the rows of each group contiguously; `None` if the groups need more
/// rows.
pub(super) fn path(
    scan: &Scan,
    ordered: &Path,
    keys: &[Key],
    calls: &[(ColumnId, AggregateCall)],
    groups: f64,
) -> Option<Path> {
    let Access::Index(access) = &ordered.access else {
        return None;
    };
    let index = scan.table.indexes.get(access.index)?;
    let ranges = access.ranges.as_ref();
    let fixed = ranges.map_or(0, |ranges| ranges.fixed_parts());
    let mut columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
    columns.extend(index.parts.iter().take(fixed).map(|part| part.column));
    columns.sort_unstable();
    columns.dedup();
    let parts = index.parts.get(..columns.len())?;
    let is_plain = |column: usize| {
        let mut parts = parts.iter();
        let part = parts.find(|part| part.column == column);
        part.is_some_and(|part| part.prefix.is_none() && !part.approximate)
    };
    if !columns.iter().all(|column| is_plain(*column))
        || ranges.is_some_and(|ranges| ranges.part_count() > parts.len())
    {
        return None;
    }
    // Conditions must be equally true for all rows of a group.
    let of_group: ColumnSet = columns.iter().map(|column| scan.first + column).collect();
    let same_for_all = scan.predicates.iter().all(|predicate| {
        let read = predicate.columns();
        !crate::tree::logical::has_subquery(predicate)
            && read.iter().all(|id| of_group.contains(id))
            && is_same_for_equal_values(scan, predicate)
    });
    if !same_for_all {
        return None;
    }
    let mut ends = GroupRows {
        parts: parts.len(),
        least: false,
        greatest: false,
    };
    for (_, call) in calls {
        let part = index.parts.get(parts.len())?;
        if is_greatest(
            scan,
            part.column,
            part.prefix.is_some() || part.approximate,
            call,
        )? {
            ends.greatest = true
        } else {
            ends.least = true
        }
    }
    let mut access = access.clone();
    // The row found by the seek of a group is one of the wanted ends.
    if let Some(part) = index.parts.get(parts.len())
        && ends.least != ends.greatest
    {
        access.reverse = part.descending == ends.least;
    }
    let seeks = if ends.least && ends.greatest {
        2.0
    } else {
        1.0
    };
    access.groups = Some(ends);
    access.rows = groups * seeks;
    Some(Path {
        access: Access::Index(access),
        cost: START_COST + groups * seeks * (SEEK_COST + lookup::key_cost(scan)),
        rows: (groups * seeks).min(ordered.rows),
    })
}

/// Whether a predicate is equally true for all values of its columns that are equal: strings of a group may differ in
/// case, accents and trailing spaces, which a comparison by the column's collation ignores but functions do not; so may
/// the two zeros of floating-point numbers.
fn is_same_for_equal_values(scan: &Scan, predicate: &Expression) -> bool {
    let type_of = |id: ColumnId| {
        let column = id.checked_sub(scan.first)?;
        scan.table.columns.get(column).map(|column| &column.ty)
    };
    // A column that is compared by its own order.
    let is_compared = |operand: &Expression, other: &Expression| {
        let ExpressionKind::Column(id) = operand.kind else {
            return false;
        };
        type_of(id).is_some_and(|ty| {
            other.ty.physical() == ty.physical()
                && (!ty.is_string()
                    || operand.ty.collation == ty.collation && other.ty.collation == ty.collation)
        })
    };
    with_stack(|| {
        let same = |operand: &Expression| is_same_for_equal_values(scan, operand);
        match &predicate.kind {
            ExpressionKind::Column(id) => type_of(*id).is_some_and(|ty| match ty.physical() {
                PhysicalType::Float64 => false,
                PhysicalType::Bytes => ty.comparison_collation().is_bytewise_equality(),
                _ => true,
            }),
            ExpressionKind::Compare { left, right, .. } => {
                (same(left) || is_compared(left, right))
                    && (same(right) || is_compared(right, left))
            }
            ExpressionKind::InList { operand, .. } => {
                same(operand) || is_compared(operand, operand)
            }
            ExpressionKind::IsNull(operand) => {
                matches!(operand.kind, ExpressionKind::Column(_)) || same(operand)
            }
            _ => {
                let mut all = true;
                visit_expression(predicate, &mut |inner| {
                    let is_outer = std::ptr::eq(inner, predicate);
                    all &= is_outer || same(inner);
                    is_outer
                });
                all
            }
        }
    })
}

/// (argument, whether it is MAX) of a MIN or MAX call.
pub(in crate::rules) fn extreme_of(call: &AggregateCall) -> Option<(&Expression, bool)> {
    match (call.function.kind(), call.arguments.as_slice()) {
        (Kind::Min, [argument]) => Some((argument, false)),
        (Kind::Max, [argument]) => Some((argument, true)),
        _ => None,
    }
}

/// Whether a call is the greatest value of a column (true) or the least one (false); `None` for any other call.
fn is_greatest(scan: &Scan, column: usize, cut: bool, call: &AggregateCall) -> Option<bool> {
    let (argument, greatest) = extreme_of(call)?;
    let ty = &scan.table.columns.get(column)?.ty;
    let same_order = !ty.is_string() || ty.collation == argument.ty.collation;
    let is_column =
        matches!(argument.kind, ExpressionKind::Column(id) if id == scan.first + column);
    (is_column && same_order && !cut).then_some(greatest)
}

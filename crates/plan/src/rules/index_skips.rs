//! Groups of which one row is enough: GROUP BY and DISTINCT of the first parts of an index, with MIN or
//! MAX of the next part, read one row of each group and seek the next group behind it (the manual,
//! "Loose Index Scan").

use super::index_orders::Key;
use crate::access::path::{Path, SEEK_COST, START_COST};
use crate::access::{Access, lookup};
use crate::expression::ExpressionKind;
use crate::logical::{ColumnId, ColumnSet, Scan};
use crate::physical::AggregateCall;

/// The way in which `ordered`, which gives the rows of each group one after the other, reads only one
/// of each; none when the groups need more.
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
    let mut columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    let parts = index.parts.get(..columns.len())?;
    let is_plain = |column: usize| {
        let mut parts = parts.iter();
        let part = parts.find(|part| part.column == column);
        part.is_some_and(|part| part.prefix.is_none() && !part.approximate)
    };
    let ranges = access.ranges.as_ref();
    if !columns.iter().all(|column| is_plain(*column))
        || ranges.is_some_and(|ranges| ranges.part_count() > parts.len())
    {
        return None;
    }
    // What is asked of a group's rows must be the same for all of them.
    let of_group: ColumnSet = columns.iter().map(|column| scan.first + column).collect();
    let same_for_all = scan.predicates.iter().all(|predicate| {
        let read = predicate.columns();
        !super::has_subquery(predicate) && read.iter().all(|id| of_group.contains(id))
    });
    if !same_for_all {
        return None;
    }
    let mut reverse = None;
    for (_, call) in calls {
        let from_end = at_end(scan, index.parts.get(parts.len())?, call)?;
        if *reverse.get_or_insert(from_end) != from_end {
            return None;
        }
    }
    let cost = START_COST + groups * (SEEK_COST + lookup::key_cost(scan));
    let mut access = access.clone();
    access.first_of = parts.len();
    access.reverse = reverse.unwrap_or(access.reverse);
    access.rows = groups;
    Some(Path {
        access: Access::Index(access),
        cost,
        rows: groups.min(ordered.rows),
    })
}

/// Whether a call is the value of a part in the group's first row, or in its last one.
fn at_end(
    scan: &Scan,
    part: &crate::catalog::IndexPartSource,
    call: &AggregateCall,
) -> Option<bool> {
    let from_end = match call.function.names()[0] {
        "min" => part.descending,
        "max" => !part.descending,
        _ => return None,
    };
    let [argument] = call.arguments.as_slice() else {
        return None;
    };
    let ExpressionKind::Column(id) = argument.kind else {
        return None;
    };
    let column = scan.table.columns.get(part.column)?;
    let is_part = id == scan.first + part.column && part.prefix.is_none() && !part.approximate;
    let same_order = !column.ty.is_string() || column.ty.collation == argument.ty.collation;
    // NULL is the least value, and no MIN.
    let is_least = call.function.names()[0] == "min";
    (is_part && same_order && !(is_least && column.nullable)).then_some(from_end)
}

//! Index merges: the union or the intersection of the rows that several indexes of a table find (the manual, "Index
//! Merge Optimization").
//!
//! Each index gives the positions of its rows; their union or intersection is computed, and only the result is fetched.
//! So a merge pays where fetching rows dominates the cost. A multi-valued index, which may find a row several times, is
//! read as a union of its own.

use crate::access::path::{
    Path, ROW_COST, START_COST, check_cost, fetch_cost, is_usable, range_path, rest,
};
use crate::options::PlanOptions;
use crate::tree::access::{Access, HintPurpose, IndexAccess, MergeAccess};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnSet, Scan};
use crate::tree::physical::MergeKind;

/// Cost of adding a position to the set of those found.
const POSITION_COST: f64 = 0.15;
/// Maximum number of alternatives of a union.
const ALTERNATIVES_MAX: usize = 100;

/// The cheapest index merge, if there is any; adds the indexes that a merge could read to `possible`.
pub(super) fn best(scan: &Scan, options: &PlanOptions, possible: &mut Vec<usize>) -> Option<Path> {
    let switches = &options.switches;
    let may_be = |position: &usize| {
        let both = [HintPurpose::Join, HintPurpose::Merge];
        both.iter()
            .all(|purpose| is_usable(scan, *position, *purpose, options))
            && scan.table.indexes[*position].method.has_each_row()
    };
    let usable: Vec<usize> = (0..scan.table.indexes.len()).filter(may_be).collect();
    if usable.len() < 2 {
        return None;
    }
    let mut found = Vec::new();
    for (at, predicate) in scan.predicates.iter().enumerate() {
        if let ExpressionKind::Or(operands) = &predicate.kind
            && operands.len() <= ALTERNATIVES_MAX
        {
            found.extend(union(scan, at, operands, &usable, options, possible));
        }
    }
    found.extend(intersection(scan, &usable, options));
    let is_on = switches.index_merge || scan.hints.force(HintPurpose::Merge);
    found
        .into_iter()
        .filter(|_| is_on)
        .min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Path through a multi-valued index, from the path that reads its entries: each row once.
pub(super) fn of_elements(entries: IndexAccess, cost: f64, rows: f64) -> Path {
    let cost = cost + entries.rows * POSITION_COST;
    Path {
        cost,
        rows,
        access: Access::Merge(Box::new(MergeAccess {
            kind: MergeKind::Elements,
            covered: entries.covered.clone(),
            rows: entries.rows,
            cost,
            parts: vec![entries],
        })),
    }
}

/// Union: the rows that any operand of an OR finds.
fn union(
    scan: &Scan,
    at: usize,
    operands: &[Expression],
    usable: &[usize],
    options: &PlanOptions,
    possible: &mut Vec<usize>,
) -> Option<Path> {
    // Operands of one index are read together.
    let mut by_index: Vec<(usize, Vec<Expression>)> = Vec::new();
    let mut could = Vec::new();
    for operand in operands {
        let alone = narrowed(scan, vec![operand.clone()]);
        let paths: Vec<(usize, f64)> = usable
            .iter()
            .filter_map(|position| Some((*position, positions(&alone, *position, options)?.cost)))
            .collect();
        could.extend(paths.iter().map(|(index, _)| *index));
        let (index, _) = paths.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        match by_index.iter_mut().find(|(known, _)| *known == index) {
            Some((_, operands)) => operands.push(operand.clone()),
            None => by_index.push((index, vec![operand.clone()])),
        }
    }
    possible.extend(could);
    if by_index.len() < 2 {
        return None;
    }
    let mut parts = Vec::with_capacity(by_index.len());
    let mut cost = START_COST;
    let mut is_exact = true;
    let mut in_order = true;
    let all = scan.table.row_count as f64;
    let mut left_out = 1.0;
    for (index, mut operands) in by_index {
        let predicate = match operands.len() {
            1 => operands.remove(0),
            _ => Expression {
                kind: ExpressionKind::Or(operands),
                ..scan.predicates[at].clone()
            },
        };
        let path = positions(&narrowed(scan, vec![predicate]), index, options)?;
        let Access::Index(part) = path.access else {
            return None;
        };
        cost += path.cost + part.rows * POSITION_COST;
        is_exact &= part.covered.iter().all(|covered| *covered);
        in_order &= is_in_order(scan, &part);
        left_out *= 1.0 - (part.rows / all.max(1.0)).min(1.0);
        parts.push(*part);
    }
    let kind = match options.switches.index_merge_sort_union {
        _ if in_order && options.switches.index_merge_union => MergeKind::Union,
        true => MergeKind::SortUnion,
        false => return None,
    };
    let mut covered = vec![false; scan.predicates.len()];
    covered[at] = is_exact;
    let rows = all * (1.0 - left_out);
    Some(merged(scan, kind, parts, covered, rows, cost))
}

/// Intersection: the rows that several indexes find, each by a single key.
fn intersection(scan: &Scan, usable: &[usize], options: &PlanOptions) -> Option<Path> {
    if !options.switches.index_merge_intersection || scan.predicates.len() < 2 {
        return None;
    }
    let mut found: Vec<(Path, IndexAccess)> = usable
        .iter()
        .filter_map(|position| {
            let path = positions(scan, *position, options)?;
            match path.access.clone() {
                Access::Index(access) if is_in_order(scan, &access) => Some((path, *access)),
                _ => None,
            }
        })
        .collect();
    found.sort_by(|a, b| a.1.rows.total_cmp(&b.1.rows));
    let all = (scan.table.row_count as f64).max(1.0);
    let mut parts: Vec<IndexAccess> = Vec::new();
    let mut covered = vec![false; scan.predicates.len()];
    let mut read = START_COST;
    let mut rows = all;
    let mut best: Option<Path> = None;
    for (path, access) in found {
        let says_more = covered
            .iter()
            .zip(&access.covered)
            .any(|(known, own)| *own && !known);
        if !says_more {
            continue;
        }
        for (known, own) in covered.iter_mut().zip(&access.covered) {
            *known |= own;
        }
        read += path.cost + access.rows * POSITION_COST;
        rows *= (access.rows / all).min(1.0);
        parts.push(access);
        if parts.len() > 1 {
            let kind = MergeKind::Intersection;
            let merge = merged(scan, kind, parts.clone(), covered.clone(), rows, read);
            if best.as_ref().is_none_or(|best| merge.cost < best.cost) {
                best = Some(merge);
            }
        }
    }
    best
}

/// The scan with other predicates.
fn narrowed(scan: &Scan, predicates: Vec<Expression>) -> Scan {
    Scan {
        predicates,
        rows: None,
        ..scan.clone()
    }
}

/// Access path by which an index gives the positions of its rows.
fn positions(scan: &Scan, index: usize, options: &PlanOptions) -> Option<Path> {
    range_path(scan, index, &ColumnSet::new(), options)
}

/// Whether MySQL's index would give its rows in the order of their positions: those of one whole key, or of the primary
/// key. EXPLAIN shows such unions differently; here any order is correct.
fn is_in_order(scan: &Scan, access: &IndexAccess) -> bool {
    let index = scan.table.indexes.get(access.index);
    let ranges = access.ranges.as_ref();
    index.zip(ranges).is_some_and(|(index, ranges)| {
        let is_plain = index.parts.iter().all(|part| part.prefix.is_none());
        index.name == "PRIMARY" || (is_plain && ranges.fixed_parts() == index.parts.len())
    })
}

fn merged(
    scan: &Scan,
    kind: MergeKind,
    parts: Vec<IndexAccess>,
    covered: Vec<bool>,
    rows: f64,
    read: f64,
) -> Path {
    let open = covered.iter().filter(|covered| !**covered).count();
    let cost = read + rows * (ROW_COST + fetch_cost(scan) + check_cost(open));
    Path {
        cost,
        rows: rest(scan, rows, &covered),
        access: Access::Merge(Box::new(MergeAccess {
            kind,
            parts,
            covered,
            rows,
            cost,
        })),
    }
}

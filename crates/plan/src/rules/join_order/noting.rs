//! Optimizer trace of the join order: the chosen one, table by table, with the costs of the alternatives at each.

use super::operators::{Set, each};
use super::search::Search;
use crate::access::path;
use crate::rules::noted::joins::{self, Candidate};
use crate::trace::Trace;
use crate::tree::logical::Relation;

/// Cause for which a table is not chosen next.
const COST: &str = "cost";
const NOT_JOINED: &str = "no condition joins it";
const HINT: &str = "the order is that of a hint";

pub(super) fn note(search: &Search<'_, '_>, is_hinted: bool, trace: &Trace) {
    let region = search.costs.region;
    if !region.operators.iter().any(|operator| operator.is_inner()) {
        return;
    }
    let Some(chosen) = spine(search) else {
        return;
    };
    let relation = &region.leaves[chosen[0].trailing_zeros() as usize].relation;
    if region.leaves.len() == 2 {
        note_pair(search, chosen[0], is_hinted, trace);
        return;
    }
    let cause = if is_hinted { HINT } else { COST };
    let all = search.all();
    let shown = |leaf: &usize, chosen: Set| *leaf < joins::INPUTS_MAX || chosen & 1 << leaf != 0;
    let mut levels = Vec::new();
    let mut joined = chosen[0];
    let firsts = each(all).filter(|leaf| shown(leaf, joined));
    let firsts = firsts.map(|leaf| first(search, leaf, (1 << leaf != joined).then_some(cause)));
    levels.push(firsts.collect());
    for next in &chosen[1..] {
        let mut level = Vec::new();
        if next.count_ones() > 1 {
            level.extend(bushy(search, joined, *next));
        }
        for leaf in each(all & !joined).filter(|leaf| shown(leaf, *next)) {
            let is_next = 1 << leaf == *next;
            level.extend(candidate(search, joined, leaf, (!is_next).then_some(cause)));
        }
        levels.push(level);
        joined |= next;
    }
    joins::ordered(relation, levels, trace);
    let (pairs, kept) = (search.pairs, search.is_greedy);
    joins::searched(relation, pairs, kept, trace);
}

/// The sets that the chosen order joins one after the other.
fn spine(search: &Search<'_, '_>) -> Option<Vec<Set>> {
    let mut sets = Vec::new();
    let mut current = search.all();
    while let Some((left, right)) = search.plans.get(&current)?.parts {
        sets.push(right);
        current = left;
    }
    sets.push(current);
    sets.reverse();
    Some(sets)
}

/// A first table.
fn first(search: &Search<'_, '_>, leaf: usize, cause: Option<&'static str>) -> Candidate {
    let costs = search.costs;
    let relation = &costs.region.leaves[leaf].relation;
    let access = match relation {
        Relation::Scan(scan) => Some(path::best(scan, costs.needed, costs.options).0.access),
        _ => None,
    };
    let alone = costs.table(leaf);
    Candidate::first(relation, access.as_ref(), (alone.rows, alone.cost), cause)
}

/// A next table.
fn candidate(
    search: &Search<'_, '_>,
    joined: Set,
    leaf: usize,
    cause: Option<&'static str>,
) -> Option<Candidate> {
    let costs = search.costs;
    let before = *search.plans.get(&joined)?;
    let set: Set = 1 << leaf;
    let operators = costs.ordered_operators(joined, set)?;
    let cause = if operators.is_empty() {
        cause.map(|_| NOT_JOINED)
    } else {
        cause
    };
    let step = costs.step(&operators, (joined, before), (set, costs.table(leaf)), None);
    let lookup = step.lookup.as_ref();
    Some(Candidate::next(
        &costs.region.leaves[leaf].relation,
        step.hash - before.cost,
        lookup.map(|(path, cost)| (path, cost - before.cost)),
        (step.rows, step.cost),
        cause,
    ))
}

/// Several tables, joined before, as the next input.
fn bushy(search: &Search<'_, '_>, joined: Set, next: Set) -> Option<Candidate> {
    let costs = search.costs;
    let (before, right) = (*search.plans.get(&joined)?, *search.plans.get(&next)?);
    let operators = costs.ordered_operators(joined, next)?;
    let step = costs.step(&operators, (joined, before), (next, right), None);
    let relations = each(next).map(|leaf| &costs.region.leaves[leaf].relation);
    Some(Candidate::several(
        relations,
        step.hash - before.cost,
        (step.rows, step.cost),
    ))
}

/// Records both orders of two tables.
fn note_pair(search: &Search<'_, '_>, chosen: Set, is_hinted: bool, trace: &Trace) {
    let cause = if is_hinted { HINT } else { COST };
    let order = |leaf: usize, other: usize| {
        let cause = (1 << leaf != chosen).then_some(cause);
        let next = candidate(search, 1 << leaf, other, cause)?;
        Some((first(search, leaf, cause), next))
    };
    if let (Some(one), Some(other)) = (order(0, 1), order(1, 0)) {
        let relation = &search.costs.region.leaves[0].relation;
        joins::compared_pair(relation, [one, other], trace);
    }
}

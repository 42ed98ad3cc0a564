//! The order of inner joins: from the smallest input on, always the table next that keeps the result
//! smallest, and none without a condition to what is joined already while there is one with. A table
//! that an index of its own leads to costs what following the index does.
//!
//! A semijoin takes part as a join with the different rows of its inner side where these lead into an
//! index of the outer one.
//!
//! Of two inputs the one that an index leads to comes second; without an index they keep their order,
//! and which of them the hash table is over is chosen later.

pub(super) mod semijoins;

use std::cell::Cell;

use super::access_paths::needed_columns;
use super::noted::joins::{self, Candidate};
use super::planning::Planning;
use crate::access::lookup::LookupPath;
use crate::access::{lookup, path};
use crate::estimate::{self, estimate};
use crate::options::PlanOptions;
use crate::predicates::sides_of_equality;
use crate::trace::Trace;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, ColumnSet, Join, Query, Relation, produced, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let options = planning.options;
    let order = Order {
        needed: needed_columns(query),
        options,
        trace: planning.trace,
        next_column: Cell::new(query.next_column),
    };
    query.for_each_block_mut(&mut |relation| order.reorder(relation));
    query.next_column = order.next_column.get();
}

pub(super) struct Order<'a> {
    /// What the statement reads.
    pub(super) needed: ColumnSet,
    pub(super) options: &'a PlanOptions,
    pub(super) trace: Option<&'a Trace>,
    /// The first column number that is free.
    next_column: Cell<ColumnId>,
}

/// What joining one more input comes to, reading it included.
struct Next {
    rows: f64,
    cost: f64,
    /// By a hash table.
    hash: f64,
    /// By an index.
    lookup: Option<(LookupPath, f64)>,
}

impl Next {
    /// As one that could be next, when all before it costs so much.
    fn candidate(&self, leaf: &Leaf, before: f64, cause: Option<&'static str>) -> Candidate {
        let lookup = self.lookup.as_ref();
        Candidate::next(
            &leaf.relation,
            self.hash,
            lookup.map(|(path, cost)| (path, *cost)),
            (self.rows, before + self.cost),
            cause,
        )
    }
}

/// An input of a chain of joins.
struct Leaf {
    relation: Relation,
    columns: ColumnSet,
    rows: f64,
}

impl Order<'_> {
    /// A number for a new column.
    pub(super) fn new_column(&self) -> ColumnId {
        self.next_column.replace(self.next_column.get() + 1)
    }

    fn reorder(&self, relation: &mut Relation) {
        with_stack(|| {
            if let Relation::Join(join) = relation
                && let Some(plan) = semijoins::from_inner(join, self)
            {
                *relation = plan;
            }
            if !is_chain(relation) {
                relation.for_each_input_mut(&mut |input| self.reorder(input));
                return;
            }
            let mut leaves = Vec::new();
            let mut predicates = Vec::new();
            flatten(relation.take(), &mut leaves, &mut predicates);
            for leaf in &mut leaves {
                self.reorder(&mut leaf.relation);
            }
            if let [first, second] = leaves.as_slice() {
                let from = |a: &Leaf, b: &Leaf| self.cost(a) + self.step(a, b, &predicates).cost;
                let swaps = from(second, first) < from(first, second) * 0.99;
                if let Some(trace) = self.trace {
                    self.note_pair((first, second), swaps, &predicates, trace);
                }
                if swaps {
                    leaves.swap(0, 1);
                }
            }
            *relation = if leaves.len() > 2 {
                self.greedy(leaves, predicates)
            } else {
                in_order(leaves, predicates)
            };
        });
    }

    /// What reading an input costs.
    fn cost(&self, leaf: &Leaf) -> f64 {
        match &leaf.relation {
            Relation::Scan(scan) => path::best(scan, &self.needed, self.options).0.cost,
            _ => leaf.rows * path::ROW_COST,
        }
    }

    /// How many rows come of joining one more input, and what that costs, reading it included.
    fn step(&self, joined: &Leaf, leaf: &Leaf, predicates: &[Expression]) -> Next {
        let equalities = predicates
            .iter()
            .filter(|p| sides_of_equality(p, &joined.columns, &leaf.columns).is_some())
            .count();
        let rows = estimate::joined(JoinKind::Inner, joined.rows, leaf.rows, equalities, false);
        let hash = self.cost(leaf)
            + lookup::hash_cost(joined.rows.min(leaf.rows), joined.rows.max(leaf.rows));
        let hashed = Next {
            rows,
            cost: hash,
            hash,
            lookup: None,
        };
        let Relation::Scan(scan) = &leaf.relation else {
            return hashed;
        };
        let mut both = joined.columns.clone();
        both.extend_from(&leaf.columns);
        let on: Vec<Expression> = predicates
            .iter()
            .filter(|predicate| {
                let read = predicate.columns();
                read.intersects(&leaf.columns) && read.is_subset(&both)
            })
            .cloned()
            .collect();
        match lookup::best(scan, &on, &self.needed, self.options) {
            Some(path) => {
                let cost = lookup::cost(joined.rows, &path);
                Next {
                    rows: joined.rows * path.rows_per_row,
                    cost: hash.min(cost),
                    hash,
                    lookup: Some((path, cost)),
                }
            }
            None => hashed,
        }
    }

    /// An input to begin with, as the trace has it.
    fn first(&self, leaf: &Leaf, cause: Option<&'static str>) -> Candidate {
        let access = match &leaf.relation {
            Relation::Scan(scan) => Some(path::best(scan, &self.needed, self.options).0.access),
            _ => None,
        };
        let sizes = (leaf.rows, self.cost(leaf));
        Candidate::first(&leaf.relation, access.as_ref(), sizes, cause)
    }

    fn note_pair(
        &self,
        (first, second): (&Leaf, &Leaf),
        swaps: bool,
        predicates: &[Expression],
        trace: &Trace,
    ) {
        let order = |first: &Leaf, second: &Leaf, is_worse: bool| {
            let cause = is_worse.then_some("cost");
            let next = self.step(first, second, predicates);
            let next = next.candidate(second, self.cost(first), cause);
            (self.first(first, cause), next)
        };
        let orders = [order(first, second, swaps), order(second, first, !swaps)];
        joins::compared_pair(&first.relation, orders, trace);
    }

    fn greedy(&self, mut leaves: Vec<Leaf>, mut predicates: Vec<Expression>) -> Relation {
        let mut first = 0;
        let mut best = f64::INFINITY;
        for (index, leaf) in leaves.iter().enumerate() {
            let (before, after) = leaves.split_at(index);
            let alone =
                !connected(leaf, before, &predicates) && !connected(leaf, &after[1..], &predicates);
            // One that nothing leads to comes last.
            let rows = if alone { f64::MAX } else { leaf.rows };
            if rows < best {
                (first, best) = (index, rows);
            }
        }
        let mut levels = Vec::new();
        let mut total = self.cost(&leaves[first]);
        if self.trace.is_some() {
            let candidate = |(at, leaf): (usize, &Leaf)| {
                self.first(
                    leaf,
                    (at != first).then_some("more rows, or no condition joins it"),
                )
            };
            let noted = leaves.iter().enumerate();
            let noted = noted.filter(|(at, _)| *at < joins::INPUTS_MAX || *at == first);
            levels.push(noted.map(candidate).collect());
        }
        let mut joined = leaves.remove(first);
        while !leaves.is_empty() {
            let mut next = 0;
            let mut best = (false, f64::INFINITY, f64::INFINITY);
            for (index, leaf) in leaves.iter().enumerate() {
                let linked = connected(leaf, std::slice::from_ref(&joined), &predicates);
                let Next { rows, cost, .. } = self.step(&joined, leaf, &predicates);
                if (linked && !best.0) || (linked == best.0 && (rows, cost) < (best.1, best.2)) {
                    next = index;
                    best = (linked, rows, cost);
                }
            }
            if self.trace.is_some() && levels.len() < joins::INPUTS_MAX {
                let candidate = |(at, leaf): (usize, &Leaf)| {
                    let linked = connected(leaf, std::slice::from_ref(&joined), &predicates);
                    let step = self.step(&joined, leaf, &predicates);
                    let cause = match (linked == best.0, step.rows > best.1) {
                        (false, _) => "no condition joins it yet",
                        (true, true) => "more rows",
                        (true, false) => "cost",
                    };
                    step.candidate(leaf, total, (at != next).then_some(cause))
                };
                let noted = leaves.iter().enumerate();
                let noted = noted.filter(|(at, _)| *at < joins::INPUTS_MAX || *at == next);
                levels.push(noted.map(candidate).collect());
                total += best.2;
            }
            let leaf = leaves.remove(next);
            joined = join_with(joined, leaf, &mut predicates);
        }
        if let Some(trace) = self.trace {
            joins::ordered(&joined.relation, levels, trace);
        }
        joined.relation.filtered(predicates)
    }
}

fn is_chain(relation: &Relation) -> bool {
    matches!(relation, Relation::Join(join) if join.is_reorderable())
}

fn flatten(relation: Relation, leaves: &mut Vec<Leaf>, predicates: &mut Vec<Expression>) {
    match relation {
        Relation::Join(join) if join.is_reorderable() => {
            with_stack(|| {
                flatten(*join.left, leaves, predicates);
                flatten(*join.right, leaves, predicates);
            });
            predicates.extend(join.on);
        }
        other => leaves.push(Leaf {
            columns: produced(&other),
            rows: estimate(&other),
            relation: other,
        }),
    }
}

fn in_order(leaves: Vec<Leaf>, mut predicates: Vec<Expression>) -> Relation {
    let mut rest = leaves.into_iter();
    let Some(mut joined) = rest.next() else {
        return Relation::one_row();
    };
    for leaf in rest {
        joined = join_with(joined, leaf, &mut predicates);
    }
    joined.relation.filtered(predicates)
}

/// Whether an equality leads from an input to one of others.
fn connected(leaf: &Leaf, others: &[Leaf], predicates: &[Expression]) -> bool {
    others.iter().any(|other| {
        let (other, own) = (&other.columns, &leaf.columns);
        let mut predicates = predicates.iter();
        predicates.any(|predicate| sides_of_equality(predicate, other, own).is_some())
    })
}

/// Joins one more input, by all conditions whose columns are there then.
fn join_with(joined: Leaf, leaf: Leaf, predicates: &mut Vec<Expression>) -> Leaf {
    let mut columns = joined.columns;
    columns.extend_from(&leaf.columns);
    let is_there = |predicate: &mut Expression| predicate.columns().is_subset(&columns);
    let on = predicates.extract_if(.., is_there).collect();
    let join = Join::new(JoinKind::Inner, joined.relation, leaf.relation, on);
    let relation = Relation::Join(join);
    Leaf {
        rows: estimate(&relation),
        relation,
        columns,
    }
}

//! The order of inner joins: from the smallest input on, always the table next that keeps the result
//! smallest, and none without a condition to what is joined already while there is one with.
//!
//! Joins of two inputs keep their order: which of them the hash table is over is chosen later.

use super::Rule;
use crate::expression::Expression;
use crate::logical::{ColumnSet, Join, Query, Relation, produced, with_stack};
use crate::options::PlanOptions;
use crate::physical::JoinKind;
use crate::physical::build::estimate;
use crate::physical::build::rows;

pub(super) struct JoinOrder;

impl Rule for JoinOrder {
    fn name(&self) -> &'static str {
        "join_order"
    }

    fn apply(&self, query: &mut Query, _options: &PlanOptions) {
        query.for_each_block_mut(&mut reorder);
    }
}

/// An input of a chain of joins.
struct Leaf {
    relation: Relation,
    columns: ColumnSet,
    rows: f64,
}

fn reorder(relation: &mut Relation) {
    with_stack(|| {
        if !is_chain(relation) {
            relation.for_each_input_mut(&mut reorder);
            return;
        }
        let mut leaves = Vec::new();
        let mut predicates = Vec::new();
        flatten(relation.take(), &mut leaves, &mut predicates);
        for leaf in &mut leaves {
            reorder(&mut leaf.relation);
        }
        *relation = if leaves.len() > 2 {
            greedy(leaves, predicates)
        } else {
            in_order(leaves, predicates)
        };
    });
}

fn is_chain(relation: &Relation) -> bool {
    matches!(relation, Relation::Join(join)
        if join.kind == JoinKind::Inner && !join.lateral && !join.straight)
}

fn flatten(relation: Relation, leaves: &mut Vec<Leaf>, predicates: &mut Vec<Expression>) {
    match relation {
        Relation::Join(join) if join.kind == JoinKind::Inner && !join.lateral && !join.straight => {
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

fn greedy(mut leaves: Vec<Leaf>, mut predicates: Vec<Expression>) -> Relation {
    let connected = |leaf: &Leaf, others: &[Leaf]| {
        others.iter().any(|other| {
            predicates
                .iter()
                .any(|predicate| connects(predicate, &other.columns, &leaf.columns))
        })
    };
    let mut first = 0;
    let mut best = f64::INFINITY;
    for (index, leaf) in leaves.iter().enumerate() {
        let (before, after) = leaves.split_at(index);
        let alone = !connected(leaf, before) && !connected(leaf, &after[1..]);
        // One that nothing leads to comes last.
        let rows = if alone { f64::MAX } else { leaf.rows };
        if rows < best {
            (first, best) = (index, rows);
        }
    }
    let mut joined = leaves.remove(first);
    while !leaves.is_empty() {
        let mut next = 0;
        let mut best = (false, f64::INFINITY);
        for (index, leaf) in leaves.iter().enumerate() {
            let equalities = predicates
                .iter()
                .filter(|p| connects(p, &joined.columns, &leaf.columns))
                .count();
            let rows = rows::joined(JoinKind::Inner, joined.rows, leaf.rows, equalities, false);
            let linked = equalities > 0;
            if (linked && !best.0) || (linked == best.0 && rows < best.1) {
                next = index;
                best = (linked, rows);
            }
        }
        let leaf = leaves.remove(next);
        joined = join_with(joined, leaf, &mut predicates);
    }
    joined.relation.filtered(predicates)
}

/// Whether a condition is an equality between two sides.
fn connects(predicate: &Expression, left: &ColumnSet, right: &ColumnSet) -> bool {
    use crate::expression::{Comparison, ExpressionKind};
    let ExpressionKind::Compare {
        comparison: Comparison::Equal | Comparison::NullSafeEqual,
        left: a,
        right: b,
    } = &predicate.kind
    else {
        return false;
    };
    let (a, b) = (a.columns(), b.columns());
    let within =
        |columns: &ColumnSet, side: &ColumnSet| !columns.is_empty() && columns.is_subset(side);
    (within(&a, left) && within(&b, right)) || (within(&b, left) && within(&a, right))
}

/// Joins one more input, by all conditions whose columns are there then.
fn join_with(joined: Leaf, leaf: Leaf, predicates: &mut Vec<Expression>) -> Leaf {
    let mut columns = joined.columns;
    columns.extend_from(&leaf.columns);
    let mut on = Vec::new();
    let mut later = Vec::new();
    let all_columns: Vec<ColumnSet> = predicates.iter().map(Expression::columns).collect();
    for (predicate, read) in predicates.drain(..).zip(all_columns) {
        if read.is_subset(&columns) {
            on.push(predicate);
        } else {
            later.push(predicate);
        }
    }
    *predicates = later;
    let relation = Relation::Join(Join {
        kind: JoinKind::Inner,
        left: Box::new(joined.relation),
        right: Box::new(leaf.relation),
        on,
        lateral: false,
        straight: false,
        null_aware: Vec::new(),
    });
    Leaf {
        rows: estimate(&relation),
        relation,
        columns,
    }
}

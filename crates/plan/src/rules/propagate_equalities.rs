//! Constant propagation: `a = b AND b = 5` implies `a = 5`, which an index over `a` may find, and `a = b` need not be
//! checked any more (the manual, "Constant Propagation").
//!
//! Rows of a chain of inner joins meet the conditions of all of them. So do the rows of a semijoin, with the partner of
//! each; and on the other side of an outer join or an antijoin only those rows matter that are partners of rows that
//! meet the conditions above. Implied conditions on a table are added where the table is read, below the join, and
//! never to an outer join's preserved side.

use super::equality_classes::{EqualityClass, EqualityClasses, column_pair, fixed};
use super::planning::Planning;
use super::rule::is_movable;
use crate::bind::compare_expression as compare;
use crate::tree::expression::{Comparison, Expression};
use crate::tree::logical::{
    ColumnSet, Join, Query, Relation, for_each_subquery_mut, produced, with_stack,
};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if planning.options.switches.equality_propagation {
        query.for_each_tree_mut(&mut propagate);
    }
}

/// Propagates in the joins of a tree, each chain of them as one.
fn propagate(relation: &mut Relation) {
    with_stack(|| {
        if joins_columns(relation) {
            let mut facts = Facts::default();
            facts.learn_all(relation);
            put(relation, &facts);
        } else {
            below(relation);
        }
    });
}

/// Whether a condition in a chain of joins equates two columns: without one nothing is implied.
fn joins_columns(relation: &Relation) -> bool {
    // Pairs that are not compared alike are not usable.
    let is_pair = |predicate: &Expression| column_pair(predicate).is_some();
    with_stack(|| match relation {
        Relation::Filter { input, predicates } => {
            predicates.iter().any(is_pair) || joins_columns(input)
        }
        Relation::Join(join) => {
            join.on.iter().any(is_pair) || joins_columns(&join.left) || joins_columns(&join.right)
        }
        _ => false,
    })
}

/// Propagates below a relation and in its subqueries.
fn below(relation: &mut Relation) {
    in_subqueries(relation);
    relation.for_each_input_mut(&mut propagate);
}

fn in_subqueries(relation: &mut Relation) {
    relation.for_each_expression_mut(&mut |expression| {
        for_each_subquery_mut(expression, &mut |subquery| {
            propagate(&mut subquery.relation)
        });
    });
}

/// Facts about the rows of a chain of joins.
#[derive(Clone, Default)]
struct Facts {
    classes: EqualityClasses,
    /// Columns of the chain, without those of outer queries.
    own: ColumnSet,
    /// Columns that a condition fixes already.
    fixed: ColumnSet,
}

impl Facts {
    fn learn(&mut self, predicates: &[Expression]) {
        for predicate in predicates {
            if is_movable(predicate) && predicate.columns().is_subset(&self.own) {
                if let Some((column, _)) = fixed(predicate) {
                    column.collect_columns(&mut self.fixed);
                }
                self.classes.learn(predicate);
            }
        }
    }

    /// Adds all conditions that hold for every row of a relation.
    fn learn_all(&mut self, relation: &Relation) {
        with_stack(|| match relation {
            Relation::Filter { input, predicates } => {
                self.learn_all(input);
                self.learn(predicates);
            }
            Relation::Scan(scan) => {
                self.own.extend_from(&produced(relation));
                self.learn(&scan.predicates);
            }
            Relation::Join(join) => {
                self.learn_all(&join.left);
                if is_met_by_both(join) {
                    self.learn_all(&join.right);
                    self.learn(&join.on);
                }
            }
            _ => self.own.extend_from(&produced(relation)),
        });
    }

    /// Implied equalities with constants that no condition has yet.
    fn news(&self, columns: &ColumnSet) -> Vec<Expression> {
        let mut news = Vec::new();
        for class in self.classes.iter() {
            let Some(constant) = &class.constant else {
                continue;
            };
            for (id, column) in class.columns() {
                if columns.contains(id) && !self.fixed.contains(id) {
                    news.push(compare(Comparison::Equal, column, constant.clone()));
                }
            }
        }
        news
    }

    /// Whether a condition only equates columns that are all fixed to constants.
    fn covers(&self, predicate: &Expression) -> bool {
        let class = self.classes.holding(predicate);
        class.is_some_and(EqualityClass::is_constant)
    }
}

/// Whether each output row of a join has a partner that meets its condition.
fn is_met_by_both(join: &Join) -> bool {
    matches!(join.kind, JoinKind::Inner | JoinKind::Semi)
}

/// Adds implied conditions where the columns come from.
fn put(relation: &mut Relation, facts: &Facts) {
    with_stack(|| match relation {
        Relation::Filter { .. } => put_below_filter(relation, facts),
        Relation::Join(_) => {
            in_subqueries(relation);
            if let Relation::Join(join) = relation {
                put_below_join(join, facts);
            }
        }
        leaf => {
            below(leaf);
            let news = facts.news(&produced(leaf));
            if !news.is_empty() {
                *leaf = leaf.take().filtered(news);
            }
        }
    });
}

fn put_below_filter(relation: &mut Relation, facts: &Facts) {
    in_subqueries(relation);
    let Relation::Filter { input, predicates } = relation else {
        return;
    };
    predicates.retain(|predicate| !facts.covers(predicate));
    put(input, facts);
    if predicates.is_empty() {
        *relation = input.take();
    }
}

fn put_below_join(join: &mut Join, facts: &Facts) {
    put(&mut join.left, facts);
    match join.kind {
        JoinKind::Inner => {
            join.on.retain(|predicate| !facts.covers(predicate));
            put(&mut join.right, facts);
        }
        JoinKind::Semi => put(&mut join.right, facts),
        JoinKind::Left | JoinKind::Anti => {
            let mut facts = facts.clone();
            // The right rows' own conditions come first, so that their columns are known.
            facts.learn_all(&join.right);
            facts.learn(&join.on);
            put(&mut join.right, &facts);
        }
        JoinKind::NullAwareAnti => propagate(&mut join.right),
    }
}

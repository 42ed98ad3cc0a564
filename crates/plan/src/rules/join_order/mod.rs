//! Join order: the cheapest of all join trees without needless cross products, including outer, semi- and antijoins
//! ([`operators`] has the rules of reordering, [`enumeration`] finds all trees, [`costs`] estimates each, [`search`]
//! keeps the best).
//!
//! A semijoin takes part as a join with the distinct rows of its inner side where these lead into an index of the outer
//! one.
//!
//! Of two inputs the one that an index leads to comes second; without an index they keep their order, and the build
//! side is chosen later. STRAIGHT_JOIN and hints keep their order.

mod costs;
mod enumeration;
mod noting;
mod operators;
mod search;
pub(super) mod semijoins;
#[cfg(test)]
mod tests;
mod transitive;

use self::costs::{Costs, Joined};
use self::operators::{Region, Set, TABLES_MAX, is_movable, leaf_count};
use self::search::{Search, Wanted};
use super::access_paths::needed_columns;
use super::planning::Planning;
use super::rule::NewColumns;
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::logical::{ColumnSet, Join, JoinHint, JoinHintKind, Query, Relation, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !query.holds(|relation| matches!(relation, Relation::Join(_))) {
        return;
    }
    let mut order = Order {
        needed: needed_columns(query),
        estimates: Estimates::of(query),
        options: planning.options,
        trace: planning.trace,
        columns: NewColumns::of(query),
        hints: std::mem::take(&mut query.join_hints),
    };
    query.for_each_block_mut(&mut |relation| order.convert_semijoins(relation));
    let next_column = order.columns.next();
    if next_column != query.next_column {
        query.next_column = next_column;
        order.needed = needed_columns(query);
        order.estimates = Estimates::of(query);
    }
    query.for_each_block_mut(&mut |relation| order.reorder(relation));
    query.join_hints = order.hints;
}

pub(super) struct Order<'a> {
    /// Columns that the statement reads.
    pub(super) needed: ColumnSet,
    pub(super) estimates: Estimates,
    pub(super) options: &'a PlanOptions,
    pub(super) trace: Option<&'a Trace>,
    pub(super) columns: NewColumns,
    hints: Vec<JoinHint>,
}

/// A chosen order.
enum Shape {
    Table(usize),
    Join(Box<Shape>, Box<Shape>, Vec<usize>),
}

impl Order<'_> {
    fn convert_semijoins(&self, relation: &mut Relation) {
        with_stack(|| {
            if let Relation::Join(join) = relation
                && let Some(plan) = semijoins::from_inner(join, self)
            {
                *relation = plan;
            }
            relation.for_each_input_mut(&mut |input| self.convert_semijoins(input));
        });
    }

    fn reorder(&self, relation: &mut Relation) {
        with_stack(|| {
            let is_region = matches!(&*relation, Relation::Join(join) if is_movable(join));
            if !is_region || leaf_count(relation) > TABLES_MAX {
                relation.for_each_input_mut(&mut |input| self.reorder(input));
                return;
            }
            self.reorder_leaves(relation);
            let written = relation.clone();
            *relation = self.reordered(relation.take()).unwrap_or(written);
        });
    }

    fn reorder_leaves(&self, relation: &mut Relation) {
        with_stack(|| match relation {
            Relation::Join(join) if is_movable(join) => {
                self.reorder_leaves(&mut join.left);
                self.reorder_leaves(&mut join.right);
            }
            other => self.reorder(other),
        });
    }

    /// The relation with the best join order found.
    fn reordered(&self, relation: Relation) -> Option<Relation> {
        let region = Region::of(relation);
        let costs = Costs::new(&region, &self.estimates, &self.needed, self.options);
        let mut search = Search::new(&costs);
        let wanted = self.wanted(&region);
        let hinted = wanted.and_then(|wanted| search.in_order(&wanted));
        if hinted.is_none() {
            search.run()?;
        }
        if let Some(trace) = self.trace {
            noting::note(&search, hinted.is_some(), trace);
        }
        let shape = shape(&search, search.all())?;
        let Region { leaves, operators } = region;
        let mut leaves = leaves.into_iter().map(|leaf| Some(leaf.relation)).collect();
        let mut operators = operators.into_iter().map(Some).collect();
        built(shape, &mut leaves, &mut operators, hinted.is_some())
    }

    /// Join order hints for the tables of a region.
    fn wanted(&self, region: &Region) -> Option<Wanted> {
        if self.hints.is_empty() {
            return None;
        }
        let all = Set::MAX >> (Set::BITS as usize - region.leaves.len());
        let mut before = vec![0; region.leaves.len()];
        let mut is_any = false;
        for hint in &self.hints {
            let of_hint = |leaf: &operators::Leaf, table: &String| match &leaf.relation {
                Relation::Scan(scan) => {
                    scan.select_id == hint.select_id && scan.alias.eq_ignore_ascii_case(table)
                }
                Relation::SharedScan { alias, .. } => alias.eq_ignore_ascii_case(table),
                Relation::Block {
                    derived: Some(derived),
                    ..
                } => derived.alias.eq_ignore_ascii_case(table),
                _ => false,
            };
            let position = |table: &String| {
                let mut leaves = region.leaves.iter();
                leaves.position(|leaf| of_hint(leaf, table))
            };
            let tables: Vec<usize> = hint.tables.iter().filter_map(position).collect();
            let named = tables.iter().fold(0, |set: Set, leaf| set | 1 << leaf);
            let mut earlier: Set = 0;
            for leaf in &tables {
                before[*leaf] |= earlier;
                if hint.kind == JoinHintKind::Suffix {
                    before[*leaf] |= all & !named;
                }
                earlier |= 1 << leaf;
                is_any = true;
            }
            if hint.kind == JoinHintKind::Prefix {
                for leaf in operators::each(all & !named) {
                    before[leaf] |= named;
                }
            }
        }
        is_any.then_some(Wanted { before })
    }
}

fn shape(search: &Search<'_, '_>, set: Set) -> Option<Shape> {
    with_stack(|| {
        let Joined { parts, .. } = search.plans.get(&set)?;
        let Some((left, right)) = *parts else {
            return Some(Shape::Table(set.trailing_zeros() as usize));
        };
        let operators = search.costs.ordered_operators(left, right)?;
        Some(Shape::Join(
            Box::new(shape(search, left)?),
            Box::new(shape(search, right)?),
            operators,
        ))
    })
}

fn built(
    shape: Shape,
    leaves: &mut Vec<Option<Relation>>,
    operators: &mut Vec<Option<operators::Operator>>,
    straight: bool,
) -> Option<Relation> {
    with_stack(|| match shape {
        Shape::Table(leaf) => leaves.get_mut(leaf)?.take(),
        Shape::Join(left, right, numbers) => {
            let left = built(*left, leaves, operators, straight)?;
            let right = built(*right, leaves, operators, straight)?;
            let mut join = Join::new(JoinKind::Inner, left, right, Vec::new());
            join.straight = straight;
            for number in numbers {
                let mut operator = operators.get_mut(number)?.take()?;
                join.kind = operator.kind;
                join.on.append(&mut operator.on);
                join.null_aware.append(&mut operator.null_aware);
            }
            Some(Relation::Join(join))
        }
    })
}

//! Costs of join orders: hash joins, index lookup joins, and nested loops.
//!
//! Costs are in the unit of [`crate::access::path`], in which a row of a scan costs 0.1.

use std::cell::RefCell;
use std::collections::HashMap;

use super::operators::{Operator, Region, Set, each, is_subset};
use crate::access::lookup::{self, LookupPath};
use crate::access::path;
use crate::estimate::{Estimates, joins};
use crate::options::PlanOptions;
use crate::predicates::sides_of_equality;
use crate::rules::access_paths::target;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Relation};
use crate::tree::physical::JoinKind;

/// Cost of an output row of a join.
const OUTPUT_COST: f64 = 0.03;
/// Cost of comparing two rows without an equality to hash by.
const PAIR_COST: f64 = 0.01;

/// A set of tables with its best known join.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joined {
    pub(super) rows: f64,
    pub(super) cost: f64,
    /// The two sets that it is joined of; `None` for a single table.
    pub(super) parts: Option<(Set, Set)>,
}

/// Costs of joining one more input.
pub(super) struct Step {
    pub(super) rows: f64,
    pub(super) cost: f64,
    /// Cost by a hash join or nested loop, including all costs before it.
    pub(super) hash: f64,
    /// Cost by an index lookup join.
    pub(super) lookup: Option<(LookupPath, f64)>,
}

/// Inputs of the cost estimation.
pub(super) struct Costs<'a> {
    pub(super) region: &'a Region,
    pub(super) estimates: &'a Estimates,
    pub(super) needed: &'a ColumnSet,
    pub(super) options: &'a PlanOptions,
    conditions: Vec<Vec<joins::PairCondition>>,
    /// For each operator whether it is an equality of its sides.
    equalities: Vec<bool>,
    /// For each table the tables that some operator joins with it.
    adjacent: Vec<Set>,
    /// For each table the numbers of the operators that read it.
    readers: Vec<Vec<usize>>,
    lookups: RefCell<HashMap<(usize, Set), Option<LookupPath>>>,
}

impl<'a> Costs<'a> {
    pub(super) fn new(
        region: &'a Region,
        estimates: &'a Estimates,
        needed: &'a ColumnSet,
        options: &'a PlanOptions,
    ) -> Self {
        let columns_of = |set: Set| {
            let mut columns = ColumnSet::new();
            each(set).for_each(|leaf| columns.extend_from(&region.leaves[leaf].columns));
            columns
        };
        let is_equality = |operator: &Operator| {
            let (left, right) = (columns_of(operator.left), columns_of(operator.right));
            let mut on = operator.on.iter();
            !operator.null_aware.is_empty()
                || on.any(|on| sides_of_equality(on, &left, &right).is_some())
        };
        let mut adjacent = vec![0; region.leaves.len()];
        let mut readers = vec![Vec::new(); region.leaves.len()];
        for (number, operator) in region.operators.iter().enumerate() {
            for leaf in each(operator.needs()) {
                adjacent[leaf] |= operator.needs();
                readers[leaf].push(number);
            }
        }
        let conditions = |operator: &Operator| {
            let on = operator.on.iter();
            on.map(|on| joins::PairCondition::of(estimates, on))
                .collect()
        };
        Self {
            conditions: region.operators.iter().map(conditions).collect(),
            equalities: region.operators.iter().map(is_equality).collect(),
            adjacent,
            readers,
            lookups: RefCell::default(),
            region,
            estimates,
            needed,
            options,
        }
    }

    /// Plan of a single table.
    pub(super) fn table(&self, leaf: usize) -> Joined {
        let relation = &self.region.leaves[leaf].relation;
        let rows = self.estimates.relation(relation);
        let cost = match relation {
            Relation::Scan(scan) => path::best(scan, self.needed, self.options).0.cost,
            _ => rows * path::ROW_COST,
        };
        Joined {
            rows,
            cost,
            parts: None,
        }
    }

    /// Numbers of the operators that apply where two sets are joined, the first being the left side; `None` if these
    /// cannot be joined.
    pub(super) fn operators(&self, left: Set, right: Set) -> Option<Vec<usize>> {
        let both = left | right;
        let mut found = Vec::new();
        let mut inner = true;
        let mut crosses = false;
        // An operator between the sets reads tables of both: only those of the smaller set are examined.
        let smaller = if left.count_ones() < right.count_ones() {
            left
        } else {
            right
        };
        let readers = each(smaller).flat_map(|leaf| {
            let readers = self.readers[leaf].iter();
            readers.map(move |number| (leaf, *number))
        });
        for (leaf, number) in readers {
            let operator = &self.region.operators[number];
            let needs = operator.needs();
            let is_seen = (needs & smaller).trailing_zeros() as usize != leaf;
            if is_seen || !is_subset(needs, both) || is_subset(needs, smaller) {
                continue;
            }
            if operator.is_cross {
                crosses |= operator.may_join(left, right);
                continue;
            }
            if !operator.may_join(left, right) {
                return None;
            }
            inner &= operator.is_inner();
            found.push(number);
        }
        found.sort_unstable();
        self.keep_one_of_class(&mut found);
        let is_one = inner || found.len() == 1;
        (is_one && (crosses || !found.is_empty())).then_some(found)
    }

    /// Keeps one equality of each class: one of two tables that other conditions compare, too, since columns of one
    /// table are estimated together; else the strictest.
    fn keep_one_of_class(&self, found: &mut Vec<usize>) {
        let operator = |number: usize| &self.region.operators[number];
        let of_classes = found.iter().filter(|one| operator(**one).class.is_some());
        if of_classes.count() < 2 {
            return;
        }
        let all = found.clone();
        let is_alone = |number: usize| {
            let (own, needs) = (operator(number).class, operator(number).needs());
            let mut others = all.iter().map(|other| operator(*other));
            !others.any(|other| other.needs() == needs && other.class != own)
        };
        let strictness = |number: usize| {
            let conditions = self.conditions[number].iter();
            conditions
                .map(joins::PairCondition::fraction)
                .product::<f64>()
        };
        let is_better = |one: usize, than: usize| {
            let order = is_alone(one).cmp(&is_alone(than));
            let order = order.then_with(|| strictness(one).total_cmp(&strictness(than)));
            order.then(one.cmp(&than)).is_lt()
        };
        found.retain(|number| {
            let class = operator(*number).class;
            let mut others = all.iter();
            class.is_none()
                || !others
                    .any(|other| operator(*other).class == class && is_better(*other, *number))
        });
    }

    /// The operators between two sets of a given join order; an empty list for a cross join.
    pub(super) fn ordered_operators(&self, left: Set, right: Set) -> Option<Vec<usize>> {
        let both = left | right;
        let is_new = |operator: &&Operator| {
            let needs = operator.needs();
            !operator.is_cross
                && is_subset(needs, both)
                && !is_subset(needs, left)
                && !is_subset(needs, right)
        };
        match self.operators(left, right) {
            None if self.region.operators.iter().any(|one| is_new(&one)) => None,
            found => Some(found.unwrap_or_default()),
        }
    }

    fn kind(&self, operators: &[usize]) -> JoinKind {
        let first = operators
            .first()
            .map(|first| self.region.operators[*first].kind);
        first.unwrap_or(JoinKind::Inner)
    }

    /// Cardinality of the join.
    fn rows(&self, operators: &[usize], left: f64, right: f64, right_set: Set) -> f64 {
        let kind = self.kind(operators);
        if kind == JoinKind::Inner {
            let conditions = operators
                .iter()
                .flat_map(|number| &self.conditions[*number]);
            return left * right * joins::together(self.estimates, conditions);
        }
        let Some(operator) = operators
            .first()
            .map(|first| &self.region.operators[*first])
        else {
            return left;
        };
        let mut columns = ColumnSet::new();
        each(right_set).for_each(|leaf| columns.extend_from(&self.region.leaves[leaf].columns));
        let conditions = (&*operator.on, &*operator.null_aware);
        joins::joined(self.estimates, kind, (left, right), &columns, conditions)
    }

    /// Costs of joining two sets, the first being the left side.
    pub(super) fn step(
        &self,
        operators: &[usize],
        (left_set, left): (Set, Joined),
        (right_set, right): (Set, Joined),
        rows: Option<f64>,
    ) -> Step {
        let kind = self.kind(operators);
        let rows = rows.unwrap_or_else(|| self.rows(operators, left.rows, right.rows, right_set));
        let output = rows * OUTPUT_COST;
        let side = |(set, one): (Set, Joined)| lookup::Side {
            rows: one.rows,
            scan: if set.count_ones() == 1 { one.cost } else { 0.0 },
        };
        let hash = if !operators.iter().any(|number| self.equalities[*number]) {
            left.rows * right.rows * PAIR_COST
        } else if kind == JoinKind::Inner {
            lookup::inner_hash_cost(side((left_set, left)), side((right_set, right)), rows)
        } else {
            lookup::hash_cost(right.rows, left.rows, rows)
        };
        let hash = left.cost + right.cost + hash + output;
        let lookup = self
            .lookup(kind, operators, left_set, right_set)
            .map(|path| {
                let cost = left.cost + lookup::cost(left.rows, &path) + output;
                (path, cost)
            });
        let cost = lookup.as_ref().map_or(hash, |(_, cost)| hash.min(*cost));
        Step {
            rows,
            cost,
            hash,
            lookup,
        }
    }

    /// The index by which a table may be looked up for each row of others.
    fn lookup(
        &self,
        kind: JoinKind,
        operators: &[usize],
        left: Set,
        right: Set,
    ) -> Option<LookupPath> {
        if right.count_ones() != 1 || operators.is_empty() {
            return None;
        }
        let leaf = right.trailing_zeros() as usize;
        let mut known = self.lookups.borrow_mut();
        let found = known.entry((leaf, left & self.adjacent[leaf]));
        found
            .or_insert_with(|| {
                let operators = operators
                    .iter()
                    .map(|number| &self.region.operators[*number]);
                let mut on: Vec<Expression> = Vec::new();
                for operator in operators {
                    if !operator.null_aware.is_empty() {
                        return None;
                    }
                    on.extend(operator.on.iter().cloned());
                }
                let target = target(&self.region.leaves[leaf].relation, kind, &on)?;
                lookup::best(target.scan, &on, self.needed, self.options)
            })
            .clone()
    }
}

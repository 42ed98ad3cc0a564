//! Removal of redundant group keys: in `GROUP BY c.id, c.name, n.name` over customers `c` and their nations `n`, the
//! customer's key determines the others (the manual, "Detection of Functional Dependence"). A removed key becomes
//! ANY_VALUE, since all values of a group are equal; narrow keys are hashed, compared and stored faster than texts.
//!
//! A unique key without NULLs determines the other columns of its table, an equality of numbers or times one of its
//! columns by the other, and a constant any column equal to it. Of an outer join only the preserved side counts.

use super::aggregate_calls::any_value;
use super::equality_classes::{fixed, is_exact};
use super::planning::Planning;
use crate::options::PlanOptions;
use crate::tree::expression::Expression;
use crate::tree::logical::{Aggregate, ColumnId, ColumnSet, Computed, Query, Relation, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.group_key_reduction {
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation
            && aggregate.keys.len() > 1
            && aggregate.rollup.is_none()
        {
            reduce(aggregate, planning.options);
        }
    });
}

fn reduce(aggregate: &mut Aggregate, options: &PlanOptions) {
    let mut dependences = Dependences::default();
    dependences.learn(&aggregate.input);
    if dependences.tables.is_empty() && dependences.equal.is_empty() {
        return;
    }
    // The widest first, so that the narrowest stay.
    let mut order: Vec<usize> = (0..aggregate.keys.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(width(&aggregate.keys[*at])));
    let mut is_key = vec![true; aggregate.keys.len()];
    for at in order {
        let Some(id) = column_of(&aggregate.keys[at]) else {
            continue;
        };
        is_key[at] = false;
        let others = aggregate.keys.iter().zip(&is_key);
        let others = others.filter(|(_, is_key)| **is_key);
        let others = others.filter_map(|(key, _)| column_of(key));
        if !dependences.determined(others.collect()).contains(id) || !is_key.contains(&true) {
            is_key[at] = true;
        }
    }
    let mut kept = Vec::with_capacity(aggregate.keys.len());
    for (key, is_key) in aggregate.keys.drain(..).zip(is_key) {
        match (!is_key)
            .then(|| any_value(&key.expression, options))
            .flatten()
        {
            Some(call) => aggregate.aggregates.push((key.id, call)),
            None => kept.push(key),
        }
    }
    aggregate.keys = kept;
}

/// Input column of a key.
fn column_of(key: &Computed) -> Option<ColumnId> {
    key.expression.as_column()
}

fn width(key: &Computed) -> (bool, u32) {
    let ty = &key.expression.ty;
    (ty.is_string(), ty.length)
}

/// Functional dependences between the columns of some rows.
#[derive(Default)]
struct Dependences {
    /// Columns of tables, and the keys of each.
    tables: Vec<(ColumnSet, Vec<ColumnSet>)>,
    equal: Vec<(ColumnId, ColumnId)>,
    constant: ColumnSet,
}

impl Dependences {
    fn learn(&mut self, relation: &Relation) {
        with_stack(|| match relation {
            Relation::Scan(scan) => {
                let keys = scan.table.unique_keys.iter();
                let keys = keys.map(|key| key.iter().map(|at| scan.first + at).collect());
                let columns = scan.first..=scan.position();
                self.tables.push((columns.collect(), keys.collect()));
                self.learn_all(&scan.predicates);
            }
            Relation::Filter { input, predicates } => {
                self.learn_all(predicates);
                self.learn(input);
            }
            Relation::Extend { input, .. }
            | Relation::Sort {
                input, limit: None, ..
            } => {
                self.learn(input);
            }
            Relation::Join(join) => {
                self.learn(&join.left);
                if join.kind == JoinKind::Inner {
                    self.learn_all(&join.on);
                    self.learn(&join.right);
                }
            }
            _ => {}
        });
    }

    fn learn_all(&mut self, predicates: &[Expression]) {
        for predicate in predicates {
            let Some((left, right)) = predicate.as_equality() else {
                continue;
            };
            if !is_exact(&left.ty, &right.ty) {
                continue;
            }
            if let (Some(a), Some(b)) = (left.as_column(), right.as_column()) {
                self.equal.push((a, b));
            } else if let Some((column, _)) = fixed(predicate) {
                column.collect_columns(&mut self.constant);
            }
        }
    }

    /// All columns that some columns determine.
    fn determined(&self, mut known: ColumnSet) -> ColumnSet {
        known.extend_from(&self.constant);
        loop {
            let mut grew = false;
            for (columns, keys) in &self.tables {
                if !columns.is_subset(&known) && keys.iter().any(|key| key.is_subset(&known)) {
                    known.extend_from(columns);
                    grew = true;
                }
            }
            for (a, b) in &self.equal {
                if known.contains(*a) != known.contains(*b) {
                    known.insert(*a);
                    known.insert(*b);
                    grew = true;
                }
            }
            if !grew {
                return known;
            }
        }
    }
}

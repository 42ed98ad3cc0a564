//! Removal of needless outer joins. A join whose added columns are not read is removed where each row has at most one
//! partner (by a unique key, or the keys of a GROUP BY), or where duplicates do not matter; and `LEFT JOIN b … WHERE
//! b.id IS NULL` becomes an antijoin if `b.id` is never NULL in a partner.
//!
//! The columns read are found from the top: a column that a view computes and its reader does not name is not read, and
//! no longer computed. Inner joins stay: they decide whether a row has a partner, and a foreign key whose checks may be
//! off does not guarantee one.

use mayfly_types::Value;

use super::planning::Planning;
use super::rule::{is_movable, is_plain, rejects_nulls};
use super::unique::has_one_partner;
use crate::options::OptimizerSwitches;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, ColumnSet, Computed, Join, Query, Relation, SharedRelation, expression_is_volatile,
    for_each_subquery_mut, free_columns, produced, with_stack,
};
use crate::tree::physical::{JoinKind, SetOperationKind};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let switches = &planning.options.switches;
    let is_on = switches.join_elimination || switches.outer_join_to_antijoin;
    let is_outer = |relation: &Relation| matches!(relation, Relation::Join(join) if join.kind == JoinKind::Left);
    if !is_on || !query.holds(is_outer) {
        return;
    }
    let needless = Needless { switches };
    let all_rows = |columns: &[ColumnId]| Wanted {
        columns: columns.iter().copied().collect(),
        once: false,
    };
    needless.below(&mut query.relation, &all_rows(&query.columns));
    for shared in &mut query.shared {
        let wanted = all_rows(&shared.columns);
        match &mut shared.source {
            None => {}
            Some(SharedRelation::Plain(relation)) => needless.below(relation, &wanted),
            Some(SharedRelation::Recursive {
                seed,
                step,
                step_columns,
                ..
            }) => {
                needless.below(seed, &wanted);
                needless.below(step, &all_rows(step_columns));
            }
        }
    }
}

/// Columns wanted of a relation's rows.
#[derive(Clone)]
struct Wanted {
    columns: ColumnSet,
    /// Whether duplicates do not matter.
    once: bool,
}

impl Wanted {
    fn with<'e>(&self, read: impl IntoIterator<Item = &'e Expression>) -> Self {
        let mut wanted = self.clone();
        wanted.columns.add_read_by(read);
        wanted
    }

    /// These columns of all rows, where the number of equal rows matters.
    fn of_all(self) -> Self {
        Self {
            once: false,
            ..self
        }
    }
}

struct Needless<'a> {
    switches: &'a OptimizerSwitches,
}

impl Needless<'_> {
    fn below(&self, relation: &mut Relation, wanted: &Wanted) {
        with_stack(|| {
            self.leave_out(relation, wanted);
            self.in_subqueries(relation);
            self.inputs(relation, wanted);
        });
    }

    fn in_subqueries(&self, relation: &mut Relation) {
        relation.for_each_expression_mut(&mut |expression| {
            for_each_subquery_mut(expression, &mut |subquery| {
                let columns = subquery.columns.iter().copied().collect();
                let once = false;
                self.below(&mut subquery.relation, &Wanted { columns, once });
            });
        });
    }

    /// Removes the join that a relation is, if it is needless.
    fn leave_out(&self, relation: &mut Relation, wanted: &Wanted) {
        if !self.switches.join_elimination {
            return;
        }
        while let Relation::Join(join) = relation
            && join.kind == JoinKind::Left
            && !join.lateral
            && !wanted.columns.intersects(&produced(&join.right))
            && (wanted.once || has_one_partner(join, &join.right))
            && join.on.iter().all(is_plain)
            && is_plain_relation(&join.right)
        {
            *relation = join.left.take();
        }
    }

    fn inputs(&self, relation: &mut Relation, wanted: &Wanted) {
        match relation {
            Relation::Values { .. } | Relation::Scan(_) | Relation::SharedScan { .. } => {}
            Relation::Filter { input, predicates } => {
                let once = wanted.once && predicates.iter().all(is_movable);
                let asked = Wanted {
                    once,
                    ..wanted.with(&*predicates)
                };
                if self.switches.outer_join_to_antijoin {
                    to_antijoin(input, predicates, wanted);
                }
                self.below(input, &asked);
                if predicates.is_empty() {
                    *relation = input.take();
                }
            }
            Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                columns.retain(|column| {
                    wanted.columns.contains(column.id) || expression_is_volatile(&column.expression)
                });
                let mut asked = wanted.with(columns.iter().map(|column| &column.expression));
                asked.once &= columns.iter().all(|column| is_movable(&column.expression));
                self.below(input, &asked);
            }
            Relation::Aggregate(aggregate) => {
                let calls = &mut aggregate.aggregates;
                calls.retain(|(id, _)| wanted.columns.contains(*id));
                let calls = aggregate.aggregates.iter().map(|(_, call)| call);
                let once = aggregate.rollup.is_none()
                    && aggregate.keys.iter().all(|key| is_movable(&key.expression))
                    && calls.clone().all(|call| {
                        call.minds_no_repeats() && call.arguments.iter().all(is_movable)
                    });
                let mut columns = ColumnSet::new();
                columns.add_read_by(aggregate.keys.iter().map(|key| &key.expression));
                for call in calls {
                    columns.add_read_by(&call.arguments);
                    columns.add_read_by(call.order_by.iter().map(|key| &key.expression));
                }
                self.below(&mut aggregate.input, &Wanted { columns, once });
            }
            Relation::SetOperation {
                kind,
                all,
                inputs,
                columns,
                ..
            } => {
                // Only UNION ALL may drop columns without changing the set of rows.
                let streams = *all && *kind == SetOperationKind::Union;
                for (input, ids) in inputs {
                    let pairs = columns.iter().zip(&*ids);
                    let kept = pairs.filter(|(id, _)| !streams || wanted.columns.contains(**id));
                    let columns = kept.map(|(_, id)| *id).collect();
                    let once = !*all;
                    self.below(input, &Wanted { columns, once });
                }
            }
            Relation::Join(join) => self.sides(join, wanted),
            Relation::Sort {
                input,
                keys,
                limit: None,
                ..
            } => {
                let asked = wanted.with(keys.iter().map(|key| &key.expression));
                self.below(input, &asked);
            }
            Relation::Block { input, .. } => self.below(input, wanted),
            other => {
                let mut read = Vec::new();
                other.for_each_expression(&mut |expression| read.push(expression));
                let asked = wanted.with(read).of_all();
                other.for_each_input_mut(&mut |input| self.below(input, &asked));
            }
        }
    }

    fn sides(&self, join: &mut Join, wanted: &Wanted) {
        let pairs = join.null_aware.iter().flat_map(|(a, b)| [a, b]);
        let mut asked = wanted.with(join.on.iter().chain(pairs));
        asked.once &= join.on.iter().all(is_movable);
        if join.lateral {
            asked.columns.extend_from(&free_columns(&join.right));
            asked = asked.of_all();
        }
        self.below(&mut join.left, &asked);
        asked.once |= join.kind.is_left_only();
        self.below(&mut join.right, &asked);
    }
}

/// Turns the outer join that a relation is into an antijoin, if a condition keeps only rows without a partner, whose
/// added columns are NULL.
fn to_antijoin(relation: &mut Relation, predicates: &mut Vec<Expression>, wanted: &Wanted) {
    let Relation::Join(join) = relation else {
        return;
    };
    if join.kind != JoinKind::Left || join.lateral || !join.on.iter().all(is_movable) {
        return;
    }
    let added = produced(&join.right);
    let keeps_lone_rows = |predicate: &Expression| match &predicate.kind {
        ExpressionKind::IsNull(operand) => operand
            .as_column()
            .is_some_and(|id| added.contains(id) && is_set_in_partners(join, id)),
        _ => false,
    };
    let Some(at) = predicates.iter().position(keeps_lone_rows) else {
        return;
    };
    let mut others = predicates.clone();
    others.remove(at);
    let read = wanted.with(&others).columns;
    let read = read.iter().filter(|id| added.contains(*id));
    let Some(nulls) = read
        .map(|id| null_of(&join.right, id))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    join.kind = JoinKind::Anti;
    *predicates = others;
    *relation = relation.take().extended(nulls);
}

/// Whether a column of the right side of a join is never NULL in a partner.
fn is_set_in_partners(join: &Join, id: ColumnId) -> bool {
    let only: ColumnSet = [id].into_iter().collect();
    join.on.iter().any(|one| rejects_nulls(one, &only)) || is_set(&join.right, id, &only)
}

fn is_set(relation: &Relation, id: ColumnId, only: &ColumnSet) -> bool {
    let refuses = |predicates: &[Expression]| predicates.iter().any(|one| rejects_nulls(one, only));
    with_stack(|| match relation {
        Relation::Scan(scan) => {
            let at = id.checked_sub(scan.first);
            let column = at.and_then(|at| scan.table.columns.get(at));
            column.is_some_and(|column| !column.nullable) || refuses(&scan.predicates)
        }
        Relation::Filter { input, predicates } => refuses(predicates) || is_set(input, id, only),
        Relation::Join(join) if produced(&join.left).contains(id) => is_set(&join.left, id, only),
        Relation::Join(join) => join.kind == JoinKind::Inner && is_set(&join.right, id, only),
        Relation::Extend { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Block { input, .. } => produced(input).contains(id) && is_set(input, id, only),
        _ => false,
    })
}

/// NULL in place of a column of a table.
fn null_of(relation: &Relation, id: ColumnId) -> Option<Computed> {
    let Relation::Scan(scan) = relation else {
        return None;
    };
    let column = scan.table.columns.get(id.checked_sub(scan.first)?)?;
    let expression = Expression::literal(Value::Null, column.ty.clone());
    Some(Computed { id, expression })
}

/// Whether reading a relation has no side effects.
fn is_plain_relation(relation: &Relation) -> bool {
    let mut plain = true;
    relation.for_each_expression(&mut |expression| plain &= is_plain(expression));
    let mut inputs = relation.inputs().into_iter();
    plain && with_stack(|| inputs.all(is_plain_relation))
}

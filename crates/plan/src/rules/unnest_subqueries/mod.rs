//! Unnesting of correlated subqueries in expressions: instead of once for each outer row, the subquery runs once,
//! grouped by the columns that its condition equates with the outer row's, and each outer row is joined with its group
//! (Neumann and Kemper, "Unnesting Arbitrary Queries", BTW 2015).
//!
//! ```text
//! a < (SELECT avg(b) FROM u WHERE u.k = t.k)
//!   t LEFT JOIN (SELECT k, avg(b) v FROM u GROUP BY k) d ON d.k = t.k, and a < d.v
//! ```
//!
//! An outer row without a group is one for which the subquery finds no rows: its aggregates are NULL, as over no rows,
//! except COUNT(), which is 0 (the count bug of Kim's method). Expressions over aggregates, and HAVING, are therefore
//! computed above the join. A subquery without aggregates must find at most one row by a unique key, since more than
//! one would have to be error 1242; `ORDER BY … LIMIT 1` leaves one of each group ([`first_row`]).
//!
//! With correlated conditions other than equalities, the groups are those of the distinct outer rows: the subquery is
//! joined with these first (the domain of the paper). They are read a second time, and where they are few they also
//! exclude rows from groups that no outer row needs.

mod cost;
mod first_row;
mod quantified;
mod shape;
mod taken;

use std::cell::Cell;

use super::access_paths::needed_columns;
use super::copy::{copy, renumber};
use super::planning::Planning;
use super::rule::{NewColumns, is_exact, is_movable, substitute};
use super::{outer_to_inner, propagate_equalities, push_predicates, scan_rows};
use crate::bind::compare_expression as compare;
use crate::document::{Document, Members};
use crate::estimate::Estimates;
use crate::predicates::or;
use crate::trace::{Trace, number, object};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, ColumnSet, Computed, DerivedTable, Join, Query, Relation, Subquery,
    SubqueryKind, free_columns, has_subquery, produced, visit_expression, visit_expression_mut,
    with_stack,
};
use crate::tree::physical::{JoinKind, Purpose};
use cost::{Choice, combinations};
use quantified::Quantified;
use shape::{Shape, column_types};
use taken::Taken;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let switches = &planning.options.switches;
    if !(switches.subquery_unnesting || switches.subquery_to_derived) || !holds_candidates(query) {
        return;
    }
    // The comparison depends on cardinalities.
    scan_rows::apply(query, planning);
    let mut limited = Vec::new();
    query.for_each_relation_mut(&mut |relation| limited.extend(limited_columns(relation)));
    let unnest = Unnest {
        limited,
        needed: needed_columns(query),
        estimates: Estimates::of(query),
        columns: NewColumns::of(query),
        changed: Cell::new(false),
        planning,
    };
    query.for_each_relation_mut(&mut |relation| unnest.in_relation(relation));
    query.next_column = unnest.columns.next();
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Scan(scan) = relation {
            scan.rows = None;
        }
    });
    if unnest.changed.get() {
        // A comparison with a NULL of a missing group rejects rows without a group, so that the outer join may become
        // an inner one.
        outer_to_inner::apply(query, planning);
        propagate_equalities::apply(query, planning);
        push_predicates::apply(query, planning);
    }
}

fn holds_candidates(query: &mut Query) -> bool {
    query.holds(|relation| {
        let mut found = false;
        relation.for_each_expression(&mut |expression| found |= has_candidate(expression));
        found
    })
}

fn has_candidate(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        if let ExpressionKind::LogicalSubquery(subquery) = &inner.kind {
            found |= is_candidate(subquery);
        }
        !found
    });
    found
}

/// Whether a subquery may become a join: an uncorrelated one is run once anyway.
fn is_candidate(subquery: &Subquery) -> bool {
    let is_kind = match &subquery.kind {
        SubqueryKind::Scalar | SubqueryKind::Exists { .. } => true,
        SubqueryKind::Quantified { .. } => Quantified::of(subquery).is_some(),
        SubqueryKind::Row { .. } => false,
    };
    is_kind && !free_columns(&subquery.relation).is_empty()
}

struct Unnest<'a> {
    /// Columns that the statement reads.
    needed: ColumnSet,
    estimates: Estimates,
    columns: NewColumns,
    /// (column, rows): columns that are computed for at most this number of rows.
    limited: Vec<(ColumnId, f64)>,
    changed: Cell<bool>,
    planning: &'a Planning<'a>,
}

/// Result of unnesting a subquery.
struct Unnested {
    /// Relation to join the outer rows with; each has at most one partner.
    right: Relation,
    on: Vec<Expression>,
    /// Value of the subquery, over both.
    value: Expression,
}

impl Unnest<'_> {
    /// Unnests the subqueries in a relation's own expressions.
    fn in_relation(&self, relation: &mut Relation) {
        if lift_conditions(relation) {
            // A subquery that does not become a join returns to its condition.
            self.changed.set(true);
        }
        let asked = self.asked(relation);
        let (input, mut expressions): (&mut Relation, Vec<&mut Expression>) = match relation {
            Relation::Filter { input, predicates } => (input, predicates.iter_mut().collect()),
            Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                let columns = columns.iter_mut();
                (
                    input,
                    columns.map(|column| &mut column.expression).collect(),
                )
            }
            Relation::Aggregate(aggregate) => {
                let keys = aggregate.keys.iter_mut().map(|key| &mut key.expression);
                let calls = aggregate.aggregates.iter_mut();
                let arguments = calls.flat_map(|(_, call)| &mut call.arguments);
                (&mut aggregate.input, keys.chain(arguments).collect())
            }
            _ => return,
        };
        for expression in &mut expressions {
            // A volatile value must be computed exactly as often as before.
            if !is_movable(expression) {
                continue;
            }
            visit_expression_mut(expression, &mut |inner| {
                let ExpressionKind::LogicalSubquery(subquery) = &inner.kind else {
                    return true;
                };
                match is_candidate(subquery).then(|| self.unnest(subquery, inner, input, asked)) {
                    Some(Some(value)) => {
                        *inner = value;
                        false
                    }
                    _ => true,
                }
            });
        }
    }

    /// Number of rows for which a relation's columns are needed.
    fn asked(&self, relation: &Relation) -> f64 {
        let Relation::Extend { columns, .. } = relation else {
            return f64::INFINITY;
        };
        let mut limited = self.limited.iter();
        let known = limited.find(|(id, _)| columns.iter().any(|column| column.id == *id));
        known.map_or(f64::INFINITY, |(_, count)| *count)
    }

    /// Joins a relation with the unnested subquery; returns its value.
    fn unnest(
        &self,
        subquery: &Subquery,
        whole: &Expression,
        input: &mut Relation,
        asked: f64,
    ) -> Option<Expression> {
        let asked = self.estimates.relation(input).min(asked);
        let input = below_orders(input)?;
        let outer = produced(input);
        let free = free_columns(&subquery.relation);
        if !free.intersects(&outer) || !free.is_subset(&outer) {
            return None;
        }
        let runs = combinations(input, &free, &self.estimates).min(asked);
        let (columns, options) = (&self.columns, self.planning.options);
        let relation = subquery.relation.clone();
        let mut joined: Vec<Unnested> = Vec::new();
        let mut join = |(rows, shape): (Relation, Shape)| {
            let unnested = self.unnested(subquery, rows, shape, (&*input, &outer), runs)?;
            let value = unnested.value.clone();
            joined.push(unnested);
            Some(value)
        };
        let value = match &subquery.kind {
            SubqueryKind::Exists { negated } => {
                join(Shape::existence(relation, *negated, columns, options)?)?
            }
            SubqueryKind::Quantified { .. } => {
                let quantified = Quantified::of(subquery)?;
                match quantified.membership() {
                    None => join(quantified.shape(relation, true, columns, options)?)?,
                    Some(member) => {
                        let rest = quantified.may_be_unknown().then(|| relation.clone());
                        let members = relation.filtered(vec![member]);
                        let found = join(Shape::existence(members, false, columns, options)?)?;
                        let unknown = match rest {
                            None => None,
                            Some(rest) => {
                                Some(join(quantified.shape(rest, false, columns, options)?)?)
                            }
                        };
                        quantified.told(or([found].into_iter().chain(unknown).collect()))
                    }
                }
            }
            SubqueryKind::Scalar | SubqueryKind::Row { .. } => {
                let column = *subquery.columns.first()?;
                let value = Expression::column(column, whole.ty.clone(), true);
                join(Shape::value(relation, value)?)?
            }
        };
        for unnested in joined {
            let left = input.take();
            *input = Relation::Join(Join::new(JoinKind::Left, left, unnested.right, unnested.on));
        }
        self.changed.set(true);
        Some(value)
    }

    fn unnested(
        &self,
        subquery: &Subquery,
        rows: Relation,
        shape: Shape,
        (input, outer): (&Relation, &ColumnSet),
        runs: f64,
    ) -> Option<Unnested> {
        let mut taken = Taken::new(outer, &self.columns);
        let inner = taken.take(rows)?;
        let choice = Choice {
            runs,
            outer_rows: self.estimates.relation(input),
            inner: &inner,
            equalities: &taken.equalities,
            needed: &self.needed,
            estimates: &self.estimates,
            options: self.planning.options,
        };
        let (is_better, subquery_cost, join_cost) = choice.prefers_join();
        let options = self.planning.options;
        let chosen = is_better || options.switches.subquery_to_derived || options.all_rewrites;
        let unnested = chosen
            .then(|| self.built(shape, &taken, inner, input, subquery.select_id))
            .flatten()
            .map(|unnested| self.renumbered(unnested));
        if let Some(trace) = self.planning.trace {
            let costs = (subquery_cost, join_cost);
            note(subquery, costs, chosen, unnested.is_some(), trace);
        }
        unnested
    }

    /// The unnested relation under new column numbers: a subquery may stand in a statement twice, as a select item and
    /// where its alias is read.
    fn renumbered(&self, mut unnested: Unnested) -> Unnested {
        let numbers = renumber(&mut unnested.right, &self.columns);
        let parts = unnested.on.iter_mut().chain([&mut unnested.value]);
        parts.for_each(|one| numbers.apply(one));
        unnested
    }

    fn built(
        &self,
        shape: Shape,
        taken: &Taken<'_>,
        inner: Relation,
        input: &Relation,
        select_id: usize,
    ) -> Option<Unnested> {
        if shape.is_by_key(taken, &inner) {
            return shape.by_key(taken, inner);
        }
        if shape.first.is_some() {
            return self.first_of_groups(shape, taken, inner, input, select_id);
        }
        let shape = match shape.calls {
            Some(_) => shape,
            None => shape.as_groups(&self.columns, self.planning.options)?,
        };
        // Without an equality there is one group of all rows, even of none, and each pair is made in any case.
        if taken.equalities.is_empty() {
            return None;
        }
        let mut calls = shape.calls.clone()?;
        let reads_outer = calls.iter().any(|(_, call)| {
            let order = call.order_by.iter().map(|key| &key.expression);
            let mut read = call.arguments.iter().chain(order);
            read.any(|one| one.columns().intersects(taken.outer()))
        });
        let (inner, keys, on) = if taken.others.is_empty() && !reads_outer {
            let (keys, on) = taken.keys();
            (self.reduced(inner, taken, input), keys, on)
        } else {
            self.with_domain(inner, taken, &mut calls, input)?
        };
        let value = shape.value_over(&calls)?;
        let cause = format!("subquery #{select_id} is grouped by what correlates it");
        let ids = calls.iter().map(|(id, _)| *id);
        let ids = ids.chain(keys.iter().map(|key| key.id)).collect();
        let groups = Aggregate::new(inner, keys, calls, Purpose::Subquery, cause);
        let right = derived(Relation::Aggregate(groups), ids, input, select_id);
        Some(Unnested { right, on, value })
    }

    /// First row of each group, whose columns are NULL where there is no group.
    fn first_of_groups(
        &self,
        mut shape: Shape,
        taken: &Taken<'_>,
        inner: Relation,
        input: &Relation,
        select_id: usize,
    ) -> Option<Unnested> {
        let first = shape.first.take()?;
        let is_grouped = !taken.equalities.is_empty() && taken.others.is_empty();
        if !is_grouped || !first.is_of_group(taken.outer()) {
            return None;
        }
        let (id, value) = shape.value_of_first()?;
        let (keys, on) = taken.keys();
        let ids = [id].into_iter().chain(keys.iter().map(|key| key.id));
        let ids = ids.collect();
        let rows = self.reduced(inner, taken, input);
        let right = derived(
            first.of_groups(rows, keys, &self.columns),
            ids,
            input,
            select_id,
        );
        Some(Unnested { right, on, value })
    }

    /// Reduces the rows of the subquery to those that an outer row may need, where the outer rows are few.
    fn reduced(&self, inner: Relation, taken: &Taken<'_>, input: &Relation) -> Relation {
        let mut asked = ColumnSet::new();
        asked.add_read_by(taken.equalities.iter().map(|one| &one.outer));
        let Some(source) = source(input, &asked) else {
            return inner;
        };
        if self.estimates.relation(source) > self.estimates.relation(&inner) * FEW {
            return inner;
        }
        let (source, numbers) = copy(source, &self.columns);
        let equal = taken.equalities.iter().map(|one| {
            let mut outer = one.outer.clone();
            numbers.apply(&mut outer);
            one.of(one.inner.clone(), outer)
        });
        let on = equal.collect();
        Relation::Join(Join::new(JoinKind::Semi, inner, source, on))
    }

    /// Rows of the subquery for each of the distinct outer rows.
    fn with_domain(
        &self,
        inner: Relation,
        taken: &Taken<'_>,
        calls: &mut shape::Calls,
        input: &Relation,
    ) -> Option<(Relation, Vec<Computed>, Vec<Expression>)> {
        let mut conditions = taken.all_conditions();
        let arguments = || calls.iter().flat_map(|(_, call)| &call.arguments);
        let asked = column_types(conditions.iter().chain(arguments()), taken.outer());
        if !asked.iter().all(|column| is_exact(&column.ty)) {
            return None;
        }
        let ids = asked.iter().filter_map(|column| column.as_column());
        let (source, numbers) = copy(source(input, &ids.collect())?, &self.columns);
        let mut domain = Vec::with_capacity(asked.len());
        let mut keys = Vec::with_capacity(asked.len());
        let mut on = Vec::with_capacity(asked.len());
        let mut replaced = Vec::with_capacity(asked.len());
        for column in asked {
            let outer = column.as_column()?;
            let (id, key) = (self.columns.one(), self.columns.one());
            let read = |id| Expression::column(id, column.ty.clone(), column.nullable);
            let expression = read(numbers.of(outer));
            domain.push(Computed { id, expression });
            replaced.push(Computed {
                id: outer,
                expression: read(id),
            });
            keys.push(Computed {
                id: key,
                expression: read(id),
            });
            let same = if column.nullable {
                Comparison::NullSafeEqual
            } else {
                Comparison::Equal
            };
            on.push(compare(same, read(key), read(outer)));
        }
        for condition in &mut conditions {
            substitute(condition, &replaced);
        }
        for (_, call) in calls.iter_mut() {
            let order = call.order_by.iter_mut().map(|key| &mut key.expression);
            let parts = call.arguments.iter_mut().chain(order);
            parts.for_each(|part| substitute(part, &replaced));
        }
        let cause = "a correlated subquery is computed once for each combination of outer values";
        let none = Vec::new();
        let domain = Aggregate::new(source, domain, none, Purpose::Distinct, cause);
        let domain = Relation::Aggregate(domain);
        let joined = Join::new(JoinKind::Inner, domain, inner, conditions);
        Some((Relation::Join(joined), keys, on))
    }
}

/// Maximum ratio of outer rows to a subquery's rows for the outer rows to be few.
const FEW: f64 = 0.3;

/// (column, rows): columns that are computed below a LIMIT for its rows alone.
fn limited_columns(relation: &Relation) -> Vec<(ColumnId, f64)> {
    let Relation::Limit {
        input,
        offset,
        count,
    } = relation
    else {
        return Vec::new();
    };
    let Relation::Extend { columns, .. } = &**input else {
        return Vec::new();
    };
    let rows = *offset as f64 + *count as f64;
    columns.iter().map(|column| (column.id, rows)).collect()
}

/// Moves conditions with subqueries above an inner join, so that the unnested subqueries can be joined below them.
/// Returns whether it moved any.
fn lift_conditions(relation: &mut Relation) -> bool {
    let Relation::Join(join) = relation else {
        return false;
    };
    if join.kind != JoinKind::Inner || !join.on.iter().any(has_candidate) {
        return false;
    }
    let lifted = join.on.extract_if(.., |one| has_candidate(one)).collect();
    *relation = relation.take().filtered(lifted);
    true
}

/// Place in a relation for a join: below its sort, whose order a join does not keep. `None` where the first rows are
/// wanted in the order in which they are found.
fn below_orders(relation: &mut Relation) -> Option<&mut Relation> {
    match relation {
        Relation::Sort { input, .. } => below_orders(input),
        Relation::Limit { input, .. } => match **input {
            Relation::Sort { .. } => below_orders(input),
            _ => None,
        },
        other => Some(other),
    }
}

/// Smallest part of a relation that has every combination of some columns of the relation, and can be read a second
/// time.
fn source<'r>(relation: &'r Relation, columns: &ColumnSet) -> Option<&'r Relation> {
    let whole = || is_copied(relation).then_some(relation);
    let holds = |side: &Relation| columns.is_subset(&produced(side));
    with_stack(|| match relation {
        Relation::Filter { input, .. } => source(input, columns),
        Relation::Join(join) if join.lateral => None,
        Relation::Join(join) => match join.kind {
            JoinKind::Inner if holds(&join.left) => source(&join.left, columns),
            JoinKind::Inner if holds(&join.right) => source(&join.right, columns),
            JoinKind::Left if holds(&join.left) => source(&join.left, columns),
            JoinKind::Semi | JoinKind::Anti | JoinKind::NullAwareAnti => {
                whole().or_else(|| source(&join.left, columns))
            }
            _ => whole(),
        },
        _ => whole(),
    })
}

/// The unnested subquery as a derived table of these columns.
fn derived(
    relation: Relation,
    columns: Vec<ColumnId>,
    outer: &Relation,
    select_id: usize,
) -> Relation {
    let columns = columns.into_iter().enumerate();
    let columns = columns.map(|(at, id)| (id, format!("Name_exp_{}", at + 1)));
    Relation::Block {
        input: Box::new(relation),
        select_id,
        derived: Some(Box::new(DerivedTable {
            alias: format!("derived_{}_{select_id}", block_of(outer)),
            columns: columns.collect(),
            materialize: None,
        })),
    }
}

/// Whether reading a relation a second time gives the same rows, at the cost of reading its tables.
fn is_copied(relation: &Relation) -> bool {
    let mut simple = true;
    relation.for_each_expression(&mut |one| simple &= is_movable(one) && !has_subquery(one));
    simple
        && match relation {
            Relation::Scan(_) => true,
            Relation::Filter { .. } | Relation::Extend { .. } | Relation::Join(_) => {
                let mut inputs = relation.inputs().into_iter();
                with_stack(|| inputs.all(is_copied))
            }
            _ => false,
        }
}

/// `select#` of the query block of a relation's first table.
fn block_of(relation: &Relation) -> usize {
    match relation {
        Relation::Scan(scan) => scan.select_id,
        _ => relation
            .inputs()
            .first()
            .map_or(1, |input| with_stack(|| block_of(input))),
    }
}

fn note(
    subquery: &Subquery,
    (subquery_cost, join_cost): (f64, f64),
    chosen: bool,
    done: bool,
    trace: &Trace,
) {
    let from = match &subquery.kind {
        SubqueryKind::Exists { .. } => "EXISTS (SELECT)",
        SubqueryKind::Quantified { all: false, .. } => "ANY (SELECT)",
        SubqueryKind::Quantified { all: true, .. } => "ALL (SELECT)",
        _ => "scalar subquery",
    };
    let mut members: Members = vec![
        ("select#", number(subquery.select_id)),
        ("from", Document::from(from)),
        ("to", Document::from("derived table")),
        ("subquery_cost", Document::from(subquery_cost)),
        ("join_cost", Document::from(join_cost)),
        ("chosen", Document::from(done)),
    ];
    let cause = match (chosen, done) {
        (false, _) => Some("cost"),
        (true, false) => Some("the subquery cannot be taken apart"),
        _ => None,
    };
    members.extend(cause.map(|cause| ("cause", Document::from(cause))));
    trace.prepared(object("transformation", members));
}

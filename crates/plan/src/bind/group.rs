//! GROUP BY: the Aggregate, and the columns that may be read above it.
//!
//! Above an Aggregate a group key that is a column keeps its number. Any other column is read through ANY_VALUE:
//! allowed if it is functionally dependent on the keys (the manual, "Detection of Functional Dependence"), or if
//! ONLY_FULL_GROUP_BY is off.

use mayfly_functions::aggregate::{self, Kind};
use mayfly_syntax::ast::Expr;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlMode, SqlType, Value};

use super::scope::Clause;
use super::select::OrderKey;
use super::types::{argument, compare};
use crate::bind::binder::Binder;
use crate::bind::literal;
use crate::not_supported::not_supported;
use crate::tree::expression::{Comparison, Expression, ExpressionKind, same_expression};
use crate::tree::logical::{
    Aggregate, ColumnId, ColumnSet, Computed, Relation, visit_deep_mut, visit_expression_mut,
    with_stack,
};
use crate::tree::physical::{AggregateCall, JoinKind, Purpose};
use crate::walk::for_each_child_mut;

/// Name of GROUPING() in errors.
const GROUPING: &str = "GROUPING function";

/// Rewriter of the expressions above an Aggregate, so that they read its columns.
struct Rewriter {
    /// Keys that are not plain columns (or any, under ROLLUP), with their columns.
    keys: Vec<(Expression, ColumnId)>,
    /// Key columns that kept their numbers.
    kept: ColumnSet,
    rollup: bool,
    /// Columns that are read but are not keys, in order of appearance.
    others: Vec<ColumnId>,
    seen: ColumnSet,
}

impl Rewriter {
    fn rewrite(&mut self, expression: &mut Expression, local: &dyn Fn(ColumnId) -> bool) {
        visit_deep_mut(expression, &mut |inner| self.step(inner, local));
    }

    fn step(&mut self, inner: &mut Expression, local: &dyn Fn(ColumnId) -> bool) -> bool {
        for (key, id) in &self.keys {
            if same_expression(key, inner) {
                let nullable = inner.nullable || self.rollup;
                *inner = Expression::column(*id, inner.ty.clone(), nullable);
                return false;
            }
        }
        if let ExpressionKind::Column(id) = inner.kind
            && local(id)
            && !self.kept.contains(id)
            && self.seen.insert(id)
        {
            self.others.push(id);
        }
        true
    }
}

impl Binder<'_> {
    /// Puts the Aggregate of the current query block over `input`, and rewrites the expressions above.
    pub(super) fn group(
        &mut self,
        input: Relation,
        having: Option<&mut Expression>,
        order: &mut [OrderKey],
    ) -> Result<Relation> {
        let (keys, rollup) = {
            let scope = self.scope();
            (scope.group_keys.clone(), scope.rollup)
        };
        let mut computed: Vec<Computed> = Vec::with_capacity(keys.len());
        let mut rewriter = Rewriter {
            keys: Vec::new(),
            kept: ColumnSet::new(),
            rollup,
            others: Vec::new(),
            seen: ColumnSet::new(),
        };
        for key in &keys {
            let known = computed
                .iter()
                .any(|other| same_expression(&other.expression, key));
            if known && !rollup {
                continue;
            }
            let id = match key.kind {
                // A column of an outer query keeps its number.
                ExpressionKind::Column(id) if !rollup && self.scope().slot_of(id).is_some() => {
                    rewriter.kept.insert(id);
                    id
                }
                _ => {
                    let id = self.new_column();
                    rewriter.keys.push((key.clone(), id));
                    id
                }
            };
            computed.push(Computed {
                id,
                expression: key.clone(),
            });
        }
        self.rewrite_above(&mut rewriter, &keys, &input, having, order)?;
        let mut aggregates = std::mem::take(&mut self.scope().aggregates);
        for id in std::mem::take(&mut rewriter.others) {
            let scope = self.scope();
            let Some(slot) = scope.slot_of(id) else {
                continue;
            };
            let column = scope.column(slot);
            aggregates.push((id, self.any_value(column)?));
        }
        let rollup_column = rollup.then(|| self.new_column());
        let groupings = self.groupings(&keys, rollup_column)?;
        let cause = if keys.is_empty() {
            ""
        } else {
            "GROUP BY has no index to follow"
        };
        let aggregate = Relation::Aggregate(Aggregate {
            rollup: rollup_column,
            ..Aggregate::new(input, computed, aggregates, Purpose::GroupBy, cause)
        });
        Ok(aggregate.extended(groupings))
    }

    /// Rewrites the select list, HAVING and ORDER BY; error 1055 or 1140 for a column without a single value in a
    /// group.
    fn rewrite_above(
        &mut self,
        rewriter: &mut Rewriter,
        keys: &[Expression],
        input: &Relation,
        having: Option<&mut Expression>,
        order: &mut [OrderKey],
    ) -> Result<()> {
        let strict = self
            .options
            .session
            .sql_mode
            .has(SqlMode::ONLY_FULL_GROUP_BY);
        let mut items = std::mem::take(&mut self.scope().items);
        let mut dependence: Option<ColumnSet> = None;
        let mut check = |binder: &Self, others: &[ColumnId], index: usize, clause: &str| {
            if !strict || others.is_empty() {
                return Ok(());
            }
            let known = dependence.get_or_insert_with(|| binder.determined(keys, input));
            match others.iter().find(|id| !known.contains(**id)) {
                Some(id) => Err(binder.not_grouped(*id, index, clause, keys.is_empty())),
                None => Ok(()),
            }
        };
        let of_items = items.iter_mut().enumerate();
        let of_items = of_items.map(|(at, item)| (&mut item.expression, at + 1, "SELECT list"));
        let of_having = having
            .into_iter()
            .map(|having| (having, 1, "HAVING clause"));
        let of_order = order.iter_mut().enumerate();
        let of_order = of_order.map(|(at, key)| (&mut key.expression, at + 1, "ORDER BY clause"));
        let mut windows = std::mem::take(&mut self.scope().windows);
        for (expression, index, clause) in of_items.chain(of_having).chain(of_order) {
            let before = rewriter.others.len();
            let scope = self.innermost();
            let is_local = |id| scope.slot_of(id).is_some();
            rewriter.rewrite(expression, &is_local);
            let read = expression.columns();
            windows.for_each_expression_of(&|id| read.contains(id), &mut |argument| {
                rewriter.rewrite(argument, &is_local);
            });
            check(self, &rewriter.others[before..], index, clause)?;
            // An aggregate in a subquery has made the group.
            if keys.is_empty() && !self.innermost().one_group {
                may_be_null(expression, &rewriter.seen);
                visit_deep_mut(expression, &mut |inner| {
                    inner.nullable |= matches!(inner.kind, ExpressionKind::Column(id) if rewriter.seen.contains(id));
                    true
                });
            }
        }
        windows.for_each_key(&mut |key, window, index| {
            let before = rewriter.others.len();
            let scope = self.innermost();
            rewriter.rewrite(key, &|id| scope.slot_of(id).is_some());
            let clause = format!("PARTITION BY or ORDER BY clause of window '{window}'");
            check(self, &rewriter.others[before..], index, &clause)
        })?;
        self.scope().windows = windows;
        self.scope().items = items;
        Ok(())
    }

    fn not_grouped(&self, id: ColumnId, index: usize, clause: &str, no_keys: bool) -> Error {
        let scope = self.innermost();
        let name = scope
            .slot_of(id)
            .map_or_else(String::new, |slot| scope.full_name(slot));
        let code = if no_keys {
            codes::ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2
        } else {
            codes::ER_WRONG_FIELD_WITH_GROUP
        };
        code.with(&[&index, &clause, &name])
    }

    /// Columns of FROM that have one value in each group.
    fn determined(&self, keys: &[Expression], input: &Relation) -> ColumnSet {
        let scope = self.innermost();
        let mut known: ColumnSet = keys.iter().filter_map(Expression::as_column).collect();
        let mut rules: Vec<(ColumnSet, ColumnId)> = Vec::new();
        collect_dependences(input, &mut rules);
        // A column of an outer query is a constant.
        let outer = self.scopes.len().saturating_sub(1);
        let is_outer = |id| {
            self.scopes[..outer]
                .iter()
                .any(|scope| scope.slot_of(id).is_some())
        };
        for (from, _) in &mut rules {
            *from = from.iter().filter(|id| !is_outer(*id)).collect();
        }
        loop {
            let mut grew = false;
            for (from, to) in &rules {
                if !known.contains(*to) && from.is_subset(&known) {
                    known.insert(*to);
                    grew = true;
                }
            }
            for table in &scope.tables {
                let complete = table
                    .unique_keys
                    .iter()
                    .any(|key| key.iter().all(|column| known.contains(table.id(*column))));
                if complete {
                    for column in 0..table.len() {
                        grew |= known.insert(table.id(column));
                    }
                }
            }
            if !grew {
                return known;
            }
        }
    }

    /// Replaces ANY_VALUE() by its argument where there are no groups otherwise: it makes none by itself.
    pub(super) fn dissolve_any_values<'e>(
        &mut self,
        others: impl Iterator<Item = &'e mut Expression>,
    ) {
        let scope = self.scope();
        if !scope.group_keys.is_empty() || scope.makes_groups() {
            return;
        }
        let calls = std::mem::take(&mut scope.aggregates);
        if calls.is_empty() {
            return;
        }
        let mut replace = |part: &mut Expression| dissolve_any_value(&calls, part);
        for item in &mut scope.items {
            visit_expression_mut(&mut item.expression, &mut replace);
        }
        for other in others {
            visit_expression_mut(other, &mut replace);
        }
        let windows = &mut scope.windows;
        windows.for_each_expression_of(&|_| true, &mut |part| {
            visit_expression_mut(part, &mut replace);
        });
        for window in &mut windows.specifications {
            let order = window.order.iter_mut().map(|key| &mut key.expression);
            for key in window.partition.iter_mut().chain(order) {
                visit_expression_mut(key, &mut replace);
            }
        }
    }

    /// Replaces ANY_VALUE() in a select item by its argument: GROUP BY names the item.
    pub(super) fn dissolve_grouped_any_values(&mut self, item: usize) {
        let scope = self.scope();
        if let Some(item) = scope.items.get_mut(item) {
            let calls = &scope.aggregates;
            visit_expression_mut(&mut item.expression, &mut |part| {
                dissolve_any_value(calls, part)
            });
        }
    }

    /// ANY_VALUE of a column.
    pub(super) fn any_value(&self, column: Expression) -> Result<AggregateCall> {
        let Some(function) = aggregate::by_name("any_value") else {
            return Err(not_supported("any_value"));
        };
        let signature = function.signature(&[argument(&column)], &self.options.session)?;
        Ok(AggregateCall {
            function,
            signature,
            arguments: vec![column],
            options: Vec::new(),
            distinct: false,
            order_by: Vec::new(),
            merges: false,
            text: "any_value()".to_owned(),
        })
    }

    /// Error 1056: GROUP BY names a select item that calls GROUPING().
    pub(super) fn refuse_grouping(&mut self, key: &Expression) -> Result<()> {
        let columns = key.columns();
        let mut groupings = self.scope().groupings.iter();
        if groupings.any(|(id, _)| columns.contains(*id)) {
            return Err(codes::ER_WRONG_GROUP_FIELD.with(&[&GROUPING]));
        }
        Ok(())
    }

    /// Binds GROUPING(key, …): a column whose value is computed after grouping.
    pub(super) fn bind_grouping(&mut self, written: &[&Expr]) -> Result<Expression> {
        let keys = written
            .iter()
            .map(|key| self.bind_stored(key))
            .collect::<Result<Vec<_>>>()?;
        if keys.iter().any(|key| key.as_literal().is_some()) {
            return Err(codes::ER_WRONG_ARGUMENTS.with(&[&GROUPING]));
        }
        let id = self.new_column();
        let scope = self.scope();
        if scope.clause == Clause::GroupBy {
            return Err(codes::ER_WRONG_GROUP_FIELD.with(&[&GROUPING]));
        }
        if !scope.clause.allows_aggregates() {
            return Err(codes::ER_INVALID_GROUP_FUNC_USE.error());
        }
        scope.groupings.push((id, keys));
        // Inside an aggregate the rows are not rolled up yet.
        Ok(if scope.inside_aggregate > 0 {
            literal::integer(0, 20)
        } else {
            Expression::column(id, SqlType::bigint(), false)
        })
    }

    /// Values of GROUPING() calls, from the number of rolled-up keys.
    fn groupings(
        &mut self,
        keys: &[Expression],
        rollup: Option<ColumnId>,
    ) -> Result<Vec<Computed>> {
        let calls = std::mem::take(&mut self.scope().groupings);
        let mut computed = Vec::with_capacity(calls.len());
        for (id, asked) in calls {
            let Some(rollup) = rollup else {
                // Without ROLLUP every row is of an ordinary group.
                let expression = literal::integer(0, 20);
                computed.push(Computed { id, expression });
                continue;
            };
            let mut sum: Option<Expression> = None;
            for (bit, key) in asked.iter().rev().enumerate() {
                let Some(at) = keys.iter().position(|known| same_expression(known, key)) else {
                    return Err(
                        codes::ER_FIELD_IN_GROUPING_NOT_GROUP_BY.with(&[&(asked.len() - bit)])
                    );
                };
                let rolled_up = compare(
                    Comparison::GreaterOrEqual,
                    Expression::column(rollup, SqlType::bigint(), false),
                    Expression::literal(
                        Value::Int(i64::try_from(keys.len() - at).unwrap_or(i64::MAX)),
                        SqlType::bigint(),
                    ),
                );
                let weight = literal::integer(1_i64.checked_shl(bit as u32).unwrap_or(0), 20);
                let term = Expression {
                    kind: ExpressionKind::Case {
                        branches: vec![(rolled_up, weight)],
                        otherwise: Some(Box::new(literal::integer(0, 20))),
                    },
                    ty: SqlType::bigint(),
                    nullable: false,
                };
                sum = Some(match sum {
                    None => term,
                    Some(sum) => self.call_bound("+", vec![sum, term])?,
                });
            }
            if let Some(expression) = sum {
                computed.push(Computed { id, expression });
            }
        }
        Ok(computed)
    }
}

/// Marks columns in an expression, and the expressions over them, as nullable; returns whether that changes anything.
fn may_be_null(expression: &mut Expression, columns: &ColumnSet) -> bool {
    let mut widened = match &expression.kind {
        ExpressionKind::Column(id) => columns.contains(*id),
        ExpressionKind::LogicalSubquery(_) => expression.columns().intersects(columns),
        _ => false,
    };
    with_stack(|| {
        for_each_child_mut(expression, &mut |child| {
            widened |= may_be_null(child, columns)
        });
    });
    if !matches!(
        expression.kind,
        ExpressionKind::IsNull(_) | ExpressionKind::IsTruth(..)
    ) {
        expression.nullable |= widened;
    }
    widened
}

/// Collects functional dependences from equalities in conditions: the first columns determine the second.
fn collect_dependences(relation: &Relation, rules: &mut Vec<(ColumnSet, ColumnId)>) {
    match relation {
        Relation::Filter { input, predicates } => {
            predicates
                .iter()
                .for_each(|predicate| equality(predicate, rules));
            collect_dependences(input, rules);
        }
        Relation::Join(join) => {
            if join.kind == JoinKind::Inner {
                join.on
                    .iter()
                    .for_each(|predicate| equality(predicate, rules));
                collect_dependences(&join.right, rules);
            } else {
                outer_equalities(join, rules);
            }
            collect_dependences(&join.left, rules);
        }
        Relation::Extend { input, columns } => {
            for column in columns {
                rules.push((column.expression.columns(), column.id));
            }
            collect_dependences(input, rules);
        }
        Relation::Block { .. } => {}
        _ => {}
    }
}

fn equality(predicate: &Expression, rules: &mut Vec<(ColumnSet, ColumnId)>) {
    let Some((left, right)) = predicate.as_equality() else {
        return;
    };
    if let ExpressionKind::Column(id) = left.kind {
        rules.push((right.columns(), id));
    }
    if let ExpressionKind::Column(id) = right.kind {
        rules.push((left.columns(), id));
    }
}

/// Collects functional dependences of an outer join: only the inner side is determined, and only by all columns of the
/// outer side that its condition reads, which also decide whether a partner exists.
fn outer_equalities(join: &crate::tree::logical::Join, rules: &mut Vec<(ColumnSet, ColumnId)>) {
    let left = crate::tree::logical::produced(&join.left);
    let mut read = ColumnSet::new();
    for predicate in &join.on {
        for id in predicate.columns().iter() {
            if left.contains(id) {
                read.insert(id);
            }
        }
    }
    let mut inner = Vec::new();
    join.on
        .iter()
        .for_each(|predicate| equality(predicate, &mut inner));
    for (from, to) in inner {
        if !left.contains(to) {
            let mut from: ColumnSet = from.iter().filter(|id| left.contains(*id)).collect();
            from.extend_from(&read);
            rules.push((from, to));
        }
    }
}

/// Replaces the result of an ANY_VALUE() by its argument; returns whether it is none.
fn dissolve_any_value(calls: &[(ColumnId, AggregateCall)], part: &mut Expression) -> bool {
    let is_called = |(known, call): &&(ColumnId, AggregateCall)| {
        part.as_column() == Some(*known) && call.function.kind() == Kind::AnyValue
    };
    let argument = calls.iter().find(is_called);
    let argument = argument.and_then(|(_, call)| call.arguments.first());
    if let Some(argument) = argument {
        *part = argument.clone();
    }
    argument.is_none()
}

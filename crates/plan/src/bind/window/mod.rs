//! Window functions: calls, their windows, and the relations that they become (the manual, "Window Functions").
//!
//! A call becomes a column of its query block, as an aggregate does. The windows are above grouping and HAVING and
//! below the select list: each distinct one sorts the rows by its partition and sort keys and adds a column for each of
//! its calls. Rules may then let windows share a sort.

mod call;
mod frame;

use mayfly_functions::Coercibility;
use mayfly_syntax::ast::{Expr, Function, NamedWindowDefinition};
use mayfly_syntax::ast::{WindowSpec, WindowType};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::binder::Binder;
use super::block::same_name;
use super::collation::{claimed, coercibility, has_collation, unclaimed};
use super::expression::{bare, claim_of_aggregate, is_descending, position_of};
use super::scope::Clause;
use super::window_scope::{BoundCall, Named, NamedState, Specification, UNNAMED};
use crate::tree::expression::{
    Expression, ExpressionKind, same_expression, same_expressions, same_order,
};
use crate::tree::logical::{Computed, Relation, Window, visit_expression_mut};
use crate::tree::physical::SortKey;
use crate::window::{WindowCall, WindowFunction};

impl Binder<'_> {
    /// Error 3593: a window function is not allowed here.
    pub(super) fn refuse_window(&mut self, function: &str) -> Result<()> {
        let scope = self.scope();
        if let Some(window) = &scope.windows.being_bound {
            return Err(codes::ER_WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC.with(&[window]));
        }
        if scope.windows.is_of_set_operation {
            return Err(codes::ER_AGGREGATE_ORDER_FOR_UNION.with(&[&1]));
        }
        let is_place = matches!(scope.clause, Clause::FieldList | Clause::OrderBy)
            && scope.inside_aggregate == 0
            && scope.windows.open == 0;
        if scope.windows.allowed && is_place {
            return Ok(());
        }
        Err(codes::ER_WINDOW_INVALID_WINDOW_FUNC_USE.with(&[&function]))
    }

    /// Binds the WINDOW clause.
    pub(super) fn bind_named_windows(&mut self, written: &[NamedWindowDefinition]) -> Result<()> {
        for NamedWindowDefinition(name, specification) in written {
            let named = &mut self.scope().windows.named;
            if let Some(known) = named
                .iter()
                .find(|known| same_name(&known.name, &name.value))
            {
                return Err(codes::ER_WINDOW_DUPLICATE_NAME.with(&[&known.name]));
            }
            named.push(Named {
                name: name.value.clone(),
                state: NamedState::Written(Box::new(specification.clone())),
            });
        }
        for at in 0..self.scope().windows.named.len() {
            self.named_window(at)?;
        }
        Ok(())
    }

    /// Specification of a named window, which is bound at its first use.
    fn named_window(&mut self, at: usize) -> Result<usize> {
        let named = &mut self.scope().windows.named[at];
        match std::mem::replace(&mut named.state, NamedState::Open) {
            NamedState::Open => Err(codes::ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH.error()),
            NamedState::Bound(known) => {
                named.state = NamedState::Bound(known);
                Ok(known)
            }
            NamedState::Written(written) => {
                let name = named.name.clone();
                let bound = self.bind_specification(&written, Some(name))?;
                self.scope().windows.named[at].state = NamedState::Bound(bound);
                Ok(bound)
            }
        }
    }

    fn window_of_name(&mut self, name: &str) -> Result<usize> {
        let mut named = self.scope().windows.named.iter();
        match named.position(|known| same_name(&known.name, name)) {
            Some(at) => self.named_window(at),
            None => Err(codes::ER_WINDOW_NO_SUCH_WINDOW.with(&[&name])),
        }
    }

    fn bind_specification(&mut self, written: &WindowSpec, name: Option<String>) -> Result<usize> {
        let shown = name.clone().unwrap_or_else(|| UNNAMED.to_owned());
        let base = match &written.window_name {
            Some(base) => Some(self.window_of_name(&base.value)?),
            None => None,
        };
        let base = base.map(|at| self.scope().windows.specifications[at].clone());
        let mut bound = Specification {
            name,
            base: None,
            partition: Vec::new(),
            order: Vec::new(),
            has_own_order: true,
            frame: None,
        };
        if let Some(base) = base {
            let base_name = base.name.unwrap_or_default();
            if !written.partition_by.is_empty() {
                return Err(codes::ER_WINDOW_NO_CHILD_PARTITIONING.error());
            }
            if base.frame.is_some() {
                return Err(codes::ER_WINDOW_NO_INHERIT_FRAME.with(&[&base_name]));
            }
            if !base.order.is_empty() && !written.order_by.is_empty() {
                return Err(codes::ER_WINDOW_NO_REDEFINE_ORDER_BY.with(&[&shown, &base_name]));
            }
            bound.has_own_order = base.order.is_empty();
            bound.partition = base.partition;
            bound.order = base.order;
            bound.base = Some(base_name);
        }
        let clause = self.scope().clause;
        self.scope().windows.being_bound = Some(shown.clone());
        self.scope().clause = Clause::WindowPartition;
        for key in &written.partition_by {
            let key = self.bind_window_key(key, &shown)?;
            bound.partition.push(key);
        }
        self.scope().clause = Clause::WindowOrder;
        for key in &written.order_by {
            let expression = self.bind_window_key(&key.expr, &shown)?;
            bound.order.push(SortKey {
                expression,
                descending: is_descending(key),
            });
        }
        if let Some(frame) = &written.window_frame {
            bound.frame = Some(self.bind_frame(frame, &bound.order, &shown)?);
        }
        self.scope().clause = clause;
        let windows = &mut self.scope().windows;
        windows.being_bound = None;
        windows.specifications.push(bound);
        Ok(windows.specifications.len() - 1)
    }

    fn bind_window_key(&mut self, written: &Expr, window: &str) -> Result<Expression> {
        let written = bare(written);
        if position_of(written).is_some() {
            return Err(codes::ER_WINDOW_ILLEGAL_ORDER_BY.with(&[&window]));
        }
        let key = unclaimed(self.bind_stored(written)?);
        for id in key.columns().iter() {
            if self.is_of_outer_query(id) {
                let mut outer = self.scopes.iter().rev().skip(1);
                let name = outer.find_map(|scope| Some(scope.full_name(scope.slot_of(id)?)));
                let name = name.unwrap_or_default();
                return Err(codes::ER_WINDOW_OUTER_REFERENCE.with(&[&name]));
            }
        }
        Ok(key)
    }

    /// Binds a call with OVER.
    pub(super) fn bind_window_call(
        &mut self,
        name: &str,
        call: &Function,
        over: &WindowType,
    ) -> Result<Expression> {
        let shown = name.to_ascii_lowercase();
        self.refuse_window(&shown)?;
        let depth = self.scopes.len() - 1;
        self.scopes[depth].windows.open += 1;
        let bound = self.bind_window_function(&shown, call)?;
        self.scopes[depth].windows.open -= 1;
        let (specification, is_named) = match over {
            WindowType::NamedWindow(name) => (self.window_of_name(&name.value)?, true),
            WindowType::WindowSpec(written) => (self.bind_specification(written, None)?, false),
        };
        let id = self.new_column();
        let claim = claim_of_window(&bound);
        self.has_claims |= claim.is_some();
        let windows = &mut self.scopes[depth].windows;
        let window = &windows.specifications[specification];
        let call = WindowCall {
            function: bound.function,
            arguments: bound.arguments,
            frame: window.frame(),
            result: bound.result.clone(),
            nullable: bound.nullable,
            over: window.over(is_named),
        };
        windows.calls.push(BoundCall {
            id,
            specification,
            call,
            client_type: bound.client_type,
        });
        self.deepest = self.deepest.max(Some(depth));
        let column = Expression::column(id, bound.result, bound.nullable);
        Ok(claimed(column, claim))
    }

    /// Puts the windows of the query block over its rows, each over a sort of its own.
    pub(super) fn put_windows(&mut self, mut relation: Relation) -> Relation {
        let windows = std::mem::take(&mut self.scope().windows);
        let mut specifications = windows.specifications;
        let mut calls = windows.calls;
        // Expressions other than columns are computed once, below all sorts.
        let mut computed: Vec<Computed> = Vec::new();
        let is_used = |at: usize, calls: &[BoundCall]| {
            let mut calls = calls.iter();
            calls.any(|call| call.specification == at)
        };
        for (at, specification) in specifications.iter_mut().enumerate() {
            if !is_used(at, &calls) {
                continue;
            }
            let is_constant = |key: &Expression| matches!(key.kind, ExpressionKind::Literal(_));
            specification.partition.retain(|key| !is_constant(key));
            specification
                .order
                .retain(|key| !is_constant(&key.expression));
            let order = specification.order.iter_mut();
            let order = order.map(|key| &mut key.expression);
            for key in specification.partition.iter_mut().chain(order) {
                let (ty, nullable) = (key.ty.clone(), key.nullable);
                let known = computed
                    .iter()
                    .position(|known| same_expression(&known.expression, key));
                let id = match (&key.kind, known) {
                    (ExpressionKind::Column(_), _) => continue,
                    (_, Some(known)) => computed[known].id,
                    (_, None) => {
                        let id = self.new_column();
                        let expression = key.clone();
                        computed.push(Computed { id, expression });
                        id
                    }
                };
                *key = Expression::column(id, ty, nullable);
            }
        }
        // The bounds of frames are computed from these values.
        for known in &mut calls {
            known.call.for_each_expression_mut(&mut |expression| {
                visit_expression_mut(expression, &mut |inner| {
                    let mut keys = computed.iter();
                    let key = keys.find(|key| same_expression(&key.expression, inner));
                    if let Some(key) = key {
                        let (ty, nullable) = (inner.ty.clone(), inner.nullable);
                        *inner = Expression::column(key.id, ty, nullable);
                    }
                    key.is_none()
                });
            });
        }
        relation = relation.extended(computed);
        while let Some(first) = calls.first() {
            let Specification {
                partition, order, ..
            } = specifications[first.specification].clone();
            let is_of_it = |call: &mut BoundCall| {
                let other = &specifications[call.specification];
                same_expressions(&partition, &other.partition) && same_order(&order, &other.order)
            };
            let own: Vec<BoundCall> = calls.extract_if(.., is_of_it).collect();
            let own = own.into_iter().map(|known| (known.id, known.call));
            relation = Window::over(relation, partition, order, own.collect());
        }
        relation
    }
}

/// Coercibility of a window function's result, if not that of table columns.
fn claim_of_window(bound: &call::BoundFunction) -> Option<Coercibility> {
    if let WindowFunction::Aggregate(aggregate) = &bound.function {
        return claim_of_aggregate(aggregate.as_ref());
    }
    if !has_collation(&bound.result) {
        return None;
    }
    let claims = bound.arguments.iter().map(coercibility);
    claims
        .min()
        .filter(|claim| *claim != Coercibility::Implicit)
}

//! Aggregate calls: each becomes a column of the query block that it aggregates.

use std::ops::ControlFlow;

use mayfly_functions::aggregate::Kind;
use mayfly_functions::{AggregateFunction, Coercibility, aggregate, scalar};
use mayfly_syntax::ast::{
    self, Expr, Flow, Function, FunctionArg, FunctionArguments, OrderByExpr, Query, Visit, Visitor,
    visit_expressions,
};
use mayfly_syntax::encodings::bytes_literal;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use super::plain;
use crate::bind::binder::Binder;
use crate::bind::collation::{claimed, coercibility, has_collation};
use crate::bind::numbers;
use crate::bind::scope::Clause;
use crate::bind::structured::check_aggregate;
use crate::bind::types::{argument, as_value, cast};
use crate::tree::expression::{Expression, same_expressions, same_order};
use crate::tree::physical::{AggregateCall, SortKey};

/// Whether a statement or an expression calls an aggregate function over groups, including in subqueries.
pub fn has_aggregates(syntax: &dyn Visit) -> bool {
    let flow = visit_expressions(syntax, |expression: &Expr| match expression {
        Expr::Function(call)
            if call.over.is_none() && aggregate::by_name(&call.name.to_string()).is_some() =>
        {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    flow.is_break()
}

/// Whether an expression calls an aggregate function that makes groups, except in subqueries.
pub fn calls_aggregates(syntax: &dyn Visit) -> bool {
    struct Search {
        queries: usize,
    }
    impl Visitor for Search {
        fn pre_visit_query(&mut self, _: &Query) -> Flow {
            self.queries += 1;
            Flow::Continue(())
        }

        fn post_visit_query(&mut self, _: &Query) -> Flow {
            self.queries -= 1;
            Flow::Continue(())
        }

        fn pre_visit_expr(&mut self, expression: &Expr) -> Flow {
            match expression {
                Expr::Function(call) if self.queries == 0 && call.over.is_none() => {
                    let function = match call.name.0.as_slice() {
                        [name] => aggregate::by_name(&name.value),
                        _ => None,
                    };
                    // ANY_VALUE() makes no groups by itself.
                    if function.is_some_and(|function| function.kind() != Kind::AnyValue) {
                        return Flow::Break(());
                    }
                    Flow::Continue(())
                }
                _ => Flow::Continue(()),
            }
        }
    }
    syntax.visit(&mut Search { queries: 0 }).is_break()
}

/// Whether a statement or an expression calls a window function, including in subqueries.
pub fn has_window_functions(syntax: &dyn Visit) -> bool {
    let flow = visit_expressions(syntax, |expression: &Expr| match expression {
        Expr::Function(call) if call.over.is_some() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    flow.is_break()
}

impl Binder<'_> {
    pub(super) fn bind_aggregate(
        &mut self,
        name: &str,
        function: &'static AggregateFunction,
        call: &Function,
    ) -> Result<Expression> {
        let FunctionArguments::List(list) = &call.args else {
            return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&name]));
        };
        let depth = self.scopes.len() - 1;
        let outside = self.deepest.take();
        let aggregates_outside = self.deepest_aggregate.take();
        self.scope().inside_aggregate += 1;
        let bound = self.bind_aggregate_parts(name, function, list);
        self.scopes[depth].inside_aggregate -= 1;
        // References of a subquery in the arguments to its own tables do not concern the call.
        let inside = self.deepest.map(|inside| inside.min(depth));
        self.deepest = outside.max(inside);
        // An aggregate over another query block may be an argument of one further in.
        let first = self.deepest_aggregate.map_or(0, |aggregate| aggregate + 1);
        self.deepest_aggregate = aggregates_outside;
        let call = bound?;
        // ANY_VALUE() of an outer column is that column.
        if call.function.kind() == Kind::AnyValue
            && inside.is_some_and(|inside| inside < depth)
            && let Some(value) = scalar::by_name("any_value")
        {
            return self.call_function(name, value, call.arguments);
        }
        self.add_aggregate(call, inside.unwrap_or(depth).max(first))
    }

    /// Binds the function, the arguments and the clauses of a call.
    pub(in crate::bind) fn bind_aggregate_parts(
        &mut self,
        name: &str,
        function: &'static AggregateFunction,
        list: &mayfly_syntax::ast::FunctionArgumentList,
    ) -> Result<AggregateCall> {
        let mut arguments = Vec::with_capacity(list.args.len());
        for written in &list.args {
            if matches!(written, FunctionArg::Wildcard) {
                continue;
            }
            arguments.push(as_value(self.bind_expression(plain(written)?)?));
        }
        if !function.arity().contains(&arguments.len()) {
            return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&name]));
        }
        check_aggregate(function, &arguments)?;
        let order_by = match list.order_by.as_slice() {
            [] => Vec::new(),
            keys => self.aggregate_order(keys, &arguments)?,
        };
        let distinct = list.distinct && !function.ignores_duplicates();
        if matches!(function.kind(), Kind::Sum | Kind::Avg) {
            // A hexadecimal literal is a number.
            for argument in &mut arguments {
                self.infer_parameter(argument, &SqlType::double());
                argument.change(numbers::as_number);
            }
        }
        if matches!(function.kind(), Kind::BitAnd | Kind::BitOr | Kind::BitXor)
            && let [argument] = arguments.as_mut_slice()
        {
            self.type_parameter_of_bits(argument);
        }
        let signature = {
            let known: Vec<_> = arguments.iter().map(argument).collect();
            function.signature(&known, &self.options.session)?
        };
        let arguments: Vec<Expression> = arguments
            .into_iter()
            .zip(&signature.arguments)
            .map(|(argument, wanted)| cast(numbers::integer_of_choice(argument, wanted), wanted))
            .collect();
        let separator = list.separator.as_ref();
        let collation = signature.result.collation;
        let options = separator.map(|separator| separator_text(separator, collation));
        let mut options: Vec<Value> = options.into_iter().collect();
        if let Some((offset, count)) = list.limit {
            if options.is_empty() {
                options.push(Value::from(","));
            }
            options.extend([Value::UInt(offset), Value::UInt(count)]);
        }
        let text = format!("{}()", function.name());
        Ok(AggregateCall {
            function,
            signature,
            arguments,
            options,
            distinct,
            order_by,
            merges: false,
            text,
        })
    }

    /// ORDER BY inside GROUP_CONCAT: a number means an argument.
    fn aggregate_order(
        &mut self,
        keys: &[OrderByExpr],
        arguments: &[Expression],
    ) -> Result<Vec<SortKey>> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            let expression = match position_of(&key.expr) {
                Some(position) => {
                    let argument = position.checked_sub(1).and_then(|at| arguments.get(at));
                    let unknown = || Clause::OrderBy.unknown(&position);
                    argument.cloned().ok_or_else(unknown)?
                }
                None => self.bind_stored(&key.expr)?,
            };
            bound.push(SortKey {
                expression,
                descending: is_descending(key),
            });
        }
        Ok(bound)
    }

    /// Gives an aggregate call a column in the query block that it belongs to: the innermost one whose columns it
    /// reads.
    fn add_aggregate(&mut self, call: AggregateCall, depth: usize) -> Result<Expression> {
        let innermost = self.scopes.len() - 1;
        let allows = |depth: usize| {
            let scope = self.scopes.get(depth);
            scope.is_some_and(|scope| scope.clause.allows_aggregates())
        };
        let depth = if allows(depth) { depth } else { innermost };
        if !allows(depth) || self.scopes[depth].inside_aggregate > 0 {
            return Err(codes::ER_INVALID_GROUP_FUNC_USE.error());
        }
        let ty = call.signature.result.clone();
        let nullable = call.signature.nullable;
        let claim = claim_of_aggregate(&call);
        let known = self.scopes[depth]
            .aggregates
            .iter()
            .find(|(_, known)| same_call(known, &call))
            .map(|(id, _)| *id);
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.new_column();
                self.scopes[depth].aggregates.push((id, call));
                id
            }
        };
        self.deepest = self.deepest.max(Some(depth));
        self.has_claims |= claim.is_some();
        self.deepest_aggregate = self.deepest_aggregate.max(Some(depth));
        Ok(claimed(Expression::column(id, ty, nullable), claim))
    }
}

/// Separator of GROUP_CONCAT in a collation: bytes are taken for characters of its character set.
fn separator_text(separator: &ast::Value, collation: CollationId) -> Value {
    match bytes_literal(separator) {
        None => Value::from(separator.clone().into_string().unwrap_or_default().as_str()),
        Some(bytes) => match collation.charset().decode(&bytes) {
            Ok(text) => Value::Bytes(text.into_owned()),
            Err(_) => Value::from("?"),
        },
    }
}

/// Coercibility of an aggregate's result, if not that of table columns: that of the values aggregated.
pub(crate) fn claim_of_aggregate(call: &AggregateCall) -> Option<Coercibility> {
    let names_values = matches!(
        call.function.kind(),
        Kind::Min | Kind::Max | Kind::AnyValue | Kind::GroupConcat
    );
    if !names_values || !has_collation(&call.signature.result) {
        return None;
    }
    let claims = call.arguments.iter().map(coercibility);
    // A number becomes a text.
    let claim = claims.min()?.min(Coercibility::Coercible);
    Some(claim).filter(|claim| *claim != Coercibility::Implicit)
}

/// Whether two calls give the same value.
fn same_call(a: &AggregateCall, b: &AggregateCall) -> bool {
    a.distinct == b.distinct
        && a.function.names() == b.function.names()
        && a.signature == b.signature
        && a.options == b.options
        && same_expressions(&a.arguments, &b.arguments)
        && same_order(&a.order_by, &b.order_by)
}

/// Number that ORDER BY or GROUP BY gives instead of an expression.
pub(crate) fn position_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(mayfly_syntax::ast::Value::Number(digits)) => digits.parse().ok(),
        _ => None,
    }
}

/// Whether a sort key has DESC.
pub(crate) fn is_descending(key: &OrderByExpr) -> bool {
    matches!(key.sort, Some(mayfly_syntax::ast::OrderBySort::Desc))
}

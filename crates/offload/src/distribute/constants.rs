//! Constants of a statement: values that depend on the session, and on no row, are computed before a plan is
//! distributed.

use std::sync::Arc;

use mayfly_functions::scalar::{Fact, Volatility};
use mayfly_plan::logical::{visit_expression, visit_expression_mut};
use mayfly_plan::physical::{Plan, QueryPlan, SharedSource};
use mayfly_plan::{Expression, ExpressionKind, with_stack};
use mayfly_types::{Result, Value};

use crate::encoding::reads_settings;

/// Computes an expression that reads no row.
pub type Compute<'c> = dyn FnMut(&Expression) -> Result<Value> + 'c;

/// Replaces expressions that depend on the session alone, such as `DATABASE()` and `@a`, by their values. `parameters` is
/// the number of the statement's `?`; parameters behind them are columns of outer queries.
///
/// # Errors
/// Those of `compute`.
pub fn settle(plan: &mut QueryPlan, parameters: usize, compute: &mut Compute<'_>) -> Result<()> {
    let mut settler = Settler {
        parameters,
        compute,
    };
    settler.plan(&mut plan.root)?;
    for shared in &mut plan.shared {
        if let SharedSource::Plan(plan) = &mut shared.source {
            settler.plan(plan)?;
        }
    }
    Ok(())
}

struct Settler<'s, 'c> {
    parameters: usize,
    compute: &'s mut Compute<'c>,
}

impl Settler<'_, '_> {
    fn plan(&mut self, plan: &mut Plan) -> Result<()> {
        let mut done = Ok(());
        plan.for_each_expression_mut(&mut |expression| {
            if done.is_ok() {
                done = self.expression(expression);
            }
        });
        with_stack(|| {
            plan.for_each_input_mut(&mut |input| {
                if done.is_ok() {
                    done = self.plan(input);
                }
            });
        });
        done
    }

    fn expression(&mut self, expression: &mut Expression) -> Result<()> {
        let mut done = Ok(());
        visit_expression_mut(expression, &mut |inner| {
            if done.is_err() {
                return false;
            }
            if let ExpressionKind::Subquery(subquery) = &mut inner.kind {
                let mut own = (**subquery).clone();
                done = self.plan(&mut own.plan);
                *subquery = Arc::new(own);
                return false;
            }
            if !self.is_of_session(inner) {
                return true;
            }
            match (self.compute)(inner) {
                Ok(value) => inner.kind = ExpressionKind::Literal(value),
                Err(error) => done = Err(error),
            }
            false
        });
        done
    }

    /// Whether an expression depends on the session, and on nothing else that could change while the statement runs.
    fn is_of_session(&self, expression: &Expression) -> bool {
        let (mut reads_session, mut is_constant) = (false, true);
        visit_expression(expression, &mut |inner| {
            match &inner.kind {
                ExpressionKind::Parameter(number) => is_constant &= *number < self.parameters,
                ExpressionKind::Column(_)
                | ExpressionKind::Local(_)
                | ExpressionKind::Let { .. }
                | ExpressionKind::Subquery(_)
                | ExpressionKind::LogicalSubquery(_) => is_constant = false,
                ExpressionKind::Call { function, .. } => match function.volatility() {
                    Volatility::Immutable => {}
                    Volatility::Stable => {
                        reads_session |= !reads_settings(function);
                    }
                    Volatility::Volatile if function.has(Fact::ReadsVariable) => {
                        reads_session = true;
                    }
                    Volatility::Volatile => is_constant = false,
                },
                _ => {}
            }
            is_constant
        });
        reads_session && is_constant
    }
}

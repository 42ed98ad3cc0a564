//! Free parameters of a plan, on which the results of a subquery depend.

use std::collections::BTreeSet;

use mayfly_plan::expression::Subquery;
use mayfly_plan::logical::visit_expression;
use mayfly_plan::physical::{Operator, Plan, QueryPlan, SharedResult, SharedSource};
use mayfly_plan::{Expression, ExpressionKind, with_stack};

/// Parameters that running `plan` reads and does not set itself, in ascending order.
pub(crate) fn free_parameters(plan: &Plan, query: Option<&QueryPlan>) -> Vec<usize> {
    let mut walk = Walk {
        query,
        found: BTreeSet::new(),
        bound: Vec::new(),
    };
    walk.plan(plan);
    walk.found.into_iter().collect()
}

/// Parameters that making a shared result reads and does not set itself, in ascending order.
pub(crate) fn free_parameters_of(result: &SharedResult, query: Option<&QueryPlan>) -> Vec<usize> {
    let mut walk = Walk {
        query,
        found: BTreeSet::new(),
        bound: Vec::new(),
    };
    walk.source(&result.source);
    walk.found.into_iter().collect()
}

struct Walk<'a> {
    query: Option<&'a QueryPlan>,
    found: BTreeSet<usize>,
    bound: Vec<usize>,
}

impl Walk<'_> {
    fn parameter(&mut self, parameter: usize) {
        if !self.bound.contains(&parameter) {
            self.found.insert(parameter);
        }
    }

    fn with_bound(&mut self, parameters: &[(usize, Expression)], inside: impl FnOnce(&mut Self)) {
        for (_, expression) in parameters {
            self.expression(expression);
        }
        let before = self.bound.len();
        self.bound
            .extend(parameters.iter().map(|(parameter, _)| *parameter));
        inside(self);
        self.bound.truncate(before);
    }

    fn plan(&mut self, plan: &Plan) {
        with_stack(|| self.operator(plan));
    }

    fn operator(&mut self, plan: &Plan) {
        match &plan.operator {
            Operator::Apply {
                left,
                right,
                parameters,
                condition,
                ..
            } => {
                self.plan(left);
                self.expressions(condition);
                self.with_bound(parameters, |walk| walk.plan(right));
            }
            Operator::SharedScan {
                shared, arguments, ..
            } => self.with_bound(arguments, |walk| walk.shared(shared.0)),
            _ => {
                plan.for_each_expression(&mut |expression| self.expression(expression));
                plan.for_each_input(&mut |input| self.plan(input));
            }
        }
    }

    fn shared(&mut self, index: usize) {
        let Some(shared) = self.query.and_then(|query| query.shared.get(index)) else {
            return;
        };
        // A shared result may read other ones; a recursive one reads itself only by its working table.
        self.source(&shared.source);
    }

    fn source(&mut self, source: &SharedSource) {
        match source {
            SharedSource::Plan(plan) => self.plan(plan),
            SharedSource::Recursive { seed, step, .. } => {
                self.plan(seed);
                self.plan(step);
            }
        }
    }

    fn expressions<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        visit_expression(expression, &mut |inner| {
            match &inner.kind {
                ExpressionKind::Parameter(parameter) => self.parameter(*parameter),
                // Parameters that it sets itself are bound where it is walked.
                ExpressionKind::Subquery(subquery) => {
                    self.subquery(subquery);
                    return false;
                }
                _ => {}
            }
            true
        });
    }

    fn subquery(&mut self, subquery: &Subquery) {
        self.expressions(subquery.kind.left());
        self.with_bound(&subquery.parameters, |walk| walk.plan(&subquery.plan));
    }
}

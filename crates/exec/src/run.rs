//! Construction of runs, with the operators of this crate.

use std::sync::Arc;

use mayfly_plan::physical::QueryPlan;
use mayfly_types::Value;

use crate::context::{ExecutionContext, RunContext};
use crate::operators;
use crate::state::QueryState;

impl RunContext {
    /// A run of `plan`. `parameters` are those of a prepared statement; the columns of outer queries, which follow
    /// them, start as NULL.
    pub fn new(
        statement: Arc<ExecutionContext>,
        plan: Arc<QueryPlan>,
        parameters: &[Value],
    ) -> Self {
        let mut parameters = parameters.to_vec();
        if parameters.len() < plan.parameter_count {
            parameters.resize(plan.parameter_count, Value::Null);
        }
        Self {
            statement,
            parameters: parameters.into(),
            state: Arc::new(QueryState::new(Some(plan))),
            build: operators::build,
            serial: false,
        }
    }

    /// A context for expressions that belong to no plan: INSERT … VALUES, SET, defaults.
    pub fn for_expressions(statement: Arc<ExecutionContext>, parameters: &[Value]) -> Self {
        Self {
            statement,
            parameters: parameters.into(),
            state: Arc::new(QueryState::new(None)),
            build: operators::build,
            serial: false,
        }
    }
}

//! Planned queries, whichever statement runs them.

use std::sync::Arc;

use mayfly_plan::physical::QueryPlan;

use crate::secondary::jobs::JobTable;
use crate::session::StatementTables;

/// A query that is ready to run.
pub(crate) struct Planned {
    pub(crate) plan: Arc<QueryPlan>,
    pub(crate) tables: Arc<StatementTables>,
    /// The part that a secondary engine computes, if the query is explained.
    pub(crate) offloaded: Option<OffloadedPart>,
}

/// The part of a query that a secondary engine computes.
#[derive(Clone)]
pub(crate) struct OffloadedPart {
    /// The whole plan, as EXPLAIN shows it.
    pub(crate) shown: Arc<QueryPlan>,
    /// The rows of the job.
    pub(crate) job: Arc<JobTable>,
}

impl Planned {
    /// A plan that is a part of another plan, with the tables of that one.
    pub(crate) fn new(plan: &Arc<QueryPlan>, tables: &Arc<StatementTables>) -> Self {
        Self {
            plan: Arc::clone(plan),
            tables: Arc::clone(tables),
            offloaded: None,
        }
    }
}

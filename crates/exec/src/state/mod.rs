//! State shared by the operators of one run: common table expressions and subquery results.

mod made_table;
mod round;

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayfly_plan::expression::Subquery;
use mayfly_plan::physical::{QueryPlan, SharedId, SharedResult};
use mayfly_types::{Error, Result, Value};

pub(crate) use self::made_table::{MadeScan, MadeTable};
pub(crate) use self::round::Round;

/// State of one run of a plan.
#[derive(Debug)]
pub(crate) struct QueryState {
    plan: Option<Arc<QueryPlan>>,
    shared: Box<[SharedSlot]>,
    /// Subquery states by the address of the plan's node, which outlives this state: the plan is held above, and each
    /// entry holds its subquery.
    subqueries: Mutex<HashMap<usize, Arc<dyn Any + Send + Sync>>>,
}

#[derive(Debug, Default)]
struct SharedSlot {
    made: Mutex<Option<Made>>,
    /// Rows of the previous round, while a recursive result is being made.
    working: Mutex<Option<Arc<Round>>>,
}

#[derive(Debug)]
struct Made {
    parameters: Box<[Value]>,
    table: MadeTable,
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere ends the statement; the state left behind is only dropped.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl QueryState {
    pub(crate) fn new(plan: Option<Arc<QueryPlan>>) -> Self {
        let slots = plan.as_ref().map_or(0, |plan| plan.shared.len());
        Self {
            plan,
            shared: (0..slots).map(|_| SharedSlot::default()).collect(),
            subqueries: Mutex::default(),
        }
    }

    /// The running plan, if there is one.
    pub(crate) fn plan(&self) -> Option<&QueryPlan> {
        self.plan.as_deref()
    }

    fn shared_result(&self, id: SharedId) -> Result<(&SharedResult, &SharedSlot)> {
        let result = self.plan.as_ref().and_then(|plan| plan.shared.get(id.0));
        match (result, self.shared.get(id.0)) {
            (Some(result), Some(slot)) => Ok((result, slot)),
            _ => Err(Error::internal("a plan reads a shared result it lacks")),
        }
    }

    /// Rows of a shared result, materialized now if this is the first reading (or the first with these parameters).
    pub(crate) fn shared(
        &self,
        id: SharedId,
        parameters: &[Value],
        make: impl FnOnce(&SharedResult) -> Result<MadeTable>,
    ) -> Result<MadeTable> {
        let (result, slot) = self.shared_result(id)?;
        let mut made = lock(&slot.made);
        if let Some(made) = made.as_ref().filter(|made| *made.parameters == *parameters) {
            return Ok(made.table.clone());
        }
        let table = make(result)?;
        *made = Some(Made {
            parameters: parameters.into(),
            table: table.clone(),
        });
        Ok(table)
    }

    /// Rows that the previous round added to a recursive result.
    pub(crate) fn working(&self, id: SharedId) -> Result<Arc<Round>> {
        let (_, slot) = self.shared_result(id)?;
        lock(&slot.working)
            .clone()
            .ok_or_else(|| Error::internal("a recursive part runs outside of its expression"))
    }

    pub(crate) fn set_working(&self, id: SharedId, round: Option<Round>) -> Result<()> {
        let (_, slot) = self.shared_result(id)?;
        *lock(&slot.working) = round.map(Arc::new);
        Ok(())
    }

    /// State of a subquery, created by `make` at its first use in this run.
    pub(crate) fn subquery<S: Any + Send + Sync>(
        &self,
        subquery: &Arc<Subquery>,
        make: impl Fn() -> S,
    ) -> Arc<S> {
        let address = Arc::as_ptr(subquery) as usize;
        let mut subqueries = lock(&self.subqueries);
        let state = subqueries
            .entry(address)
            .or_insert_with(|| Arc::new(make()));
        let state = Arc::clone(state).downcast();
        state.unwrap_or_else(|_| Arc::new(make()))
    }
}

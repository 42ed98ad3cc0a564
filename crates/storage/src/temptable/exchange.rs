//! Record of an exchange: rows that processes of a secondary engine send each other for a statement of this one.
//!
//! An exchange is seen as a temporary table is, but this process holds none of its rows: its numbers are what the processes
//! have told last.

use std::sync::Arc;

use mayfly_memory::{Budget, BudgetKind};

use super::context::TempTableContext;
use super::record::{Ending, ExchangeFigures, TableFacts};
use super::registry::Registration;
use super::spec::{OperatorNumber, Purpose};

/// Record of an exchange. The exchange is listed among the living tables until this is dropped.
#[derive(Debug)]
pub struct ExchangeRecord {
    registration: Arc<Registration>,
    context: TempTableContext,
}

impl ExchangeRecord {
    /// Registers an exchange of `engine`, which brings rows to `partitions` partitions. `operator` is the plan operator that
    /// reads them.
    pub fn new(
        context: &TempTableContext,
        cause: Arc<str>,
        operator: Option<OperatorNumber>,
        engine: &'static str,
        partitions: u64,
    ) -> Self {
        let shared = context.shared();
        let facts = TableFacts {
            owner: shared.owner.clone(),
            purpose: Purpose::Exchange,
            cause,
            operator,
            access: "NONE",
            engine,
            ending: Ending::Statement(shared.interrupt.clone()),
        };
        let registration = shared.resources.registry.register(
            facts,
            Some(Arc::clone(&shared.counters)),
            Budget::unlimited(BudgetKind::Memory),
            Budget::unlimited(BudgetKind::TempSpace),
        );
        registration.has_partitions(partitions);
        Self {
            registration,
            context: context.clone(),
        }
    }

    /// Sets the numbers. They do not shrink unless the work begins anew.
    pub fn set(&self, figures: ExchangeFigures) {
        self.registration.set_exchanged(figures);
    }
}

impl Drop for ExchangeRecord {
    fn drop(&mut self) {
        let spilled = self.registration.snapshot().bytes_written;
        self.context
            .count(|counters| &counters.bytes_overflowed, spilled);
    }
}

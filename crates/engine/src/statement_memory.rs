//! The memory of a statement, for what table functions and readers of files hold.

use std::fmt::{self, Debug};

use mayfly_functions::context::memory_exceeded;
use mayfly_memory::{Budget, Reservation};
use mayfly_storage::temptable::Resources;
use mayfly_types::Result;

/// The memory of a statement, whose limits count what is reserved. Cloning shares it.
#[derive(Clone)]
pub struct StatementMemory {
    resources: Resources,
    budget: Budget,
}

impl StatementMemory {
    pub(crate) fn new(resources: &Resources, budget: &Budget) -> Self {
        Self {
            resources: resources.clone(),
            budget: budget.clone(),
        }
    }

    /// Reserves memory until the reservation is dropped. Tables that may go on in files make room.
    ///
    /// # Errors
    /// 1105 beyond a limit, with its name.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation> {
        self.resources.make_room(bytes, &self.budget);
        let reserved = self.budget.reserve(bytes);
        reserved.map_err(|error| memory_exceeded(&error))
    }
}

impl Debug for StatementMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatementMemory").finish_non_exhaustive()
    }
}

//! Early end of a statement: KILL, or `max_execution_time`.
//!
//! Long work calls [`Interrupt::check`] at every batch of rows and every block of a file, on any thread. A test may
//! observe each of these checks, and end or break the statement at exactly one of them.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::error::{Result, codes};
use crate::stage::Stages;

/// Observer of every point at which a statement could end early.
pub trait Checkpoint: Send + Sync + Debug {
    /// Called at such a point, on any of the statement's threads.
    fn reached(&self);
}

/// Handle by which one statement can be ended, with its [`Stages`]: long work needs both. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    killed: Arc<AtomicBool>,
    deadline: Option<Instant>,
    checkpoint: Option<Arc<dyn Checkpoint>>,
    stages: Stages,
}

impl Interrupt {
    /// A handle that ends the statement once `killed` is set, without visible stages.
    pub fn new(killed: Arc<AtomicBool>) -> Self {
        Self::in_stages(killed, Stages::default())
    }

    /// A handle that ends the statement once `killed` is set and enters its stages in `stages`.
    pub fn in_stages(killed: Arc<AtomicBool>, stages: Stages) -> Self {
        Self {
            killed,
            deadline: None,
            checkpoint: None,
            stages,
        }
    }

    /// Sets the time at which the statement ends (`max_execution_time`).
    #[must_use]
    pub fn with_deadline(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Sets an observer of every check.
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: Option<Arc<dyn Checkpoint>>) -> Self {
        Self { checkpoint, ..self }
    }

    /// The statement's stages.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Makes the statement end at its next check.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
    }

    /// Error 1317 when the statement was killed, 3024 when its time is over.
    pub fn check(&self) -> Result<()> {
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.reached();
        }
        if self.killed.load(Ordering::Relaxed) {
            return Err(codes::ER_QUERY_INTERRUPTED.error());
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(codes::ER_QUERY_TIMEOUT.error()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_and_a_deadline_end_a_statement() {
        let interrupt = Interrupt::default();
        assert!(interrupt.check().is_ok());
        interrupt.clone().kill();
        assert_eq!(interrupt.check().unwrap_err().errno(), 1317);
        let late = Interrupt::default().with_deadline(Some(Instant::now()));
        assert_eq!(late.check().unwrap_err().errno(), 3024);
    }
}

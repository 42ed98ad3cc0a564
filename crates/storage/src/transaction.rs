//! A session's transaction: changes in several stores, committed or rolled back together.
//!
//! Each store takes part in its own way (an undo log, a private set of writes), behind [`Participant`]. A savepoint
//! is, for each participant, its number of changes so far.

use mayfly_types::Result;

/// Participant of a transaction: one store.
pub trait Participant: Send {
    /// Sets a savepoint, to which later changes can be rolled back.
    fn savepoint(&mut self) -> u64;

    /// Rolls back to a savepoint, which never fails. Returns whether the transaction has changed something that cannot
    /// be undone.
    fn roll_back_to(&mut self, savepoint: u64) -> bool;

    /// Prepares the commit: promises that [`Self::commit`] will not fail for a reason that can be known now. All
    /// participants prepare before the first one commits; after an error all of them are rolled back. A participant
    /// that commits elsewhere (another server) does the first of two phases here (Gray, "Notes on Data Base Operating
    /// Systems", 1978).
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Commits all changes. After an error nothing is committed.
    fn commit(&mut self) -> Result<()>;

    /// Rolls back all changes; returns whether something could not be undone (1196: non-transactional tables).
    fn roll_back(&mut self) -> bool;

    /// Ends a statement, successful or not: releases what it held for itself, and commits its changes of
    /// non-transactional tables.
    fn end_statement(&mut self) -> Result<()> {
        Ok(())
    }
}

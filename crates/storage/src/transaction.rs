//! A session's transaction: what it has changed, to be committed or undone together.
//!
//! Each store of tables takes part in its own way (an undo log, a set of writes that nobody else
//! sees yet), behind [`Participant`]. A savepoint is the number of changes that each had made.

use mayfly_types::Result;

/// A store's part in a transaction.
pub trait Participant: Send {
    /// Sets a savepoint: what is changed from here on can be undone alone.
    fn savepoint(&mut self) -> u64;

    /// Undoes what was changed since a savepoint. Never fails: what was done can be undone. Whether
    /// the transaction has changed something that cannot.
    fn roll_back_to(&mut self, savepoint: u64) -> bool;

    /// Promises that [`Self::commit`] will not fail for a reason that can be known now. All participants are asked before
    /// the first one commits; after an error all of them are rolled back. A participant that commits elsewhere (another
    /// server) does the first of two phases here (Gray, "Notes on Data Base Operating Systems", 1978).
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Commits everything. After an error nothing of it is committed.
    fn commit(&mut self) -> Result<()>;

    /// Undoes everything that can be undone; whether something could not (1196: tables that know no
    /// transactions).
    fn roll_back(&mut self) -> bool;

    /// A statement has ended, in whatever way: releases what it held for itself, and commits what it has
    /// changed in tables that know no transactions.
    fn end_statement(&mut self) -> Result<()> {
        Ok(())
    }
}

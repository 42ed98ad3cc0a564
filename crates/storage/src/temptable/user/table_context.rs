//! Context of a new table: its name, its owner, its engine, and the budgets that it takes memory and space from.
//!
//! The budgets are those of the owner. The table makes children of them, with limits of its own.

use std::sync::Arc;

use mayfly_memory::Budget;
use mayfly_types::Interrupt;

use super::memory_engine::MemoryLimits;
use crate::temptable::context::Resources;
use crate::temptable::record::StatementOwner;
use crate::temptable::spec::Purpose;

/// Transactional behaviour of a table, and where its rows may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTableEngine {
    /// CREATE TEMPORARY TABLE: changes can be undone, rows overflow to temporary files.
    Transactional,
    /// MyISAM, Aria, CSV: rows overflow as well, but changes cannot be undone.
    NonTransactional,
    /// MEMORY: visible to all sessions, never in a file, and full at a size limit.
    Memory(MemoryLimits),
}

/// Context of a new table.
#[derive(Debug, Clone)]
pub struct UserTableContext {
    /// The resources that the database shares.
    pub resources: Resources,
    /// Memory budget: the session's, or that of base tables when others see the table too.
    pub memory: Budget,
    /// Budget of temporary space, of the same owner.
    pub temp_space: Budget,
    /// Memory in bytes that this table may hold before it overflows.
    pub memory_limit: u64,
    /// Owner of the table.
    pub owner: StatementOwner,
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Name of the table.
    pub name: Arc<str>,
    /// Behaviour of the table.
    pub engine: UserTableEngine,
    /// Interrupt of the statement that the table belongs to; one that is never set for a table that outlives it.
    pub interrupt: Interrupt,
    /// Whether it belongs to one session alone, and KILL TEMPORARY TABLE may end it.
    pub is_private: bool,
}

//! Prepared statements: the syntax tree, and a slot for the plan.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_memory::Reservation;
use mayfly_plan::ParameterPlace;
use mayfly_syntax::VariableUse;
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};
use parking_lot::Mutex;

use crate::cached_plan::CachedPlan;
use crate::instrumentation::DigestSummary;
use crate::result::ResultColumn;
use crate::statement_options::StatementOptions;

/// A statement with parameters. Its unqualified names have a fixed database.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) statement: Arc<Statement>,
    pub(crate) parameters: usize,
    pub(crate) text: Arc<str>,
    /// The height of the statement's tree.
    pub(crate) height: u32,
    /// Bytes of the tree.
    pub(crate) tree_bytes: u64,
    /// The database of unqualified names when it was prepared.
    pub(crate) database: Option<Arc<str>>,
    /// The result columns, as far as they were known then.
    pub(crate) columns: Arc<[ResultColumn]>,
    /// Metadata of its `?` for the protocol.
    pub(crate) placeholders: Arc<[ResultColumn]>,
    /// The most recently derived types of its `?`.
    pub(crate) derived: Mutex<Option<Arc<DerivedTypes>>>,
    /// Whether subqueries in it lock rows.
    pub(crate) has_locking_subqueries: bool,
    /// How its expressions set user variables.
    pub(crate) variables: VariableUse,
    /// The slot of its cached plan; `None` for a statement that runs once.
    pub(crate) plan: Option<PlanSlot>,
    pub(crate) counted: Option<Counted>,
    /// The summary of its digest, once it has run.
    pub(crate) digest: OnceLock<Arc<DigestSummary>>,
    /// Its memory, with its text and a plan.
    pub(crate) held: Option<Reservation>,
}

/// Types of the `?` of a statement, derived from their places, and their dependencies.
#[derive(Debug)]
pub(crate) struct DerivedTypes {
    /// The type and the place of each `?`.
    pub(crate) types: Box<[(SqlType, ParameterPlace)]>,
    /// The version of the catalog.
    pub(crate) catalog: u64,
    /// The version of the session's temporary tables.
    pub(crate) temporary_tables: u64,
    pub(crate) options: Arc<StatementOptions>,
}

/// Guard that counts a prepared statement against `max_prepared_stmt_count`.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicU64>);

impl Counted {
    /// 1461 when the limit is reached.
    pub(crate) fn new(count: &Arc<AtomicU64>, most: u64) -> Result<Self> {
        if count.fetch_add(1, Ordering::Relaxed) >= most {
            count.fetch_sub(1, Ordering::Relaxed);
            return Err(codes::ER_MAX_PREPARED_STMT_COUNT_REACHED.with(&[&most]));
        }
        Ok(Self(Arc::clone(count)))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Prepared {
    /// The number of `?`.
    #[inline]
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// The statement's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Metadata of its `?`, of the types derived from their places. The values may have other types.
    pub fn placeholders(&self) -> &Arc<[ResultColumn]> {
        &self.placeholders
    }

    /// The result columns, as far as they are known without values; empty for a statement without rows. The columns
    /// of a run are authoritative.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.columns
    }

    pub(crate) fn statement(&self) -> &Arc<Statement> {
        &self.statement
    }

    /// The slot of its plan.
    pub(crate) fn plan(&self) -> Option<&PlanSlot> {
        self.plan.as_ref()
    }

    /// The height of its tree.
    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    /// The database of unqualified names when it was prepared.
    pub(crate) fn database(&self) -> Option<&Arc<str>> {
        self.database.as_ref()
    }

    /// Whether subqueries in it lock rows.
    pub(crate) fn has_locking_subqueries(&self) -> bool {
        self.has_locking_subqueries
    }

    /// The statement's text, for SHOW PROCESSLIST.
    pub(crate) fn text_handle(&self) -> &Arc<str> {
        &self.text
    }
}

/// Slot for a statement's plan.
///
/// Most plans are never replaced. The first is read without a lock and without a reference count, which all sessions
/// that run the statement would write to.
#[derive(Debug, Default)]
pub(crate) struct PlanSlot {
    first: OnceLock<Arc<CachedPlan>>,
    is_replaced: AtomicBool,
    latest: Mutex<Option<Arc<CachedPlan>>>,
}

/// The plan of a slot, which may be replaced while this is in use.
pub(crate) enum SlotPlan<'s> {
    First(&'s CachedPlan),
    Latest(Arc<CachedPlan>),
}

impl Deref for SlotPlan<'_> {
    type Target = CachedPlan;

    #[inline]
    fn deref(&self) -> &CachedPlan {
        match self {
            Self::First(plan) => plan,
            Self::Latest(plan) => plan,
        }
    }
}

impl PlanSlot {
    /// Borrows the cached plan for the life of the slot.
    #[inline]
    pub(crate) fn look(&self) -> Option<SlotPlan<'_>> {
        if self.is_replaced.load(Ordering::Acquire) {
            return self.get().map(SlotPlan::Latest);
        }
        self.first.get().map(|plan| SlotPlan::First(plan))
    }

    /// The cached plan.
    pub(crate) fn get(&self) -> Option<Arc<CachedPlan>> {
        if self.is_replaced.load(Ordering::Acquire) {
            self.latest.lock().clone()
        } else {
            self.first.get().cloned()
        }
    }

    /// Replaces the plan.
    pub(crate) fn set(&self, plan: Arc<CachedPlan>) {
        if let Err(plan) = self.first.set(plan) {
            *self.latest.lock() = Some(plan);
            self.is_replaced.store(true, Ordering::Release);
        }
    }
}

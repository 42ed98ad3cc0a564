//! Prepared statements: the syntax tree, and a slot for the plan.

use std::any::Any;
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

use crate::instrumentation::DigestSummary;
use crate::result::ResultColumn;
use crate::statement_options::StatementOptions;

/// A statement with placeholders for values. Its names are always those of one database.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) statement: Arc<Statement>,
    pub(crate) parameters: usize,
    pub(crate) text: Arc<str>,
    /// The height of the statement's tree.
    pub(crate) height: u32,
    /// What the tree takes.
    pub(crate) tree_bytes: u64,
    /// The database of unqualified names when it was prepared.
    pub(crate) database: Option<Arc<str>>,
    /// The columns that it gives, as far as they were known then.
    pub(crate) columns: Arc<[ResultColumn]>,
    /// Its `?`, as the protocol describes them.
    pub(crate) placeholders: Arc<[ResultColumn]>,
    /// The types of its `?`, as they were derived last.
    pub(crate) derived: Mutex<Option<Arc<DerivedTypes>>>,
    /// Queries in it lock rows.
    pub(crate) has_locking_subqueries: bool,
    /// How its expressions set user variables.
    pub(crate) variables: VariableUse,
    /// Where its plan is cached; none for a statement that runs once.
    pub(crate) plan: Option<PlanSlot>,
    pub(crate) counted: Option<Counted>,
    /// The summary of the statements that are like it, once it has run.
    pub(crate) digest: OnceLock<Arc<DigestSummary>>,
    /// What it takes, with its text and a plan.
    pub(crate) held: Option<Reservation>,
}

/// The types that the `?` of a statement have from where they stand, and what they depend on.
#[derive(Debug)]
pub(crate) struct DerivedTypes {
    /// The type of each `?`, and what it is there.
    pub(crate) types: Box<[(SqlType, ParameterPlace)]>,
    /// The version of the catalog.
    pub(crate) catalog: u64,
    /// The version of the session's temporary tables.
    pub(crate) temporary_tables: u64,
    pub(crate) options: Arc<StatementOptions>,
}

/// One of the statements that `max_prepared_stmt_count` limits.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicU64>);

impl Counted {
    /// 1461 when there are as many as may be.
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
    /// How many `?` it has.
    #[inline]
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its `?`, of the types that fit where they stand. The values may be of others.
    pub fn placeholders(&self) -> &Arc<[ResultColumn]> {
        &self.placeholders
    }

    /// The columns that it gives, as far as they are known before its values are; empty for a
    /// statement without rows. Those of a run are what counts.
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

    /// Whether queries in it lock rows.
    pub(crate) fn has_locking_subqueries(&self) -> bool {
        self.has_locking_subqueries
    }

    /// Its own text, as SHOW PROCESSLIST shows it.
    pub(crate) fn text_handle(&self) -> &Arc<str> {
        &self.text
    }
}

/// A plan, for modules that do not know what one is.
pub(crate) type AnyPlan = Arc<dyn Any + Send + Sync>;

/// The cached plan of a statement, whose type only the code that plans and runs statements knows.
///
/// Most plans are never replaced. The first is read without a lock and without a count of references, which
/// all sessions that run the statement would write to.
#[derive(Debug, Default)]
pub(crate) struct PlanSlot {
    first: OnceLock<AnyPlan>,
    is_replaced: AtomicBool,
    latest: Mutex<Option<AnyPlan>>,
}

/// The plan of a slot, which may get another one meanwhile.
pub(crate) enum SlotPlan<'s, P> {
    First(&'s P),
    Latest(Arc<P>),
}

impl<P> Deref for SlotPlan<'_, P> {
    type Target = P;

    #[inline]
    fn deref(&self) -> &P {
        match self {
            Self::First(plan) => plan,
            Self::Latest(plan) => plan,
        }
    }
}

impl PlanSlot {
    /// The cached plan, for as long as the slot lives.
    #[inline]
    pub(crate) fn look<P: Any + Send + Sync>(&self) -> Option<SlotPlan<'_, P>> {
        if self.is_replaced.load(Ordering::Acquire) {
            return self.get().map(SlotPlan::Latest);
        }
        self.first.get()?.downcast_ref().map(SlotPlan::First)
    }

    /// The cached plan.
    pub(crate) fn get<P: Any + Send + Sync>(&self) -> Option<Arc<P>> {
        let plan = if self.is_replaced.load(Ordering::Acquire) {
            self.latest.lock().clone()
        } else {
            self.first.get().cloned()
        };
        plan?.downcast().ok()
    }

    /// Replaces the plan.
    pub(crate) fn set<P: Any + Send + Sync>(&self, plan: Arc<P>) {
        if let Err(plan) = self.first.set(plan) {
            *self.latest.lock() = Some(plan);
            self.is_replaced.store(true, Ordering::Release);
        }
    }
}

//! Cached plans: what planning makes of a statement, and what it depends on.
//!
//! A plan is immutable and shared by all sessions that run its statement. What changes while a statement runs is in its
//! context and in operators. This module has only the data, so that the statement, its cache and sessions can name a
//! plan's type: `statements` makes, checks and runs plans.

mod changes;
mod point;

use std::sync::{Arc, Weak};

use mayfly_plan::LockingPlan;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::Statement;
use mayfly_types::{SqlType, Value};

pub(crate) use self::changes::{
    ChangeStatementPlan, ComputedValue, DuplicatePlan, InsertPlan, ReturnedColumn, RowSource,
    RowView,
};
pub(crate) use self::point::{AutoNumber, Key, PointPlan, RowAccess, Source};
use crate::catalog::BaseTable;
use crate::catalog::stored_functions::FunctionUse;
use crate::result::ResultColumn;
use crate::statement_options::StatementOptions;

/// The executable form of a statement.
#[derive(Debug)]
pub(crate) enum ExecutablePlan {
    /// SELECT, TABLE and VALUES.
    Query(Arc<QueryPlan>),
    /// SELECT … FOR UPDATE and FOR SHARE.
    LockingRead(Box<LockingPlan>),
    /// INSERT and REPLACE.
    Insert(Box<InsertPlan>),
    /// UPDATE and DELETE.
    Change(Box<ChangeStatementPlan>),
    /// Any other statement, run from its syntax tree.
    Utility,
}

/// A statement with its plan.
#[derive(Debug)]
pub(crate) struct CachedPlan {
    /// The statement.
    pub(crate) statement: Arc<Statement>,
    pub(crate) plan: ExecutablePlan,
    /// The stored functions that it calls. A change of one changes the version of the catalog.
    pub(crate) functions: FunctionUse,
    /// Columns of the result set.
    pub(crate) columns: Arc<[ResultColumn]>,
    /// Direct access to one row by a unique key, if the statement does nothing else.
    pub(crate) point: Option<Box<PointPlan>>,
    pub(crate) dependencies: PlanDependencies,
}

/// Dependencies of a plan: it is valid as long as they are unchanged.
#[derive(Debug)]
pub(crate) struct PlanDependencies {
    /// The tables that it reads, with the number of rows each had. Weak: a cached plan must not keep a dropped table
    /// alive.
    pub(crate) tables: Vec<(Weak<BaseTable>, u64)>,
    /// The types of the `?`.
    pub(crate) types: Arc<[SqlType]>,
    /// Values of `?` that the choice of the plan depends on.
    pub(crate) values: Vec<(usize, Value)>,
    /// The version of the catalog.
    pub(crate) catalog: u64,
    /// The version of the session's temporary tables.
    pub(crate) temporary_tables: u64,
    pub(crate) options: Arc<StatementOptions>,
    /// The account and its roles, as [`SessionPrivileges::key`] gives them.
    ///
    /// [`SessionPrivileges::key`]: crate::session::SessionPrivileges::key
    pub(crate) rights: Arc<str>,
    /// For a SELECT, whether it locks the rows it reads because of the isolation level alone.
    pub(crate) locks_reads: Option<bool>,
}

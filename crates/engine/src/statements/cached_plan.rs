//! Cached plans, and what they depend on.
//!
//! A plan is immutable and shared by all sessions that run its statement. What changes while a statement
//! runs is in its context and in operators.

use std::sync::{Arc, Weak};

use mayfly_plan::LockingPlan;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::Statement;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::change::ChangeStatementPlan;
use super::insert::InsertPlan;
use super::point::PointPlan;
use crate::catalog::BaseTable;
use crate::result::ResultColumn;
use crate::session::{StatementContext, StatementTables};
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
    /// Columns of the result set.
    pub(crate) columns: Arc<[ResultColumn]>,
    /// Direct access to one row by a unique key, if the statement does nothing else.
    pub(crate) point: Option<Box<PointPlan>>,
    pub(super) dependencies: PlanDependencies,
}

/// Dependencies of a plan: it is valid as long as they are unchanged.
#[derive(Debug)]
pub(super) struct PlanDependencies {
    /// The tables that it reads, with the number of rows each had. Weak: a cached plan must not keep a dropped table
    /// alive.
    pub(super) tables: Vec<(Weak<BaseTable>, u64)>,
    /// The types of the `?`.
    pub(super) types: Arc<[SqlType]>,
    /// Values of `?` that the choice of the plan depends on.
    pub(super) values: Vec<(usize, Value)>,
    /// The version of the catalog.
    pub(super) catalog: u64,
    /// The version of the session's temporary tables.
    pub(super) temporary_tables: u64,
    pub(super) options: Arc<StatementOptions>,
    /// The account and its roles, as [`SessionPrivileges::key`] gives them.
    ///
    /// [`SessionPrivileges::key`]: crate::session::SessionPrivileges::key
    pub(super) rights: Arc<str>,
    /// For a SELECT, whether it locks the rows it reads because of the isolation level alone.
    pub(super) locks_reads: Option<bool>,
}

/// A plan with its current tables.
pub(crate) struct ReadyPlan {
    pub(crate) plan: Arc<CachedPlan>,
    pub(crate) tables: Arc<StatementTables>,
}

impl CachedPlan {
    /// Whether names and settings still mean what they did when the plan was made.
    #[inline]
    pub(crate) fn is_in(&self, context: &StatementContext<'_>) -> bool {
        let PlanDependencies {
            catalog,
            temporary_tables,
            options,
            rights,
            locks_reads,
            ..
        } = &self.dependencies;
        let key = context.privileges().key();
        *temporary_tables == context.session.temporary_tables.version()
            && Arc::ptr_eq(options, context.options())
            && *catalog == context.catalog().version()
            && (Arc::ptr_eq(rights, key) || rights == key)
            && locks_reads.is_none_or(|locks| locks == context.locks_what_it_reads())
    }

    /// The point plan, if there is one and it is valid for these parameters: string lengths and row counts need not
    /// match.
    #[inline]
    pub(crate) fn point_for(
        &self,
        context: &StatementContext<'_>,
        parameters: &[(Value, SqlType)],
    ) -> Option<&PointPlan> {
        let point = self.point.as_ref()?;
        let known = &self.dependencies.types;
        let mut types = parameters.iter().zip(&**known);
        let value = |index: usize| parameters.get(index).map(|(value, _)| value);
        let is_good = self.is_in(context)
            && parameters.len() == known.len()
            && types.all(|((_, given), planned)| is_like(planned, given))
            && self.has_values(value);
        is_good.then_some(point)
    }

    /// Whether the values that the choice of the plan depends on are these.
    #[inline]
    fn has_values<'v>(&self, value: impl Fn(usize) -> Option<&'v Value>) -> bool {
        let mut values = self.dependencies.values.iter();
        values.all(|(index, known)| value(*index) == Some(known))
    }

    /// Whether the plan was made for these types: texts may be shorter.
    fn is_for_types(&self, types: &[SqlType]) -> bool {
        let known = &self.dependencies.types;
        let fits = |(planned, given): (&SqlType, &SqlType)| {
            let is_shorter = planned.kind == TypeKind::VarChar && given.length < planned.length;
            is_like(planned, given) && (is_shorter || planned.length == given.length)
        };
        types.len() == known.len() && known.iter().zip(types).all(fits)
    }

    /// The plan with its current tables, if it is valid for the running statement.
    pub(crate) fn ready(
        self: Arc<Self>,
        context: &StatementContext<'_>,
    ) -> Result<Option<ReadyPlan>> {
        let parameters = context.parameters();
        let is_same = self.is_for_types(&parameters.types)
            && self.has_values(|index| parameters.values.get(index));
        if !is_same || !self.is_in(context) {
            return Ok(None);
        }
        let known = &self.dependencies.tables;
        let mut tables = Vec::with_capacity(known.len());
        for (table, _) in known {
            let Some(table) = table.upgrade() else {
                return Ok(None);
            };
            let definition = &table.definition;
            let now = context.use_table(&definition.database, &definition.name)?;
            // The table may have changed while this waited for its lock.
            if now.is_none_or(|now| now.id != table.id) {
                return Ok(None);
            }
            tables.push((table.id, table.rows_in(context)?));
        }
        let mut sizes = tables.iter().zip(known);
        if sizes.any(|((_, table), (_, rows))| is_of_another_size(*rows, table.statistics().rows)) {
            return Ok(None);
        }
        Ok(Some(ReadyPlan {
            tables: Arc::new(StatementTables {
                stored: tables.len(),
                tables,
            }),
            plan: self,
        }))
    }
}

/// Whether two types are equal but for their lengths.
#[inline]
fn is_like(a: &SqlType, b: &SqlType) -> bool {
    a.kind == b.kind
        && a.unsigned == b.unsigned
        && a.zerofill == b.zerofill
        && a.decimals == b.decimals
        && a.collation == b.collation
        && (Arc::ptr_eq(&a.members, &b.members) || a.members == b.members)
}

/// Whether `rows` differs so much from the `planned` number of rows that the plan may be bad.
fn is_of_another_size(planned: u64, rows: u64) -> bool {
    const SMALL: u64 = 16;
    let (less, more) = (planned.min(rows), planned.max(rows));
    more > SMALL && more / 4 > less
}

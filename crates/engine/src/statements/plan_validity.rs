//! Validity of cached plans: whether the properties of the session, the catalog and the tables that a plan was made
//! for are still true when its statement runs again.

use std::sync::Arc;

use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::cached_plan::{CachedPlan, PlanDependencies, PointPlan};
use crate::session::{StatementContext, StatementTables};

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
        context.expect_functions(self.functions);
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

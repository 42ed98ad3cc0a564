//! SELECT, TABLE and VALUES.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mayfly_exec::StatementContext;
use mayfly_plan::PlanOptions;
use mayfly_plan::physical::QueryPlan;
use mayfly_storage::Table;
use mayfly_syntax::ast::Query;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, SqlType, TypeKind, Value};

use super::point::{PointAccess, PointPlan};
use super::{hints, locking_read, locking_subqueries};
use crate::catalog::BaseTable;
use crate::catalog::session_catalog::SessionCatalog;
use crate::result::{Outcome, ResultColumn};
use crate::session::{Session, StatementTables, Surroundings};
use crate::status::Counter;

/// A query that is ready to run.
pub(crate) struct Planned {
    pub(crate) plan: Arc<QueryPlan>,
    pub(crate) tables: Arc<StatementTables>,
    /// Its columns, when they are kept with the plan.
    pub(crate) columns: Option<Arc<[ResultColumn]>>,
}

/// A plan with the tables as they are now.
pub(crate) struct Ready<P> {
    pub(crate) plan: Arc<P>,
    pub(crate) tables: Arc<StatementTables>,
    columns: Option<Arc<[ResultColumn]>>,
}

/// A plan for the next time that its statement runs.
#[derive(Debug)]
pub(crate) struct KeptPlan<P> {
    plan: Arc<P>,
    /// The columns that clients get.
    columns: Arc<[ResultColumn]>,
    /// A table goes when it is dropped, whoever keeps a plan.
    tables: Vec<Weak<BaseTable>>,
    /// How many rows each of them had.
    rows: Vec<u64>,
    parameters: Vec<SqlType>,
    /// The values of `?` that decided about it.
    values: Vec<(usize, Value)>,
    surroundings: Surroundings,
    /// What it comes to when it is one row by a key.
    point: Option<PointPlan>,
}

/// Where a statement that may run again keeps its plan.
pub(crate) type PlanPlace<P> = Mutex<Option<KeptPlan<P>>>;

impl KeptPlan<()> {
    /// For a statement that has nothing but what it comes to, or not even that.
    pub(crate) fn of_point(
        session: &Session,
        parameters: &[(Value, SqlType)],
        point: Option<PointPlan>,
    ) -> Self {
        Self {
            plan: Arc::default(),
            columns: Arc::default(),
            tables: Vec::new(),
            rows: Vec::new(),
            parameters: parameters.iter().map(|(_, ty)| ty.clone()).collect(),
            values: Vec::new(),
            surroundings: session.surroundings(),
            point,
        }
    }
}

impl<P> KeptPlan<P> {
    /// What the statement comes to, when it is one row by a key: however many rows there are meanwhile,
    /// nothing is faster.
    pub(crate) fn point(&mut self) -> Option<&mut PointPlan> {
        self.point.as_mut()
    }

    /// The table of that row, if the plan is good for these parameters.
    pub(crate) fn point_table(
        &self,
        session: &Session,
        parameters: &[(Value, SqlType)],
    ) -> Option<Arc<BaseTable>> {
        let point = self.point.as_ref()?;
        match self.is_for(session, parameters) {
            true => point.table(),
            false => None,
        }
    }

    /// Whether nothing has changed since.
    pub(crate) fn is_in(&self, session: &Session) -> bool {
        session.is_in(&self.surroundings)
    }

    /// Whether what it comes to is good for such parameters, and nothing has changed since: how long
    /// their values may be is all the same.
    pub(crate) fn is_for(&self, session: &Session, parameters: &[(Value, SqlType)]) -> bool {
        let mut types = parameters.iter().zip(&self.parameters);
        let value = |index: usize| parameters.get(index).map(|(value, _)| value);
        session.is_in(&self.surroundings)
            && parameters.len() == self.parameters.len()
            && types.all(|((_, given), planned)| is_like(planned, given))
            && self.has_values(value)
    }

    /// Whether the values that decided about it are these.
    fn has_values<'v>(&self, value: impl Fn(usize) -> Option<&'v Value>) -> bool {
        let mut values = self.values.iter();
        values.all(|(index, known)| value(*index) == Some(known))
    }

    /// Whether it was made for such types: texts may be shorter.
    fn is_for_types(&self, types: &[SqlType]) -> bool {
        let fits = |(planned, given): (&SqlType, &SqlType)| {
            let is_shorter = planned.kind == TypeKind::VarChar && given.length < planned.length;
            is_like(planned, given) && (is_shorter || planned.length == given.length)
        };
        types.len() == self.parameters.len() && self.parameters.iter().zip(types).all(fits)
    }

    /// The plan with the tables as they are now, if it is good for these parameters.
    fn planned(
        &self,
        session: &Session,
        parameters: &[SqlType],
        values: &[Value],
    ) -> Result<Option<Ready<P>>> {
        let is_same = self.is_for_types(parameters) && self.has_values(|index| values.get(index));
        if !is_same || !session.is_in(&self.surroundings) {
            return Ok(None);
        }
        let mut tables = Vec::with_capacity(self.tables.len());
        for table in &self.tables {
            let Some(table) = table.upgrade() else {
                return Ok(None);
            };
            let definition = &table.definition;
            let now = session.use_table(&definition.database, &definition.name)?;
            // It may have changed while this waited for it.
            if now.is_none_or(|now| now.id != table.id) {
                return Ok(None);
            }
            tables.push((table.id, table.rows_in(session)?));
        }
        let mut sizes = tables.iter().zip(&self.rows);
        let resized = |((_, table), rows): (&(_, Arc<dyn Table>), &u64)| {
            is_of_another_size(*rows, table.statistics().rows)
        };
        if sizes.any(resized) {
            return Ok(None);
        }
        Ok(Some(Ready {
            plan: Arc::clone(&self.plan),
            tables: Arc::new(StatementTables(tables)),
            columns: Some(Arc::clone(&self.columns)),
        }))
    }
}

/// Whether two types have the same values but for their lengths.
fn is_like(a: &SqlType, b: &SqlType) -> bool {
    a.kind == b.kind
        && a.unsigned == b.unsigned
        && a.zerofill == b.zerofill
        && a.decimals == b.decimals
        && a.collation == b.collation
        && (Arc::ptr_eq(&a.members, &b.members) || a.members == b.members)
}

/// Whether so many rows are read in another way than those that a plan was made for.
fn is_of_another_size(planned: u64, rows: u64) -> bool {
    const SMALL: u64 = 16;
    let (less, more) = (planned.min(rows), planned.max(rows));
    more > SMALL && more / 4 > less
}

/// Plans a statement. `parameters` are the types of its `?`, and `values` their values. The plan is
/// kept in `kept`, or taken from there, when it is the same each time.
pub(crate) fn plan_or_keep<P: PointAccess>(
    session: &Session,
    parameters: &[SqlType],
    values: &[Value],
    kept: Option<&PlanPlace<P>>,
    plan: impl FnOnce(&SessionCatalog<'_>, &PlanOptions) -> Result<P>,
) -> Result<Ready<P>> {
    let mut kept = kept.map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
    let before = kept.as_ref().and_then(|kept| kept.as_ref());
    if let Some(kept) = before {
        if let Some(planned) = kept.planned(session, parameters, values)? {
            return Ok(planned);
        }
        if !session.is_in(&kept.surroundings) {
            super::count(session, Counter::ComStmtReprepare);
        }
    }
    let catalog = SessionCatalog::new(session, values);
    let planned = if parameters.is_empty() {
        plan(&catalog, &session.options().plan)
    } else {
        let mut options = session.options().plan.clone();
        options.parameters = parameters.to_vec();
        plan(&catalog, &options)
    };
    let plan = Arc::new(catalog.explained(planned)?);
    let values = catalog.values_told();
    let (tables, lasting) = catalog.into_tables();
    if let Some(kept) = &mut kept {
        let rows = |table: &Arc<BaseTable>| {
            let mut opened = tables.0.iter();
            let opened = opened.find(|(id, _)| *id == table.id);
            opened.map_or(0, |(_, table)| table.statistics().rows)
        };
        **kept = lasting.map(|lasting| KeptPlan {
            point: plan.point(session, &lasting, parameters),
            plan: Arc::clone(&plan),
            columns: plan.shown(),
            rows: lasting.iter().map(rows).collect(),
            tables: lasting.iter().map(Arc::downgrade).collect(),
            parameters: parameters.to_vec(),
            values,
            surroundings: session.surroundings(),
        });
    }
    Ok(Ready {
        plan,
        tables,
        columns: None,
    })
}

/// Plans a query; see [`plan_or_keep`].
pub(crate) fn plan_with(
    session: &Session,
    query: &Query,
    parameters: &[SqlType],
    values: &[Value],
    kept: Option<&PlanPlace<QueryPlan>>,
) -> Result<Planned> {
    let bind = |catalog: &SessionCatalog<'_>, options: &PlanOptions| {
        mayfly_plan::bind_query(query, catalog, options)
    };
    let ready = plan_or_keep(session, parameters, values, kept, bind)?;
    Ok(Planned {
        plan: ready.plan,
        tables: ready.tables,
        columns: ready.columns,
    })
}

/// Plans a query that is a part of the running statement, whose `?` may be in it.
pub(crate) fn plan(session: &Session, query: &Query) -> Result<Planned> {
    let (types, values) = session.parameter_values();
    plan_with(session, query, &types, &values, None)
}

/// Plans a query of the engine's own, for which nobody's rights are asked.
pub(crate) fn plan_trusted(session: &Session, query: &Query) -> Result<Planned> {
    let catalog = SessionCatalog::trusting(session);
    let plan = mayfly_plan::bind_query(query, &catalog, &session.options().plan)?;
    let (tables, _) = catalog.into_tables();
    let plan = Arc::new(plan);
    Ok(Planned {
        plan,
        tables,
        columns: None,
    })
}

/// Runs a query; its rows are read by whoever gets the outcome. `parameters` are the values of its
/// `?`, and `kept` the place of its plan if it may run again.
pub(crate) fn run(
    session: &mut Session,
    query: &Query,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<QueryPlan>>,
) -> Result<Outcome> {
    super::count(session, Counter::ComSelect);
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let replaced = hints::apply(session, query);
    let limit = hints::time_limit(query);
    session.limit_time(limit.unwrap_or(session.options().max_execution_time));
    let outcome = locking_subqueries::of_query(session, query, &types, &values);
    let outcome = outcome.and_then(|without| {
        // What is kept knows nothing of the rows that were locked this time.
        let (query, kept) = match &without {
            Some(without) => (without, None),
            None => (query, kept),
        };
        match locking_read::run(session, query, &types, &values)? {
            Some(outcome) => Ok(outcome),
            None => {
                let planned = plan_with(session, query, &types, &values, kept)?;
                refuse_large(session, &planned)?;
                start(session, &planned, &values)
            }
        }
    });
    replaced.restore(session);
    outcome
}

/// 1104 for a query that probably reads more rows than `max_join_size` says.
fn refuse_large(session: &Session, planned: &Planned) -> Result<()> {
    let Some(most) = session.options().examined_rows_max else {
        return Ok(());
    };
    match mayfly_plan::explain::examined_rows(&planned.plan) > most as f64 {
        true => Err(codes::ER_TOO_BIG_SELECT.error()),
        false => Ok(()),
    }
}

/// Starts a planned query.
pub(crate) fn start(session: &Session, planned: &Planned, values: &[Value]) -> Result<Outcome> {
    let tables = Arc::clone(&planned.tables);
    let context = session.statement_context(tables);
    let rows = mayfly_exec::execute(&planned.plan, &context, values)?;
    let columns = planned.columns.as_ref().map(Arc::clone);
    Ok(Outcome::Rows {
        columns: columns.unwrap_or_else(|| planned.plan.shown()),
        rows: Box::new(rows),
        context,
    })
}

/// The batches of a query that another statement reads. [`Reading::finish`] must be called, also
/// after an error, so that what it did is counted.
pub(crate) struct Reading {
    rows: Option<mayfly_exec::ResultStream>,
    context: Arc<StatementContext>,
}

impl Reading {
    /// Starts a query that [`plan`] has planned.
    pub(crate) fn start_part(session: &Session, planned: &Planned) -> Result<Self> {
        let (_, values) = session.parameter_values();
        Self::start(session, planned, &values)
    }

    /// Starts a planned query.
    pub(crate) fn start(session: &Session, planned: &Planned, values: &[Value]) -> Result<Self> {
        let context = session.statement_context(Arc::clone(&planned.tables) as _);
        let rows = mayfly_exec::execute(&planned.plan, &context, values)?;
        Ok(Self {
            rows: Some(rows),
            context,
        })
    }

    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match &mut self.rows {
            Some(rows) => rows.next_batch(),
            None => Ok(None),
        }
    }

    /// What its operators share.
    pub(crate) fn context(&self) -> &Arc<StatementContext> {
        &self.context
    }

    /// How many rows FOUND_ROWS() counts so far.
    pub(crate) fn found_rows(&self) -> u64 {
        self.context.counters.found_rows.load(Ordering::Relaxed)
    }

    /// Frees what the query holds and counts what it did.
    pub(crate) fn finish(mut self, session: &mut Session) {
        self.rows = None;
        session.account(&self.context);
    }
}

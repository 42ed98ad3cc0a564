//! EXPLAIN ANALYZE and ANALYZE: runs the explained statement and measures it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_exec::Measures;
use mayfly_plan::explain::{Measured, Measurements};
use mayfly_plan::physical::{OperatorNumber, QueryPlan};
use mayfly_syntax::ast::Statement;
use mayfly_types::Result;

use super::explained::Explained;
use crate::result::Outcome;
use crate::session::{StatementContext, measured};
use crate::statements::plan_validity::ReadyPlan;
use crate::statements::{planning, select};

/// Runs the query of a planned statement. Its rows are discarded, and nothing is changed.
pub(super) fn query_of(
    context: &mut StatementContext<'_>,
    explained: &Explained,
) -> Result<Measurements> {
    let Some(planned) = &explained.query else {
        return Ok(Measurements::default());
    };
    let measures = begin(context, planned.plan.operator_count);
    select::read(context, planned, |context, reading| {
        reading.give_in_any_order();
        while reading.next_batch(context)?.is_some() {}
        Ok(())
    })?;
    Ok(measurements(
        context,
        &measures,
        &planned.plan,
        Duration::ZERO,
    ))
}

/// Runs a statement with all its changes.
pub(super) fn statement(
    context: &mut StatementContext<'_>,
    statement: &Arc<Statement>,
) -> Result<(Explained, Measurements)> {
    let started = Instant::now();
    if matches!(**statement, Statement::Query(_) | Statement::SelectInto(_)) {
        let explained = Explained::plan(context, statement)?;
        let planning = started.elapsed();
        let measured = query_of(context, &explained)?;
        let planning = milliseconds(planning);
        return Ok((
            explained,
            Measurements {
                planning,
                ..measured
            },
        ));
    }
    context.read_for_change();
    let mut planning = Duration::ZERO;
    let mut measures = None;
    let (outcome, ready) = planning::run_as(context, |context| {
        let ready = planning::plan(context, statement, None)?;
        planning = started.elapsed();
        let operators = query_plan(&ready).map_or(0, |query| query.operator_count);
        measures = Some(begin(context, operators));
        Ok(ready)
    })?;
    drain(context, outcome)?;
    let explained = Explained::of_change(context, &ready)?;
    let measured = match (&measures, query_plan(&ready)) {
        (Some(measures), Some(query)) => measurements(context, measures, query, planning),
        _ => Measurements::default(),
    };
    Ok((explained, measured))
}

/// Discards the rows that a change returns.
fn drain(context: &mut StatementContext<'_>, outcome: Outcome) -> Result<()> {
    if let Outcome::Rows { mut rows, .. } = outcome {
        while context.lending(|| rows.next_batch())?.is_some() {}
    }
    Ok(())
}

fn query_plan(ready: &ReadyPlan) -> Option<&QueryPlan> {
    use crate::cached_plan::ExecutablePlan;
    match &ready.plan.plan {
        ExecutablePlan::Insert(plan) => plan.query().map(|query| &**query),
        ExecutablePlan::Change(plan) => Some(&*plan.change.query),
        _ => None,
    }
}

fn begin(context: &mut StatementContext<'_>, operators: usize) -> Arc<Measures> {
    let measures = Arc::new(Measures::new(operators));
    context.measures = Some(Arc::clone(&measures));
    measures
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Measurements of a query that has ended.
fn measurements(
    context: &mut StatementContext<'_>,
    measures: &Measures,
    query: &QueryPlan,
    planning: Duration,
) -> Measurements {
    context.measures = None;
    let operators = (0..query.operator_count).map(|number| {
        let measure = measures.of(number as OperatorNumber);
        Measured {
            loops: measure.loops,
            rows: measure.rows,
            rows_read: measure.rows_read,
            lookups: measure.lookups,
            first_row: milliseconds(measure.first_row),
            last_row: milliseconds(measure.last_row),
        }
    });
    let tables = context.session.diagnostics.finished_temporary_tables.iter();
    Measurements {
        operators: operators.collect(),
        tables: tables
            .filter_map(|entry| Some((entry.operator?, measured(entry))))
            .collect(),
        planning: milliseconds(planning),
    }
}

//! `events_stages_…`: timed stages of statements, while `setup_consumers` and `setup_instruments` enable them.

use std::time::Instant;

use mayfly_types::{Stage, Value};

use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};
use crate::instrumentation::{
    Consumer, Instrument, StageEvent, StageSums, picoseconds, stage_event_name,
};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.events_stages_current", current),
    Relation::new("performance_schema.events_stages_history", history),
    Relation::new(
        "performance_schema.events_stages_history_long",
        history_long,
    ),
    Relation::new(
        "performance_schema.events_stages_summary_global_by_event_name",
        summary,
    ),
];

fn event_row(event: &StageEvent, is_over: bool) -> Row {
    let ended = event.timer_start.saturating_add(event.timer_wait);
    row![
        event.session_id,
        event.statement,
        is_over.then_some(event.statement),
        stage_event_name(event.stage),
        Value::Null,
        event.timer_start,
        ended,
        event.timer_wait,
        Value::Null,
        Value::Null,
        event.statement,
        "STATEMENT",
    ]
}

/// The present stages of running statements.
fn current(context: &RelationContext) -> Vec<Row> {
    let instrumentation = &context.database().instrumentation;
    let setup = &instrumentation.setup;
    if !setup.keeps(Consumer::StagesCurrent) || !setup.times_stages() {
        return Vec::new();
    }
    let sessions = context.database().living_sessions();
    let rows = sessions.iter().filter_map(|session| {
        let (stage, began) = session.activity.stages.current_since()?;
        if !session.is_seen() || !setup.instruments(Instrument::Stage(stage)) {
            return None;
        }
        let event = StageEvent {
            session_id: session.id,
            statement: session.last_event() + 1,
            stage,
            timer_start: instrumentation.timer(began),
            timer_wait: picoseconds(Instant::now().saturating_duration_since(began)),
        };
        Some(event_row(&event, false))
    });
    rows.collect()
}

fn history(context: &RelationContext) -> Vec<Row> {
    let sessions = context.database().living_sessions();
    let events = sessions.iter().flat_map(|session| session.stages.events());
    events.map(|event| event_row(&event, true)).collect()
}

fn history_long(context: &RelationContext) -> Vec<Row> {
    let events = context.database().instrumentation.stages_long.events();
    events.iter().map(|event| event_row(event, true)).collect()
}

fn summary(context: &RelationContext) -> Vec<Row> {
    let summary = &context.database().instrumentation.stages;
    let row = |(stage, sums): (Stage, StageSums)| {
        let pico = |nanoseconds: u64| nanoseconds.saturating_mul(1000);
        let average = sums.nanoseconds.checked_div(sums.count).unwrap_or(0);
        row![
            stage_event_name(stage),
            sums.count,
            pico(sums.nanoseconds),
            pico(sums.nanoseconds_least),
            pico(average),
            pico(sums.nanoseconds_most),
        ]
    };
    summary.get().map(row).collect()
}

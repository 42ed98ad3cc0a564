//! `events_statements_current`, `…_history` and `…_history_long`: running and ended statements.

use std::collections::HashSet;
use std::sync::Arc;

use mayfly_types::Value;

use crate::connections::SessionShared;
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};
use crate::instrumentation::{Consumer, StatementEvent, event_name, picoseconds};

use super::engine_name;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.events_statements_current", current),
    Relation::new("performance_schema.events_statements_history", history),
    Relation::new(
        "performance_schema.events_statements_history_long",
        history_long,
    ),
];

/// Value of columns that are not counted here: there are no range checks per record and no bad indexes, and CPU time
/// is not measured.
const NONE: u64 = 0;

/// Maximum bytes of an error message.
const MESSAGE_BYTES: usize = 128;

fn event_row(event: &StatementEvent) -> Row {
    let summary = &event.summary;
    let digest = event.digest.as_ref();
    let error = event.error.as_ref();
    let message = error.map(|error| {
        let end = error.message.floor_char_boundary(MESSAGE_BYTES);
        error.message[..end].to_owned()
    });
    // A statement with a result set has no SQLSTATE when it succeeds.
    let state = match error {
        Some(error) => Some(error.sqlstate),
        None => (!event.gives_rows).then_some("00000"),
    };
    let code = error.map_or(0, |error| i64::from(error.code));
    row![
        event.session_id,
        event.id,
        event.id,
        event_name(event.command),
        Value::Null,
        event.timer_start(),
        event.timer_end(),
        picoseconds(summary.elapsed),
        picoseconds(summary.lock_time),
        event.text.as_deref(),
        digest.and_then(|digest| digest.hash()),
        digest.and_then(|digest| digest.text.as_deref()),
        event.database.as_deref(),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Int(code),
        state,
        message,
        u64::from(error.is_some()),
        summary.warnings,
        summary.rows_affected,
        summary.rows_sent,
        summary.rows_examined,
        summary.disk_tables,
        summary.temporary_tables,
        summary.select_full_join,
        summary.select_full_range_join,
        summary.select_range,
        NONE,
        summary.select_scan,
        summary.sort_merge_passes,
        summary.sort_range,
        summary.sort_rows,
        summary.sort_scan,
        u64::from(summary.no_index_used),
        NONE,
        Value::Null,
        Value::Null,
        Value::Int(0),
        event.id,
        NONE,
        summary.memory_peak,
        summary.memory_peak,
        engine_name(summary.on_secondary),
        summary.memory_peak,
        summary.disk_peak,
        summary.bytes_overflowed,
        summary.hit_tmp_table_size,
        summary.hit_max_ram,
        summary.bytes_exchanged,
    ]
}

/// The row of a session's running statement: its counters are known when it ends.
fn running_row(
    context: &RelationContext,
    session: &Arc<SessionShared>,
    on_secondary: &HashSet<u64>,
) -> Option<Row> {
    let activity = &session.activity;
    let text = activity.statement()?;
    let instrumentation = &context.database().instrumentation;
    let parse = &context.options().parse;
    let digest_text = mayfly_syntax::digest_text(&text, parse);
    let elapsed = activity.duration();
    let began = std::time::Instant::now().checked_sub(elapsed)?;
    let (start, wait) = (instrumentation.timer(began), picoseconds(elapsed));
    let id = session.last_event() + 1;
    let text = instrumentation.kept_text(&text);
    let locked = picoseconds(activity.stages.locked());
    let mut row = row![
        session.id,
        id,
        Value::Null,
        event_name(activity.kind()),
        Value::Null,
        start,
        start.saturating_add(wait),
        wait,
        locked,
        &**text,
        mayfly_syntax::digest_hash(&digest_text),
        digest_text,
        activity.database().as_deref(),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Int(0),
        Value::Null,
        Value::Null,
    ];
    // ERRORS to NO_GOOD_INDEX_USED
    row.extend([const { Value::UInt(NONE) }; 18]);
    let memory = session.memory();
    row.extend(row![
        Value::Null,
        Value::Null,
        Value::Int(0),
        id,
        NONE,
        memory.rows.used(),
        memory.rows.used(),
        engine_name(on_secondary.contains(&session.id)),
        memory.rows.used(),
        memory.temp_space.used(),
        NONE,
        NONE,
        NONE,
        NONE,
    ]);
    Some(row)
}

fn current(context: &RelationContext) -> Vec<Row> {
    let setup = &context.database().instrumentation.setup;
    if !setup.keeps(Consumer::StatementsCurrent) {
        return Vec::new();
    }
    let sessions = context.database().living_sessions();
    let seen = sessions.iter().filter(|session| session.is_seen());
    let on_secondary = context.sessions_on_secondary();
    let row = |session: &Arc<SessionShared>| {
        let last = || Some(event_row(&session.last_statement()?));
        running_row(context, session, &on_secondary).or_else(last)
    };
    seen.filter_map(row).collect()
}

fn history(context: &RelationContext) -> Vec<Row> {
    let sessions = context.database().living_sessions();
    let events = sessions.iter().flat_map(|session| session.history.events());
    events.map(|event| event_row(&event)).collect()
}

fn history_long(context: &RelationContext) -> Vec<Row> {
    let events = context.database().instrumentation.history_long.events();
    events.iter().map(event_row).collect()
}

//! `PROCESSLIST`: the sessions.

use std::sync::PoisonError;

use mayfly_types::Value;

use super::relation::{Columns, Relation, Row, text, text_or_null};
use crate::session::Session;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::standard("PROCESSLIST", rows),
    Relation {
        schema: "performance_schema",
        name: "processlist",
        columns: Columns::Standard("PROCESSLIST"),
        rows,
    },
];

fn rows(session: &Session) -> Vec<Row> {
    let living = session.database.living_sessions();
    let rows = living.iter().map(|other| {
        let activity = other
            .activity
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let running = activity.statement.as_deref();
        vec![
            Value::UInt(other.id),
            text(&other.user),
            text(&other.host),
            text_or_null(activity.database.as_deref()),
            text(if running.is_some() { "Query" } else { "Sleep" }),
            Value::UInt(activity.since.elapsed().as_secs()),
            text(if running.is_some() { "executing" } else { "" }),
            text_or_null(running),
        ]
    });
    rows.collect()
}

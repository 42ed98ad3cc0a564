//! `PROCESSLIST`: the sessions.

use std::sync::PoisonError;

use mayfly_types::Value;

use super::relation::{Kind, Relation, Row, text, text_or_null};
use crate::session::Session;

const COLUMNS: &[(&str, Kind)] = &[
    ("ID", Kind::UInt),
    ("USER", Kind::Text(32)),
    ("HOST", Kind::Text(261)),
    ("DB", Kind::Text(64)),
    ("COMMAND", Kind::Text(16)),
    ("TIME", Kind::Int),
    ("STATE", Kind::Text(64)),
    ("INFO", Kind::Long),
    ("TMP_SPACE_USED", Kind::UInt),
];

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        schema: "information_schema",
        name: "PROCESSLIST",
        columns: COLUMNS,
        rows,
    },
    Relation {
        schema: "performance_schema",
        name: "processlist",
        columns: COLUMNS,
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
            Value::UInt(other.temp_space.used()),
        ]
    });
    rows.collect()
}

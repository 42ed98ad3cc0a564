//! `PROCESSLIST`: the sessions.

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
        let database = other.activity.database();
        let running = other.activity.statement();
        vec![
            Value::UInt(other.id),
            text(&other.user),
            text(&other.host),
            text_or_null(database.as_deref()),
            text(if running.is_some() { "Query" } else { "Sleep" }),
            Value::UInt(other.activity.duration().as_secs()),
            text(if running.is_some() { "executing" } else { "" }),
            text_or_null(running.as_deref()),
        ]
    });
    rows.collect()
}

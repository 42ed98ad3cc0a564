//! `PROCESSLIST`: the sessions, with what each has in temporary tables.

use mayfly_types::Value;

use super::relation::{Relation, Row, text, text_or_null};
use crate::connections::host_and_port;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("PROCESSLIST", rows),
    Relation::new("performance_schema.processlist", rows),
];

/// Behind those that MySQL has.
fn rows(context: &StatementContext<'_>) -> Vec<Row> {
    let living = context.privileges().visible_sessions();
    let rows = living.iter().map(|other| {
        let database = other.activity.database();
        let running = other.activity.statement();
        let identity = other.identity();
        let memory = other.memory();
        vec![
            Value::UInt(other.id),
            text(&identity.user),
            text(host_and_port(&identity.host, other.port)),
            text_or_null(database.as_deref()),
            text(other.activity.work().name()),
            Value::UInt(other.activity.duration().as_secs()),
            text(other.activity.state()),
            text_or_null(running.as_deref()),
            Value::UInt(memory.rows.used()),
            Value::UInt(memory.rows.peak()),
            Value::UInt(memory.temp_space.used()),
            Value::UInt(memory.temp_space.peak()),
            Value::UInt(memory.own.used()),
            Value::UInt(memory.own.peak()),
        ]
    });
    rows.chain(pending(context)).collect()
}

/// Clients that have not logged in yet are nobody's: who may see all sees them.
fn pending(context: &StatementContext<'_>) -> Vec<Row> {
    if !context.privileges().sees_all_sessions() {
        return Vec::new();
    }
    let pending = context.database().connections.pending();
    let rows = pending.iter().map(|(id, client)| {
        vec![
            Value::UInt(*id),
            text("unauthenticated user"),
            text(&client.host),
            Value::Null,
            text("Connect"),
            Value::UInt(client.since.elapsed().as_secs()),
            text("Receiving from client"),
            Value::Null,
            Value::UInt(0),
            Value::UInt(0),
            Value::UInt(0),
            Value::UInt(0),
            Value::UInt(0),
            Value::UInt(0),
        ]
    });
    rows.collect()
}

//! `PROCESSLIST`: the sessions, with the temporary tables of each.

use mayfly_types::Value;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::connections::host_and_port;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("PROCESSLIST", rows),
    Relation::asked("performance_schema.processlist", rows),
];

/// Mayfly's columns follow MySQL's.
fn rows(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let living = context.privileges().visible_sessions();
    let living = asked.wanted(&["ID"], living, |other| row![other.id]);
    let rows = living.iter().map(|other| {
        let (activity, identity, memory) = (&other.activity, other.identity(), other.memory());
        row![
            other.id,
            &identity.user,
            host_and_port(&identity.host, other.port),
            activity.database().as_deref(),
            activity.work().name(),
            activity.duration().as_secs(),
            activity.state(),
            activity.statement().as_deref(),
            memory.rows.used(),
            memory.rows.peak(),
            memory.temp_space.used(),
            memory.temp_space.peak(),
            memory.beside_rows().0,
            memory.beside_rows().1,
        ]
    });
    rows.chain(pending(context)).collect()
}

/// Clients that have not logged in yet, without an account: visible to those who see all sessions.
fn pending(context: &RelationContext) -> Vec<Row> {
    if !context.privileges().sees_all_sessions() {
        return Vec::new();
    }
    let pending = context.database().connections.pending();
    let rows = pending.iter().map(|(id, client)| {
        let mut row = row![
            *id,
            "unauthenticated user",
            &client.host,
            Value::Null,
            "Connect",
            client.since.elapsed().as_secs(),
            "Receiving from client",
            Value::Null,
        ];
        row.extend([const { Value::UInt(0) }; 6]);
        row
    });
    rows.collect()
}

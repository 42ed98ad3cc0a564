//! `threads`: the sessions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_types::Value;

use crate::connections::SessionShared;
use crate::information_schema::asked::Asked;
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row, yes_no};

use super::engine_name;

pub(super) const RELATIONS: &[Relation] = &[Relation::asked("performance_schema.threads", threads)];

fn threads(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut sessions = context.database().living_sessions();
    for id in ["THREAD_ID", "PROCESSLIST_ID"] {
        sessions = asked.wanted(&[id], sessions, |session| row![session.id]);
    }
    let on_secondary = context.sessions_on_secondary();
    let row = |session: &Arc<SessionShared>| {
        let (activity, identity, memory) =
            (&session.activity, session.identity(), session.memory());
        let time = i64::try_from(activity.duration().as_secs()).unwrap_or(i64::MAX);
        let transport = session.transport.get();
        let is_encrypted = transport.is_some_and(|transport| transport.encryption.is_some());
        let connection = match (transport, session.port) {
            (None, _) => None,
            (_, None) => Some("Socket"),
            _ if is_encrypted => Some("SSL/TLS"),
            _ => Some("TCP/IP"),
        };
        let state = activity.state();
        row![
            session.id,
            "thread/sql/one_connection",
            "FOREGROUND",
            session.id,
            &identity.user,
            &identity.host,
            activity.database().as_deref(),
            activity.work().name(),
            Value::Int(time),
            (!state.is_empty()).then_some(state),
            activity.statement().as_deref(),
            Value::Null,
            Value::Null,
            yes_no(session.is_instrumented.load(Ordering::Relaxed)),
            yes_no(session.has_history.load(Ordering::Relaxed)),
            connection,
            Value::Null,
            Value::Null,
            engine_name(on_secondary.contains(&session.id)),
            memory.rows.used(),
            memory.rows.peak(),
            memory.rows.used() + memory.beside_rows().0,
            memory.rows.peak() + memory.beside_rows().1,
            "NO",
        ]
    };
    sessions.iter().map(row).collect()
}

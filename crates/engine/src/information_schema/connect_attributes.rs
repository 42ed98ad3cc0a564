//! `performance_schema.session_connect_attrs` and `session_account_connect_attrs`: connection attributes of clients.

use std::sync::Arc;

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::connections::SessionShared;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.session_connect_attrs", of_all),
    Relation::new(
        "performance_schema.session_account_connect_attrs",
        of_account,
    ),
];

fn of_all(context: &RelationContext) -> Vec<Row> {
    let sessions = context.privileges().visible_sessions();
    sessions.iter().flat_map(rows_of).collect()
}

/// The attributes of the sessions of one's own account, whatever the privileges.
fn of_account(context: &RelationContext) -> Vec<Row> {
    let own = context.privileges().identity();
    let living = context.privileges().visible_sessions();
    let same = living.iter().filter(|other| {
        let other = other.identity();
        (&other.user, &other.account) == (&own.user, &own.account)
    });
    same.flat_map(rows_of).collect()
}

fn rows_of(session: &Arc<SessionShared>) -> Vec<Row> {
    let identity = session.identity();
    let attributes = identity.attributes.kept.iter().zip(0..);
    let rows = attributes
        .map(|((name, value), position)| row![session.id, name, value, Value::Int(position)]);
    rows.collect()
}

//! `performance_schema.session_connect_attrs` and `session_account_connect_attrs`: what clients say of
//! themselves.

use std::sync::Arc;

use mayfly_types::Value;

use super::relation::{Columns, Kind, Relation, Row, text};
use crate::session::{Session, SessionShared};

const COLUMNS: &[(&str, Kind)] = &[
    ("PROCESSLIST_ID", Kind::UInt),
    ("ATTR_NAME", Kind::Binary(32)),
    ("ATTR_VALUE", Kind::Binary(1024)),
    ("ORDINAL_POSITION", Kind::Int),
];

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        schema: "performance_schema",
        name: "session_connect_attrs",
        columns: Columns::Own(COLUMNS),
        rows: |session| {
            session
                .visible_sessions()
                .iter()
                .flat_map(rows_of)
                .collect()
        },
    },
    Relation {
        schema: "performance_schema",
        name: "session_account_connect_attrs",
        columns: Columns::Own(COLUMNS),
        rows: of_account,
    },
];

/// Those of the sessions of one's own account, whatever one's privileges.
fn of_account(session: &Session) -> Vec<Row> {
    let own = session.identity();
    let living = session.visible_sessions();
    let same = living.iter().filter(|other| {
        let other = other.identity();
        (&other.user, &other.account) == (&own.user, &own.account)
    });
    same.flat_map(rows_of).collect()
}

fn rows_of(session: &Arc<SessionShared>) -> Vec<Row> {
    let identity = session.identity();
    let attributes = identity.attributes.kept.iter().zip(0_i64..);
    attributes
        .map(|((name, value), position)| {
            vec![
                Value::UInt(session.id),
                text(name),
                text(value),
                Value::Int(position),
            ]
        })
        .collect()
}

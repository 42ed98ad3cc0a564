//! `USER_PRIVILEGES` and `USER_ATTRIBUTES`: whoever has a session may do everything.

use mayfly_types::Value;

use super::relation::{Relation, Row, text};
use crate::session::Session;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::standard("USER_PRIVILEGES", user_privileges),
    Relation::standard("USER_ATTRIBUTES", user_attributes),
];

/// MySQL's static privileges, in the order in which it lists them.
const PRIVILEGES: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "RELOAD",
    "SHUTDOWN",
    "PROCESS",
    "FILE",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "SHOW DATABASES",
    "SUPER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "REPLICATION SLAVE",
    "REPLICATION CLIENT",
    "CREATE VIEW",
    "SHOW VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "CREATE USER",
    "EVENT",
    "TRIGGER",
    "CREATE TABLESPACE",
    "CREATE ROLE",
    "DROP ROLE",
];

fn user_privileges(session: &Session) -> Vec<Row> {
    let account = format!("'{}'@'{}'", session.user(), session.host());
    let row = |privilege: &&str| vec![text(&*account), text("def"), text(*privilege), text("YES")];
    PRIVILEGES.iter().map(row).collect()
}

fn user_attributes(session: &Session) -> Vec<Row> {
    vec![vec![
        text(session.user()),
        text(session.host()),
        Value::Null,
    ]]
}

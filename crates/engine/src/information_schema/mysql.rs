//! The tables of the database `mysql` that tell of accounts. They are read; accounts are changed by
//! their own statements alone.

use std::sync::{Arc, LazyLock};

use mayfly_syntax::ast::{PasswordExpire, Privilege, Require};
use mayfly_types::{SqlType, TypeKind, Value};

use super::relation::{Columns, Kind, Relation, Row, Rows, text, text_or_null};
use crate::accounts::account::Account;
use crate::accounts::privileges::{DynamicSet, PrivilegeSet, STATIC};
use crate::convert;
use crate::session::StatementContext;

const fn relation(
    name: &'static str,
    columns: &'static [(&'static str, Kind)],
    rows: fn(&StatementContext<'_>) -> Vec<Row>,
) -> Relation {
    Relation {
        schema: "mysql",
        name,
        columns: Columns::Own(columns),
        rows: Rows::OfState(rows),
    }
}

pub(super) const RELATIONS: &[Relation] = &[
    relation("user", USER, user),
    relation("db", DB, db),
    relation("tables_priv", TABLES_PRIV, tables_priv),
    relation("columns_priv", COLUMNS_PRIV, columns_priv),
    relation("global_grants", GLOBAL_GRANTS, global_grants),
    relation("role_edges", ROLE_EDGES, role_edges),
    relation("default_roles", DEFAULT_ROLES, default_roles),
    relation("password_history", PASSWORD_HISTORY, password_history),
];

const YES_NO: Kind = Kind::Text(1);
const HOST: (&str, Kind) = ("Host", Kind::Text(255));
const NAME: (&str, Kind) = ("User", Kind::Text(32));

/// The columns of the privileges on everything, in MySQL's order but for the two of roles.
const USER: &[(&str, Kind)] = &[
    HOST,
    NAME,
    ("Select_priv", YES_NO),
    ("Insert_priv", YES_NO),
    ("Update_priv", YES_NO),
    ("Delete_priv", YES_NO),
    ("Create_priv", YES_NO),
    ("Drop_priv", YES_NO),
    ("Reload_priv", YES_NO),
    ("Shutdown_priv", YES_NO),
    ("Process_priv", YES_NO),
    ("File_priv", YES_NO),
    ("Grant_priv", YES_NO),
    ("References_priv", YES_NO),
    ("Index_priv", YES_NO),
    ("Alter_priv", YES_NO),
    ("Show_db_priv", YES_NO),
    ("Super_priv", YES_NO),
    ("Create_tmp_table_priv", YES_NO),
    ("Lock_tables_priv", YES_NO),
    ("Execute_priv", YES_NO),
    ("Repl_slave_priv", YES_NO),
    ("Repl_client_priv", YES_NO),
    ("Create_view_priv", YES_NO),
    ("Show_view_priv", YES_NO),
    ("Create_routine_priv", YES_NO),
    ("Alter_routine_priv", YES_NO),
    ("Create_user_priv", YES_NO),
    ("Event_priv", YES_NO),
    ("Trigger_priv", YES_NO),
    ("Create_tablespace_priv", YES_NO),
    ("ssl_type", Kind::Text(9)),
    ("ssl_cipher", Kind::Long),
    ("x509_issuer", Kind::Long),
    ("x509_subject", Kind::Long),
    ("max_questions", Kind::UInt),
    ("max_updates", Kind::UInt),
    ("max_connections", Kind::UInt),
    ("max_user_connections", Kind::UInt),
    ("plugin", Kind::Text(64)),
    ("authentication_string", Kind::Long),
    ("password_expired", YES_NO),
    ("password_last_changed", Kind::Text(19)),
    ("password_lifetime", Kind::UInt),
    ("account_locked", YES_NO),
    ("Create_role_priv", YES_NO),
    ("Drop_role_priv", YES_NO),
    ("Password_reuse_history", Kind::UInt),
    ("Password_reuse_time", Kind::UInt),
    ("Password_require_current", YES_NO),
    ("User_attributes", Kind::Long),
];

const DB: &[(&str, Kind)] = &[
    HOST,
    ("Db", Kind::Text(64)),
    NAME,
    ("Select_priv", YES_NO),
    ("Insert_priv", YES_NO),
    ("Update_priv", YES_NO),
    ("Delete_priv", YES_NO),
    ("Create_priv", YES_NO),
    ("Drop_priv", YES_NO),
    ("Grant_priv", YES_NO),
    ("References_priv", YES_NO),
    ("Index_priv", YES_NO),
    ("Alter_priv", YES_NO),
    ("Create_tmp_table_priv", YES_NO),
    ("Lock_tables_priv", YES_NO),
    ("Create_view_priv", YES_NO),
    ("Show_view_priv", YES_NO),
    ("Create_routine_priv", YES_NO),
    ("Alter_routine_priv", YES_NO),
    ("Execute_priv", YES_NO),
    ("Event_priv", YES_NO),
    ("Trigger_priv", YES_NO),
];

const TABLES_PRIV: &[(&str, Kind)] = &[
    HOST,
    ("Db", Kind::Text(64)),
    NAME,
    ("Table_name", Kind::Text(64)),
    ("Grantor", Kind::Text(288)),
    ("Timestamp", Kind::Text(19)),
    ("Table_priv", Kind::Text(255)),
    ("Column_priv", Kind::Text(255)),
];

const COLUMNS_PRIV: &[(&str, Kind)] = &[
    HOST,
    ("Db", Kind::Text(64)),
    NAME,
    ("Table_name", Kind::Text(64)),
    ("Column_name", Kind::Text(64)),
    ("Timestamp", Kind::Text(19)),
    ("Column_priv", Kind::Text(255)),
];

const GLOBAL_GRANTS: &[(&str, Kind)] = &[
    ("USER", Kind::Text(32)),
    ("HOST", Kind::Text(255)),
    ("PRIV", Kind::Text(32)),
    ("WITH_GRANT_OPTION", YES_NO),
];

const ROLE_EDGES: &[(&str, Kind)] = &[
    ("FROM_HOST", Kind::Text(255)),
    ("FROM_USER", Kind::Text(32)),
    ("TO_HOST", Kind::Text(255)),
    ("TO_USER", Kind::Text(32)),
    ("WITH_ADMIN_OPTION", YES_NO),
];

const DEFAULT_ROLES: &[(&str, Kind)] = &[
    ("HOST", Kind::Text(255)),
    ("USER", Kind::Text(32)),
    ("DEFAULT_ROLE_HOST", Kind::Text(255)),
    ("DEFAULT_ROLE_USER", Kind::Text(32)),
];

const PASSWORD_HISTORY: &[(&str, Kind)] = &[
    HOST,
    NAME,
    ("Password_timestamp", Kind::Text(26)),
    ("Password", Kind::Long),
];

fn flag(yes: bool) -> Value {
    text(if yes { "Y" } else { "N" })
}

/// The privilege that a column of a table tells of.
fn privilege_of(column: &str) -> Option<PrivilegeSet> {
    static BY_COLUMN: LazyLock<std::collections::HashMap<&str, Privilege>> = LazyLock::new(|| {
        STATIC
            .iter()
            .map(|row| (row.column, row.privilege))
            .collect()
    });
    let privilege = BY_COLUMN.get(column)?;
    Some(PrivilegeSet::of(&[*privilege]))
}

/// A row of a table whose columns tell of privileges; `other` gives the values of the others.
fn row_of(columns: &[(&str, Kind)], held: PrivilegeSet, other: impl Fn(&str) -> Value) -> Row {
    let value = |(name, _): &(&str, Kind)| match privilege_of(name) {
        Some(privilege) => flag(held.has(privilege)),
        None => other(name),
    };
    columns.iter().map(value).collect()
}

/// Microseconds since 1970 as a text on the session's clock.
fn moment(context: &StatementContext<'_>, microseconds: i64, digits: u8) -> Value {
    let moment = convert::datetime_of_unix(microseconds, &context.options().time_zone);
    let ty = SqlType::temporal(TypeKind::Timestamp, digits);
    Value::Bytes(convert::display(&moment, &ty))
}

fn user(context: &StatementContext<'_>) -> Vec<Row> {
    let row = |account: &Arc<Account>| {
        let kept = String::from_utf8_lossy(&account.password.0);
        let number = |number: Option<u64>| number.map_or(Value::Null, Value::UInt);
        row_of(USER, account.grants.global, |column| match column {
            "Host" => text(&account.name.host),
            "User" => text(&account.name.user),
            "ssl_type" => text(match &account.require {
                Require::None => "",
                Require::Ssl => "ANY",
                Require::X509 => "X509",
                Require::Certificate { .. } => "SPECIFIED",
            }),
            "ssl_cipher" | "x509_issuer" | "x509_subject" => {
                let Require::Certificate {
                    subject,
                    issuer,
                    cipher,
                } = &account.require
                else {
                    return text("");
                };
                let part = match column {
                    "ssl_cipher" => cipher,
                    "x509_issuer" => issuer,
                    _ => subject,
                };
                text(part.clone().unwrap_or_default())
            }
            "max_questions" => Value::UInt(account.limits.queries),
            "max_updates" => Value::UInt(account.limits.updates),
            "max_connections" => Value::UInt(account.limits.connections),
            "max_user_connections" => Value::UInt(account.limits.user_connections),
            "plugin" => text(account.plugin.name()),
            "authentication_string" => text(&*kept),
            "password_expired" => flag(account.expired),
            "password_last_changed" => moment(context, account.password_changed, 0),
            "password_lifetime" => number(match account.expire {
                PasswordExpire::Days(days) => Some(days),
                PasswordExpire::Never => Some(0),
                PasswordExpire::Default | PasswordExpire::Now => None,
            }),
            "account_locked" => flag(account.locked),
            "Password_reuse_history" => number(account.history),
            "Password_reuse_time" => number(account.reuse_interval),
            "Password_require_current" => account.require_current.map_or(Value::Null, flag),
            "User_attributes" => {
                let attribute = account.attribute.as_deref();
                text_or_null(attribute.map(|text| format!("{{\"metadata\": {text}}}")))
            }
            _ => Value::Null,
        })
    };
    context
        .privileges()
        .shown_accounts()
        .iter()
        .map(row)
        .collect()
}

fn db(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for (pattern, privileges) in &account.grants.databases {
            rows.push(row_of(DB, *privileges, |column| match column {
                "Host" => text(&account.name.host),
                "User" => text(&account.name.user),
                _ => text(pattern),
            }));
        }
    }
    rows
}

/// The members of a set as the columns of type SET list them.
fn listed(privileges: PrivilegeSet) -> Value {
    let names = privileges.members().map(|row| {
        let name = row.name.strip_suffix(" OPTION").unwrap_or(row.name);
        let mut name = name.to_lowercase();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        name
    });
    text(names.collect::<Vec<_>>().join(","))
}

fn tables_priv(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for ((database, table), grant) in &account.grants.tables {
            rows.push(vec![
                text(&account.name.host),
                text(database),
                text(&account.name.user),
                text(table),
                text(""),
                Value::Null,
                listed(grant.privileges),
                listed(grant.any_column()),
            ]);
        }
    }
    rows
}

fn columns_priv(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for ((database, table), grant) in &account.grants.tables {
            for (column, privileges) in &grant.columns {
                rows.push(vec![
                    text(&account.name.host),
                    text(database),
                    text(&account.name.user),
                    text(table),
                    text(column),
                    Value::Null,
                    listed(*privileges),
                ]);
            }
        }
    }
    rows
}

fn global_grants(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for name in account.grants.dynamic.names() {
            let one = DynamicSet::of(name).unwrap_or_default();
            rows.push(vec![
                text(&account.name.user),
                text(&account.name.host),
                text(name),
                flag(account.grants.dynamic_grantable.has(one)),
            ]);
        }
    }
    rows
}

fn role_edges(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for (role, admin) in &account.grants.roles {
            rows.push(vec![
                text(&role.host),
                text(&role.user),
                text(&account.name.host),
                text(&account.name.user),
                flag(*admin),
            ]);
        }
    }
    rows
}

fn default_roles(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for role in &account.grants.default_roles {
            rows.push(vec![
                text(&account.name.host),
                text(&account.name.user),
                text(&role.host),
                text(&role.user),
            ]);
        }
    }
    rows
}

fn password_history(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        for past in &account.past_passwords {
            rows.push(vec![
                text(&account.name.host),
                text(&account.name.user),
                moment(context, past.set, 6),
                text(&*String::from_utf8_lossy(&past.kept.0)),
            ]);
        }
    }
    rows
}

//! The tables of the database `mysql` that tell of accounts. They are read; accounts are changed by
//! their own statements alone.

use std::sync::{Arc, LazyLock};

use mayfly_syntax::ast::{PasswordExpire, Privilege, Require};
use mayfly_types::{SqlType, TypeKind, Value};

use super::relation::{Relation, Row, text, text_or_null};
use super::standard;
use crate::accounts::account::Account;
use crate::accounts::privileges::{DynamicSet, PrivilegeSet, STATIC};
use crate::convert;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("mysql.user", user),
    Relation::new("mysql.db", db),
    Relation::new("mysql.tables_priv", tables_priv),
    Relation::new("mysql.columns_priv", columns_priv),
    Relation::new("mysql.global_grants", global_grants),
    Relation::new("mysql.role_edges", role_edges),
    Relation::new("mysql.default_roles", default_roles),
    Relation::new("mysql.password_history", password_history),
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
fn row_of(columns: &str, held: PrivilegeSet, other: impl Fn(&str) -> Value) -> Row {
    let value = |name: &str| match privilege_of(name) {
        Some(privilege) => flag(held.has(privilege)),
        None => other(name),
    };
    let columns = standard::columns(columns).iter();
    columns.map(|column| value(&column.name)).collect()
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
        row_of("mysql.user", account.grants.global, |column| match column {
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
            rows.push(row_of("mysql.db", *privileges, |column| match column {
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

//! Read-only tables of the database `mysql` about accounts. Accounts are changed by account statements only.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use itertools::Itertools;
use mayfly_syntax::ast::{PasswordExpire, Require};
use mayfly_types::{SqlType, TypeKind, Value};

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{IntoValue, Row, row, text};
use super::standard;
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::{DynamicSet, PrivilegeSet, STATIC};
use crate::convert;

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

fn flag(yes: bool) -> &'static str {
    if yes { "Y" } else { "N" }
}

/// Rows for each account visible to the session.
fn of_accounts(context: &RelationContext, add: impl Fn(&Account, &mut Vec<Row>)) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in context.privileges().shown_accounts() {
        add(&account, &mut rows);
    }
    rows
}

/// The privilege shown in a column.
fn privilege_of(column: &str) -> Option<PrivilegeSet> {
    static BY_COLUMN: LazyLock<HashMap<&str, PrivilegeSet>> = LazyLock::new(|| {
        let rows = STATIC.iter();
        rows.map(|row| (row.column, PrivilegeSet::of(&[row.privilege])))
            .collect()
    });
    BY_COLUMN.get(column).copied()
}

/// A row of a table with privilege columns; `other` gives the values of the other columns.
fn row_of(columns: &str, held: PrivilegeSet, other: impl Fn(&str) -> Value) -> Row {
    let value = |name: &str| match privilege_of(name) {
        Some(privilege) => Value::from(flag(held.has(privilege))),
        None => other(name),
    };
    let columns = standard::columns(columns).iter();
    columns.map(|column| value(&column.name)).collect()
}

/// A Unix time in microseconds as text in the session's time zone.
fn timestamp(context: &RelationContext, microseconds: i64, digits: u8) -> Value {
    let local = convert::datetime_of_unix(microseconds, &context.options().session.time_zone);
    let ty = SqlType::temporal(TypeKind::Timestamp, digits);
    Value::Bytes(convert::display(&local, &ty))
}

fn user(context: &RelationContext) -> Vec<Row> {
    let row = |account: &Arc<Account>| {
        let (name, limits) = (&account.name, &account.limits);
        row_of("mysql.user", account.grants.global, |column| match column {
            "Host" => text(&name.host),
            "User" => text(&name.user),
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
            "max_questions" => Value::UInt(limits.queries),
            "max_updates" => Value::UInt(limits.updates),
            "max_connections" => Value::UInt(limits.connections),
            "max_user_connections" => Value::UInt(limits.user_connections),
            "plugin" => text(account.plugin.name()),
            "authentication_string" => text(String::from_utf8_lossy(&account.password.0)),
            "password_expired" => text(flag(account.expired)),
            "password_last_changed" => timestamp(context, account.password_changed, 0),
            "password_lifetime" => match account.expire {
                PasswordExpire::Days(days) => Value::UInt(days),
                PasswordExpire::Never => Value::UInt(0),
                PasswordExpire::Default | PasswordExpire::Now => Value::Null,
            },
            "account_locked" => text(flag(account.locked)),
            "Password_reuse_history" => account.history.into_value(),
            "Password_reuse_time" => account.reuse_interval.into_value(),
            "Password_require_current" => account.require_current.map(flag).into_value(),
            "User_attributes" => {
                let attribute = account.attribute.as_ref();
                let metadata = attribute.map(|text| format!("{{\"metadata\": {text}}}"));
                metadata.into_value()
            }
            _ => Value::Null,
        })
    };
    let accounts = context.privileges().shown_accounts();
    accounts.iter().map(row).collect()
}

fn db(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        for (pattern, privileges) in &account.grants.databases {
            rows.push(row_of("mysql.db", *privileges, |column| match column {
                "Host" => text(&account.name.host),
                "User" => text(&account.name.user),
                _ => text(pattern),
            }));
        }
    })
}

/// The members of a privilege set as the value of a SET column.
fn listed(privileges: PrivilegeSet) -> Value {
    let names = privileges.members().map(|row| {
        let name = row.name.strip_suffix(" OPTION").unwrap_or(row.name);
        let mut name = name.to_lowercase();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        name
    });
    names.into_iter().join(",").into_value()
}

fn tables_priv(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        for ((database, table), grant) in &account.grants.tables {
            let (of_table, of_columns) = (listed(grant.privileges), listed(grant.any_column()));
            rows.push(row![
                host,
                database,
                user,
                table,
                "",
                Value::Null,
                of_table,
                of_columns
            ]);
        }
    })
}

fn columns_priv(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        for ((database, table), grant) in &account.grants.tables {
            for (column, privileges) in &grant.columns {
                let held = listed(*privileges);
                rows.push(row![host, database, user, table, column, Value::Null, held]);
            }
        }
    })
}

fn global_grants(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        for name in account.grants.dynamic.names() {
            let one = DynamicSet::of(name).unwrap_or_default();
            let grantable = flag(account.grants.dynamic_grantable.has(one));
            rows.push(row![user, host, name, grantable]);
        }
    })
}

fn role_edges(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        let roles = account.grants.roles.iter();
        rows.extend(
            roles.map(|(role, admin)| row![&role.host, &role.user, host, user, flag(*admin)]),
        );
    })
}

fn default_roles(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        let roles = account.grants.default_roles.iter();
        rows.extend(roles.map(|role| row![host, user, &role.host, &role.user]));
    })
}

fn password_history(context: &RelationContext) -> Vec<Row> {
    of_accounts(context, |account, rows| {
        let AccountName { user, host } = &account.name;
        for past in &account.past_passwords {
            let hash = text(String::from_utf8_lossy(&past.hash.0));
            rows.push(row![host, user, timestamp(context, past.set, 6), hash]);
        }
    })
}

//! The privileges of accounts: `USER_PRIVILEGES` and its like, `USER_ATTRIBUTES`, and what roles there
//! are. Who may not read the database `mysql` sees his own alone.

use std::sync::Arc;

use mayfly_syntax::ast::Privilege;
use mayfly_types::Value;

use super::relation::{Relation, Row, text, text_or_null, yes_no};
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::{DynamicSet, PrivilegeSet};
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("USER_PRIVILEGES", user_privileges),
    Relation::new("SCHEMA_PRIVILEGES", schema_privileges),
    Relation::new("TABLE_PRIVILEGES", table_privileges),
    Relation::new("COLUMN_PRIVILEGES", column_privileges),
    Relation::new("USER_ATTRIBUTES", user_attributes),
    Relation::new("APPLICABLE_ROLES", applicable_roles),
    Relation::new("ENABLED_ROLES", enabled_roles),
];

fn accounts(context: &StatementContext<'_>) -> Vec<Arc<Account>> {
    const SELECT: PrivilegeSet = PrivilegeSet::of(&[Privilege::Select]);
    let mut accounts = context.privileges().shown_accounts();
    if !context.rights().on_database("mysql").has(SELECT) {
        let own = context.privileges().own_account();
        accounts.retain(|account| account.name == own);
    }
    accounts
}

fn may_grant(privileges: PrivilegeSet) -> bool {
    privileges.has(PrivilegeSet::GRANT_OPTION)
}

/// The names of privileges, USAGE for none at all.
fn names(privileges: PrivilegeSet) -> Vec<&'static str> {
    let members = privileges.without(PrivilegeSet::GRANT_OPTION).members();
    let names: Vec<&str> = members.map(|row| row.name).collect();
    match names.is_empty() {
        true => vec!["USAGE"],
        false => names,
    }
}

fn user_privileges(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        let grants = &account.grants;
        let mut push = |privilege: &str, grantable: bool| {
            let grantee = text(account.name.to_string());
            rows.push(vec![
                grantee,
                text("def"),
                text(privilege),
                yes_no(grantable),
            ]);
        };
        for name in names(grants.global) {
            push(name, may_grant(grants.global));
        }
        for name in grants.dynamic.names() {
            let one = DynamicSet::of(name).unwrap_or_default();
            push(name, grants.dynamic_grantable.has(one));
        }
    }
    rows
}

fn schema_privileges(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        for (database, privileges) in &account.grants.databases {
            rows.extend(names(*privileges).into_iter().map(|name| {
                vec![
                    text(account.name.to_string()),
                    text("def"),
                    text(database),
                    text(name),
                    yes_no(may_grant(*privileges)),
                ]
            }));
        }
    }
    rows
}

fn table_privileges(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        for ((database, table), grant) in &account.grants.tables {
            if grant.privileges.is_empty() {
                continue;
            }
            rows.extend(names(grant.privileges).into_iter().map(|name| {
                vec![
                    text(account.name.to_string()),
                    text("def"),
                    text(database),
                    text(table),
                    text(name),
                    yes_no(may_grant(grant.privileges)),
                ]
            }));
        }
    }
    rows
}

fn column_privileges(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        for ((database, table), grant) in &account.grants.tables {
            for (column, privileges) in &grant.columns {
                rows.extend(privileges.members().map(|privilege| {
                    vec![
                        text(account.name.to_string()),
                        text("def"),
                        text(database),
                        text(table),
                        text(column),
                        text(privilege.name),
                        yes_no(may_grant(grant.privileges)),
                    ]
                }));
            }
        }
    }
    rows
}

fn user_attributes(context: &StatementContext<'_>) -> Vec<Row> {
    let row = |account: &Arc<Account>| {
        vec![
            text(&account.name.user),
            text(&account.name.host),
            text_or_null(account.attribute.as_deref()),
        ]
    };
    accounts(context).iter().map(row).collect()
}

/// The roles that the session's account has, directly or through others.
fn applicable_roles(context: &StatementContext<'_>) -> Vec<Row> {
    let own = context.privileges().own_account();
    let table = context.database().accounts.table();
    let mut rows = Vec::new();
    let mut left = vec![own.clone()];
    let mut seen: Vec<AccountName> = Vec::new();
    while let Some(grantee) = left.pop() {
        let Some(account) = table.get(&grantee).filter(|_| !seen.contains(&grantee)) else {
            continue;
        };
        for (role, admin) in &account.grants.roles {
            let is_default = account.grants.default_roles.contains(role);
            rows.push(vec![
                text(&own.user),
                text(&own.host),
                text(&grantee.user),
                text(&grantee.host),
                text(&role.user),
                text(&role.host),
                yes_no(*admin),
                yes_no(is_default),
                yes_no(false),
            ]);
            left.push(role.clone());
        }
        seen.push(grantee);
    }
    rows
}

fn enabled_roles(context: &StatementContext<'_>) -> Vec<Row> {
    let account = context
        .database()
        .accounts
        .get(&context.privileges().own_account());
    let default = account.map(|account| account.grants.default_roles.clone());
    let default = default.unwrap_or_default();
    let row = |role: &AccountName| {
        vec![
            text(&role.user),
            text(&role.host),
            yes_no(default.contains(role)),
            Value::from("NO"),
        ]
    };
    context.privileges().roles().iter().map(row).collect()
}

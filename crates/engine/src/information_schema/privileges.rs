//! Privileges of accounts: `USER_PRIVILEGES` and its like, `USER_ATTRIBUTES`, and roles. Without privileges on the
//! database `mysql` only one's own are visible.

use std::sync::Arc;

use mayfly_syntax::ast::Privilege;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::{DynamicSet, PrivilegeSet};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("USER_PRIVILEGES", user_privileges),
    Relation::new("SCHEMA_PRIVILEGES", schema_privileges),
    Relation::new("TABLE_PRIVILEGES", table_privileges),
    Relation::new("COLUMN_PRIVILEGES", column_privileges),
    Relation::new("USER_ATTRIBUTES", user_attributes),
    Relation::new("APPLICABLE_ROLES", applicable_roles),
    Relation::new("ENABLED_ROLES", enabled_roles),
];

fn accounts(context: &RelationContext) -> Vec<Arc<Account>> {
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

/// The names of privileges, USAGE for none, and whether they have GRANT OPTION.
fn names(privileges: PrivilegeSet) -> impl Iterator<Item = (&'static str, &'static str)> {
    let grantable = yes_no(may_grant(privileges));
    let members = privileges.without(PrivilegeSet::GRANT_OPTION).members();
    let mut names = members.map(|row| row.name).peekable();
    let usage = names.peek().is_none().then_some("USAGE");
    names.chain(usage).map(move |name| (name, grantable))
}

fn user_privileges(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        let grants = &account.grants;
        let dynamic = grants.dynamic.names().map(|name| {
            let one = DynamicSet::of(name).unwrap_or_default();
            (name, yes_no(grants.dynamic_grantable.has(one)))
        });
        for (name, grantable) in names(grants.global).chain(dynamic) {
            rows.push(row![account.name.to_string(), "def", name, grantable]);
        }
    }
    rows
}

fn schema_privileges(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        let grantee = account.name.to_string();
        for (database, privileges) in &account.grants.databases {
            for (name, grantable) in names(*privileges) {
                rows.push(row![&grantee, "def", database, name, grantable]);
            }
        }
    }
    rows
}

fn table_privileges(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        let grantee = account.name.to_string();
        let tables = account.grants.tables.iter();
        for ((database, table), grant) in tables.filter(|(_, it)| !it.privileges.is_empty()) {
            for (name, grantable) in names(grant.privileges) {
                rows.push(row![&grantee, "def", database, table, name, grantable]);
            }
        }
    }
    rows
}

fn column_privileges(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(context) {
        let grantee = account.name.to_string();
        for ((database, table), grant) in &account.grants.tables {
            let grantable = yes_no(may_grant(grant.privileges));
            for (column, privileges) in &grant.columns {
                rows.extend(privileges.members().map(|privilege| {
                    row![
                        &grantee,
                        "def",
                        database,
                        table,
                        column,
                        privilege.name,
                        grantable
                    ]
                }));
            }
        }
    }
    rows
}

fn user_attributes(context: &RelationContext) -> Vec<Row> {
    let row = |account: &Arc<Account>| {
        let AccountName { user, host } = &account.name;
        row![user, host, account.attribute.as_ref()]
    };
    accounts(context).iter().map(row).collect()
}

/// The roles of the session's account, direct and indirect ones.
fn applicable_roles(context: &RelationContext) -> Vec<Row> {
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
            rows.push(row![
                &own.user,
                &own.host,
                &grantee.user,
                &grantee.host,
                &role.user,
                &role.host,
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

fn enabled_roles(context: &RelationContext) -> Vec<Row> {
    let own = context.privileges().own_account();
    let account = context.database().accounts.get(&own);
    let default = account.map(|account| account.grants.default_roles.clone());
    let default = default.unwrap_or_default();
    let row = |role: &AccountName| {
        let is_default = yes_no(default.contains(role));
        row![&role.user, &role.host, is_default, "NO"]
    };
    context.privileges().roles().iter().map(row).collect()
}

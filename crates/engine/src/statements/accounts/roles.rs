//! Roles: locked accounts whose privileges other accounts are granted.

use std::collections::BTreeSet;
use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, Privilege, RoleChoice};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::{
    EXISTS, account_mut, all_named, change_with_warnings, failed, note, require_create_user,
};
use crate::accounts::AccountTable;
use crate::accounts::account::{Account, AccountName, AuthenticationPlugin};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::records;
use crate::error::ensure;
use crate::session::StatementContext;

/// CREATE ROLE
pub(super) fn create(
    context: &StatementContext<'_>,
    if_not_exists: bool,
    references: &[AccountReference],
) -> Result<()> {
    const EITHER: PrivilegeSet = PrivilegeSet::of(&[Privilege::CreateUser, Privilege::CreateRole]);
    let rights = context.rights();
    rights.require(EITHER, &[], "CREATE USER, CREATE ROLE")?;
    let names = all_named(context, references)?;
    let now = context.now();
    let mut existing = Vec::new();
    records::change(context, |accounts| {
        for name in &names {
            if accounts.contains_key(name) {
                existing.push(name.clone());
                continue;
            }
            let plugin = AuthenticationPlugin::CachingSha2Password;
            let role = Account {
                locked: true,
                expired: true,
                ..Account::new(name.clone(), plugin, now)
            };
            accounts.insert(name.clone(), Arc::new(role));
        }
        ensure(existing.is_empty() || if_not_exists, || {
            failed("CREATE ROLE", &existing, EXISTS)
        })
    })?;
    note(context, &codes::ER_USER_ALREADY_EXISTS, &existing);
    Ok(())
}

/// 1227 unless the session may grant and revoke these roles.
fn require_admin(context: &StatementContext<'_>, roles: &[AccountName]) -> Result<()> {
    const SUPER: PrivilegeSet = PrivilegeSet::of(&[Privilege::Super]);
    let rights = context.rights();
    if roles.iter().all(|role| rights.administers(role)) {
        return Ok(());
    }
    rights.require(SUPER, &["ROLE_ADMIN"], "WITH ADMIN, ROLE_ADMIN, SUPER")
}

/// GRANT role TO account
pub(super) fn grant(
    context: &StatementContext<'_>,
    roles: &[AccountReference],
    accounts: &[AccountReference],
    admin: bool,
) -> Result<()> {
    let (roles, names) = (all_named(context, roles)?, all_named(context, accounts)?);
    require_admin(context, &roles)?;
    records::change(context, |accounts| {
        for name in roles.iter().chain(&names) {
            if !accounts.contains_key(name) {
                return Err(unknown(name));
            }
        }
        for name in &names {
            for role in &roles {
                if reaches(accounts, role, name) {
                    let looped = codes::ER_ROLE_GRANTED_TO_ITSELF;
                    return Err(looped.with(&[&name.quoted(), &role.quoted()]));
                }
                let granted = &mut account_mut(accounts, name, || unknown(name))?.grants.roles;
                let admin = admin || granted.get(role) == Some(&true);
                granted.insert(role.clone(), admin);
            }
        }
        Ok(())
    })
}

/// 3523: the role or account does not exist.
fn unknown(name: &AccountName) -> Error {
    codes::ER_UNKNOWN_AUTHID.with(&[&name.quoted()])
}

/// Whether a role is an account, or has it through its own roles.
fn reaches(accounts: &AccountTable, role: &AccountName, account: &AccountName) -> bool {
    let mut seen = BTreeSet::new();
    let mut left = vec![role];
    while let Some(role) = left.pop() {
        if role == account {
            return true;
        }
        if seen.insert(role)
            && let Some(role) = accounts.get(role)
        {
            left.extend(role.grants.roles.keys());
        }
    }
    false
}

/// REVOKE role FROM account
pub(super) fn revoke(
    context: &StatementContext<'_>,
    roles: &[AccountReference],
    accounts: &[AccountReference],
    if_exists: bool,
    ignore_unknown: bool,
) -> Result<()> {
    let (roles, names) = (all_named(context, roles)?, all_named(context, accounts)?);
    require_admin(context, &roles)?;
    context.database().accounts.refuse_mandatory(&roles)?;
    change_with_warnings(context, |accounts, warnings| {
        for role in &roles {
            if !accounts.contains_key(role) {
                if !if_exists {
                    return Err(unknown(role));
                }
                warnings.push(unknown(role));
            }
        }
        for name in &names {
            let Some(account) = accounts.get_mut(name) else {
                if !ignore_unknown {
                    return Err(unknown(name));
                }
                warnings.push(codes::ER_USER_DOES_NOT_EXIST.with(&[&name.user]));
                continue;
            };
            let grants = &mut Arc::make_mut(account).grants;
            for role in &roles {
                grants.roles.remove(role);
                grants.default_roles.remove(role);
            }
        }
        Ok(())
    })
}

/// The roles that a choice means for an account: 3530 for one that it does not have.
fn chosen(
    context: &StatementContext<'_>,
    choice: &RoleChoice,
    account: &Account,
) -> Result<BTreeSet<AccountName>> {
    let roles = context.database().accounts.roles_of(account);
    let listed = |list: &[AccountReference]| -> Result<BTreeSet<AccountName>> {
        Ok(all_named(context, list)?.into_iter().collect())
    };
    let chosen = match choice {
        RoleChoice::None => BTreeSet::new(),
        RoleChoice::Default => account.grants.default_roles.clone(),
        RoleChoice::All => roles.clone(),
        RoleChoice::AllExcept(list) => {
            let without = listed(list)?;
            roles.difference(&without).cloned().collect()
        }
        RoleChoice::List(list) => listed(list)?,
    };
    match chosen.iter().find(|role| !roles.contains(*role)) {
        Some(role) => {
            Err(codes::ER_ROLE_NOT_GRANTED.with(&[&role.quoted(), &account.name.quoted()]))
        }
        None => Ok(chosen),
    }
}

/// SET ROLE
pub(super) fn set(context: &mut StatementContext<'_>, choice: &RoleChoice) -> Result<()> {
    let name = context.privileges().own_account();
    let account = context.database().accounts.get(&name);
    let without_roles = || {
        let plugin = AuthenticationPlugin::CachingSha2Password;
        Arc::new(Account::new(name.clone(), plugin, 0))
    };
    let roles = chosen(context, choice, &account.unwrap_or_else(without_roles))?;
    context.session.privileges.set_roles(roles);
    Ok(())
}

/// SET DEFAULT ROLE and ALTER USER … DEFAULT ROLE
pub(super) fn set_default(
    context: &StatementContext<'_>,
    choice: &RoleChoice,
    accounts: &[AccountReference],
    if_exists: bool,
) -> Result<()> {
    let names = all_named(context, accounts)?;
    let own = context.privileges().own_account();
    if names.iter().any(|name| *name != own) {
        require_create_user(context)?;
    }
    let mut missing = Vec::new();
    records::change(context, |accounts| {
        for name in &names {
            let Some(account) = accounts.get_mut(name) else {
                missing.push(name.clone());
                continue;
            };
            let roles = chosen(context, choice, account)?;
            Arc::make_mut(account).grants.default_roles = roles;
        }
        match missing.first() {
            Some(name) if !if_exists => Err(unknown(name)),
            _ => Ok(()),
        }
    })?;
    note(context, &codes::ER_USER_DOES_NOT_EXIST, &missing);
    Ok(())
}

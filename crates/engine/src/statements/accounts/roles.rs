//! Roles: accounts that are locked, whose privileges others get.

use std::collections::BTreeSet;
use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, Privilege, RoleChoice};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::{EXISTS, all_named, change_account, done, failed, note, require_create_user};
use crate::accounts::AccountTable;
use crate::accounts::account::{Account, AccountName, AuthenticationPlugin};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::{named, records};
use crate::error::ensure;
use crate::result::Outcome;
use crate::session::StatementContext;

/// CREATE ROLE
pub(super) fn create(
    context: &StatementContext<'_>,
    if_not_exists: bool,
    references: &[AccountReference],
) -> Result<Outcome> {
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
    done()
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
) -> Result<Outcome> {
    let (roles, names) = (all_named(context, roles)?, all_named(context, accounts)?);
    require_admin(context, &roles)?;
    records::change(context, |accounts| {
        let unknown = |name: &AccountName| codes::ER_UNKNOWN_AUTHID.with(&[&name.quoted()]);
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
                change_account(
                    accounts,
                    name,
                    || unknown(name),
                    |account| {
                        let admin = admin || account.grants.roles.get(role) == Some(&true);
                        account.grants.roles.insert(role.clone(), admin);
                        Ok(())
                    },
                )?;
            }
        }
        Ok(())
    })?;
    done()
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
) -> Result<Outcome> {
    let (roles, names) = (all_named(context, roles)?, all_named(context, accounts)?);
    require_admin(context, &roles)?;
    context.database().accounts.refuse_mandatory(&roles)?;
    let mut warnings = Vec::new();
    records::change(context, |accounts| {
        for role in &roles {
            if !accounts.contains_key(role) {
                let error = codes::ER_UNKNOWN_AUTHID.with(&[&role.quoted()]);
                if if_exists {
                    warnings.push(error)
                } else {
                    return Err(error);
                }
            }
        }
        for name in &names {
            let Some(account) = accounts.get_mut(name) else {
                if !ignore_unknown {
                    return Err(codes::ER_UNKNOWN_AUTHID.with(&[&name.quoted()]));
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
    })?;
    for warning in warnings {
        context.warn(warning);
    }
    done()
}

fn not_granted(role: &AccountName, account: &AccountName) -> mayfly_types::Error {
    codes::ER_ROLE_NOT_GRANTED.with(&[&role.quoted(), &account.quoted()])
}

/// The roles that a choice means for an account: 3530 for one that it has not.
fn chosen(
    context: &StatementContext<'_>,
    choice: &RoleChoice,
    account: &AccountName,
    granted: &Account,
) -> Result<BTreeSet<AccountName>> {
    let roles = context.database().accounts.roles_of(granted);
    let listed = |list: &[AccountReference]| -> Result<BTreeSet<AccountName>> {
        let names = list.iter().map(|reference| named(context, reference));
        names.collect()
    };
    let chosen = match choice {
        RoleChoice::None => BTreeSet::new(),
        RoleChoice::Default => granted.grants.default_roles.clone(),
        RoleChoice::All => roles.clone(),
        RoleChoice::AllExcept(list) => {
            let without = listed(list)?;
            let kept = roles.iter().filter(|role| !without.contains(*role));
            kept.cloned().collect()
        }
        RoleChoice::List(list) => listed(list)?,
    };
    match chosen.iter().find(|role| !roles.contains(*role)) {
        Some(role) => Err(not_granted(role, account)),
        None => Ok(chosen),
    }
}

/// SET ROLE
pub(super) fn set(context: &mut StatementContext<'_>, choice: &RoleChoice) -> Result<Outcome> {
    let name = context.privileges().own_account();
    let account = context.database().accounts.get(&name);
    let roles = match account {
        Some(account) => chosen(context, choice, &name, &account)?,
        None => {
            let plugin = AuthenticationPlugin::CachingSha2Password;
            let nothing = Account::new(name.clone(), plugin, 0);
            chosen(context, choice, &name, &nothing)?
        }
    };
    context.session.privileges.set_roles(roles);
    done()
}

/// SET DEFAULT ROLE and ALTER USER … DEFAULT ROLE
pub(super) fn set_default(
    context: &StatementContext<'_>,
    choice: &RoleChoice,
    accounts: &[AccountReference],
    if_exists: bool,
) -> Result<Outcome> {
    let names = all_named(context, accounts)?;
    let own = context.privileges().own_account();
    if names.iter().any(|name| *name != own) {
        require_create_user(context)?;
    }
    let mut missing = Vec::new();
    records::change(context, |accounts| {
        for name in &names {
            let Some(account) = accounts.get(name).cloned() else {
                missing.push(name.clone());
                continue;
            };
            let roles = chosen(context, choice, name, &account)?;
            let unknown = || codes::ER_UNKNOWN_AUTHID.with(&[&name.quoted()]);
            change_account(accounts, name, unknown, |account| {
                account.grants.default_roles = roles;
                Ok(())
            })?;
        }
        match missing.first() {
            Some(name) if !if_exists => Err(codes::ER_UNKNOWN_AUTHID.with(&[&name.quoted()])),
            _ => Ok(()),
        }
    })?;
    note(context, &codes::ER_USER_DOES_NOT_EXIST, &missing);
    done()
}

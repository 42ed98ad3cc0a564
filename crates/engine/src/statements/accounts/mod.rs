//! Statements on accounts: users in [`users`], privileges in [`privileges`], roles in [`roles`], what
//! SHOW tells in [`show`].

mod privileges;
mod roles;
pub(super) mod show;
mod users;

use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, AccountStatement, Privilege};
use mayfly_types::error::{ErrorCode, codes};
use mayfly_types::{Error, Result};

use crate::accounts::AccountTable;
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::{named, records};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::simple;

/// Runs the statement.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &AccountStatement,
) -> Result<Outcome> {
    match statement {
        AccountStatement::CreateUser(create) => return users::create(context, create),
        AccountStatement::AlterUser(alter) => return users::alter(context, alter),
        AccountStatement::Drop {
            roles,
            if_exists,
            accounts,
        } => users::drop(context, *roles, *if_exists, accounts)?,
        AccountStatement::Rename(renames) => users::rename(context, renames)?,
        AccountStatement::SetPassword {
            account,
            password,
            replaces,
            retains,
        } => {
            let replaces = replaces.as_deref();
            let account = account.as_ref();
            return users::set_password(context, account, password, replaces, *retains);
        }
        AccountStatement::CreateRole {
            if_not_exists,
            roles,
        } => roles::create(context, *if_not_exists, roles)?,
        AccountStatement::Grant(grant) => privileges::grant(context, grant)?,
        AccountStatement::Revoke(revoke) => privileges::revoke(context, revoke)?,
        AccountStatement::RevokeAll {
            accounts,
            ignore_unknown,
            ..
        } => privileges::revoke_all(context, accounts, *ignore_unknown)?,
        AccountStatement::GrantRoles {
            roles,
            accounts,
            admin,
        } => roles::grant(context, roles, accounts, *admin)?,
        AccountStatement::RevokeRoles {
            if_exists,
            roles,
            accounts,
            ignore_unknown,
        } => roles::revoke(context, roles, accounts, *if_exists, *ignore_unknown)?,
        AccountStatement::SetRole(choice) => roles::set(context, choice)?,
        AccountStatement::SetDefaultRole {
            roles,
            accounts,
            if_exists,
        } => roles::set_default(context, roles, accounts, *if_exists)?,
        AccountStatement::Proxy => simple::unsupported("proxy users")?,
    }
    Ok(StatementResult::default().into())
}

/// The accounts that a list names.
fn all_named(
    context: &StatementContext<'_>,
    references: &[AccountReference],
) -> Result<Vec<AccountName>> {
    let names = references.iter().map(|reference| named(context, reference));
    names.collect()
}

/// 1227 unless the session may change what accounts there are.
fn require_create_user(context: &StatementContext<'_>) -> Result<()> {
    context.rights().require(CREATE_USER, &[], "CREATE USER")
}

/// 1227: only an account with SYSTEM_USER may change one.
pub(super) fn refuse_system_user(context: &StatementContext<'_>, account: &Account) -> Result<()> {
    let rights = context.rights();
    let mut dynamic = account.grants.dynamic.names();
    if !dynamic.any(|name| name == "SYSTEM_USER") {
        return Ok(());
    }
    rights.require(PrivilegeSet::NONE, &["SYSTEM_USER"], "SYSTEM_USER")
}

/// The account of a name, to be changed; the error where there is none.
fn account_mut<'a>(
    accounts: &'a mut AccountTable,
    name: &AccountName,
    missing: impl FnOnce() -> Error,
) -> Result<&'a mut Account> {
    let account = accounts.get_mut(name).ok_or_else(missing)?;
    Ok(Arc::make_mut(account))
}

/// Changes accounts. Warnings about accounts that the change skips come after the others are changed.
fn change_with_warnings(
    context: &StatementContext<'_>,
    change: impl FnOnce(&mut AccountTable, &mut Vec<Error>) -> Result<()>,
) -> Result<()> {
    let mut warnings = Vec::new();
    records::change(context, |accounts| change(accounts, &mut warnings))?;
    for warning in warnings {
        context.warn(warning);
    }
    Ok(())
}

/// 1396 for all accounts that a statement fails for; `why` is the reason.
fn failed(operation: &str, names: &[AccountName], why: &str) -> Error {
    let names: Vec<String> = names.iter().map(|name| format!("{name}{why}")).collect();
    codes::ER_CANNOT_USER.with(&[&operation, &names.join(",")])
}

const CREATE_USER: PrivilegeSet = PrivilegeSet::of(&[Privilege::CreateUser]);

const EXISTS: &str = " (User account already exists)";
const MISSING: &str = " (User account does not exist)";

/// Notes about accounts that IF EXISTS or IF NOT EXISTS passes over.
fn note(context: &StatementContext<'_>, code: &ErrorCode, names: &[AccountName]) {
    for name in names {
        context.note(code.with(&[name]));
    }
}

//! Statements on accounts: users in [`users`], privileges in [`privileges`], roles in [`roles`], what
//! SHOW tells in [`show`].

mod privileges;
mod roles;
pub(super) mod show;
mod users;

use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, AccountStatement, Privilege};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::accounts::AccountTable;
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::named;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::simple;

/// Runs the statement.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &AccountStatement,
) -> Result<Outcome> {
    match statement {
        AccountStatement::CreateUser(create) => users::create(context, create),
        AccountStatement::AlterUser(alter) => users::alter(context, alter),
        AccountStatement::Drop {
            roles,
            if_exists,
            accounts,
        } => users::drop(context, *roles, *if_exists, accounts),
        AccountStatement::Rename(renames) => users::rename(context, renames),
        AccountStatement::SetPassword {
            account,
            password,
            replaces,
            retains,
        } => users::set_password(
            context,
            account.as_ref(),
            password,
            replaces.as_deref(),
            *retains,
        ),
        AccountStatement::CreateRole {
            if_not_exists,
            roles,
        } => roles::create(context, *if_not_exists, roles),
        AccountStatement::Grant(grant) => privileges::grant(context, grant),
        AccountStatement::Revoke(revoke) => privileges::revoke(context, revoke),
        AccountStatement::RevokeAll {
            accounts,
            ignore_unknown,
            ..
        } => privileges::revoke_all(context, accounts, *ignore_unknown),
        AccountStatement::GrantRoles {
            roles,
            accounts,
            admin,
        } => roles::grant(context, roles, accounts, *admin),
        AccountStatement::RevokeRoles {
            if_exists,
            roles,
            accounts,
            ignore_unknown,
        } => roles::revoke(context, roles, accounts, *if_exists, *ignore_unknown),
        AccountStatement::SetRole(choice) => roles::set(context, choice),
        AccountStatement::SetDefaultRole {
            roles,
            accounts,
            if_exists,
        } => roles::set_default(context, roles, accounts, *if_exists),
        AccountStatement::Proxy => simple::unsupported("proxy users"),
    }
}

fn done() -> Result<Outcome> {
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
    const CREATE_USER: PrivilegeSet = PrivilegeSet::of(&[Privilege::CreateUser]);
    context.rights().require(CREATE_USER, &[], "CREATE USER")
}

/// 1227 for who changes an account of the system's without being of the system.
pub(super) fn refuse_system_user(context: &StatementContext<'_>, account: &Account) -> Result<()> {
    let rights = context.rights();
    let is_system = account
        .grants
        .dynamic
        .names()
        .any(|name| name == "SYSTEM_USER");
    if is_system {
        rights.require(PrivilegeSet::NONE, &["SYSTEM_USER"], "SYSTEM_USER")
    } else {
        Ok(())
    }
}

/// Changes an account that is in the table; the account that was not is the error.
fn change_account<T>(
    accounts: &mut AccountTable,
    name: &AccountName,
    missing: impl FnOnce() -> Error,
    change: impl FnOnce(&mut Account) -> Result<T>,
) -> Result<T> {
    let account = accounts.get_mut(name).ok_or_else(missing)?;
    change(Arc::make_mut(account))
}

/// 1396 for all accounts that a statement fails for.
fn failed(operation: &str, names: &[AccountName], why: &str) -> Error {
    let names: Vec<String> = names.iter().map(|name| format!("{name}{why}")).collect();
    codes::ER_CANNOT_USER.with(&[&operation, &names.join(",")])
}

const EXISTS: &str = " (User account already exists)";
const MISSING: &str = " (User account does not exist)";

/// Notes about accounts that IF EXISTS or IF NOT EXISTS lets be.
fn note(
    context: &StatementContext<'_>,
    code: &mayfly_types::error::ErrorCode,
    names: &[AccountName],
) {
    for name in names {
        context.note(code.with(&[name]));
    }
}

//! GRANT and REVOKE of privileges. The session needs GRANT OPTION on the level, and the privileges
//! themselves.

use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, Grant, GrantLevel, Privilege, Revoke};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::{
    account_mut, all_named, change_with_warnings, refuse_system_user, require_create_user,
};
use crate::accounts::account::AccountName;
use crate::accounts::granted::resolve;
use crate::accounts::grants::{Granted, Level};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::records;
use crate::error::refuse;
use crate::names::{check_name, same_name};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// GRANT
pub(super) fn grant(context: &StatementContext<'_>, statement: &Grant) -> Result<()> {
    let level = level(context, &statement.level)?;
    let (granted, unknown) = resolve(&statement.privileges, &level)?;
    if !unknown.is_empty() {
        return Err(codes::ER_SYNTAX_ERROR.error());
    }
    require(context, &granted, &level)?;
    check_object(context, &granted, &level)?;
    let names = all_named(context, &statement.accounts)?;
    records::change(context, |accounts| {
        for name in &names {
            let missing = || codes::ER_CANT_CREATE_USER_WITH_GRANT.error();
            let account = account_mut(accounts, name, missing)?;
            refuse_system_user(context, account)?;
            let grants = &mut account.grants;
            grants.grant(&granted, &level, statement.grant_option);
        }
        Ok(())
    })
}

/// REVOKE
pub(super) fn revoke(context: &StatementContext<'_>, statement: &Revoke) -> Result<()> {
    let level = level(context, &statement.level)?;
    let (granted, unknown) = resolve(&statement.privileges, &level)?;
    for name in unknown {
        context.warn(codes::ER_WARN_DYNAMIC_PRIVILEGE_UNKNOWN.with(&[&name]));
    }
    require(context, &granted, &level)?;
    let names = all_named(context, &statement.accounts)?;
    change_with_warnings(context, |accounts, warnings| {
        for name in &names {
            let Some(account) = accounts.get_mut(name) else {
                if !statement.ignore_unknown {
                    return Err(no_grant(name, &level));
                }
                warnings.push(codes::ER_USER_DOES_NOT_EXIST.with(&[&name.user]));
                continue;
            };
            refuse_system_user(context, account)?;
            if !Arc::make_mut(account).grants.revoke(&granted, &level) {
                let error = no_grant(name, &level);
                if statement.if_exists {
                    warnings.push(error)
                } else {
                    return Err(error);
                }
            }
        }
        Ok(())
    })
}

/// REVOKE ALL PRIVILEGES, GRANT OPTION
pub(super) fn revoke_all(
    context: &StatementContext<'_>,
    references: &[AccountReference],
    ignore_unknown: bool,
) -> Result<()> {
    require_create_user(context)?;
    let names = all_named(context, references)?;
    change_with_warnings(context, |accounts, warnings| {
        for name in &names {
            match accounts.get_mut(name) {
                Some(account) => {
                    refuse_system_user(context, account)?;
                    Arc::make_mut(account).grants.revoke_all();
                }
                None if ignore_unknown => {
                    warnings.push(codes::ER_USER_DOES_NOT_EXIST.with(&[&name.user]));
                }
                None => return Err(codes::ER_REVOKE_GRANTS.error()),
            }
        }
        Ok(())
    })
}

/// The level that a statement names: 1046 for the current database if none is selected, 1044 for databases that
/// everybody may read, 1305 for routines.
fn level(context: &StatementContext<'_>, written: &GrantLevel) -> Result<Level> {
    let grantable = |database: &str| {
        if database.eq_ignore_ascii_case("information_schema") {
            return Err(context.rights().denied_database(database));
        }
        Ok(database.to_owned())
    };
    Ok(match written {
        GrantLevel::Global => Level::Global,
        GrantLevel::Current => Level::Database(grantable(context.database_or_current(None)?)?),
        GrantLevel::Database(pattern) => {
            check_name(pattern, &codes::ER_WRONG_DB_NAME)?;
            Level::Database(grantable(pattern)?)
        }
        GrantLevel::Table(table) => {
            let (database, name) = qualified(context, table)?;
            Level::Table(grantable(&database)?, name)
        }
        GrantLevel::Routine { function, name } => {
            let kind = if *function { "FUNCTION" } else { "PROCEDURE" };
            return Err(codes::ER_SP_DOES_NOT_EXIST.with(&[&kind, &name.name]));
        }
    })
}

/// An access error unless the session may grant and revoke these privileges on the level: 1045 or 1227 on `*.*`, 1044
/// on a database, 1142 or 1143 on a table.
fn require(context: &StatementContext<'_>, granted: &Granted, level: &Level) -> Result<()> {
    let rights = context.rights();
    if rights.is_unrestricted() {
        return Ok(());
    }
    let wanted = granted.privileges.with(PrivilegeSet::GRANT_OPTION);
    match level {
        Level::Global => {
            if !rights.may_grant_dynamic(granted.dynamic) {
                let denied = codes::ER_SPECIFIC_ACCESS_DENIED_ERROR;
                return Err(denied.with(&[&"GRANT OPTION"]));
            }
            let is_static = !granted.privileges.is_empty() || granted.dynamic.is_empty();
            refuse(is_static && !rights.global().has(wanted), || {
                context.privileges().access_denied()
            })
        }
        Level::Database(pattern) => rights.require_in_database(pattern, wanted),
        Level::Table(database, table) => {
            rights.require_on_table(database, table, wanted)?;
            granted.columns.iter().try_for_each(|(column, set)| {
                rights.require_on_columns(database, table, *set)?;
                rights.require_on_column((database, table), column, *set)
            })
        }
    }
}

/// 1146 for a missing table, unless the privileges allow creating it; 1054 for a missing column.
fn check_object(context: &StatementContext<'_>, granted: &Granted, level: &Level) -> Result<()> {
    const CREATE: PrivilegeSet = PrivilegeSet::of(&[Privilege::Create]);
    let Level::Table(database, name) = level else {
        return Ok(());
    };
    let catalog = context.catalog();
    let columns: Vec<String> = if let Some(table) = catalog.table(database, name) {
        let columns = table.definition.named_columns();
        columns.map(|column| column.name.clone()).collect()
    } else if let Some(view) = catalog.view(database, name) {
        view.source.columns.clone()
    } else if let Some(relation) = crate::information_schema::table(database, name) {
        let columns = relation.columns.iter();
        columns.map(|column| column.name.clone()).collect()
    } else if granted.privileges.has(CREATE) && granted.columns.is_empty() {
        return Ok(());
    } else {
        return Err(codes::ER_NO_SUCH_TABLE.with(&[database, name]));
    };
    let known = |name: &str| columns.iter().any(|column| same_name(column, name));
    match granted.columns.iter().find(|(column, _)| !known(column)) {
        Some((column, _)) => Err(codes::ER_BAD_FIELD_ERROR.with(&[column, name])),
        None => Ok(()),
    }
}

fn no_grant(name: &AccountName, level: &Level) -> Error {
    let AccountName { user, host } = name;
    match level {
        Level::Table(_, table) => codes::ER_NONEXISTING_TABLE_GRANT.with(&[user, host, table]),
        _ => codes::ER_NONEXISTING_GRANT.with(&[user, host]),
    }
}

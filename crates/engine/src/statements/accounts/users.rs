//! CREATE, ALTER, DROP and RENAME USER, and SET PASSWORD.

use std::sync::Arc;

use mayfly_syntax::ast::{
    AccountDefinition, AccountOptions, AccountReference, AlterUser, CreateUser, Identification,
    IdentifiedBy, NewPassword, Privilege,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use super::{
    CREATE_USER, EXISTS, MISSING, account_mut, all_named, failed, note, refuse_system_user,
    require_create_user,
};
use crate::accounts::AccountTable;
use crate::accounts::account::{Account, AccountName, AuthenticationPlugin, PasswordHash};
use crate::accounts::privileges::PrivilegeSet;
use crate::ddl::account::{define, named, records};
use crate::error::{ensure, refuse};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::variables::typed;

const UPDATE: PrivilegeSet = PrivilegeSet::of(&[Privilege::Update]);

/// Generated passwords, with their accounts.
type Generated = Vec<(AccountName, String)>;

/// CREATE USER: all of the list or none.
pub(super) fn create(context: &StatementContext<'_>, statement: &CreateUser) -> Result<Outcome> {
    require_create_user(context)?;
    let roles = all_named(context, &statement.default_roles)?;
    let now = context.now();
    let mut existing = Vec::new();
    let mut generated = Generated::new();
    records::change(context, |accounts| {
        if let Some(role) = roles.iter().find(|role| !accounts.contains_key(role)) {
            return Err(codes::ER_USER_DOES_NOT_EXIST.with(&[&role.quoted()]));
        }
        for definition in &statement.accounts {
            let name = named(context, &definition.account)?;
            if accounts.contains_key(&name) {
                existing.push(name);
                continue;
            }
            let plugin = AuthenticationPlugin::CachingSha2Password;
            let mut account = Account::new(name.clone(), plugin, now);
            let identified = definition.identified.as_ref();
            let (database, options) = (&context.database(), &statement.options);
            let operation = ("CREATE USER", now);
            let password = define(database, &mut account, identified, options, operation)?;
            generated.extend(password.map(|password| (name.clone(), password)));
            for role in &roles {
                account.grants.roles.insert(role.clone(), false);
                account.grants.default_roles.insert(role.clone());
            }
            accounts.insert(name, Arc::new(account));
        }
        ensure(existing.is_empty() || statement.if_not_exists, || {
            failed("CREATE USER", &existing, EXISTS)
        })
    })?;
    note(context, &codes::ER_USER_ALREADY_EXISTS, &existing);
    Ok(generated_passwords(&generated))
}

/// The result set with the generated passwords: no other statement shows them.
fn generated_passwords(generated: &Generated) -> Outcome {
    if generated.is_empty() {
        return StatementResult::default().into();
    }
    let text = |length| SqlType::varchar(length, CollationId::UTF8MB4_0900_AI_CI);
    let columns = [
        ("user", text(32)),
        ("host", text(255)),
        ("generated password", text(20)),
        ("auth_factor", SqlType::bigint()),
    ];
    let row = |(name, password): &(AccountName, String)| {
        [
            Value::from(name.user.as_str()),
            Value::from(name.host.as_str()),
            Value::from(password.as_str()),
            Value::Int(1),
        ]
    };
    let rows: Vec<[Value; 4]> = generated.iter().map(row).collect();
    StatementResult::of_rows(&columns, &rows).into()
}

/// ALTER USER: all of the list or none. No privilege is needed to change nothing but one's own password.
pub(super) fn alter(context: &mut StatementContext<'_>, statement: &AlterUser) -> Result<Outcome> {
    let own = context.privileges().own_account();
    let mut names = Vec::with_capacity(statement.accounts.len());
    for definition in &statement.accounts {
        let name = named(context, &definition.account)?;
        let identified = definition.identified.as_ref();
        let is_own = name == own
            && statement.options == AccountOptions::default()
            && identified.is_some_and(|identified| identified.plugin.is_none());
        if !is_own {
            require_create_user(context)?;
        }
        names.push(name);
    }
    let now = context.now();
    let mut missing = Vec::new();
    let mut generated = Generated::new();
    records::change(context, |accounts| {
        for (definition, name) in statement.accounts.iter().zip(&names) {
            let Some(account) = accounts.get_mut(name) else {
                missing.push(name.clone());
                continue;
            };
            if *name != own {
                refuse_system_user(context, account)?;
            }
            let account = Arc::make_mut(account);
            let operation = ("ALTER USER", now);
            let options = &statement.options;
            let password = alter_one(context, account, definition, options, operation)?;
            generated.extend(password.map(|password| (name.clone(), password)));
        }
        ensure(missing.is_empty() || statement.if_exists, || {
            failed("ALTER USER", &missing, MISSING)
        })
    })?;
    note(context, &codes::ER_USER_DOES_NOT_EXIST, &missing);
    for (definition, name) in statement.accounts.iter().zip(&names) {
        if statement.options.locked == Some(false) {
            context.database().accounts.usage().unblock(name);
        }
        if *name == own && definition.identified.is_some() {
            context.session.privileges.password_changed();
        }
    }
    Ok(generated_passwords(&generated))
}

fn alter_one(
    context: &StatementContext<'_>,
    account: &mut Account,
    definition: &AccountDefinition,
    options: &AccountOptions,
    operation: (&str, i64),
) -> Result<Option<String>> {
    if definition.discards {
        account.second_password = PasswordHash::default();
    }
    let identified = definition.identified.as_ref();
    if identified.is_some() {
        check_current(context, account, definition.replaces.as_deref())?;
    }
    let before = account.password.clone();
    let password = define(context.database(), account, identified, options, operation)?;
    if definition.retains {
        retain(account, before)?;
    }
    Ok(password)
}

/// REPLACE: 3891 when the given password is not the current one, 3892 when it is required, 3893 for the password of
/// another account.
fn check_current(
    context: &StatementContext<'_>,
    account: &Account,
    current: Option<&str>,
) -> Result<()> {
    let is_own = account.name == context.privileges().own_account();
    let password = &account.password.0;
    if let Some(current) = current {
        ensure(is_own, || codes::ER_CURRENT_PASSWORD_NOT_REQUIRED.error())?;
        let is_right = account.plugin.is_password(password, current.as_bytes());
        return ensure(is_right, || codes::ER_INCORRECT_CURRENT_PASSWORD.error());
    }
    let globals = context.database().globals();
    let required = account.require_current;
    let required = required.unwrap_or_else(|| globals.get(typed::PASSWORD_REQUIRE_CURRENT));
    let rights = context.rights();
    // An account that may set all passwords need not know its own.
    let is_privileged =
        rights.global().has(CREATE_USER) || rights.require_in_database("mysql", UPDATE).is_ok();
    let is_asked = is_own && required && !password.is_empty();
    refuse(is_asked && !is_privileged, || {
        codes::ER_MISSING_CURRENT_PASSWORD.error()
    })
}

/// RETAIN CURRENT PASSWORD: 3878 when there is none.
fn retain(account: &mut Account, before: PasswordHash) -> Result<()> {
    if before.0.is_empty() {
        let empty = codes::ER_SECOND_PASSWORD_CANNOT_BE_EMPTY;
        return Err(empty.with(&[&account.name.user, &account.name.host]));
    }
    account.second_password = before;
    Ok(())
}

/// SET PASSWORD
pub(super) fn set_password(
    context: &mut StatementContext<'_>,
    account: Option<&AccountReference>,
    password: &NewPassword,
    replaces: Option<&str>,
    retains: bool,
) -> Result<Outcome> {
    let own = context.privileges().own_account();
    let name = named(context, account.unwrap_or(&AccountReference::Current))?;
    if name != own {
        context.rights().require_in_database("mysql", UPDATE)?;
    }
    if own.user.is_empty() && name == own {
        return Err(codes::ER_PASSWORD_ANONYMOUS_USER.error());
    }
    let identified = Identification {
        plugin: None,
        by: Some(IdentifiedBy::Password(password.clone())),
    };
    let definition = AccountDefinition {
        account: AccountReference::Current,
        identified: Some(identified),
        replaces: replaces.map(str::to_owned),
        retains,
        discards: false,
    };
    let now = context.now();
    let missing = || codes::ER_PASSWORD_NO_MATCH.error();
    let generated = records::change(context, |accounts| {
        let account = account_mut(accounts, &name, missing)?;
        if name != own {
            refuse_system_user(context, account)?;
        }
        let options = AccountOptions::default();
        let operation = ("SET PASSWORD", now);
        alter_one(context, account, &definition, &options, operation)
    })?;
    if name == own {
        context.session.privileges.password_changed();
    }
    let generated = generated.map(|password| (name, password));
    Ok(generated_passwords(&generated.into_iter().collect()))
}

/// DROP USER and DROP ROLE: all of the list or none.
pub(super) fn drop(
    context: &StatementContext<'_>,
    roles: bool,
    if_exists: bool,
    references: &[AccountReference],
) -> Result<()> {
    if roles {
        let either = CREATE_USER.with(PrivilegeSet::of(&[Privilege::DropRole]));
        let rights = context.rights();
        rights.require(either, &[], "CREATE USER, DROP ROLE")?;
    } else {
        require_create_user(context)?
    }
    let names = all_named(context, references)?;
    context.database().accounts.refuse_mandatory(&names)?;
    let mut missing = Vec::new();
    records::change(context, |accounts| {
        for name in &names {
            match accounts.get(name) {
                Some(account) => refuse_system_user(context, account)?,
                None => missing.push(name.clone()),
            }
            accounts.remove(name);
            forget_role(accounts, name);
        }
        let operation = if roles { "DROP ROLE" } else { "DROP USER" };
        ensure(missing.is_empty() || if_exists, || {
            failed(operation, &missing, MISSING)
        })
    })?;
    note(context, &codes::ER_USER_DOES_NOT_EXIST, &missing);
    for name in &names {
        context.database().accounts.usage().unblock(name);
    }
    Ok(())
}

/// Removes a dropped account as a role of all others.
fn forget_role(accounts: &mut AccountTable, role: &AccountName) {
    for account in accounts.values_mut() {
        let grants = &account.grants;
        if grants.roles.contains_key(role) || grants.default_roles.contains(role) {
            let grants = &mut Arc::make_mut(account).grants;
            grants.roles.remove(role);
            grants.default_roles.remove(role);
        }
    }
}

/// RENAME USER: all of the list or none.
pub(super) fn rename(
    context: &StatementContext<'_>,
    renames: &[(AccountReference, AccountReference)],
) -> Result<()> {
    require_create_user(context)?;
    let mut refused = Vec::new();
    records::change(context, |accounts| {
        for (old, new) in renames {
            let (old, new) = (named(context, old)?, named(context, new)?);
            let account = accounts.get(&old).cloned();
            let Some(account) = account.filter(|_| !accounts.contains_key(&new)) else {
                refused.push(old);
                continue;
            };
            refuse_system_user(context, &account)?;
            accounts.remove(&old);
            let mut account = Account::clone(&account);
            account.name = new.clone();
            accounts.insert(new.clone(), Arc::new(account));
            for account in accounts.values_mut() {
                rename_role(account, &old, &new);
            }
        }
        ensure(refused.is_empty(), || failed("RENAME USER", &refused, ""))
    })
}

fn rename_role(account: &mut Arc<Account>, old: &AccountName, new: &AccountName) {
    if !account.grants.roles.contains_key(old) {
        return;
    }
    let grants = &mut Arc::make_mut(account).grants;
    if let Some(admin) = grants.roles.remove(old) {
        grants.roles.insert(new.clone(), admin);
    }
    if grants.default_roles.remove(old) {
        grants.default_roles.insert(new.clone());
    }
}

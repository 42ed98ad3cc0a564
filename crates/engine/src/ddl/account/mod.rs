//! Definitions of accounts: from CREATE USER and ALTER USER to an [`Account`], and back to text, for SHOW CREATE USER
//! and for the data directory.
//!
//! The record of an account has its SHOW CREATE USER and SHOW GRANTS statements, and what these do not say. So there
//! is one form to write and to read.

pub(crate) mod records;

use std::fmt::Write as _;
use std::sync::Arc;

use data_encoding::{HEXUPPER, HEXUPPER_PERMISSIVE};
use itertools::Itertools;
use mayfly_syntax::ast::{
    AccountLimit, AccountOptions, AccountReference, AccountStatement, Identification, IdentifiedBy,
    NewPassword, PasswordExpire, Require, Statement,
};
use mayfly_syntax::printer::quoted_string;
use mayfly_types::Result;
use mayfly_types::error::codes;
use mayfly_types::json::{self, Json, JsonObject};

use crate::accounts::account::{
    Account, AccountName, AuthenticationPlugin, PasswordHash, PastPassword,
};
use crate::accounts::crypt::PASSWORD_MAX;
use crate::accounts::granted;
use crate::accounts::grants::Grants;
use crate::database::Database;
use crate::session::StatementContext;

/// Length of a generated password in characters.
const GENERATED_LENGTH: usize = 20;

/// The account that a statement names.
pub(crate) fn named(
    context: &StatementContext<'_>,
    reference: &AccountReference,
) -> Result<AccountName> {
    match reference {
        AccountReference::Named { user, host } => AccountName::new(user, host.as_deref()),
        AccountReference::Current => Ok(context.privileges().own_account()),
    }
}

/// Random bytes.
fn random<const N: usize>(database: &Database) -> [u8; N] {
    let mut bytes = [0; N];
    database.options.randomness.fill(&mut bytes);
    bytes
}

/// A random password of letters, digits and marks that need no quoting anywhere.
pub(crate) fn random_password(database: &Database) -> String {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bytes: [u8; GENERATED_LENGTH] = random(database);
    let character = |byte| char::from(CHARACTERS[usize::from(byte & 63)]);
    bytes.into_iter().map(character).collect()
}

/// Sets an account's password; 1396 for one that is too long, as the failure of an operation.
fn set_password(
    database: &Database,
    account: &mut Account,
    password: &str,
    (operation, now): (&str, i64),
) -> Result<()> {
    if password.len() > PASSWORD_MAX {
        return Err(codes::ER_CANNOT_USER.with(&[&operation, &account.name]));
    }
    let hash = account.plugin.hash(password.as_bytes(), random(database));
    set_hash(account, PasswordHash(hash), now);
    Ok(())
}

fn set_hash(account: &mut Account, hash: PasswordHash, now: i64) {
    account.password = hash;
    account.password_changed = now;
    account.expired = false;
}

/// Applies an operation (CREATE USER, ALTER USER …) to an account; returns the password if it was generated. 3638 for
/// a password that cannot be reused yet.
pub(crate) fn define(
    database: &Database,
    account: &mut Account,
    identified: Option<&Identification>,
    options: &AccountOptions,
    (operation, now): (&str, i64),
) -> Result<Option<String>> {
    let plugin = account.plugin;
    let generated = match identified {
        Some(identified) => identify(database, account, identified, (operation, now))?,
        None => None,
    };
    set_options(account, options)?;
    if account.plugin != plugin {
        account.past_passwords.clear();
    }
    if let Some(identified) = identified {
        let text = match (&generated, &identified.by) {
            (Some(generated), _) => Some(generated.as_str()),
            (None, Some(IdentifiedBy::Password(NewPassword::Text(text)))) => Some(text.as_str()),
            _ => None,
        };
        account.remember_password(&database.globals(), text, now)?;
    }
    Ok(generated)
}

/// Applies IDENTIFIED to an account; returns the password if it was generated. 1524 for an unknown plugin, 1827 for
/// an invalid hash.
fn identify(
    database: &Database,
    account: &mut Account,
    identified: &Identification,
    (operation, now): (&str, i64),
) -> Result<Option<String>> {
    if let Some(name) = &identified.plugin {
        let plugin = AuthenticationPlugin::by_name(name);
        let missing = || codes::ER_PLUGIN_IS_NOT_LOADED.with(&[name]);
        account.plugin = plugin.ok_or_else(missing)?;
        account.second_password = PasswordHash::default();
    }
    let mut generated = None;
    let password = match &identified.by {
        None => "",
        Some(IdentifiedBy::Password(NewPassword::Text(password))) => password,
        Some(IdentifiedBy::Password(NewPassword::Random)) => {
            generated.insert(random_password(database))
        }
        Some(IdentifiedBy::Kept(hash)) => {
            if !account.plugin.is_hash(hash) {
                return Err(codes::ER_PASSWORD_FORMAT.error());
            }
            set_hash(account, PasswordHash(hash.clone()), now);
            return Ok(None);
        }
    };
    set_password(database, account, password, (operation, now))?;
    Ok(generated)
}

/// Applies the options after the accounts of CREATE USER and ALTER USER.
fn set_options(account: &mut Account, options: &AccountOptions) -> Result<()> {
    if let Some(require) = &options.require {
        account.require = require.clone();
    }
    for (limit, number) in &options.limits {
        let limits = &mut account.limits;
        let slot = match limit {
            AccountLimit::MaxQueriesPerHour => &mut limits.queries,
            AccountLimit::MaxUpdatesPerHour => &mut limits.updates,
            AccountLimit::MaxConnectionsPerHour => &mut limits.connections,
            AccountLimit::MaxUserConnections => &mut limits.user_connections,
        };
        *slot = *number;
    }
    match options.expire {
        Some(PasswordExpire::Now) => account.expired = true,
        Some(expire) => account.expire = expire,
        None => {}
    }
    account.history = options.history.unwrap_or(account.history);
    account.reuse_interval = options.reuse_interval.unwrap_or(account.reuse_interval);
    account.require_current = options.require_current.unwrap_or(account.require_current);
    account.failed_attempts = options.failed_attempts.unwrap_or(account.failed_attempts);
    account.lock_days = options.lock_days.unwrap_or(account.lock_days);
    account.locked = options.locked.unwrap_or(account.locked);
    if let Some(comment) = &options.comment {
        let comment = ("comment".to_owned(), Json::String(comment.clone()));
        merge_attribute(account, JsonObject::of(vec![comment]));
    }
    if let Some(attribute) = &options.attribute {
        match json::parse(attribute.as_bytes()) {
            Ok(Json::Object(object)) => merge_attribute(account, object),
            _ => return Err(codes::ER_INVALID_USER_ATTRIBUTE_JSON.error()),
        }
    }
    Ok(())
}

/// Merges an object into the attribute; a null removes a member.
fn merge_attribute(account: &mut Account, added: JsonObject) {
    let before = account.attribute.as_deref();
    let before = before.and_then(|text| json::parse(text.as_bytes()).ok());
    let mut merged = match before {
        Some(Json::Object(object)) => object,
        _ => JsonObject::default(),
    };
    for (key, value) in added.into_members() {
        match value {
            Json::Null => drop(merged.remove(&key)),
            value => drop(merged.insert(key, value)),
        }
    }
    account.attribute = String::from_utf8(Json::Object(merged).to_text()).ok();
}

/// The CREATE USER statement of an account, as SHOW CREATE USER prints it.
pub(crate) fn create_text(account: &Account, as_hex: bool) -> String {
    let (name, plugin) = (account.name.quoted(), account.plugin.name());
    let mut text = format!("CREATE USER {name} IDENTIFIED WITH '{plugin}'");
    let hash = &account.password.0;
    if !hash.is_empty() {
        text += " AS ";
        text += &match std::str::from_utf8(hash) {
            Ok(hash) if !as_hex => quoted_string(hash),
            _ => hex(hash),
        };
    }
    let roles = &account.grants.default_roles;
    if !roles.is_empty() {
        let mut roles = roles.iter().map(AccountName::quoted);
        text += &format!(" DEFAULT ROLE {}", roles.join(","));
    }
    text += &format!(" REQUIRE {}", require_text(&account.require));
    let limits = &account.limits;
    let limits = [
        ("MAX_QUERIES_PER_HOUR", limits.queries),
        ("MAX_UPDATES_PER_HOUR", limits.updates),
        ("MAX_CONNECTIONS_PER_HOUR", limits.connections),
        ("MAX_USER_CONNECTIONS", limits.user_connections),
    ];
    let limits = limits.iter().filter(|(_, limit)| *limit > 0);
    let limits = limits
        .map(|(name, limit)| format!("{name} {limit}"))
        .join(" ");
    if !limits.is_empty() {
        text += &format!(" WITH {limits}");
    }
    let expire = match account.expire {
        _ if account.expired => String::new(),
        PasswordExpire::Default | PasswordExpire::Now => " DEFAULT".to_owned(),
        PasswordExpire::Never => " NEVER".to_owned(),
        PasswordExpire::Days(days) => format!(" INTERVAL {days} DAY"),
    };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    let number = |number: Option<u64>, unit: &str, none: &str| match number {
        Some(number) => format!("{number}{unit}"),
        None => none.to_owned(),
    };
    let history = number(account.history, "", "DEFAULT");
    let interval = number(account.reuse_interval, " DAY", "DEFAULT");
    let current = match account.require_current {
        None => " DEFAULT",
        Some(true) => "",
        Some(false) => " OPTIONAL",
    };
    text += &format!(
        " PASSWORD EXPIRE{expire} ACCOUNT {lock} PASSWORD HISTORY {history} \
         PASSWORD REUSE INTERVAL {interval} PASSWORD REQUIRE CURRENT{current}"
    );
    if account.failed_attempts > 0 || account.lock_days != Some(0) {
        let days = number(account.lock_days, "", "UNBOUNDED");
        let attempts = account.failed_attempts;
        text += &format!(" FAILED_LOGIN_ATTEMPTS {attempts} PASSWORD_LOCK_TIME {days}");
    }
    if let Some(attribute) = &account.attribute {
        text += &format!(" ATTRIBUTE {}", quoted_string(attribute));
    }
    text
}

fn require_text(require: &Require) -> String {
    match require {
        Require::None => "NONE".to_owned(),
        Require::Ssl => "SSL".to_owned(),
        Require::X509 => "X509".to_owned(),
        Require::Certificate {
            subject,
            issuer,
            cipher,
        } => {
            let parts = [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)];
            let mut parts = parts.iter().filter_map(|(name, text)| {
                let text = text.as_ref()?;
                Some(format!("{name} {}", quoted_string(text)))
            });
            parts.join(" ")
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", HEXUPPER.encode(bytes))
}

/// Parses the output of [`hex`].
fn read_hex(text: &str) -> Option<PasswordHash> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    HEXUPPER_PERMISSIVE.decode(digits).ok().map(PasswordHash)
}

/// The record of an account.
pub(crate) fn record(account: &Account) -> Vec<u8> {
    let mut record = format!("password_changed {}\n", account.password_changed);
    let _ = writeln!(record, "expired {}", u8::from(account.expired));
    let second = &account.second_password.0;
    if !second.is_empty() {
        let _ = writeln!(record, "second_password {}", hex(second));
    }
    for past in &account.past_passwords {
        let _ = writeln!(record, "past_password {} {}", past.set, hex(&past.hash.0));
    }
    record.push('\n');
    let without = Account {
        expired: false,
        ..account.clone()
    };
    record += &create_text(&without, true);
    for statement in account.grants.statements(&account.name) {
        record += ";\n";
        record += &statement;
    }
    record.into_bytes()
}

/// An account from its record; `None` when the record is damaged.
pub(crate) fn read_record(database: &Database, record: &[u8]) -> Option<Account> {
    let record = std::str::from_utf8(record).ok()?;
    let (facts, statements) = record.split_once("\n\n")?;
    let all = |name: &'static str| {
        let facts = facts.lines().filter_map(|line| line.split_once(' '));
        facts.filter_map(move |(fact, value)| (fact == name).then_some(value))
    };
    let fact = |name| all(name).next();
    let changed = fact("password_changed")?.parse().ok()?;
    let mut account = None;
    let options = mayfly_syntax::ParseOptions::MYSQL_DEFAULT;
    for parsed in mayfly_syntax::statements(statements, &options) {
        let Statement::Account(statement) = parsed.ok()?.statement else {
            return None;
        };
        match (*statement, &mut account) {
            (AccountStatement::CreateUser(create), None) => {
                let definition = create.accounts.first()?;
                let plugin = AuthenticationPlugin::CachingSha2Password;
                let mut new = Account::new(AccountName::of(&definition.account)?, plugin, changed);
                if let Some(identified) = &definition.identified {
                    identify(database, &mut new, identified, ("CREATE USER", changed)).ok()?;
                }
                set_options(&mut new, &create.options).ok()?;
                for role in &create.default_roles {
                    new.grants.default_roles.insert(AccountName::of(role)?);
                }
                account = Some(new);
            }
            (AccountStatement::Grant(grant), Some(account)) => {
                let (granted, level) = granted::stored(&grant)?;
                account.grants.grant(&granted, &level, grant.grant_option);
            }
            (AccountStatement::GrantRoles { roles, admin, .. }, Some(account)) => {
                for role in &roles {
                    account.grants.roles.insert(AccountName::of(role)?, admin);
                }
            }
            _ => return None,
        }
    }
    let mut account = account?;
    account.expired = fact("expired") == Some("1");
    if let Some(second) = fact("second_password") {
        account.second_password = read_hex(second)?;
    }
    for past in all("past_password") {
        let (set, hash) = past.split_once(' ')?;
        account.past_passwords.push(PastPassword {
            set: set.parse().ok()?,
            hash: read_hex(hash)?,
        });
    }
    Some(account)
}

/// Creates `root@localhost` with all privileges.
pub(crate) fn make_root(context: &StatementContext<'_>, password: &str) -> Result<()> {
    let database = &context.database();
    let now = database.options.clock.now_utc_microseconds();
    let name = AccountName::new("root", Some("localhost"))?;
    let mut root = Account::new(name.clone(), AuthenticationPlugin::CachingSha2Password, now);
    set_password(database, &mut root, password, ("CREATE USER", now))?;
    root.grants = Grants::all();
    records::change(context, |accounts| {
        accounts.insert(name, Arc::new(root));
        Ok(())
    })
}

//! Accounts and their attributes.

use std::fmt;
use std::time::Duration;

use mayfly_syntax::ast::{PasswordExpire, Require};

pub(crate) use super::account_name::AccountName;
use super::crypt;
use super::grants::Grants;

/// Authentication plugin of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthenticationPlugin {
    /// `caching_sha2_password`
    CachingSha2Password,
    /// `mysql_native_password`
    MysqlNativePassword,
}

impl AuthenticationPlugin {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::CachingSha2Password => "caching_sha2_password",
            Self::MysqlNativePassword => "mysql_native_password",
        }
    }

    /// The plugin with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let plugins = [Self::CachingSha2Password, Self::MysqlNativePassword];
        let mut plugins = plugins.into_iter();
        plugins.find(|plugin| plugin.name().eq_ignore_ascii_case(name))
    }

    /// Whether a text has the form of the plugin's password hash.
    pub(crate) fn is_hash(self, hash: &[u8]) -> bool {
        match self {
            Self::CachingSha2Password => crypt::is_caching_sha2(hash),
            Self::MysqlNativePassword => crypt::is_native(hash),
        }
    }

    /// Whether a hash is of this password.
    pub(crate) fn is_password(self, hash: &[u8], password: &[u8]) -> bool {
        match self {
            Self::CachingSha2Password => crypt::is_caching_sha2_password(hash, password),
            Self::MysqlNativePassword => crypt::is_native_password(hash, password),
        }
    }

    /// The hash of a password; empty for the empty one.
    pub(crate) fn hash(self, password: &[u8], random: [u8; crypt::SALT_LENGTH]) -> Vec<u8> {
        match self {
            _ if password.is_empty() => Vec::new(),
            Self::CachingSha2Password => crypt::caching_sha2(password, &crypt::salt_of(random)),
            Self::MysqlNativePassword => crypt::native(password).into_bytes(),
        }
    }
}

/// A plugin's hash of a password; never printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct PasswordHash(pub(crate) Vec<u8>);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

/// Resource limits of an account; 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    pub(crate) queries: u64,
    pub(crate) updates: u64,
    pub(crate) connections: u64,
    pub(crate) user_connections: u64,
}

impl Limits {
    /// Whether statements are counted.
    pub(crate) fn counts_statements(&self) -> bool {
        self.queries > 0 || self.updates > 0
    }
}

/// A present or past password of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastPassword {
    /// When it was set: microseconds since 1970 UTC.
    pub(crate) set: i64,
    pub(crate) hash: PasswordHash,
}

/// An account.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Account {
    pub(crate) name: AccountName,
    pub(crate) plugin: AuthenticationPlugin,
    pub(crate) password: PasswordHash,
    /// RETAIN CURRENT PASSWORD
    pub(crate) second_password: PasswordHash,
    /// Microseconds since 1970 UTC.
    pub(crate) password_changed: i64,
    /// Passwords that cannot be reused, the newest first.
    pub(crate) past_passwords: Vec<PastPassword>,
    /// PASSWORD EXPIRE
    pub(crate) expired: bool,
    /// Lifetime of a password. Never [`PasswordExpire::Now`].
    pub(crate) expire: PasswordExpire,
    pub(crate) history: Option<u64>,
    pub(crate) reuse_interval: Option<u64>,
    pub(crate) require_current: Option<bool>,
    pub(crate) require: Require,
    pub(crate) limits: Limits,
    pub(crate) locked: bool,
    /// FAILED_LOGIN_ATTEMPTS, or 0.
    pub(crate) failed_attempts: u64,
    /// PASSWORD_LOCK_TIME in days; `None` is UNBOUNDED.
    pub(crate) lock_days: Option<u64>,
    /// A JSON object.
    pub(crate) attribute: Option<String>,
    pub(crate) grants: Grants,
}

impl Account {
    /// An account without password and privileges.
    pub(crate) fn new(name: AccountName, plugin: AuthenticationPlugin, now: i64) -> Self {
        Self {
            name,
            plugin,
            password: PasswordHash::default(),
            second_password: PasswordHash::default(),
            password_changed: now,
            past_passwords: Vec::new(),
            expired: false,
            expire: PasswordExpire::Default,
            history: None,
            reuse_interval: None,
            require_current: None,
            require: Require::None,
            limits: Limits::default(),
            locked: false,
            failed_attempts: 0,
            lock_days: Some(0),
            attribute: None,
            grants: Grants::default(),
        }
    }

    /// Whether it counts failed logins and is blocked after too many.
    pub(crate) fn is_blocked_by_failures(&self) -> bool {
        self.failed_attempts > 0 && self.lock_days != Some(0)
    }

    /// Whether its password is expired. `default_lifetime` is `default_password_lifetime`, in days; `now` is
    /// microseconds since 1970.
    pub(crate) fn is_expired(&self, now: i64, default_lifetime: u64) -> bool {
        let days = match self.expire {
            _ if self.expired => return true,
            PasswordExpire::Never | PasswordExpire::Now => return false,
            PasswordExpire::Days(days) => days,
            PasswordExpire::Default if default_lifetime == 0 => return false,
            PasswordExpire::Default => default_lifetime,
        };
        let age = now.saturating_sub(self.password_changed);
        let age = Duration::from_micros(u64::try_from(age).unwrap_or(0));
        age.as_secs() / 86_400 >= days
    }
}

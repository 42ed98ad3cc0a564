//! Names of accounts.

use std::fmt;

use mayfly_syntax::ast::AccountReference;
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::Result;
use mayfly_types::error::codes;

/// The longest name of a user, in characters.
const USER_LENGTH_MAX: usize = 32;
/// The longest name of a host.
const HOST_LENGTH_MAX: usize = 255;

/// Name of an account: `'user'@'host'`. The host is in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccountName {
    pub(crate) user: String,
    pub(crate) host: String,
}

impl AccountName {
    /// The name of a user and a host, by default `%`; 1470 if either is too long.
    pub(crate) fn new(user: &str, host: Option<&str>) -> Result<Self> {
        let too_long = |name: &str, what: &str, most: usize| {
            Err(codes::ER_WRONG_STRING_LENGTH.with(&[&name, &what, &most]))
        };
        if user.chars().count() > USER_LENGTH_MAX {
            return too_long(user, "user name", USER_LENGTH_MAX);
        }
        let host = host.unwrap_or("%");
        if host.chars().count() > HOST_LENGTH_MAX {
            return too_long(host.get(..70).unwrap_or(host), "host name", HOST_LENGTH_MAX);
        }
        Ok(Self {
            user: user.to_owned(),
            host: host.to_lowercase(),
        })
    }

    /// The name written in a statement, unless it is too long.
    pub(crate) fn of(reference: &AccountReference) -> Option<Self> {
        match reference {
            AccountReference::Named { user, host } => Self::new(user, host.as_deref()).ok(),
            AccountReference::Current => None,
        }
    }

    /// `` `user`@`host` ``
    pub(crate) fn quoted(&self) -> String {
        let (user, host) = (quoted_identifier(&self.user), quoted_identifier(&self.host));
        format!("{user}@{host}")
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'@'{}'", self.user, self.host)
    }
}

//! Authentication of clients by the engine: the account of a name and host, the check of the password, and what
//! follows from it.
//!
//! A login with an unknown name looks like any other and never succeeds, so that clients cannot learn which names
//! exist.

use std::sync::Arc;
use std::time::Duration;

use mayfly_syntax::ast::Require;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::accounts::account::{Account, AccountName, AuthenticationPlugin, PasswordHash};
use crate::accounts::host::ClientHost;
use crate::accounts::privileges::SUPER;
use crate::accounts::rights::Rights;
use crate::accounts::{Accounts, Digest, crypt};
use crate::connections::{Encryption, SessionOptions};
use crate::database::Database;
use crate::ddl::account;
use crate::session::{ConnectionSlot, LoggedIn, Session, StatementContext};
use crate::variables::typed;

/// A hash in the form of a real one that no password has.
const NO_PASSWORD: &[u8] =
    b"$A$005$nobodyhasthispasswordatallhasithasnobodyhaditornobodywillhaveit";

const _: () = assert!(NO_PASSWORD.len() == 70);

/// A client's login to the account that it asks for.
#[derive(Debug)]
pub struct Login {
    accounts: Arc<Accounts>,
    user: String,
    host: ClientHost,
    account: Arc<Account>,
    /// Whether the account exists.
    is_known: bool,
    encryption: Option<Encryption>,
}

/// The outcome of the first answer of `caching_sha2_password`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FastCheck {
    /// The password is right.
    Accepted,
    /// No digest of the password is cached: the client has to send it.
    PasswordNeeded,
    /// The password is wrong.
    Refused,
}

/// A login that failed.
#[derive(Debug)]
pub struct LoginFailure {
    /// The error for the client.
    pub error: Error,
    /// Delay before the error is sent.
    pub delay: Duration,
}

/// The password of a new `root@localhost`.
#[derive(Debug, Clone, Copy)]
pub enum RootPassword<'p> {
    /// None.
    Empty,
    /// A given password.
    Given(&'p str),
    /// A random password.
    Generated,
}

/// The account created at the first start.
#[derive(Debug)]
pub struct NewRoot {
    /// Its password, if it was generated.
    pub generated: Option<String>,
}

impl Login {
    /// The authentication plugin of the account.
    pub fn plugin(&self) -> AuthenticationPlugin {
        self.account.plugin
    }

    /// Whether the account has a password.
    pub fn has_password(&self) -> bool {
        !self.account.password.0.is_empty()
    }

    /// Sets the connection's encryption, for which the account may have requirements.
    pub fn set_encryption(&mut self, encryption: Option<Encryption>) {
        self.encryption = encryption;
    }

    /// Whether the connection meets the account's REQUIRE clause.
    fn meets(&self, require: &Require) -> bool {
        let encryption = self.encryption.as_ref();
        let certificate = encryption.and_then(|encryption| encryption.certificate.as_ref());
        match (require, encryption, certificate) {
            (Require::None, ..) | (Require::Ssl, Some(_), _) | (Require::X509, _, Some(_)) => true,
            (
                Require::Certificate {
                    subject,
                    issuer,
                    cipher,
                },
                Some(encryption),
                Some(certificate),
            ) => {
                let is = |wanted: &Option<String>, found: &str| {
                    wanted.as_deref().is_none_or(|wanted| wanted == found)
                };
                is(cipher, &encryption.cipher)
                    && is(issuer, &certificate.issuer)
                    && is(subject, &certificate.subject)
            }
            _ => false,
        }
    }

    /// `mysql_native_password`: whether a client's answer to a scramble is correct.
    pub fn check_native(&self, scramble: &[u8; 20], response: &[u8]) -> bool {
        let is_right = |hash: &PasswordHash| crypt::is_native_answer(&hash.0, scramble, response);
        let second = &self.account.second_password;
        let right = is_right(&self.account.password) || (!second.0.is_empty() && is_right(second));
        self.is_known && self.plugin() == AuthenticationPlugin::MysqlNativePassword && right
    }

    /// `caching_sha2_password`: the outcome of a client's answer to a scramble.
    pub fn check_fast(&self, scramble: &[u8; 20], response: &[u8]) -> FastCheck {
        if response.is_empty() {
            return if !self.has_password() && self.is_known {
                FastCheck::Accepted
            } else {
                FastCheck::Refused
            };
        }
        let digests = self.accounts.digests();
        let known = self.is_known.then(|| digests.get(&self.account.name));
        match known.flatten() {
            Some(Digest(digest)) if crypt::is_fast_answer(digest, scramble, response) => {
                FastCheck::Accepted
            }
            // An account with two passwords may mean the other one.
            _ => FastCheck::PasswordNeeded,
        }
    }

    /// Whether a password is correct. A correct one is cached for [`Self::check_fast`].
    pub fn check_password(&self, password: &[u8]) -> bool {
        let account = &self.account;
        let plugin = account.plugin;
        let hash = match account.password.0.as_slice() {
            // A password for an account without one takes as long to check as any other.
            [] if !password.is_empty() => NO_PASSWORD,
            hash => hash,
        };
        let is_first = plugin.is_password(hash, password);
        let second = &account.second_password.0;
        let is_right = is_first || (!second.is_empty() && plugin.is_password(second, password));
        if !(is_right && self.is_known) {
            return false;
        }
        if is_first && self.has_password() && plugin == AuthenticationPlugin::CachingSha2Password {
            // The password may have been changed since.
            let mut digests = self.accounts.digests();
            let now = self.accounts.get(&account.name);
            if now.is_some_and(|now| now.password == account.password) {
                let digest = Digest(crypt::fast_digest(password));
                digests.insert(account.name.clone(), digest);
            }
        }
        true
    }

    /// 1045
    fn denied(&self, used_password: bool) -> Error {
        let used = if used_password { "YES" } else { "NO" };
        codes::ER_ACCESS_DENIED_ERROR.with(&[&self.user, &self.host.name(), &used])
    }
}

impl Database {
    /// The account for a user from an address, or from `localhost`.
    pub fn account_for(&self, user: &str, host: &str) -> Login {
        let host = ClientHost::new(host);
        let found = self.accounts.find(user, &host);
        let is_known = found.is_some();
        let account = found.unwrap_or_else(|| {
            let name = AccountName {
                user: user.to_owned(),
                host: host.name().to_owned(),
            };
            let plugin = self.accounts.decoy_plugin(user, host.name());
            Arc::new(Account {
                password: PasswordHash(NO_PASSWORD.to_vec()),
                ..Account::new(name, plugin, 0)
            })
        });
        Login {
            accounts: Arc::clone(&self.accounts),
            user: user.to_owned(),
            host,
            account,
            is_known,
            encryption: None,
        }
    }

    /// Opens a session for a client with a correct password. The account may refuse it for other reasons.
    pub fn log_in(
        &self,
        mut slot: ConnectionSlot,
        login: &Login,
        options: SessionOptions,
    ) -> Result<Session> {
        let is_extra = slot.enter();
        let admitted = is_extra.and_then(|is_extra| self.admit(login, options, is_extra));
        let session = admitted.and_then(|(options, database, logged_in)| {
            let mut session = Session::new(slot, options, logged_in);
            if let Some(database) = database {
                session.use_database(&database)?;
            }
            Ok(session)
        });
        session.inspect_err(|_| self.count_aborted_connect())
    }

    /// The initial state of an account's session: its options, its database, and its privileges.
    fn admit(
        &self,
        login: &Login,
        options: SessionOptions,
        is_extra: bool,
    ) -> Result<(SessionOptions, Option<String>, LoggedIn)> {
        let now = self.options.clock.now_utc_microseconds();
        // The account may have changed since the client connected.
        let current = self.accounts.get(&login.account.name);
        let account = current.filter(|account| {
            login.is_known
                && account.password == login.account.password
                && account.second_password == login.account.second_password
        });
        let Some(account) = account else {
            return Err(login.denied(true));
        };
        let usage = self.accounts.usage();
        usage.refuse_blocked(&account, now)?;
        if account.locked {
            let locked = codes::ER_ACCOUNT_HAS_BEEN_LOCKED;
            return Err(locked.with(&[&login.user, &login.host.name()]));
        }
        if !login.meets(&account.require) {
            return Err(login.denied(login.has_password()));
        }
        let globals = self.globals();
        let expired = account.is_expired(now, globals.get(typed::DEFAULT_PASSWORD_LIFETIME));
        if expired && !options.changes_expired_password {
            return Err(codes::ER_MUST_CHANGE_PASSWORD_LOGIN.error());
        }
        let logged_in = LoggedIn {
            roles: self
                .accounts
                .roles_at_login(&account, globals.get(typed::ACTIVATE_ALL_ROLES_ON_LOGIN)),
            account: Some(account.name.clone()),
            expired,
        };
        let sources = self.accounts.with_roles(&account.name, &logged_in.roles);
        let rights = Rights::of(&account.name.user, login.host.name(), sources);
        self.refuse_offline(&rights)?;
        if is_extra {
            let is_administrator = rights.require(SUPER, &["CONNECTION_ADMIN"], "");
            is_administrator.map_err(|_| codes::ER_CON_COUNT_ERROR.error())?;
        }
        if account.limits.user_connections == 0 {
            self.refuse_many_of(&login.user)?;
        }
        let name = Some(&account.name);
        let living = self.living_sessions();
        let own = living
            .iter()
            .filter(|other| other.identity().account.as_ref() == name);
        usage.count_connection(&account, own.count() as u64, now)?;
        usage.succeeded(login.host.name(), &account.name);
        let database = options.database.clone();
        let options = SessionOptions {
            user: login.user.clone(),
            host: login.host.name().to_owned(),
            database: None,
            ..options
        };
        Ok((options, database, logged_in))
    }

    /// Records a failed login, as an aborted connection.
    pub fn login_failed(&self, login: &Login, used_password: bool) -> LoginFailure {
        let usage = self.accounts.usage();
        self.count_aborted_connect();
        let now = self.options.clock.now_utc_microseconds();
        let blocked = if login.is_known {
            usage.count_failure(&login.account, now).err()
        } else {
            None
        };
        LoginFailure {
            error: blocked.unwrap_or_else(|| login.denied(used_password)),
            delay: usage.delay_of_failure(login.host.name()),
        }
    }

    /// Creates `root@localhost` with all privileges, if there is no account at all.
    pub fn set_up_root(self: &Arc<Self>, password: RootPassword<'_>) -> Result<Option<NewRoot>> {
        if !self.accounts.table().is_empty() {
            return Ok(None);
        }
        let generated = match password {
            RootPassword::Generated => Some(account::random_password(self)),
            RootPassword::Empty | RootPassword::Given(_) => None,
        };
        let password = match (&generated, password) {
            (Some(generated), _) => generated.as_str(),
            (None, RootPassword::Given(given)) => given,
            (None, _) => "",
        };
        let mut session = self.session();
        account::make_root(&StatementContext::internal(&mut session), password)?;
        Ok(Some(NewRoot { generated }))
    }
}

impl Session {
    /// Switches to another account, whose password is correct; see [`Self::change_user`]. After an error the
    /// connection must end.
    pub fn log_in_as(&mut self, login: &Login, options: SessionOptions) -> Result<()> {
        let (options, database, logged_in) = self.database.admit(login, options, false)?;
        self.begin_as(options, logged_in);
        if let Some(database) = database {
            self.use_database(&database)?;
        }
        self.log_login("Change user");
        Ok(())
    }
}

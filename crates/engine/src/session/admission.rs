//! Who a session is, and what it may do.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use mayfly_functions::context::ServerFiles;
use mayfly_syntax::ast::Privilege;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::Session;
use crate::accounts::account::AccountName;
use crate::accounts::privileges::{DynamicSet, PrivilegeSet, SUPER};
use crate::accounts::rights::Rights;
use crate::files::NoFiles;

static ROLE_ADMIN: LazyLock<DynamicSet> =
    LazyLock::new(|| DynamicSet::of("ROLE_ADMIN").unwrap_or(DynamicSet::ALL));

/// The account that a client has logged in to. An embedded session has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Admission {
    pub(crate) account: Option<AccountName>,
    /// The roles that are active.
    pub(crate) roles: BTreeSet<AccountName>,
    /// Its password is expired: it may only set another.
    pub(crate) expired: bool,
}

impl Admission {
    /// What decides about the rights of a session whose user is `login`, as a text.
    pub(super) fn rights_text(&self, login: &str) -> Arc<str> {
        let Some(account) = &self.account else {
            return Arc::from(login);
        };
        let mut text = format!("{login}\0{account}");
        for role in &self.roles {
            text += "\0";
            text += &role.quoted();
        }
        Arc::from(text)
    }
}

/// Rights, and the version of the catalog that they are of.
#[derive(Debug)]
pub(super) struct KnownRights {
    version: Option<u64>,
    rights: Arc<Rights>,
}

impl KnownRights {
    /// Those of a session that begins.
    pub(super) fn of(user: &str, host: &str) -> Self {
        Self {
            version: None,
            rights: Arc::new(Rights::unrestricted(user, host)),
        }
    }
}

impl Session {
    /// Whether the session may do everything, whatever accounts there are.
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.admission.account.is_none()
    }

    /// What the session may do now.
    pub(crate) fn rights(&self) -> Arc<Rights> {
        let mut known = self.rights.borrow_mut();
        let Some(account) = &self.admission.account else {
            return Arc::clone(&known.rights);
        };
        let version = Some(self.database.catalog.version());
        if known.version != version {
            let accounts = &self.database.accounts;
            let sources = accounts.with_roles(account, &self.admission.roles);
            let host = self.host();
            known.rights = Arc::new(Rights::of(&account.user, host, sources));
            known.version = version;
        }
        Arc::clone(&known.rights)
    }

    /// The rights of a view's definer: 1449 when there is no such account.
    pub(crate) fn rights_of_definer(&self, (user, host): &(String, String)) -> Result<Arc<Rights>> {
        let name = AccountName {
            user: user.clone(),
            host: host.to_lowercase(),
        };
        if name == self.own_account() {
            return Ok(self.rights());
        }
        let accounts = &self.database.accounts;
        let Some(account) = accounts.get(&name) else {
            // What embedded sessions made is theirs wherever there are no accounts.
            let of_embedded = name.user == "root" && name.host == "localhost";
            if self.is_unrestricted() && (of_embedded || accounts.table().is_empty()) {
                return Ok(self.rights());
            }
            return Err(match self.rights().global().has(SUPER) {
                true => codes::ER_NO_SUCH_USER.with(&[user, host]),
                false => self.access_denied(),
            });
        };
        let sources = accounts.with_roles(&name, &account.grants.default_roles);
        Ok(Arc::new(Rights::of(user, host, sources)))
    }

    /// The account's name; that of the user for an embedded session.
    pub(crate) fn own_account(&self) -> AccountName {
        match &self.admission.account {
            Some(account) => account.clone(),
            None => AccountName {
                user: self.user().to_owned(),
                host: self.host().to_owned(),
            },
        }
    }

    /// CURRENT_USER()
    pub(crate) fn current_user(&self) -> String {
        match &self.admission.account {
            Some(account) => format!("{}@{}", account.user, account.host),
            None => self.user.to_string(),
        }
    }

    /// The same for a session that begins anew: with the roles of the beginning.
    pub(super) fn admission_again(&self) -> Admission {
        let account = self.database.accounts.get(&self.own_account());
        let account = account.filter(|_| !self.is_unrestricted());
        Admission {
            roles: account.map_or_else(BTreeSet::new, |account| {
                let all = self
                    .database
                    .globals()
                    .boolean("activate_all_roles_on_login");
                self.database.accounts.roles_at_login(&account, all)
            }),
            ..self.admission.clone()
        }
    }

    /// The files that functions may read: none without FILE.
    pub(super) fn readable_files(&self) -> Arc<dyn ServerFiles> {
        const FILE: PrivilegeSet = PrivilegeSet::of(&[Privilege::File]);
        match self.is_unrestricted() || self.rights().global().has(FILE) {
            true => Arc::clone(&self.database.file_rules) as _,
            false => Arc::new(NoFiles),
        }
    }

    /// Whether the session may see who has which role.
    pub(super) fn sees_roles(&self) -> bool {
        self.is_unrestricted() || {
            let rights = self.rights();
            rights.global().has(SUPER) || rights.has_dynamic_set(*ROLE_ADMIN)
        }
    }

    /// CURRENT_ROLE()
    pub(crate) fn current_role(&self) -> String {
        let roles: Vec<String> = self
            .admission
            .roles
            .iter()
            .map(AccountName::quoted)
            .collect();
        match roles.is_empty() {
            true => "NONE".to_owned(),
            false => roles.join(","),
        }
    }

    /// The roles that are active.
    pub(crate) fn roles(&self) -> &BTreeSet<AccountName> {
        &self.admission.roles
    }

    /// SET ROLE
    pub(crate) fn set_roles(&mut self, roles: BTreeSet<AccountName>) {
        self.admission.roles = roles;
        *self.rights.borrow_mut() = KnownRights::of(self.user(), self.host());
        self.rights_text = self.admission.rights_text(&self.user);
        // Plans were made for what was allowed.
        self.temporary_version += 1;
    }

    /// 1820 while its password is expired.
    pub(crate) fn refuse_expired(&self) -> Result<()> {
        match self.admission.expired {
            true => Err(codes::ER_MUST_CHANGE_PASSWORD.error()),
            false => Ok(()),
        }
    }

    /// The session has a new password.
    pub(crate) fn password_changed(&mut self) {
        self.admission.expired = false;
    }

    /// 1045 for a session that has logged in.
    pub(crate) fn access_denied(&self) -> Error {
        let name = self.own_account();
        let account = self.database.accounts.get(&name);
        let has_password = account.is_some_and(|account| !account.password.0.is_empty());
        let used = if has_password { "YES" } else { "NO" };
        codes::ER_ACCESS_DENIED_ERROR.with(&[&name.user, &self.host(), &used])
    }

    /// Counts a statement against the limits of the account: 1226.
    pub(crate) fn count_against_limits(&self, updates: bool) -> Result<()> {
        let Some(name) = &self.admission.account else {
            return Ok(());
        };
        let accounts = &self.database.accounts;
        let account = accounts.get(name);
        match account.filter(|account| account.limits.counts_statements()) {
            Some(account) => accounts
                .usage()
                .count_statement(&account, updates, self.now()),
            None => Ok(()),
        }
    }
}

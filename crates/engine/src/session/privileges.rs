//! The identity of a session, its privileges, and what it may see.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use mayfly_functions::context::ServerFiles;
use mayfly_syntax::ast::Privilege;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use parking_lot::Mutex;

use crate::accounts::account::{Account, AccountName, AuthenticationPlugin};
use crate::accounts::grants::Grants;
use crate::accounts::privileges::{DynamicSet, PrivilegeSet, SUPER};
use crate::accounts::rights::Rights;
use crate::catalog::BaseTable;
use crate::catalog::view::ViewDefinition;
use crate::connections::{Identity, SessionOptions, SessionShared};
use crate::database::Database;
use crate::database::server_modes::is_exempt;
use crate::error::{ensure, refuse};
use crate::files::NoFiles;
use crate::variables::typed;

static ROLE_ADMIN: LazyLock<DynamicSet> =
    LazyLock::new(|| DynamicSet::of("ROLE_ADMIN").unwrap_or(DynamicSet::ALL));

/// The account that a client has logged in to. An embedded session has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoggedIn {
    pub(crate) account: Option<AccountName>,
    /// The active roles.
    pub(crate) roles: BTreeSet<AccountName>,
    /// Whether its password is expired: it may only set a new one.
    pub(crate) expired: bool,
}

/// The rights of a session, and the version of the catalog that they were computed for.
#[derive(Debug, Clone)]
struct CachedRights {
    version: Option<u64>,
    rights: Arc<Rights>,
}

impl CachedRights {
    /// Identity of a new session.
    fn of(user: &str, host: &str) -> Self {
        Self {
            version: None,
            rights: Arc::new(Rights::unrestricted(user, host)),
        }
    }
}

/// The identity and the privileges of a session.
#[derive(Debug)]
pub(crate) struct SessionPrivileges {
    database: Arc<Database>,
    identity: Arc<Identity>,
    login: LoggedIn,
    cached: Mutex<CachedRights>,
    /// `USER()`
    user_text: Arc<str>,
    /// The basis of the rights, as a text: only sessions with the same text share plans.
    key: Arc<str>,
}

impl Clone for SessionPrivileges {
    fn clone(&self) -> Self {
        Self {
            database: Arc::clone(&self.database),
            identity: Arc::clone(&self.identity),
            login: self.login.clone(),
            cached: Mutex::new(self.cached.lock().clone()),
            user_text: Arc::clone(&self.user_text),
            key: Arc::clone(&self.key),
        }
    }
}

impl SessionPrivileges {
    pub(super) fn new(
        database: Arc<Database>,
        identity: Arc<Identity>,
        options: &SessionOptions,
        login: LoggedIn,
    ) -> Self {
        let user_text: Arc<str> = Arc::from(format!("{}@{}", options.user, options.host));
        Self {
            cached: Mutex::new(CachedRights::of(&options.user, &options.host)),
            key: key(&user_text, &login),
            database,
            identity,
            login,
            user_text,
        }
    }

    /// The session's identity.
    pub(crate) fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The account's name.
    pub(crate) fn user(&self) -> &str {
        &self.identity.user
    }

    /// The client's host.
    pub(crate) fn host(&self) -> &str {
        &self.identity.host
    }

    /// `USER()`
    pub(crate) fn user_text(&self) -> &Arc<str> {
        &self.user_text
    }

    /// The key of user and rights: a plan is shared only within it.
    pub(crate) fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Whether the session has all privileges, whatever accounts there are.
    #[inline]
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.login.account.is_none()
    }

    /// The session's current rights.
    pub(crate) fn rights(&self) -> Arc<Rights> {
        let mut known = self.cached.lock();
        let Some(account) = &self.login.account else {
            return Arc::clone(&known.rights);
        };
        let version = Some(self.database.catalog.version());
        if known.version != version {
            let accounts = &self.database.accounts;
            let sources = accounts.with_roles(account, &self.login.roles);
            let host = self.host();
            known.rights = Arc::new(Rights::of(&account.user, host, sources));
            known.version = version;
        }
        Arc::clone(&known.rights)
    }

    /// The rights of a view's definer: 1449 when the account does not exist.
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
            // Objects of embedded sessions belong to root@localhost, even where there are no accounts.
            let of_embedded = name.user == "root" && name.host == "localhost";
            if self.is_unrestricted() && (of_embedded || accounts.table().is_empty()) {
                return Ok(self.rights());
            }
            ensure(self.rights().global().has(SUPER), || self.access_denied())?;
            return Err(codes::ER_NO_SUCH_USER.with(&[user, host]));
        };
        let sources = accounts.with_roles(&name, &account.grants.default_roles);
        Ok(Arc::new(Rights::of(user, host, sources)))
    }

    /// The session's identity with the account of a definer: `None` if the session has the same one, or all
    /// privileges. 1449 when the account does not exist.
    pub(super) fn of_definer(&self, definer: &(String, String)) -> Result<Option<Self>> {
        let rights = self.rights_of_definer(definer)?;
        let (user, host) = definer;
        let name = AccountName {
            user: user.clone(),
            host: host.to_lowercase(),
        };
        let Some(account) = self.database.accounts.get(&name) else {
            return Ok(None);
        };
        if self.login.account.as_ref() == Some(&name) {
            return Ok(None);
        }
        let login = LoggedIn {
            account: Some(name),
            roles: account.grants.default_roles.clone(),
            expired: false,
        };
        Ok(Some(Self {
            cached: Mutex::new(CachedRights {
                version: None,
                rights,
            }),
            key: key(&self.user_text, &login),
            database: Arc::clone(&self.database),
            identity: Arc::clone(&self.identity),
            user_text: Arc::clone(&self.user_text),
            login,
        }))
    }

    /// The account's name, or the user's for an embedded session.
    pub(crate) fn own_account(&self) -> AccountName {
        match &self.login.account {
            Some(account) => account.clone(),
            None => AccountName {
                user: self.user().to_owned(),
                host: self.host().to_owned(),
            },
        }
    }

    /// CURRENT_USER()
    pub(crate) fn current_user(&self) -> Arc<str> {
        match &self.login.account {
            Some(account) => format!("{}@{}", account.user, account.host).into(),
            None => Arc::clone(&self.user_text),
        }
    }

    /// The login of the same account with its initial roles.
    pub(super) fn login_again(&self) -> LoggedIn {
        let account = self.database.accounts.get(&self.own_account());
        let account = account.filter(|_| !self.is_unrestricted());
        LoggedIn {
            roles: account.map_or_else(BTreeSet::new, |account| {
                let globals = self.database.globals();
                let all = globals.get(typed::ACTIVATE_ALL_ROLES_ON_LOGIN);
                self.database.accounts.roles_at_login(&account, all)
            }),
            ..self.login.clone()
        }
    }

    /// The files that functions may read: none without FILE.
    pub(super) fn readable_files(&self) -> Arc<dyn ServerFiles> {
        const FILE: PrivilegeSet = PrivilegeSet::of(&[Privilege::File]);
        if self.is_unrestricted() || self.rights().global().has(FILE) {
            return Arc::clone(&self.database.file_rules) as _;
        }
        Arc::new(NoFiles)
    }

    /// Whether the session may see which accounts have which roles.
    pub(super) fn sees_roles(&self) -> bool {
        let rights = self.rights();
        self.is_unrestricted() || rights.global().has(SUPER) || rights.has_dynamic_set(*ROLE_ADMIN)
    }

    /// CURRENT_ROLE()
    pub(crate) fn current_role(&self) -> Cow<'static, str> {
        if self.login.roles.is_empty() {
            return Cow::Borrowed("NONE");
        }
        let roles: Vec<String> = self.login.roles.iter().map(AccountName::quoted).collect();
        Cow::Owned(roles.join(","))
    }

    /// The active roles.
    pub(crate) fn roles(&self) -> &BTreeSet<AccountName> {
        &self.login.roles
    }

    /// SET ROLE
    pub(crate) fn set_roles(&mut self, roles: BTreeSet<AccountName>) {
        self.login.roles = roles;
        *self.cached.lock() = CachedRights::of(self.user(), self.host());
        self.key = key(&self.user_text, &self.login);
    }

    /// 1820 while the password is expired.
    #[inline]
    pub(crate) fn refuse_expired(&self) -> Result<()> {
        refuse(self.login.expired, || {
            codes::ER_MUST_CHANGE_PASSWORD.error()
        })
    }

    /// Records that the session has a new password.
    pub(crate) fn password_changed(&mut self) {
        self.login.expired = false;
    }

    /// Error 1045 about the logged-in account.
    pub(crate) fn access_denied(&self) -> Error {
        let name = self.own_account();
        let account = self.database.accounts.get(&name);
        let has_password = account.is_some_and(|account| !account.password.0.is_empty());
        let used = if has_password { "YES" } else { "NO" };
        codes::ER_ACCESS_DENIED_ERROR.with(&[&name.user, &self.host(), &used])
    }

    /// The base tables visible to the session.
    pub(crate) fn visible_tables(&self) -> Vec<Arc<BaseTable>> {
        let mut tables = self.database.catalog.all_tables();
        if !self.is_unrestricted() {
            let rights = self.rights();
            tables.retain(|table| {
                let definition = &table.definition;
                rights.sees_table(&definition.database, &definition.name)
            });
        }
        tables
    }

    /// The views visible to the session.
    pub(crate) fn visible_views(&self) -> Vec<Arc<ViewDefinition>> {
        let mut views = self.database.catalog.all_views();
        if !self.is_unrestricted() {
            let rights = self.rights();
            views.retain(|view| rights.sees_table(view.database(), view.name()));
        }
        views
    }

    /// All accounts, and that of an embedded session, which has all privileges.
    pub(crate) fn shown_accounts(&self) -> Vec<Arc<Account>> {
        let table = self.database.accounts.table();
        let mut accounts: Vec<Arc<Account>> = table.values().cloned().collect();
        let own = self.own_account();
        if self.is_unrestricted() && !table.contains_key(&own) {
            let plugin = AuthenticationPlugin::CachingSha2Password;
            accounts.push(Arc::new(Account {
                grants: Grants::all(),
                ..Account::new(own, plugin, 0)
            }));
            accounts.sort_by(|a, b| a.name.cmp(&b.name));
        }
        accounts
    }

    /// Whether all sessions are visible.
    pub(crate) fn sees_all_sessions(&self) -> bool {
        const PROCESS: PrivilegeSet = PrivilegeSet::of(&[Privilege::Process]);
        self.rights().global().has(PROCESS)
    }

    /// The visible sessions: all with PROCESS, else those of the same account.
    pub(crate) fn visible_sessions(&self) -> Vec<Arc<SessionShared>> {
        let mut sessions = self.database.connections.living();
        if !self.sees_all_sessions() {
            let own = &self.identity().account;
            sessions.retain(|other| other.identity().account == *own);
        }
        sessions
    }

    /// 1290 when the server is read-only for everybody, or for this session as no administrator's.
    pub(crate) fn refuse_read_only_server(&self) -> Result<()> {
        let modes = &self.database.modes;
        let option = if modes.super_read_only.load(Ordering::Acquire) {
            "--super-read-only"
        } else if modes.read_only.load(Ordering::Acquire) && !is_exempt(&self.rights()) {
            "--read-only"
        } else {
            return Ok(());
        };
        Err(codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&option]))
    }

    /// The error that disconnects the client because the server is offline for all but administrators.
    pub(super) fn shut_out(&self) -> Option<Error> {
        let offline = self.database.modes.offline.load(Ordering::Acquire);
        let is_out = offline && !is_exempt(&self.rights());
        is_out.then(|| codes::ER_SERVER_OFFLINE_MODE.error())
    }

    /// Counts a statement against the limits of the account: 1226.
    pub(crate) fn count_against_limits(&self, updates: bool, now: i64) -> Result<()> {
        let Some(name) = &self.login.account else {
            return Ok(());
        };
        let accounts = &self.database.accounts;
        let account = accounts.get(name);
        match account.filter(|account| account.limits.counts_statements()) {
            Some(account) => accounts.usage().count_statement(&account, updates, now),
            None => Ok(()),
        }
    }
}

/// The basis of a user's rights, as a text.
fn key(user_text: &str, login: &LoggedIn) -> Arc<str> {
    let Some(account) = &login.account else {
        return Arc::from(user_text);
    };
    let mut text = format!("{user_text}\0{account}");
    for role in &login.roles {
        text += "\0";
        text += &role.quoted();
    }
    Arc::from(text)
}

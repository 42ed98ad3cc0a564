//! Accounts, their authentication data and privileges.
//!
//! All accounts are one immutable table: a change replaces the table, together with the version of the catalog, on
//! which plans and the [`rights::Rights`] of sessions depend. An embedded session has no account and no privilege
//! checks.

pub(crate) mod account;
mod account_name;
pub(crate) mod crypt;
pub(crate) mod granted;
pub(crate) mod grants;
pub(crate) mod host;
pub(crate) mod mandatory;
pub(crate) mod privileges;
mod reuse;
pub(crate) mod rights;
mod usage;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use mayfly_types::Result;
use parking_lot::{Mutex, MutexGuard, RwLock};

use self::account::{Account, AccountName, AuthenticationPlugin};
use self::crypt::FastDigest;
use self::host::ClientHost;
use self::usage::Usage;

/// All accounts, by name.
pub(crate) type AccountTable = BTreeMap<AccountName, Arc<Account>>;

/// Account table, replaced as a whole by every change, and the version it has in the catalog.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    table: RwLock<Arc<AccountTable>>,
    changing: Mutex<()>,
    /// Cached digests of correct passwords: SHA256 of SHA256.
    digests: Mutex<HashMap<AccountName, Digest>>,
    usage: Usage,
    /// `mandatory_roles`
    mandatory: RwLock<BTreeSet<AccountName>>,
    /// Random hash that determines the pretended account of an unknown name, constant for the process.
    decoys: RandomState,
}

/// Cached digest of a correct password; never printed.
pub(crate) struct Digest(pub(crate) FastDigest);

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<secret>")
    }
}

impl Accounts {
    /// The current accounts.
    pub(crate) fn table(&self) -> Arc<AccountTable> {
        Arc::clone(&self.table.read())
    }

    /// The account of a name.
    pub(crate) fn get(&self, name: &AccountName) -> Option<Arc<Account>> {
        self.table().get(name).cloned()
    }

    /// Replaces all accounts by those of a data directory.
    pub(crate) fn load(&self, loaded: AccountTable) {
        *self.table.write() = Arc::new(loaded);
    }

    /// Changes accounts atomically: nothing changes if `change` or `store`, which gets the accounts before and after,
    /// fails.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut AccountTable) -> Result<T>,
        store: impl FnOnce(&AccountTable, &AccountTable) -> Result<()>,
    ) -> Result<T> {
        // One change at a time; readers, and the change itself, see the old accounts until it is done.
        let _alone = self.changing.lock();
        let before = self.table();
        let mut changed = AccountTable::clone(&before);
        let done = change(&mut changed)?;
        store(&before, &changed)?;
        let after = Arc::new(changed);
        *self.table.write() = Arc::clone(&after);
        let mut digests = self.digests();
        digests.retain(|name, _| {
            let (old, new) = (before.get(name), after.get(name));
            let password = |account: Option<&Arc<Account>>| {
                account.map(|account| (account.plugin, account.password.clone()))
            };
            new.is_some() && password(old) == password(new)
        });
        drop(digests);
        Ok(done)
    }

    pub(crate) fn digests(&self) -> MutexGuard<'_, HashMap<AccountName, Digest>> {
        self.digests.lock()
    }

    /// FLUSH PRIVILEGES: clears cached digests and failed logins.
    pub(crate) fn flush(&self) {
        self.digests().clear();
        self.usage.forget_failures();
    }

    /// FLUSH USER_RESOURCES
    pub(crate) fn flush_usage(&self) {
        self.usage.forget_hours();
    }

    /// Failed logins and resource usage.
    pub(crate) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The account of a user from a host: of all matches the one with the most specific host, a named one before the
    /// anonymous one.
    pub(crate) fn find(&self, user: &str, host: &ClientHost) -> Option<Arc<Account>> {
        let table = self.table();
        let fits = |account: &&Arc<Account>| {
            let name = &account.name;
            (name.user.is_empty() || name.user == user) && host.fits(&name.host)
        };
        let fitting = table.values().filter(fits);
        let found = fitting.max_by_key(|account| {
            let name = &account.name;
            (host::specificity(&name.host), !name.user.is_empty())
        });
        found.cloned()
    }

    /// The plugin pretended for an unknown name: one of those in use, so that it does not reveal which names exist.
    pub(crate) fn decoy_plugin(&self, user: &str, host: &str) -> AuthenticationPlugin {
        let mut plugins: Vec<AuthenticationPlugin> = Vec::new();
        for account in self.table().values() {
            if !plugins.contains(&account.plugin) {
                plugins.push(account.plugin);
            }
        }
        plugins.sort_by_key(|plugin| plugin.name());
        let drawn = self.decoys.hash_one((user, host));
        let count = plugins.len().max(1) as u64;
        let position = usize::try_from(drawn % count).unwrap_or(0);
        let usual = AuthenticationPlugin::CachingSha2Password;
        plugins.get(position).copied().unwrap_or(usual)
    }

    /// An account with its active roles, direct and indirect ones.
    pub(crate) fn with_roles(
        &self,
        account: &AccountName,
        active: &BTreeSet<AccountName>,
    ) -> Vec<Arc<Account>> {
        let table = self.table();
        let mut sources: Vec<Arc<Account>> = table.get(account).cloned().into_iter().collect();
        // A role that is no longer granted is not active.
        let granted = sources.first().map(|own| self.roles_of(own));
        let granted = granted.unwrap_or_default();
        let mut seen = BTreeSet::from([account.clone()]);
        let mut left: Vec<AccountName> = active.intersection(&granted).cloned().collect();
        while let Some(role) = left.pop() {
            if !seen.insert(role.clone()) {
                continue;
            }
            if let Some(role) = table.get(&role) {
                left.extend(role.grants.roles.keys().cloned());
                sources.push(Arc::clone(role));
            }
        }
        sources
    }
}

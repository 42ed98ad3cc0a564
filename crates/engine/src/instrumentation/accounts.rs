//! Accounts that have connected: performance_schema's `accounts`, `users` and `hosts`, and the totals of each
//! account's ended sessions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::kinds::TotalsByKind;

/// Activity of an account.
#[derive(Debug, Default)]
pub(crate) struct AccountActivity {
    /// Number of open sessions.
    pub(crate) connected: AtomicU64,
    /// Number of open and ended sessions.
    pub(crate) connections: AtomicU64,
    /// Peak memory of temporary tables among the ended sessions.
    pub(crate) memory_most: AtomicU64,
    /// Statement totals of the ended sessions.
    pub(crate) ended: TotalsByKind,
}

impl AccountActivity {
    /// Records that a session ends, or changes to another account.
    pub(crate) fn leave(&self, statements: &TotalsByKind, memory_peak: u64) {
        statements.move_into(&self.ended);
        self.memory_most.fetch_max(memory_peak, Ordering::Relaxed);
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Maximum number of distinct accounts; others are counted together, without a name.
const ACCOUNTS_MAX: usize = 10_000;

/// The user and the host of an account.
pub(crate) type UserAndHost = (Arc<str>, Arc<str>);

/// Activity of every account and host that has connected.
#[derive(Debug, Default)]
pub(crate) struct ConnectedAccounts(Mutex<BTreeMap<UserAndHost, Arc<AccountActivity>>>);

impl ConnectedAccounts {
    /// Records that a session of an account begins.
    pub(crate) fn enter(&self, user: &str, host: &str) -> Arc<AccountActivity> {
        let mut known = self.0.lock();
        let mut key: UserAndHost = (Arc::from(user), Arc::from(host));
        if known.len() >= ACCOUNTS_MAX && !known.contains_key(&key) {
            key = (Arc::from(""), Arc::from(""));
        }
        let account = Arc::clone(known.entry(key).or_default());
        account.connected.fetch_add(1, Ordering::Relaxed);
        account.connections.fetch_add(1, Ordering::Relaxed);
        account
    }

    /// All accounts, by user and host.
    pub(crate) fn all(&self) -> Vec<(UserAndHost, Arc<AccountActivity>)> {
        let known = self.0.lock();
        let all = known.iter();
        all.map(|(name, account)| (name.clone(), Arc::clone(account)))
            .collect()
    }

    /// Clears the statement totals (TRUNCATE).
    pub(crate) fn clear_statements(&self) {
        self.0
            .lock()
            .values()
            .for_each(|account| account.ended.clear());
    }

    /// Removes accounts without open sessions, and resets the number of connections of the others (TRUNCATE).
    pub(crate) fn clear(&self) {
        let mut known = self.0.lock();
        known.retain(|_, account| {
            let connected = account.connected.load(Ordering::Relaxed);
            account.connections.store(connected, Ordering::Relaxed);
            account.memory_most.store(0, Ordering::Relaxed);
            connected > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_outlasts_its_sessions_until_it_is_forgotten() {
        let accounts = ConnectedAccounts::default();
        let (ann, bob) = (accounts.enter("ann", "h"), accounts.enter("bob", "h"));
        accounts.enter("ann", "h");
        ann.leave(&TotalsByKind::default(), 7);
        bob.leave(&TotalsByKind::default(), 0);
        let counts = || -> Vec<(String, u64, u64, u64)> {
            let all = accounts.all().into_iter();
            let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            all.map(|((user, _), account)| {
                let (connected, all) = (get(&account.connected), get(&account.connections));
                (user.to_string(), connected, all, get(&account.memory_most))
            })
            .collect()
        };
        let expected = [("ann".to_owned(), 1, 2, 7), ("bob".to_owned(), 0, 1, 0)];
        assert_eq!(counts(), expected);
        accounts.clear();
        assert_eq!(counts(), [("ann".to_owned(), 1, 1, 0)]);
    }
}

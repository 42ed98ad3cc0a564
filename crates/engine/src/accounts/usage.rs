//! Resource usage of accounts and hosts: failed logins, which delay the next ones and may block an account, and the
//! counts for the limits of an account. All of it is of this process alone.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use parking_lot::Mutex;

use super::account::{Account, AccountName, Limits};
use crate::error::refuse;

/// Maximum number of hosts and accounts whose failures are kept; more are an attack, for which single counts mean
/// little.
const REMEMBERED_MAX: usize = 10_000;
const MICROSECONDS_OF_DAY: i64 = 86_400_000_000;
const MICROSECONDS_OF_HOUR: i64 = 3_600_000_000;
/// Delay after the second consecutive failure of a host.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// Consecutive failed logins of an account.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u64,
    /// When the account was blocked.
    blocked: Option<i64>,
}

/// Usage of an account since an hour began.
#[derive(Debug, Clone, Copy, Default)]
struct Hour {
    began: i64,
    connections: u64,
    queries: u64,
    updates: u64,
}

/// Failed logins and resource usage per account and host, of this process alone.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    hosts: Mutex<HashMap<String, u32>>,
    accounts: Mutex<HashMap<AccountName, Failures>>,
    hours: Mutex<HashMap<AccountName, Hour>>,
}

/// The entry of a key; a full map is cleared first.
fn slot<K: Eq + Hash, V: Default>(map: &mut HashMap<K, V>, key: K) -> &mut V {
    if map.len() >= REMEMBERED_MAX && !map.contains_key(&key) {
        map.clear();
    }
    map.entry(key).or_default()
}

impl Usage {
    /// Counts a failed login from a host; returns the delay of the answer.
    pub(crate) fn delay_of_failure(&self, host: &str) -> Duration {
        let mut hosts = self.hosts.lock();
        let count = slot(&mut hosts, host.to_owned());
        *count = count.saturating_add(1);
        match *count {
            0 | 1 => Duration::ZERO,
            count => FIRST_DELAY
                .saturating_mul(1_u32.checked_shl(count - 2).unwrap_or(u32::MAX))
                .min(LONGEST_DELAY),
        }
    }

    /// Counts a failed login of an account with FAILED_LOGIN_ATTEMPTS: 3955 when it becomes blocked.
    pub(crate) fn count_failure(&self, account: &Account, now: i64) -> Result<()> {
        if !account.is_blocked_by_failures() {
            return Ok(());
        }
        let mut accounts = self.accounts.lock();
        let failures = slot(&mut accounts, account.name.clone());
        failures.count += 1;
        if failures.count >= account.failed_attempts && failures.blocked.is_none() {
            failures.blocked = Some(now);
        }
        drop(accounts);
        self.refuse_blocked(account, now)
    }

    /// 3955 for an account blocked by failed logins.
    pub(crate) fn refuse_blocked(&self, account: &Account, now: i64) -> Result<()> {
        if !account.is_blocked_by_failures() {
            return Ok(());
        }
        let mut accounts = self.accounts.lock();
        let Some(since) = accounts.get(&account.name).and_then(|known| known.blocked) else {
            return Ok(());
        };
        let days = now.saturating_sub(since) / MICROSECONDS_OF_DAY;
        let days = u64::try_from(days).unwrap_or(0);
        let (whole, left) = match account.lock_days {
            Some(whole) if days >= whole => {
                accounts.remove(&account.name);
                return Ok(());
            }
            Some(whole) => (whole.to_string(), (whole - days).to_string()),
            None => ("unlimited".to_owned(), "unlimited".to_owned()),
        };
        Err(codes::ER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK.with(&[
            &account.name.user,
            &account.name.host,
            &whole,
            &left,
            &account.failed_attempts,
        ]))
    }

    /// Resets the failures of a host and an account after a successful login.
    pub(crate) fn succeeded(&self, host: &str, account: &AccountName) {
        self.hosts.lock().remove(host);
        self.accounts.lock().remove(account);
    }

    /// Resets the failed logins of an account, which unlocks it.
    pub(crate) fn unblock(&self, account: &AccountName) {
        self.accounts.lock().remove(account);
    }

    /// Resets the failed logins of all accounts.
    pub(crate) fn forget_failures(&self) {
        self.accounts.lock().clear();
    }

    /// Resets the counts for the limits of accounts.
    pub(crate) fn forget_hours(&self) {
        self.hours.lock().clear();
    }

    /// Counts a connection of an account: 1226 when there are too many. `open` is the number of its open ones.
    pub(crate) fn count_connection(&self, account: &Account, open: u64, now: i64) -> Result<()> {
        let limits = &account.limits;
        if limits.user_connections > 0 && open >= limits.user_connections {
            return Err(exceeded(account, "max_user_connections", open));
        }
        let counter: Counter = |hour| &mut hour.connections;
        self.count_in_hour(
            account,
            now,
            counter,
            limits.connections,
            "max_connections_per_hour",
        )
    }

    /// Counts a statement of an account: 1226 when there are too many.
    pub(crate) fn count_statement(&self, account: &Account, updates: bool, now: i64) -> Result<()> {
        let Limits {
            queries,
            updates: changes,
            ..
        } = account.limits;
        let counter: Counter = |hour| &mut hour.queries;
        self.count_in_hour(account, now, counter, queries, "max_queries_per_hour")?;
        let changes = if updates { changes } else { 0 };
        let counter: Counter = |hour| &mut hour.updates;
        self.count_in_hour(account, now, counter, changes, "max_updates_per_hour")
    }

    /// Counts a use against a limit; 1226 beyond it. A limit of 0 counts nothing.
    fn count_in_hour(
        &self,
        account: &Account,
        now: i64,
        counter: Counter,
        limit: u64,
        resource: &str,
    ) -> Result<()> {
        if limit == 0 {
            return Ok(());
        }
        let mut hours = self.hours.lock();
        let hour = slot(&mut hours, account.name.clone());
        if now.saturating_sub(hour.began) >= MICROSECONDS_OF_HOUR {
            *hour = Hour {
                began: now,
                ..Hour::default()
            };
        }
        let used = counter(hour);
        *used += 1;
        refuse(*used > limit, || exceeded(account, resource, limit))
    }
}

/// Accessor of one of the counts of an hour.
type Counter = fn(&mut Hour) -> &mut u64;

fn exceeded(account: &Account, resource: &str, value: u64) -> Error {
    codes::ER_USER_LIMIT_REACHED.with(&[&account.name.user, &resource, &value])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::account::AuthenticationPlugin;

    fn account() -> Account {
        let name = AccountName::new("u", Some("h")).unwrap();
        Account::new(name, AuthenticationPlugin::CachingSha2Password, 0)
    }

    #[test]
    fn delays_grow_and_end() {
        let usage = Usage::default();
        let delays: Vec<u128> = (0..12)
            .map(|_| usage.delay_of_failure("h").as_millis())
            .collect();
        assert_eq!(delays[..5], [0, 100, 200, 400, 800]);
        assert_eq!(delays[11], 5000);
        assert_eq!(usage.delay_of_failure("other"), Duration::ZERO);
        usage.succeeded("h", &account().name);
        assert_eq!(usage.delay_of_failure("h"), Duration::ZERO);
    }

    #[test]
    fn accounts_are_blocked_for_days() {
        let usage = Usage::default();
        let account = Account {
            failed_attempts: 2,
            lock_days: Some(3),
            ..account()
        };
        const DAY: i64 = MICROSECONDS_OF_DAY;
        assert!(usage.count_failure(&account, 0).is_ok());
        let error = usage.count_failure(&account, DAY).unwrap_err();
        assert_eq!(
            error.message(),
            "Access denied for user 'u'@'h'. Account is blocked for 3 day(s) (3 day(s) remaining) \
             due to 2 consecutive failed logins."
        );
        let later = usage.refuse_blocked(&account, 3 * DAY).unwrap_err();
        assert!(later.message().contains("(1 day(s) remaining)"));
        assert!(usage.refuse_blocked(&account, 4 * DAY).is_ok());
        assert!(usage.refuse_blocked(&account, DAY).is_ok());
    }

    #[test]
    fn limits_are_per_hour() {
        let usage = Usage::default();
        let mut account = account();
        account.limits.queries = 2;
        account.limits.updates = 1;
        account.limits.user_connections = 1;
        let errno = |counted: Result<()>| counted.err().map(|error| error.errno());
        let statement = |updates, now| errno(usage.count_statement(&account, updates, now));
        assert_eq!(statement(true, 1), None);
        assert_eq!(statement(true, 1), Some(1226));
        assert_eq!(statement(false, 1), Some(1226));
        assert_eq!(statement(true, MICROSECONDS_OF_HOUR), None);
        assert_eq!(errno(usage.count_connection(&account, 0, 1)), None);
        assert_eq!(errno(usage.count_connection(&account, 1, 1)), Some(1226));
    }
}

//! Past passwords of an account that cannot be reused: PASSWORD HISTORY and PASSWORD REUSE INTERVAL.

use mayfly_types::Result;
use mayfly_types::error::codes;

use super::account::{Account, PastPassword};
use crate::variables::{Settings, typed};

const MICROSECONDS_OF_DAY: i64 = 86_400_000_000;

impl Account {
    /// Records the account's new password: 3638 if it cannot be reused yet. It is kept as long as the limits require.
    /// `text` is the password where known; hashes cannot be compared. Empty passwords are not recorded.
    pub(crate) fn remember_password(
        &mut self,
        globals: &Settings,
        text: Option<&str>,
        now: i64,
    ) -> Result<()> {
        if self.password.0.is_empty() {
            return Ok(());
        }
        let default = |own: Option<u64>, variable| own.unwrap_or_else(|| globals.get(variable));
        let history = default(self.history, typed::PASSWORD_HISTORY);
        let history = usize::try_from(history).unwrap_or(usize::MAX);
        let days = default(self.reuse_interval, typed::PASSWORD_REUSE_INTERVAL);
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        let since = now.saturating_sub(days.saturating_mul(MICROSECONDS_OF_DAY));
        let mut past = std::mem::take(&mut self.past_passwords);
        let forget = |past: &mut Vec<PastPassword>| {
            let recent = past.iter().filter(|it| days > 0 && it.set >= since);
            let count = recent.count().max(history);
            past.truncate(count);
        };
        forget(&mut past);
        let is_past = |text: &str| {
            let mut past = past.iter();
            past.any(|it| self.plugin.is_password(&it.hash.0, text.as_bytes()))
        };
        if text.is_some_and(is_past) {
            let contradicts = codes::ER_CREDENTIALS_CONTRADICT_TO_HISTORY;
            return Err(contradicts.with(&[&self.name.user, &self.name.host]));
        }
        let now = PastPassword {
            set: now,
            hash: self.password.clone(),
        };
        past.insert(0, now);
        forget(&mut past);
        self.past_passwords = past;
        Ok(())
    }
}

//! Changes of accounts, and their records in the data directory.

use std::sync::Arc;

use mayfly_types::Result;

use crate::accounts::AccountTable;
use crate::accounts::account::AccountName;
use crate::catalog::trees::Lifespan;
use crate::ddl::account;
use crate::session::StatementContext;

/// Key prefix of accounts' records.
pub(crate) const ACCOUNT: &str = "account\0";

/// The key of an account's record.
fn account_name(account: &AccountName) -> Vec<u8> {
    format!("{ACCOUNT}{}\0{}", account.user, account.host).into_bytes()
}

/// Changes accounts atomically: nothing changes if `change` or the data directory fails. Uncommitted changes of the
/// session are committed with it.
pub(crate) fn change<T>(
    context: &StatementContext<'_>,
    change: impl FnOnce(&mut AccountTable) -> Result<T>,
) -> Result<T> {
    let database = context.database();
    let store = |before: &AccountTable, after: &AccountTable| store(context, before, after);
    let done = database.accounts.change(change, store)?;
    database.catalog.touch();
    Ok(done)
}

/// Stores the difference between two states of the accounts and commits.
fn store(
    context: &StatementContext<'_>,
    before: &AccountTable,
    after: &AccountTable,
) -> Result<()> {
    if context.database().options.datadir.is_none() {
        return Ok(());
    }
    let transaction = context.session.transaction.durable(Lifespan::Lasting)?;
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        transaction.set_record(&account_name(name), None)?;
    }
    for (name, account) in after {
        if before
            .get(name)
            .is_none_or(|old| !Arc::ptr_eq(old, account))
        {
            let record = account::record(account);
            transaction.set_record(&account_name(name), Some(&record))?;
        }
    }
    transaction.participant().commit()
}

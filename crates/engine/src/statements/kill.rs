//! KILL: ends another session's statement, or the session, or one temporary table.

use mayfly_storage::Purpose;
use mayfly_syntax::ast::{Expr, KillTarget};
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use crate::accounts::account::AccountName;
use crate::accounts::privileges::SUPER;
use crate::binding::expressions;
use crate::connections::KillHandle;
use crate::error::refuse;
use crate::session::StatementContext;
use crate::variable_checks::text_of;

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, target: KillTarget, id: &Expr) -> Result<()> {
    let (value, _) = expressions::evaluate(context, id)?;
    let id = match value {
        Value::Int(id) => u64::try_from(id).unwrap_or(0),
        Value::UInt(id) => id,
        other => text_of(&other).trim().parse().unwrap_or(0),
    };
    if target == KillTarget::TemporaryTable {
        return temporary_table(context, id);
    }
    let (kill, account) = find(context, id).ok_or_else(|| codes::ER_NO_SUCH_THREAD.with(&[&id]))?;
    check_owner(context, id, account.as_ref())?;
    if target == KillTarget::Statement {
        kill.kill()
    } else {
        kill.close()
    }
    refuse(id == context.id(), || codes::ER_QUERY_INTERRUPTED.error())
}

/// KILL of a temporary table: an internal one ends with its statement; the rows of one made by CREATE TEMPORARY TABLE
/// are removed, and its next use is an error.
fn temporary_table(context: &StatementContext<'_>, id: u64) -> Result<()> {
    let registry = &context.database().resources.registry;
    let unknown = || codes::ER_UNKNOWN_TABLE.with(&[&id, &"TEMP_TABLES"]);
    let entry = registry.entry(id).ok_or_else(unknown)?;
    if entry.purpose == Purpose::KeptResult {
        let is_own = entry.owner.user == *context.privileges().user_text();
        if !is_own {
            check_owner(context, id, None)?;
        }
        return refuse(!context.database().results.end(id), unknown);
    }
    let owner = entry.owner.session_id;
    let account = find(context, owner).and_then(|(_, account)| account);
    if owner != context.id() {
        check_owner(context, owner, account.as_ref())?;
    }
    refuse(!registry.kill(id), unknown)
}

/// 1095 unless the session is one's own, or the privileges allow ending sessions of others.
fn check_owner(
    context: &StatementContext<'_>,
    id: u64,
    account: Option<&AccountName>,
) -> Result<()> {
    let privileges = context.privileges();
    if !privileges.is_unrestricted() && account != privileges.identity().account.as_ref() {
        const NAMES: &str = "SUPER or CONNECTION_ADMIN";
        let rights = context.rights();
        let allowed = rights.require(SUPER, &["CONNECTION_ADMIN"], NAMES);
        allowed.map_err(|_| codes::ER_KILL_DENIED_ERROR.with(&[&id]))?;
    }
    Ok(())
}

/// The kill handle of a connection, and its account; none before the login.
fn find(context: &StatementContext<'_>, id: u64) -> Option<(KillHandle, Option<AccountName>)> {
    let living = context.database().living_sessions();
    if let Some(other) = living.iter().find(|other| other.id == id) {
        return Some((other.kill.clone(), other.identity().account.clone()));
    }
    let pending = context.database().connections.pending();
    pending.get(&id).map(|client| (client.kill.clone(), None))
}

//! KILL: ends another session's statement, or the session.

use mayfly_syntax::ast::Expr;
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
pub(super) fn run(context: &StatementContext<'_>, query_only: bool, id: &Expr) -> Result<()> {
    let (value, _) = expressions::evaluate(context, id)?;
    let id = match value {
        Value::Int(id) => u64::try_from(id).unwrap_or(0),
        Value::UInt(id) => id,
        other => text_of(&other).trim().parse().unwrap_or(0),
    };
    let (kill, account) = find(context, id).ok_or_else(|| codes::ER_NO_SUCH_THREAD.with(&[&id]))?;
    if !context.privileges().is_unrestricted() && account != context.privileges().identity().account
    {
        const NAMES: &str = "SUPER or CONNECTION_ADMIN";
        let rights = context.rights();
        let allowed = rights.require(SUPER, &["CONNECTION_ADMIN"], NAMES);
        allowed.map_err(|_| codes::ER_KILL_DENIED_ERROR.with(&[&id]))?;
    }
    if query_only {
        kill.kill()
    } else {
        kill.close()
    }
    refuse(id == context.id(), || codes::ER_QUERY_INTERRUPTED.error())
}

/// How to end a connection, and whose it is; one that has not logged in is nobody's.
fn find(context: &StatementContext<'_>, id: u64) -> Option<(KillHandle, Option<AccountName>)> {
    let living = context.database().living_sessions();
    if let Some(other) = living.iter().find(|other| other.id == id) {
        return Some((other.kill.clone(), other.identity().account.clone()));
    }
    let pending = context.database().connections.pending();
    pending.get(&id).map(|client| (client.kill.clone(), None))
}

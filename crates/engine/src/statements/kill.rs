//! KILL: ends another session's statement, or the session.

use mayfly_syntax::ast::Expr;
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use crate::accounts::privileges::SUPER;
use crate::expressions;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;

/// Runs the statement.
pub(super) fn run(session: &mut Session, query_only: bool, id: &Expr) -> Result<Outcome> {
    let (value, _) = expressions::evaluate(session, id)?;
    let id = match value {
        Value::Int(id) => u64::try_from(id).unwrap_or(0),
        Value::UInt(id) => id,
        other => crate::variables::check::text_of(&other)
            .trim()
            .parse()
            .unwrap_or(0),
    };
    let living = session.database.living_sessions();
    let other = living.iter().find(|other| other.id == id);
    let other = other.ok_or_else(|| codes::ER_NO_SUCH_THREAD.with(&[&id]))?;
    if !session.is_unrestricted() && other.identity().account != session.identity().account {
        const NAMES: &str = "SUPER or CONNECTION_ADMIN";
        let rights = session.rights();
        let allowed = rights.require(SUPER, &["CONNECTION_ADMIN"], NAMES);
        allowed.map_err(|_| codes::ER_KILL_DENIED_ERROR.with(&[&id]))?;
    }
    match query_only {
        true => other.kill.kill(),
        false => other.kill.close(),
    }
    if id == session.id() {
        return Err(codes::ER_QUERY_INTERRUPTED.error());
    }
    Ok(StatementResult::default().into())
}

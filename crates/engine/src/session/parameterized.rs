//! Point statements that come as text, again and again with other literals: one statement, with `?` in
//! their place, is planned for all of them.
//!
//! Nothing of it is ever run but the access to the one row ([`point`](crate::statements)), and only if
//! each literal is a value of the key or of the row there. In every other case the text itself is
//! parsed and planned. So results, errors and warnings are always those of the text.

use std::sync::Arc;

use mayfly_syntax::{Parameterized, PlainLiteral};
use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Result, SqlType, Value};

use super::{Session, Work};
use crate::accounts::check;
use crate::result::Outcome;
use crate::statements::prepared::{self, Prepared};
use crate::status::Counter;
use crate::transaction::ends_transaction;
use crate::{error, expressions, statements};

impl Session {
    /// Runs a text that may be kept if it may be a point statement whose like has come before.
    pub(super) fn run_parameterized(&mut self, sql: &str) -> Option<Result<Outcome>> {
        let cache = &self.database.statement_cache;
        let taken = mayfly_syntax::parameterize(sql, &self.options.parse)?;
        let hash = cache.hash(self, &taken.text)? ^ kinds(&taken);
        let known = match cache.take(self, hash, &taken.text) {
            Some(known) => known,
            None if cache.is_refused(self, hash) || !cache.comes_again(hash) => return None,
            None => match Prepared::parameterized(self, &taken.text) {
                Some(prepared) => {
                    let prepared = Box::new(prepared);
                    cache.admit(self, hash, &taken.text, prepared).ok()?
                }
                None => {
                    cache.refuse(hash);
                    return None;
                }
            },
        };
        let values: Vec<(Value, SqlType)> =
            taken.literals.iter().map(|it| self.value(it)).collect();
        let mut is_point = false;
        let text = Arc::from(taken.source);
        let outcome = self.run_to_outcome(Work::Query, &text, false, |session| {
            let statement = known.prepared.statement();
            check::admit(session, statement)?;
            session.note_statement(statement);
            is_point = session.is_point(&known.prepared, &values)?;
            if is_point
                && let Some(outcome) = prepared::run_point(session, &known.prepared, &values)?
            {
                session
                    .counters()
                    .add(Counter::StatementCacheParameterized, 1);
                return Ok(outcome);
            }
            session.counters().add(Counter::StatementCacheMisses, 1);
            session.run_text_itself(&text)
        });
        let cache = &self.database.statement_cache;
        match is_point {
            true => cache.bring_back(known),
            false => cache.refuse_for_now(self, hash),
        }
        Some(outcome)
    }

    /// Whether a statement comes to one row by a key. What else its planning has to say is said when the
    /// text is planned.
    fn is_point(&mut self, prepared: &Prepared, values: &[(Value, SqlType)]) -> Result<bool> {
        if prepared.is_planned(self) {
            return Ok(true);
        }
        let before = std::mem::replace(&mut self.diagnostics, Arc::new(Diagnostics::new(0)));
        let planned = prepared.plan_point(self, values);
        self.diagnostics = before;
        match planned {
            // It has waited for others already.
            Err(error) if ends_transaction(&error) || error.is(&codes::ER_LOCK_WAIT_TIMEOUT) => {
                Err(error)
            }
            planned => Ok(planned.unwrap_or(false)),
        }
    }

    /// Runs a statement that has begun.
    fn run_text_itself(&mut self, text: &str) -> Result<Outcome> {
        self.now();
        let options = self.options.parse;
        let mut reader = mayfly_syntax::statements(text, &options);
        let parsed = match reader.next() {
            Some(parsed) => parsed.map_err(|syntax| error::from_syntax(&syntax))?,
            None => return Err(codes::ER_EMPTY_QUERY.error()),
        };
        mayfly_syntax::with_stack(parsed.height, || {
            statements::dispatch(self, &parsed.statement)
        })
    }

    fn value(&self, literal: &PlainLiteral<'_>) -> (Value, SqlType) {
        match literal {
            PlainLiteral::Integer(number) => expressions::integer_literal(*number),
            PlainLiteral::String(text) => expressions::string_literal(self, text),
        }
    }
}

/// Which of the literals are strings: a plan is for values of one kind. With one entry for all kinds,
/// texts of two kinds that take turns would each find the other's plan, and plan anew.
fn kinds(taken: &Parameterized<'_>) -> u64 {
    let bits = taken.literals.iter().fold(1, |bits: u64, literal| {
        bits << 1 | u64::from(matches!(literal, PlainLiteral::String(_)))
    });
    bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

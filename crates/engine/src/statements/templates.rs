//! Text point statements that differ only in literals: one statement, with `?` in place of the literals, is planned
//! for all of them.
//!
//! A template is run only if each literal is a value of a key or of the row, and is found or stored as it is: one row of a
//! unique key directly ([`point`](crate::statements)), the rows of another key by the plan. In every other case the text
//! itself is parsed and planned. So results, errors and warnings are always those of the text.

use std::sync::Arc;

use mayfly_syntax::{Parameterized, PlainLiteral};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use crate::binding::expressions;
use crate::connections::Work;
use crate::prepared::Prepared;
use crate::result::Outcome;
use crate::session::{Session, StatementContext};
use crate::statements::properties::properties;
use crate::statements::{self, admission, planning, transaction_work};
use crate::status::Counter;
use crate::stream::ResultStream;
use crate::transaction::ends_transaction;

/// A template: a statement shared by texts with other literals, and the literals of this text.
pub(super) struct Template {
    prepared: Arc<Prepared>,
    hash: u64,
    text: Arc<str>,
    values: Vec<(Value, SqlType)>,
}

impl Session {
    /// The template of a cacheable text, if it may be a point statement of a form seen before.
    pub(super) fn template_of(&self, sql: &str) -> Option<Template> {
        let cache = &self.database.statement_cache;
        let taken = mayfly_syntax::parameterize(sql, &self.settings.options().parse)?;
        let hash = cache.hash(self.text_scope(), &taken.text)? ^ kinds(&taken);
        if cache.is_refused(self.text_scope(), hash) {
            return None;
        }
        let prepared = match cache.get(self.text_scope(), hash, &taken.text) {
            Some(prepared) => prepared,
            None if !cache.has_seen(hash) => return None,
            None => {
                let Some(prepared) = Prepared::parameterized(self, &taken.text) else {
                    cache.refuse(hash);
                    return None;
                };
                let prepared = Arc::new(prepared);
                cache.add(self.text_scope(), hash, &taken.text, &prepared);
                prepared
            }
        };
        Some(Template {
            prepared,
            hash,
            values: taken.literals.iter().map(|it| self.value(it)).collect(),
            text: Arc::from(taken.source),
        })
    }

    /// Runs a text by its template where that is possible.
    pub(super) fn run_template(&mut self, template: &Template) -> Result<ResultStream<'_>> {
        let mut context = StatementContext::begin(self, Work::Query, &template.text, false);
        let command = properties(template.prepared.statement()).counter;
        context.is_of(&template.prepared, command);
        context.log_query(&template.prepared);
        ResultStream::run(context, |context| {
            let statement = template.prepared.statement();
            admission::admit(context, statement)?;
            transaction_work::note(context.session, statement);
            if let Some(outcome) = context.run_point(template)? {
                context.count(Counter::StatementCacheParameterized);
                return Ok(outcome);
            }
            let outcome = context.run_text(&template.text)?;
            context.count(Counter::StatementCacheMisses);
            Ok(outcome)
        })
    }

    fn value(&self, literal: &PlainLiteral<'_>) -> (Value, SqlType) {
        match literal {
            PlainLiteral::Integer(number) => expressions::integer_literal(*number),
            PlainLiteral::String(text) => expressions::string_literal(
                self.settings.options().session.collation_connection,
                text,
            ),
        }
    }
}

impl StatementContext<'_> {
    /// Runs a statement that has begun by its template, if the template has a point plan.
    fn run_point(&mut self, template: &Template) -> Result<Option<Outcome>> {
        if self.wants_explain() || self.options().trace.is_on {
            return Ok(None);
        }
        let (prepared, values) = (&template.prepared, &template.values);
        match prepared.plan_point(self, values) {
            Ok(true) => {}
            // The statement has waited for other transactions already.
            Err(error) if ends_transaction(&error) || error.is(&codes::ER_LOCK_WAIT_TIMEOUT) => {
                return Err(error);
            }
            Ok(false) | Err(_) => {
                let cache = &self.database().statement_cache;
                cache.refuse_for_now(self.session.text_scope(), template.hash);
                return Ok(None);
            }
        }
        if let Some(outcome) = planning::run_point(self, prepared, values)? {
            return Ok(Some(outcome));
        }
        if !planning::takes(self, prepared, values) {
            return Ok(None);
        }
        statements::execute(self, prepared, values).map(Some)
    }

    /// Runs a statement that has begun.
    fn run_text(&mut self, text: &str) -> Result<Outcome> {
        self.now();
        let mut reader = self.session.statements_of(text);
        let (parsed, tree) = self.session.parse_statement(&mut reader)?;
        self.tree = tree;
        let prepared = Prepared::of_parsed(self.session, parsed, None);
        statements::execute(self, &prepared, &[])
    }
}

/// Bit mask of the literals that are strings: a plan is for values of one kind. With one entry for all kinds,
/// alternating texts of two kinds would each find the other's plan, and plan again.
fn kinds(taken: &Parameterized<'_>) -> u64 {
    let bits = taken.literals.iter().fold(1, |bits: u64, literal| {
        bits << 1 | u64::from(matches!(literal, PlainLiteral::String(_)))
    });
    bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

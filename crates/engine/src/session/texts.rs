//! Statements that come as text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mayfly_syntax::SyntaxErrorKind;
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::{ParseError, Session, Work};
use crate::result::{Outcome, ResultStream, StatementResult};
use crate::statement_cache::Known;
use crate::statements;
use crate::statements::prepared::Prepared;
use crate::status::Counter;

impl Session {
    /// Runs every statement of a text and gathers their results. The first error ends it; what the
    /// statements before it did is done.
    pub fn execute(&mut self, sql: &str) -> Result<Vec<StatementResult>> {
        let mut results = Vec::new();
        let mut rest = sql;
        loop {
            results.push(match self.query_first(rest)? {
                Some((stream, after)) => {
                    rest = after;
                    stream.into_result()?
                }
                None => return Err(codes::ER_EMPTY_QUERY.error()),
            });
            if !self.has_statement(rest) {
                return Ok(results);
            }
        }
    }

    /// Runs one statement and gives its rows as they are made.
    pub fn query(&mut self, sql: &str) -> Result<ResultStream<'_>> {
        match self.query_first(sql)? {
            Some((stream, _)) => Ok(stream),
            None => Err(codes::ER_EMPTY_QUERY.error()),
        }
    }

    /// Runs the first statement of a text; gives its rows and the rest of the text, or `None` when
    /// the text has no more statement.
    pub fn query_first<'a>(&mut self, sql: &'a str) -> Result<Option<(ResultStream<'_>, &'a str)>> {
        self.query_text(sql, false)
    }

    /// Runs the statement of a text that has no other one: 1064 when it has, before anything is done.
    pub fn query_only(&mut self, sql: &str) -> Result<ResultStream<'_>> {
        match self.query_text(sql, true)? {
            Some((stream, _)) => Ok(stream),
            None => Err(codes::ER_EMPTY_QUERY.error()),
        }
    }

    /// Whether a text has a statement, right or wrong.
    pub fn has_statement(&self, sql: &str) -> bool {
        mayfly_syntax::statements(sql, &self.options.parse).has_more()
    }

    fn count_empty<T>(&self) -> Option<T> {
        self.shared.counters.add(Counter::ComEmptyQuery, 1);
        None
    }

    fn query_text<'a>(
        &mut self,
        sql: &'a str,
        alone: bool,
    ) -> Result<Option<(ResultStream<'_>, &'a str)>> {
        let cache = &self.database.statement_cache;
        let hash = cache.hash(self, sql);
        if let Some(known) = hash.and_then(|hash| cache.take(self, hash, sql)) {
            self.shared.counters.add(Counter::StatementCacheHits, 1);
            let outcome = self.run_known(known)?;
            return Ok(Some((ResultStream::new(self, outcome), &sql[sql.len()..])));
        }
        if hash.is_some()
            && let Some(outcome) = self.run_parameterized(sql)
        {
            return Ok(Some((ResultStream::new(self, outcome?), &sql[sql.len()..])));
        }
        let cache = &self.database.statement_cache;
        let kept = hash.filter(|hash| cache.comes_again(*hash));
        self.shared.counters.add(Counter::StatementCacheMisses, 1);
        let mut reader = self.statements_of(sql);
        let parsed = match catch_unwind(AssertUnwindSafe(|| self.parse_next(&mut reader))) {
            Ok(None) => return Ok(self.count_empty()),
            // Spaces and comments.
            Ok(Some(Err(ParseError::Syntax(syntax)))) if syntax.kind == SyntaxErrorKind::Empty => {
                return Ok(self.count_empty());
            }
            Ok(Some(parsed)) => parsed.map_err(|error| match error {
                ParseError::Syntax(syntax) => self.parse_error(&syntax),
                ParseError::Other(error) => error,
            }),
            Err(payload) => Err(Error::of_panic(payload.as_ref())),
        };
        let parsed = match parsed {
            Ok((parsed, _))
                if alone
                    && reader.has_more()
                    && !matches!(parsed.statement, Statement::Unsupported(_)) =>
            {
                let before = &sql[..sql.len() - reader.rest().len()];
                let line = before.matches('\n').count() + 1;
                Err(codes::ER_PARSE_ERROR.with(&[&reader.rest().trim(), &line]))
            }
            parsed => parsed,
        };
        let (parsed, tree) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                let text = mayfly_syntax::text_without_passwords(sql, &self.options.parse);
                let text = Arc::from(&*text);
                return Err(self.refuse(&text, error));
            }
        };
        self.tree = tree;
        let rest = reader.rest();
        if let Some(hash) = kept
            && rest.trim().is_empty()
            && Prepared::is_worth_keeping(&parsed)
        {
            let prepared = Box::new(Prepared::of_parsed(self, parsed));
            let cache = &self.database.statement_cache;
            let outcome = match cache.admit(self, hash, sql, prepared) {
                Ok(known) => self.run_known(known),
                Err(prepared) => self.run_text(&prepared),
            };
            return Ok(Some((ResultStream::new(self, outcome?), rest)));
        }
        let height = parsed.height;
        let keeps_diagnostics = statements::keeps_diagnostics(&parsed.statement);
        let text = mayfly_syntax::without_passwords(&parsed, &self.options.parse);
        let text = Arc::from(&*text);
        let run = |session: &mut Self| {
            session.now();
            mayfly_syntax::with_stack(height, || statements::run(session, &parsed))
        };
        let stream = self.run_statement(Work::Query, &text, keeps_diagnostics, run)?;
        Ok(Some((stream, rest)))
    }

    /// Runs a statement whose text is known, and keeps it for the next time.
    fn run_known(&mut self, known: Known) -> Result<Outcome> {
        let outcome = self.run_text(&known.prepared);
        self.database.statement_cache.bring_back(known);
        outcome
    }

    fn run_text(&mut self, prepared: &Prepared) -> Result<Outcome> {
        let (text, keeps) = (prepared.text_handle(), prepared.keeps_diagnostics());
        self.run_to_outcome(Work::Query, text, keeps, |session| {
            session.now();
            statements::prepared::run(session, prepared, &[])
        })
    }
}

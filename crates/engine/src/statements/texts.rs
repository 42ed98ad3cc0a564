//! Statements that come as text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mayfly_syntax::SyntaxErrorKind;
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::connections::Work;
use crate::prepared::Prepared;
use crate::result::StatementResult;
use crate::session::{ParseError, Session, StatementContext, TreeMemory};
use crate::status::Counter;
use crate::stream::ResultStream;

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
        mayfly_syntax::statements(sql, &self.settings.options().parse).has_more()
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
        let hash = cache.hash(self.text_scope(), sql);
        if let Some(prepared) = hash.and_then(|hash| cache.get(self.text_scope(), hash, sql)) {
            self.shared.counters.add(Counter::StatementCacheHits, 1);
            let stream = self.run_prepared(&prepared, TreeMemory::default())?;
            return Ok(Some((stream, &sql[sql.len()..])));
        }
        if hash.is_some()
            && let Some(template) = self.template_of(sql)
        {
            return Ok(Some((self.run_template(&template)?, &sql[sql.len()..])));
        }
        let cached = hash.filter(|hash| cache.has_seen(*hash));
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
                let text =
                    mayfly_syntax::text_without_passwords(sql, &self.settings.options().parse);
                let text = Arc::from(&*text);
                return Err(self.refuse(&text, error));
            }
        };
        let rest = reader.rest();
        let is_cached = rest.trim().is_empty() && Prepared::is_cacheable(&parsed);
        let prepared = Arc::new(Prepared::of_parsed(self, parsed));
        if let (Some(hash), true) = (cached, is_cached) {
            let cache = &self.database.statement_cache;
            cache.add(self.text_scope(), hash, sql, &prepared);
        }
        Ok(Some((self.run_prepared(&prepared, tree)?, rest)))
    }

    /// Runs the statement of a text, whose tree takes memory.
    fn run_prepared(&mut self, prepared: &Prepared, tree: TreeMemory) -> Result<ResultStream<'_>> {
        let (text, keeps) = (prepared.text_handle(), prepared.keeps_diagnostics());
        let context = StatementContext::begin(self, Work::Query, text, keeps);
        let (context, outcome) = context.with_tree(tree).run(|context| {
            context.now();
            prepared.refuse_placeholders()?;
            prepared.execute(context, &[])
        })?;
        Ok(ResultStream::new(context, outcome))
    }
}

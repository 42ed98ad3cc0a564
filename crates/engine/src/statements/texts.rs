//! Statements given as text, or as bytes in `character_set_client`.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mayfly_syntax::SyntaxErrorKind;
use mayfly_syntax::ast::Statement;
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::connections::Work;
use crate::prepared::{PlanSlot, Prepared};
use crate::result::StatementResult;
use crate::session::{ParseError, Session, StatementContext, TreeMemory};
use crate::statements::properties::properties;
use crate::status::Counter;
use crate::stream::ResultStream;

impl Session {
    /// Runs every statement of a text and collects their results. The first error ends the run; earlier statements
    /// keep their effects.
    pub fn execute(&mut self, sql: &str) -> Result<Vec<StatementResult>> {
        let mut results = Vec::new();
        let mut rest = sql;
        loop {
            let (stream, after) = self.query_first(rest)?.ok_or_else(empty)?;
            results.extend(stream.into_results()?);
            rest = after;
            if !self.has_statement(rest) {
                return Ok(results);
            }
        }
    }

    /// Runs one statement and streams its rows.
    pub fn query(&mut self, sql: &str) -> Result<ResultStream<'_>> {
        Ok(self.query_first(sql)?.ok_or_else(empty)?.0)
    }

    /// Runs the first statement of a text; returns its rows and the rest of the text, or `None` when the text has no
    /// more statement.
    #[inline]
    pub fn query_first<'a>(&mut self, sql: &'a str) -> Result<Option<(ResultStream<'_>, &'a str)>> {
        self.query_text(sql, false)
    }

    /// Runs the only statement of a text: 1064 when there is another, before anything is done.
    pub fn query_only(&mut self, sql: &str) -> Result<ResultStream<'_>> {
        Ok(self.query_text(sql, true)?.ok_or_else(empty)?.0)
    }

    /// Whether a text has a statement, valid or not.
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
        if self.database.logs.general_is_on() && self.database.logs.options().raw {
            self.log_general("Query", sql);
        }
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
            // The text has only spaces and comments.
            Ok(Some(Err(ParseError::Syntax(syntax)))) if syntax.kind == SyntaxErrorKind::Empty => {
                return Ok(self.count_empty());
            }
            Ok(Some(parsed)) => parsed.map_err(|error| self.parse_error(error)),
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
                let options = &self.settings.options().parse;
                let text = mayfly_syntax::text_without_passwords(sql, options);
                return Err(self.refuse(&Arc::from(&*text), error));
            }
        };
        let rest = reader.rest();
        let is_cached = rest.trim().is_empty() && Prepared::is_cacheable(&parsed);
        let cached = cached.filter(|_| is_cached);
        // The plan of a text that is not cached is used once.
        let slot = cached.map(|_| PlanSlot::default());
        let prepared = Arc::new(Prepared::of_parsed(self, parsed, slot));
        if let Some(hash) = cached {
            let cache = &self.database.statement_cache;
            cache.add(self.text_scope(), hash, sql, &prepared);
        }
        Ok(Some((self.run_prepared(&prepared, tree)?, rest)))
    }

    /// Runs the statement of a text, whose tree takes memory.
    fn run_prepared(&mut self, prepared: &Prepared, tree: TreeMemory) -> Result<ResultStream<'_>> {
        let (text, keeps) = (prepared.text_handle(), prepared.keeps_diagnostics());
        let mut context = StatementContext::begin(self, Work::Query, text, keeps);
        context.tree = tree;
        context.is_of(prepared, properties(prepared.statement()).counter);
        context.log_query(prepared);
        ResultStream::run(context, |context| {
            prepared.refuse_placeholders()?;
            prepared.execute(context, &[])
        })
    }

    /// Runs one statement in `character_set_client` and streams its rows. Strings in it may hold any bytes, as dumps
    /// of BLOBs do.
    pub fn query_bytes(&mut self, sql: &[u8]) -> Result<ResultStream<'_>> {
        let text = self.text_of_client(sql)?;
        self.query(&text)
    }

    /// Decodes statements in `character_set_client`, for [`Self::query_first`] and [`Self::prepare`]. Invalid bytes
    /// are an error like that of a statement.
    pub fn text_of_client<'a>(&mut self, sql: &'a [u8]) -> Result<Cow<'a, str>> {
        self.decode_client(sql)
            .map_err(|error| self.refuse(&Arc::from(String::from_utf8_lossy(sql)), error))
    }

    fn decode_client<'a>(&self, sql: &'a [u8]) -> Result<Cow<'a, str>> {
        let charset = self.settings.options().client_charset;
        if charset.is_stored_as_is()
            && let Ok(text) = std::str::from_utf8(sql)
        {
            return Ok(Cow::Borrowed(text));
        }
        // In multibyte character sets a quote's byte may be part of a character.
        if charset.max_length() > 1
            && !charset.is_stored_as_is()
            && let Some(text) = decode(charset, sql)
        {
            return Ok(text);
        }
        mayfly_syntax::client_text(sql, &self.settings.options().parse, &|bytes| {
            decode(charset, bytes)
        })
        .map_err(|wrong| {
            let digits: String = wrong.iter().map(|byte| format!("{byte:02X}")).collect();
            codes::ER_INVALID_CHARACTER_STRING.with(&[&charset.name(), &digits])
        })
    }
}

/// The text of bytes in a character set; `None` when they are invalid.
fn decode(charset: Charset, bytes: &[u8]) -> Option<Cow<'_, str>> {
    match charset.decode(bytes).ok()? {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

/// 1065: a text without a statement.
fn empty() -> Error {
    codes::ER_EMPTY_QUERY.error()
}

//! The grammar: one module a statement family, all of them methods of one [`cursor::Parser`].

mod account;
mod alter;
pub(crate) mod build;
mod compound;
mod constraints;
mod copy;
mod create_table;
pub(crate) mod cursor;
mod ddl;
mod depth;
mod dml;
mod explain;
mod expr;
mod functions;
mod interval;
mod load;
mod maintenance;
mod partitioning;
mod precedence;
mod prepared;
mod primary;
mod query;
mod select;
mod set;
mod show;
mod stored_program;
mod table_options;
mod table_ref;
mod transaction;
mod types;
mod unsupported;
mod view;
mod window;
mod with;

#[cfg(test)]
mod tests;

use self::cursor::{Parser, Result};
use crate::ast::{SelectIntoStatement, Statement};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// One whole statement, up to its end.
    pub(crate) fn statement(&mut self) -> Result<Statement> {
        let parsed = self.statement_body().and_then(|statement| {
            if self.at_end() {
                Ok(statement)
            } else {
                self.fail()
            }
        });
        parsed.or_else(|failure| self.unsupported_statement().unwrap_or(Err(failure)))
    }

    pub(super) fn statement_body(&mut self) -> Result<Statement> {
        if self.at_kind(Kind::LeftParen) {
            return self.query_statement();
        }
        match self.keyword() {
            Kw::SELECT | Kw::TABLE | Kw::VALUES => self.query_statement(),
            Kw::WITH => self.with_statement(),
            Kw::INSERT | Kw::REPLACE => self.insert(),
            Kw::UPDATE => self.update(None),
            Kw::DELETE => self.delete(None),
            Kw::DO => self.do_statement(),
            Kw::LOAD if self.ahead(1).keyword == Kw::INDEX => self.load_index(),
            Kw::LOAD => self.load_data(),
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop_statement(),
            Kw::TRUNCATE => self.truncate(),
            Kw::RENAME => self.rename(),
            Kw::USE => {
                self.take();
                self.name().map(Statement::Use)
            }
            Kw::SHOW => self.show(),
            Kw::DESCRIBE | Kw::DESC | Kw::EXPLAIN => self.explain(),
            Kw::HELP => {
                self.take();
                self.name_or_string().map(Statement::Help)
            }
            Kw::SET => self.set(),
            Kw::FLUSH => self.flush(),
            Kw::BEGIN | Kw::START => self.start_transaction(),
            Kw::COMMIT | Kw::ROLLBACK => self.end_transaction(),
            Kw::SAVEPOINT | Kw::RELEASE => self.savepoint(),
            Kw::KILL => self.kill(),
            Kw::SHUTDOWN => {
                self.take();
                Ok(Statement::Shutdown)
            }
            Kw::RESET => self.reset_persist(),
            Kw::PREPARE => self.prepare(),
            Kw::EXECUTE => self.execute(),
            Kw::DEALLOCATE => self.deallocate(),
            Kw::LOCK | Kw::UNLOCK => self.lock_tables(),
            Kw::CACHE => self.cache_index(),
            Kw::ANALYZE if self.at_analyzed_statement() => self.analyze_statement(),
            Kw::ANALYZE | Kw::CHECK | Kw::CHECKSUM | Kw::OPTIMIZE | Kw::REPAIR => {
                self.table_maintenance()
            }
            Kw::OTHER if self.is_word(0, "COPY") => self.copy(),
            Kw::HANDLER => self.handler(),
            Kw::GRANT => self.grant(),
            Kw::REVOKE => self.revoke(),
            _ => self.fail(),
        }
    }

    /// A query, with its `INTO` if it has one.
    fn query_statement(&mut self) -> Result<Statement> {
        let query = self.query()?;
        Ok(match self.into.take() {
            Some(target) => Statement::SelectInto(Box::new(SelectIntoStatement { query, target })),
            None => Statement::Query(query),
        })
    }

    /// `WITH` begins a query, an update or a deletion.
    fn with_statement(&mut self) -> Result<Statement> {
        match self.word_behind_with() {
            Kw::UPDATE => {
                let with = self.with_clause()?;
                self.update(Some(with))
            }
            Kw::DELETE => {
                let with = self.with_clause()?;
                self.delete(Some(with))
            }
            _ => self.query_statement(),
        }
    }

    /// The first of the words that may follow a `WITH` clause, outside its parentheses.
    fn word_behind_with(&self) -> Kw {
        let mut open = 0_usize;
        for token in self.tokens.get(self.position..).unwrap_or_default() {
            match token.kind {
                Kind::LeftParen => open += 1,
                Kind::RightParen => open = open.saturating_sub(1),
                _ if open > 0 => {}
                _ if matches!(token.keyword, Kw::SELECT | Kw::TABLE | Kw::VALUES) => break,
                _ if matches!(token.keyword, Kw::UPDATE | Kw::DELETE) => return token.keyword,
                _ => {}
            }
        }
        Kw::OTHER
    }
}

//! `CREATE VIEW` and `ALTER VIEW`.

use super::cursor::{Parser, Result};
use crate::ast::{CreateView, Statement, ViewAlgorithm};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// What follows `CREATE [OR REPLACE]` or `ALTER`.
    pub(crate) fn create_view(&mut self, or_replace: bool, alter: bool) -> Result<Statement> {
        let mut algorithm = ViewAlgorithm::Undefined;
        if self.eat(Kw::ALGORITHM) {
            self.expect_kind(Kind::Equal)?;
            algorithm = match self.eat_any(&[Kw::UNDEFINED, Kw::MERGE, Kw::TEMPTABLE]) {
                Some(Kw::UNDEFINED) => ViewAlgorithm::Undefined,
                Some(Kw::MERGE) => ViewAlgorithm::Merge,
                Some(_) => ViewAlgorithm::TempTable,
                None => return self.fail(),
            };
        }
        let mut definer = None;
        if self.eat(Kw::DEFINER) {
            self.expect_kind(Kind::Equal)?;
            definer = Some(self.account()?);
        }
        let mut invoker_security = None;
        if self.eat(Kw::SQL) {
            self.expect(Kw::SECURITY)?;
            invoker_security = match self.eat_any(&[Kw::DEFINER, Kw::INVOKER]) {
                Some(word) => Some(word == Kw::INVOKER),
                None => return self.fail(),
            };
        }
        self.expect(Kw::VIEW)?;
        let if_not_exists = !alter && self.if_not_exists()?;
        let name = self.table_name()?;
        let columns = match self.at_kind(Kind::LeftParen) {
            true => self.paren_list(Self::name)?,
            false => Vec::new(),
        };
        self.expect(Kw::AS)?;
        let first = self.position;
        // A view's query has no `INTO`, so it counts as an inner one.
        self.queries += 1;
        let query = self.query()?;
        self.queries -= 1;
        let text = self.text_from(first).to_owned();
        let mut check_option = None;
        if self.eat(Kw::WITH) {
            check_option = Some(self.eat_any(&[Kw::CASCADED, Kw::LOCAL]) != Some(Kw::LOCAL));
            self.expect_all(&[Kw::CHECK, Kw::OPTION])?;
        }
        Ok(Statement::CreateView(Box::new(CreateView {
            or_replace,
            alter,
            if_not_exists,
            algorithm,
            definer,
            invoker_security,
            name,
            columns,
            query,
            text,
            check_option,
        })))
    }
}

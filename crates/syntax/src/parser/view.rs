//! `CREATE VIEW` and `ALTER VIEW`.

use super::cursor::{Parser, Result};
use crate::ast::{CreateView, Statement, ViewAlgorithm};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// Parses the rest behind `CREATE [OR REPLACE]` or `ALTER`.
    pub(crate) fn create_view(&mut self, or_replace: bool, alter: bool) -> Result<Statement> {
        let mut algorithm = ViewAlgorithm::Undefined;
        if self.eat(Kw::ALGORITHM) {
            self.expect_kind(Kind::Equal)?;
            algorithm = match self.expect_any(&kw![UNDEFINED MERGE TEMPTABLE])? {
                Kw::UNDEFINED => ViewAlgorithm::Undefined,
                Kw::MERGE => ViewAlgorithm::Merge,
                _ => ViewAlgorithm::TempTable,
            };
        }
        let definer = self.after(Kw::DEFINER, |parser| {
            parser.expect_kind(Kind::Equal)?;
            parser.account()
        })?;
        let mut invoker_security = None;
        if self.eat_phrase(&kw![SQL SECURITY])? {
            let word = self.expect_any(&kw![DEFINER INVOKER])?;
            invoker_security = Some(word == Kw::INVOKER);
        }
        self.expect(Kw::VIEW)?;
        let if_not_exists = !alter && self.if_not_exists()?;
        let name = self.table_name()?;
        let columns = self.optional_paren_list(Self::name)?;
        self.expect(Kw::AS)?;
        let first = self.position;
        // A view's query has no `INTO`, so it counts as an inner one.
        self.queries += 1;
        let query = self.query()?;
        self.queries -= 1;
        let text = self.text_from(first).to_owned();
        let mut check_option = None;
        if self.eat(Kw::WITH) {
            check_option = Some(self.eat_any(&kw![CASCADED LOCAL]) != Some(Kw::LOCAL));
            self.expect_all(&kw![CHECK OPTION])?;
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

//! `EXPLAIN` and `DESCRIBE`, which are one verb with three spellings.

use std::sync::Arc;

use super::cursor::{Parser, Result};
use crate::ast::{Describe, Explain, ExplainFormat, ExplainTarget, Statement};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn explain(&mut self) -> Result<Statement> {
        self.take();
        let analyze = self.eat(Kw::ANALYZE);
        let format = match self.at(Kw::FORMAT) && self.ahead(1).kind == Kind::Equal {
            true => Some(self.explain_format()?),
            false => None,
        };
        let into = match self.at(Kw::INTO) {
            true => {
                self.take();
                Some(self.user_variable_name()?)
            }
            false => None,
        };
        let mut explain = Explain {
            analyze,
            format,
            into,
            database: None,
            target: ExplainTarget::Connection(0),
        };
        if self.eat(Kw::FOR) {
            match self.eat_any(&[Kw::CONNECTION, Kw::SCHEMA, Kw::DATABASE]) {
                Some(Kw::CONNECTION) => {
                    explain.target = ExplainTarget::Connection(self.unsigned()?);
                    return Ok(Statement::Explain(Box::new(explain)));
                }
                Some(_) => explain.database = Some(self.name()?),
                None => return self.fail(),
            }
        }
        let first = self.position;
        let explainable = self.at_query_or_paren()
            || self.at(Kw::VALUES)
            || self.at_any(&[Kw::INSERT, Kw::REPLACE, Kw::UPDATE, Kw::DELETE]);
        if explainable {
            let statement = Arc::new(self.nested(1, Self::statement_body)?);
            let text = self.text_from(first).to_owned();
            explain.target = ExplainTarget::Statement { statement, text };
            return Ok(Statement::Explain(Box::new(explain)));
        }
        let options = explain.analyze || explain.format.is_some() || explain.into.is_some();
        if options || explain.database.is_some() {
            return self.fail();
        }
        let table = self.table_name()?;
        let column = match self.at_end() {
            true => None,
            false => Some(self.name_or_string()?),
        };
        Ok(Statement::Describe(Describe { table, column }))
    }

    fn explain_format(&mut self) -> Result<ExplainFormat> {
        self.take();
        self.take();
        let name = self.name_or_string()?;
        Ok(match name.to_ascii_uppercase().as_str() {
            "TRADITIONAL" => ExplainFormat::Traditional,
            "TREE" => ExplainFormat::Tree,
            "JSON" => ExplainFormat::Json,
            _ => ExplainFormat::Unknown(name),
        })
    }
}

//! `EXPLAIN` and `DESCRIBE`, which are one verb with three spellings.

use std::sync::Arc;

use super::cursor::{Parser, Result};
use crate::ast::{Describe, Explain, ExplainFormat, ExplainTarget, Statement};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn explain(&mut self) -> Result<Statement> {
        self.take();
        let analyze = self.eat(Kw::ANALYZE);
        let has_format = self.at(Kw::FORMAT) && self.ahead(1).kind == Kind::Equal;
        let format = has_format.then(|| self.explain_format()).transpose()?;
        let mut explain = Explain {
            analyze,
            format,
            into: self.after(Kw::INTO, Self::user_variable_name)?,
            database: None,
            target: ExplainTarget::Connection(0),
        };
        if self.eat(Kw::FOR) {
            if self.eat(Kw::CONNECTION) {
                explain.target = ExplainTarget::Connection(self.unsigned()?);
                return Ok(Statement::Explain(Box::new(explain)));
            }
            self.expect_any(&kw![SCHEMA DATABASE])?;
            explain.database = Some(self.name()?);
        }
        let first = self.position;
        let explainable =
            self.at_query_or_paren() || self.at_any(&kw![VALUES INSERT REPLACE UPDATE DELETE]);
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
        let has_column = !self.at_end();
        let column = has_column.then(|| self.name_or_string()).transpose()?;
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

//! `EXPLAIN` and `DESCRIBE`, which are one verb with three spellings.

use std::sync::Arc;

use super::cursor::{Parser, Result};
use crate::ast::{
    Describe, Described, Explain, ExplainFormat, ExplainKind, ExplainTarget, Statement,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn explain(&mut self) -> Result<Statement> {
        self.take();
        let kind = if self.eat(Kw::ANALYZE) {
            ExplainKind::Analyze
        } else {
            ExplainKind::Plan
        };
        // Words of MariaDB and old MySQL: their columns are always shown.
        let is_old = self.at_any(&kw![EXTENDED PARTITIONS])
            && self.ahead(1).kind == Kind::Word
            && kw![SELECT INSERT REPLACE UPDATE DELETE].contains(&self.ahead(1).keyword);
        if is_old && kind == ExplainKind::Plan {
            self.take();
        }
        let has_format = self.at(Kw::FORMAT) && self.ahead(1).kind == Kind::Equal;
        let format = has_format.then(|| self.explain_format()).transpose()?;
        let mut explain = Explain {
            kind,
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
        if self.at_explainable() {
            let statement = Arc::new(self.nested(1, Self::statement_body)?);
            let text = self.text_from(first).to_owned();
            explain.target = ExplainTarget::Statement { statement, text };
            return Ok(Statement::Explain(Box::new(explain)));
        }
        let options =
            kind != ExplainKind::Plan || explain.format.is_some() || explain.into.is_some();
        if options || explain.database.is_some() {
            return self.fail();
        }
        let table = match self.table_function_call()? {
            Some(call) => Described::Call(call),
            None => Described::Table(self.table_name()?),
        };
        let has_column = !self.at_end();
        let column = has_column.then(|| self.name_or_string()).transpose()?;
        Ok(Statement::Describe(Describe { table, column }))
    }

    fn at_explainable(&self) -> bool {
        self.at_query_or_paren() || self.at_any(&kw![VALUES INSERT REPLACE UPDATE DELETE])
    }

    /// Whether `ANALYZE` is followed by a statement to run, and not by TABLE.
    pub(crate) fn at_analyzed_statement(&self) -> bool {
        const FIRST: &[Kw] = &kw![SELECT WITH VALUES INSERT REPLACE UPDATE DELETE];
        let next = self.ahead(1);
        next.kind == Kind::LeftParen
            || FIRST.contains(&next.keyword)
            || (next.keyword == Kw::FORMAT && self.ahead(2).kind == Kind::Equal)
    }

    /// MariaDB's `ANALYZE [FORMAT = ..] statement`.
    pub(crate) fn analyze_statement(&mut self) -> Result<Statement> {
        self.take();
        let has_format = self.at(Kw::FORMAT);
        let format = has_format.then(|| self.explain_format()).transpose()?;
        if !self.at_explainable() {
            return self.fail();
        }
        let first = self.position;
        let statement = Arc::new(self.nested(1, Self::statement_body)?);
        let text = self.text_from(first).to_owned();
        Ok(Statement::Explain(Box::new(Explain {
            kind: ExplainKind::Run,
            format,
            into: None,
            database: None,
            target: ExplainTarget::Statement { statement, text },
        })))
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

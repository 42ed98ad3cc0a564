//! Prepared statements, and `KILL`.

use super::cursor::{Parser, Result};
use crate::ast::{Execute, Executed, KillTarget, Prepare, PrepareSource, Statement};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `PREPARE name FROM 'text' | @variable`.
    pub(crate) fn prepare(&mut self) -> Result<Statement> {
        self.expect(Kw::PREPARE)?;
        let name = self.name()?;
        self.expect(Kw::FROM)?;
        let source = self.prepare_source()?;
        Ok(Statement::Prepare(Prepare { name, source }))
    }

    /// `'text'`, `@variable`, or an expression as in MariaDB.
    fn prepare_source(&mut self) -> Result<PrepareSource> {
        let next = self.ahead(1);
        let is_alone = next.kind == Kind::End || next.keyword == Kw::USING;
        Ok(match self.kind() {
            Kind::UserVariable if is_alone => PrepareSource::Variable(self.user_variable_name()?),
            Kind::String if is_alone => PrepareSource::Text(self.string()?),
            _ => PrepareSource::Expression(Box::new(self.expr()?)),
        })
    }

    /// `EXECUTE name [USING @a, @b]`, `EXECUTE IMMEDIATE text [USING a, b]`.
    pub(crate) fn execute(&mut self) -> Result<Statement> {
        self.expect(Kw::EXECUTE)?;
        let behind = self.ahead(1);
        let ends = behind.kind == Kind::End || behind.keyword == Kw::USING;
        let what = if self.is_word(0, "IMMEDIATE") && !ends {
            self.take();
            Executed::Immediate(self.prepare_source()?)
        } else {
            Executed::Prepared(self.name()?)
        };
        Ok(Statement::Execute(Execute {
            what,
            using: self.list_after(Kw::USING, Self::expr)?,
        }))
    }

    /// `DEALLOCATE PREPARE name`.
    pub(crate) fn deallocate(&mut self) -> Result<Statement> {
        self.expect_all(&kw![DEALLOCATE PREPARE])?;
        self.name().map(Statement::Deallocate)
    }

    /// `KILL [CONNECTION | QUERY | TEMPORARY TABLE] id`.
    pub(crate) fn kill(&mut self) -> Result<Statement> {
        self.expect(Kw::KILL)?;
        let target = match self.eat_any(&kw![CONNECTION QUERY TEMPORARY]) {
            Some(Kw::QUERY) => KillTarget::Statement,
            Some(Kw::TEMPORARY) => {
                self.expect(Kw::TABLE)?;
                KillTarget::TemporaryTable
            }
            _ => KillTarget::Connection,
        };
        Ok(Statement::Kill {
            target,
            id: self.expr()?,
        })
    }
}

//! Prepared statements, and `KILL`.

use super::cursor::{Parser, Result};
use crate::ast::{Execute, KillTarget, Prepare, PrepareSource, Statement};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `PREPARE name FROM 'text' | @variable`.
    pub(crate) fn prepare(&mut self) -> Result<Statement> {
        self.expect(Kw::PREPARE)?;
        let name = self.name()?;
        self.expect(Kw::FROM)?;
        let source = match self.kind() {
            Kind::UserVariable => PrepareSource::Variable(self.user_variable_name()?),
            _ => PrepareSource::Text(self.string()?),
        };
        Ok(Statement::Prepare(Prepare { name, source }))
    }

    /// `EXECUTE name [USING @a, @b]`.
    pub(crate) fn execute(&mut self) -> Result<Statement> {
        self.expect(Kw::EXECUTE)?;
        Ok(Statement::Execute(Execute {
            name: self.name()?,
            using: self.list_after(Kw::USING, Self::user_variable_name)?,
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

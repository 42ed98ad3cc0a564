//! Parses statements on stored programs: `DROP`, the only one that needs no body.

use super::cursor::{Parser, Result};
use crate::ast::{DropStoredProgram, Statement, StoredProgramKind};

impl Parser<'_> {
    /// Parses the rest behind `DROP PROCEDURE | FUNCTION | TRIGGER | EVENT`.
    pub(crate) fn drop_stored_program(&mut self, kind: StoredProgramKind) -> Result<Statement> {
        self.take();
        Ok(Statement::DropStoredProgram(DropStoredProgram {
            kind,
            if_exists: self.if_exists()?,
            name: self.table_name()?,
        }))
    }
}

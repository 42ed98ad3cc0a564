//! Parses statements on stored programs. `DROP` is the only one that runs; the others are error 1235, once their text
//! has been checked (the manual, "CREATE PROCEDURE and CREATE FUNCTION Statements", "CREATE TRIGGER Statement", "CREATE
//! EVENT Statement").

use super::cursor::{Parser, Result};
use crate::ast::{DropStoredProgram, Statement, StoredProgramKind};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

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

    /// Checks the rest of a statement of these keywords, if it is on a stored program.
    pub(crate) fn check_stored_program(&mut self, keywords: &[Kw]) -> Result<()> {
        match keywords {
            [Kw::CREATE, Kw::PROCEDURE] => self.create_procedure(),
            [Kw::CREATE, Kw::FUNCTION] => self.create_function(),
            [Kw::CREATE, Kw::TRIGGER] => self.create_trigger(),
            [Kw::CREATE, Kw::EVENT] => self.create_event(),
            [Kw::ALTER, Kw::PROCEDURE | Kw::FUNCTION] => {
                self.table_name()?;
                self.characteristics().map(drop)
            }
            [Kw::ALTER, Kw::EVENT] => self.alter_event(),
            [Kw::CALL] => {
                self.table_name()?;
                match self.at_kind(Kind::LeftParen) {
                    true => self.paren_list_or_empty(Self::expr).map(drop),
                    false => Ok(()),
                }
            }
            _ => {
                self.rest();
                Ok(())
            }
        }?;
        match self.at_end() {
            true => Ok(()),
            false => self.fail(),
        }
    }

    fn create_procedure(&mut self) -> Result<()> {
        self.if_not_exists()?;
        self.table_name()?;
        self.paren_list_or_empty(|parser| {
            parser.eat_any(&kw![IN OUT INOUT]);
            parser.parameter()
        })?;
        self.routine_body()
    }

    fn create_function(&mut self) -> Result<()> {
        self.if_not_exists()?;
        self.table_name()?;
        if self.eat(Kw::RETURNS) {
            // A loadable function.
            self.expect_any(&kw![STRING INTEGER INT REAL DECIMAL])?;
            self.expect(Kw::SONAME)?;
            return self.string().map(drop);
        }
        self.paren_list_or_empty(Self::parameter)?;
        self.expect(Kw::RETURNS)?;
        self.value_type()?;
        self.routine_body()
    }

    fn parameter(&mut self) -> Result<()> {
        self.name()?;
        self.value_type()
    }

    fn value_type(&mut self) -> Result<()> {
        self.column_type()?;
        self.after(Kw::COLLATE, Self::charset_name).map(drop)
    }

    fn routine_body(&mut self) -> Result<()> {
        let is_sql = self.characteristics()?;
        match is_sql {
            true => self.body(),
            false => {
                self.rest();
                Ok(())
            }
        }
    }

    /// Characteristics; returns whether the language is SQL.
    fn characteristics(&mut self) -> Result<bool> {
        let mut is_sql = true;
        loop {
            match self.keyword() {
                Kw::COMMENT => {
                    self.take();
                    self.string()?;
                }
                Kw::LANGUAGE => {
                    self.take();
                    is_sql = self.eat(Kw::SQL);
                    if !is_sql {
                        self.name()?;
                    }
                }
                Kw::DETERMINISTIC => {
                    self.take();
                }
                Kw::NOT => self.expect_all(&kw![NOT DETERMINISTIC])?,
                Kw::CONTAINS => self.expect_all(&kw![CONTAINS SQL])?,
                Kw::NO => self.expect_all(&kw![NO SQL])?,
                Kw::READS => self.expect_all(&kw![READS SQL DATA])?,
                Kw::MODIFIES => self.expect_all(&kw![MODIFIES SQL DATA])?,
                Kw::SQL => {
                    self.expect_all(&kw![SQL SECURITY])?;
                    self.expect_any(&kw![DEFINER INVOKER])?;
                }
                _ => return Ok(is_sql),
            }
        }
    }

    fn create_trigger(&mut self) -> Result<()> {
        self.if_not_exists()?;
        self.table_name()?;
        self.expect_any(&kw![BEFORE AFTER])?;
        self.expect_any(&kw![INSERT UPDATE DELETE])?;
        self.expect(Kw::ON)?;
        self.table_name()?;
        self.expect_all(&kw![FOR EACH ROW])?;
        if self.eat_any(&kw![FOLLOWS PRECEDES]).is_some() {
            self.name()?;
        }
        self.body()
    }

    fn create_event(&mut self) -> Result<()> {
        self.if_not_exists()?;
        self.table_name()?;
        if !self.schedule()? {
            return self.fail();
        }
        self.completion()?;
        self.event_state()?;
        self.expect(Kw::DO)?;
        self.body()
    }

    /// ALTER EVENT with at least one of its clauses.
    fn alter_event(&mut self) -> Result<()> {
        self.table_name()?;
        let first = self.position;
        self.schedule()?;
        self.completion()?;
        if self.eat_phrase(&kw![RENAME TO])? {
            self.table_name()?;
        }
        self.event_state()?;
        if self.eat(Kw::DO) {
            self.body()?;
        }
        match self.position > first {
            true => Ok(()),
            false => self.fail(),
        }
    }

    /// `ON SCHEDULE AT moment` or `EVERY interval [STARTS moment] [ENDS moment]`; returns whether it is there.
    fn schedule(&mut self) -> Result<bool> {
        if !self.at_all(&kw![ON SCHEDULE]) {
            return Ok(false);
        }
        self.expect_all(&kw![ON SCHEDULE])?;
        if self.eat(Kw::AT) {
            self.expr()?;
            return Ok(true);
        }
        self.expect(Kw::EVERY)?;
        self.expr()?;
        self.interval_unit()?;
        self.after(Kw::STARTS, Self::expr)?;
        self.after(Kw::ENDS, Self::expr)?;
        Ok(true)
    }

    /// `ON COMPLETION [NOT] PRESERVE`.
    fn completion(&mut self) -> Result<()> {
        if self.eat_phrase(&kw![ON COMPLETION])? {
            self.eat(Kw::NOT);
            self.expect(Kw::PRESERVE)?;
        }
        Ok(())
    }

    /// `ENABLE`, `DISABLE [ON REPLICA]` and `COMMENT`.
    fn event_state(&mut self) -> Result<()> {
        if self.eat_any(&kw![ENABLE DISABLE]) == Some(Kw::DISABLE) && self.eat(Kw::ON) {
            self.expect_any(&kw![SLAVE REPLICA])?;
        }
        self.after(Kw::COMMENT, Self::string).map(drop)
    }
}

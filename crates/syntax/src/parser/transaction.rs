//! Transaction control.

use super::cursor::{Parser, Result};
use crate::ast::{
    AccessMode, Completion, IsolationLevel, SetTransaction, StartTransaction, Statement,
    VariableScope,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `BEGIN [WORK]` or `START TRANSACTION ...`.
    pub(crate) fn start_transaction(&mut self) -> Result<Statement> {
        let mut start = StartTransaction {
            consistent_snapshot: false,
            access_mode: None,
        };
        if self.take().keyword == Kw::BEGIN {
            self.eat(Kw::WORK);
            return Ok(Statement::StartTransaction(start));
        }
        self.expect(Kw::TRANSACTION)?;
        if self.at_any(&[Kw::WITH, Kw::READ]) {
            self.comma_list(|parser| {
                if parser.eat(Kw::WITH) {
                    parser.expect_all(&[Kw::CONSISTENT, Kw::SNAPSHOT])?;
                    start.consistent_snapshot = true;
                } else if start.access_mode.is_some() {
                    return parser.fail();
                } else {
                    start.access_mode = Some(parser.access_mode()?);
                }
                Ok(())
            })?;
        }
        Ok(Statement::StartTransaction(start))
    }

    /// `READ ONLY` or `READ WRITE`.
    fn access_mode(&mut self) -> Result<AccessMode> {
        self.expect(Kw::READ)?;
        match self.eat_any(&[Kw::ONLY, Kw::WRITE]) {
            Some(Kw::ONLY) => Ok(AccessMode::ReadOnly),
            Some(_) => Ok(AccessMode::ReadWrite),
            None => self.fail(),
        }
    }

    /// `COMMIT` or `ROLLBACK`.
    pub(crate) fn end_transaction(&mut self) -> Result<Statement> {
        let commit = self.take().keyword == Kw::COMMIT;
        self.eat(Kw::WORK);
        if !commit && self.eat(Kw::TO) {
            self.eat(Kw::SAVEPOINT);
            return self.name().map(Statement::RollbackToSavepoint);
        }
        let mut completion = Completion {
            chain: None,
            release: None,
        };
        if self.eat(Kw::AND) {
            completion.chain = Some(!self.eat(Kw::NO));
            self.expect(Kw::CHAIN)?;
        }
        if self.at(Kw::RELEASE) || (self.at(Kw::NO) && self.ahead(1).keyword == Kw::RELEASE) {
            completion.release = Some(!self.eat(Kw::NO));
            self.expect(Kw::RELEASE)?;
        }
        Ok(match commit {
            true => Statement::Commit(completion),
            false => Statement::Rollback(completion),
        })
    }

    /// `SAVEPOINT name` or `RELEASE SAVEPOINT name`.
    pub(crate) fn savepoint(&mut self) -> Result<Statement> {
        if self.take().keyword == Kw::SAVEPOINT {
            return self.name().map(Statement::Savepoint);
        }
        self.expect(Kw::SAVEPOINT)?;
        self.name().map(Statement::ReleaseSavepoint)
    }

    /// The characteristics behind `SET [scope] TRANSACTION`.
    pub(crate) fn set_transaction(&mut self, scope: Option<VariableScope>) -> Result<Statement> {
        let mut set = SetTransaction {
            scope,
            isolation: None,
            access_mode: None,
        };
        loop {
            if self.at(Kw::READ) && set.access_mode.is_none() {
                set.access_mode = Some(self.access_mode()?);
            } else if set.isolation.is_none() {
                self.expect_all(&[Kw::ISOLATION, Kw::LEVEL])?;
                set.isolation = Some(self.isolation_level()?);
            } else {
                return self.fail();
            }
            if !self.eat_kind(Kind::Comma) {
                return Ok(Statement::SetTransaction(set));
            }
        }
    }

    fn isolation_level(&mut self) -> Result<IsolationLevel> {
        match self.eat_any(&[Kw::READ, Kw::REPEATABLE, Kw::SERIALIZABLE]) {
            Some(Kw::READ) => match self.eat_any(&[Kw::UNCOMMITTED, Kw::COMMITTED]) {
                Some(Kw::UNCOMMITTED) => Ok(IsolationLevel::ReadUncommitted),
                Some(_) => Ok(IsolationLevel::ReadCommitted),
                None => self.fail(),
            },
            Some(Kw::REPEATABLE) => {
                self.expect(Kw::READ)?;
                Ok(IsolationLevel::RepeatableRead)
            }
            Some(_) => Ok(IsolationLevel::Serializable),
            None => self.fail(),
        }
    }
}

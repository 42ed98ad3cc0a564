//! Transaction control.

use super::cursor::{Parser, Result};
use crate::ast::{
    AccessMode, Completion, IsolationLevel, SetTransaction, StartTransaction, Statement,
    VariableScope,
};
use crate::keywords::{Kw, kw};
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
        if self.at_any(&kw![WITH READ]) {
            self.comma_list(|parser| {
                if parser.eat_phrase(&kw![WITH CONSISTENT SNAPSHOT])? {
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
        Ok(match self.expect_any(&kw![ONLY WRITE])? {
            Kw::ONLY => AccessMode::ReadOnly,
            _ => AccessMode::ReadWrite,
        })
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
        if self.at(Kw::RELEASE) || self.at_all(&kw![NO RELEASE]) {
            completion.release = Some(!self.eat(Kw::NO));
            self.expect(Kw::RELEASE)?;
        }
        if commit {
            return Ok(Statement::Commit(completion));
        }
        Ok(Statement::Rollback(completion))
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
                self.expect_all(&kw![ISOLATION LEVEL])?;
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
        Ok(match self.expect_any(&kw![READ REPEATABLE SERIALIZABLE])? {
            Kw::READ => match self.expect_any(&kw![UNCOMMITTED COMMITTED])? {
                Kw::UNCOMMITTED => IsolationLevel::ReadUncommitted,
                _ => IsolationLevel::ReadCommitted,
            },
            Kw::REPEATABLE => {
                self.expect(Kw::READ)?;
                IsolationLevel::RepeatableRead
            }
            _ => IsolationLevel::Serializable,
        })
    }
}

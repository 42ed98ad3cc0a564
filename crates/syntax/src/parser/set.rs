//! `SET`.

use sqlparser::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{SetItem, SetTarget, SetValue, Statement, VariableScope};
use crate::encodings;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// The scope that a word before a variable names.
pub(crate) fn scope_of(keyword: Kw) -> Option<VariableScope> {
    match keyword {
        Kw::GLOBAL => Some(VariableScope::Global),
        Kw::SESSION | Kw::LOCAL => Some(VariableScope::Session),
        Kw::PERSIST => Some(VariableScope::Persist),
        Kw::PERSIST_ONLY => Some(VariableScope::PersistOnly),
        _ => None,
    }
}

impl Parser<'_> {
    pub(crate) fn set(&mut self) -> Result<Statement> {
        self.expect(Kw::SET)?;
        let scope = scope_of(self.keyword());
        let behind_scope = self.ahead(usize::from(scope.is_some()));
        if behind_scope.keyword == Kw::TRANSACTION {
            self.position += 1 + usize::from(scope.is_some());
            return self.set_transaction(scope);
        }
        if let Some(statement) = self.set_account()? {
            return Ok(statement);
        }
        // A word that names a scope holds for all that follow without one.
        let mut scope = None;
        self.comma_list(|parser| parser.set_item(&mut scope))
            .map(Statement::Set)
    }

    /// `RESET PERSIST [[IF EXISTS] name]`.
    pub(crate) fn reset_persist(&mut self) -> Result<Statement> {
        self.expect(Kw::RESET)?;
        self.expect(Kw::PERSIST)?;
        let if_exists = self.if_exists()?;
        let is_whole = !if_exists && self.at_end();
        let name = match is_whole {
            true => None,
            false => Some(self.name()?),
        };
        Ok(Statement::ResetPersist { name, if_exists })
    }

    fn set_item(&mut self, scope: &mut Option<VariableScope>) -> Result<SetItem> {
        let next = self.ahead(1);
        let assigns = matches!(next.kind, Kind::Equal | Kind::Assign | Kind::Dot);
        match self.keyword() {
            Kw::NAMES if !assigns => {
                self.take();
                self.set_names()
            }
            Kw::CHARACTER | Kw::CHAR if next.keyword == Kw::SET => {
                self.take();
                self.take();
                Ok(SetItem::CharacterSet {
                    charset: self.charset_unless_default()?,
                })
            }
            Kw::CHARSET if !assigns => {
                self.take();
                Ok(SetItem::CharacterSet {
                    charset: self.charset_unless_default()?,
                })
            }
            Kw::RESOURCE if !assigns => Ok(SetItem::Other(self.rest().to_owned())),
            _ => self.set_assignment(scope),
        }
    }

    fn charset_unless_default(&mut self) -> Result<Option<String>> {
        match self.eat(Kw::DEFAULT) {
            true => Ok(None),
            false => self.charset_name().map(Some),
        }
    }

    fn set_names(&mut self) -> Result<SetItem> {
        let charset = self.charset_unless_default()?;
        let mut collation = None;
        if charset.is_some() && self.eat(Kw::COLLATE) {
            collation = Some(self.charset_name()?);
        }
        Ok(SetItem::Names { charset, collation })
    }

    /// `said`: the scope that a word before has named, which a `@@` does without.
    fn set_assignment(&mut self, said: &mut Option<VariableScope>) -> Result<SetItem> {
        if self.at_kind(Kind::UserVariable) {
            let target = SetTarget::User(self.user_variable_name()?);
            if !self.eat_equal() {
                return self.fail();
            }
            let value = SetValue::Expr(self.expr()?);
            return Ok(SetItem::Assign { target, value });
        }
        let marked = self.eat_kind(Kind::AtAt);
        let mut scope = None;
        if let Some(word) = scope_of(self.keyword()) {
            let scoped = match marked {
                true => self.ahead(1).kind == Kind::Dot,
                false => !matches!(self.ahead(1).kind, Kind::Equal | Kind::Assign | Kind::Dot),
            };
            if scoped {
                scope = Some(word);
                self.take();
                if marked {
                    self.take();
                } else {
                    *said = scope;
                }
            }
        }
        if !marked {
            scope = *said;
        }
        let mut name = self.name()?;
        if self.eat_kind(Kind::Dot) {
            name = format!("{name}.{}", self.name()?);
        }
        if !self.eat_equal() {
            return self.fail();
        }
        let value = self.set_value()?;
        Ok(SetItem::Assign {
            target: SetTarget::System { scope, name },
            value,
        })
    }

    fn set_value(&mut self) -> Result<SetValue> {
        let last = matches!(self.ahead(1).kind, Kind::End | Kind::Comma);
        if last && self.eat(Kw::DEFAULT) {
            return Ok(SetValue::Default);
        }
        if last && self.at_any(&[Kw::ON, Kw::ALL, Kw::BINARY, Kw::ROW, Kw::SYSTEM]) {
            let token = self.take();
            return Ok(SetValue::Word(self.text(token).to_owned()));
        }
        Ok(match self.expr()? {
            Expr::Identifier(word)
                if encodings::variable(&Expr::Identifier(word.clone())).is_none() =>
            {
                SetValue::Word(word.value)
            }
            other => SetValue::Expr(other),
        })
    }
}

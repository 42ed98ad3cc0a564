//! `SET`.

use std::sync::Arc;

use crate::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{SetItem, SetTarget, SetValue, Statement, VariableScope};
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn set(&mut self) -> Result<Statement> {
        self.expect(Kw::SET)?;
        let behind = self.ahead(1);
        if self.is_word(0, "STATEMENT") && !matches!(behind.kind, Kind::Equal | Kind::Assign) {
            return self.set_statement();
        }
        let scope = VariableScope::of(self.keyword());
        let words = usize::from(scope.is_some());
        if self.ahead(words).keyword == Kw::TRANSACTION {
            self.position += words + 1;
            return self.set_transaction(scope);
        }
        if let Some(statement) = self.set_account()? {
            return Ok(statement);
        }
        // A scope word holds for all following assignments without one.
        let mut scope = None;
        self.comma_list(|parser| parser.set_item(&mut scope))
            .map(Statement::Set)
    }

    /// MariaDB's `SET STATEMENT name = value, … FOR statement`.
    fn set_statement(&mut self) -> Result<Statement> {
        self.take();
        let items = self.comma_list(|parser| parser.set_assignment(&mut None))?;
        self.expect(Kw::FOR)?;
        let statement = Arc::new(self.nested(1, Self::statement_body)?);
        Ok(Statement::SetStatement(items, statement))
    }

    /// `RESET PERSIST [[IF EXISTS] name]`.
    pub(crate) fn reset_persist(&mut self) -> Result<Statement> {
        self.expect_all(&kw![RESET PERSIST])?;
        let if_exists = self.if_exists()?;
        let has_name = if_exists || !self.at_end();
        let name = has_name.then(|| self.name()).transpose()?;
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
                self.set_charset()
            }
            Kw::CHARSET if !assigns => self.set_charset(),
            Kw::RESOURCE if !assigns => Ok(SetItem::Other(self.rest().to_owned())),
            _ => self.set_assignment(scope),
        }
    }

    fn set_charset(&mut self) -> Result<SetItem> {
        self.take();
        let charset = self.unless(Kw::DEFAULT, Self::charset_name)?;
        Ok(SetItem::CharacterSet { charset })
    }

    fn set_names(&mut self) -> Result<SetItem> {
        let charset = self.unless(Kw::DEFAULT, Self::charset_name)?;
        let mut collation = None;
        if charset.is_some() {
            collation = self.after(Kw::COLLATE, Self::charset_name)?;
        }
        Ok(SetItem::Names { charset, collation })
    }

    /// Parses an assignment. `named`: the scope of a preceding word, which holds for variables
    /// without `@@`.
    fn set_assignment(&mut self, named: &mut Option<VariableScope>) -> Result<SetItem> {
        if self.at_kind(Kind::UserVariable) {
            let target = SetTarget::User(self.user_variable_name()?);
            self.expect_equal()?;
            let value = SetValue::Expr(self.expr()?);
            return Ok(SetItem::Assign { target, value });
        }
        let has_at_signs = self.eat_kind(Kind::AtAt);
        let word = VariableScope::of(self.keyword());
        let scope = if has_at_signs {
            let word = word.filter(|_| self.ahead(1).kind == Kind::Dot);
            if word.is_some() {
                self.take();
                self.take();
            }
            word
        } else {
            let names_variable =
                matches!(self.ahead(1).kind, Kind::Equal | Kind::Assign | Kind::Dot);
            if word.is_some() && !names_variable {
                *named = word;
                self.take();
            }
            *named
        };
        // The default key cache is named by a keyword.
        let mut name = if self.ahead(1).kind == Kind::Dot && self.eat(Kw::DEFAULT) {
            Kw::DEFAULT.spelling().to_lowercase()
        } else {
            self.name()?
        };
        if self.eat_kind(Kind::Dot) {
            name = format!("{name}.{}", self.name()?);
        }
        self.expect_equal()?;
        Ok(SetItem::Assign {
            target: SetTarget::System { scope, name },
            value: self.set_value()?,
        })
    }

    fn set_value(&mut self) -> Result<SetValue> {
        let behind = self.ahead(1);
        let last = matches!(behind.kind, Kind::End | Kind::Comma) || behind.keyword == Kw::FOR;
        if last && self.eat(Kw::DEFAULT) {
            return Ok(SetValue::Default);
        }
        if last && self.at_any(&kw![ON ALL BINARY ROW SYSTEM]) {
            let token = self.take();
            return Ok(SetValue::Word(self.text(token).to_owned()));
        }
        Ok(match self.expr()? {
            value if encodings::variable(&value).is_some() => SetValue::Expr(value),
            Expr::Identifier(word) => SetValue::Word(word.value),
            other => SetValue::Expr(other),
        })
    }
}

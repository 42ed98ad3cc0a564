//! Keys, foreign keys, checks and generated columns.

use sqlparser::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{
    CheckDefinition, ColumnAttribute, ForeignKey, GeneratedStorage, KeyDefinition, KeyKind,
    KeyPart, KeyPartTarget, References, TableElement, TableOption,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// A key, foreign key or check, perhaps behind `CONSTRAINT [name]`.
    pub(crate) fn table_constraint(&mut self) -> Result<TableElement> {
        let constraint = self.eat(Kw::CONSTRAINT);
        let name = match constraint && self.at_identifier() {
            true => Some(self.name()?),
            false => None,
        };
        let plain = [Kw::KEY, Kw::INDEX, Kw::FULLTEXT, Kw::SPATIAL];
        match self.keyword() {
            Kw::FOREIGN => self.foreign_key(name),
            Kw::CHECK => Ok(TableElement::Check(self.check(name)?)),
            Kw::PRIMARY | Kw::UNIQUE => self.key(name),
            keyword if !constraint && plain.contains(&keyword) => self.key(None),
            _ => self.fail(),
        }
    }

    fn key(&mut self, constraint: Option<String>) -> Result<TableElement> {
        let word = self.take().keyword;
        let kind = match word {
            Kw::PRIMARY => {
                self.expect(Kw::KEY)?;
                KeyKind::Primary
            }
            Kw::UNIQUE => KeyKind::Unique,
            Kw::FULLTEXT => KeyKind::FullText,
            Kw::SPATIAL => KeyKind::Spatial,
            _ => KeyKind::Plain,
        };
        if matches!(kind, KeyKind::Unique | KeyKind::FullText | KeyKind::Spatial) {
            self.eat_any(&[Kw::KEY, Kw::INDEX]);
        }
        let name = match self.at_identifier() {
            true => Some(self.name()?),
            false => None,
        };
        self.key_body(kind, name.or(constraint))
            .map(TableElement::Key)
    }

    /// `[USING type] (parts) options`.
    pub(crate) fn key_body(
        &mut self,
        kind: KeyKind,
        name: Option<String>,
    ) -> Result<KeyDefinition> {
        let mut using = self.key_type()?;
        let parts = self.paren_list(Self::key_part)?;
        let mut options = Vec::new();
        loop {
            match self.keyword() {
                Kw::USING | Kw::TYPE => using = self.key_type()?,
                Kw::KEY_BLOCK_SIZE => options.push(self.named_option()?),
                Kw::COMMENT | Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                    options.push(self.named_option()?);
                }
                Kw::VISIBLE | Kw::INVISIBLE => {
                    options.push(key_option(self.take().keyword.spelling()));
                }
                // MariaDB's words for the same.
                Kw::NOT if self.is_word(1, "IGNORED") => {
                    self.take();
                    self.take();
                    options.push(key_option(Kw::VISIBLE.spelling()));
                }
                _ if self.is_word(0, "IGNORED") => {
                    self.take();
                    options.push(key_option(Kw::INVISIBLE.spelling()));
                }
                Kw::WITH => {
                    self.take();
                    self.expect(Kw::PARSER)?;
                    let value = self.name()?;
                    let name = "WITH PARSER".to_owned();
                    options.push(TableOption {
                        name,
                        value,
                        quoted: false,
                    });
                }
                _ => break,
            }
        }
        Ok(KeyDefinition {
            kind,
            name,
            using,
            parts,
            options,
        })
    }

    /// `USING BTREE | HASH | RTREE`, if it is next.
    pub(crate) fn key_type(&mut self) -> Result<Option<String>> {
        if self.eat_any(&[Kw::USING, Kw::TYPE]).is_none() {
            return Ok(None);
        }
        match self.eat_any(&[Kw::BTREE, Kw::HASH, Kw::RTREE]) {
            Some(keyword) => Ok(Some(keyword.spelling().to_owned())),
            None => self.fail(),
        }
    }

    fn key_part(&mut self) -> Result<KeyPart> {
        let target = if self.at_kind(Kind::LeftParen) {
            self.take();
            let expr = self.expr()?;
            self.expect_kind(Kind::RightParen)?;
            KeyPartTarget::Expression(expr)
        } else {
            let name = self.name()?;
            let prefix = match self.eat_kind(Kind::LeftParen) {
                true => {
                    let prefix = self.unsigned()?;
                    self.expect_kind(Kind::RightParen)?;
                    Some(prefix)
                }
                false => None,
            };
            KeyPartTarget::Column { name, prefix }
        };
        let descending = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
        Ok(KeyPart { target, descending })
    }

    fn foreign_key(&mut self, name: Option<String>) -> Result<TableElement> {
        self.expect_all(&[Kw::FOREIGN, Kw::KEY])?;
        let index_name = match self.at_identifier() {
            true => Some(self.name()?),
            false => None,
        };
        let columns = self.paren_list(Self::name)?;
        if !self.at(Kw::REFERENCES) {
            return self.fail();
        }
        let references = self.references()?;
        Ok(TableElement::ForeignKey(ForeignKey {
            name,
            index_name,
            columns,
            references,
        }))
    }

    /// `REFERENCES table [(columns)] ...`.
    pub(crate) fn references(&mut self) -> Result<References> {
        self.expect(Kw::REFERENCES)?;
        let table = self.table_name()?;
        let columns = match self.at_kind(Kind::LeftParen) {
            true => self.paren_list(Self::name)?,
            false => Vec::new(),
        };
        let mut references = References {
            table,
            columns,
            match_kind: None,
            on_delete: None,
            on_update: None,
        };
        if self.eat(Kw::MATCH) {
            match self.eat_any(&[Kw::FULL, Kw::PARTIAL, Kw::SIMPLE]) {
                Some(kind) => references.match_kind = Some(kind.spelling().to_owned()),
                None => return self.fail(),
            }
        }
        while self.eat(Kw::ON) {
            match self.eat_any(&[Kw::DELETE, Kw::UPDATE]) {
                Some(Kw::DELETE) => references.on_delete = Some(self.referential_action()?),
                Some(_) => references.on_update = Some(self.referential_action()?),
                None => return self.fail(),
            }
        }
        Ok(references)
    }

    fn referential_action(&mut self) -> Result<String> {
        let action = match self.eat_any(&[Kw::RESTRICT, Kw::CASCADE, Kw::SET, Kw::NO]) {
            Some(Kw::SET) if self.eat(Kw::NULL) => "SET NULL",
            Some(Kw::SET) => {
                self.expect(Kw::DEFAULT)?;
                "SET DEFAULT"
            }
            Some(Kw::NO) => {
                self.expect(Kw::ACTION)?;
                "NO ACTION"
            }
            Some(keyword) => keyword.spelling(),
            None => return self.fail(),
        };
        Ok(action.to_owned())
    }

    /// `(expression)`, with its source text.
    fn expr_and_text(&mut self) -> Result<(Expr, String)> {
        self.expect_kind(Kind::LeftParen)?;
        let first = self.position;
        let expr = self.expr()?;
        let text = self.text_from(first).to_owned();
        self.expect_kind(Kind::RightParen)?;
        Ok((expr, text))
    }

    /// `CHECK (expression) [[NOT] ENFORCED]`.
    fn check(&mut self, name: Option<String>) -> Result<CheckDefinition> {
        self.expect(Kw::CHECK)?;
        let (expr, text) = self.expr_and_text()?;
        let mut enforced = true;
        // `NOT NULL` may follow at a column.
        if self.at(Kw::NOT) && self.ahead(1).keyword == Kw::ENFORCED {
            self.take();
            enforced = false;
        }
        self.eat(Kw::ENFORCED);
        Ok(CheckDefinition {
            name,
            expr,
            text,
            enforced,
        })
    }

    /// `[CONSTRAINT [name]] CHECK (...)` at a column.
    pub(crate) fn column_check(&mut self) -> Result<ColumnAttribute> {
        let name = match self.eat(Kw::CONSTRAINT) && self.at_identifier() {
            true => Some(self.name()?),
            false => None,
        };
        self.check(name).map(ColumnAttribute::Check)
    }

    /// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED]`.
    pub(crate) fn generated(&mut self) -> Result<ColumnAttribute> {
        if self.eat(Kw::GENERATED) {
            self.expect(Kw::ALWAYS)?;
        }
        self.expect(Kw::AS)?;
        let (expr, text) = self.expr_and_text()?;
        let storage = match self.eat_any(&[Kw::VIRTUAL, Kw::STORED]) {
            Some(Kw::STORED) => GeneratedStorage::Stored,
            // MariaDB's older word for it.
            None if self.is_word(0, "PERSISTENT") => {
                self.take();
                GeneratedStorage::Stored
            }
            _ => GeneratedStorage::Virtual,
        };
        Ok(ColumnAttribute::Generated {
            expr,
            text,
            storage,
        })
    }
}

/// An option of a key that is a word.
fn key_option(name: &str) -> TableOption {
    TableOption {
        name: name.to_owned(),
        value: String::new(),
        quoted: false,
    }
}

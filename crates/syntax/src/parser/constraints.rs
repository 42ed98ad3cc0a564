//! Keys, foreign keys, checks and generated columns.

use crate::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{
    CheckDefinition, ColumnAttribute, ForeignKey, GeneratedStorage, KeyDefinition, KeyKind,
    KeyPart, KeyPartTarget, References, TableElement, TableOption,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Words with which a key or constraint begins.
pub(crate) const CONSTRAINT_WORDS: &[Kw] = &kw![
    CONSTRAINT PRIMARY UNIQUE KEY INDEX FULLTEXT SPATIAL FOREIGN CHECK
];

impl Parser<'_> {
    /// A key, foreign key or check, perhaps behind `CONSTRAINT [name]`.
    pub(crate) fn table_constraint(&mut self) -> Result<TableElement> {
        let constraint = self.at(Kw::CONSTRAINT);
        let name = self.constraint_name()?;
        match self.keyword() {
            Kw::FOREIGN => self.foreign_key(name),
            Kw::CHECK => self.check(name).map(TableElement::Check),
            Kw::PRIMARY | Kw::UNIQUE => self.key(name),
            Kw::KEY | Kw::INDEX | Kw::FULLTEXT | Kw::SPATIAL if !constraint => self.key(None),
            _ => self.fail(),
        }
    }

    /// The name behind `CONSTRAINT`, if both are written.
    fn constraint_name(&mut self) -> Result<Option<String>> {
        let name = self.after(Kw::CONSTRAINT, Self::optional_name)?;
        Ok(name.flatten())
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
            self.eat_any(&kw![KEY INDEX]);
        }
        let name = self.optional_name()?.or(constraint);
        self.key_body(kind, name).map(TableElement::Key)
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
                Kw::KEY_BLOCK_SIZE
                | Kw::COMMENT
                | Kw::ENGINE_ATTRIBUTE
                | Kw::SECONDARY_ENGINE_ATTRIBUTE => options.push(self.named_option()?),
                word @ (Kw::VISIBLE | Kw::INVISIBLE) => {
                    self.take();
                    options.push(TableOption::unquoted(word.spelling(), String::new()));
                }
                // MariaDB's word for `INVISIBLE`.
                Kw::NOT if self.is_word(1, "IGNORED") => {
                    self.position += 2;
                    options.push(TableOption::unquoted("VISIBLE", String::new()));
                }
                _ if self.is_word(0, "IGNORED") => {
                    self.take();
                    options.push(TableOption::unquoted("INVISIBLE", String::new()));
                }
                Kw::WITH => {
                    self.expect_all(&kw![WITH PARSER])?;
                    options.push(TableOption::unquoted("WITH PARSER", self.name()?));
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
        if self.eat_any(&kw![USING TYPE]).is_none() {
            return Ok(None);
        }
        let word = self.expect_any(&kw![BTREE HASH RTREE])?;
        Ok(Some(word.spelling().to_owned()))
    }

    fn key_part(&mut self) -> Result<KeyPart> {
        let target = if self.at_kind(Kind::LeftParen) {
            KeyPartTarget::Expression(self.parens(Self::expr)?)
        } else {
            let name = self.name()?;
            let has_prefix = self.at_kind(Kind::LeftParen);
            let prefix = has_prefix
                .then(|| self.parens(Self::unsigned))
                .transpose()?;
            KeyPartTarget::Column { name, prefix }
        };
        let order = self.eat_any(&kw![ASC DESC]);
        Ok(KeyPart {
            target,
            descending: order == Some(Kw::DESC),
            is_ordered: order.is_some(),
        })
    }

    fn foreign_key(&mut self, name: Option<String>) -> Result<TableElement> {
        self.expect_all(&kw![FOREIGN KEY])?;
        Ok(TableElement::ForeignKey(ForeignKey {
            name,
            index_name: self.optional_name()?,
            columns: self.paren_list(Self::name)?,
            references: self.references()?,
        }))
    }

    /// `REFERENCES table [(columns)] ...`.
    pub(crate) fn references(&mut self) -> Result<References> {
        self.expect(Kw::REFERENCES)?;
        let mut references = References {
            table: self.table_name()?,
            columns: self.optional_paren_list(Self::name)?,
            match_kind: None,
            on_delete: None,
            on_update: None,
        };
        if self.eat(Kw::MATCH) {
            let kind = self.expect_any(&kw![FULL PARTIAL SIMPLE])?;
            references.match_kind = Some(kind.spelling().to_owned());
        }
        while self.eat(Kw::ON) {
            match self.expect_any(&kw![DELETE UPDATE])? {
                Kw::DELETE => references.on_delete = Some(self.referential_action()?),
                _ => references.on_update = Some(self.referential_action()?),
            }
        }
        Ok(references)
    }

    fn referential_action(&mut self) -> Result<String> {
        let action = match self.expect_any(&kw![RESTRICT CASCADE SET NO])? {
            Kw::SET if self.eat(Kw::NULL) => "SET NULL",
            Kw::SET => {
                self.expect(Kw::DEFAULT)?;
                "SET DEFAULT"
            }
            Kw::NO => {
                self.expect(Kw::ACTION)?;
                "NO ACTION"
            }
            keyword => keyword.spelling(),
        };
        Ok(action.to_owned())
    }

    /// `(expression)`, with its source text.
    fn expr_and_text(&mut self) -> Result<(Expr, String)> {
        self.parens(|parser| {
            let first = parser.position;
            let expr = parser.expr()?;
            Ok((expr, parser.text_from(first).to_owned()))
        })
    }

    /// `CHECK (expression) [[NOT] ENFORCED]`.
    fn check(&mut self, name: Option<String>) -> Result<CheckDefinition> {
        self.expect(Kw::CHECK)?;
        let (expr, text) = self.expr_and_text()?;
        // `NOT NULL` may follow at a column.
        let enforced = !self.at_all(&kw![NOT ENFORCED]);
        self.position += usize::from(!enforced);
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
        let name = self.constraint_name()?;
        self.check(name).map(ColumnAttribute::Check)
    }

    /// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED]`.
    pub(crate) fn generated(&mut self) -> Result<ColumnAttribute> {
        self.eat_phrase(&kw![GENERATED ALWAYS])?;
        self.expect(Kw::AS)?;
        let (expr, text) = self.expr_and_text()?;
        let storage = match self.eat_any(&kw![VIRTUAL STORED]) {
            Some(Kw::STORED) => GeneratedStorage::Stored,
            // MariaDB's older word for `STORED`.
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

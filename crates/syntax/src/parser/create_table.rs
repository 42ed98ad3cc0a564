//! `CREATE TABLE`.

use sqlparser::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{
    ColumnAttribute, ColumnDefinition, CreateSelect, CreateTable, OnDuplicateRow, Statement,
    TableElement, TypeKind,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `[TEMPORARY] TABLE ...` behind `CREATE [OR REPLACE]`.
    pub(crate) fn create_table(&mut self, or_replace: bool) -> Result<Statement> {
        let temporary = self.eat(Kw::TEMPORARY);
        self.expect(Kw::TABLE)?;
        let if_not_exists = self.if_not_exists()?;
        let mut table = CreateTable {
            or_replace,
            temporary,
            if_not_exists,
            name: self.table_name()?,
            like: None,
            elements: Vec::new(),
            options: Vec::new(),
            partitioning: None,
            select: None,
        };
        if self.eat(Kw::LIKE) {
            table.like = Some(self.table_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.at_kind(Kind::LeftParen) && self.ahead(1).keyword == Kw::LIKE {
            self.take();
            self.take();
            table.like = Some(self.table_name()?);
            self.expect_kind(Kind::RightParen)?;
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.at_kind(Kind::LeftParen) && !self.is_query_parenthesis() {
            table.elements = self.paren_list(Self::table_element)?;
        }
        table.options = self.table_options()?;
        if self.at(Kw::PARTITION) {
            table.partitioning = Some(self.partitioning()?);
        }
        table.select = self.create_select()?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// Whether the parentheses that begin here hold a query.
    pub(crate) fn is_query_parenthesis(&self) -> bool {
        let mut ahead = 0;
        while self.ahead(ahead).kind == Kind::LeftParen {
            ahead += 1;
        }
        matches!(
            self.ahead(ahead).keyword,
            Kw::SELECT | Kw::WITH | Kw::TABLE | Kw::VALUES
        )
    }

    /// `IF NOT EXISTS`, if it is next.
    pub(crate) fn if_not_exists(&mut self) -> Result<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect_all(&[Kw::NOT, Kw::EXISTS])?;
        }
        Ok(found)
    }

    /// `IF EXISTS`, if it is next.
    pub(crate) fn if_exists(&mut self) -> Result<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect(Kw::EXISTS)?;
        }
        Ok(found)
    }

    /// `[IGNORE | REPLACE] [AS] query`.
    fn create_select(&mut self) -> Result<Option<CreateSelect>> {
        let on_duplicate = match self.eat_any(&[Kw::IGNORE, Kw::REPLACE]) {
            Some(Kw::IGNORE) => OnDuplicateRow::Ignore,
            Some(_) => OnDuplicateRow::Replace,
            None => OnDuplicateRow::Error,
        };
        let announced = self.eat(Kw::AS) || on_duplicate != OnDuplicateRow::Error;
        if !announced && !self.at_query_or_paren() {
            return Ok(None);
        }
        if !self.at_query_or_paren() {
            return self.fail();
        }
        let query = self.query()?;
        Ok(Some(CreateSelect {
            on_duplicate,
            query,
        }))
    }

    /// A column, key or constraint.
    fn table_element(&mut self) -> Result<TableElement> {
        match self.keyword() {
            Kw::CONSTRAINT
            | Kw::PRIMARY
            | Kw::UNIQUE
            | Kw::KEY
            | Kw::INDEX
            | Kw::FULLTEXT
            | Kw::SPATIAL
            | Kw::FOREIGN
            | Kw::CHECK => self.table_constraint(),
            _ => Ok(TableElement::Column(self.column_definition()?)),
        }
    }

    /// `name type attributes`.
    pub(crate) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let name = self.name()?;
        let mut column = ColumnDefinition {
            name,
            data_type: self.column_type()?,
            attributes: Vec::new(),
        };
        if column.data_type.kind == TypeKind::Serial {
            column.attributes.extend([
                ColumnAttribute::NotNull,
                ColumnAttribute::AutoIncrement,
                ColumnAttribute::UniqueKey,
            ]);
        }
        while self.column_attribute(&mut column)? {}
        Ok(column)
    }

    /// One attribute, if there is one.
    fn column_attribute(&mut self, column: &mut ColumnDefinition) -> Result<bool> {
        let attribute = match self.keyword() {
            Kw::NULL => {
                self.take();
                ColumnAttribute::Null
            }
            Kw::NOT => {
                self.take();
                match self.eat_any(&[Kw::NULL, Kw::SECONDARY]) {
                    Some(Kw::NULL) => ColumnAttribute::NotNull,
                    Some(_) => ColumnAttribute::Other("NOT SECONDARY".to_owned(), String::new()),
                    None => return self.fail(),
                }
            }
            Kw::DEFAULT => {
                self.take();
                ColumnAttribute::Default(self.default_expr()?)
            }
            Kw::ON => {
                self.take();
                self.expect(Kw::UPDATE)?;
                if !self.at_any(&[Kw::NOW, Kw::CURRENT_TIMESTAMP, Kw::LOCALTIME])
                    && !self.at(Kw::LOCALTIMESTAMP)
                {
                    return self.fail();
                }
                ColumnAttribute::OnUpdate(self.prefix()?)
            }
            Kw::AUTO_INCREMENT => {
                self.take();
                ColumnAttribute::AutoIncrement
            }
            Kw::SERIAL => {
                self.take();
                self.expect_all(&[Kw::DEFAULT, Kw::VALUE])?;
                column.attributes.push(ColumnAttribute::NotNull);
                column.attributes.push(ColumnAttribute::AutoIncrement);
                ColumnAttribute::UniqueKey
            }
            Kw::PRIMARY => {
                self.take();
                self.expect(Kw::KEY)?;
                ColumnAttribute::PrimaryKey
            }
            Kw::KEY => {
                self.take();
                ColumnAttribute::PrimaryKey
            }
            Kw::UNIQUE => {
                self.take();
                self.eat(Kw::KEY);
                ColumnAttribute::UniqueKey
            }
            Kw::COMMENT => {
                self.take();
                ColumnAttribute::Comment(self.string()?)
            }
            Kw::COLLATE => {
                self.take();
                column.data_type.collation = Some(self.charset_name()?);
                return Ok(true);
            }
            Kw::GENERATED | Kw::AS => self.generated()?,
            Kw::CONSTRAINT | Kw::CHECK => self.column_check()?,
            Kw::REFERENCES => ColumnAttribute::References(self.references()?),
            Kw::VISIBLE | Kw::INVISIBLE => {
                ColumnAttribute::Visible(self.take().keyword == Kw::VISIBLE)
            }
            Kw::COLUMN_FORMAT | Kw::STORAGE | Kw::SRID => {
                let name = self.take().keyword.spelling().to_owned();
                let value = self.take();
                ColumnAttribute::Other(name, self.text(value).to_ascii_uppercase())
            }
            Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                let name = self.take().keyword.spelling().to_owned();
                self.eat_equal();
                ColumnAttribute::Other(name, self.string()?)
            }
            _ => return Ok(false),
        };
        column.attributes.push(attribute);
        Ok(true)
    }

    /// The value of `DEFAULT`: a literal with its sign, a current time, or a parenthesis.
    pub(crate) fn default_expr(&mut self) -> Result<Expr> {
        let now = [
            Kw::NOW,
            Kw::CURRENT_TIMESTAMP,
            Kw::LOCALTIME,
            Kw::LOCALTIMESTAMP,
        ];
        let literal = match self.kind() {
            Kind::Plus | Kind::Minus => {
                matches!(self.ahead(1).kind, Kind::Integer | Kind::Decimal)
            }
            Kind::Integer | Kind::Decimal | Kind::String | Kind::NationalString => true,
            Kind::Hex | Kind::Bits | Kind::Introducer | Kind::LeftParen => true,
            Kind::Word if self.at_any(&[Kw::DATE, Kw::TIME, Kw::TIMESTAMP]) => {
                self.ahead(1).kind == Kind::String
            }
            _ => self.at_any(&[Kw::NULL, Kw::TRUE, Kw::FALSE]) || self.at_any(&now),
        };
        // MariaDB writes a call without the parentheses that MySQL wants around an expression.
        let call = self.kind() == Kind::Word && self.ahead(1).kind == Kind::LeftParen;
        match (literal, call) {
            (true, _) => self.prefix(),
            (false, true) => Ok(Expr::Nested(Box::new(self.prefix()?))),
            _ => self.fail(),
        }
    }
}

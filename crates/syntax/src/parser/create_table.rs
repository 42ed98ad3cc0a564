//! `CREATE TABLE`.

use crate::ast::Expr;

use super::constraints::CONSTRAINT_WORDS;
use super::cursor::{Parser, Result};
use crate::ast::{
    CacheClause, ColumnAttribute, ColumnDefinition, CreateSelect, CreateTable, OnCommit,
    OnDuplicateRow, Period, PeriodUnit, Statement, TableElement, TableKind, TimeToLive, TypeKind,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Attributes that the type SERIAL and the attribute SERIAL DEFAULT VALUE stand for.
const SERIAL: [ColumnAttribute; 3] = [
    ColumnAttribute::NotNull,
    ColumnAttribute::AutoIncrement,
    ColumnAttribute::UniqueKey,
];

/// Words with which attributes of columns begin.
const ATTRIBUTES: &[Kw] = &kw![
    NULL NOT DEFAULT ON AUTO_INCREMENT PRIMARY KEY UNIQUE COMMENT VISIBLE INVISIBLE COLUMN_FORMAT
    STORAGE SRID ENGINE_ATTRIBUTE SECONDARY_ENGINE_ATTRIBUTE
];

/// Functions of the current time that may be a column's value without parentheses around them.
const NOW: &[Kw] = &kw![NOW CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP];

impl Parser<'_> {
    /// `[[GLOBAL | SHARED] TEMPORARY] TABLE ...` behind `CREATE [OR REPLACE]`.
    pub(crate) fn create_table(&mut self, or_replace: bool) -> Result<Statement> {
        let kind = if self.eat_phrase(&kw![GLOBAL TEMPORARY])? {
            TableKind::GlobalTemporary
        } else if self.is_word(0, "SHARED") {
            self.take();
            self.expect(Kw::TEMPORARY)?;
            TableKind::SharedTemporary
        } else if self.eat(Kw::TEMPORARY) {
            TableKind::Temporary
        } else {
            TableKind::Base
        };
        self.expect(Kw::TABLE)?;
        let if_not_exists = self.if_not_exists()?;
        let mut table = CreateTable {
            or_replace,
            kind,
            on_commit: None,
            ttl: None,
            cache: None,
            if_not_exists,
            name: self.table_name()?,
            like: None,
            elements: Vec::new(),
            options: Vec::new(),
            partitioning: None,
            select: None,
        };
        if self.at_kind(Kind::LeftParen) && self.ahead(1).keyword == Kw::LIKE {
            table.like = self.parens(|parser| parser.after(Kw::LIKE, Self::table_name))?;
        } else if self.at(Kw::LIKE) {
            table.like = self.after(Kw::LIKE, Self::table_name)?;
            table.on_commit = self.on_commit(kind)?;
            table.ttl = self.time_to_live(kind)?;
        } else {
            if self.at_kind(Kind::LeftParen) && !self.is_query_parenthesis() {
                table.elements = self.paren_list(Self::table_element)?;
            }
            table.options = self.table_options()?;
            table.on_commit = self.on_commit(kind)?;
            table.ttl = self.time_to_live(kind)?;
            if table.on_commit.is_some() || table.ttl.is_some() {
                table.options.extend(self.table_options()?);
            }
            if self.at(Kw::PARTITION) {
                table.partitioning = Some(self.partitioning()?);
            }
            table.cache = self.cache_clause(kind)?;
            table.select = self.create_select()?;
            if table.cache.is_some() && table.select.is_none() {
                return self.fail();
            }
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// `ON COMMIT {DELETE ROWS | PRESERVE ROWS | DROP}` of a temporary table, as in the SQL standard; DROP for the
    /// session's own table alone.
    fn on_commit(&mut self, kind: TableKind) -> Result<Option<OnCommit>> {
        if !kind.has_private_rows() || !self.eat_phrase(&kw![ON COMMIT])? {
            return Ok(None);
        }
        let action = match self.take().keyword {
            Kw::DELETE => OnCommit::DeleteRows,
            Kw::PRESERVE => OnCommit::PreserveRows,
            Kw::DROP if kind == TableKind::Temporary => return Ok(Some(OnCommit::Drop)),
            _ => {
                self.position -= 1;
                return self.fail();
            }
        };
        self.expect(Kw::ROWS)?;
        Ok(Some(action))
    }

    /// `TTL count unit [AFTER {USE | CREATION}]` of a shared temporary table.
    fn time_to_live(&mut self, kind: TableKind) -> Result<Option<TimeToLive>> {
        if kind != TableKind::SharedTemporary || !self.is_word(0, "TTL") {
            return Ok(None);
        }
        self.take();
        let period = self.period()?;
        let mut after_creation = false;
        if self.eat(Kw::AFTER) {
            after_creation = self.is_word(0, "CREATION");
            if !after_creation && self.keyword() != Kw::USE {
                return self.fail();
            }
            self.take();
        }
        Ok(Some(TimeToLive {
            period,
            after_creation,
        }))
    }

    /// `CACHE {FOR count unit | UNTIL CHANGED}` of a temporary table that a query fills.
    fn cache_clause(&mut self, kind: TableKind) -> Result<Option<CacheClause>> {
        if kind != TableKind::Temporary || !self.eat(Kw::CACHE) {
            return Ok(None);
        }
        if self.eat(Kw::FOR) {
            return Ok(Some(CacheClause::For(self.period()?)));
        }
        self.expect(Kw::UNTIL)?;
        self.expect(Kw::CHANGED)?;
        Ok(Some(CacheClause::UntilChanged))
    }

    /// `count {SECOND | MINUTE | HOUR | DAY}`.
    fn period(&mut self) -> Result<Period> {
        let count = self.unsigned()?;
        let unit = match self.take().keyword {
            Kw::SECOND => PeriodUnit::Second,
            Kw::MINUTE => PeriodUnit::Minute,
            Kw::HOUR => PeriodUnit::Hour,
            Kw::DAY => PeriodUnit::Day,
            _ => {
                self.position -= 1;
                return self.fail();
            }
        };
        Ok(Period { count, unit })
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
        self.eat_phrase(&kw![IF NOT EXISTS])
    }

    /// `IF EXISTS`, if it is next.
    pub(crate) fn if_exists(&mut self) -> Result<bool> {
        self.eat_phrase(&kw![IF EXISTS])
    }

    /// `[IGNORE | REPLACE] [AS] query`.
    fn create_select(&mut self) -> Result<Option<CreateSelect>> {
        let on_duplicate = match self.eat_any(&kw![IGNORE REPLACE]) {
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
        Ok(Some(CreateSelect {
            on_duplicate,
            query: self.query()?,
        }))
    }

    /// A column, key or constraint.
    pub(crate) fn table_element(&mut self) -> Result<TableElement> {
        if self.at_any(CONSTRAINT_WORDS) {
            return self.table_constraint();
        }
        self.column_definition().map(TableElement::Column)
    }

    /// `name type attributes`.
    pub(crate) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let mut column = ColumnDefinition {
            name: self.name()?,
            data_type: self.column_type()?,
            attributes: Vec::new(),
        };
        if column.data_type.kind == TypeKind::Serial {
            column.attributes.extend(SERIAL);
        }
        while self.column_attribute(&mut column)? {}
        Ok(column)
    }

    /// One attribute, if there is one.
    fn column_attribute(&mut self, column: &mut ColumnDefinition) -> Result<bool> {
        let attribute = match self.keyword() {
            Kw::COLLATE => {
                column.data_type.collation = self.after(Kw::COLLATE, Self::charset_name)?;
                return Ok(true);
            }
            Kw::SERIAL => {
                self.expect_all(&kw![SERIAL DEFAULT VALUE])?;
                column.attributes.extend(SERIAL);
                return Ok(true);
            }
            // Directly behind the type.
            Kw::GENERATED | Kw::AS if column.attributes.is_empty() => self.generated()?,
            Kw::CONSTRAINT | Kw::CHECK => self.column_check()?,
            Kw::REFERENCES => ColumnAttribute::References(self.references()?),
            word if ATTRIBUTES.contains(&word) => {
                self.take();
                self.attribute_behind(word)?
            }
            _ => return Ok(false),
        };
        column.attributes.push(attribute);
        Ok(true)
    }

    /// The attribute that begins with one of [`ATTRIBUTES`], behind that word.
    fn attribute_behind(&mut self, word: Kw) -> Result<ColumnAttribute> {
        Ok(match word {
            Kw::NULL => ColumnAttribute::Null,
            Kw::NOT => match self.expect_any(&kw![NULL SECONDARY])? {
                Kw::NULL => ColumnAttribute::NotNull,
                _ => ColumnAttribute::NotSecondary,
            },
            Kw::DEFAULT => ColumnAttribute::Default(self.default_expr()?),
            Kw::ON => {
                self.expect(Kw::UPDATE)?;
                if !self.at_any(NOW) {
                    return self.fail();
                }
                ColumnAttribute::OnUpdate(self.prefix()?)
            }
            Kw::AUTO_INCREMENT => ColumnAttribute::AutoIncrement,
            Kw::PRIMARY => {
                self.expect(Kw::KEY)?;
                ColumnAttribute::PrimaryKey
            }
            Kw::KEY => ColumnAttribute::PrimaryKey,
            Kw::UNIQUE => {
                self.eat(Kw::KEY);
                ColumnAttribute::UniqueKey
            }
            Kw::COMMENT => ColumnAttribute::Comment(self.string()?),
            Kw::SRID => ColumnAttribute::Srid(self.unsigned()?),
            Kw::VISIBLE | Kw::INVISIBLE => ColumnAttribute::Visible(word == Kw::VISIBLE),
            Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                self.eat_equal();
                ColumnAttribute::Other(word.spelling().to_owned(), self.string()?)
            }
            _ => {
                let value = self.take();
                let value = self.text(value).to_ascii_uppercase();
                ColumnAttribute::Other(word.spelling().to_owned(), value)
            }
        })
    }

    /// The value of `DEFAULT`: a literal with its sign, a current time, or a parenthesis.
    pub(crate) fn default_expr(&mut self) -> Result<Expr> {
        let literal = match self.kind() {
            Kind::Plus | Kind::Minus => {
                matches!(self.ahead(1).kind, Kind::Integer | Kind::Decimal)
            }
            Kind::Integer | Kind::Decimal | Kind::String | Kind::NationalString => true,
            Kind::Hex | Kind::Bits | Kind::Introducer | Kind::LeftParen => true,
            Kind::Word if self.at_any(&kw![DATE TIME TIMESTAMP]) => {
                self.ahead(1).kind == Kind::String
            }
            _ => self.at_any(&kw![NULL TRUE FALSE]) || self.at_any(NOW),
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

//! `INSERT`, `REPLACE`, `UPDATE` and `DELETE`.

use crate::ast::{Ident, SelectItem, TableFactor, TableWithJoins, With};

use super::cursor::{Parser, Result};
use super::with::TablesRead;
use crate::ast::{
    Delete, DmlPriority, InsertSource, InsertStatement, RowAlias, SetAssignment, Statement,
    TableName, UpdateStatement,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Reserved words that begin an expression without a parenthesis.
const BEGINS_EXPRESSION: &[Kw] = &kw![
    BINARY CASE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER EXISTS FALSE INTERVAL
    LOCALTIME LOCALTIMESTAMP NOT NULL TRUE UTC_DATE UTC_TIME UTC_TIMESTAMP
];

/// Reserved words behind the alias of a table or column that a parenthesis may follow.
const BEHIND_ALIAS: &[Kw] =
    &kw![EXCEPT FROM HAVING INTERSECT JOIN ON STRAIGHT_JOIN UNION USING WHERE];

impl Parser<'_> {
    /// `INSERT` or `REPLACE`, whose verb is next.
    pub(crate) fn insert(&mut self) -> Result<Statement> {
        let replace = self.take().keyword == Kw::REPLACE;
        self.may_return = true;
        self.hints();
        let priority = match self.keyword() {
            Kw::LOW_PRIORITY => Some(DmlPriority::Low),
            Kw::DELAYED => Some(DmlPriority::Delayed),
            Kw::HIGH_PRIORITY if !replace => Some(DmlPriority::High),
            _ => None,
        };
        if priority.is_some() {
            self.take();
        }
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.eat(Kw::INTO);
        let table = self.table_name()?;
        let partitions = self.partition_names()?;
        let mut statement = InsertStatement {
            replace,
            priority,
            ignore,
            table,
            partitions,
            columns: None,
            source: InsertSource::Values(Vec::new()),
            row_alias: None,
            on_duplicate_key_update: Vec::new(),
            returning: Vec::new(),
        };
        self.insert_source(&mut statement)?;
        let may_alias = !replace && !matches!(statement.source, InsertSource::Query(_));
        if may_alias && self.eat(Kw::AS) {
            statement.row_alias = Some(RowAlias {
                name: self.name()?,
                columns: self.optional_paren_list(Self::name)?,
            });
        }
        if !replace && self.eat_phrase(&kw![ON DUPLICATE KEY UPDATE])? {
            statement.on_duplicate_key_update = self.assignments()?;
        }
        if self.eat(Kw::RETURNING) {
            statement.returning = self.select_items()?;
        }
        Ok(Statement::Insert(Box::new(statement)))
    }

    /// `[(columns)] VALUES ... | query` or `SET ...`.
    fn insert_source(&mut self, statement: &mut InsertStatement) -> Result<()> {
        if self.eat(Kw::SET) {
            let assignments = self.assignments()?;
            let (columns, row) = assignments.into_iter().map(|a| (a.column, a.value)).unzip();
            statement.columns = Some(columns);
            statement.source = InsertSource::Values(vec![row]);
            return Ok(());
        }
        // `(` begins either the columns or a query in parentheses.
        let columns = self.at_kind(Kind::LeftParen) && {
            let mut ahead = 1;
            while self.ahead(ahead).kind == Kind::LeftParen {
                ahead += 1;
            }
            let inside = self.ahead(ahead);
            ahead == 1 && (self.is_identifier(inside) || inside.kind == Kind::RightParen)
        };
        if columns {
            statement.columns = Some(self.paren_list_or_empty(Self::column_name)?);
        }
        let values =
            self.at(Kw::VALUE) || (self.at(Kw::VALUES) && self.ahead(1).keyword != Kw::ROW);
        statement.source = if values {
            self.take();
            let row = |parser: &mut Self| parser.paren_list_or_empty(Self::expr_or_default);
            InsertSource::Values(self.comma_list(row)?)
        } else if self.at_query_or_paren() {
            InsertSource::Query(self.query()?)
        } else {
            return self.fail();
        };
        Ok(())
    }

    /// `PARTITION (a, b)`, if it is next.
    pub(crate) fn partition_names(&mut self) -> Result<Vec<String>> {
        let names = self.after(Kw::PARTITION, |parser| parser.paren_list(Self::name))?;
        Ok(names.unwrap_or_default())
    }

    /// A column's name with up to two qualifiers.
    pub(crate) fn column_name(&mut self) -> Result<Vec<Ident>> {
        self.eat_kind(Kind::Dot);
        let mut parts = vec![self.ident()?];
        while parts.len() < 3 && self.eat_kind(Kind::Dot) {
            parts.push(self.ident()?);
        }
        Ok(parts)
    }

    /// `column = value, ...`.
    pub(crate) fn assignments(&mut self) -> Result<Vec<SetAssignment>> {
        self.comma_list(|parser| {
            let column = parser.column_name()?;
            parser.expect_equal()?;
            Ok(SetAssignment {
                column,
                value: parser.expr_or_default()?,
            })
        })
    }

    /// `UPDATE`, whose verb is next.
    pub(crate) fn update(&mut self, with: Option<With>) -> Result<Statement> {
        self.expect(Kw::UPDATE)?;
        self.hints();
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let ignore = self.eat(Kw::IGNORE);
        let tables = self.table_references()?;
        self.expect(Kw::SET)?;
        let mut statement = UpdateStatement {
            with: None,
            low_priority,
            ignore,
            tables,
            assignments: self.assignments()?,
            selection: self.after(Kw::WHERE, Self::condition)?,
            // The binder refuses these for several tables: error 1221.
            order_by: self.order_by()?,
            limit: self.after(Kw::LIMIT, Self::limit_number)?,
        };
        if let Some(with) = with {
            let values = statement
                .assignments
                .iter()
                .map(|assignment| &assignment.value);
            let read = values.fold(TablesRead::default(), |read, value| read.of(value));
            let read = read.of(&statement.tables).of(&statement.selection);
            let read = read.of(&statement.order_by).of(&statement.limit);
            statement.with = read.without_others(with);
        }
        Ok(Statement::Update(Box::new(statement)))
    }

    /// `DELETE`, whose verb is next, in its three forms.
    pub(crate) fn delete(&mut self, with: Option<With>) -> Result<Statement> {
        self.expect(Kw::DELETE)?;
        self.may_return = true;
        self.hints();
        let mut statement = Delete {
            with: None,
            low_priority: false,
            quick: false,
            ignore: false,
            targets: Vec::new(),
            from: Vec::new(),
            selection: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        while let Some(word) = self.eat_any(&kw![LOW_PRIORITY QUICK IGNORE]) {
            match word {
                Kw::LOW_PRIORITY => statement.low_priority = true,
                Kw::QUICK => statement.quick = true,
                _ => statement.ignore = true,
            }
        }
        let mut single = false;
        if !self.eat(Kw::FROM) {
            statement.targets = self.comma_list(Self::delete_target)?;
            self.expect(Kw::FROM)?;
            statement.from = self.table_references()?;
        } else {
            // `DELETE FROM a` and `DELETE FROM a, b USING ...` differ only from the word behind the
            // names on.
            let first = self.position;
            let names = self.comma_list(Self::delete_target)?;
            if self.eat(Kw::USING) {
                statement.targets = names;
                statement.from = self.table_references()?;
            } else if names.len() > 1 {
                return self.fail();
            } else {
                self.position = first;
                single = true;
                let relation = self.table_factor()?;
                let joined = match &relation {
                    TableFactor::Table { index_hints, .. } => !index_hints.is_empty(),
                    _ => true,
                };
                if joined {
                    return self.fail();
                }
                let joins = Vec::new();
                statement.from.push(TableWithJoins { relation, joins });
            }
        }
        statement.selection = self.after(Kw::WHERE, Self::condition)?;
        if single {
            statement.order_by = self.order_by()?;
            statement.limit = self.after(Kw::LIMIT, Self::limit_number)?;
            if self.eat(Kw::RETURNING) {
                statement.returning = self.select_items()?;
            }
        }
        if let Some(with) = with {
            let read = TablesRead::default().of(&statement.from);
            let read = read.of(&statement.selection).of(&statement.order_by);
            let read = read.of(&statement.limit).of(&statement.returning);
            statement.with = read.without_others(with);
        }
        Ok(Statement::Delete(Box::new(statement)))
    }

    /// Whether the clause RETURNING is next, and not an alias of its name, which is not reserved: behind an alias
    /// stands no expression.
    pub(crate) fn begins_returning(&self) -> bool {
        let next = self.ahead(1);
        let begins_expression = match next.kind {
            Kind::Word => {
                let is_call = self.ahead(2).kind == Kind::LeftParen;
                !next.keyword.is_reserved()
                    || BEGINS_EXPRESSION.contains(&next.keyword)
                    || is_call && !BEHIND_ALIAS.contains(&next.keyword)
            }
            kind => matches!(
                kind,
                Kind::QuotedIdent
                    | Kind::String
                    | Kind::NationalString
                    | Kind::Hex
                    | Kind::Bits
                    | Kind::Integer
                    | Kind::Decimal
                    | Kind::Introducer
                    | Kind::UserVariable
                    | Kind::AtAt
                    | Kind::Parameter
                    | Kind::LeftParen
                    | Kind::Star
                    | Kind::Plus
                    | Kind::Minus
                    | Kind::Tilde
                    | Kind::Bang
            ),
        };
        self.may_return && self.at(Kw::RETURNING) && begins_expression
    }

    /// A target of DELETE: `a`, `db.a`, `a.*`.
    fn delete_target(&mut self) -> Result<TableName> {
        let first = self.name()?;
        let mut target = TableName::bare(first);
        while self.eat_kind(Kind::Dot) {
            if self.eat_kind(Kind::Star) {
                return Ok(target);
            }
            if target.database.is_some() {
                return self.fail();
            }
            target = TableName {
                database: Some(target.name),
                name: self.name()?,
            };
        }
        Ok(target)
    }

    /// `DO a, b`.
    pub(crate) fn do_statement(&mut self) -> Result<Statement> {
        self.expect(Kw::DO)?;
        let items = self.select_items()?;
        let values = items.into_iter().map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Ok(expr),
            _ => self.fail_at_previous(),
        });
        values.collect::<Result<_>>().map(Statement::Do)
    }
}

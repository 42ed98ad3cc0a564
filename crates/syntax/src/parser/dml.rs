//! `INSERT`, `REPLACE`, `UPDATE` and `DELETE`.

use sqlparser::ast::{Expr, Ident, TableFactor, With};

use super::cursor::{Parser, Result};
use crate::ast::{
    Delete, DmlPriority, InsertSource, InsertStatement, RowAlias, SetAssignment, Statement,
    TableName, UpdateStatement,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `INSERT` or `REPLACE`, whose verb is next.
    pub(crate) fn insert(&mut self) -> Result<Statement> {
        let replace = self.take().keyword == Kw::REPLACE;
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
            let name = self.name()?;
            let columns = match self.at_kind(Kind::LeftParen) {
                true => self.paren_list(Self::name)?,
                false => Vec::new(),
            };
            statement.row_alias = Some(RowAlias { name, columns });
        }
        if !replace && self.eat(Kw::ON) {
            self.expect_all(&[Kw::DUPLICATE, Kw::KEY, Kw::UPDATE])?;
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
            self.take();
            let mut names = Vec::new();
            if !self.at_kind(Kind::RightParen) {
                names = self.comma_list(Self::column_name)?;
            }
            self.expect_kind(Kind::RightParen)?;
            statement.columns = Some(names);
        }
        let values =
            self.at(Kw::VALUE) || (self.at(Kw::VALUES) && self.ahead(1).keyword != Kw::ROW);
        if values {
            self.take();
            statement.source = InsertSource::Values(self.comma_list(Self::insert_row)?);
        } else if self.at_query_or_paren() {
            statement.source = InsertSource::Query(self.query()?);
        } else {
            return self.fail();
        }
        Ok(())
    }

    /// `(value | DEFAULT, ...)`, perhaps empty.
    fn insert_row(&mut self) -> Result<Vec<Expr>> {
        self.expect_kind(Kind::LeftParen)?;
        if self.eat_kind(Kind::RightParen) {
            return Ok(Vec::new());
        }
        let row = self.comma_list(Self::expr_or_default)?;
        self.expect_kind(Kind::RightParen)?;
        Ok(row)
    }

    /// `PARTITION (a, b)`, if it is next.
    pub(crate) fn partition_names(&mut self) -> Result<Vec<String>> {
        match self.eat(Kw::PARTITION) {
            true => self.paren_list(Self::name),
            false => Ok(Vec::new()),
        }
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
            if !parser.eat_equal() {
                return parser.fail();
            }
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
        let assignments = self.assignments()?;
        let mut statement = UpdateStatement {
            with,
            low_priority,
            ignore,
            tables,
            assignments,
            selection: None,
            order_by: Vec::new(),
            limit: None,
        };
        if self.eat(Kw::WHERE) {
            statement.selection = Some(self.expr()?);
        }
        // Of several tables the binder refuses these: error 1221.
        (statement.order_by, statement.limit) = self.single_table_tail()?;
        Ok(Statement::Update(Box::new(statement)))
    }

    /// `[ORDER BY ...] [LIMIT n]` of a change to one table.
    fn single_table_tail(&mut self) -> Result<(Vec<sqlparser::ast::OrderByExpr>, Option<Expr>)> {
        let order_by = match self.at(Kw::ORDER) {
            true => self.order_by_list()?,
            false => Vec::new(),
        };
        let limit = match self.eat(Kw::LIMIT) {
            true => Some(self.limit_number()?),
            false => None,
        };
        Ok((order_by, limit))
    }

    /// `DELETE`, whose verb is next, in its three forms.
    pub(crate) fn delete(&mut self, with: Option<With>) -> Result<Statement> {
        self.expect(Kw::DELETE)?;
        self.hints();
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        while let Some(word) = self.eat_any(&[Kw::LOW_PRIORITY, Kw::QUICK, Kw::IGNORE]) {
            match word {
                Kw::LOW_PRIORITY => low_priority = true,
                Kw::QUICK => quick = true,
                _ => ignore = true,
            }
        }
        let mut statement = Delete {
            with,
            low_priority,
            quick,
            ignore,
            targets: Vec::new(),
            from: Vec::new(),
            selection: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        let mut single = false;
        let mut returning = false;
        if !self.eat(Kw::FROM) {
            statement.targets = self.comma_list(Self::delete_target)?;
            self.expect(Kw::FROM)?;
            statement.from = self.table_references()?;
        } else {
            // `DELETE FROM a` and `DELETE FROM a, b USING ...` part at the word behind the names.
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
                let mut relation = self.table_factor()?;
                returning = self.is_clause(&mut relation);
                let joined = match &relation {
                    TableFactor::Table { index_hints, .. } => !index_hints.is_empty(),
                    _ => true,
                };
                if joined {
                    return self.fail();
                }
                let joins = Vec::new();
                statement
                    .from
                    .push(sqlparser::ast::TableWithJoins { relation, joins });
            }
        }
        if self.eat(Kw::WHERE) {
            statement.selection = Some(self.expr()?);
        }
        if single {
            (statement.order_by, statement.limit) = self.single_table_tail()?;
            if returning || self.eat(Kw::RETURNING) {
                statement.returning = self.select_items()?;
            }
        }
        Ok(Statement::Delete(Box::new(statement)))
    }

    /// Whether what looks like a table's alias begins the clause RETURNING, which is no reserved
    /// word; it is the alias no more then.
    fn is_clause(&self, relation: &mut TableFactor) -> bool {
        let TableFactor::Table { alias, .. } = relation else {
            return false;
        };
        let named = alias.as_ref().is_some_and(|alias| {
            alias.name.quote_style.is_none() && alias.name.value.eq_ignore_ascii_case("returning")
        });
        let ends = self.at_kind(Kind::End)
            || [Kw::WHERE, Kw::ORDER, Kw::LIMIT]
                .into_iter()
                .any(|word| self.at(word));
        if named && !ends {
            *alias = None;
        }
        named && !ends
    }

    /// A table whose rows go: `a`, `db.a`, `a.*`.
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
        let exprs = self.select_items()?;
        let mut values = Vec::with_capacity(exprs.len());
        for item in exprs {
            match item {
                sqlparser::ast::SelectItem::UnnamedExpr(expr)
                | sqlparser::ast::SelectItem::ExprWithAlias { expr, .. } => values.push(expr),
                _ => return self.fail_at_previous(),
            }
        }
        Ok(Statement::Do(values))
    }
}

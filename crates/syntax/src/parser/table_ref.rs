//! The `FROM` clause: tables, derived tables, joins, table functions, names of files.
//!
//! A join without a condition followed by further joins could lean either way; as in MySQL, a
//! following `ON` belongs to the nearest open join, and joins that stay without a condition lean
//! to the left: `a JOIN b JOIN c ON x` is `(a JOIN b) JOIN c ON x`.

use crate::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, JsonTableColumn, JsonTableColumnErrorHandling,
    JsonTableNamedColumn, ObjectName, Query, TableAlias, TableFactor, TableFunctionArgument,
    TableFunctionCall, TableIndexHintForClause, TableIndexHintType, TableIndexHints,
    TableWithJoins,
};

use super::build;
use super::cursor::{Parser, Result};
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Content of a parenthesis in a `FROM` clause.
enum Parenthesised {
    Query(Box<Query>),
    Tables(TableFactor),
}

impl Parser<'_> {
    /// `FROM ...`; `FROM DUAL` is no table.
    pub(crate) fn from_clause(&mut self) -> Result<Vec<TableWithJoins>> {
        if !self.eat(Kw::FROM) || self.eat(Kw::DUAL) {
            return Ok(Vec::new());
        }
        self.table_references()
    }

    /// `a JOIN b ..., c, ...`.
    pub(crate) fn table_references(&mut self) -> Result<Vec<TableWithJoins>> {
        self.comma_list(Self::table_reference)
    }

    /// A table with everything joined to it.
    pub(crate) fn table_reference(&mut self) -> Result<TableWithJoins> {
        self.nested(1, |parser| {
            let relation = parser.table_factor()?;
            parser.joins(relation)
        })
    }

    /// The joins behind a table.
    fn joins(&mut self, relation: TableFactor) -> Result<TableWithJoins> {
        let mut tree = TableWithJoins {
            relation,
            joins: Vec::new(),
        };
        loop {
            match self.keyword() {
                Kw::JOIN | Kw::INNER | Kw::CROSS | Kw::STRAIGHT_JOIN => self.inner(&mut tree)?,
                Kw::LEFT | Kw::RIGHT => self.outer(&mut tree)?,
                Kw::NATURAL => self.natural(&mut tree)?,
                _ => return Ok(tree),
            }
        }
    }

    fn inner(&mut self, tree: &mut TableWithJoins) -> Result<()> {
        let word = self.take().keyword;
        let straight = word == Kw::STRAIGHT_JOIN;
        if matches!(word, Kw::INNER | Kw::CROSS) {
            self.expect(Kw::JOIN)?;
        }
        let operator = if straight {
            JoinOperator::StraightJoin
        } else {
            JoinOperator::Inner
        };
        let right = self.table_reference()?;
        match self.join_condition(!straight)? {
            JoinConstraint::None => {
                // The right side was parsed first; the join still leans to the left.
                let join = join(right.relation, operator(JoinConstraint::None));
                tree.joins.push(join);
                tree.joins.extend(right.joins);
            }
            constraint => tree.joins.push(join_tables(right, operator(constraint))),
        }
        Ok(())
    }

    fn outer(&mut self, tree: &mut TableWithJoins) -> Result<()> {
        let left = self.take().keyword == Kw::LEFT;
        self.eat(Kw::OUTER);
        self.expect(Kw::JOIN)?;
        let right = self.table_reference()?;
        let operator = match self.join_condition(true)? {
            JoinConstraint::None => return self.fail(),
            constraint if left => JoinOperator::Left(constraint),
            constraint => JoinOperator::Right(constraint),
        };
        tree.joins.push(join_tables(right, operator));
        Ok(())
    }

    fn natural(&mut self, tree: &mut TableWithJoins) -> Result<()> {
        self.take();
        let kind = self.eat_any(&kw![LEFT RIGHT INNER]);
        let operator = match kind {
            Some(Kw::LEFT) => JoinOperator::Left,
            Some(Kw::RIGHT) => JoinOperator::Right,
            _ => JoinOperator::Inner,
        };
        if matches!(kind, Some(Kw::LEFT | Kw::RIGHT)) {
            self.eat(Kw::OUTER);
        }
        self.expect(Kw::JOIN)?;
        let relation = self.table_factor()?;
        tree.joins
            .push(join(relation, operator(JoinConstraint::Natural)));
        Ok(())
    }

    /// `ON condition` or `USING (columns)`, if it is next.
    fn join_condition(&mut self, may_use: bool) -> Result<JoinConstraint> {
        if self.eat(Kw::ON) {
            return Ok(JoinConstraint::On(self.condition()?));
        }
        if may_use && self.eat(Kw::USING) {
            let columns = self.paren_list(Self::ident)?;
            return Ok(JoinConstraint::Using(columns));
        }
        Ok(JoinConstraint::None)
    }

    /// One operand of a join.
    pub(crate) fn table_factor(&mut self) -> Result<TableFactor> {
        match self.kind() {
            Kind::LeftParen => match self.parenthesised()? {
                Parenthesised::Tables(tables) => Ok(tables),
                Parenthesised::Query(query) => self.derived(query, false),
            },
            Kind::LeftBrace => {
                self.take();
                self.expect(Kw::OJ)?;
                let tables = self.table_reference()?;
                self.expect_kind(Kind::RightBrace)?;
                Ok(nested(tables))
            }
            Kind::Word if self.at(Kw::LATERAL) => {
                self.take();
                self.expect_kind(Kind::LeftParen)?;
                let query = self.query_in_parens()?;
                self.derived(query, true)
            }
            Kind::Word if self.at(Kw::JSON_TABLE) => self.json_table(),
            _ => match self.table_function_call()? {
                Some(call) => self.function_table(call),
                None => self.base_table(),
            },
        }
    }

    /// A derived table behind its query. The binder reports a missing alias, error 1248.
    fn derived(&mut self, subquery: Box<Query>, lateral: bool) -> Result<TableFactor> {
        let mut alias = self.table_alias()?;
        if let Some(alias) = &mut alias {
            alias.columns = self.alias_columns()?;
        }
        Ok(TableFactor::Derived {
            lateral,
            subquery,
            alias,
        })
    }

    /// `(query)` or `(tables)`, which only their content distinguishes.
    fn parenthesised(&mut self) -> Result<Parenthesised> {
        self.nested(1, |parser| {
            parser.expect_kind(Kind::LeftParen)?;
            if parser.at_query() {
                return Ok(Parenthesised::Query(parser.query_in_parens()?));
            }
            if !parser.at_kind(Kind::LeftParen) {
                let first = parser.table_reference()?;
                return parser.close_tables(first);
            }
            match parser.parenthesised()? {
                Parenthesised::Tables(factor) => {
                    let first = parser.joins(factor)?;
                    parser.close_tables(first)
                }
                Parenthesised::Query(query) if parser.goes_on_as_query() => {
                    let query = parser.continue_query_in_parens(query)?;
                    Ok(Parenthesised::Query(query))
                }
                Parenthesised::Query(query) => {
                    let factor = parser.derived(query, false)?;
                    let first = parser.joins(factor)?;
                    parser.close_tables(first)
                }
            }
        })
    }

    /// Whether what follows a parenthesised query makes it part of a larger one.
    fn goes_on_as_query(&self) -> bool {
        self.at_kind(Kind::RightParen) || self.at_any(&kw![UNION EXCEPT INTERSECT ORDER LIMIT FOR])
    }

    /// Further tables behind commas, and the closing parenthesis.
    fn close_tables(&mut self, first: TableWithJoins) -> Result<Parenthesised> {
        let mut tree = first;
        while self.eat_kind(Kind::Comma) {
            let operator = JoinOperator::Inner(JoinConstraint::None);
            tree.joins
                .push(join_tables(self.table_reference()?, operator));
        }
        self.expect_kind(Kind::RightParen)?;
        Ok(Parenthesised::Tables(nested(tree)))
    }

    /// A table by its name, with partitions, alias and index hints.
    fn base_table(&mut self) -> Result<TableFactor> {
        self.eat_kind(Kind::Dot);
        let mut name = vec![self.ident()?];
        if self.eat_kind(Kind::Dot) {
            name.push(self.ident()?);
        }
        let partitions = self.after(Kw::PARTITION, |parser| parser.paren_list(Self::ident))?;
        let alias = self.table_alias()?;
        let index_hints = self.index_hints()?;
        Ok(TableFactor::Table {
            name: ObjectName::from(name),
            alias,
            partitions: partitions.unwrap_or_default(),
            index_hints,
        })
    }

    /// A call of a table function or the name of a file, if one is next.
    pub(crate) fn table_function_call(&mut self) -> Result<Option<TableFunctionCall>> {
        if self.at_kind(Kind::String) {
            let argument = TableFunctionArgument {
                name: None,
                value: build::string(self.string()?),
            };
            return Ok(Some(TableFunctionCall {
                name: None,
                arguments: vec![argument],
            }));
        }
        if !self.at_identifier() || self.ahead(1).kind != Kind::LeftParen {
            return Ok(None);
        }
        Ok(Some(TableFunctionCall {
            name: Some(self.ident()?),
            arguments: self.paren_list_or_empty(Self::table_function_argument)?,
        }))
    }

    /// `value`, `name => value` or `name = value`.
    fn table_function_argument(&mut self) -> Result<TableFunctionArgument> {
        let is_named = self.at_identifier() && self.ahead(1).kind == Kind::Equal;
        let name = match is_named {
            true => {
                let name = self.ident()?;
                self.take();
                self.eat_kind(Kind::Greater);
                Some(name)
            }
            false => None,
        };
        let value = self.expr()?;
        Ok(TableFunctionArgument { name, value })
    }

    /// `[AS] alias [(columns)]` behind a call of a table function.
    fn function_table(&mut self, call: TableFunctionCall) -> Result<TableFactor> {
        let mut alias = self.table_alias()?;
        if let Some(alias) = &mut alias {
            alias.columns = self.alias_columns()?;
        }
        Ok(TableFactor::Function { call, alias })
    }

    /// `[AS] alias`.
    pub(crate) fn table_alias(&mut self) -> Result<Option<TableAlias>> {
        let explicit = self.eat(Kw::AS) || self.eat_kind(Kind::Equal);
        if !explicit && (!self.at_identifier() || self.begins_returning()) {
            return Ok(None);
        }
        let name = self.ident()?;
        Ok(Some(TableAlias {
            name,
            columns: Vec::new(),
        }))
    }

    fn index_hints(&mut self) -> Result<Vec<TableIndexHints>> {
        let mut hints = Vec::new();
        while let Some(word) = self.eat_any(&[Kw::USE, Kw::FORCE, Kw::IGNORE]) {
            let hint_type = match word {
                Kw::USE => TableIndexHintType::Use,
                Kw::FORCE => TableIndexHintType::Force,
                _ => TableIndexHintType::Ignore,
            };
            self.expect_any(&kw![INDEX KEY])?;
            let for_clause = self.after(Kw::FOR, Self::index_hint_purpose)?;
            let index_name = |parser: &mut Self| {
                if parser.eat(Kw::PRIMARY) {
                    return Ok(Ident::new("PRIMARY"));
                }
                parser.ident()
            };
            let index_names = match word {
                Kw::USE => self.paren_list_or_empty(index_name)?,
                _ => self.paren_list(index_name)?,
            };
            hints.push(TableIndexHints {
                hint_type,
                for_clause,
                index_names,
            });
        }
        Ok(hints)
    }

    fn index_hint_purpose(&mut self) -> Result<TableIndexHintForClause> {
        let purpose = match self.expect_any(&kw![JOIN ORDER GROUP])? {
            Kw::JOIN => return Ok(TableIndexHintForClause::Join),
            Kw::ORDER => TableIndexHintForClause::OrderBy,
            _ => TableIndexHintForClause::GroupBy,
        };
        self.expect(Kw::BY)?;
        Ok(purpose)
    }

    /// `JSON_TABLE(document, 'path' COLUMNS (...)) [AS] alias`.
    fn json_table(&mut self) -> Result<TableFactor> {
        self.take();
        self.expect_kind(Kind::LeftParen)?;
        let json_expr: Expr = self.expr()?;
        self.expect_kind(Kind::Comma)?;
        let json_path = self.string()?;
        let columns = self.json_columns()?;
        self.expect_kind(Kind::RightParen)?;
        let alias = self.table_alias()?;
        Ok(TableFactor::JsonTable {
            json_expr,
            json_path,
            columns,
            alias,
        })
    }

    fn json_columns(&mut self) -> Result<Vec<JsonTableColumn>> {
        self.expect(Kw::COLUMNS)?;
        self.nested(1, |parser| parser.paren_list(Self::json_column))
    }

    fn json_column(&mut self) -> Result<JsonTableColumn> {
        let nested = self.at(Kw::NESTED)
            && (self.ahead(1).keyword == Kw::PATH || self.ahead(1).kind == Kind::String);
        if nested {
            self.take();
            self.eat(Kw::PATH);
            return Ok(JsonTableColumn::Nested {
                path: self.string()?,
                columns: self.json_columns()?,
            });
        }
        let name = self.ident()?;
        if self.eat(Kw::FOR) {
            self.expect(Kw::ORDINALITY)?;
            return Ok(JsonTableColumn::ForOrdinality(name));
        }
        let mut column_type = self.column_type()?;
        column_type.collation = self.after(Kw::COLLATE, Self::charset_name)?;
        let exists = self.eat(Kw::EXISTS);
        self.expect(Kw::PATH)?;
        let path = self.string()?;
        let (mut on_empty, mut on_error) = (None, None);
        while !exists && self.at_any(&kw![NULL ERROR DEFAULT]) {
            let response = match self.take().keyword {
                Kw::NULL => JsonTableColumnErrorHandling::Null,
                Kw::ERROR => JsonTableColumnErrorHandling::Error,
                _ => JsonTableColumnErrorHandling::Default(self.string()?),
            };
            self.expect(Kw::ON)?;
            match self.expect_any(&kw![EMPTY ERROR])? {
                Kw::EMPTY => on_empty = Some(response),
                _ => on_error = Some(response),
            }
        }
        Ok(JsonTableColumn::Named(JsonTableNamedColumn {
            name,
            column_type,
            path,
            exists,
            on_empty,
            on_error,
        }))
    }
}

fn nested(tables: TableWithJoins) -> TableFactor {
    TableFactor::NestedJoin {
        table_with_joins: Box::new(tables),
    }
}

fn join(relation: TableFactor, join_operator: JoinOperator) -> Join {
    Join {
        relation,
        join_operator,
    }
}

/// A join whose right side may itself be several tables.
fn join_tables(right: TableWithJoins, operator: JoinOperator) -> Join {
    let relation = if right.joins.is_empty() {
        right.relation
    } else {
        nested(right)
    };
    join(relation, operator)
}

impl Parser<'_> {
    /// An expression or the word `DEFAULT`.
    pub(crate) fn expr_or_default(&mut self) -> Result<Expr> {
        if self.at(Kw::DEFAULT) && self.ahead(1).kind != Kind::LeftParen {
            self.take();
            return Ok(build::bare_call(encodings::DEFAULT_FUNCTION));
        }
        self.expr()
    }
}

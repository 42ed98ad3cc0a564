//! Query expressions: `WITH`, set operations, `ORDER BY`, `LIMIT`, locking, and parentheses.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Expr, LimitClause, LockClause, LockType, NonBlock, Offset, OffsetRows, OrderBy,
    OrderByExpr, OrderByKind, OrderByOptions, OrderBySort, Parens, Query, SetExpr, SetOperator,
    SetQuantifier, Table, TableAlias, TableAliasColumnDef, Value, Values, With,
};

use super::build;
use super::cursor::{Parser, Result};
use super::depth::QUERY_WEIGHT;
use crate::chain;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// How tightly set operators bind: INTERSECT before UNION and EXCEPT.
const UNION_LEVEL: u8 = 1;
const INTERSECT_LEVEL: u8 = 2;

/// A set operator with the query behind it.
type SetStep = ((SetOperator, SetQuantifier), SetExpr);

impl Parser<'_> {
    /// Whether a query begins here, not counting parentheses.
    pub(crate) fn at_query(&self) -> bool {
        match self.keyword() {
            Kw::SELECT | Kw::WITH | Kw::TABLE => true,
            Kw::VALUES => self.ahead(1).keyword == Kw::ROW,
            _ => false,
        }
    }

    /// Whether a query begins here, perhaps behind parentheses.
    pub(crate) fn at_query_or_paren(&self) -> bool {
        self.at_kind(Kind::LeftParen) || self.at_query()
    }

    /// A query, parenthesised or not.
    pub(crate) fn query(&mut self) -> Result<Box<Query>> {
        self.nested(QUERY_WEIGHT, |parser| {
            parser.queries += 1;
            let with = parser.with()?;
            let body = parser.query_body(0)?;
            let query = parser.query_tail(with, body)?;
            parser.queries -= 1;
            Ok(query)
        })
    }

    /// A query behind its opening parenthesis, and the closing one.
    pub(crate) fn query_in_parens(&mut self) -> Result<Box<Query>> {
        // The query counts as inner even when the parenthesis begins the statement's own query:
        // there, `INTO` belongs behind the parenthesis.
        self.queries += 1;
        let query = self.query()?;
        self.queries -= 1;
        self.expect_kind(Kind::RightParen)?;
        Ok(query)
    }

    /// Goes on behind `((SELECT ...)`, whose outer parenthesis is still open: either it closes or
    /// the inner query is the first operand of a larger one.
    pub(crate) fn continue_query_in_parens(&mut self, first: Box<Query>) -> Result<Box<Query>> {
        if self.eat_kind(Kind::RightParen) {
            return Ok(first);
        }
        let query = self.nested(QUERY_WEIGHT, |parser| {
            parser.queries += 1;
            let body = parser.set_operations(Box::new(SetExpr::Query(first)), 0)?;
            let query = parser.query_tail(None, body)?;
            parser.queries -= 1;
            Ok(query)
        })?;
        self.expect_kind(Kind::RightParen)?;
        Ok(query)
    }

    fn with(&mut self) -> Result<Option<With>> {
        match self.at(Kw::WITH) {
            true => self.with_clause().map(Some),
            false => Ok(None),
        }
    }

    /// `WITH [RECURSIVE] name [(columns)] AS (query), ...`.
    pub(crate) fn with_clause(&mut self) -> Result<With> {
        self.expect(Kw::WITH)?;
        let recursive = self.eat(Kw::RECURSIVE);
        let cte_tables = self.comma_list(|parser| {
            let name = parser.ident()?;
            let columns = parser.alias_columns()?;
            parser.expect(Kw::AS)?;
            parser.expect_kind(Kind::LeftParen)?;
            let query = parser.query_in_parens()?;
            Ok(Cte {
                alias: TableAlias {
                    explicit: true,
                    name,
                    columns,
                    at: None,
                },
                query,
                from: None,
                materialized: None,
                closing_paren_token: AttachedToken::empty(),
            })
        })?;
        Ok(With {
            with_token: AttachedToken::empty(),
            recursive,
            cte_tables,
        })
    }

    /// `(a, b)` behind the name of a derived table, if it is next.
    pub(crate) fn alias_columns(&mut self) -> Result<Vec<TableAliasColumnDef>> {
        match self.at_kind(Kind::LeftParen) {
            true => self.paren_list(|parser| {
                Ok(TableAliasColumnDef {
                    name: parser.ident()?,
                    data_type: None,
                })
            }),
            false => Ok(Vec::new()),
        }
    }

    /// Boxed from the first: a [`SetExpr`] is as large as a statement, and each level would copy it.
    fn query_body(&mut self, minimum: u8) -> Result<Box<SetExpr>> {
        let left = self.query_primary()?;
        self.set_operations(left, minimum)
    }

    /// Set operators tighter than a level, behind their first operand.
    fn set_operations(&mut self, first: Box<SetExpr>, minimum: u8) -> Result<Box<SetExpr>> {
        let mut left = first;
        // The level of the operators that are gathered, and what they and their operands are.
        let mut gathered: Option<(u8, Vec<SetStep>)> = None;
        loop {
            let operator = match self.keyword() {
                Kw::UNION => Some((UNION_LEVEL, SetOperator::Union)),
                Kw::EXCEPT => Some((UNION_LEVEL, SetOperator::Except)),
                Kw::INTERSECT => Some((INTERSECT_LEVEL, SetOperator::Intersect)),
                _ => None,
            };
            let operator = operator.filter(|(level, _)| *level > minimum);
            let goes_on = matches!((&gathered, &operator), (Some((known, _)), Some((level, _))) if known == level);
            if !goes_on && let Some((_, steps)) = gathered.take() {
                // What follows another operator is combined with what that one gives.
                let is_all = |quantifier: SetQuantifier| quantifier == SetQuantifier::All;
                let changes = steps.windows(2).filter(|pair| {
                    let [((a, first), _), ((b, second), _)] = pair else {
                        return false;
                    };
                    a != b || is_all(*first) != is_all(*second)
                });
                let changes = u32::try_from(changes.count()).unwrap_or(u32::MAX / 2);
                self.raise(chain::levels(steps.len()).saturating_add(changes))?;
                *left = chain::join(*left, steps, &set_operation);
            }
            let Some((level, op)) = operator else {
                return Ok(left);
            };
            self.take();
            let set_quantifier = match self.eat_any(&[Kw::ALL, Kw::DISTINCT]) {
                Some(Kw::ALL) => SetQuantifier::All,
                Some(_) => SetQuantifier::Distinct,
                None => SetQuantifier::None,
            };
            let right = self.nested(1, |parser| parser.query_body(level))?;
            let steps = &mut gathered.get_or_insert((level, Vec::new())).1;
            steps.push(((op, set_quantifier), *right));
        }
    }

    fn query_primary(&mut self) -> Result<Box<SetExpr>> {
        Ok(Box::new(match self.keyword() {
            Kw::SELECT => SetExpr::Select(Box::new(self.select()?)),
            Kw::VALUES => self.values()?,
            Kw::TABLE => {
                self.take();
                let name = self.table_name()?;
                let (table_name, schema_name) = (Some(name.name), name.database);
                SetExpr::Table(Box::new(Table {
                    table_name,
                    schema_name,
                }))
            }
            _ => {
                self.expect_kind(Kind::LeftParen)?;
                SetExpr::Query(self.query_in_parens()?)
            }
        }))
    }

    /// `VALUES ROW(1, 2), ROW(3, 4)`.
    fn values(&mut self) -> Result<SetExpr> {
        self.expect(Kw::VALUES)?;
        let rows = self.comma_list(|parser| {
            parser.expect(Kw::ROW)?;
            parser.expect_kind(Kind::LeftParen)?;
            let content = match parser.at_kind(Kind::RightParen) {
                true => Vec::new(),
                false => parser.comma_list(Self::expr_or_default)?,
            };
            parser.expect_kind(Kind::RightParen)?;
            Ok(Parens {
                opening_token: AttachedToken::empty(),
                content,
                closing_token: AttachedToken::empty(),
            })
        })?;
        Ok(SetExpr::Values(Values {
            explicit_row: true,
            value_keyword: false,
            rows,
        }))
    }

    /// What follows the body of a query.
    fn query_tail(&mut self, with: Option<With>, body: Box<SetExpr>) -> Result<Box<Query>> {
        let order_by = match self.at(Kw::ORDER) {
            true => {
                let kind = OrderByKind::Expressions(self.order_by_list()?);
                Some(OrderBy {
                    kind,
                    interpolate: None,
                })
            }
            false => None,
        };
        let limit_clause = self.limit_clause()?;
        let mut locks = Vec::new();
        loop {
            match self.keyword() {
                Kw::FOR => self.lock_clause(&mut locks)?,
                Kw::LOCK => {
                    self.take();
                    self.expect_all(&[Kw::IN, Kw::SHARE, Kw::MODE])?;
                    let lock_type = LockType::Share;
                    locks.push(LockClause {
                        lock_type,
                        of: None,
                        nonblock: None,
                    });
                }
                Kw::INTO => self.into_clause()?,
                _ => break,
            }
        }
        // Parentheses that add nothing leave no trace.
        let plain = with.is_none() && order_by.is_none() && limit_clause.is_none();
        if plain && locks.is_empty() && matches!(*body, SetExpr::Query(_)) {
            let SetExpr::Query(inner) = *body else {
                unreachable!("a query in parentheses")
            };
            return Ok(inner);
        }
        Ok(Box::new(Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch: None,
            locks,
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators: Vec::new(),
        }))
    }

    /// `ORDER BY a [ASC | DESC], ...`.
    pub(crate) fn order_by_list(&mut self) -> Result<Vec<OrderByExpr>> {
        self.expect(Kw::ORDER)?;
        self.expect(Kw::BY)?;
        self.comma_list(|parser| {
            let expr = parser.expr()?;
            let sort = match parser.eat_any(&[Kw::ASC, Kw::DESC]) {
                Some(Kw::ASC) => Some(OrderBySort::Asc),
                Some(_) => Some(OrderBySort::Desc),
                None => None,
            };
            let options = OrderByOptions {
                sort,
                nulls_first: None,
            };
            Ok(OrderByExpr {
                expr,
                options,
                with_fill: None,
            })
        })
    }

    /// `LIMIT n`, `LIMIT n OFFSET m` and `LIMIT m, n`, all as the second.
    pub(crate) fn limit_clause(&mut self) -> Result<Option<LimitClause>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_number()?;
        let offset = |value| {
            Some(Offset {
                value,
                rows: OffsetRows::None,
            })
        };
        let (limit, offset) = if self.eat_kind(Kind::Comma) {
            (self.limit_number()?, offset(first))
        } else if self.eat(Kw::OFFSET) {
            (first, offset(self.limit_number()?))
        } else {
            (first, None)
        };
        Ok(Some(LimitClause::LimitOffset {
            limit: Some(limit),
            offset,
            limit_by: Vec::new(),
        }))
    }

    /// A number of rows: an unsigned integer or a parameter.
    pub(crate) fn limit_number(&mut self) -> Result<Expr> {
        match self.kind() {
            Kind::Parameter => self.prefix(),
            Kind::Integer | Kind::Hex => {
                let number = self.unsigned()?;
                Ok(build::value(Value::Number(number.to_string(), false)))
            }
            _ => self.fail(),
        }
    }

    /// `FOR UPDATE | SHARE [OF tables] [NOWAIT | SKIP LOCKED]`: one clause for each table.
    fn lock_clause(&mut self, locks: &mut Vec<LockClause>) -> Result<()> {
        self.take();
        let lock_type = match self.eat_any(&[Kw::UPDATE, Kw::SHARE]) {
            Some(Kw::UPDATE) => LockType::Update,
            Some(_) => LockType::Share,
            None => return self.fail(),
        };
        let tables = match self.eat(Kw::OF) {
            true => self.comma_list(Self::table_name)?,
            false => Vec::new(),
        };
        let nonblock = if self.eat(Kw::NOWAIT) {
            Some(NonBlock::Nowait)
        } else if self.eat(Kw::SKIP) {
            self.expect(Kw::LOCKED)?;
            Some(NonBlock::SkipLocked)
        } else {
            None
        };
        if tables.is_empty() {
            locks.push(LockClause {
                lock_type,
                of: None,
                nonblock,
            });
            return Ok(());
        }
        locks.extend(tables.iter().map(|table| LockClause {
            lock_type,
            of: Some(table.to_object_name()),
            nonblock,
        }));
        Ok(())
    }

    /// An `INTO` clause, of which the statement may have one, in its outermost query.
    pub(crate) fn into_clause(&mut self) -> Result<()> {
        if self.queries > 1 || self.into.is_some() {
            return self.fail();
        }
        self.take();
        self.into = Some(self.into_target()?);
        Ok(())
    }
}

fn set_operation(
    left: SetExpr,
    (op, set_quantifier): (SetOperator, SetQuantifier),
    right: SetExpr,
) -> SetExpr {
    SetExpr::SetOperation {
        op,
        set_quantifier,
        left: Box::new(left),
        right: Box::new(right),
    }
}

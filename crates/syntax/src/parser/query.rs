//! Query expressions: `WITH`, set operations, `ORDER BY`, `LIMIT`, locking, and parentheses.

use crate::ast::{
    Cte, Expr, Ident, LimitClause, LockClause, LockType, NonBlock, OrderByExpr, OrderBySort, Query,
    SetExpr, SetOperator, SetQuantifier, TableAlias, With,
};

use super::build;
use super::cursor::{Parser, Result};
use super::depth::QUERY_WEIGHT;
use super::with::TablesRead;
use crate::chain;
use crate::keywords::{Kw, kw};
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
            Kw::VALUES => self.ahead(1).keyword == Kw::ROW || self.at_plain_rows(),
            _ => false,
        }
    }

    /// Whether MariaDB's `VALUES (1), (2)` begins here, and not the function VALUES(column).
    fn at_plain_rows(&self) -> bool {
        let is_column = self.is_identifier(self.ahead(2))
            && matches!(self.ahead(3).kind, Kind::RightParen | Kind::Dot);
        self.ahead(1).kind == Kind::LeftParen && !is_column
    }

    /// Whether a query begins here, perhaps behind parentheses.
    pub(crate) fn at_query_or_paren(&self) -> bool {
        self.at_kind(Kind::LeftParen) || self.at_query()
    }

    /// A query, parenthesised or not.
    pub(crate) fn query(&mut self) -> Result<Box<Query>> {
        self.nested(QUERY_WEIGHT, |parser| {
            parser.queries += 1;
            let has_with = parser.at(Kw::WITH);
            let with = has_with.then(|| parser.with_clause()).transpose()?;
            let body = parser.query_body(0)?;
            let mut query = parser.query_tail(with, body)?;
            if has_with && let Some(with) = query.with.take() {
                query.with = TablesRead::default().of(&*query).without_others(with);
            }
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

    /// Parses the rest behind `((SELECT ...)`, whose outer parenthesis is still open: either it closes or the inner
    /// query is the first operand of a larger one.
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

    /// `WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ...`.
    pub(crate) fn with_clause(&mut self) -> Result<With> {
        self.expect(Kw::WITH)?;
        let recursive = self.eat(Kw::RECURSIVE);
        let cte_tables = self.comma_list(|parser| {
            let name = parser.ident()?;
            let columns = parser.alias_columns()?;
            parser.expect(Kw::AS)?;
            let materialized = parser.materialized()?;
            parser.expect_kind(Kind::LeftParen)?;
            let query = parser.query_in_parens()?;
            Ok(Cte {
                alias: TableAlias { name, columns },
                materialized,
                query,
            })
        })?;
        Ok(With {
            recursive,
            cte_tables,
        })
    }

    /// `[NOT] MATERIALIZED` of a common table expression, as in PostgreSQL.
    fn materialized(&mut self) -> Result<Option<bool>> {
        let is_not = self.eat(Kw::NOT);
        if self.is_word(0, "MATERIALIZED") {
            self.take();
            return Ok(Some(!is_not));
        }
        if is_not { self.fail() } else { Ok(None) }
    }

    /// `(a, b)` behind the name of a derived table, if it is next.
    pub(crate) fn alias_columns(&mut self) -> Result<Vec<Ident>> {
        self.optional_paren_list(Self::ident)
    }

    /// Parses a query body. Boxed from the start: a [`SetExpr`] is as large as a statement, and each level would copy
    /// it.
    fn query_body(&mut self, minimum: u8) -> Result<Box<SetExpr>> {
        let left = self.query_primary()?;
        self.set_operations(left, minimum)
    }

    /// Parses set operators above a level, behind their first operand.
    fn set_operations(&mut self, first: Box<SetExpr>, minimum: u8) -> Result<Box<SetExpr>> {
        let mut left = first;
        // The level of the operators gathered so far, with the operators and their operands.
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
                // Operators behind another operator combine with its result.
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
                SetExpr::Table(self.table_name()?)
            }
            _ => {
                self.expect_kind(Kind::LeftParen)?;
                SetExpr::Query(self.query_in_parens()?)
            }
        }))
    }

    /// `VALUES ROW(1, 2), ROW(3, 4)`; MariaDB leaves out ROW.
    fn values(&mut self) -> Result<SetExpr> {
        self.expect(Kw::VALUES)?;
        let is_plain = self.at_kind(Kind::LeftParen);
        let rows = self.comma_list(|parser| {
            if is_plain {
                return parser.paren_list(Self::expr);
            }
            parser.expect(Kw::ROW)?;
            parser.paren_list_or_empty(Self::expr_or_default)
        })?;
        Ok(SetExpr::Values(rows))
    }

    /// What follows the body of a query.
    fn query_tail(&mut self, with: Option<With>, body: Box<SetExpr>) -> Result<Box<Query>> {
        let order_by = self.order_by()?;
        let limit_clause = self.limit_clause()?;
        let mut locks = Vec::new();
        loop {
            match self.keyword() {
                Kw::FOR => self.lock_clause(&mut locks)?,
                Kw::LOCK => {
                    self.expect_all(&kw![LOCK IN SHARE MODE])?;
                    locks.push(LockClause {
                        lock_type: LockType::Share,
                        of: None,
                        nonblock: None,
                    });
                }
                Kw::INTO => self.into_clause()?,
                _ => break,
            }
        }
        // Redundant parentheses leave no trace.
        let plain = with.is_none() && order_by.is_empty() && limit_clause.is_none();
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
            locks,
        }))
    }

    /// The keys of `ORDER BY`, if it is next.
    pub(crate) fn order_by(&mut self) -> Result<Vec<OrderByExpr>> {
        if !self.at(Kw::ORDER) {
            return Ok(Vec::new());
        }
        self.order_by_list()
    }

    /// `ORDER BY a [ASC | DESC], ...`.
    pub(crate) fn order_by_list(&mut self) -> Result<Vec<OrderByExpr>> {
        self.expect_all(&kw![ORDER BY])?;
        self.comma_list(|parser| {
            let expr = parser.condition()?;
            let sort = parser.eat_any(&kw![ASC DESC]).map(|word| match word {
                Kw::ASC => OrderBySort::Asc,
                _ => OrderBySort::Desc,
            });
            Ok(OrderByExpr { expr, sort })
        })
    }

    /// `LIMIT n`, `LIMIT n OFFSET m` and `LIMIT m, n`, all as the second.
    pub(crate) fn limit_clause(&mut self) -> Result<Option<LimitClause>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_number()?;
        let (limit, offset) = if self.eat_kind(Kind::Comma) {
            (self.limit_number()?, Some(first))
        } else {
            (first, self.after(Kw::OFFSET, Self::limit_number)?)
        };
        Ok(Some(LimitClause { limit, offset }))
    }

    /// A number of rows: an unsigned integer or a parameter.
    pub(crate) fn limit_number(&mut self) -> Result<Expr> {
        match self.kind() {
            Kind::Parameter => self.prefix(),
            Kind::Integer => self.unsigned().map(build::number),
            _ if self.in_program && self.at_identifier() => self.ident().map(Expr::Identifier),
            _ => self.fail(),
        }
    }

    /// `FOR UPDATE | SHARE [OF tables] [NOWAIT | SKIP LOCKED]`: one clause for each table.
    fn lock_clause(&mut self, locks: &mut Vec<LockClause>) -> Result<()> {
        self.take();
        let lock_type = match self.expect_any(&kw![UPDATE SHARE])? {
            Kw::UPDATE => LockType::Update,
            _ => LockType::Share,
        };
        let tables = self.list_after(Kw::OF, Self::table_name)?;
        let nonblock = if self.eat(Kw::NOWAIT) {
            Some(NonBlock::Nowait)
        } else {
            let skips = self.eat_phrase(&kw![SKIP LOCKED])?;
            skips.then_some(NonBlock::SkipLocked)
        };
        let lock = |of| LockClause {
            lock_type,
            of,
            nonblock,
        };
        if tables.is_empty() {
            locks.push(lock(None));
        }
        locks.extend(
            tables
                .iter()
                .map(|table| lock(Some(table.to_object_name()))),
        );
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

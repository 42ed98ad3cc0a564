//! Operators, by precedence climbing.
//!
//! The levels follow MySQL's grammar rather than the table in the manual, which simplifies it:
//! `IN`, `BETWEEN`, `LIKE` and `REGEXP` (predicates) bind tighter than comparisons, `IS NULL` binds
//! like a comparison and `IS TRUE` looser, and no predicate has another as its left operand.
//!
//! Two bounds steer the loop: an operator is taken only if its level is above `minimum` (what the
//! caller reads itself) and not above `ceiling` (what may follow what has been read so far:
//! nothing tighter than a comparison may follow a predicate).

use crate::ast::{BinaryOperator, Expr, UnaryOperator};

use super::build;
use super::cursor::{Parser, Result};
use super::precedence;
use crate::chain;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Effect of an operator token.
enum Infix {
    /// An ordinary binary operator.
    Binary(BinaryOperator),
    /// A comparison, perhaps with `ANY` or `ALL`.
    Comparison(BinaryOperator),
    /// `AND` or `OR`, gathered into chains.
    Chain(BinaryOperator),
    /// `+` or `-`, perhaps with an interval.
    Sum(BinaryOperator),
    IsNull,
    IsTruth,
    Predicate,
    Collate,
}

impl Parser<'_> {
    /// Any expression.
    pub(crate) fn expr(&mut self) -> Result<Expr> {
        self.expr_above(precedence::LOWEST)
    }

    /// An expression that filters, joins, groups or orders rows.
    pub(crate) fn condition(&mut self) -> Result<Expr> {
        self.conditions += 1;
        let expr = self.expr()?;
        self.conditions -= 1;
        Ok(expr)
    }

    /// MySQL's `bit_expr`: operators tighter than predicates.
    pub(crate) fn bit_expr(&mut self) -> Result<Expr> {
        self.expr_above(precedence::PREDICATE)
    }

    /// MySQL's `simple_expr`: unary operators, `COLLATE`, and `||` where it joins strings.
    pub(crate) fn simple_expr(&mut self) -> Result<Expr> {
        self.expr_above(precedence::BIT_XOR)
    }

    /// An expression of operators that bind tighter than a level.
    pub(crate) fn expr_above(&mut self, minimum: u8) -> Result<Expr> {
        self.nested(1, |parser| {
            if parser.at(Kw::NOT) && !parser.options.high_not_precedence {
                if minimum > precedence::NOT {
                    return parser.fail();
                }
                parser.take();
                let operand = parser.expr_above(precedence::NOT)?;
                let not = Expr::UnaryOp {
                    op: UnaryOperator::Not,
                    expr: Box::new(operand),
                };
                return parser.infix(not, minimum, precedence::AND);
            }
            let left = parser.prefix()?;
            parser.infix(left, minimum, precedence::HIGHEST)
        })
    }

    /// Parses the operators behind an operand.
    pub(crate) fn infix(&mut self, left: Expr, minimum: u8, ceiling: u8) -> Result<Expr> {
        let mut left = left;
        let mut ceiling = ceiling;
        while let Some((level, infix)) = self.infix_operator() {
            if level <= minimum || level > ceiling {
                break;
            }
            ceiling = level;
            left = match infix {
                Infix::Binary(_) | Infix::Sum(_) => {
                    let (steps, may_follow) = self.steps(left, level)?;
                    ceiling = may_follow;
                    steps
                }
                Infix::Comparison(op) => {
                    self.take();
                    self.comparison(left, op)?
                }
                Infix::Chain(op) => self.chain(left, op, level)?,
                Infix::IsNull => self.is_test(left)?,
                Infix::IsTruth => {
                    ceiling = precedence::AND;
                    self.is_test(left)?
                }
                Infix::Predicate => {
                    ceiling = precedence::COMPARISON;
                    self.predicate(left)?
                }
                Infix::Collate => {
                    self.take();
                    let collation = self.charset_name()?;
                    build::collate(left, collation)
                }
            };
            self.raise(1)?;
        }
        Ok(left)
    }

    /// The binary operator that the next token is, with its level; `None` if it is none.
    fn infix_operator(&self) -> Option<(u8, Infix)> {
        let next = self.next();
        let binary = |level, op| Some((level, Infix::Binary(op)));
        let sum = |op| Some((precedence::SUM, Infix::Sum(op)));
        let chain = |level, op| Some((level, Infix::Chain(op)));
        let comparison = |op| Some((precedence::COMPARISON, Infix::Comparison(op)));
        match next.kind {
            Kind::Word => self.word_operator(next.keyword),
            Kind::Equal => comparison(BinaryOperator::Eq),
            Kind::NullSafeEqual => comparison(BinaryOperator::Spaceship),
            Kind::NotEqual => comparison(BinaryOperator::NotEq),
            Kind::Less => comparison(BinaryOperator::Lt),
            Kind::LessEqual => comparison(BinaryOperator::LtEq),
            Kind::Greater => comparison(BinaryOperator::Gt),
            Kind::GreaterEqual => comparison(BinaryOperator::GtEq),
            Kind::Plus => sum(BinaryOperator::Plus),
            Kind::Minus => sum(BinaryOperator::Minus),
            Kind::Star => binary(precedence::PRODUCT, BinaryOperator::Multiply),
            Kind::Slash => binary(precedence::PRODUCT, BinaryOperator::Divide),
            Kind::Percent => binary(precedence::PRODUCT, BinaryOperator::Modulo),
            Kind::Pipe => binary(precedence::BIT_OR, BinaryOperator::BitwiseOr),
            Kind::Ampersand => binary(precedence::BIT_AND, BinaryOperator::BitwiseAnd),
            Kind::Caret => binary(precedence::BIT_XOR, BinaryOperator::BitwiseXor),
            Kind::ShiftLeft => binary(precedence::SHIFT, BinaryOperator::ShiftLeft),
            Kind::ShiftRight => binary(precedence::SHIFT, BinaryOperator::ShiftRight),
            Kind::OrOr if self.options.pipes_as_concat => {
                binary(precedence::CONCAT, BinaryOperator::StringConcat)
            }
            Kind::OrOr => chain(precedence::OR, BinaryOperator::Or),
            Kind::AndAnd => chain(precedence::AND, BinaryOperator::And),
            _ => None,
        }
    }

    fn word_operator(&self, keyword: Kw) -> Option<(u8, Infix)> {
        let predicate = Some((precedence::PREDICATE, Infix::Predicate));
        let binary = |level, op| Some((level, Infix::Binary(op)));
        let chain = |level, op| Some((level, Infix::Chain(op)));
        match keyword {
            Kw::AND => chain(precedence::AND, BinaryOperator::And),
            Kw::OR => chain(precedence::OR, BinaryOperator::Or),
            Kw::XOR => binary(precedence::XOR, BinaryOperator::Xor),
            Kw::DIV => binary(precedence::PRODUCT, BinaryOperator::IntegerDivide),
            Kw::MOD => binary(precedence::PRODUCT, BinaryOperator::Modulo),
            Kw::COLLATE => Some((precedence::COLLATE, Infix::Collate)),
            Kw::IN | Kw::BETWEEN | Kw::LIKE | Kw::REGEXP | Kw::RLIKE | Kw::NOT => predicate,
            Kw::MEMBER if self.ahead(1).keyword == Kw::OF => predicate,
            Kw::MEMBER if self.ahead(1).kind == Kind::LeftParen => predicate,
            Kw::SOUNDS if self.ahead(1).keyword == Kw::LIKE => predicate,
            Kw::IS => {
                let negated = usize::from(self.ahead(1).keyword == Kw::NOT);
                match self.ahead(1 + negated).keyword {
                    Kw::TRUE | Kw::FALSE | Kw::UNKNOWN => {
                        Some((precedence::IS_TRUTH, Infix::IsTruth))
                    }
                    _ => Some((precedence::COMPARISON, Infix::IsNull)),
                }
            }
            _ => None,
        }
    }

    /// The operators of one level behind their first operand, and the tightest level that may follow. Behind an
    /// interval that is any operator of `bit_expr`, with the whole sum as its operand: `d + INTERVAL 1 DAY * 2` is
    /// `(d + INTERVAL 1 DAY) * 2`.
    fn steps(&mut self, first: Expr, level: u8) -> Result<(Expr, u8)> {
        let mut steps = Vec::new();
        while let Some((own, infix)) = self.infix_operator() {
            if own != level {
                break;
            }
            match infix {
                Infix::Binary(op) => {
                    self.take();
                    steps.push((op, self.expr_above(level)?));
                }
                Infix::Sum(op) => {
                    self.take();
                    steps.push((op, self.summand()?));
                }
                _ => break,
            }
        }
        // The caller counts one level.
        self.raise(chain::levels(steps.len()).saturating_sub(1))?;
        let may_follow = match steps.last() {
            Some((_, Expr::Interval(_))) => precedence::BIT_XOR,
            _ => level,
        };
        Ok((chain::join(first, steps, &build::binary), may_follow))
    }

    /// Parses a chain of AND or of OR behind its first operand.
    fn chain(&mut self, first: Expr, op: BinaryOperator, level: u8) -> Result<Expr> {
        self.take();
        let second = self.expr_above(level)?;
        let goes_on = |parser: &Self| matches!(parser.infix_operator(), Some((_, Infix::Chain(next))) if next == op);
        let mut steps = vec![(op, second)];
        while goes_on(self) {
            self.take();
            steps.push((op, self.expr_above(level)?));
        }
        self.raise(chain::levels(steps.len()).saturating_sub(1))?;
        Ok(chain::join(first, steps, &build::binary))
    }

    /// Parses the right side of a comparison: a predicate, or `ANY | SOME | ALL (subquery)`.
    fn comparison(&mut self, left: Expr, compare_op: BinaryOperator) -> Result<Expr> {
        let quantified = self.at_any(&kw![ANY SOME ALL]) && self.ahead(1).kind == Kind::LeftParen;
        if !quantified {
            let right = self.expr_above(precedence::COMPARISON)?;
            return Ok(build::binary(left, compare_op, right));
        }
        let word = self.take().keyword;
        self.take();
        let right = Box::new(Expr::Subquery(self.query_in_parens()?));
        let left = Box::new(left);
        Ok(match word {
            Kw::ALL => Expr::AllOp {
                left,
                compare_op,
                right,
            },
            _ => Expr::AnyOp {
                left,
                compare_op,
                right,
            },
        })
    }

    /// The right operand of `+` or `-`: a product or an interval.
    fn summand(&mut self) -> Result<Expr> {
        if self.at(Kw::INTERVAL) {
            return self.nested(1, |parser| match parser.interval()? {
                super::interval::Form::Interval(interval) => Ok(interval),
                super::interval::Form::Function(call) => {
                    parser.infix(call, precedence::SUM, precedence::HIGHEST)
                }
            });
        }
        self.expr_above(precedence::SUM)
    }

    /// `IS [NOT] NULL | TRUE | FALSE | UNKNOWN`.
    fn is_test(&mut self, operand: Expr) -> Result<Expr> {
        self.take();
        let negated = self.eat(Kw::NOT);
        let operand = Box::new(operand);
        let tested = match (self.keyword(), negated) {
            (Kw::NULL, false) => Expr::IsNull(operand),
            (Kw::NULL, true) => Expr::IsNotNull(operand),
            (Kw::TRUE, false) => Expr::IsTrue(operand),
            (Kw::TRUE, true) => Expr::IsNotTrue(operand),
            (Kw::FALSE, false) => Expr::IsFalse(operand),
            (Kw::FALSE, true) => Expr::IsNotFalse(operand),
            (Kw::UNKNOWN, false) => Expr::IsUnknown(operand),
            (Kw::UNKNOWN, true) => Expr::IsNotUnknown(operand),
            _ => return self.fail(),
        };
        self.take();
        Ok(tested)
    }

    /// `IN`, `BETWEEN`, `LIKE`, `REGEXP`, `MEMBER OF` or `SOUNDS LIKE` behind its left operand.
    fn predicate(&mut self, left: Expr) -> Result<Expr> {
        let negated = self.eat(Kw::NOT);
        let word = self.take().keyword;
        let expr = Box::new(left);
        match word {
            Kw::IN => self.in_list(expr, negated),
            Kw::BETWEEN => {
                let low = Box::new(self.bit_expr()?);
                self.expect(Kw::AND)?;
                let high = Box::new(self.expr_above(precedence::COMPARISON)?);
                Ok(Expr::Between {
                    expr,
                    negated,
                    low,
                    high,
                })
            }
            Kw::LIKE => {
                let pattern = Box::new(self.simple_expr()?);
                let escape = self.after(Kw::ESCAPE, Self::simple_expr)?;
                Ok(Expr::Like {
                    negated,
                    expr,
                    pattern,
                    escape_char: escape.map(Box::new),
                })
            }
            Kw::REGEXP | Kw::RLIKE => {
                let pattern = Box::new(self.bit_expr()?);
                Ok(Expr::RLike {
                    negated,
                    expr,
                    pattern,
                })
            }
            Kw::MEMBER if !negated => {
                self.eat(Kw::OF);
                let array = Box::new(self.parens(Self::simple_expr)?);
                Ok(Expr::MemberOf { value: expr, array })
            }
            Kw::SOUNDS if !negated => {
                self.expect(Kw::LIKE)?;
                let soundex = |operand| build::call("SOUNDEX", vec![operand]);
                let (left, right) = (soundex(*expr), soundex(self.bit_expr()?));
                Ok(build::binary(left, BinaryOperator::Eq, right))
            }
            _ => self.fail_at_previous(),
        }
    }

    fn in_list(&mut self, expr: Box<Expr>, negated: bool) -> Result<Expr> {
        self.expect_kind(Kind::LeftParen)?;
        let subquery = if self.at_query() {
            self.query_in_parens()?
        } else {
            let mut list = self.comma_list(Self::expr)?;
            // `IN ((SELECT ...))` is a subquery in redundant parentheses; only here it is known not to continue as a
            // union.
            match list.pop() {
                Some(Expr::Subquery(query)) if list.is_empty() => {
                    self.continue_query_in_parens(query)?
                }
                last => {
                    list.extend(last);
                    self.expect_kind(Kind::RightParen)?;
                    return Ok(Expr::InList {
                        expr,
                        list,
                        negated,
                    });
                }
            }
        };
        Ok(Expr::InSubquery {
            expr,
            subquery,
            negated,
        })
    }
}

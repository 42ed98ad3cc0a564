//! Intervals and their units.

use sqlparser::ast::{DateTimeField, Expr, Ident, Interval};

use super::build;
use super::cursor::{Parser, Result};
use super::precedence;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// What the word `INTERVAL` began.
pub(crate) enum Form {
    /// `INTERVAL value unit`.
    Interval(Expr),
    /// `INTERVAL(n, n1, n2, ...)`, the index of a value among sorted ones.
    Function(Expr),
}

impl Parser<'_> {
    /// Either form of `INTERVAL`. Parentheses do not tell them apart before their first comma.
    pub(crate) fn interval(&mut self) -> Result<Form> {
        self.expect(Kw::INTERVAL)?;
        let value = if self.at_kind(Kind::LeftParen) {
            match self.paren()? {
                Expr::Tuple(args) => return Ok(Form::Function(build::call("INTERVAL", args))),
                first => self.infix(first, precedence::LOWEST, precedence::HIGHEST)?,
            }
        } else {
            self.expr()?
        };
        Ok(Form::Interval(Expr::Interval(Interval {
            value: Box::new(value),
            leading_field: Some(self.interval_unit()?),
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        })))
    }

    /// `INTERVAL value unit` where nothing else may stand.
    pub(crate) fn interval_only(&mut self) -> Result<Expr> {
        match self.interval()? {
            Form::Interval(interval) => Ok(interval),
            Form::Function(_) => self.fail(),
        }
    }

    /// A unit of intervals, `EXTRACT` and `TIMESTAMPDIFF`.
    pub(crate) fn interval_unit(&mut self) -> Result<DateTimeField> {
        let keyword = self.keyword();
        let unit = match keyword {
            Kw::MICROSECOND => DateTimeField::Microsecond,
            Kw::SECOND | Kw::SQL_TSI_SECOND => DateTimeField::Second,
            Kw::MINUTE | Kw::SQL_TSI_MINUTE => DateTimeField::Minute,
            Kw::HOUR | Kw::SQL_TSI_HOUR => DateTimeField::Hour,
            Kw::DAY | Kw::SQL_TSI_DAY => DateTimeField::Day,
            Kw::WEEK | Kw::SQL_TSI_WEEK => DateTimeField::Week(None),
            Kw::MONTH | Kw::SQL_TSI_MONTH => DateTimeField::Month,
            Kw::QUARTER | Kw::SQL_TSI_QUARTER => DateTimeField::Quarter,
            Kw::YEAR | Kw::SQL_TSI_YEAR => DateTimeField::Year,
            Kw::SECOND_MICROSECOND
            | Kw::MINUTE_MICROSECOND
            | Kw::MINUTE_SECOND
            | Kw::HOUR_MICROSECOND
            | Kw::HOUR_SECOND
            | Kw::HOUR_MINUTE
            | Kw::DAY_MICROSECOND
            | Kw::DAY_SECOND
            | Kw::DAY_MINUTE
            | Kw::DAY_HOUR
            | Kw::YEAR_MONTH => DateTimeField::Custom(Ident::new(keyword.spelling())),
            _ => return self.fail(),
        };
        self.take();
        Ok(unit)
    }
}

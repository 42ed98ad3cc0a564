//! Intervals and their units.

use crate::ast::{Expr, Interval, IntervalUnit};

use super::build;
use super::cursor::{Parser, Result};
use super::precedence;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// Construct that the word `INTERVAL` began.
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
            unit: self.interval_unit()?,
        })))
    }

    /// `INTERVAL value unit`, where the function is not allowed.
    pub(crate) fn interval_only(&mut self) -> Result<Expr> {
        match self.interval()? {
            Form::Interval(interval) => Ok(interval),
            Form::Function(_) => self.fail(),
        }
    }

    /// A unit of intervals, `EXTRACT` and `TIMESTAMPDIFF`.
    pub(crate) fn interval_unit(&mut self) -> Result<IntervalUnit> {
        let unit = match self.keyword() {
            Kw::MICROSECOND => IntervalUnit::Microsecond,
            Kw::SECOND | Kw::SQL_TSI_SECOND => IntervalUnit::Second,
            Kw::MINUTE | Kw::SQL_TSI_MINUTE => IntervalUnit::Minute,
            Kw::HOUR | Kw::SQL_TSI_HOUR => IntervalUnit::Hour,
            Kw::DAY | Kw::SQL_TSI_DAY => IntervalUnit::Day,
            Kw::WEEK | Kw::SQL_TSI_WEEK => IntervalUnit::Week,
            Kw::MONTH | Kw::SQL_TSI_MONTH => IntervalUnit::Month,
            Kw::QUARTER | Kw::SQL_TSI_QUARTER => IntervalUnit::Quarter,
            Kw::YEAR | Kw::SQL_TSI_YEAR => IntervalUnit::Year,
            Kw::SECOND_MICROSECOND => IntervalUnit::SecondMicrosecond,
            Kw::MINUTE_MICROSECOND => IntervalUnit::MinuteMicrosecond,
            Kw::MINUTE_SECOND => IntervalUnit::MinuteSecond,
            Kw::HOUR_MICROSECOND => IntervalUnit::HourMicrosecond,
            Kw::HOUR_SECOND => IntervalUnit::HourSecond,
            Kw::HOUR_MINUTE => IntervalUnit::HourMinute,
            Kw::DAY_MICROSECOND => IntervalUnit::DayMicrosecond,
            Kw::DAY_SECOND => IntervalUnit::DaySecond,
            Kw::DAY_MINUTE => IntervalUnit::DayMinute,
            Kw::DAY_HOUR => IntervalUnit::DayHour,
            Kw::YEAR_MONTH => IntervalUnit::YearMonth,
            _ => return self.fail(),
        };
        self.take();
        Ok(unit)
    }
}

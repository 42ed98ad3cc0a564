//! Window frames: the rows of a partition that a function reads, relative to the current row.

use mayfly_functions::scalar::{Fact, Volatility, is_distance};
use mayfly_syntax::ast::{Expr, Interval, WindowFrame, WindowFrameBound, WindowFrameUnits};
use mayfly_syntax::window_text::frame_text;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind};

use super::call::WholeNumber;
use crate::bind::binder::Binder;
use crate::bind::literal::word;
use crate::bind::types::{cast, cast_exactly};
use crate::not_supported::not_supported;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::visit_expression;
use crate::tree::physical::SortKey;
use crate::window::{Frame, FrameBound, ValueBound};

/// A bound in the syntax.
#[derive(Clone, Copy)]
enum Written<'w> {
    UnboundedPreceding,
    Preceding(&'w Expr),
    CurrentRow,
    Following(&'w Expr),
    UnboundedFollowing,
}

impl<'w> Written<'w> {
    fn of(bound: &'w WindowFrameBound) -> Self {
        match bound {
            WindowFrameBound::CurrentRow => Self::CurrentRow,
            WindowFrameBound::Preceding(None) => Self::UnboundedPreceding,
            WindowFrameBound::Following(None) => Self::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(distance)) => Self::Preceding(distance),
            WindowFrameBound::Following(Some(distance)) => Self::Following(distance),
        }
    }

    /// Position relative to the current row: -1 before, 0 at, 1 behind it.
    fn side(self) -> i8 {
        match self {
            Self::UnboundedPreceding | Self::Preceding(_) => -1,
            Self::CurrentRow => 0,
            Self::Following(_) | Self::UnboundedFollowing => 1,
        }
    }

    fn distance(self) -> Option<&'w Expr> {
        match self {
            Self::Preceding(distance) | Self::Following(distance) => Some(distance),
            _ => None,
        }
    }
}

fn illegal(window: &str) -> Error {
    codes::ER_WINDOW_FRAME_ILLEGAL.with(&[&window])
}

impl Binder<'_> {
    /// Binds a frame; returns it with its text.
    pub(super) fn bind_frame(
        &mut self,
        written: &WindowFrame,
        order: &[SortKey],
        window: &str,
    ) -> Result<(Frame, String)> {
        let counts_rows = match written.units {
            WindowFrameUnits::Rows => true,
            WindowFrameUnits::Range => false,
            WindowFrameUnits::Groups => return Err(not_supported("GROUPS")),
        };
        let start = Written::of(&written.start_bound);
        let end = written
            .end_bound
            .as_ref()
            .map_or(Written::CurrentRow, Written::of);
        if matches!(start, Written::UnboundedFollowing) {
            return Err(codes::ER_WINDOW_FRAME_START_ILLEGAL.with(&[&window]));
        }
        if matches!(end, Written::UnboundedPreceding) {
            return Err(codes::ER_WINDOW_FRAME_END_ILLEGAL.with(&[&window]));
        }
        if start.side() > end.side() {
            return Err(illegal(window));
        }
        let frame = Frame {
            counts_rows,
            start: self.bind_bound(start, counts_rows, order, window)?,
            end: self.bind_bound(end, counts_rows, order, window)?,
        };
        Ok((frame, frame_text(written, Expr::to_string)))
    }

    fn bind_bound(
        &mut self,
        written: Written<'_>,
        counts_rows: bool,
        order: &[SortKey],
        window: &str,
    ) -> Result<FrameBound> {
        let Some(distance) = written.distance() else {
            return Ok(match written {
                Written::CurrentRow => FrameBound::CurrentRow,
                _ => FrameBound::Unbounded,
            });
        };
        if !counts_rows {
            return self.bind_value_bound(distance, written.side() < 0, order, window);
        }
        if matches!(distance, Expr::Interval(_)) {
            return Err(codes::ER_WINDOW_ROWS_INTERVAL_USE.with(&[&window]));
        }
        let rows = match self.bind_whole_number(distance)? {
            WholeNumber::Known(rows) if rows >= 0 => i64::try_from(rows).unwrap_or(i64::MAX),
            WholeNumber::Later => 1,
            _ => return Err(illegal(window)),
        };
        Ok(FrameBound::Rows(rows * i64::from(written.side())))
    }

    /// Binds RANGE n PRECEDING or FOLLOWING.
    fn bind_value_bound(
        &mut self,
        distance: &Expr,
        precedes: bool,
        order: &[SortKey],
        window: &str,
    ) -> Result<FrameBound> {
        let wrong_order = || codes::ER_WINDOW_RANGE_FRAME_ORDER_TYPE.with(&[&window]);
        let [order] = order else {
            return Err(wrong_order());
        };
        let key = &order.expression;
        let is_number =
            key.ty.is_numeric() || matches!(key.ty.kind, TypeKind::Year | TypeKind::Bit);
        let subtracts = precedes != order.descending;
        let (key, value) = match distance {
            Expr::Interval(interval) if key.ty.is_temporal() => {
                self.bind_interval_bound(key.clone(), interval, subtracts, window)?
            }
            Expr::Interval(_) if is_number => {
                return Err(codes::ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE.with(&[&window]));
            }
            _ if key.ty.is_temporal() => {
                return Err(codes::ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE.with(&[&window]));
            }
            distance if is_number => {
                let is_real = matches!(key.ty.kind, TypeKind::Float | TypeKind::Double);
                // A sum of numbers stays within the type.
                let ty = match key.ty.kind {
                    TypeKind::Decimal => key.ty.clone(),
                    _ if is_real => SqlType::double(),
                    _ => SqlType::decimal(20, 0),
                };
                let mut distance = self.bind_expression(distance)?;
                self.check_distance(&distance, window)?;
                self.infer_parameter(&mut distance, &ty);
                let distance = self.checked_distance(distance, window)?;
                let key = cast(key.clone(), &ty);
                let operator = if subtracts { "-" } else { "+" };
                let value = self.call_bound(operator, vec![key.clone(), distance])?;
                (cast_exactly(key, &value.ty), value)
            }
            _ => return Err(wrong_order()),
        };
        Ok(FrameBound::Value(Box::new(ValueBound {
            key,
            value,
            descending: order.descending,
        })))
    }

    fn bind_interval_bound(
        &mut self,
        key: Expression,
        interval: &Interval,
        subtracts: bool,
        window: &str,
    ) -> Result<(Expression, Expression)> {
        let mut amount = self.bind_expression(&interval.value)?;
        if !amount.columns().is_empty() || is_random(&amount) {
            return Err(codes::ER_WINDOW_RANGE_BOUND_NOT_CONSTANT.with(&[&window]));
        }
        self.check_distance(&amount, window)?;
        let (mut date, unit) = (key.clone(), interval.unit.name());
        self.type_interval(&mut date, &mut amount, unit);
        let amount = self.checked_distance(amount, window)?;
        let value = self.date_arithmetic(date, amount, unit, subtracts)?;
        Ok((cast_exactly(key, &value.ty), value))
    }

    /// An offset with a run-time check, error 3586, where its value is not known yet.
    fn checked_distance(&mut self, distance: Expression, window: &str) -> Result<Expression> {
        match distance.kind {
            ExpressionKind::Literal(_) => Ok(distance),
            _ => self.call_bound("frame distance", vec![distance, word(window)]),
        }
    }

    /// Error 3586: an offset must be neither NULL nor negative.
    fn check_distance(&self, distance: &Expression, window: &str) -> Result<()> {
        let known = match &distance.kind {
            ExpressionKind::Literal(value) => Some(value.clone()),
            ExpressionKind::Parameter(index) => self.catalog.parameter_value(*index),
            _ => None,
        };
        match known.as_ref().is_none_or(is_distance) {
            true => Ok(()),
            false => Err(illegal(window)),
        }
    }
}

/// Whether an expression may have another value at the next evaluation. A variable is read once.
fn is_random(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        if let ExpressionKind::Call { function, .. } = &inner.kind {
            let is_variable = function.has(Fact::ReadsVariable);
            found |= function.volatility() == Volatility::Volatile && !is_variable;
        }
        !found
    });
    found
}

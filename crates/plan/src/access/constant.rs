//! Values of expressions that read no column, as far as they are known while planning: for estimates, EXPLAIN and the
//! types of some results, never for results.

use std::sync::Arc;

use arrow_array::Array;
use mayfly_functions::scalar::Volatility;
use mayfly_functions::{Column, EvaluationContext};
use mayfly_types::convert::{CastContext, array_value, cast_value};
use mayfly_types::temporal::DateTime;
use mayfly_types::{Diagnostics, SessionParameters, SqlMode, Value};

use crate::tree::expression::{Expression, ExpressionKind, LENGTH_CASTS};
use crate::tree::logical::{needs_today, with_stack};

/// The smallest `max_allowed_packet`.
const SMALLEST_PACKET: u32 = 1024;
/// Maximum length of a computed value, since its memory is not charged.
const LONGEST: u32 = 1 << 16;

/// Value of an expression under these parameter values, if it is known.
pub(crate) fn known_value(
    expression: &Expression,
    parameters: &[Value],
    sql_mode: SqlMode,
) -> Option<Value> {
    match &expression.kind {
        ExpressionKind::Literal(value) => Some(value.clone()),
        ExpressionKind::Parameter(parameter) => parameters.get(*parameter).cloned(),
        _ => with_stack(|| computed(expression, parameters, sql_mode)),
    }
}

fn computed(expression: &Expression, parameters: &[Value], sql_mode: SqlMode) -> Option<Value> {
    let context = || {
        let session = SessionParameters {
            sql_mode,
            ..SessionParameters::default()
        };
        EvaluationContext::new(Arc::new(session), Arc::new(Diagnostics::new(0)), 0)
    };
    match &expression.kind {
        // The cast may give NULL, or pad to a length that is not accounted for.
        ExpressionKind::Cast(_, Some(text))
            if expression.ty.length > SMALLEST_PACKET && LENGTH_CASTS.contains(&&**text) =>
        {
            None
        }
        _ if needs_today(expression) => None,
        ExpressionKind::Cast(inner, _) => {
            let value = known_value(inner, parameters, sql_mode)?;
            let context = context();
            let cast = CastContext {
                sql_mode,
                diagnostics: &context.diagnostics,
                time_zone: &context.session.time_zone,
                now: DateTime::default(),
                operand: "",
                room: None,
            };
            cast_value(&value, &inner.ty, &expression.ty, &cast).ok()
        }
        ExpressionKind::Call {
            function,
            arguments,
            signature,
        } if function.volatility() == Volatility::Immutable
            && (!expression.ty.is_string() || expression.ty.length <= LONGEST) =>
        {
            let arguments = arguments
                .iter()
                .map(|argument| known_value(argument, parameters, sql_mode).map(Column::Constant))
                .collect::<Option<Vec<_>>>()?;
            let result = function.evaluate(&arguments, 1, signature, &context());
            result.ok().map(|array| first(&array))
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            for (condition, result) in branches {
                match known_value(condition, parameters, sql_mode)? {
                    Value::Null | Value::Int(0) => {}
                    _ => return known_value(result, parameters, sql_mode),
                }
            }
            match otherwise {
                Some(otherwise) => known_value(otherwise, parameters, sql_mode),
                None => Some(Value::Null),
            }
        }
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => {
            let left = known_value(left, parameters, sql_mode)?;
            let right = known_value(right, parameters, sql_mode)?;
            let order = match (left, right) {
                (Value::Int(left), Value::Int(right)) => left.cmp(&right),
                (Value::UInt(left), Value::UInt(right)) => left.cmp(&right),
                _ => return None,
            };
            Some(Value::Int(i64::from(comparison.holds(order))))
        }
        _ => None,
    }
}

/// First value of an array.
fn first(array: &dyn Array) -> Value {
    if array.is_empty() {
        return Value::Null;
    }
    array_value(array, 0)
}

//! Hexadecimal and bit literals where a number is wanted (the manual, "Hexadecimal Literals").

use mayfly_functions::derive;
use mayfly_functions::scalar::Fact;
use mayfly_types::common_type::{Alternatives, aggregate_types};
use mayfly_types::{SqlType, TypeKind, Value};

use super::literal::{convert, is_hexadecimal};
use super::types::{cast, compare, is_coalesce, written};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{expression_is_volatile, has_subquery, with_stack};

/// A hexadecimal or bit literal as its number, NULL as a DOUBLE without digits, any other expression unchanged.
pub(crate) fn as_number(expression: Expression) -> Expression {
    // MIN(NULL) has the type of NULL and is not a literal.
    if expression.ty.kind == TypeKind::Null {
        let no_digits = SqlType {
            length: 0,
            decimals: 0,
            ..SqlType::double()
        };
        return cast(expression, &no_digits);
    }
    if !is_hexadecimal(&expression) {
        return choice_as_number(expression);
    }
    let known = |ty: SqlType| {
        let value = convert(expression.as_literal()?, &expression.ty, &ty)?;
        Some(Expression::literal(value, ty))
    };
    let digits = digits_of_bytes(expression.ty.length);
    let signed = SqlType {
        length: digits + 1,
        ..SqlType::bigint()
    };
    let unsigned = SqlType {
        length: digits,
        ..SqlType::bigint_unsigned()
    };
    let number = if expression.ty.unsigned {
        known(unsigned)
    } else {
        known(signed).or_else(|| known(unsigned))
    };
    number.unwrap_or(expression)
}

/// A value stored in a numeric column as [`as_number`]. A hexadecimal or bit literal with more bytes than a BIGINT is
/// out of range for the column.
pub fn as_stored_number(expression: Expression, column: &SqlType) -> Expression {
    let is_long = is_hexadecimal(&expression) && expression.ty.length > BIGINT_BYTES;
    match column.is_numeric() && !is_long {
        true => as_number(expression),
        false => expression,
    }
}

/// Bytes of a BIGINT.
const BIGINT_BYTES: u32 = 8;

/// Whether an expression is a hexadecimal or bit literal, or a CASE or ELT() that has one among its results.
pub(crate) fn may_be_hexadecimal(expression: &Expression) -> bool {
    let is_result = |result: &Expression| may_be_hexadecimal(written(result));
    with_stack(|| match &expression.kind {
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            let mut results = branches.iter().map(|(_, result)| result);
            results.any(is_result) || otherwise.as_deref().is_some_and(is_result)
        }
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } if function.has(Fact::Elt) => arguments.iter().skip(1).any(is_result),
        _ => is_hexadecimal(expression),
    })
}

/// ELT() of hexadecimal or bit literals as a CASE, whose results are converted one by one; any other expression
/// unchanged.
fn elt_as_case(expression: Expression) -> Expression {
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return expression;
    };
    let [number, values @ ..] = arguments.as_slice() else {
        return expression;
    };
    let is_elt = function.has(Fact::Elt) && !expression_is_volatile(number);
    if !is_elt || has_subquery(number) || !may_be_hexadecimal(&expression) {
        return expression;
    }
    let branches = (1..).zip(values).map(|(position, value)| {
        let position = Expression::literal(Value::Int(position), number.ty.clone());
        let is_picked = compare(Comparison::Equal, number.clone(), position);
        (is_picked, value.clone())
    });
    let kind = ExpressionKind::Case {
        branches: branches.collect(),
        otherwise: None,
    };
    Expression::new(kind, expression.ty.clone(), true)
}

/// A CASE or ELT() with hexadecimal or bit literals among its results, converted to a CASE of numbers; any other
/// expression unchanged. IF and NULLIF are bound as CASE.
pub(crate) fn choice_as_number(expression: Expression) -> Expression {
    let expression = elt_as_case(expression);
    let ExpressionKind::Case {
        branches,
        otherwise,
    } = &expression.kind
    else {
        return expression;
    };
    if !may_be_hexadecimal(&expression) {
        return expression;
    }
    let results = branches.iter().map(|(_, result)| result);
    let results = results.chain(otherwise.as_deref());
    let mut numbers: Vec<Expression> = results
        .map(|result| written(result).clone())
        .map(|result| match result.ty.kind {
            TypeKind::Null => result,
            _ => as_double(result),
        })
        .map(|number| match number.ty.is_string() {
            true => cast(number, &SqlType::double()),
            false => number,
        })
        .collect();
    let ty = aggregate_types(
        numbers.iter().map(|number| &number.ty),
        Alternatives::Function,
    );
    let otherwise = otherwise.as_ref().and_then(|_| numbers.pop());
    let conditions = branches.iter().map(|(condition, _)| condition.clone());
    let kind = ExpressionKind::Case {
        branches: conditions
            .zip(numbers)
            .map(|(condition, number)| (condition, cast(number, &ty)))
            .collect(),
        otherwise: otherwise.map(|number| Box::new(cast(number, &ty))),
    };
    Expression::new(kind, ty, expression.nullable)
}

/// An IF() or CASE as an integer: the result that is chosen is converted from its own type, not from that of the choice.
/// A COALESCE() has a value of its own type first, and is unchanged, as is any other expression.
pub(crate) fn integer_of_choice(expression: Expression, to: &SqlType) -> Expression {
    if !to.is_integer() || expression.ty.is_integer() {
        return expression;
    }
    let nullable = expression.nullable;
    match expression.kind {
        ExpressionKind::Case {
            branches,
            otherwise,
        } if !is_coalesce(&branches) => {
            let convert = |result: Expression| {
                let own = match result.kind {
                    ExpressionKind::Cast(own, None) => *own,
                    _ => result,
                };
                cast(integer_of_choice(own, to), to)
            };
            let branches = branches.into_iter();
            let kind = ExpressionKind::Case {
                branches: branches
                    .map(|(condition, result)| (condition, convert(result)))
                    .collect(),
                otherwise: otherwise.map(|result| Box::new(convert(*result))),
            };
            Expression::new(kind, to.clone(), nullable)
        }
        ExpressionKind::Let { values, body } => {
            let body = integer_of_choice(*body, to);
            let ty = body.ty.clone();
            let body = Box::new(body);
            Expression::new(ExpressionKind::Let { values, body }, ty, nullable)
        }
        kind => Expression { kind, ..expression },
    }
}

/// Number of digits of the largest integer of `bytes` bytes; longer ones are cut to a BIGINT's.
fn digits_of_bytes(bytes: u32) -> u32 {
    match bytes {
        0..8 => ((1_u64 << (8 * bytes)) - 1).max(1).ilog10() + 1,
        _ => 20,
    }
}

/// [`as_number`], but as the DOUBLE that functions of one number convert such a literal to.
pub(crate) fn as_double(expression: Expression) -> Expression {
    let is_hexadecimal = is_hexadecimal(&expression);
    let number = as_number(expression);
    if !is_hexadecimal {
        return number;
    }
    let ty = SqlType {
        unsigned: number.ty.unsigned,
        ..derive::double_of_decimals(0)
    };
    let value = number.as_literal();
    match value.and_then(|value| convert(value, &number.ty, &ty)) {
        Some(value) => Expression::literal(value, ty),
        None => number,
    }
}

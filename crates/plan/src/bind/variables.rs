//! System and user variables.
//!
//! System variables are constants whose collation is weaker than that of a column or a literal.
//!
//! A DECIMAL in a user variable has no fixed scale. Operators and temporary tables take it as `DECIMAL(65,30)`; a
//! result and a string show it as it was assigned, and values that are assigned or stored have no more digits than
//! those that they are computed from.

use std::sync::Arc;

use mayfly_functions::scalar::Fact;
use mayfly_functions::{Coercibility, Signature, scalar};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::bind::literal::word;
use crate::not_supported::not_supported;
use crate::tree::expression::{Expression, ExpressionKind};

/// Function that reads a variable.
pub(super) const READER: &str = "get_user_variable";

/// Function that gives a constant another coercibility.
const NAMED: &str = "name_const";

/// Maximum number of characters of a user variable's name.
const USER_VARIABLE_NAME_MAX: usize = 64;

/// Checks the name of a user variable that is assigned: error 3061 if it is empty or longer than 64 characters.
pub fn check_user_variable(name: &str) -> Result<()> {
    if name.is_empty() || name.chars().count() > USER_VARIABLE_NAME_MAX {
        return Err(codes::ER_ILLEGAL_USER_VAR.with(&[&name]));
    }
    Ok(())
}

/// Binds `@@name` to its value. Text is a system constant, like the result of USER().
pub(super) fn system_variable(name: &str, value: Expression) -> Result<Expression> {
    if !value.ty.is_string() {
        return Ok(Expression {
            nullable: true,
            ..value
        });
    }
    let Some(function) = scalar::by_name(NAMED) else {
        return Err(not_supported("system variables"));
    };
    let name = word(name);
    let ty = value.ty.clone();
    let signature = Signature::new(vec![name.ty.clone(), ty.clone()], ty, true)
        .with_coercibility(Coercibility::SystemConstant);
    Ok(Expression::call(function, vec![name, value], signature))
}

/// Name of the variable that an expression reads, if it holds a DECIMAL.
pub(super) fn decimal_variable(expression: &Expression) -> Option<String> {
    match &expression.kind {
        ExpressionKind::Call { arguments, .. } if reads(expression, TypeKind::Decimal) => {
            match arguments.first()?.as_literal()? {
                Value::Bytes(name) => String::from_utf8(name.clone()).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an expression reads a variable of a type.
fn reads(expression: &Expression, kind: TypeKind) -> bool {
    expression.ty.kind == kind
        && matches!(&expression.kind, ExpressionKind::Call { function, .. } if function.has(Fact::ReadsVariable))
}

/// Whether an expression reads a variable whose value is converted differently from a column's: a DECIMAL as the text
/// that was assigned, a DOUBLE as its leading integer.
pub(super) fn is_read_as(expression: &Expression, to: &SqlType) -> bool {
    let is_counted =
        to.is_integer() && !matches!(to.kind, TypeKind::Year | TypeKind::Bit | TypeKind::Boolean);
    to.is_string() && reads(expression, TypeKind::Decimal)
        || is_counted && reads(expression, TypeKind::Double)
}

/// Changes the type as which a variable is read, to which its value is converted directly.
pub(super) fn read_as(expression: &mut Expression, ty: &SqlType) {
    if let ExpressionKind::Call { signature, .. } = &mut expression.kind {
        let signature = Arc::make_mut(signature);
        signature.result = ty.clone();
        expression.ty = ty.clone();
    }
}

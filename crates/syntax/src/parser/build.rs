//! Small constructors of nodes, so that the grammar reads as grammar.

use crate::ast::{
    BinaryOperator, CaseWhen, CastType, Expr, Function, FunctionArg, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Value,
};

pub(crate) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

pub(crate) fn value(value: Value) -> Expr {
    Expr::Value(value)
}

pub(crate) fn null() -> Expr {
    value(Value::Null)
}

pub(crate) fn number(digits: impl ToString) -> Expr {
    value(Value::Number(digits.to_string()))
}

pub(crate) fn string(text: impl Into<String>) -> Expr {
    value(Value::SingleQuotedString(text.into()))
}

pub(crate) fn cast(expr: Expr, data_type: CastType) -> Expr {
    Expr::Cast {
        expr: Box::new(expr),
        data_type,
    }
}

pub(crate) fn case(
    operand: Option<Expr>,
    conditions: Vec<CaseWhen>,
    else_result: Option<Expr>,
) -> Expr {
    Expr::Case {
        operand: operand.map(Box::new),
        conditions,
        else_result: else_result.map(Box::new),
    }
}

pub(crate) fn object_name(name: impl Into<String>) -> ObjectName {
    ObjectName::from(vec![Ident::new(name)])
}

pub(crate) fn collate(expr: Expr, collation: String) -> Expr {
    Expr::Collate {
        expr: Box::new(expr),
        collation,
    }
}

/// The arguments of an ordinary call.
pub(crate) fn arguments(args: Vec<Expr>) -> FunctionArguments {
    FunctionArguments::List(FunctionArgumentList {
        distinct: false,
        args: args.into_iter().map(FunctionArg::Expr).collect(),
        order_by: Vec::new(),
        separator: None,
        limit: None,
    })
}

pub(crate) fn function(name: ObjectName, args: FunctionArguments) -> Function {
    Function {
        name,
        args,
        null_treatment: None,
        over: None,
        only_stored: false,
    }
}

/// A call with ordinary arguments.
pub(crate) fn call(name: impl Into<String>, args: Vec<Expr>) -> Expr {
    Expr::Function(function(object_name(name), arguments(args)))
}

/// A call without parentheses.
pub(crate) fn bare_call(name: impl Into<String>) -> Expr {
    Expr::Function(function(object_name(name), FunctionArguments::None))
}

//! Small constructors of `sqlparser` nodes, so that the grammar reads as grammar.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

pub(crate) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

pub(crate) fn value(value: Value) -> Expr {
    Expr::Value(value.with_span(Span::empty()))
}

pub(crate) fn null() -> Expr {
    value(Value::Null)
}

pub(crate) fn number(digits: impl ToString) -> Expr {
    value(Value::Number(digits.to_string(), false))
}

pub(crate) fn string_value(text: impl Into<String>) -> ValueWithSpan {
    Value::SingleQuotedString(text.into()).with_span(Span::empty())
}

pub(crate) fn string(text: impl Into<String>) -> Expr {
    Expr::Value(string_value(text))
}

pub(crate) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        format: None,
    }
}

pub(crate) fn case(
    operand: Option<Expr>,
    conditions: Vec<CaseWhen>,
    else_result: Option<Expr>,
) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
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
        collation: object_name(collation),
    }
}

pub(crate) fn unnamed(expr: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
}

/// The arguments of an ordinary call.
pub(crate) fn arguments(args: Vec<Expr>) -> FunctionArguments {
    FunctionArguments::List(FunctionArgumentList {
        duplicate_treatment: None,
        args: args.into_iter().map(unnamed).collect(),
        clauses: Vec::new(),
    })
}

pub(crate) fn function(name: ObjectName, args: FunctionArguments) -> Function {
    Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args,
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
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

//! Expressions of definitions as SHOW CREATE TABLE prints them: lower-case functions, backticks,
//! parentheses around every operation.

use mayfly_syntax::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use mayfly_syntax::encodings::introducer;
use mayfly_syntax::printer::{quoted_identifier, quoted_string};

/// The text of an expression.
pub(crate) fn text(expr: &Expr) -> String {
    stacker::maybe_grow(64 << 10, 4 << 20, || print(expr))
}

fn print(expr: &Expr) -> String {
    if let Some((set, Expr::Value(value))) = introducer(expr)
        && let Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) = &value.value
    {
        return format!("_{}{}", set.to_lowercase(), quoted_string(text));
    }
    match expr {
        Expr::Nested(inner) => text(inner),
        Expr::Identifier(ident) if ident.value.starts_with('@') => ident.value.clone(),
        Expr::Identifier(ident) => quoted_identifier(&ident.value),
        Expr::CompoundIdentifier(parts) => parts
            .last()
            .map(|part| quoted_identifier(&part.value))
            .unwrap_or_default(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                format!("_utf8mb4{}", quoted_string(text))
            }
            Value::Boolean(true) => "true".to_owned(),
            Value::Boolean(false) => "false".to_owned(),
            other => other.to_string(),
        },
        Expr::BinaryOp { left, op, right } => {
            let op = op.to_string();
            let op = match op.as_str() {
                "AND" | "OR" | "XOR" | "DIV" => op.to_lowercase(),
                "MOD" => "%".to_owned(),
                _ => op,
            };
            format!("({} {op} {})", text(left), text(right))
        }
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => format!("-({})", text(expr)),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => format!("(not({}))", text(expr)),
        Expr::UnaryOp { op, expr } => format!("{op}{}", text(expr)),
        Expr::IsNull(inner) => format!("({} is null)", text(inner)),
        Expr::IsNotNull(inner) => format!("({} is not null)", text(inner)),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let not = if *negated { "not " } else { "" };
            format!(
                "({} {not}between {} and {})",
                text(expr),
                text(low),
                text(high)
            )
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let not = if *negated { "not " } else { "" };
            let list: Vec<_> = list.iter().map(text).collect();
            format!("({} {not}in ({}))", text(expr), list.join(","))
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let arguments = match &function.args {
                FunctionArguments::List(list) => list
                    .args
                    .iter()
                    .map(|argument| match argument {
                        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => text(expr),
                        other => other.to_string(),
                    })
                    .collect::<Vec<_>>()
                    .join(","),
                _ => String::new(),
            };
            format!("{name}({arguments})")
        }
        other => other.to_string(),
    }
}

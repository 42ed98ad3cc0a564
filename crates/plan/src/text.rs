//! Expressions as text, in the canonical form in which MySQL prints them: everything in
//! parentheses, operators with spaces, `t.a` for columns.
//!
//! Conversions between numbers are not shown, since MySQL does them inside its operators.

use std::fmt::{self, Write};

use mayfly_types::convert::text::format_value;
use mayfly_types::{SqlType, TypeKind, Value};

use crate::tree::expression::{Comparison, Expression, ExpressionKind, SubqueryKind};
use crate::tree::logical::with_stack;
use crate::tree::physical::{AggregateCall, SortKey};

/// How columns are called.
pub(crate) trait Names {
    /// The name of a column.
    fn column(&self, column: usize) -> String;
}

impl<F: Fn(usize) -> String> Names for F {
    fn column(&self, column: usize) -> String {
        self(column)
    }
}

/// Operators that stand between their operands, and those that are called another name.
const INFIX: &[(&str, &str)] = &[
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("div", "DIV"),
    ("&", "&"),
    ("|", "|"),
    ("^", "^"),
    ("<<", "<<"),
    (">>", ">>"),
    ("like", "like"),
    ("xor", "xor"),
    ("member of", "member of"),
];

/// The text of an expression.
pub(crate) fn expression_text(expression: &Expression, names: &dyn Names) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_expression(&mut text, expression, names);
    text
}

/// The text of an expression, unless it is longer than `bytes_max`.
pub(crate) fn bounded_text(
    expression: &Expression,
    names: &dyn Names,
    bytes_max: usize,
) -> Option<String> {
    let mut bounded = Bounded {
        text: String::new(),
        bytes_max,
    };
    write_expression(&mut bounded, expression, names).ok()?;
    Some(bounded.text)
}

/// The text of a call that is not made yet, unless it is longer than `bytes_max`.
pub(crate) fn bounded_call_text(
    name: &str,
    arguments: &[Expression],
    names: &dyn Names,
    bytes_max: usize,
) -> Option<String> {
    let mut bounded = Bounded {
        text: String::new(),
        bytes_max,
    };
    write_call(&mut bounded, name, arguments, names).ok()?;
    Some(bounded.text)
}

/// A text that refuses to grow beyond a limit, which ends the writing of it.
struct Bounded {
    text: String,
    bytes_max: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.text.len() + more.len() > self.bytes_max {
            return Err(fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

/// The texts of several expressions, with a separator between them.
pub(crate) fn joined_text<'e>(
    expressions: impl IntoIterator<Item = &'e Expression>,
    separator: &str,
    names: &dyn Names,
) -> String {
    let mut text = String::new();
    let _ = write_list(&mut text, expressions, separator, names);
    text
}

/// The text of an aggregate call: `count(distinct t.a)`.
pub(crate) fn call_text(call: &AggregateCall, names: &dyn Names) -> String {
    let mut text = format!("{}(", call.function.names()[0]);
    if call.distinct {
        text.push_str("distinct ");
    }
    if call.arguments.is_empty() {
        text.push('0');
    }
    let _ = write_list(&mut text, &call.arguments, ",", names);
    if !call.order_by.is_empty() {
        let _ = write!(text, " order by {}", order_text(&call.order_by, names));
    }
    text.push(')');
    text
}

/// The text of an order: `t.a DESC, t.b`.
pub(crate) fn order_text(keys: &[SortKey], names: &dyn Names) -> String {
    let mut text = String::new();
    for (index, key) in keys.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        let _ = write_expression(&mut text, &key.expression, names);
        if key.descending {
            text.push_str(" DESC");
        }
    }
    text
}

/// The text of a constant.
pub(crate) fn value_text(value: &Value, ty: &SqlType) -> String {
    let Some(bytes) = format_value(value, ty) else {
        return "NULL".to_owned();
    };
    let quoted = ty.is_string()
        || ty.is_temporal()
        || matches!(ty.kind, TypeKind::Json | TypeKind::Enum | TypeKind::Set);
    if ty.is_binary_string() && std::str::from_utf8(&bytes).is_err() {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("0x{digits}");
    }
    let text = String::from_utf8_lossy(&bytes);
    if quoted {
        format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
    } else {
        text.into_owned()
    }
}

fn write_list<'e>(
    out: &mut dyn Write,
    expressions: impl IntoIterator<Item = &'e Expression>,
    separator: &str,
    names: &dyn Names,
) -> fmt::Result {
    for (index, expression) in expressions.into_iter().enumerate() {
        if index > 0 {
            out.write_str(separator)?;
        }
        write_expression(out, expression, names)?;
    }
    Ok(())
}

/// As MySQL writes a comparison.
pub(crate) fn comparison_text(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NullSafeEqual => "<=>",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn write_expression(
    out: &mut dyn Write,
    expression: &Expression,
    names: &dyn Names,
) -> fmt::Result {
    with_stack(|| write_node(out, expression, names))
}

fn write_node(out: &mut dyn Write, expression: &Expression, names: &dyn Names) -> fmt::Result {
    match &expression.kind {
        ExpressionKind::Literal(value) => out.write_str(&literal_text(value, &expression.ty)),
        ExpressionKind::Column(column) => out.write_str(&names.column(*column)),
        ExpressionKind::Parameter(_) => out.write_char('?'),
        ExpressionKind::Local(local) => write!(out, "<value {local}>"),
        ExpressionKind::Let { values, body } => {
            out.write_char('(')?;
            for (local, value) in values {
                write!(out, "<value {local}> := ")?;
                write_expression(out, value, names)?;
                out.write_str("; ")?;
            }
            write_expression(out, body, names)?;
            out.write_char(')')
        }
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } => write_call(out, function.names()[0], arguments, names),
        ExpressionKind::Cast(operand, _) => {
            if is_silent(&operand.ty, &expression.ty) {
                return write_expression(out, operand, names);
            }
            out.write_str("cast(")?;
            write_expression(out, operand, names)?;
            write!(out, " as {})", cast_target(&expression.ty))
        }
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => {
            out.write_char('(')?;
            write_expression(out, left, names)?;
            write!(out, " {} ", comparison_text(*comparison))?;
            write_expression(out, right, names)?;
            out.write_char(')')
        }
        ExpressionKind::And(operands) => write_junction(out, operands, " and ", names),
        ExpressionKind::Or(operands) => write_junction(out, operands, " or ", names),
        ExpressionKind::Not(operand) => match &operand.kind {
            ExpressionKind::IsNull(inner) => {
                out.write_char('(')?;
                write_expression(out, inner, names)?;
                out.write_str(" is not null)")
            }
            _ => {
                out.write_str("(not ")?;
                write_expression(out, operand, names)?;
                out.write_char(')')
            }
        },
        ExpressionKind::IsNull(operand) => {
            out.write_char('(')?;
            write_expression(out, operand, names)?;
            out.write_str(" is null)")
        }
        ExpressionKind::IsTruth(operand, truth) => {
            out.write_char('(')?;
            write_expression(out, operand, names)?;
            out.write_str(match truth {
                Some(true) => " is true)",
                Some(false) => " is false)",
                None => " is unknown)",
            })
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            out.write_str("(case")?;
            for (condition, result) in branches {
                out.write_str(" when ")?;
                write_expression(out, condition, names)?;
                out.write_str(" then ")?;
                write_expression(out, result, names)?;
            }
            if let Some(otherwise) = otherwise {
                out.write_str(" else ")?;
                write_expression(out, otherwise, names)?;
            }
            out.write_str(" end)")
        }
        ExpressionKind::InList {
            operand,
            list,
            negated,
        } => {
            out.write_char('(')?;
            write_expression(out, operand, names)?;
            out.write_str(if *negated { " not in (" } else { " in (" })?;
            for (index, value) in list.iter().enumerate() {
                if index > 0 {
                    out.write_char(',')?;
                }
                out.write_str(&value_text(value, &operand.ty))?;
            }
            out.write_str("))")
        }
        ExpressionKind::Subquery(subquery) => {
            write_subquery(out, &subquery.kind, subquery.select_id, names)
        }
        ExpressionKind::LogicalSubquery(subquery) => {
            write_subquery(out, &subquery.kind, subquery.select_id, names)
        }
    }
}

/// 0 and 1 of predicates are written as words.
fn literal_text(value: &Value, ty: &SqlType) -> String {
    match (ty.kind, value) {
        (TypeKind::Boolean, Value::Int(0)) => "false".to_owned(),
        (TypeKind::Boolean, Value::Int(_)) => "true".to_owned(),
        // A sign is an operator of its own.
        _ if ty.is_numeric() => {
            let text = value_text(value, ty);
            match text.strip_prefix('-') {
                Some(digits) => format!("-({digits})"),
                None => text,
            }
        }
        _ => value_text(value, ty),
    }
}

fn write_junction(
    out: &mut dyn Write,
    operands: &[Expression],
    word: &str,
    names: &dyn Names,
) -> fmt::Result {
    out.write_char('(')?;
    write_list(out, operands, word, names)?;
    out.write_char(')')
}

fn write_call(
    out: &mut dyn Write,
    name: &str,
    arguments: &[Expression],
    names: &dyn Names,
) -> fmt::Result {
    let infix = INFIX.iter().find(|(known, _)| *known == name);
    if let (Some((_, symbol)), [left, right, ..]) = (infix, arguments) {
        out.write_char('(')?;
        write_expression(out, left, names)?;
        write!(out, " {symbol} ")?;
        write_expression(out, right, names)?;
        return out.write_char(')');
    }
    if let ("negate", [operand]) = (name, arguments) {
        out.write_str("-(")?;
        write_expression(out, operand, names)?;
        return out.write_char(')');
    }
    if let ("get_user_variable", [variable]) = (name, arguments) {
        out.write_str("(@")?;
        write_word(out, variable)?;
        return out.write_char(')');
    }
    if let ("set_user_variable", [variable, value]) = (name, arguments) {
        out.write_str("(@")?;
        write_word(out, variable)?;
        out.write_str(":=")?;
        write_expression(out, value, names)?;
        return out.write_char(')');
    }
    write!(out, "{name}(")?;
    write_list(out, arguments, ",", names)?;
    out.write_char(')')
}

/// A constant that is a name.
fn write_word(out: &mut dyn Write, word: &Expression) -> fmt::Result {
    match word.as_literal() {
        Some(Value::Bytes(bytes)) => out.write_str(&String::from_utf8_lossy(bytes)),
        _ => Ok(()),
    }
}

fn write_subquery(
    out: &mut dyn Write,
    kind: &SubqueryKind,
    select_id: usize,
    names: &dyn Names,
) -> fmt::Result {
    match kind {
        SubqueryKind::Scalar => write!(out, "(select #{select_id})"),
        SubqueryKind::Exists { negated } => {
            let not = if *negated { "not " } else { "" };
            write!(out, "{not}exists(select #{select_id})")
        }
        SubqueryKind::Quantified {
            left,
            comparison,
            all,
        } => write_quantified(out, left, (*comparison, *all), select_id, names),
        SubqueryKind::Row { left, comparison } => {
            write_row(out, left, names)?;
            let symbol = comparison_text(*comparison);
            write!(out, " {symbol} (select #{select_id}))")
        }
    }
}

/// `(a in (select #2))`; the comparison comes with whether it is ALL.
fn write_quantified(
    out: &mut dyn Write,
    left: &[Expression],
    (comparison, all): (Comparison, bool),
    select_id: usize,
    names: &dyn Names,
) -> fmt::Result {
    write_row(out, left, names)?;
    match (comparison, all) {
        (Comparison::Equal, false) => write!(out, " in (select #{select_id}))"),
        (Comparison::NotEqual, true) => write!(out, " not in (select #{select_id}))"),
        _ => {
            let word = if all { "all" } else { "any" };
            let symbol = comparison_text(comparison);
            write!(out, " {symbol} {word} (select #{select_id}))")
        }
    }
}

fn write_row(out: &mut dyn Write, left: &[Expression], names: &dyn Names) -> fmt::Result {
    out.write_char('(')?;
    match left {
        [only] => write_expression(out, only, names),
        several => write_junction(out, several, ",", names),
    }
}

/// Conversions that MySQL does inside of its operators. One between integers can only be written.
fn is_silent(from: &SqlType, to: &SqlType) -> bool {
    let written = from.is_integer() && to.kind == TypeKind::BigInt && from.unsigned != to.unsigned;
    (from.is_numeric() && to.is_numeric() && !written)
        || (from.is_string() && to.is_numeric())
        || from.kind == TypeKind::Null
}

fn cast_target(ty: &SqlType) -> String {
    let fraction = |name: &str| match ty.decimals {
        0 => name.to_owned(),
        digits => format!("{name}({digits})"),
    };
    match ty.kind {
        TypeKind::Boolean
        | TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Null => if ty.unsigned { "unsigned" } else { "signed" }.to_owned(),
        TypeKind::Bit | TypeKind::Enum | TypeKind::Set => "unsigned".to_owned(),
        TypeKind::Decimal => format!("decimal({},{})", ty.length, ty.decimals),
        TypeKind::Float => "float".to_owned(),
        TypeKind::Double => "double".to_owned(),
        TypeKind::Year => "year".to_owned(),
        TypeKind::Date => "date".to_owned(),
        TypeKind::Time => fraction("time"),
        TypeKind::DateTime | TypeKind::Timestamp => fraction("datetime"),
        TypeKind::Json => "json".to_owned(),
        TypeKind::Char if ty.is_binary_string() => format!("char({}) charset binary", ty.length),
        TypeKind::Char => format!("char({})", ty.length),
        TypeKind::VarChar
        | TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText => {
            if ty.is_binary_string() {
                "char charset binary".to_owned()
            } else {
                format!("char charset {}", ty.collation.charset().name())
            }
        }
    }
}

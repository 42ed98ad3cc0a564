//! Text of expressions, in the canonical form in which MySQL prints them: everything in parentheses, operators with
//! spaces, `t.a` for columns.
//!
//! Conversions between numbers are not shown, since they are implicit in MySQL's operators.

use std::borrow::Cow;
use std::fmt::{self, Write};

use mayfly_functions::FunctionRef;
use mayfly_functions::aggregate::Kind;
use mayfly_functions::scalar::Printed;
use mayfly_types::convert::text::format_value;
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use crate::tree::expression::{Comparison, Expression, ExpressionKind, SubqueryKind};
use crate::tree::logical::{self, with_stack};
use crate::tree::physical::{AggregateCall, FirstRows, SortKey};
use crate::window::{Over, WindowCall, WindowFunction, WindowKeys};

/// Names of columns in the text.
pub(crate) trait Names {
    /// The name of a column.
    fn column(&self, column: usize) -> String;

    /// Name of a stored function.
    fn function(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Name of a named window.
    fn window(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Text of a subquery's query block, without parentheses; `None`: its number is shown.
    fn subquery(&self, _subquery: &logical::Subquery) -> Option<String> {
        None
    }
}

impl<F: Fn(usize) -> String> Names for F {
    fn column(&self, column: usize) -> String {
        self(column)
    }
}

/// Text of an expression.
pub(crate) fn expression_text(expression: &Expression, names: &dyn Names) -> String {
    Text { expression, names }.to_string()
}

/// Text of an expression, unless it is longer than `bytes_max`.
pub(crate) fn bounded_text(
    expression: &Expression,
    names: &dyn Names,
    bytes_max: usize,
) -> Option<String> {
    let mut bounded = Bounded::new(bytes_max);
    write!(bounded, "{}", Text { expression, names }).ok()?;
    Some(bounded.text)
}

/// Text of a sort's limit of rows for each partition.
pub(crate) fn first_rows_text(first: FirstRows) -> String {
    let rows = if first.counts_values { "value" } else { "row" };
    format!("first {} {rows}(s) of each partition", first.count)
}

/// Text of a call that is not bound yet, unless it is longer than `bytes_max`.
pub(crate) fn bounded_call_text(
    function: &FunctionRef,
    arguments: &[Expression],
    names: &dyn Names,
    bytes_max: usize,
) -> Option<String> {
    let mut bounded = Bounded::new(bytes_max);
    write_call(&mut bounded, function, arguments, names).ok()?;
    Some(bounded.text)
}

/// A text that fails on growing beyond a limit, which ends the writing.
struct Bounded {
    text: String,
    bytes_max: usize,
}

impl Bounded {
    fn new(bytes_max: usize) -> Self {
        let text = String::new();
        Self { text, bytes_max }
    }
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

/// Texts of several expressions, with a separator between them.
pub(crate) fn joined_text<'e>(
    expressions: impl IntoIterator<Item = &'e Expression>,
    separator: &str,
    names: &dyn Names,
) -> String {
    let mut text = String::new();
    let _ = write_list(&mut text, expressions, separator, names);
    text
}

/// Text of an aggregate call: `count(distinct t.a)`.
pub(crate) fn call_text(call: &AggregateCall, names: &dyn Names) -> String {
    let mut text = format!("{}(", call.function.name());
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
    if call.function.kind() == Kind::GroupConcat {
        let ty = SqlType::text(TypeKind::Text, CollationId::UTF8MB4_BIN);
        let separator = call.options.first();
        let separator = separator.map_or_else(|| "','".to_owned(), |one| value_text(one, &ty));
        let _ = write!(text, " separator {separator}");
        if let [_, offset, count] = call.options.as_slice() {
            let ty = SqlType::bigint_unsigned();
            let (offset, count) = (value_text(offset, &ty), value_text(count, &ty));
            let _ = write!(text, " limit {offset},{count}");
        }
    }
    text.push(')');
    text
}

/// Text of a window function call: `rank() OVER (PARTITION BY t.a ORDER BY t.b DESC )`.
pub(crate) fn window_text(window: &WindowKeys<'_>, call: &WindowCall, names: &dyn Names) -> String {
    let mut text = match &call.function {
        WindowFunction::Aggregate(call) => call_text(call, names),
        function => {
            let mut arguments = call.arguments.iter();
            let first = arguments
                .next()
                .map(|argument| expression_text(argument, names));
            let number = match function {
                WindowFunction::Ntile(number)
                | WindowFunction::Lag(number)
                | WindowFunction::Lead(number)
                | WindowFunction::NthValue(number) => Some(number.to_string()),
                _ => None,
            };
            let default = arguments
                .next()
                .map(|argument| expression_text(argument, names));
            let parts = [first, number, default].into_iter().flatten();
            format!(
                "{}({})",
                function.name(),
                parts.collect::<Vec<_>>().join(",")
            )
        }
    };
    text.push_str(" OVER ");
    match &call.over.name {
        Some(name) => text.push_str(&names.window(name)),
        None => {
            text.push('(');
            write_window(&mut text, window, &call.over, names);
            text.push_str(") ");
        }
    }
    text
}

/// Writes a window as its call or the WINDOW clause defines it, without parentheses.
pub(crate) fn write_window(
    text: &mut String,
    window: &WindowKeys<'_>,
    over: &Over,
    names: &dyn Names,
) {
    let mut parts = Vec::new();
    match &over.base {
        Some(base) => parts.push(names.window(base)),
        None if !window.partition.is_empty() => {
            let keys = joined_text(window.partition, ",", names);
            parts.push(format!("PARTITION BY {keys}"));
        }
        None => {}
    }
    if over.has_own_order && !window.order.is_empty() {
        let keys = window.order.iter().map(|key| {
            let direction = if key.descending { " desc" } else { "" };
            format!("{}{direction}", expression_text(&key.expression, names))
        });
        parts.push(format!("ORDER BY {}", keys.collect::<Vec<_>>().join(",")));
    }
    if !parts.is_empty() {
        text.push_str(&parts.join(" "));
        text.push(' ');
    }
    if let Some(frame) = &over.frame {
        text.push_str(frame);
    }
}

/// Text of sort keys: `t.a DESC, t.b`.
pub(crate) fn order_text(keys: &[SortKey], names: &dyn Names) -> String {
    let mut text = String::new();
    for (index, key) in keys.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&expression_text(&key.expression, names));
        if key.descending {
            text.push_str(" DESC");
        }
    }
    text
}

/// Text of a constant.
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
        write!(out, "{}", Text { expression, names })?;
    }
    Ok(())
}

/// Text of a comparison operator, as MySQL prints it.
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

/// Writer of an expression.
struct Text<'a> {
    expression: &'a Expression,
    names: &'a dyn Names,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_stack(|| self.write(f))
    }
}

impl Text<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ty, names) = (&self.expression.ty, self.names);
        let text = |expression| Text { expression, names };
        match &self.expression.kind {
            ExpressionKind::Literal(value) => f.write_str(&literal_text(value, ty)),
            ExpressionKind::Column(column) => f.write_str(&names.column(*column)),
            ExpressionKind::Parameter(_) => f.write_char('?'),
            ExpressionKind::Local(local) => write!(f, "<value {local}>"),
            ExpressionKind::Let { values, body } => {
                f.write_char('(')?;
                for (local, value) in values {
                    write!(f, "<value {local}> := {}; ", text(value))?;
                }
                write!(f, "{})", text(body))
            }
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => write_call(f, function, arguments, names),
            ExpressionKind::Cast(operand, _) if is_silent(&operand.ty, ty) => {
                write!(f, "{}", text(operand))
            }
            ExpressionKind::Cast(operand, _) => {
                write!(f, "cast({} as {})", text(operand), cast_target(ty))
            }
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => {
                let sign = comparison_text(*comparison);
                write!(f, "({} {sign} {})", text(left), text(right))
            }
            ExpressionKind::And(operands) => write_junction(f, operands, " and ", names),
            ExpressionKind::Or(operands) => write_junction(f, operands, " or ", names),
            ExpressionKind::Not(operand) => match &operand.kind {
                ExpressionKind::IsNull(inner) => write!(f, "({} is not null)", text(inner)),
                _ => write!(f, "(not({}))", text(operand)),
            },
            ExpressionKind::IsNull(operand) => write!(f, "({} is null)", text(operand)),
            ExpressionKind::IsTruth(operand, truth) => {
                let truth = match truth {
                    Some(true) => "true",
                    Some(false) => "false",
                    None => "unknown",
                };
                write!(f, "({} is {truth})", text(operand))
            }
            ExpressionKind::Case {
                branches,
                otherwise,
            } => {
                f.write_str("(case")?;
                for (condition, result) in branches {
                    write!(f, " when {} then {}", text(condition), text(result))?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " else {}", text(otherwise))?;
                }
                f.write_str(" end)")
            }
            ExpressionKind::InList {
                operand,
                list,
                negated,
            } => {
                let not = if *negated { "not " } else { "" };
                write!(f, "({} {not}in (", text(operand))?;
                for (index, value) in list.iter().enumerate() {
                    let separator = if index > 0 { "," } else { "" };
                    write!(f, "{separator}{}", value_text(value, &operand.ty))?;
                }
                f.write_str("))")
            }
            ExpressionKind::Subquery(subquery) => {
                let number = format!("select #{}", subquery.select_id);
                write_subquery(f, &subquery.kind, &number, names)
            }
            ExpressionKind::LogicalSubquery(subquery) => {
                let query = names.subquery(subquery);
                let query = query.unwrap_or_else(|| format!("select #{}", subquery.select_id));
                write_subquery(f, &subquery.kind, &query, names)
            }
        }
    }
}

/// Text of a literal; 0 and 1 of predicates are printed as words.
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
    function: &FunctionRef,
    arguments: &[Expression],
    names: &dyn Names,
) -> fmt::Result {
    let text = |expression| Text { expression, names };
    match (function.printed_form(), arguments) {
        (Printed::Infix(symbol), [left, right, ..]) => {
            write!(out, "({} {symbol} {})", text(left), text(right))
        }
        (Printed::Prefix(symbol), [operand]) => write!(out, "{symbol}({})", text(operand)),
        (Printed::FirstArgument, [first, ..]) => write!(out, "{}", text(first)),
        (Printed::Variable, [variable]) => write!(out, "(@{})", word(variable)),
        (Printed::Assignment, [variable, value]) => {
            write!(out, "(@{}:={})", word(variable), text(value))
        }
        _ => {
            match function {
                FunctionRef::BuiltIn(function) => out.write_str(function.name())?,
                FunctionRef::Stored(function) => out.write_str(&names.function(&function.name))?,
            }
            out.write_char('(')?;
            write_list(out, arguments, ",", names)?;
            out.write_char(')')
        }
    }
}

/// A constant printed as a keyword.
fn word(constant: &Expression) -> Cow<'_, str> {
    match constant.as_literal() {
        Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes),
        _ => Cow::default(),
    }
}

/// `(a in (select #2))`
fn write_subquery(
    out: &mut dyn Write,
    kind: &SubqueryKind,
    query: &str,
    names: &dyn Names,
) -> fmt::Result {
    match kind {
        SubqueryKind::Scalar => write!(out, "({query})"),
        SubqueryKind::Exists { negated } => {
            let not = if *negated { "not " } else { "" };
            write!(out, "{not}exists({query})")
        }
        SubqueryKind::Quantified {
            left,
            comparison,
            all,
        } => {
            write_row(out, left, names)?;
            match (comparison, all) {
                (Comparison::Equal, false) => write!(out, " in ({query}))"),
                (Comparison::NotEqual, true) => write!(out, " not in ({query}))"),
                _ => {
                    let word = if *all { "all" } else { "any" };
                    let symbol = comparison_text(*comparison);
                    write!(out, " {symbol} {word} ({query}))")
                }
            }
        }
        SubqueryKind::Row { left, comparison } => {
            write_row(out, left, names)?;
            let symbol = comparison_text(*comparison);
            write!(out, " {symbol} ({query}))")
        }
    }
}

fn write_row(out: &mut dyn Write, left: &[Expression], names: &dyn Names) -> fmt::Result {
    out.write_char('(')?;
    match left {
        [expression] => write!(out, "{}", Text { expression, names }),
        several => write_junction(out, several, ",", names),
    }
}

/// Whether a conversion is implicit in MySQL's operators. One between integers is always explicit.
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
        TypeKind::Geometry(kind) => kind.name().to_ascii_lowercase(),
        TypeKind::VarChar
        | TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText
        | TypeKind::Vector => {
            if ty.is_binary_string() {
                "char charset binary".to_owned()
            } else {
                format!("char charset {}", ty.collation.charset().name())
            }
        }
    }
}

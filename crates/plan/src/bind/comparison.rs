//! Type in which two operands are compared (the manual, "Type Conversion in Expression Evaluation").

use mayfly_functions::{Signature, scalar};
use mayfly_types::common_type::wider_decimal;
use mayfly_types::decimal::Decimal;
use mayfly_types::temporal::number::{datetime_from_number, time_from_number};
use mayfly_types::temporal::{
    DateRules, DateTime, Displayed, append_date, append_datetime, parse_time,
};
use mayfly_types::{CollationId, PhysicalType, Result, SqlMode, SqlType, TypeKind, Value};

use super::collation::{aggregate_collations, has_collation, unclaimed};
use super::numbers::choice_as_number;
use super::structured::check_comparison;
use super::types::{cast, is_date, string_of, with_collation};
use crate::bind::literal;
use crate::catalog::{Catalog, ParameterPlace};
use crate::tree::expression::{Expression, ExpressionKind};

/// Converts two operands to their comparison type.
pub(crate) fn unify_for_comparison(
    catalog: &dyn Catalog,
    left: Expression,
    right: Expression,
    operation: &str,
) -> Result<(Expression, Expression)> {
    for (one, other) in [(&left, &right), (&right, &left)] {
        if let ExpressionKind::Parameter(index) = one.kind {
            catalog.parameter_meets(index, &other.ty, ParameterPlace::Comparison);
        }
    }
    check_comparison(&left.ty, &right.ty, operation)?;
    let left = constant_beside(catalog, left, &right.ty);
    let right = constant_beside(catalog, right, &left.ty);
    let left = year_beside(left, &right);
    let right = year_beside(right, &left);
    let (left, right) = match (left.ty.kind, right.ty.kind) {
        (TypeKind::Year, _) => (left, full_year(right)),
        (_, TypeKind::Year) => (full_year(left), right),
        _ => (left, right),
    };
    let left = number_beside(left, &right.ty);
    let right = number_beside(right, &left.ty);
    let left = moment_beside(left, &right);
    let right = moment_beside(right, &left);
    let target = comparison_type(&left, &right, operation)?;
    let (left, right) = (unclaimed(left), unclaimed(right));
    match target {
        Target::Type(ty) if ty.kind == TypeKind::Json => Ok((as_json(left), as_json(right))),
        Target::Type(ty) => Ok((comparable(left, &ty)?, comparable(right, &ty)?)),
        Target::Collation(collation) => Ok((
            with_collation(left, collation),
            with_collation(right, collation),
        )),
    }
}

/// The constant value of a `?`, where the comparison type depends on it: beside a year, and as text beside an exact
/// number.
fn constant_beside(catalog: &dyn Catalog, operand: Expression, other: &SqlType) -> Expression {
    let ExpressionKind::Parameter(index) = operand.kind else {
        return operand;
    };
    let is_text = has_collation(&operand.ty);
    let depends = match other.kind {
        TypeKind::Year => is_text || operand.ty.is_integer(),
        _ => is_text && (other.is_integer() || other.kind == TypeKind::Decimal),
    };
    let value = depends.then(|| catalog.parameter_value(index)).flatten();
    match value {
        None | Some(Value::Null) => operand,
        Some(value) => Expression::literal(value, operand.ty),
    }
}

/// An operand beside a number: a choice of hexadecimal literals is a number there, as a literal alone is.
fn number_beside(operand: Expression, other: &SqlType) -> Expression {
    let is_number = other.is_numeric() || matches!(other.kind, TypeKind::Enum | TypeKind::Set);
    match is_number && has_collation(&operand.ty) {
        true => choice_as_number(operand),
        false => operand,
    }
}

/// Rules that no SQL mode makes stricter.
const STRICT: DateRules = DateRules {
    no_zero_date: true,
    no_zero_in_date: true,
    allow_invalid_dates: false,
};

/// A text literal beside a column of type DATE or DATETIME as a literal of that type, if it is written as such a value is shown,
/// and so means it in every SQL mode: a table's index or file is then searched for it.
fn moment_beside(operand: Expression, other: &Expression) -> Expression {
    let (ExpressionKind::Column(_), Some(Value::Bytes(text))) = (&other.kind, operand.as_literal())
    else {
        return operand;
    };
    let mut shown = Vec::new();
    let value = match (Displayed::read(text), other.ty.kind) {
        (Some(Displayed::Date(date)), TypeKind::Date | TypeKind::DateTime) => {
            append_date(&mut shown, date.pack());
            date
        }
        (Some(Displayed::DateTime(value)), TypeKind::DateTime) => {
            append_datetime(&mut shown, value.pack(), 0);
            value
        }
        _ => return operand,
    };
    let is_valid = value.year > 0 && value.check(STRICT).is_ok();
    if shown != *text || !is_valid || !has_collation(&operand.ty) {
        return operand;
    }
    let ty = SqlType::temporal(other.ty.kind, 0);
    Expression::literal(Value::Int(value.pack()), ty)
}

/// An operand beside a column of years: of a constant date the year is compared.
fn year_beside(operand: Expression, other: &Expression) -> Expression {
    let is_column = matches!(other.kind, ExpressionKind::Column(_));
    let is_date = operand.ty.is_temporal() && operand.ty.kind != TypeKind::Time;
    match operand.as_literal() {
        Some(Value::Int(packed)) if is_date && is_column && other.ty.kind == TypeKind::Year => {
            let year = DateTime::unpack(*packed).year;
            Expression::literal(Value::Int(year.into()), SqlType::bigint())
        }
        _ => operand,
    }
}

/// A literal of one or two digits as the year that it is compared as. Of a text only the leading digits count.
fn full_year(operand: Expression) -> Expression {
    let digits = match operand.as_literal() {
        Some(Value::Int(number)) => u16::try_from(*number).ok(),
        Some(Value::Float(number)) if *number > 0.0 => Some(*number as u16),
        Some(Value::Decimal { unscaled, scale }) => {
            let whole = Decimal::new(*unscaled, *scale).truncate(0).to_i64();
            whole.ok().and_then(|number| number.try_into().ok())
        }
        Some(Value::Bytes(text)) if !literal::is_hexadecimal(&operand) => {
            let (digits, others) = leading_digits(text);
            let number: Option<u16> = digits.and_then(|digits| digits.parse().ok());
            match digits.map_or(0, str::len) {
                1..=2 => number,
                _ if others.is_empty() => None,
                _ => {
                    return match number {
                        Some(number @ (0 | 1901..=2155)) => {
                            Expression::literal(Value::Int(number.into()), SqlType::bigint())
                        }
                        _ => operand,
                    };
                }
            }
        }
        _ => None,
    };
    let is_text = has_collation(&operand.ty);
    let year = match digits.filter(|number| is_text || *number > 0) {
        Some(number @ 0..70) => number + 2000,
        Some(number @ 70..100) => number + 1900,
        _ => return operand,
    };
    Expression::literal(Value::Int(year.into()), SqlType::bigint())
}

/// (leading digits of a text, the rest).
fn leading_digits(text: &[u8]) -> (Option<&str>, &[u8]) {
    let text = text.trim_ascii_start();
    let is_other = |byte: &u8| !byte.is_ascii_digit();
    let end = text.iter().position(is_other).unwrap_or(text.len());
    let (digits, others) = text.split_at(end);
    let digits = std::str::from_utf8(digits).ok();
    (digits.filter(|digits| !digits.is_empty()), others)
}

/// An operand in its comparison type. Text compared with a date is converted by a function: text that is not a date is
/// the zero date there, and not NULL.
fn comparable(operand: Expression, to: &SqlType) -> Result<Expression> {
    let name = match to.kind {
        TypeKind::Date => "comparable date",
        TypeKind::DateTime => "comparable datetime",
        _ => return Ok(cast(operand, to)),
    };
    // A member of an ENUM or SET is its text.
    let operand = match operand.ty.kind {
        TypeKind::Enum | TypeKind::Set => {
            let text = SqlType::varchar(operand.ty.length.max(1), operand.ty.collation);
            cast(operand, &text)
        }
        _ => operand,
    };
    let is_date = |value| literal::convert(value, &operand.ty, to).is_some();
    let is_text = has_collation(&operand.ty) && !operand.as_literal().is_some_and(is_date);
    let Some(function) = mayfly_functions::scalar::by_name(name).filter(|_| is_text) else {
        return Ok(cast(operand, to));
    };
    let signature = Signature::new(vec![operand.ty.clone()], to.clone(), operand.nullable);
    Ok(Expression::call(function, vec![operand], signature))
}

/// Converts documents to texts for CASE and BETWEEN, or to numbers where an operand is a number.
pub(crate) fn documents_as_scalars(operands: &mut [Expression]) {
    let is_document = |operand: &Expression| operand.ty.kind == TypeKind::Json;
    let is_number = |operand: &Expression| operand.ty.is_numeric();
    let target = if operands.iter().any(is_number) {
        SqlType::double()
    } else {
        string_of(&SqlType::json(), CollationId::UTF8MB4_BIN)
    };
    for operand in operands.iter_mut().filter(|operand| is_document(operand)) {
        operand.change(|document| cast(document, &target));
    }
}

/// Converts dates to texts: `CASE text WHEN date` compares texts, unlike `=` and a CASE of a date.
pub(crate) fn dates_as_texts([operand, value]: &mut [Expression; 2]) {
    if is_date(&value.ty) && has_collation(&operand.ty) {
        let text = string_of(&value.ty, operand.ty.collation);
        value.change(|date| cast(date, &text));
    }
}

/// An operand compared with a document: a string is a JSON string, not the text of a document.
fn as_json(operand: Expression) -> Expression {
    let json = SqlType::json();
    let is_text = operand.ty.is_string() && !operand.ty.is_binary_string();
    if let (true, ExpressionKind::Literal(Value::Bytes(text))) = (is_text, &operand.kind) {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        mayfly_types::json::append_quoted(&mut quoted, text);
        return Expression::literal(Value::Bytes(quoted), json);
    }
    if is_text && let Some(function) = scalar::by_name("json_quote") {
        let text = SqlType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN);
        let signature = Signature::new(vec![operand.ty.clone()], text, operand.nullable);
        return cast(Expression::call(function, vec![operand], signature), &json);
    }
    cast(operand, &json)
}

enum Target {
    Type(SqlType),
    Collation(CollationId),
}

fn comparison_type(left: &Expression, right: &Expression, operation: &str) -> Result<Target> {
    let (a, b) = (&left.ty, &right.ty);
    if b.kind == TypeKind::Null {
        return Ok(Target::Type(type_of_value(a)));
    }
    if a.kind == TypeKind::Null {
        return Ok(Target::Type(type_of_value(b)));
    }
    if a.kind == TypeKind::Json || b.kind == TypeKind::Json {
        return Ok(Target::Type(SqlType::json()));
    }
    let text = |ty: &SqlType| has_collation(ty);
    if text(a) && text(b) {
        let collation = aggregate_collations(&[left, right], operation, true)?;
        return Ok(Target::Collation(collation));
    }
    if a.is_temporal() || b.is_temporal() {
        return Ok(temporal_comparison(left, right));
    }
    // ENUM and SET compared with a number are their index.
    let number = |ty: &SqlType| match ty.kind {
        TypeKind::Enum | TypeKind::Set => SqlType::bigint_unsigned(),
        _ => ty.clone(),
    };
    let (a, b) = (number(a), number(b));
    if text(&a) || text(&b) {
        let (string, number, ty) = if text(&a) {
            (left, right, &b)
        } else {
            (right, left, &a)
        };
        return Ok(Target::Type(string_with_number(string, number, ty)));
    }
    Ok(Target::Type(numeric_comparison(left, &a, right, &b)))
}

/// The comparison type of a single value's type.
fn type_of_value(ty: &SqlType) -> SqlType {
    match ty.kind {
        TypeKind::Null => SqlType::bigint(),
        _ => mayfly_types::common_type::as_value(ty),
    }
}

fn string_with_number(string: &Expression, operand: &Expression, number: &SqlType) -> SqlType {
    // A literal that is an integer is compared as one, so that large ones keep all their digits; 0x41 is a number here.
    if let ExpressionKind::Literal(Value::Bytes(bytes)) = &string.kind
        && number.is_integer()
    {
        if literal::is_hexadecimal(string) {
            let fits = bytes.len() < 8 || bytes.len() == 8 && bytes[0] < 0x80;
            return match number.physical() {
                PhysicalType::UInt64 => SqlType::bigint_unsigned(),
                _ if fits => SqlType::bigint(),
                _ => SqlType::decimal(20, 0),
            };
        }
        let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
        if (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
            return match number.physical() {
                PhysicalType::UInt64 if bytes.len() != digits.len() => SqlType::decimal(20, 0),
                PhysicalType::UInt64 => SqlType::bigint_unsigned(),
                _ => SqlType::bigint(),
            };
        }
        // The values of a column keep all their digits.
        if matches!(operand.kind, ExpressionKind::Column(_))
            && let Some(ty) = decimal_of_text(bytes)
        {
            return wider_decimal(&as_decimal(number), &ty);
        }
    }
    if let ExpressionKind::Literal(Value::Bytes(bytes)) = &string.kind
        && number.kind == TypeKind::Decimal
        && operand.as_literal().is_none()
        && !literal::is_hexadecimal(string)
    {
        let ty = decimal_of_text(bytes).unwrap_or_else(|| SqlType::decimal(65, 30));
        return wider_decimal(&as_decimal(number), &ty);
    }
    SqlType::double()
}

/// Type of a number written as text, of digits and a point only.
fn decimal_of_text(text: &[u8]) -> Option<SqlType> {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let mut halves = digits.splitn(2, |byte| *byte == b'.');
    let (whole, fraction) = (halves.next()?, halves.next().unwrap_or_default());
    let is_number = !whole.is_empty()
        && [whole, fraction]
            .iter()
            .all(|half| half.iter().all(u8::is_ascii_digit));
    let scale = u8::try_from(fraction.len())
        .ok()
        .filter(|scale| *scale <= 30)?;
    let precision = u8::try_from(whole.len() + fraction.len()).ok()?;
    (is_number && precision <= 65).then(|| SqlType::decimal(precision, scale))
}

fn numeric_comparison(left: &Expression, a: &SqlType, right: &Expression, b: &SqlType) -> SqlType {
    let float = |ty: &SqlType| matches!(ty.kind, TypeKind::Float | TypeKind::Double);
    if float(a) || float(b) {
        return SqlType::double();
    }
    if a.kind == TypeKind::Decimal || b.kind == TypeKind::Decimal {
        return wider_decimal(&as_decimal(a), &as_decimal(b));
    }
    let unsigned = |ty: &SqlType| ty.physical() == PhysicalType::UInt64;
    match (unsigned(a), unsigned(b)) {
        (false, false) => SqlType::bigint(),
        (true, true) => SqlType::bigint_unsigned(),
        // A literal takes the other side's signedness if it can.
        (true, false) if fits_other_sign(right) => SqlType::bigint_unsigned(),
        (false, true) if fits_other_sign(left) => SqlType::bigint_unsigned(),
        (true, false) if fits_other_sign(left) => SqlType::bigint(),
        (false, true) if fits_other_sign(right) => SqlType::bigint(),
        _ => SqlType::decimal(20, 0),
    }
}

fn fits_other_sign(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(Value::Int(number)) => *number >= 0,
        ExpressionKind::Literal(Value::UInt(number)) => i64::try_from(*number).is_ok(),
        _ => expression.ty.kind == TypeKind::Boolean,
    }
}

fn as_decimal(ty: &SqlType) -> SqlType {
    mayfly_types::decimal::decimal_of_numeric(ty)
}

fn temporal_comparison(left: &Expression, right: &Expression) -> Target {
    let (a, b) = (&left.ty, &right.ty);
    let time = |ty: &SqlType| ty.kind == TypeKind::Time;
    let decimals = a.decimals.max(b.decimals);
    match (a.is_temporal(), b.is_temporal()) {
        (true, true) if time(a) && time(b) => {
            Target::Type(SqlType::temporal(TypeKind::Time, decimals))
        }
        (true, true) => Target::Type(SqlType::temporal(TypeKind::DateTime, decimals)),
        (true, false) => temporal_with_other(left, right),
        _ => temporal_with_other(right, left),
    }
}

fn temporal_with_other(operand: &Expression, other: &Expression) -> Target {
    if has_collation(&other.ty) {
        return temporal_with_text(operand, other);
    }
    let temporal = &operand.ty;
    let is_date_or_time = match &other.kind {
        // A number that is not a date makes the comparison one of numbers: `d <> 0`.
        ExpressionKind::Literal(value) => {
            !other.ty.is_numeric() || is_temporal_number(value, temporal)
        }
        ExpressionKind::Parameter(_) => true,
        _ => false,
    };
    Target::Type(if is_date_or_time {
        match temporal.kind {
            TypeKind::Time => SqlType::temporal(TypeKind::Time, temporal.decimals),
            _ => SqlType::temporal(TypeKind::DateTime, temporal.decimals),
        }
    } else if matches!(other.ty.kind, TypeKind::Float | TypeKind::Double) {
        SqlType::double()
    } else {
        wider_decimal(&temporal_number(temporal), &as_decimal(&other.ty))
    })
}

/// Converts the literal, not the column; the fraction of a literal counts. A text column is converted to the type of
/// the other side, but times are compared with it as text, and a constant date is the instant at which it begins.
fn temporal_with_text(operand: &Expression, text: &Expression) -> Target {
    let temporal = &operand.ty;
    let exact = match temporal.kind {
        TypeKind::Time => SqlType::temporal(TypeKind::Time, 6),
        _ => SqlType::temporal(TypeKind::DateTime, 6),
    };
    let is_parameter = matches!(text.kind, ExpressionKind::Parameter(_));
    match (temporal.kind, text.as_literal()) {
        (TypeKind::Time, Some(Value::Bytes(bytes))) => match parse_time(bytes, false) {
            Ok(time) if !time.truncated => Target::Type(exact),
            _ => Target::Collation(text.ty.collation),
        },
        (TypeKind::Time, None) if !is_parameter => Target::Collation(text.ty.collation),
        (TypeKind::Date, None) if !is_parameter && !is_constant(operand) => {
            Target::Type(SqlType::temporal(TypeKind::Date, 0))
        }
        _ => Target::Type(exact),
    }
}

/// Whether an expression has one value as long as the statement runs.
fn is_constant(expression: &Expression) -> bool {
    let mut is_constant = true;
    crate::tree::logical::visit_expression(expression, &mut |inner| {
        is_constant &= !matches!(
            inner.kind,
            ExpressionKind::Column(_)
                | ExpressionKind::Local(_)
                | ExpressionKind::Subquery(_)
                | ExpressionKind::LogicalSubquery(_)
        );
        is_constant
    });
    is_constant
}

/// Integer part of a number.
fn whole_number(number: &Value) -> Option<i64> {
    match number {
        Value::Int(number) => Some(*number),
        Value::UInt(number) => i64::try_from(*number).ok(),
        Value::Float(number) => Some(*number as i64),
        Value::Decimal { unscaled, scale } => {
            Decimal::new(*unscaled, *scale).truncate(0).to_i64().ok()
        }
        Value::Null | Value::Bytes(_) => None,
    }
}

/// Whether a number may be stored in a column of dates, or of times: a date has no fraction.
pub(super) fn is_moment(number: &Value, is_time: bool, sql_mode: SqlMode) -> bool {
    let has_fraction = match number {
        Value::Decimal { unscaled, scale } => {
            let number = Decimal::new(*unscaled, *scale);
            number.truncate(0) != number
        }
        _ => false,
    };
    let rules = DateRules {
        no_zero_date: false,
        allow_invalid_dates: true,
        ..DateRules::of(sql_mode)
    };
    whole_number(number).is_some_and(|whole| match is_time {
        true => time_from_number(whole, 0).is_ok_and(|(_, cut)| !cut),
        false => !has_fraction && datetime_from_number(whole, 0, rules).is_ok(),
    })
}

/// Whether a number is a date (or time, if `temporal` is one) written without delimiters.
fn is_temporal_number(number: &Value, temporal: &SqlType) -> bool {
    let rules = DateRules {
        no_zero_date: true,
        no_zero_in_date: true,
        ..DateRules::default()
    };
    whole_number(number).is_some_and(|number| match temporal.kind {
        TypeKind::Time => time_from_number(number, 0).is_ok_and(|(_, cut)| !cut),
        _ => datetime_from_number(number, 0, rules).is_ok(),
    })
}

/// Type of a temporal value as a number such as 20240131235959.
fn temporal_number(ty: &SqlType) -> SqlType {
    let digits = match ty.kind {
        TypeKind::Date => 8,
        TypeKind::Time => 7,
        _ => 14,
    };
    SqlType::decimal(digits + ty.decimals, ty.decimals)
}

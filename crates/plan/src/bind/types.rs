//! Types of expressions: what operands are converted to, and what a choice between several gives
//! (the manual, "Type Conversion in Expression Evaluation").

use mayfly_functions::Argument;
pub(crate) use mayfly_types::common_type::string_of;
use mayfly_types::common_type::{Alternatives, aggregate_types, text_length, wider_decimal};
use mayfly_types::temporal::DateRules;
use mayfly_types::temporal::number::{datetime_from_number, time_from_number};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind, Value};

use super::collation::{aggregate_collations, coercibility, has_collation};
use super::variables::{decimal_variable, read_as};
use crate::expression::{Comparison, Expression, ExpressionKind};
use crate::logical::SubqueryKind;

/// The type of a predicate once it is a value.
pub(crate) fn truth_value() -> SqlType {
    SqlType {
        length: 1,
        ..SqlType::bigint()
    }
}

/// The expression as a value that may be stored: predicates become 0 and 1.
pub(crate) fn as_value(expression: Expression) -> Expression {
    if expression.ty.kind != TypeKind::Boolean {
        return expression;
    }
    cast(expression, &truth_value())
}

/// The expression as a predicate: anything else is compared with zero.
pub(crate) fn as_predicate(expression: Expression) -> Expression {
    let zero = match expression.ty.kind {
        TypeKind::Boolean => return expression,
        TypeKind::Null => {
            return Expression {
                ty: SqlType::boolean(),
                ..expression
            };
        }
        // A document is true unless it is the number 0.
        TypeKind::Json => {
            let zero = Expression::literal(Value::from("0"), SqlType::json());
            return compare(Comparison::NotEqual, expression, zero);
        }
        _ if expression.ty.is_integer() || expression.ty.kind == TypeKind::Decimal => None,
        TypeKind::Enum | TypeKind::Set => None,
        _ => Some(SqlType::double()),
    };
    let left = match &zero {
        Some(double) => cast(expression, double),
        None => expression,
    };
    if let ExpressionKind::Literal(value) = &left.kind
        && let Some(truth) = truth(value)
    {
        return Expression::literal(Value::Int(i64::from(truth)), SqlType::boolean());
    }
    let zero = match left.ty.physical() {
        PhysicalType::UInt64 => Value::UInt(0),
        PhysicalType::Float64 => Value::Float(0.0),
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => Value::Decimal {
            unscaled: arrow_buffer::i256::ZERO,
            scale,
        },
        _ => Value::Int(0),
    };
    let right = Expression::literal(zero, left.ty.clone());
    compare(Comparison::NotEqual, left, right)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Int(number) => Some(*number != 0),
        Value::UInt(number) => Some(*number != 0),
        Value::Float(number) => Some(*number != 0.0),
        Value::Decimal { unscaled, .. } => Some(*unscaled != arrow_buffer::i256::ZERO),
        Value::Null | Value::Bytes(_) => None,
    }
}

/// A comparison of two expressions that are of one type already.
pub(crate) fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    let nullable = comparison != Comparison::NullSafeEqual && (left.nullable || right.nullable);
    Expression {
        kind: ExpressionKind::Compare {
            comparison,
            left: Box::new(left),
            right: Box::new(right),
        },
        ty: SqlType::boolean(),
        nullable,
    }
}

/// Conjunction; nested ones are made flat.
pub(crate) fn and(operands: Vec<Expression>) -> Expression {
    junction(operands, true)
}

/// Disjunction; nested ones are made flat.
pub(crate) fn or(operands: Vec<Expression>) -> Expression {
    junction(operands, false)
}

fn junction(operands: Vec<Expression>, conjunction: bool) -> Expression {
    let mut flat = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand.kind {
            ExpressionKind::And(inner) if conjunction => flat.extend(inner),
            ExpressionKind::Or(inner) if !conjunction => flat.extend(inner),
            _ => flat.push(operand),
        }
    }
    if flat.len() == 1
        && let Some(only) = flat.pop()
    {
        return only;
    }
    let nullable = flat.iter().any(|operand| operand.nullable);
    Expression {
        kind: if conjunction {
            ExpressionKind::And(flat)
        } else {
            ExpressionKind::Or(flat)
        },
        ty: SqlType::boolean(),
        nullable,
    }
}

/// Negation of a predicate.
pub(crate) fn not(mut operand: Expression) -> Expression {
    let nullable = operand.nullable;
    if let ExpressionKind::LogicalSubquery(subquery) = &mut operand.kind
        && negate(&mut subquery.kind)
    {
        return operand;
    }
    match operand.kind {
        ExpressionKind::Not(inner) => *inner,
        ExpressionKind::InList {
            operand,
            list,
            negated,
        } => Expression {
            kind: ExpressionKind::InList {
                operand,
                list,
                negated: !negated,
            },
            ty: SqlType::boolean(),
            nullable,
        },
        kind => Expression {
            kind: ExpressionKind::Not(Box::new(Expression {
                kind,
                ty: SqlType::boolean(),
                nullable,
            })),
            ty: SqlType::boolean(),
            nullable,
        },
    }
}

/// Turns EXISTS, IN and their negations into their opposites; whether there is one.
fn negate(kind: &mut SubqueryKind) -> bool {
    match kind {
        SubqueryKind::Exists { negated } => {
            *negated = !*negated;
            true
        }
        SubqueryKind::Quantified {
            comparison, all, ..
        } => {
            *comparison = match (*comparison, *all) {
                (Comparison::Equal, false) => Comparison::NotEqual,
                (Comparison::NotEqual, true) => Comparison::Equal,
                _ => return false,
            };
            *all = !*all;
            true
        }
        SubqueryKind::Scalar | SubqueryKind::Row { .. } => false,
    }
}

/// `operand IS NULL`
pub(crate) fn is_null(operand: Expression) -> Expression {
    Expression {
        kind: ExpressionKind::IsNull(Box::new(operand)),
        ty: SqlType::boolean(),
        nullable: false,
    }
}

/// Whether values of `from` are values of `to` as they are.
fn same_representation(from: &SqlType, to: &SqlType) -> bool {
    if from == to {
        return true;
    }
    if from.physical() != to.physical() {
        return false;
    }
    match (from.kind, to.kind) {
        (TypeKind::Null, _) | (_, TypeKind::Null) => false,
        (TypeKind::Decimal, TypeKind::Decimal) => from.length <= to.length,
        (TypeKind::Double | TypeKind::Float, TypeKind::Double) => true,
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, TypeKind::DateTime) => {
            from.decimals <= to.decimals
        }
        (TypeKind::Time, TypeKind::Time) => from.decimals <= to.decimals,
        (TypeKind::Enum | TypeKind::Set, _) | (_, TypeKind::Enum | TypeKind::Set) => false,
        (TypeKind::Json, _) | (_, TypeKind::Json) => false,
        _ if from.is_string() && to.is_string() => {
            from.collation == to.collation && text_length(from) <= text_length(to)
        }
        _ if from.is_integer() && to.is_integer() => {
            integer_rank(from) <= integer_rank(to) && to.kind != TypeKind::Bit
        }
        _ => false,
    }
}

/// Orders integer kinds by their range.
fn integer_rank(ty: &SqlType) -> u8 {
    match ty.kind {
        TypeKind::Boolean => 0,
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt | TypeKind::Year => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        _ => 5,
    }
}

/// Converts an expression; a literal is converted now when that raises no warning.
pub(crate) fn cast(expression: Expression, to: &SqlType) -> Expression {
    if same_representation(&expression.ty, to) {
        return expression;
    }
    if let ExpressionKind::Literal(value) = &expression.kind
        && let Some(converted) = super::expression::literal::convert(value, &expression.ty, to)
    {
        return Expression::literal(converted, to.clone());
    }
    if to.is_string() && decimal_variable(&expression).is_some() {
        let mut variable = expression;
        read_as(&mut variable, to);
        return variable;
    }
    // A string that does not parse becomes a NULL temporal value.
    let nullable = expression.nullable
        || (to.is_temporal() && !expression.ty.is_temporal())
        || to.kind == TypeKind::Json;
    Expression {
        kind: ExpressionKind::Cast(Box::new(expression), None),
        ty: to.clone(),
        nullable,
    }
}

/// The same value, compared by another collation.
pub(crate) fn with_collation(mut expression: Expression, collation: CollationId) -> Expression {
    if expression.ty.is_string() && expression.ty.collation == collation {
        return expression;
    }
    if !expression.ty.is_string() {
        let target = string_of(&expression.ty, collation);
        return cast(expression, &target);
    }
    let binary = |id: CollationId| id == CollationId::BINARY;
    if binary(expression.ty.collation) != binary(collation) {
        let target = SqlType {
            collation,
            ..expression.ty.clone()
        };
        return cast(expression, &target);
    }
    // Text has one representation whatever its collation.
    expression.ty.collation = collation;
    expression
}

/// What a function is told of an argument.
pub(crate) fn argument(expression: &Expression) -> Argument<'_> {
    Argument {
        ty: &expression.ty,
        nullable: expression.nullable,
        constant: expression.as_literal(),
        coercibility: coercibility(expression),
    }
}

/// Converts two operands to the type that they are compared in.
pub(crate) fn unify_for_comparison(
    left: Expression,
    right: Expression,
    operation: &str,
) -> Result<(Expression, Expression)> {
    let target = comparison_type(&left, &right, operation)?;
    match target {
        Target::Type(ty) if ty.kind == TypeKind::Json => Ok((as_json(left), as_json(right))),
        Target::Type(ty) => Ok((cast(left, &ty), cast(right, &ty))),
        Target::Collation(collation) => Ok((
            with_collation(left, collation),
            with_collation(right, collation),
        )),
    }
}

/// What a document is compared with: a string literal is a JSON string, not the text of a document.
fn as_json(operand: Expression) -> Expression {
    let json = SqlType::json();
    let is_text = operand.ty.is_string() && !operand.ty.is_binary_string();
    if let (true, ExpressionKind::Literal(Value::Bytes(text))) = (is_text, &operand.kind) {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        mayfly_types::json::append_quoted(&mut quoted, text);
        return Expression::literal(Value::Bytes(quoted), json);
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
        return Ok(Target::Type(comparable(a)));
    }
    if a.kind == TypeKind::Null {
        return Ok(Target::Type(comparable(b)));
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
        return Ok(Target::Type(temporal_comparison(left, right)));
    }
    // ENUM and SET meet a number as their index.
    let number = |ty: &SqlType| match ty.kind {
        TypeKind::Enum | TypeKind::Set => SqlType::bigint_unsigned(),
        _ => ty.clone(),
    };
    let (a, b) = (number(a), number(b));
    if text(&a) || text(&b) {
        let (string, other) = if text(&a) { (left, &b) } else { (right, &a) };
        return Ok(Target::Type(string_with_number(string, other)));
    }
    Ok(Target::Type(numeric_comparison(left, &a, right, &b)))
}

/// The type itself, unless it is none that values are compared in.
fn comparable(ty: &SqlType) -> SqlType {
    match ty.kind {
        TypeKind::Null => SqlType::bigint(),
        _ => mayfly_types::common_type::as_value(ty),
    }
}

fn string_with_number(string: &Expression, number: &SqlType) -> SqlType {
    // A literal that is an integer is compared as one, so that large ones keep all their digits;
    // 0x41 is a number here.
    if let ExpressionKind::Literal(Value::Bytes(bytes)) = &string.kind
        && number.is_integer()
    {
        if super::expression::literal::is_hexadecimal(string) {
            return SqlType::bigint_unsigned();
        }
        let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
        if (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
            return match number.physical() {
                PhysicalType::UInt64 if bytes.len() != digits.len() => SqlType::decimal(20, 0),
                PhysicalType::UInt64 => SqlType::bigint_unsigned(),
                _ => SqlType::bigint(),
            };
        }
    }
    SqlType::double()
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

fn temporal_comparison(left: &Expression, right: &Expression) -> SqlType {
    let (a, b) = (&left.ty, &right.ty);
    let time = |ty: &SqlType| ty.kind == TypeKind::Time;
    let fraction = |ty: &SqlType| {
        if ty.is_temporal() { ty.decimals } else { 6 }
    };
    let decimals = fraction(a).max(fraction(b));
    match (a.is_temporal(), b.is_temporal()) {
        (true, true) if time(a) && time(b) => SqlType::temporal(TypeKind::Time, decimals),
        (true, true) => SqlType::temporal(TypeKind::DateTime, decimals),
        (true, false) => temporal_with_other(a, right),
        _ => temporal_with_other(b, left),
    }
}

fn temporal_with_other(temporal: &SqlType, other: &Expression) -> SqlType {
    let constant = matches!(
        other.kind,
        ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)
    );
    // A number that is no date leaves numbers to compare: `d <> 0`.
    let is_other_number = matches!(
        &other.kind,
        ExpressionKind::Literal(value) if other.ty.is_numeric() && !is_moment(value, temporal)
    );
    if !is_other_number && (has_collation(&other.ty) || constant) {
        // The literal is converted, not the column; the fraction of a literal counts.
        let decimals = if has_collation(&other.ty) {
            6
        } else {
            temporal.decimals
        };
        return match temporal.kind {
            TypeKind::Time => SqlType::temporal(TypeKind::Time, decimals),
            _ => SqlType::temporal(TypeKind::DateTime, decimals),
        };
    }
    if matches!(other.ty.kind, TypeKind::Float | TypeKind::Double) {
        return SqlType::double();
    }
    wider_decimal(&temporal_number(temporal), &as_decimal(&other.ty))
}

/// Whether a number is a date (or time, if `temporal` is one) written without delimiters.
fn is_moment(number: &Value, temporal: &SqlType) -> bool {
    let number = match number {
        Value::Int(number) => Some(*number),
        Value::UInt(number) => i64::try_from(*number).ok(),
        Value::Float(number) => Some(*number as i64),
        Value::Decimal { unscaled, scale } => {
            mayfly_types::decimal::Decimal::new(*unscaled, *scale)
                .truncate(0)
                .to_i64()
                .ok()
        }
        Value::Null | Value::Bytes(_) => None,
    };
    let rules = DateRules {
        no_zero_date: true,
        no_zero_in_date: true,
        ..DateRules::default()
    };
    number.is_some_and(|number| match temporal.kind {
        TypeKind::Time => time_from_number(number, 0).is_ok_and(|(_, cut)| !cut),
        _ => datetime_from_number(number, 0, rules).is_ok(),
    })
}

/// A temporal value as the number 20240131235959.
fn temporal_number(ty: &SqlType) -> SqlType {
    let digits = match ty.kind {
        TypeKind::Date => 8,
        TypeKind::Time => 7,
        _ => 14,
    };
    SqlType::decimal(digits + ty.decimals, ty.decimals)
}

/// The type of a choice between expressions: CASE, COALESCE, UNION.
pub(crate) fn choice_type(
    choices: &[&Expression],
    alternatives: Alternatives,
    operation: &str,
) -> Result<SqlType> {
    let mut ty = aggregate_types(choices.iter().map(|choice| &choice.ty), alternatives);
    if has_collation(&ty) && ty.collation != CollationId::BINARY {
        // Numbers among the choices have no claim.
        let strings: Vec<&Expression> = choices
            .iter()
            .copied()
            .filter(|choice| has_collation(&choice.ty))
            .collect();
        if !strings.is_empty() {
            ty.collation = aggregate_collations(&strings, operation, false)?;
        }
    }
    Ok(ty)
}

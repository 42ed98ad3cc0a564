//! Types of expressions: conversions, and the types of choices.

use mayfly_functions::aggregate::Kind;
use mayfly_functions::scalar::Fact;
use mayfly_functions::{Argument, Coercibility, Signature};
use mayfly_types::charset::Charset;
use mayfly_types::common_type::{self, Alternatives, aggregate_types, text_length};
use mayfly_types::convert::float_text::{DOUBLE_WIDTH, WHOLE_DOUBLE_WIDTH};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, Error, PhysicalType, Result, SqlType, TypeKind, Value};

use super::collation::{aggregate_collations, coercibility, has_collation, named_value};
use super::variables::{is_read_as, read_as};
use crate::tree::expression::{Comparison, Expression, ExpressionKind, LENGTH_CASTS, WRITTEN_CAST};
use crate::tree::logical::{ColumnId, SubqueryKind, has_subquery, with_stack};
use crate::tree::physical::{AggregateCall, ClientType};
pub(crate) use mayfly_types::common_type::string_of;

/// The expression as a value that can be stored: predicates become 0 and 1.
pub(crate) fn as_value(expression: Expression) -> Expression {
    if expression.ty.kind != TypeKind::Boolean {
        return expression;
    }
    let ty = common_type::as_value(&expression.ty);
    cast(expression, &ty)
}

/// Client type of an expression besides its type, given facts about columns.
pub(crate) fn client_type(
    expression: &Expression,
    of_column: &dyn Fn(ColumnId) -> ClientType,
) -> ClientType {
    match &expression.kind {
        ExpressionKind::Column(id) => return of_column(*id),
        ExpressionKind::LogicalSubquery(subquery) => {
            return match subquery.client_type {
                ClientType::Member(_) => ClientType::Plain,
                reported => reported,
            };
        }
        ExpressionKind::Call { function, .. }
            if expression.ty.kind == TypeKind::VarChar && function.has(Fact::FixedString) =>
        {
            return ClientType::Choice(TypeKind::Char);
        }
        _ => {}
    }
    if super::literal::is_hexadecimal(expression) {
        return if expression.ty.unsigned {
            ClientType::Hexadecimal
        } else {
            ClientType::Bits
        };
    }
    if let Some(results) = choices(expression) {
        let reported = results.iter().map(|result| client_type(result, of_column));
        let reported: Vec<ClientType> = reported.collect();
        if expression.ty.is_blob() && reported.contains(&ClientType::Collected) {
            return ClientType::Collected;
        }
        if let Some(kind) = choice_kind(&results, &reported, expression, of_column) {
            return ClientType::Choice(kind);
        }
    }
    if is_computed(expression, of_column) {
        ClientType::Computed
    } else {
        ClientType::Plain
    }
}

/// Kind of an ENUM or SET that is converted to its text.
fn member_kind(text: &Expression) -> Option<TypeKind> {
    match &text.kind {
        ExpressionKind::Cast(member, _) => {
            Some(member.ty.kind).filter(|kind| matches!(kind, TypeKind::Enum | TypeKind::Set))
        }
        _ => None,
    }
}

/// Client type of the result of an aggregate.
pub(crate) fn client_type_of_aggregate(
    call: &AggregateCall,
    of_column: &dyn Fn(ColumnId) -> ClientType,
) -> ClientType {
    match (call.function.kind(), call.arguments.first()) {
        (Kind::Min | Kind::Max, Some(argument)) if member_kind(argument).is_some() => {
            member_kind(argument).map_or(ClientType::Plain, ClientType::Member)
        }
        (Kind::AnyValue, Some(argument))
            if matches!(
                argument.ty.kind,
                TypeKind::Enum | TypeKind::Set | TypeKind::Bit
            ) =>
        {
            ClientType::Choice(argument.ty.kind)
        }
        (Kind::Min | Kind::Max | Kind::AnyValue, Some(argument)) => {
            match client_type(argument, of_column) {
                ClientType::Plain if argument.ty.is_blob() => ClientType::Choice(argument.ty.kind),
                reported => reported,
            }
        }
        (Kind::BitAnd | Kind::BitOr | Kind::BitXor, _) if call.signature.result.is_string() => {
            ClientType::Hexadecimal
        }
        (Kind::GroupConcat, _) if call.signature.result.is_blob() => ClientType::Collected,
        _ => ClientType::Plain,
    }
}

/// Alternatives of a choice, before they were given one type.
fn choices(expression: &Expression) -> Option<Vec<&Expression>> {
    let results: Vec<&Expression> = match &expression.kind {
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            let results = branches.iter().map(|(_, result)| result);
            results.chain(otherwise.as_deref()).collect()
        }
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } if function.has(Fact::Choice) => arguments.iter().collect(),
        ExpressionKind::Let { values, body } => {
            let results = choices(body)?.into_iter().map(|result| {
                let read = named_value(result).unwrap_or(result);
                let known = values.iter().find(|(number, _)| {
                    matches!(&read.kind, ExpressionKind::Local(local) if local == number)
                });
                known.map_or(result, |(_, value)| value)
            });
            return Some(results.collect());
        }
        _ => return None,
    };
    let is_choice = results.len() > 1;
    let unconverted = results.into_iter().map(|result| match &result.kind {
        ExpressionKind::Cast(inner, text)
            if is_choice
                && result.ty.kind == expression.ty.kind
                && !is_written(text.as_deref()) =>
        {
            &**inner
        }
        _ => result,
    });
    Some(
        unconverted
            .filter(|result| !matches!(result.as_literal(), Some(Value::Null)))
            .filter(|result| result.ty.kind != TypeKind::Null)
            .collect(),
    )
}

/// Whether the conversion with this name in warnings is one of CAST() or CONVERT().
fn is_written(name: Option<&str>) -> bool {
    name.is_some_and(|name| name == WRITTEN_CAST || LENGTH_CASTS.contains(&name))
}

/// Whether a text is what CAST() or CONVERT() makes of another one.
fn is_converted(text: &Expression) -> bool {
    match &text.kind {
        ExpressionKind::Cast(_, name) => is_written(name.as_deref()),
        ExpressionKind::Call { function, .. } => function.has(Fact::NamesCharset),
        _ => false,
    }
}

/// A fixed-length string in the form reported to clients.
pub(super) fn fixed_string(ty: &SqlType) -> SqlType {
    SqlType {
        kind: TypeKind::Char,
        ..ty.clone()
    }
}

/// Kind of a choice, given the client types of its results, where a table column would have another one: the kind of a set operation, and that of the longest
/// TEXT.
fn choice_kind(
    results: &[&Expression],
    reported: &[ClientType],
    choice: &Expression,
    of_column: &dyn Fn(ColumnId) -> ClientType,
) -> Option<TypeKind> {
    let set_operation = || {
        let types = results.iter().zip(reported);
        let types = types.map(|(result, reported)| match *reported {
            ClientType::Choice(TypeKind::Char) => fixed_string(&result.ty),
            // A converted text is a VARCHAR, whatever its column is.
            _ if result.ty.kind == TypeKind::Char && is_converted(result) => SqlType {
                kind: TypeKind::VarChar,
                ..result.ty.clone()
            },
            ClientType::Choice(kind) | ClientType::Kept(kind)
                if result.ty.is_integer() && kind != TypeKind::Bit =>
            {
                SqlType {
                    kind,
                    ..result.ty.clone()
                }
            }
            _ => result.ty.clone(),
        });
        aggregate_types(&types.collect::<Vec<SqlType>>(), Alternatives::SetOperation)
    };
    let is_document = |result: &&Expression| result.ty.kind == TypeKind::Json;
    let is_bits = |result: &&Expression| is_bits(result, of_column);
    match choice.ty.kind {
        TypeKind::LongText if !results.is_empty() && results.iter().all(is_document) => {
            Some(TypeKind::VarChar)
        }
        // A computed TEXT has a kind by its length; a `?` has none of its own.
        TypeKind::LongText => {
            let is_given = |result: &Expression| {
                matches!(unconverted(result).kind, ExpressionKind::Parameter(_))
            };
            let texts = results.iter().zip(reported);
            let is_text = |ty: &SqlType| ty.is_blob() && !ty.is_structured_bytes();
            let texts = texts.filter(|(result, _)| is_text(&result.ty) && !is_given(result));
            let columns = texts.map(|(result, reported)| match *reported {
                ClientType::Plain => Some(&result.ty),
                ClientType::Choice(kind) if kind != TypeKind::VarChar => Some(&result.ty),
                _ => None,
            });
            let columns = columns.collect::<Option<Vec<&SqlType>>>()?;
            let longest = columns.into_iter().max_by_key(|ty| ty.length);
            longest.map(|ty| ty.kind)
        }
        TypeKind::VarChar => {
            // The text of a DATETIME may be longer than any value of GREATEST().
            let ty = set_operation();
            let is_own = ty.length == choice.ty.length;
            let is_kept = matches!(ty.kind, TypeKind::Char | TypeKind::Enum | TypeKind::Set);
            Some(ty.kind).filter(|_| is_own && is_kept)
        }
        // Clients get the bits of the number.
        TypeKind::Int | TypeKind::BigInt if !results.is_empty() && results.iter().all(is_bits) => {
            Some(TypeKind::Bit)
        }
        TypeKind::Int if !results.iter().any(|result| is_computed(result, of_column)) => {
            let kind = set_operation().kind;
            Some(kind).filter(|kind| !matches!(kind, TypeKind::Int | TypeKind::Bit))
        }
        TypeKind::Bit => Some(TypeKind::Bit),
        kind @ (TypeKind::Enum | TypeKind::Set) if !is_nullif(choice) => Some(kind),
        _ => None,
    }
}

/// Whether a value is a BIT, or a choice of such values.
fn is_bits(value: &Expression, of_column: &dyn Fn(ColumnId) -> ClientType) -> bool {
    let reported = match &value.kind {
        _ if value.ty.kind == TypeKind::Bit => return true,
        ExpressionKind::Column(id) => of_column(*id),
        ExpressionKind::LogicalSubquery(subquery) => subquery.client_type,
        _ => {
            let results = choices(value).filter(|results| !results.is_empty());
            return results
                .is_some_and(|results| results.iter().all(|result| is_bits(result, of_column)));
        }
    };
    reported.chooses_bits()
}

/// Whether a choice is a NULLIF(): NULL where a value equals another, else the value.
fn is_nullif(choice: &Expression) -> bool {
    let (branches, otherwise) = match &choice.kind {
        ExpressionKind::Case {
            branches,
            otherwise: Some(otherwise),
        } => (branches, otherwise),
        ExpressionKind::Let { body, .. } => return is_nullif(body),
        _ => return false,
    };
    let [(condition, result)] = &branches[..] else {
        return false;
    };
    let ExpressionKind::Compare { left, right, .. } = &condition.kind else {
        return false;
    };
    matches!(result.as_literal(), Some(Value::Null))
        && (is_same_value(left, otherwise) || is_same_value(right, otherwise))
}

/// Whether a CASE with these branches is a COALESCE(): each result is taken where it is not NULL.
pub(super) fn is_coalesce(branches: &[(Expression, Expression)]) -> bool {
    let is_not_null = |(condition, result): &(Expression, Expression)| match &condition.kind {
        ExpressionKind::Not(inner) => {
            matches!(&inner.kind, ExpressionKind::IsNull(value) if is_same_value(value, result))
        }
        _ => false,
    };
    branches.iter().all(is_not_null)
}

/// Whether two expressions read one column, local value or parameter, or are equal constants, conversions apart.
fn is_same_value(a: &Expression, b: &Expression) -> bool {
    match (&unconverted(a).kind, &unconverted(b).kind) {
        (ExpressionKind::Column(a), ExpressionKind::Column(b)) => a == b,
        (ExpressionKind::Local(a), ExpressionKind::Local(b)) => a == b,
        (ExpressionKind::Parameter(a), ExpressionKind::Parameter(b)) => a == b,
        (ExpressionKind::Literal(a), ExpressionKind::Literal(b)) => a == b,
        _ => false,
    }
}

/// The operand of conversions, for a comparison too.
fn unconverted(expression: &Expression) -> &Expression {
    match &expression.kind {
        ExpressionKind::Cast(inner, _) => unconverted(inner),
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } if function.has(Fact::ComparedConstant) && !arguments.is_empty() => {
            unconverted(&arguments[0])
        }
        _ => expression,
    }
}

/// Whether a value is computed, and not only a choice of columns' values: MySQL computes integers as BIGINT, whatever
/// the width of a table column, and FLOAT and DOUBLE with room for a sign.
fn is_computed(expression: &Expression, of_column: &dyn Fn(ColumnId) -> ClientType) -> bool {
    if let Some(results) = choices(expression) {
        let is_float = matches!(expression.ty.kind, TypeKind::Float | TypeKind::Double);
        let is_fixed = expression.ty.decimals < DECIMALS_NOT_FIXED;
        return is_float && (is_fixed || !is_nullif(expression))
            || results
                .into_iter()
                .any(|result| is_computed(result, of_column));
    }
    match &expression.kind {
        ExpressionKind::Column(id) => of_column(*id) == ClientType::Computed,
        ExpressionKind::Local(_) | ExpressionKind::Subquery(_) => false,
        ExpressionKind::LogicalSubquery(subquery) => subquery.client_type == ClientType::Computed,
        // YEAR() and CAST(… AS YEAR) are of the column type.
        _ if expression.ty.kind == TypeKind::Year => false,
        ExpressionKind::Literal(value) => !value.is_null(),
        ExpressionKind::Cast(inner, _) if expression.ty.is_integer() => {
            is_computed(inner, of_column)
        }
        ExpressionKind::Let { body, .. } => is_computed(body, of_column),
        _ => true,
    }
}

/// Types of expressions.
pub(crate) fn argument_types<'e>(
    expressions: &'e [&'e Expression],
) -> impl Iterator<Item = &'e SqlType> {
    expressions.iter().map(|expression| &expression.ty)
}

/// The expression as a predicate: a value is compared with zero.
pub(crate) fn as_predicate(expression: Expression) -> Expression {
    let zero = match expression.ty.kind {
        TypeKind::Boolean => return expression,
        TypeKind::Null if expression.as_literal().is_some() => {
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

/// A comparison of two expressions of one type.
pub(crate) fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    let nullable = comparison != Comparison::NullSafeEqual && (left.nullable || right.nullable);
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = ExpressionKind::Compare {
        comparison,
        left,
        right,
    };
    Expression::predicate(kind, nullable)
}

/// Negation of a predicate.
pub(crate) fn not(mut operand: Expression) -> Expression {
    let nullable = operand.nullable;
    if let ExpressionKind::LogicalSubquery(subquery) = &mut operand.kind
        && negate(&mut subquery.kind)
    {
        return operand;
    }
    if let ExpressionKind::InList { negated, .. } = &mut operand.kind {
        *negated = !*negated;
        return operand;
    }
    match operand.kind {
        ExpressionKind::Not(inner) => *inner,
        kind => {
            let operand = Box::new(Expression::predicate(kind, nullable));
            Expression::predicate(ExpressionKind::Not(operand), nullable)
        }
    }
}

/// Replaces EXISTS, IN and their negations by their opposites; returns whether there is one.
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

/// `operand IS NULL`; false for a predicate that is never NULL, which MySQL does not evaluate.
pub(crate) fn is_null(operand: Expression) -> Expression {
    if operand.ty.kind == TypeKind::Boolean && !operand.nullable && !has_subquery(&operand) {
        return Expression::literal(Value::Int(0), SqlType::boolean());
    }
    Expression::predicate(ExpressionKind::IsNull(Box::new(operand)), false)
}

/// Whether values of `from` are values of `to` without conversion.
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
        (_, TypeKind::DateTime) if is_date(from) => from.decimals <= to.decimals,
        (TypeKind::Time, TypeKind::Time) => from.decimals <= to.decimals,
        (TypeKind::Enum | TypeKind::Set, _) | (_, TypeKind::Enum | TypeKind::Set) => false,
        (TypeKind::Json, _) | (_, TypeKind::Json) => false,
        // BINARY is padded to its declared length.
        (_, TypeKind::Char) if to.is_binary_string() => {
            from.kind == TypeKind::Char
                && from.collation == to.collation
                && from.length == to.length
        }
        _ if from.is_string() && to.is_string() => {
            from.collation == to.collation
                && (text_length(from) <= text_length(to) || to.kind == TypeKind::LongText)
        }
        _ if from.is_integer() && to.is_integer() => {
            integer_rank(from) <= integer_rank(to) && to.kind != TypeKind::Bit
        }
        _ => false,
    }
}

/// Whether a type is a date, with or without a time.
pub(crate) fn is_date(ty: &SqlType) -> bool {
    matches!(
        ty.kind,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp
    )
}

/// Rank of integer kinds by range.
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

/// Result of a CASE as it is written, without the conversion to the type of the CASE.
pub(crate) fn written(result: &Expression) -> &Expression {
    match &result.kind {
        ExpressionKind::Cast(inner, None) => inner,
        _ => result,
    }
}

/// Converts a choice that has the text of a date among its results, where a number is wanted, to a choice of numbers;
/// returns whether it is such a choice.
pub(crate) fn become_number_of_choice(choice: &mut Expression, to: &SqlType) -> bool {
    if !to.is_numeric() || !choice.ty.is_string() {
        return false;
    }
    let is_date = |result: &Expression| written(result).ty.temporal_text;
    match &mut choice.kind {
        ExpressionKind::Let { body, .. } => {
            if !become_number_of_choice(body, to) {
                return false;
            }
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } if branches.iter().any(|(_, result)| is_date(result))
            || otherwise.as_deref().is_some_and(is_date) =>
        {
            let results = branches.iter_mut().map(|(_, result)| result);
            for result in results.chain(otherwise.as_deref_mut()) {
                result.change(|result| match result.kind {
                    ExpressionKind::Cast(inner, None) => cast(*inner, to),
                    _ => cast(result, to),
                });
            }
        }
        _ => return false,
    }
    choice.ty = to.clone();
    true
}

/// Converts an expression; a literal is converted now if that raises no warning.
pub(crate) fn cast(expression: Expression, to: &SqlType) -> Expression {
    let to = &text_target(&expression, to.clone());
    if same_representation(&expression.ty, to) {
        return expression;
    }
    let mut expression = expression;
    if become_number_of_choice(&mut expression, to) {
        return expression;
    }
    let expression = match to.kind {
        TypeKind::Json => as_document_value(super::literal::as_boolean(expression)),
        _ => expression,
    };
    if let ExpressionKind::Literal(value) = &expression.kind
        && !(expression.ty.temporal_text && to.is_numeric())
        && let Some(converted) = super::literal::convert(value, &expression.ty, to)
    {
        return Expression::literal(converted, to.clone());
    }
    if is_read_as(&expression, to) {
        let mut variable = expression;
        read_as(&mut variable, to);
        return variable;
    }
    // A choice is computed as DOUBLE, and shown as FLOAT.
    let is_float = expression.ty.kind == TypeKind::Float && to.is_string();
    if is_float && choices(&expression).is_some() {
        let nullable = expression.nullable;
        let double = ExpressionKind::Cast(Box::new(expression), None);
        let to = SqlType {
            length: to.length.max(DOUBLE_WIDTH),
            ..to.clone()
        };
        return cast(Expression::new(double, SqlType::double(), nullable), &to);
    }
    // A string that cannot be parsed becomes a NULL temporal value.
    let nullable = expression.nullable
        || (to.is_temporal() && !expression.ty.is_temporal())
        || to.kind == TypeKind::Json;
    let kind = ExpressionKind::Cast(Box::new(expression), None);
    Expression::new(kind, to.clone(), nullable)
}

/// A value as a part of a document, which distinguishes BINARY columns from other binary strings.
fn as_document_value(expression: Expression) -> Expression {
    let is_column = matches!(expression.kind, ExpressionKind::Column(_));
    let is_filled = expression.ty.kind == TypeKind::Char && expression.ty.is_binary_string();
    if is_column || !is_filled || choices(&expression).is_some() {
        return expression;
    }
    let ty = SqlType::varchar(expression.ty.length, CollationId::BINARY);
    let nullable = expression.nullable;
    Expression::new(
        ExpressionKind::Cast(Box::new(expression), None),
        ty,
        nullable,
    )
}

/// [`cast`] of a text to the collation of other operands: error 3854 instead of characters that its character set
/// lacks.
pub(crate) fn cast_exactly(expression: Expression, to: &SqlType) -> Expression {
    let (own, charset) = (expression.ty.collation.charset(), to.collation.charset());
    let gives_way = matches!(
        coercibility(&expression),
        Coercibility::SystemConstant | Coercibility::Coercible
    );
    let is_text = expression.ty.is_string() && to.is_string();
    if !gives_way || !is_text || own == Charset::Binary || charset.includes(own) {
        return cast(expression, to);
    }
    let exactly = mayfly_functions::scalar::by_name("convert exactly");
    let (Some(function), None) = (exactly, expression.as_literal()) else {
        return cast(expression, to);
    };
    let ty = SqlType {
        collation: to.collation,
        ..expression.ty.clone()
    };
    let signature = Signature::new(vec![expression.ty.clone()], ty, expression.nullable)
        .with_coercibility(Coercibility::Coercible);
    cast(Expression::call(function, vec![expression], signature), to)
}

/// Type to convert a value to for a target type: a DOUBLE column keeps all of its digits as a string, a computed one
/// those for which MySQL has room.
pub(crate) fn text_target(expression: &Expression, to: SqlType) -> SqlType {
    let is_column = matches!(expression.kind, ExpressionKind::Column(_));
    let is_text = to.kind == TypeKind::VarChar && to.length == DOUBLE_WIDTH;
    if is_column && is_text && expression.ty.kind == TypeKind::Double {
        SqlType {
            length: WHOLE_DOUBLE_WIDTH,
            ..to
        }
    } else {
        to
    }
}

/// The expression with another collation for comparisons.
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
        // Lengths count characters here and bytes there, and nothing may be padded.
        let target = string_of(&expression.ty, collation);
        return cast(expression, &target);
    }
    // Text has one representation whatever its collation; but the target of a conversion is its type.
    if matches!(expression.kind, ExpressionKind::Cast(..))
        && expression.ty.collation.charset() != collation.charset()
    {
        let target = SqlType {
            collation,
            ..expression.ty.clone()
        };
        return cast(expression, &target);
    }
    expression.ty.collation = collation;
    expression
}

/// Facts about an argument that a function may use.
pub(crate) fn argument(expression: &Expression) -> Argument<'_> {
    Argument {
        ty: &expression.ty,
        nullable: expression.nullable,
        constant: expression.as_literal(),
        coercibility: coercibility(expression),
        mixes_integers: mixes_integers(expression),
    }
}

/// Whether an expression is a choice among integers of both signednesses: a DECIMAL whose values have 64 bits.
fn mixes_integers(expression: &Expression) -> bool {
    if expression.ty.kind != TypeKind::Decimal || expression.ty.decimals > 0 {
        return false;
    }
    let is_integer = |result: &&Expression| match result.as_literal() {
        // An integer literal is converted at once.
        Some(Value::Decimal { unscaled, scale: 0 }) => unscaled
            .to_i128()
            .is_some_and(|value| i64::try_from(value).is_ok() || u64::try_from(value).is_ok()),
        _ => result.ty.is_integer() || with_stack(|| mixes_integers(result)),
    };
    choices(expression).is_some_and(|results| results.iter().all(is_integer))
}

/// The DECIMAL for a choice between integers of both signs, if a BIGINT does not hold them.
pub(super) fn decimal_of_both_signs<'e>(
    choices: impl Iterator<Item = &'e Expression> + Clone,
    of_column: &dyn Fn(ColumnId) -> ClientType,
) -> Option<SqlType> {
    if !common_type::has_both_signs(choices.clone().map(|choice| &choice.ty)) {
        return None;
    }
    let is_computed = |choice| client_type(choice, of_column) == ClientType::Computed;
    common_type::decimal_of_both_signs(choices.map(|choice| (&choice.ty, is_computed(choice))))
}

/// Type of a choice between expressions, given facts about columns: CASE, COALESCE, UNION.
pub(crate) fn choice_type(
    choices: &[&Expression],
    of_column: &dyn Fn(ColumnId) -> ClientType,
    alternatives: Alternatives,
    operation: &str,
) -> Result<SqlType> {
    if let Some(ty) = decimal_of_both_signs(choices.iter().copied(), of_column) {
        return Ok(ty);
    }
    let types = choices.iter().map(|choice| &choice.ty);
    super::structured::check_choice(types.clone())?;
    let mut ty = match texts_of_bytes(choices, alternatives, operation)? {
        Some(collation) => {
            let types: Vec<_> = types
                .map(|ty| common_type::of_texts(ty, collation))
                .collect();
            aggregate_types(&types, alternatives)
        }
        None => aggregate_types(types, alternatives),
    };
    if has_collation(&ty) && ty.collation != CollationId::BINARY {
        // Numbers among the alternatives have no coercibility.
        let strings: Vec<&Expression> = choices
            .iter()
            .copied()
            .filter(|choice| has_collation(&choice.ty))
            .collect();
        if !strings.is_empty() {
            // The arms of a set operation are combined like compared values.
            let is_united = alternatives == Alternatives::SetOperation;
            let refused = |error: Error| match error.is(&codes::ER_CANT_AGGREGATE_2COLLATIONS)
                || error.is(&codes::ER_CANT_AGGREGATE_3COLLATIONS)
            {
                true if is_united && aggregate_collations(&strings, operation, false).is_ok() => {
                    codes::ER_CANT_AGGREGATE_NCOLLATIONS.with(&[&operation])
                }
                _ => error,
            };
            ty.collation = aggregate_collations(&strings, operation, is_united).map_err(refused)?;
        }
    }
    Ok(ty)
}

/// Collation of the texts among alternatives that binary literals are converted to, if they are: beside columns.
fn texts_of_bytes(
    choices: &[&Expression],
    alternatives: Alternatives,
    operation: &str,
) -> Result<Option<CollationId>> {
    let types = || choices.iter().map(|choice| &choice.ty);
    let is_text = |ty: &SqlType| has_collation(ty) && ty.collation != CollationId::BINARY;
    let has_bits = types().any(|ty| ty.kind == TypeKind::Bit);
    if has_bits || !types().any(SqlType::is_binary_string) || !types().any(is_text) {
        return Ok(None);
    }
    let strings = choices.iter().copied();
    let strings: Vec<_> = strings.filter(|it| has_collation(&it.ty)).collect();
    let is_united = alternatives == Alternatives::SetOperation;
    let collation = aggregate_collations(&strings, operation, is_united)?;
    if collation == CollationId::BINARY {
        return Ok(None);
    }
    Ok(Some(collation))
}

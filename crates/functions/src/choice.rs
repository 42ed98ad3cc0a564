//! The type of a choice between several values: COALESCE, IF, GREATEST and their kind (the manual,
//! "Flow Control Functions").

use arrow_array::{Array, ArrayRef};
use arrow_select::interleave::interleave;
use mayfly_types::decimal::decimal_of_numeric;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::{Argument, Coercibility, Column, SignatureContext, derive, output};

/// The type that holds any of the values, and the claim of its collation.
pub(crate) fn choice_type(
    choices: &[Argument<'_>],
    context: &SignatureContext,
    operation: &str,
) -> Result<(SqlType, Coercibility)> {
    let typed: Vec<Argument<'_>> = choices
        .iter()
        .filter(|choice| choice.ty.kind != TypeKind::Null)
        .copied()
        .collect();
    let Some(first) = typed.first() else {
        return Ok((SqlType::null(), Coercibility::Ignorable));
    };
    let mut ty = as_value(first.ty);
    for choice in &typed[1..] {
        ty = common_type(&ty, &as_value(choice.ty));
    }
    if !ty.is_string() {
        return Ok((ty, Coercibility::Numeric));
    }
    let (collation, coercibility) = derive::aggregate_collation(&typed, context, operation)?;
    if ty.kind == TypeKind::VarChar {
        let characters = typed
            .iter()
            .map(|choice| derive::character_length(&as_value(choice.ty)))
            .max()
            .unwrap_or(0);
        ty = derive::string_type(characters, collation);
    } else {
        ty = derive::with_collation(&ty, collation);
    }
    Ok((ty, coercibility))
}

/// The type of a value that is kept: a predicate is 0 or 1.
pub(crate) fn as_value(ty: &SqlType) -> SqlType {
    match ty.kind {
        TypeKind::Boolean => derive::bigint_of_width(1),
        _ => ty.clone(),
    }
}

fn common_type(a: &SqlType, b: &SqlType) -> SqlType {
    if a == b {
        return a.clone();
    }
    if a.is_numeric() && b.is_numeric() {
        return common_number(a, b);
    }
    if a.is_temporal() && b.is_temporal() {
        let kind = if a.kind == b.kind {
            a.kind
        } else {
            TypeKind::DateTime
        };
        return SqlType::temporal(kind, a.decimals.max(b.decimals));
    }
    if a.kind == TypeKind::Json && b.kind == TypeKind::Json {
        return SqlType::json();
    }
    let rank = |ty: &SqlType| match ty.kind {
        TypeKind::TinyText => 1,
        TypeKind::Text => 2,
        TypeKind::MediumText => 3,
        TypeKind::LongText | TypeKind::Json => 4,
        _ => 0,
    };
    // The collation and the length are decided over all choices.
    let collation = if a.is_string() { a } else { b }.collation;
    match rank(a).max(rank(b)) {
        0 => SqlType::varchar(0, collation),
        1 => SqlType::text(TypeKind::TinyText, collation),
        2 => SqlType::text(TypeKind::Text, collation),
        3 => SqlType::text(TypeKind::MediumText, collation),
        _ => SqlType::text(TypeKind::LongText, collation),
    }
}

fn common_number(a: &SqlType, b: &SqlType) -> SqlType {
    let is_float = |ty: &SqlType| matches!(ty.kind, TypeKind::Float | TypeKind::Double);
    if is_float(a) || is_float(b) {
        return SqlType::double();
    }
    let unsigned = |ty: &SqlType| ty.unsigned || ty.kind == TypeKind::Year;
    let length = a.length.max(b.length);
    if a.kind != TypeKind::Decimal && b.kind != TypeKind::Decimal {
        if unsigned(a) == unsigned(b) {
            return SqlType {
                length,
                unsigned: unsigned(a),
                ..SqlType::bigint()
            };
        }
        // A signed integer of 64 bits holds every smaller unsigned one.
        let wide =
            |ty: &SqlType| unsigned(ty) && matches!(ty.kind, TypeKind::BigInt | TypeKind::Bit);
        if !wide(a) && !wide(b) {
            return derive::bigint_of_width(length);
        }
    }
    let (a, b) = (decimal_of_numeric(a), decimal_of_numeric(b));
    let scale = a.decimals.max(b.decimals);
    let integer_digits = |ty: &SqlType| ty.length.saturating_sub(u32::from(ty.decimals));
    let digits = integer_digits(&a).max(integer_digits(&b)) + u32::from(scale);
    SqlType::decimal(u8::try_from(digits).unwrap_or(u8::MAX), scale)
}

/// Takes for each row the value of one of the columns, or NULL.
pub(crate) fn pick(
    columns: &[Column],
    ty: &SqlType,
    row_count: usize,
    mut choose: impl FnMut(usize) -> Option<usize>,
) -> Result<ArrayRef> {
    let null = output::nulls(ty, 1);
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|column| match column {
            Column::Array(array) => array.clone(),
            Column::Constant(value) => output::repeat(value, ty, 1),
        })
        .collect();
    let mut sources: Vec<&dyn Array> = arrays.iter().map(|array| array.as_ref()).collect();
    sources.push(null.as_ref());
    let places: Vec<(usize, usize)> = (0..row_count)
        .map(|row| match choose(row) {
            Some(index) if matches!(columns.get(index), Some(Column::Array(_))) => (index, row),
            Some(index) if index < columns.len() => (index, 0),
            _ => (columns.len(), 0),
        })
        .collect();
    interleave(&sources, &places).map_err(|error| codes::ER_UNKNOWN_ERROR.with(&[&error]))
}

/// Whether a row of a column is NULL.
pub(crate) fn is_null(column: &Column, row: usize) -> bool {
    match column {
        Column::Array(array) => array.is_null(row),
        Column::Constant(value) => value.is_null(),
    }
}

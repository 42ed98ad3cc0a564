//! CHARSET(x), COLLATION(x), COERCIBILITY(x): known from the types alone. COLLATE, BINARY and CONVERT … USING change
//! their operand's collation.

use arrow_array::ArrayRef;
use mayfly_types::collation::aggregate::{check_collation_of_charset, check_converted};
use mayfly_types::error::codes;
use mayfly_types::{Charset, CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Argument, Binding, Call, Coercibility, Signature, derive};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["charset"], 1..=1, charset, known),
    Row::new(&["collation"], 1..=1, collation, known),
    Row::new(&["coercibility"], 1..=1, coercibility, known),
    // `x COLLATE name`, `CONVERT(x USING charset)` and `BINARY x`.
    Row::new(&["collate"], 2..=2, collate, unchanged),
    Row::new(&["convert using"], 2..=2, convert_using, unchanged).with(&[Fact::NamesCharset]),
    Row::new(&["binary"], 1..=1, binary, unchanged).with(&[Fact::NamesCharset]),
    Row::new(&["convert exactly"], 1..=1, same_type, convert_exactly),
];

fn collation_of(argument: &Argument<'_>) -> CollationId {
    match argument.ty.kind {
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        _ => argument.ty.collation,
    }
}

fn charset(binding: &Binding<'_>) -> Result<Signature> {
    let charset = collation_of(&binding.arguments[0]).charset();
    Ok(of_type(binding, charset.name().into(), name_type()))
}

fn collation(binding: &Binding<'_>) -> Result<Signature> {
    let collation = collation_of(&binding.arguments[0]);
    Ok(of_type(binding, collation.name().into(), name_type()))
}

fn coercibility(binding: &Binding<'_>) -> Result<Signature> {
    let coercibility = Value::Int(binding.arguments[0].coercibility as i64);
    Ok(of_type(binding, coercibility, derive::int_of_width(10)))
}

fn name_type() -> SqlType {
    SqlType::varchar(64, CollationId::UTF8MB3_GENERAL_CI)
}

/// The types of a function whose value depends on its argument's type alone.
fn of_type(binding: &Binding<'_>, value: Value, result: SqlType) -> Signature {
    let types = vec![binding.arguments[0].ty.clone()];
    let mut signature = Signature::new(types, result, false);
    signature.known = Some(value);
    signature.with_coercibility(Coercibility::SystemConstant)
}

fn known(call: &Call<'_>) -> Result<ArrayRef> {
    let known = call.signature.known.as_ref();
    Ok(call.constant(known.unwrap_or(&Value::Null)))
}

fn constant_text<'a>(argument: &Argument<'a>) -> &'a str {
    match argument.constant {
        Some(Value::Bytes(name)) => std::str::from_utf8(name).unwrap_or_default(),
        _ => "",
    }
}

/// The types of a text with another collation; the planner's cast converts its bytes.
fn recollated(
    binding: &Binding<'_>,
    collation: CollationId,
    coercibility: Coercibility,
) -> Result<Signature> {
    let ty = derive::with_collation(&binding.text(0), collation);
    let mut types = binding.each(|argument| argument.ty.clone());
    types[0] = ty.clone();
    let nullable = binding.arguments[0].nullable;
    Ok(Signature::new(types, ty, nullable).with_coercibility(coercibility))
}

/// "collate"(x, 'name')
fn collate(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, name) = (
        binding.arguments[0].ty,
        constant_text(&binding.arguments[1]),
    );
    let Some(collation) = CollationId::by_name(name) else {
        return Err(codes::ER_UNKNOWN_COLLATION.with(&[&name]));
    };
    if ty.is_string() || ty.kind == TypeKind::Enum {
        check_collation_of_charset(collation, ty.collation.charset())?;
    }
    recollated(binding, collation, Coercibility::Explicit)
}

/// "convert using"(x, 'charset')
fn convert_using(binding: &Binding<'_>) -> Result<Signature> {
    let name = constant_text(&binding.arguments[1]);
    let Some(charset) = Charset::by_name(name) else {
        return Err(codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]));
    };
    recollated(binding, charset.default_collation(), Coercibility::Implicit)
}

fn binary(binding: &Binding<'_>) -> Result<Signature> {
    recollated(binding, CollationId::BINARY, Coercibility::Implicit)
}

fn unchanged(call: &Call<'_>) -> Result<ArrayRef> {
    Ok(call.unchanged(0))
}

fn same_type(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty.clone();
    Ok(Signature::new(vec![ty.clone()], ty, binding.any_nullable()))
}

/// Conversion of a constant to another operand's character set: "convert exactly"(x) has the character set of the
/// planner's signature, and is error 3854 where that lacks a character.
fn convert_exactly(call: &Call<'_>) -> Result<ArrayRef> {
    let own = call.collation(0).charset();
    let charset = call.signature.result.collation.charset();
    let texts = call.texts(0)?;
    for text in (0..call.rows).filter_map(|row| texts.get(row)) {
        check_converted(text, own, charset)?;
    }
    Ok(call.unchanged(0))
}

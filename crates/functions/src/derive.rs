//! Type rules that many functions share: the length of a value as text, the collation of a string result, and the
//! number type that an argument is read as.

use mayfly_types::collation::{CollationMix, aggregate_collations};
use mayfly_types::common_type::text_length;
use mayfly_types::convert::number::parse_integer;
use mayfly_types::decimal::Decimal;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::temporal::number::time_to_number;
use mayfly_types::{CollationId, Result, SessionParameters, SqlType, TypeKind};

use crate::{Argument, Coercibility, Signature};

/// The longest VARCHAR in bytes; longer string results are TEXT.
const VARCHAR_BYTES_MAX: u64 = 65_535;

/// Length in characters of a type's values as text. A TEXT may have one character per byte.
pub(crate) fn character_length(ty: &SqlType) -> u64 {
    let length = u64::from(text_length(ty));
    match ty.kind {
        TypeKind::Null => 0,
        TypeKind::Float => 12.max(length),
        TypeKind::Double if ty.decimals < DECIMALS_NOT_FIXED => 22.max(length),
        TypeKind::Json => u64::from(u32::MAX) / 4,
        _ => length,
    }
}

/// The most bytes that a character of the collation's character set takes.
pub fn bytes_per_character(collation: CollationId) -> u64 {
    u64::from(collation.charset().max_length())
}

/// Length of a type's values as text of a collation: in bytes, if that is `binary`.
pub(crate) fn length_in(ty: &SqlType, collation: CollationId) -> u64 {
    match collation {
        CollationId::BINARY if has_charset(ty) => byte_length(ty),
        _ => character_length(ty),
    }
}

/// Whether values of a type have a character set.
fn has_charset(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json)
}

/// Maximum bytes of a value of a string type.
pub(crate) fn byte_length(ty: &SqlType) -> u64 {
    character_length(ty).saturating_mul(bytes_per_character(ty.collation))
}

/// The type of a string result of at most `characters`: a VARCHAR if it fits, else a LONGTEXT of that many.
pub fn string_type(characters: u64, collation: CollationId) -> SqlType {
    let bytes = characters.saturating_mul(bytes_per_character(collation));
    if bytes <= VARCHAR_BYTES_MAX {
        return SqlType::varchar(u32::try_from(characters).unwrap_or(u32::MAX), collation);
    }
    SqlType {
        length: u32::try_from(characters).unwrap_or(u32::MAX),
        ..SqlType::text(TypeKind::LongText, collation)
    }
}

/// The length limit of strings that a function makes longer: in bytes, and in characters where their number is
/// unknown.
pub(crate) const LENGTH_LIMIT: u64 = 16_777_216;

/// The signature of a function that makes texts longer: the length reported to clients is limited.
pub(crate) fn with_length_limit(mut signature: Signature) -> Signature {
    let result = &signature.result;
    let characters = LENGTH_LIMIT.div_ceil(bytes_per_character(result.collation));
    if result.kind == TypeKind::LongText && u64::from(result.length) > characters {
        signature.result.length = u32::try_from(characters).unwrap_or(u32::MAX);
        signature.nullable = true;
    }
    signature
}

/// A LONGTEXT with the length limit.
pub fn long_text(collation: CollationId) -> SqlType {
    SqlType {
        length: u32::try_from(LENGTH_LIMIT).unwrap_or(u32::MAX),
        ..SqlType::text(TypeKind::LongText, collation)
    }
}

/// The type of an argument where text is expected: strings are unchanged, JSON becomes text of its own collation,
/// everything else a VARCHAR in the connection's collation.
pub fn text_of(argument: &Argument<'_>, context: &SessionParameters) -> SqlType {
    let ty = argument.ty;
    if ty.is_string() {
        return ty.clone();
    }
    let collation = match ty.kind {
        TypeKind::Enum | TypeKind::Set => ty.collation,
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        TypeKind::Bit => CollationId::BINARY,
        // Includes NULL, which takes the collation of other operands.
        _ => context.collation_connection,
    };
    string_type(character_length(ty), collation)
}

/// The coercibility of an argument as text.
fn text_coercibility(argument: &Argument<'_>) -> Coercibility {
    match argument.ty.kind {
        TypeKind::Null => Coercibility::Ignorable,
        _ => argument.coercibility,
    }
}

pub(crate) fn collation_mix<'a>(
    argument: &Argument<'a>,
    context: &SessionParameters,
) -> CollationMix<'a> {
    let collation = text_of(argument, context).collation;
    let mut mix = CollationMix::new(collation, text_coercibility(argument));
    mix.is_ascii |= match argument.constant {
        Some(mayfly_types::Value::Bytes(text)) => return mix.with_constant(text),
        Some(_) => true,
        None => !has_charset(argument.ty) && collation != CollationId::BINARY,
    };
    mix
}

/// The aggregate collation of several arguments' texts, and its coercibility. Error 1267 for an illegal mix of
/// collations.
pub(crate) fn aggregate_collation(
    arguments: &[Argument<'_>],
    context: &SessionParameters,
    operation: &str,
) -> Result<(CollationId, Coercibility)> {
    let mixes: Vec<_> = arguments
        .iter()
        .map(|argument| collation_mix(argument, context))
        .collect();
    if mixes
        .iter()
        .all(|mix| mix.coercibility == Coercibility::Ignorable)
    {
        return Ok((CollationId::BINARY, Coercibility::Ignorable));
    }
    let mix = aggregate_collations(&mixes, operation, false)?;
    // The text of a number is as coercible as a literal.
    Ok((
        mix.collation,
        match mix.coercibility {
            Coercibility::Numeric => Coercibility::Coercible,
            claim => claim,
        },
    ))
}

/// A string type with its collation replaced.
pub fn with_collation(ty: &SqlType, collation: CollationId) -> SqlType {
    if ty.collation == collation {
        return ty.clone();
    }
    if collation == CollationId::BINARY || ty.collation == CollationId::BINARY {
        // Characters become bytes: the unit of the length changes.
        return string_type(
            character_length(ty) * bytes_per_character(ty.collation),
            collation,
        );
    }
    SqlType {
        collation,
        ..ty.clone()
    }
}

/// An integer literal's value.
pub(crate) fn constant_integer(argument: &Argument<'_>) -> Option<i64> {
    match argument.constant? {
        mayfly_types::Value::Int(value) => Some(*value),
        mayfly_types::Value::UInt(value) => Some(i64::try_from(*value).unwrap_or(i64::MAX)),
        _ => None,
    }
}

/// Whether an argument is a literal written 0x41 or b'1', which is a number in numeric context.
pub(crate) fn is_hexadecimal(argument: &Argument<'_>) -> bool {
    argument.ty.is_bytes_literal && matches!(argument.constant, Some(mayfly_types::Value::Bytes(_)))
}

/// The number of characters, decimals or repetitions given as a literal.
pub(crate) fn constant_count(argument: &Argument<'_>) -> Option<i64> {
    match argument.constant? {
        mayfly_types::Value::Bytes(text) if is_hexadecimal(argument) => {
            let digits = text.iter().take(8);
            let number = digits.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            Some(i64::try_from(number).unwrap_or(i64::MAX))
        }
        mayfly_types::Value::Bytes(text) if argument.ty.is_string() => {
            let number = parse_integer(text).value;
            Some(i64::try_from(number).unwrap_or(i64::MAX))
        }
        mayfly_types::Value::Decimal { unscaled, scale } => {
            let rounded = Decimal::new(*unscaled, *scale).to_i64();
            Some(rounded.unwrap_or_else(|extreme| extreme))
        }
        mayfly_types::Value::Float(number) => Some(number.round_ties_even() as i64),
        mayfly_types::Value::Int(micros) if argument.ty.kind == TypeKind::Time => {
            Some(time_to_number(*micros))
        }
        _ if argument.ty.is_temporal() => None,
        _ => constant_integer(argument),
    }
}

/// The integer type that an argument is read as: unsigned stays unsigned, all else is BIGINT.
pub(crate) fn integer_of(argument: &Argument<'_>) -> SqlType {
    if argument.ty.is_integer() || argument.ty.kind == TypeKind::Null {
        return argument.ty.clone();
    }
    SqlType {
        unsigned: argument.ty.unsigned,
        ..SqlType::bigint()
    }
}

/// INT with a display width, as MySQL reports lengths, positions and parts of dates.
pub(crate) fn int_of_width(width: u32) -> SqlType {
    SqlType {
        length: width,
        ..SqlType::integer(TypeKind::Int)
    }
}

/// BIGINT with a display width.
pub fn bigint_of_width(width: u32) -> SqlType {
    SqlType {
        length: width,
        ..SqlType::bigint()
    }
}

/// BIGINT UNSIGNED with the display width of a computed value.
pub fn unsigned_bigint() -> SqlType {
    SqlType {
        unsigned: true,
        ..bigint_of_width(21)
    }
}

/// A predicate that is reported as an integer with a display width.
pub(crate) fn predicate_of_width(width: u32) -> SqlType {
    SqlType {
        length: width,
        ..SqlType::boolean()
    }
}

/// The DOUBLE of a function of one number: with the decimals of its argument, if those are fixed.
pub(crate) fn double_of(argument: &Argument<'_>) -> SqlType {
    let ty = argument.ty;
    let is_number = ty.is_numeric() || ty.is_temporal();
    match ty.decimals {
        decimals if is_number => double_of_decimals(decimals),
        _ => double_of_decimals(DECIMALS_NOT_FIXED),
    }
}

/// A computed DOUBLE with fixed decimals.
pub fn double_of_decimals(decimals: u8) -> SqlType {
    match decimals {
        0..DECIMALS_NOT_FIXED => SqlType {
            decimals,
            length: 17 + u32::from(decimals),
            ..SqlType::double()
        },
        _ => SqlType {
            length: 23,
            ..SqlType::double()
        },
    }
}

//! The type that holds the values of several expressions: CASE, IF, COALESCE and UNION (the manual,
//! "Flow Control Functions", "UNION Clause").
//!
//! Numbers stay numbers as far as one numeric type holds both; temporal values become DATETIME when
//! their kinds differ; everything else becomes a string. A set operation keeps the kind of its
//! columns, whereas a function's result is no narrower than INT, never a CHAR, and LONGTEXT if it
//! is a TEXT at all.
//!
//! One rule is not MySQL's: the common type of INT and INT UNSIGNED in a function is BIGINT, not INT, which would not
//! hold the values.

#[cfg(test)]
mod tests;

use crate::collation::CollationId;
use crate::convert::float_text::DOUBLE_WIDTH;
use crate::decimal::decimal_of_numeric;
use crate::geometry::GeometryKind;
use crate::sql_type::{DECIMALS_NOT_FIXED, SqlType, TypeKind};

/// Context of the alternatives, which decides the common type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternatives {
    /// A set operation, or the rows of VALUES.
    SetOperation,
    /// CASE, IF, COALESCE and their kind.
    Function,
}

/// The common type of alternatives. A type beside NULL becomes what it becomes beside itself; alternatives that are all
/// NULL have the type NULL. The collation is that of the first string: the caller applies the rules of coercibility.
pub fn aggregate_types<'a>(
    types: impl IntoIterator<Item = &'a SqlType>,
    alternatives: Alternatives,
) -> SqlType {
    let (mut result, mut count): (Option<SqlType>, usize) = (None, 0);
    let mut is_alone = true;
    for ty in types {
        count += 1;
        if ty.kind == TypeKind::Null {
            continue;
        }
        result = Some(match result {
            None => as_value(ty),
            Some(known) => {
                is_alone = false;
                common_type(&known, ty, alternatives)
            }
        });
    }
    match result {
        Some(ty) if is_alone && (count > 1 || alternatives == Alternatives::Function) => {
            beside_null(ty, alternatives)
        }
        Some(ty) => ty,
        None => SqlType::null(),
    }
}

/// The type of a choice between values of one type and NULL.
fn beside_null(ty: SqlType, alternatives: Alternatives) -> SqlType {
    match ty.kind {
        TypeKind::Bit | TypeKind::Year => ty,
        TypeKind::Geometry(_) => SqlType::geometry(GeometryKind::Any),
        TypeKind::Char | TypeKind::Decimal => common_type(&ty, &ty, alternatives),
        _ if ty.is_integer() || ty.is_blob() => common_type(&ty, &ty, alternatives),
        _ => ty,
    }
}

/// The type in which values of a type are stored: a predicate is 0 or 1.
pub fn as_value(ty: &SqlType) -> SqlType {
    match ty.kind {
        TypeKind::Boolean => SqlType {
            length: ty.length,
            ..SqlType::bigint()
        },
        _ => SqlType {
            temporal_text: false,
            ..ty.clone()
        },
    }
}

/// How many characters (bytes, when it is binary) the text of a value may have.
pub fn text_length(ty: &SqlType) -> u32 {
    let decimals = u32::from(ty.decimals);
    // Digits with a point among them, a zero before it where there is no other digit, and a sign.
    let fixed = || {
        let whole = ty.length.saturating_sub(decimals).max(1);
        whole + decimals + u32::from(decimals > 0) + u32::from(!ty.unsigned)
    };
    match ty.kind {
        TypeKind::Decimal => fixed(),
        TypeKind::Float if ty.decimals >= DECIMALS_NOT_FIXED => 12,
        // Also of a literal, which may be written shorter than it is shown.
        TypeKind::Double if ty.decimals >= DECIMALS_NOT_FIXED => DOUBLE_WIDTH,
        TypeKind::Float | TypeKind::Double => fixed().max(ty.length),
        TypeKind::Json | TypeKind::Geometry(_) => u32::MAX,
        TypeKind::TinyInt => ty.without_display_width().length.max(ty.length),
        // Numbers of more digits than the display width are shown as a whole.
        _ if ty.zerofill => ty.without_display_width().length.max(ty.length),
        _ => ty.length,
    }
}

/// The string type that holds the text of every value of a type.
pub fn string_of(ty: &SqlType, collation: CollationId) -> SqlType {
    let becomes_binary = collation == CollationId::BINARY && ty.collation != CollationId::BINARY;
    match ty.kind {
        TypeKind::Char | TypeKind::VarChar if becomes_binary => {
            // Its length counts characters, the result's bytes.
            let width = u32::from(ty.collation.charset().max_length());
            SqlType::varchar(ty.length.saturating_mul(width), collation)
        }
        TypeKind::Enum | TypeKind::Set if becomes_binary => {
            let width = u32::from(ty.collation.charset().max_length());
            SqlType::varchar(text_length(ty).saturating_mul(width), collation)
        }
        TypeKind::Char => SqlType::varchar(ty.length, collation),
        _ if ty.is_structured_bytes() => SqlType::text(TypeKind::LongText, collation),
        // A string does not show that it was a numeric literal.
        _ if ty.is_string() => SqlType {
            collation,
            temporal_text: false,
            unsigned: false,
            is_bytes_literal: false,
            ..ty.clone()
        },
        TypeKind::Json => SqlType::text(TypeKind::LongText, collation),
        _ => SqlType::varchar(text_length(ty), collation),
    }
}

/// The type of binary strings that are converted to the collation of texts; any other type is unchanged.
pub fn of_texts(ty: &SqlType, collation: CollationId) -> SqlType {
    if !ty.is_binary_string() {
        return ty.clone();
    }
    SqlType {
        collation,
        is_bytes_literal: false,
        unsigned: false,
        ..ty.clone()
    }
}

/// The DECIMAL that holds all values of two.
pub fn wider_decimal(a: &SqlType, b: &SqlType) -> SqlType {
    let scale = a.decimals.max(b.decimals);
    let integer_digits = |ty: &SqlType| ty.length.saturating_sub(u32::from(ty.decimals));
    let digits = integer_digits(a).max(integer_digits(b)) + u32::from(scale);
    SqlType::decimal(u8::try_from(digits).unwrap_or(u8::MAX), scale)
}

/// The type that holds the values of two.
pub fn common_type(a: &SqlType, b: &SqlType, alternatives: Alternatives) -> SqlType {
    if a.kind == TypeKind::Null {
        return as_value(b);
    }
    if b.kind == TypeKind::Null {
        return as_value(a);
    }
    let (a, b) = (&as_value(a), &as_value(b));
    if a.is_numeric() && b.is_numeric() {
        return common_number(a, b, alternatives);
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
    match (a.kind, b.kind) {
        (TypeKind::Geometry(first), TypeKind::Geometry(second)) => {
            let is_kept = first == second && alternatives == Alternatives::SetOperation;
            return SqlType::geometry(if is_kept { first } else { GeometryKind::Any });
        }
        (TypeKind::Vector, TypeKind::Vector) => {
            return SqlType {
                length: a.length.max(b.length),
                ..a.clone()
            };
        }
        _ => {}
    }
    common_string(a, b, alternatives)
}

/// Whether types are those of signed and of unsigned integers, NULL apart.
pub fn has_both_signs<'a>(types: impl Iterator<Item = &'a SqlType> + Clone) -> bool {
    let mut typed = types.filter(|ty| ty.kind != TypeKind::Null);
    let is_number = |ty: &SqlType| as_value(ty).is_integer() && ty.kind != TypeKind::Bit;
    typed.clone().all(is_number)
        && typed.clone().any(is_unsigned)
        && typed.any(|ty| !is_unsigned(ty))
}

fn is_unsigned(ty: &SqlType) -> bool {
    ty.unsigned || ty.kind == TypeKind::Year
}

/// The DECIMAL that holds integers of both signs among which an unsigned one has 64 bits: a BIGINT, or one of those that
/// MySQL computes as a BIGINT (the second half of each pair). `None` if there is none.
pub fn decimal_of_both_signs<'a>(
    alternatives: impl Iterator<Item = (&'a SqlType, bool)>,
) -> Option<SqlType> {
    let (mut has_long, mut digits) = (false, 0);
    for (ty, is_computed) in alternatives {
        let is_long = is_computed || ty.kind == TypeKind::BigInt;
        has_long |= is_unsigned(ty) && is_long;
        let long = SqlType {
            kind: TypeKind::BigInt,
            ..ty.clone()
        };
        digits = digits.max(decimal_of_numeric(if is_long { &long } else { ty }).length);
    }
    let digits = u8::try_from(digits).unwrap_or(u8::MAX);
    has_long.then(|| SqlType::decimal(digits, 0))
}

/// Orders the integer kinds by their range.
fn integer_rank(ty: &SqlType) -> u8 {
    match ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt | TypeKind::Year => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        _ => 5,
    }
}

fn integer_of_rank(rank: u8, unsigned: bool, length: u32) -> SqlType {
    let kind = match rank {
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::MediumInt,
        4 => TypeKind::Int,
        _ => TypeKind::BigInt,
    };
    SqlType {
        unsigned,
        length,
        ..SqlType::integer(kind)
    }
}

fn common_number(a: &SqlType, b: &SqlType, alternatives: Alternatives) -> SqlType {
    let is_function = alternatives == Alternatives::Function;
    let (a, b) = (&a.without_display_width(), &b.without_display_width());
    let is_float = |ty: &SqlType| matches!(ty.kind, TypeKind::Float | TypeKind::Double);
    if is_float(a) || is_float(b) {
        return common_float(a, b);
    }
    if a.kind == TypeKind::Decimal || b.kind == TypeKind::Decimal {
        return SqlType {
            unsigned: false,
            ..wider_decimal(&decimal_of_numeric(a), &decimal_of_numeric(b))
        };
    }
    if a.kind == b.kind && a.unsigned == b.unsigned {
        let wider = if a.length >= b.length { a } else { b };
        match a.kind {
            TypeKind::Bit if !is_function => return wider.clone(),
            TypeKind::Year => return wider.clone(),
            _ => {}
        }
    }
    let length = a.length.max(b.length);
    let is_bit = |ty: &SqlType| ty.kind == TypeKind::Bit;
    let rank = |ty: &SqlType| match ty.kind {
        TypeKind::Bit if is_function && ty.length < 10 => 4,
        TypeKind::BigInt if is_function && ty.length < 10 && a.kind != b.kind => 4,
        _ => integer_rank(ty),
    };
    let unsigned = |ty: &SqlType| is_unsigned(ty) || ty.kind == TypeKind::Bit;
    let mut result = rank(a).max(rank(b));
    if is_function {
        result = result.max(4);
    }
    match (unsigned(a), unsigned(b)) {
        (true, true) => return integer_of_rank(result, true, length),
        (false, false) => return integer_of_rank(result, false, length),
        _ => {}
    }
    let (signed, other) = if unsigned(a) { (b, a) } else { (a, b) };
    if is_bit(other) {
        return wider_decimal(&decimal_of_numeric(signed), &decimal_of_numeric(other));
    }
    // The signed type must have a bit more than the unsigned one, which every YEAR leaves free.
    let free = other.kind == TypeKind::Year || rank(signed) > rank(other);
    match result {
        5 if !free => SqlType::decimal(20, 0),
        _ if free || (is_function && rank(other) < 4) => integer_of_rank(result, false, length),
        _ => integer_of_rank(result + 1, false, length),
    }
}

/// The common type of a FLOAT and another type. FLOAT holds integers of up to 24 bits; for MySQL also those of a BIGINT
/// where the FLOAT comes first: so IFNULL(f, 0) is a FLOAT.
fn common_float(a: &SqlType, b: &SqlType) -> SqlType {
    let single = |ty: &SqlType| {
        matches!(
            ty.kind,
            TypeKind::Float
                | TypeKind::TinyInt
                | TypeKind::SmallInt
                | TypeKind::MediumInt
                | TypeKind::Year
        )
    };
    let is_before_bigint = a.kind == TypeKind::Float && b.kind == TypeKind::BigInt;
    let decimals = a.decimals.max(b.decimals);
    let is_fixed = decimals < DECIMALS_NOT_FIXED;
    // The greater number of decimals, if both types have a fixed one.
    let length = |varying: u32| {
        let whole = |ty: &SqlType| match ty.kind {
            // The length includes the sign and the point.
            TypeKind::Decimal => text_length(ty).saturating_sub(ty.decimals.into()),
            _ => ty.length.saturating_sub(ty.decimals.into()),
        };
        if is_fixed {
            whole(a).max(whole(b)) + u32::from(decimals)
        } else {
            varying
        }
    };
    let decimals = decimals.min(DECIMALS_NOT_FIXED);
    if is_before_bigint || single(a) && single(b) {
        return SqlType {
            kind: TypeKind::Float,
            length: length(FLOAT_LENGTH),
            unsigned: a.unsigned && b.unsigned,
            decimals,
            ..SqlType::double()
        };
    }
    if a == b {
        return a.clone();
    }
    SqlType {
        length: length(SqlType::double().length),
        decimals,
        ..SqlType::double()
    }
}

/// The display width of a FLOAT without a fixed number of decimals.
const FLOAT_LENGTH: u32 = 12;

/// Rank of a TEXT kind by its length, from 1; 0 for every other type.
fn text_rank(ty: &SqlType) -> u8 {
    match ty.kind {
        TypeKind::TinyText => 1,
        TypeKind::Text => 2,
        TypeKind::MediumText => 3,
        TypeKind::LongText | TypeKind::Json | TypeKind::Geometry(_) | TypeKind::Vector => 4,
        _ => 0,
    }
}

fn has_charset(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json)
}

fn common_string(a: &SqlType, b: &SqlType, alternatives: Alternatives) -> SqlType {
    let is_binary = |ty: &SqlType| ty.is_binary_string() || ty.kind == TypeKind::Bit;
    let collation = if is_binary(a) || is_binary(b) {
        CollationId::BINARY
    } else {
        match (has_charset(a), has_charset(b)) {
            (true, _) => a.collation,
            (_, true) => b.collation,
            _ => CollationId::default(),
        }
    };
    let binary = collation == CollationId::BINARY;
    let is_function = alternatives == Alternatives::Function;
    let rank = |ty: &SqlType| {
        let rank = text_rank(ty);
        // A set operation measures TEXT in bytes of its longest characters.
        let wide = has_charset(ty) && ty.collation.charset().max_length() > 1;
        match rank {
            1..4 if wide && !is_function => rank + 1,
            _ => rank,
        }
    };
    let length = |ty: &SqlType| {
        let bytes = match ty.collation.charset().max_length() {
            width if binary && has_charset(ty) => u32::from(width),
            _ => 1,
        };
        let least = match ty.kind {
            TypeKind::Double if !binary => DOUBLE_WIDTH,
            _ => 0,
        };
        text_length(ty).max(least).saturating_mul(bytes)
    };
    let length = length(a).max(length(b));
    let kind = match rank(a).max(rank(b)) {
        0 => None,
        // The values of a function have no more characters than the longest of its arguments.
        _ if is_function => Some(TypeKind::LongText),
        1 => Some(TypeKind::TinyText),
        2 => Some(TypeKind::Text),
        3 => Some(TypeKind::MediumText),
        _ => Some(TypeKind::LongText),
    };
    if let Some(kind) = kind {
        return SqlType {
            length,
            ..SqlType::text(kind, collation)
        };
    }
    let fixed = a.kind == TypeKind::Char || b.kind == TypeKind::Char;
    let varies = a.kind == TypeKind::VarChar || b.kind == TypeKind::VarChar;
    if fixed && !varies && !is_function {
        return SqlType::char(length, collation);
    }
    SqlType::varchar(length, collation)
}

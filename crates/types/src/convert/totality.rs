//! Which conversions can neither fail nor warn, by the types alone. An expression with only such conversions may be
//! evaluated for rows that are filtered out later, or not at all.

use super::array::same_text;
use crate::decimal::decimal_of_numeric;
use crate::sql_type::{PhysicalType, SqlType, TypeKind};

/// Lower bound of `max_allowed_packet` in bytes: a result that fits it is never refused for its length.
pub const MAX_ALLOWED_PACKET_MIN: u32 = 1024;

/// Whether CAST of every value of one type to another can neither fail nor warn.
pub fn is_total_cast(from: &SqlType, to: &SqlType) -> bool {
    if from.kind == TypeKind::Null {
        return true;
    }
    match to.kind {
        TypeKind::Double => {
            matches!(
                from.physical(),
                PhysicalType::Int64
                    | PhysicalType::UInt64
                    | PhysicalType::Float64
                    | PhysicalType::Decimal128(_)
            ) && from.is_numeric()
        }
        TypeKind::Decimal => {
            let whole_digits = |ty: &SqlType| ty.length.saturating_sub(u32::from(ty.decimals));
            let is_exact = from.integer_bits().is_some() || from.kind == TypeKind::Decimal;
            is_exact && {
                let number = decimal_of_numeric(from);
                (from.kind != TypeKind::Decimal || to.decimals >= from.decimals)
                    && (from.unsigned || !to.unsigned)
                    && whole_digits(to) >= whole_digits(&number)
            }
        }
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => match (from.integer_bits(), to.integer_bits()) {
            (Some(bits), Some(room)) => bits <= room && from.unsigned == to.unsigned,
            _ => from.kind == TypeKind::Boolean,
        },
        TypeKind::Date => from.kind == TypeKind::Date,
        TypeKind::DateTime => match from.kind {
            TypeKind::Date => true,
            TypeKind::DateTime => from.decimals <= to.decimals,
            _ => false,
        },
        TypeKind::VarChar => {
            let is_short = to.length <= MAX_ALLOWED_PACKET_MIN / 4;
            let width = match from.kind {
                TypeKind::Decimal => Some(from.length + 2),
                TypeKind::Date | TypeKind::DateTime => Some(from.length),
                // With leading zeros or an explicit width, the length says nothing about the values.
                _ if !from.zerofill => from.integer_bits().map(|bits| match bits {
                    8 => 4,
                    16 => 6,
                    24 => 8,
                    32 => 11,
                    _ => 20,
                }),
                _ => None,
            };
            let is_plain = from.kind == TypeKind::VarChar && same_text(from, to);
            let width = width.or_else(|| is_plain.then_some(from.length));
            is_short && width.is_some_and(|width| width <= to.length)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Decimal128Array, Int64Array, UInt64Array};

    use super::*;
    use crate::collation::CollationId;
    use crate::convert::{CastContext, cast_array};
    use crate::diagnostics::Diagnostics;
    use crate::sql_mode::SqlMode;
    use crate::temporal::{DateTime, TimeZone};

    /// The greatest and the least value of a type.
    fn extremes(ty: &SqlType) -> ArrayRef {
        match ty.physical() {
            PhysicalType::UInt64 => {
                let bits = ty.integer_bits().expect("an integer");
                Arc::new(UInt64Array::from(vec![0, u64::MAX >> (64 - bits)]))
            }
            PhysicalType::Decimal128(_) => {
                let greatest = 10_i128.pow(ty.length) - 1;
                let array = Decimal128Array::from(vec![-greatest, greatest]);
                Arc::new(array.with_data_type(ty.physical().arrow()))
            }
            _ => {
                let bits = ty.integer_bits().expect("an integer");
                let least = i64::MIN >> (64 - bits);
                Arc::new(Int64Array::from(vec![least, !least]))
            }
        }
    }

    #[test]
    fn total_casts_neither_fail_nor_warn() {
        let integers = [
            TypeKind::TinyInt,
            TypeKind::SmallInt,
            TypeKind::MediumInt,
            TypeKind::Int,
            TypeKind::BigInt,
        ];
        let mut types: Vec<SqlType> = integers.map(SqlType::integer).to_vec();
        types.extend(integers.map(|kind| SqlType {
            unsigned: true,
            ..SqlType::integer(kind)
        }));
        let decimals = [(3, 0), (5, 2), (7, 2), (10, 0), (11, 3), (20, 0), (38, 10)];
        types.extend(decimals.map(|(digits, scale)| SqlType::decimal(digits, scale)));
        let mut targets = types.clone();
        targets.push(SqlType::double());
        let texts = [3, 4, 5, 6, 8, 9, 11, 20, 21, 40, 255];
        targets.extend(texts.map(|length| SqlType::varchar(length, CollationId::UTF8MB4_BIN)));
        let mut total = 0;
        for from in &types {
            for to in targets.iter().filter(|to| is_total_cast(from, to)) {
                total += 1;
                let diagnostics = Diagnostics::new(10);
                let context = CastContext {
                    sql_mode: SqlMode::DEFAULT,
                    diagnostics: &diagnostics,
                    time_zone: &TimeZone::UTC,
                    now: DateTime::default(),
                    operand: "",
                    room: None,
                };
                let result = cast_array(&extremes(from), from, to, &context);
                assert!(result.is_ok(), "{from:?} to {to:?}");
                assert_eq!(diagnostics.conditions().len(), 0, "{from:?} to {to:?}");
            }
        }
        assert!(total > 100, "{total}");
    }
}

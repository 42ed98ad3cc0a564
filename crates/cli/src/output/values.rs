//! The values of a result in their displayed form, which all forms of results share.
//!
//! A value is the bytes that the engine displays. They need not be text: forms that show text show other bytes in
//! hexadecimal.

use data_encoding::HEXUPPER;
use mayfly_engine::TypeKind;

/// A value as readable text: invalid UTF-8 in hexadecimal, and `NULL`.
pub(crate) fn shown(value: Option<&[u8]>) -> String {
    value.map_or_else(|| "NULL".to_owned(), text_or_hexadecimal)
}

/// Bytes as text: invalid UTF-8 in hexadecimal.
pub(super) fn text_or_hexadecimal(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).map(str::to_owned);
    text.unwrap_or_else(|_| hexadecimal(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    format!("0x{}", HEXUPPER.encode(bytes))
}

/// Whether the values of a type are shown as numbers.
pub(crate) fn is_number(kind: TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::Boolean
            | TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Decimal
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Year
    )
}

//! Bytes of a value in MySQL's rows and keys by its declaration: `key_len` of EXPLAIN, and rows of the MEMORY engine
//! (manual: Data Type Storage Requirements).

use crate::{SqlType, TypeKind};

impl SqlType {
    /// The bytes of the longest value of the type, or of its first `prefix` characters (bytes, for a binary string). A
    /// string of varying length has two more for its length.
    pub fn declared_bytes(&self, prefix: Option<u32>) -> u64 {
        let fraction = u64::from(self.decimals.min(6)).div_ceil(2);
        let characters = u64::from(prefix.unwrap_or(self.length));
        let width = if self.is_binary_string() {
            1
        } else {
            self.collation.charset().max_length()
        };
        let text = characters * u64::from(width);
        match self.kind {
            TypeKind::Boolean | TypeKind::TinyInt | TypeKind::Year | TypeKind::Null => 1,
            TypeKind::SmallInt => 2,
            TypeKind::MediumInt | TypeKind::Date => 3,
            TypeKind::Int | TypeKind::Float => 4,
            TypeKind::BigInt | TypeKind::Double => 8,
            TypeKind::Decimal => {
                let decimals = u32::from(self.decimals);
                digit_bytes(self.length.saturating_sub(decimals)) + digit_bytes(decimals)
            }
            TypeKind::Time => 3 + fraction,
            TypeKind::DateTime => 5 + fraction,
            TypeKind::Timestamp => 4 + fraction,
            TypeKind::Bit => u64::from(self.length).div_ceil(8),
            TypeKind::Enum => match self.members.len() {
                0..256 => 1,
                _ => 2,
            },
            TypeKind::Set => match self.members.len().div_ceil(8) {
                bytes @ 0..=4 => bytes.max(1) as u64,
                _ => 8,
            },
            TypeKind::Char => text,
            TypeKind::VarChar
            | TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Json
            | TypeKind::Geometry(_)
            | TypeKind::Vector => text + 2,
        }
    }
}

/// Bytes of a number of decimal digits: four for nine digits, fewer for a remainder.
fn digit_bytes(digits: u32) -> u64 {
    let rest = [0, 1, 1, 2, 2, 3, 3, 4, 4][digits as usize % 9];
    u64::from(digits / 9) * 4 + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    #[test]
    fn lengths_are_those_of_the_manual() {
        let utf8 = CollationId::UTF8MB4_0900_AI_CI;
        assert_eq!(SqlType::varchar(100, utf8).declared_bytes(None), 402);
        assert_eq!(SqlType::varchar(100, utf8).declared_bytes(Some(10)), 42);
        assert_eq!(
            SqlType::varchar(7, CollationId::BINARY).declared_bytes(None),
            9
        );
        assert_eq!(SqlType::decimal(10, 2).declared_bytes(None), 5);
        assert_eq!(SqlType::decimal(65, 30).declared_bytes(None), 30);
        assert_eq!(SqlType::bigint().declared_bytes(None), 8);
    }
}

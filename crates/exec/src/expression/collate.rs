//! Strings by collation: the one place of this crate that asks `types` how strings compare.

use std::cmp::Ordering;

use mayfly_types::CollationId;

/// Whether two strings are equal exactly when their bytes are.
pub(crate) fn equality_is_bytewise(collation: CollationId) -> bool {
    matches!(
        collation,
        CollationId::BINARY | CollationId::UTF8MB4_0900_BIN
    )
}

/// The order of two strings.
pub(crate) fn compare(collation: CollationId, left: &[u8], right: &[u8]) -> Ordering {
    if equality_is_bytewise(collation) {
        return left.cmp(right);
    }
    let fold = |bytes: &[u8]| bytes.to_ascii_lowercase();
    fold(left).cmp(&fold(right))
}

/// Whether two strings are equal.
pub(crate) fn equals(collation: CollationId, left: &[u8], right: &[u8]) -> bool {
    if equality_is_bytewise(collation) {
        left == right
    } else {
        left.eq_ignore_ascii_case(right)
    }
}

/// Appends bytes that are equal for two strings exactly when the strings are.
pub(crate) fn append_key(collation: CollationId, bytes: &[u8], key: &mut Vec<u8>) {
    if equality_is_bytewise(collation) {
        key.extend_from_slice(bytes);
    } else {
        key.extend(bytes.iter().map(u8::to_ascii_lowercase));
    }
}

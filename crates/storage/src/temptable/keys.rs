//! What this crate asks of a collation.

use std::cmp::Ordering;

use mayfly_types::CollationId;

/// Whether trailing spaces count for nothing.
pub(crate) fn is_pad_space(collation: CollationId) -> bool {
    collation.collation().pad_space
}

/// Whether the order is that of the bytes.
pub(crate) fn is_bytewise_order(collation: CollationId) -> bool {
    collation.is_bytewise_equality()
}

/// Whether two strings are equal in a collation.
pub(crate) fn collation_equals(collation: CollationId, a: &[u8], b: &[u8]) -> bool {
    collation.equals(a, b)
}

/// Appends the sort key of a string in a collation.
pub(crate) fn append_collation_key(collation: CollationId, text: &[u8], key: &mut Vec<u8>) {
    collation.append_sort_key(text, key);
}

/// The order of two strings in a collation.
pub(crate) fn collation_compare(collation: CollationId, a: &[u8], b: &[u8]) -> Ordering {
    collation.compare(a, b)
}

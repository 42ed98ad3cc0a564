//! The keys of the file of durable tables: the number of a tree, and what tells its blocks and records apart.

/// The number of a tree.
pub type TreeId = u32;

/// The tree of records with a name.
pub(super) const META: TreeId = 0;

/// The key of a tree's block or record.
pub(super) fn record_key(tree: TreeId, separator: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(4 + separator.len());
    key.extend_from_slice(&tree.to_be_bytes());
    key.extend_from_slice(separator);
    key
}

/// The separator of a record of this tree.
pub(super) fn separator_of(tree: TreeId, key: &[u8]) -> Option<&[u8]> {
    let (number, separator) = key.split_first_chunk::<4>()?;
    (u32::from_be_bytes(*number) == tree).then_some(separator)
}

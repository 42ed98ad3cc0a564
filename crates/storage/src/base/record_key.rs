//! Keys of the data file: the number of a tree, then what distinguishes its blocks and records.

/// The number of a tree.
pub type TreeId = u32;

/// The tree of named records.
pub(super) const META: TreeId = 0;

/// Name of the record with the largest tree number ever given.
pub(super) const LAST_TREE: &[u8] = b"\0last tree";

/// Prefix of the names of records of trees that are being loaded.
pub(super) const LOADING: &[u8] = b"\0filling";

/// The key of a tree's block or record.
pub(super) fn record_key(tree: TreeId, separator: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(4 + separator.len());
    key.extend_from_slice(&tree.to_be_bytes());
    key.extend_from_slice(separator);
    key
}

/// [`record_key`], but written to the beginning of `bytes`, which has room for it.
pub(super) fn record_key_in<'b>(tree: TreeId, separator: &[u8], bytes: &'b mut [u8]) -> &'b [u8] {
    let key = &mut bytes[..4 + separator.len()];
    key[..4].copy_from_slice(&tree.to_be_bytes());
    key[4..].copy_from_slice(separator);
    key
}

/// The separator in a record key of this tree.
pub(super) fn separator_of(tree: TreeId, key: &[u8]) -> Option<&[u8]> {
    let (number, separator) = key.split_first_chunk::<4>()?;
    (u32::from_be_bytes(*number) == tree).then_some(separator)
}

/// Name of the record with a tree's row count.
pub(super) fn row_count_name(tree: TreeId) -> Vec<u8> {
    let mut name = b"\0rows".to_vec();
    name.extend_from_slice(&tree.to_be_bytes());
    name
}

/// The number in a row count record.
pub(super) fn count_of(record: &[u8]) -> u64 {
    record.try_into().map_or(0, u64::from_le_bytes)
}

/// Name of the record of a tree that is being loaded.
pub(super) fn loading_name(tree: TreeId) -> Vec<u8> {
    [LOADING, &tree.to_be_bytes()].concat()
}

//! Encoding of data file changes in the redo log ([`super::log`]).
//!
//! A commit gives its changes to the log first and then to the file ([`super::environment::pipeline`]); a change that
//! is read from the log equals the one written.
//!
//! ```text
//! entry:  0 | key | value       1 | key: removed        2 | key | key: removed from the first to the second
//!         3 | tree u32 | types of its columns: the rows that follow, of rising keys, are its
//!         4 | key | row         5 | key: the row is removed
//!         6 | tree u32 | row_count_delta i64, reset u8
//! ```
//!
//! Keys and values are preceded by their length, four bytes; the tree number is stored as a key, what follows it as a
//! value.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

use mayfly_types::PhysicalType;

use super::record_key::TreeId;

const PUT: u8 = 0;
const REMOVE: u8 = 1;
const CLEAR: u8 = 2;
const TREE: u8 = 3;
const ROW: u8 = 4;
const REMOVE_ROW: u8 = 5;
const COUNT: u8 = 6;

/// A key and its new row (see [`super::row`]); `None` removes it.
pub(super) type RowChange<'a> = (&'a [u8], Option<&'a [u8]>);

/// A change of the data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redo<'a> {
    /// Sets the value of a record.
    Put(&'a [u8], &'a [u8]),
    /// Removes a record.
    Remove(&'a [u8]),
    /// Removes the records of a key range.
    Clear(&'a [u8], &'a [u8]),
    /// Changes a tree's row count, for rows not in [`Self::Rows`].
    Count {
        /// The tree.
        tree: TreeId,
        /// The difference.
        more: i64,
        /// Whether the count starts from 0.
        anew: bool,
    },
    /// Sets or removes rows, in ascending key order, of a tree with columns of these types.
    Rows(TreeId, &'a Arc<[PhysicalType]>, &'a [RowChange<'a>]),
}

impl Redo<'_> {
    /// Calls a function with the entries that encode the change: kind, key, and value, if any.
    pub(super) fn entries(
        self,
        mut each: impl FnMut(u8, &[u8], Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Redo::Put(key, value) => each(PUT, key, Some(value)),
            Redo::Remove(key) => each(REMOVE, key, None),
            Redo::Clear(low, high) => each(CLEAR, low, Some(high)),
            Redo::Count { tree, more, anew } => {
                let mut count = more.to_le_bytes().to_vec();
                count.push(u8::from(anew));
                each(COUNT, &tree.to_le_bytes(), Some(&count))
            }
            Redo::Rows(tree, types, rows) => {
                let types: Vec<u8> = types.iter().flat_map(|ty| type_code(*ty)).collect();
                each(TREE, &tree.to_le_bytes(), Some(&types))?;
                rows.iter().try_for_each(|(key, row)| {
                    let kind = if row.is_some() { ROW } else { REMOVE_ROW };
                    each(kind, key, *row)
                })
            }
        }
    }
}

/// Appends an entry.
pub(super) fn append_entry(
    out: &mut Vec<u8>,
    kind: u8,
    key: &[u8],
    value: Option<&[u8]>,
) -> Result<()> {
    out.push(kind);
    for bytes in std::iter::once(key).chain(value) {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::new(ErrorKind::InvalidInput, "a record is too long"))?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
    }
    Ok(())
}

/// Two-byte code of a column's type.
fn type_code(ty: PhysicalType) -> [u8; 2] {
    match ty {
        PhysicalType::Bool => [0, 0],
        PhysicalType::Int64 => [1, 0],
        PhysicalType::UInt64 => [2, 0],
        PhysicalType::Float64 => [3, 0],
        PhysicalType::Decimal128(scale) => [4, scale],
        PhysicalType::Decimal256(scale) => [5, scale],
        PhysicalType::Bytes => [6, 0],
    }
}

fn type_of(code: [u8; 2]) -> Option<PhysicalType> {
    Some(match code {
        [0, 0] => PhysicalType::Bool,
        [1, 0] => PhysicalType::Int64,
        [2, 0] => PhysicalType::UInt64,
        [3, 0] => PhysicalType::Float64,
        [4, scale] => PhysicalType::Decimal128(scale),
        [5, scale] => PhysicalType::Decimal256(scale),
        [6, 0] => PhysicalType::Bytes,
        _ => return None,
    })
}

/// Decoder of consecutive frames.
#[derive(Debug)]
pub(super) struct ChangeReader {
    /// The tree of the rows that follow.
    tree: TreeId,
    types: Arc<[PhysicalType]>,
}

/// Entry of a frame (kind, key, value), and the bytes behind it.
type Entry<'f> = ((u8, &'f [u8], &'f [u8]), &'f [u8]);

impl ChangeReader {
    pub(super) fn new() -> Self {
        Self {
            tree: 0,
            types: Arc::from([]),
        }
    }

    /// Calls `each` with the changes of a frame; returns whether all of its bytes could be decoded.
    pub(super) fn read<E>(
        &mut self,
        mut frame: &[u8],
        mut each: impl FnMut(Redo<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<bool, E> {
        let mut rows: Vec<RowChange<'_>> = Vec::new();
        while !frame.is_empty() {
            let Some(((kind, key, value), rest)) = entry_of(frame) else {
                return Ok(false);
            };
            frame = rest;
            match kind {
                ROW => rows.push((key, Some(value))),
                REMOVE_ROW => rows.push((key, None)),
                _ => {
                    self.give_rows(&mut rows, &mut each)?;
                    let change = match kind {
                        PUT => Some(Redo::Put(key, value)),
                        REMOVE => Some(Redo::Remove(key)),
                        CLEAR => Some(Redo::Clear(key, value)),
                        COUNT => count_of(key, value),
                        _ => None,
                    };
                    match change {
                        Some(change) => each(change)?,
                        None if kind == TREE && self.note_tree(key, value).is_some() => {}
                        None => return Ok(false),
                    }
                }
            }
        }
        self.give_rows(&mut rows, &mut each)?;
        Ok(true)
    }

    fn note_tree(&mut self, number: &[u8], types: &[u8]) -> Option<()> {
        let (types, []) = types.as_chunks() else {
            return None;
        };
        self.types = types
            .iter()
            .map(|code| type_of(*code))
            .collect::<Option<_>>()?;
        self.tree = u32::from_le_bytes(number.try_into().ok()?);
        Some(())
    }

    fn give_rows<E>(
        &self,
        rows: &mut Vec<RowChange<'_>>,
        each: &mut impl FnMut(Redo<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if !rows.is_empty() {
            each(Redo::Rows(self.tree, &self.types, rows))?;
        }
        rows.clear();
        Ok(())
    }
}

fn entry_of(frame: &[u8]) -> Option<Entry<'_>> {
    let (kind, rest) = frame.split_first()?;
    let (key, rest) = bytes_of(rest)?;
    let (value, rest) = match *kind {
        REMOVE | REMOVE_ROW => (&[][..], rest),
        _ => bytes_of(rest)?,
    };
    Some(((*kind, key, value), rest))
}

fn bytes_of(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

fn count_of<'a>(tree: &[u8], count: &[u8]) -> Option<Redo<'a>> {
    let (more, [anew]) = count.split_first_chunk::<8>()? else {
        return None;
    };
    Some(Redo::Count {
        tree: u32::from_le_bytes(tree.try_into().ok()?),
        more: i64::from_le_bytes(*more),
        anew: *anew != 0,
    })
}

//! What excludes rows of a column chunk: the column of a term, and the bytes of its indexes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use arrow_schema::Field;
use parquet::file::metadata::ColumnChunkMetaData;

/// Greatest size in bytes of a column's page index, and of its Bloom filter, that is read.
pub(super) const INDEX_MAX: u64 = 16 << 20;

/// Column of a term: its field, its index among the leaves of the file's schema, and its chunk in the row group.
pub(super) struct TermColumn<'f> {
    pub(super) field: &'f Field,
    pub(super) leaf: usize,
    pub(super) chunk: &'f ColumnChunkMetaData,
}

/// Bytes of a file; `None` where they cannot be read.
pub(super) fn bytes_at(file: &File, range: std::ops::Range<u64>) -> Option<Vec<u8>> {
    let length = range.end.checked_sub(range.start)?;
    let is_there = range.end <= file.metadata().ok()?.len();
    if !is_there || length > INDEX_MAX {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, range.start).ok()?;
    Some(bytes)
}

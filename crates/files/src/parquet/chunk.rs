//! What excludes rows of a column chunk: the column of a term, and the bytes of its indexes.

use std::ops::Range;

use arrow_schema::Field;
use mayfly_engine::InputFile;
use parquet::file::metadata::ColumnChunkMetaData;

/// Greatest size in bytes of a column's page index, and of its Bloom filter, that is read.
pub(super) const INDEX_MAX: u64 = 16 << 20;

/// Column of a term: its field, its index among the leaves of the file's schema, and its chunk in the row group.
pub(super) struct TermColumn<'f> {
    pub(super) field: &'f Field,
    pub(super) leaf: usize,
    pub(super) chunk: &'f ColumnChunkMetaData,
}

/// Bytes of a file, in one request; `None` where they cannot be read.
pub(super) fn bytes_at<const N: usize>(
    file: &InputFile,
    ranges: [Range<u64>; N],
) -> Option<[Vec<u8>; N]> {
    let is_short = |range: &Range<u64>| range.end.checked_sub(range.start) <= Some(INDEX_MAX);
    let are_ranges = ranges.iter().all(|range| range.start <= range.end);
    if !are_ranges || !ranges.iter().all(is_short) {
        return None;
    }
    file.ranges(&ranges).ok()?.try_into().ok()
}

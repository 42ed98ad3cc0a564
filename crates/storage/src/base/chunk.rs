//! Chunks: up to 64 K rows in columns, stored narrow.
//!
//! - Integers, packed temporal values and decimals that fit in 64 bits: the difference from the
//!   chunk's least value in 0, 1, 2, 4 or 8 bytes.
//! - Strings: the values back to back in blocks of 2 MiB (256 KiB when memory is short), which stay
//!   where they are, so that whoever scans them gets views and copies nothing. The 16-byte views are
//!   not stored: making them costs no more than reading them would, and touches the values for the
//!   hash that mostly follows. Strings of one length need no place each.
//! - Strings of few values: the values once, and a code of 1 or 2 bytes a row.
//!
//! Everything that is not a string value is laid one after another into one *fixed* piece a column.

use mayfly_types::PhysicalType;

use super::piece::Piece;

/// Rows of a full chunk.
pub(super) const CHUNK_ROWS: usize = 64 << 10;
/// String blocks are at most so long: positions are so many bits of offset below the block's number.
pub(super) const OFFSET_BITS: u32 = 21;

/// Bits of the offset in a position.
pub(super) const OFFSET_MASK: u32 = (1 << OFFSET_BITS) - 1;

/// Unsigned numbers of few bytes: each value is `base` and the stored difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Narrow {
    pub(super) base: u64,
    /// 0, 1, 2, 4 or 8.
    pub(super) width: usize,
    /// Where they start in the fixed piece.
    pub(super) start: usize,
}

/// How a column's values are stored.
#[derive(Debug)]
pub(super) enum Values {
    /// Every row is NULL or the type's only value of no bytes.
    Nothing,
    /// Whole numbers of at most 64 bits.
    Narrow(Narrow),
    /// As many bytes each, as Arrow has them.
    Plain { width: usize, start: usize },
    /// A bit each.
    Bits { start: usize },
    /// Strings of one length: each block but the last holds `per_block` of them.
    OneLength { length: usize, per_block: usize },
    /// Strings: positions (u32: block number and offset) and lengths.
    Strings { positions: usize, lengths: Narrow },
    /// Strings of few values: their views, block numbers as in positions, and codes.
    Dictionary { views: usize, codes: Narrow },
}

/// One column of a chunk.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) ty: PhysicalType,
    pub(super) values: Values,
    /// Where the bitmap of rows that are not NULL starts in the fixed piece, if one is NULL.
    pub(super) validity: Option<usize>,
    pub(super) fixed: Piece,
    /// The blocks of string values.
    pub(super) blocks: Vec<Piece>,
}

/// Rows in columns.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column>,
}

impl Chunk {
    /// All pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.columns
            .iter()
            .flat_map(|column| column.blocks.iter().chain([&column.fixed]))
    }
}

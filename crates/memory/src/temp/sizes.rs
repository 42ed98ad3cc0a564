//! The sizes in which temporary space is divided.
//!
//! Files are allocated in units; extents are encoded in pieces, each of which begins at a unit. A full piece is a whole
//! number of units, so that pieces that are stored as they are leave no space between them.

/// Alignment of the start of extents.
pub(super) const EXTENT_UNIT: u64 = 4096;

/// The largest part of an extent that is compressed and encrypted as one.
pub(super) const PIECE: usize = 256 << 10;

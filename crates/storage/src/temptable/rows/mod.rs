//! Rows in memory: the one layout that every temporary table uses.
//!
//! ```text
//!   0        8                                                    width
//!   +--------+------------------+---------+---------+-----------------+
//!   | header | more NULL bits   | cell 0  | cell 1  | ...             |
//!   +--------+------------------+---------+---------+-----------------+
//!   header: bits 0..16 NULL bits of columns 0..16, bits 16..64 upper bits of the key's hash
//! ```
//!
//! Cells are 8 bytes (integers, doubles), 16 (DECIMAL up to 38 digits, every string) or 32 (larger
//! DECIMAL). A string's cell is an Arrow view: length and, up to 12 bytes, the value itself; else a
//! 4-byte prefix and where the value is, as the number of a buffer in the table's [`Directory`] and
//! an offset. Since these are numbers, not addresses, rows and values can be written to a
//! file and read back to another address without a change: overflow is no conversion.
//!
//! A headline row (one string key) is 24 bytes.

mod collated;
mod directory;
mod encode;
mod equality;
mod gather;
mod hash;
mod hash_keys;
mod layout;
mod values;

pub(crate) use directory::{Directory, SharedBlock, TRANSIENT, is_source};
pub(crate) use encode::{Encoder, Sources};
pub(crate) use equality::{Resolver, RowKeys};
pub(crate) use gather::Gather;
pub use hash::KeyHasher;
pub(crate) use hash::hash_bytes;
pub(crate) use layout::{Cell, HASH_MASK, RowLayout, View};

/// Rows for which the memory is asked ahead: enough for misses to overlap, few enough for what was
/// asked for to be still there when it is looked at.
pub(crate) const AHEAD_ROWS: usize = 128;

//! Rows in memory: the common layout of all temporary tables.
//!
//! ```text
//!   0        8                                                    width
//!   +--------+------------------+---------+---------+-----------------+
//!   | header | more NULL bits   | cell 0  | cell 1  | ...             |
//!   +--------+------------------+---------+---------+-----------------+
//!   header: bits 0..16 NULL bits of columns 0..16, bits 16..64 upper bits of the key's hash
//! ```
//!
//! Cells are 8 bytes (integers, doubles), 16 (DECIMAL up to 38 digits, every string) or 32 (larger DECIMAL). A
//! string's cell is an Arrow view: length and, up to 12 bytes, the value itself; else a 4-byte prefix and the location
//! of the value, as the number of a buffer in the table's [`Directory`] and an offset. Since these are numbers, not
//! addresses, rows and values can be written to a file and read back to another address without a change: overflow is
//! no conversion.
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

/// Prefetch distance in rows: enough for misses to overlap, few enough that prefetched lines are still in the cache
/// when they are used.
pub(crate) const AHEAD_ROWS: usize = 128;

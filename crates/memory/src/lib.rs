//! Memory and temporary space: budgets that hang in a tree, reused blocks of memory, and the only
//! file I/O below the engine.
//!
//! Three ideas carry the crate.
//!
//! 1. **Reserve before you grow, free by drop.** Every byte that grows with the data is charged to
//!    a [`Budget`] and, through it, to each of its ancestors (statement ≤ session ≤ user ≤ global).
//!    Handles ([`Reservation`], [`Block`], [`Extent`]) are move-only and give back what they hold when
//!    they are dropped, so a statement leaves nothing behind, however it ends.
//! 2. **Fresh memory is expensive, reused memory is cheap.** The kernel clears a page the first time it
//!    is touched; that costs more than hashing the row that is then written into it. [`BlockPool`]
//!    hands the same blocks out again and again, to all statements. The same holds for files:
//!    overwriting bytes that are in the page cache is several times cheaper than growing a file,
//!    so [`TempSpace`] recycles its extents.
//! 3. **A limit that is hit is named.** [`LimitError`] says which setting, its value, what is in
//!    use and what was asked for.
//!
//! This crate knows no row, no Arrow array and no SQL.

pub mod allocator;
pub mod budget;
pub mod byte_mask;
pub mod counters;
pub mod error;
pub mod io;
pub mod machine;
pub mod pool;
pub mod prefetch;
pub mod stable;
pub mod sync;
pub mod temp;
pub mod usage;

pub use allocator::{tighten_allocator, trim_allocator};
pub use budget::{Budget, BudgetKind, Reservation};
pub use byte_mask::{MASK_BYTES, byte_mask};
pub use counters::TempCounters;
pub use error::{
    DirectoryFull, IoFailure, LimitError, MemoryError, NoRoomError, Result, corruption,
};
pub use machine::{physical_memory, usable_memory};
pub use pool::{Block, BlockPool, PoolOptions, SizeClass};
pub use prefetch::prefetch;
pub use stable::{StableRange, StableRanges};
pub use temp::{
    Compression, EncryptionKey, Extent, FaultInjection, TempDirectory, TempFaults, TempFile,
    TempSpace, TempSpaceOptions, TierOptions, TierUsage,
};
pub use usage::process_usage;

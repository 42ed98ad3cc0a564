//! Former engines of MySQL's internal temporary tables, as real structures on real files: the subject of old articles,
//! on which a statement can be run again to see the difference.
//!
//! | engine | rows | unique key |
//! |---|---|---|
//! | [MEMORY](memory) | fixed-length records in blocks | a hash index over records |
//! | [MyISAM](myisam) | a row file | a B-tree of 1 KiB pages through a [key cache](key_cache) |
//! | [InnoDB](innodb) | a B+-tree of 16 KiB pages in a temporary tablespace | another one, through a buffer pool |
//!
//! This crate sees columns and batches, and plugs into statements through [`mayfly_storage::InternalTableEngine`], which
//! [`LegacyTables`] implements: no other crate but the one that configures the engines knows them.
//!
//! A [`LegacyTable`] starts in memory, or on disk where MySQL would start it there, and is copied to disk row by row
//! when it is full: [`Placement`] says which, and why. A row lookup costs what it costs in those engines: a search of
//! the index, and a random read and write of the row. The structures, and their differences from MySQL's, are
//! described in `docs/legacy-engines.md`.

mod environment;
mod file;
mod frames;
mod innodb;
mod key_cache;
mod memory;
mod myisam;
mod placement;
mod refusal;
mod row;
mod spec;
mod statement;
mod store;
mod table;

pub use environment::{LegacyEnvironment, SessionDisk};
pub use file::LegacyDirectory;
pub use innodb::{
    BufferPool, BufferPoolCounters, PAGE_BYTES, SessionTablespace, TemporaryTablespaces,
};
pub use key_cache::{KeyCache, KeyCacheCounters, KeyCacheOptions, KeyCaches};
pub use placement::{
    CONVERT_IF_BIGGER_TO_BLOB, Conversion, LegacyEngine, Placement, PlacementReason,
};
pub use spec::{DeclaredForm, DiskEngine, LegacyColumn, LegacyOptions, LegacyTableSpec};
pub use statement::LegacyTables;
pub use table::{LegacyScan, LegacyTable};

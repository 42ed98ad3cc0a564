//! Ordered access: sort records, sorted runs, and the merge that reads them.
//!
//! Rows lie in blocks as in every table. What is sorted are 24-byte records: the first 16 bytes of the row's
//! normalised key (bytes whose memcmp order is the order of the keys), and the location of the row. Rows with equal
//! prefixes are sorted by the rest of their keys ([`ties`]), and rows that are equal in all keys keep the order of
//! arrival, so the result does not depend on how much memory there was.
//!
//! A writer that runs out of memory sorts its rows and writes them to its temporary file as a *run*: rows and values
//! in order, read back block by block. Runs are merged when the table is read, in several passes when there are more
//! than can have a block each in memory.
//!
//! LIMIT and OFFSET ask for a range of the order, not for all of it: in memory the range is selected in linear time
//! and only its rows are sorted. With a limit a writer also drops rows that cannot be among the first ([`cutoff`]).

mod cutoff;
mod keys;
mod order;
mod run;
mod scan;
mod ties;
mod writer;

pub use cutoff::FirstKeyBound;
pub(crate) use order::sort_rows;
pub use scan::SortedScan;
pub(crate) use writer::{SortState, SortWriter};

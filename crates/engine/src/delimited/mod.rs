//! Delimited text files, as in LOAD DATA and SELECT … INTO OUTFILE: the format, a splitter into fields without
//! copying, and parallel reading of a file. LOAD DATA uses it; so does the shell, to derive the types of a file's
//! columns.

mod blocks;
mod format;
mod splitter;

pub use self::blocks::{Block, Blocks, Parser, Taker, read};
pub use self::format::Format;
pub(crate) use self::format::fixed_width;
pub use self::splitter::{Field, LineEnd, Splitter, Step};

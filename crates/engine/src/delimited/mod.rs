//! Text files of lines and fields, as LOAD DATA and SELECT … INTO OUTFILE describe them: the format,
//! a splitter that cuts bytes into fields without copying them, and the reading of a file by several
//! threads. LOAD DATA reads with it; so does the shell, to learn the types of a file's columns.

mod blocks;
mod format;
mod splitter;

pub use self::blocks::{Block, Blocks, Parser, Taker, read};
pub use self::format::Format;
pub(crate) use self::format::fixed_width;
pub use self::splitter::{Field, LineEnd, Splitter, Step};

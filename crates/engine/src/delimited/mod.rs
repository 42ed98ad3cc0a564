//! Text files of lines and fields, as LOAD DATA and SELECT … INTO OUTFILE describe them: the format,
//! and a splitter that cuts bytes into fields without copying them.

mod format;
mod splitter;

pub use self::format::Format;
pub use self::splitter::{Field, LineEnd, Splitter, Step};

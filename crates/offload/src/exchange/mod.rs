//! Rows that cross an exchange: the envelope that the sending run puts around them, and its check by the receiving run.
//!
//! Behind the columns of the fragment stand two of the envelope ([`ENVELOPE`]): the number of the partition that the row
//! goes to, and a note, NULL in rows of the fragment. A run ends its rows with one row for each partition that holds a
//! note: how many rows the run has sent there, and, to the partition 0, its warnings and figures. The transport may
//! cut and mix batches as it likes. A receiving run fails unless the note of each sending run has come once, and the rows
//! are as many as the notes say: rows that a transport loses or repeats are an error, never another result.

mod note;
mod receiver;
mod sender;

use mayfly_types::{Batch, PhysicalType, Result};

pub(crate) use note::Note;
pub use note::{Figures, JobObserver, check_tables, error_in, error_text};
pub use receiver::Receiver;
pub(crate) use sender::Sender;

/// Arrays behind the columns of a fragment's rows: the partition that the row goes to, and the note.
pub const ENVELOPE: [PhysicalType; 2] = [PhysicalType::UInt64, PhysicalType::Bytes];

/// Rows, a batch at a time.
pub trait Rows: Send {
    /// The next rows; `None` at the end. May be an empty batch.
    ///
    /// # Errors
    /// Those of the statement, of the transport, or that ended the statement.
    fn next_batch(&mut self) -> Result<Option<Batch>>;
}

impl<R: Rows + ?Sized> Rows for Box<R> {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        (**self).next_batch()
    }
}

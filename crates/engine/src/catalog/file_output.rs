//! Data files that statements write: `COPY … TO 'sales.parquet'`, `INTO OUTFILE 'sales.csv' FORMAT csv`.
//!
//! The engine runs the query, in the order of the columns that divide the rows into files, and gives its batches to the
//! [`RowsWriter`] of a [`FileOutput`], which knows the formats and makes the files through the statement's
//! `StatementFiles`. What was written appears when the writer is finished; a writer that is dropped leaves nothing.

use std::fmt::Debug;

use mayfly_types::{Batch, Result};

use super::table_functions::{TableArguments, TableFunctionContext};
use crate::result::ResultColumn;

/// The formats of files that statements write.
pub trait FileOutput: Debug + Send + Sync {
    /// Begins to write. Each of the statement's options has a name.
    ///
    /// # Errors
    /// 1210 for options that there are not; any error of making the file.
    fn begin(
        &self,
        rows: RowsToWrite,
        options: TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Box<dyn RowsWriter>>;
}

/// The rows that are written, and where.
#[derive(Debug)]
pub struct RowsToWrite {
    /// The file, or the directory.
    pub path: String,
    /// The columns of the rows.
    pub columns: Vec<ResultColumn>,
    /// The columns whose values divide the rows into files, by their indexes; the rows come in their order. Empty for one
    /// file.
    pub partition_by: Vec<usize>,
}

/// Takes the rows of a statement.
pub trait RowsWriter: Send {
    /// Writes rows.
    ///
    /// # Errors
    /// For values that the format does not have, and files that cannot be written.
    fn write(&mut self, batch: &Batch) -> Result<()>;

    /// Lets the files appear.
    ///
    /// # Errors
    /// For files that cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}

//! The rows that an UPDATE or DELETE has found, kept until the last is found: no change may be seen
//! by the search for what to change.

use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{Access, Purpose, Scan, TempTable, TempTableSpec, TempTableWriter};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, TypeKind};

/// The types in which columns of a query travel.
pub(super) fn physical_types(types: &[SqlType]) -> Vec<PhysicalType> {
    let physical = types.iter().map(|ty| match ty.kind {
        TypeKind::Boolean => SqlType::bigint().physical(),
        _ => ty.physical(),
    });
    physical.collect()
}

/// So many rows need no temporary table.
const ROWS_IN_MEMORY: usize = 2048;

/// Rows in the order in which they were found.
pub(crate) enum FoundRows {
    /// A few.
    Few(std::vec::IntoIter<Batch>),
    /// Many.
    Many(Scan),
}

/// Keeps rows.
pub(super) struct FoundRowsBuilder<'c> {
    context: &'c TempTableContext,
    columns: Vec<PhysicalType>,
    few: Vec<Batch>,
    rows: usize,
    many: Option<(TempTable, TempTableWriter)>,
}

impl<'c> FoundRowsBuilder<'c> {
    /// Nothing found so far.
    pub(super) fn new(context: &'c TempTableContext, columns: Vec<PhysicalType>) -> Self {
        Self {
            context,
            columns,
            few: Vec::new(),
            rows: 0,
            many: None,
        }
    }

    /// Adds rows.
    pub(super) fn add(&mut self, batch: Batch) -> Result<()> {
        self.rows += batch.row_count();
        if let Some((_, writer)) = &mut self.many {
            return writer.append(&batch);
        }
        if self.rows <= ROWS_IN_MEMORY {
            self.few.push(batch);
            return Ok(());
        }
        let table = TempTable::create(
            self.context,
            TempTableSpec {
                purpose: Purpose::Buffer,
                cause: "rows are changed when all of them are found".to_owned(),
                columns: self.columns.clone(),
                access: Access::Plain,
            },
        )?;
        let mut writer = table.writer();
        for batch in std::mem::take(&mut self.few) {
            writer.append(&batch)?;
        }
        writer.append(&batch)?;
        self.many = Some((table, writer));
        Ok(())
    }

    /// The rows, to be read.
    pub(super) fn finish(self) -> Result<FoundRows> {
        Ok(match self.many {
            None => FoundRows::Few(self.few.into_iter()),
            Some((table, writer)) => {
                writer.finish()?;
                FoundRows::Many(table.scan(None))
            }
        })
    }
}

impl std::fmt::Debug for FoundRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundRows").finish_non_exhaustive()
    }
}

impl FoundRows {
    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match self {
            Self::Few(batches) => Ok(batches.next()),
            Self::Many(scan) => scan.next_batch(),
        }
    }
}

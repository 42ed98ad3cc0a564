//! Buffered rows: those that an UPDATE or DELETE has found, because the search must not see the changes; and those of
//! a cursor.

use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{
    Access, KeyMode, Purpose, Scan, SortKey, SortedScan, TempTable, TempTableSpec, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, TypeKind};

/// The physical types of a query's columns.
pub(crate) fn physical_types(types: &[SqlType]) -> Vec<PhysicalType> {
    let physical = types.iter().map(|ty| match ty.kind {
        TypeKind::Boolean => SqlType::bigint().physical(),
        _ => ty.physical(),
    });
    physical.collect()
}

/// Rows up to which no temporary table is needed, if their strings have no more bytes.
const ROWS_IN_MEMORY: usize = 2048;
const BYTES_IN_MEMORY: usize = 256 << 10;

/// Reason for buffering rows that are to be changed.
pub(crate) const CHANGED_LATER: &str = "rows are changed when all of them are found";

/// Reason for buffering the rows of a cursor.
pub(crate) const KEPT_FOR_CLIENT: &str = "rows of a cursor wait for their client";

/// Rows in the order in which they were found.
pub(crate) enum Spool {
    /// Few rows, in memory.
    Few(std::vec::IntoIter<Batch>),
    /// Many rows, in a temporary table.
    Many(TempTable, Scan),
}

/// Another pass over buffered rows.
pub(crate) enum RowsAgain {
    /// Few rows, in memory.
    Few(std::vec::IntoIter<Batch>),
    /// Many rows, in a temporary table.
    Many(Scan),
}

impl RowsAgain {
    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match self {
            Self::Few(batches) => Ok(batches.next()),
            Self::Many(scan) => scan.next_batch(),
        }
    }
}

/// Rows ordered by one of their columns.
pub(crate) struct OrderedRows {
    scan: SortedScan,
    /// The scanned table.
    _table: TempTable,
}

impl OrderedRows {
    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.scan.next_batch()
    }
}

/// Builder of a spool.
pub(crate) struct SpoolBuilder<'c> {
    temp: &'c TempTableContext,
    columns: Vec<PhysicalType>,
    cause: &'static str,
    few: Vec<Batch>,
    rows: usize,
    bytes: usize,
    many: Option<(TempTable, TempTableWriter)>,
}

impl<'c> SpoolBuilder<'c> {
    /// An empty builder. `cause`: the reason for a temporary table, if one is made.
    pub(crate) fn new(
        temp: &'c TempTableContext,
        columns: Vec<PhysicalType>,
        cause: &'static str,
    ) -> Self {
        Self {
            temp,
            columns,
            cause,
            few: Vec::new(),
            rows: 0,
            bytes: 0,
            many: None,
        }
    }

    /// Adds rows.
    pub(crate) fn add(&mut self, batch: Batch) -> Result<()> {
        self.rows += batch.row_count();
        if let Some((_, writer)) = &mut self.many {
            return writer.append(&batch);
        }
        self.bytes += batch.string_bytes();
        if self.rows <= ROWS_IN_MEMORY && self.bytes <= BYTES_IN_MEMORY {
            self.few.push(batch.with_own_strings());
            return Ok(());
        }
        let table = TempTable::create(
            self.temp,
            TempTableSpec {
                purpose: Purpose::Buffer,
                cause: self.cause.into(),
                operator: None,
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

    /// Finishes the spool.
    pub(crate) fn finish(self) -> Result<Spool> {
        Ok(match self.many {
            None => Spool::Few(self.few.into_iter()),
            Some((table, writer)) => {
                writer.finish()?;
                let scan = table.scan(None);
                Spool::Many(table, scan)
            }
        })
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool").finish_non_exhaustive()
    }
}

impl Spool {
    /// If there are many: all rows in the order of a column of bytes, ties in the order in which they were found.
    pub(crate) fn ordered_by(
        &self,
        temp: &TempTableContext,
        column: usize,
    ) -> Result<Option<OrderedRows>> {
        let Self::Many(found, _) = self else {
            return Ok(None);
        };
        let table = TempTable::create(
            temp,
            TempTableSpec {
                purpose: Purpose::Buffer,
                cause: "rows that were found several times are changed once".into(),
                operator: None,
                columns: found.spec().columns.clone(),
                access: Access::Ordered {
                    keys: vec![SortKey {
                        column,
                        mode: KeyMode::Binary,
                        descending: false,
                    }],
                    limit: None,
                },
            },
        )?;
        let mut writer = table.writer();
        let mut rows = found.scan(None);
        while let Some(batch) = rows.next_batch()? {
            writer.append(&batch)?;
        }
        writer.finish()?;
        Ok(Some(OrderedRows {
            scan: table.sorted(0, None)?,
            _table: table,
        }))
    }

    /// All rows again, as long as none were read.
    pub(crate) fn again(&self) -> RowsAgain {
        match self {
            Self::Few(batches) => RowsAgain::Few(batches.clone()),
            Self::Many(found, _) => RowsAgain::Many(found.scan(None)),
        }
    }

    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match self {
            Self::Few(batches) => Ok(batches.next()),
            Self::Many(_, scan) => scan.next_batch(),
        }
    }
}

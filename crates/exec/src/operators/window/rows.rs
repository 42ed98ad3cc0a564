//! Rows of a window's input that some function may still read.
//!
//! Rows are numbered as they come. They are kept in the batches in which they came while there is memory for them; a
//! partition that must be seen to its end and does not fit goes to a temporary table. Readers go forward only, so that
//! a table is read by scans, one for each reader.

use std::collections::VecDeque;

use mayfly_memory::Reservation;
use mayfly_storage::temptable::Scan;
use mayfly_storage::{TempTable, TempTableWriter};
use mayfly_types::{Batch, Error, Result};

use crate::context::RunContext;
use crate::rows::{held_bytes, with_own_strings};

/// Buffer of the rows of a window's input.
#[derive(Default)]
pub(super) struct Rows {
    regions: VecDeque<Region>,
    /// Number of rows added.
    end: u64,
    /// Memory for the next rows.
    held: Option<Held>,
}

struct Held {
    /// Table for rows that do not fit in memory.
    table: Option<TempTable>,
    memory: Reservation,
    /// Writer, while rows are being stored.
    writer: Option<TempTableWriter>,
}

/// Consecutive rows, in memory or stored.
struct Region {
    first: u64,
    end: u64,
    source: Source,
}

enum Source {
    Resident { batch: Batch, bytes: u64 },
    Stored(TempTable),
}

/// A reader of rows, going forward.
#[derive(Default)]
pub(super) struct Reader(Option<StoredBlock>);

/// A batch of a stored region.
struct StoredBlock {
    region: u64,
    scan: Scan,
    first: u64,
    batch: Batch,
}

impl Rows {
    /// Whether there is memory for the next rows, or a table.
    pub(super) fn have_space(&self) -> bool {
        self.held.is_some()
    }

    /// Provides a place for rows that do not fit: `table`, or, without one, memory that has to be found.
    pub(super) fn give_space(&mut self, table: Option<TempTable>, run: &RunContext) {
        let memory = match &table {
            Some(table) => table.reservation(),
            None => run.statement.temp.memory().reservation(),
        };
        self.held = Some(Held {
            table,
            memory,
            writer: None,
        });
    }

    /// Number of rows added.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Adds rows, for which there is space. `may_store`: the rows may go to a temporary table, since they are not read
    /// before more come.
    pub(super) fn push(&mut self, batch: Batch, may_store: bool, run: &RunContext) -> Result<()> {
        let temp = &run.statement.temp;
        let first = self.end;
        self.end += batch.row_count() as u64;
        let Some(held) = &mut self.held else {
            return Err(Error::internal("rows of a window have no space"));
        };
        if let Some(writer) = &mut held.writer {
            return writer.append(&batch);
        }
        let stable = &temp.resources().stable;
        let batch = if may_store {
            with_own_strings(batch, stable)
        } else {
            batch
        };
        let bytes = held_bytes(&batch, stable);
        let fits = held.memory.try_grow(bytes).is_ok();
        let stores = !fits && may_store && held.table.is_some();
        if !fits && !stores {
            let all = held.memory.bytes() + bytes;
            temp.resize_working_set(&mut held.memory, all)?;
        }
        let bytes = if stores { 0 } else { bytes };
        let source = Source::Resident { batch, bytes };
        let end = self.end;
        self.regions.push_back(Region { first, end, source });
        if stores { self.begin_storing() } else { Ok(()) }
    }

    /// Moves the rows in memory to the table, where further rows follow.
    fn begin_storing(&mut self) -> Result<()> {
        let Some(Held {
            table: Some(table),
            memory,
            writer: open,
        }) = &mut self.held
        else {
            return Ok(());
        };
        let is_stored = |region: &Region| matches!(region.source, Source::Stored(_));
        let resident = self
            .regions
            .iter()
            .rposition(is_stored)
            .map_or(0, |at| at + 1);
        let mut writer = table.writer();
        let mut first = self.end;
        for region in self.regions.drain(resident..) {
            first = first.min(region.first);
            if let Source::Resident { batch, bytes } = region.source {
                writer.append(&batch)?;
                memory.shrink(bytes);
            }
        }
        *open = Some(writer);
        self.regions.push_back(Region {
            first,
            end: self.end,
            source: Source::Stored(table.clone()),
        });
        Ok(())
    }

    /// Makes the stored rows readable.
    pub(super) fn end_storing(&mut self) -> Result<()> {
        let writer = self.held.as_mut().and_then(|held| held.writer.take());
        let Some(writer) = writer else {
            return Ok(());
        };
        writer.finish()?;
        if let Some(region) = self.regions.back_mut() {
            region.end = self.end;
        }
        // Later rows that do not fit get a table of their own.
        self.held = None;
        Ok(())
    }

    /// Drops rows before this one, which are not read again.
    pub(super) fn forget_before(&mut self, row: u64) {
        while let Some(region) = self.regions.front()
            && region.end <= row
        {
            if let Some(Region {
                source: Source::Resident { bytes, .. },
                ..
            }) = self.regions.pop_front()
                && let Some(held) = &mut self.held
            {
                held.memory.shrink(bytes);
            }
        }
    }

    /// The batch that contains a row, and the number of the batch's first row. The row has been added, and not dropped.
    pub(super) fn block<'r>(
        &'r self,
        reader: &'r mut Reader,
        row: u64,
    ) -> Result<(u64, &'r Batch)> {
        let at = self.regions.partition_point(|region| region.end <= row);
        let Some(region) = self.regions.get(at).filter(|region| region.first <= row) else {
            return Err(Error::internal(format_args!(
                "row {row} of a window is gone"
            )));
        };
        let table = match &region.source {
            Source::Resident { batch, .. } => return Ok((region.first, batch)),
            Source::Stored(table) => table,
        };
        let is_at_region = |block: &StoredBlock| block.region == region.first;
        if !reader.0.as_ref().is_some_and(is_at_region) {
            reader.0 = Some(StoredBlock {
                region: region.first,
                scan: table.scan(None),
                first: region.first,
                batch: Batch::new(Vec::new(), 0),
            });
        }
        let Some(block) = &mut reader.0 else {
            return Err(Error::internal("a window's reader has no block"));
        };
        while block.first + block.batch.row_count() as u64 <= row {
            block.first += block.batch.row_count() as u64;
            let Some(batch) = block.scan.next_batch()? else {
                return Err(Error::internal(format_args!(
                    "row {row} of a window is lost"
                )));
            };
            block.batch = batch;
        }
        Ok((block.first, &block.batch))
    }
}

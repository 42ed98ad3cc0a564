//! Inputs of a run, as tables that are read once.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use mayfly_memory::sync::lock;
use mayfly_storage::table::{Table, TableScan, TableStatistics};
use mayfly_storage::{BatchStream, ColumnTerm, ScanRequest, StreamScan};
use mayfly_types::temporal::ZoneClock;
use mayfly_types::{Batch, Condition, Diagnostics, Error, PhysicalType, Result, TypeKind};

use super::{OpenRows, Place, RunInput};
use crate::exchange::{Figures, Receiver, Rows};
use crate::job::{Exchange, Input, Job, carried};

/// An input as a table.
pub(super) struct InputTable {
    columns: Vec<PhysicalType>,
    /// Estimated number of rows of a run.
    rows: u64,
    /// Whether this run passes on what the notes say: of several runs that get the same notes, one does.
    passes_notes: bool,
    diagnostics: Arc<Diagnostics>,
    source: Arc<Mutex<Source>>,
}

/// Rows that are being read.
struct Source {
    rows: Kind,
    is_scanned: bool,
    has_ended: bool,
    read: u64,
}

enum Kind {
    /// Rows of a table: the positions of its TIMESTAMPs, and the clock of the session's time zone.
    Table(Box<dyn Rows>, Vec<usize>, ZoneClock),
    /// Rows of a table that the run reads by itself, before the scan.
    Unopened(Option<Box<OpenRows>>, Vec<usize>, ZoneClock),
    /// Rows of other runs.
    Exchanged(Receiver<Box<dyn Rows>>),
}

impl std::fmt::Debug for InputTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputTable")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl InputTable {
    /// An input of a run.
    pub(super) fn new(
        job: &Job,
        input: &Input,
        rows: RunInput,
        place: Place,
        diagnostics: &Arc<Diagnostics>,
    ) -> Self {
        let (types, estimate, source) = match input {
            Input::Table(table) => {
                let zone = &job.settings.session.time_zone;
                let types = table.types();
                let is_timestamp = |column: &usize| types[*column].kind == TypeKind::Timestamp;
                let clock = ZoneClock::new(zone);
                let timestamps = (0..types.len()).filter(is_timestamp);
                let timestamps = timestamps.filter(|_| !clock.is_utc()).collect();
                let estimate = table.copy.rows() / place.partitions.max(1) as u64;
                let source = match rows {
                    RunInput::Rows(rows) => Kind::Table(rows, timestamps, clock),
                    RunInput::Open(open) => Kind::Unopened(Some(open), timestamps, clock),
                };
                (types, estimate, source)
            }
            Input::Rows { fragment, .. } => {
                let plan = &job.fragments[*fragment].plan;
                let senders = job.runs(*fragment, place.partitions);
                let rows = match rows {
                    RunInput::Rows(rows) => rows,
                    // Only tables are read by the run.
                    RunInput::Open(_) => Box::new(Nothing),
                };
                let receiver = Receiver::new(rows, *fragment, senders);
                // A saturating cast: an estimate.
                let estimate = plan.estimated_rows as u64;
                (plan.output.clone(), estimate, Kind::Exchanged(receiver))
            }
        };
        let is_broadcast = matches!(
            input,
            Input::Rows {
                exchange: Exchange::Broadcast,
                ..
            }
        );
        Self {
            columns: types.iter().map(carried).collect(),
            rows: estimate,
            passes_notes: !is_broadcast || place.partition == 0,
            diagnostics: Arc::clone(diagnostics),
            source: Arc::new(Mutex::new(Source {
                rows: source,
                is_scanned: false,
                has_ended: false,
                read: 0,
            })),
        }
    }

    /// Number of rows read so far.
    pub(super) fn rows_read(&self) -> u64 {
        lock(&self.source).read
    }

    /// Whether all rows have been read.
    pub(super) fn has_ended(&self) -> bool {
        lock(&self.source).has_ended
    }

    /// What the notes of the senders say, if this run passes it on.
    pub(super) fn notes(&self) -> (u64, Vec<Condition>, Vec<Figures>) {
        match &lock(&self.source).rows {
            Kind::Exchanged(receiver) if self.passes_notes => {
                let (count, conditions) = receiver.conditions();
                (count, conditions.to_vec(), receiver.figures().to_vec())
            }
            _ => (0, Vec::new(), Vec::new()),
        }
    }
}

impl Source {
    /// Starts to read rows that the run reads by itself.
    fn open(&mut self, terms: &[ColumnTerm], diagnostics: &Arc<Diagnostics>) -> Result<()> {
        if let Kind::Unopened(open, timestamps, clock) = &mut self.rows
            && let Some(open) = open.take()
        {
            let rows = open(terms, diagnostics)?;
            self.rows = Kind::Table(rows, std::mem::take(timestamps), clock.clone());
        }
        Ok(())
    }
}

/// No rows.
struct Nothing;

impl Rows for Nothing {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(None)
    }
}

impl BatchStream for Source {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let batch = match &mut self.rows {
                Kind::Table(rows, timestamps, clock) => {
                    let batch = rows.next_batch()?;
                    batch.map(|batch| in_local_time(batch, timestamps, clock))
                }
                Kind::Exchanged(receiver) => receiver.next_batch()?,
                Kind::Unopened(..) => None,
            };
            match batch {
                Some(batch) if batch.is_empty() => {}
                Some(batch) => {
                    self.read += batch.row_count() as u64;
                    return Ok(Some(batch));
                }
                None => {
                    self.has_ended = true;
                    return Ok(None);
                }
            }
        }
    }
}

/// Rows with the TIMESTAMPs of some columns in the session's time zone.
fn in_local_time(batch: Batch, timestamps: &[usize], clock: &mut ZoneClock) -> Batch {
    if timestamps.is_empty() {
        return batch;
    }
    let rows = batch.row_count();
    let mut columns = batch.into_columns();
    for column in timestamps {
        let utc = columns[*column].as_primitive::<Int64Type>();
        let local = utc.values().iter().map(|value| clock.local_of_utc(*value));
        let local = Int64Array::new(local.collect(), utc.nulls().cloned());
        columns[*column] = Arc::new(local) as ArrayRef;
    }
    Batch::new(columns, rows)
}

impl Table for InputTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        TableStatistics {
            rows: self.rows,
            ..TableStatistics::default()
        }
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        let mut source = lock(&self.source);
        if std::mem::replace(&mut source.is_scanned, true) {
            return Err(Error::internal("an input of a fragment is read twice"));
        }
        source.open(request.terms, &self.diagnostics)?;
        let source = Arc::clone(&self.source);
        Ok(Box::new(StreamScan::new(source, request.columns)))
    }
}

//! Parallel scans of trees: a worker takes the next blocks under a lock, and then reads them on its own.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_memory::sync::lock;
use mayfly_types::{Batch, PhysicalType, Result};

use crate::base::gather::Pieces;
use crate::base::table::TableHandle;
use crate::base::table::filtered::FilteredColumns;
use crate::base::view::{Segment, Segments, TreeView};
use crate::key_encoding::ByteRange;
use crate::row_filter::{FilteredRows, RowFilter};
use crate::scan_request::ColumnId;
use crate::table::TableScan;

/// Source of an output column.
#[derive(Debug, Clone, Copy)]
enum Slot {
    /// Column that is read from the tree: index among those read.
    Column(usize),
    Position,
}

/// Mapping from rows of a tree to columns of the table.
#[derive(Debug)]
pub(in crate::base) struct Projection {
    /// Columns read from the tree: (index, type).
    read: Vec<(usize, PhysicalType)>,
    slots: Vec<Slot>,
    /// The index whose key precedes the position in the tree's keys.
    index: Option<crate::table::IndexId>,
    /// Columns that the tree lacks and that are fetched by position.
    fetch: Option<Vec<ColumnId>>,
}

impl Projection {
    /// Columns of the table, read in the tree of its rows.
    pub(in crate::base) fn of_rows(table: &TableHandle, columns: &[ColumnId]) -> Self {
        let all: Vec<usize> = (0..table.definition.columns().len()).collect();
        Self::new(columns, &all, table.definition.columns(), None)
    }

    /// Columns of the table, read in an index if it covers them.
    pub(in crate::base) fn of_index(
        table: &TableHandle,
        index: crate::table::IndexId,
        columns: &[ColumnId],
    ) -> Option<Self> {
        if table.definition.is_clustered(index) {
            return Some(Self::of_rows(table, columns));
        }
        let tree = table.definition.index(index)?;
        let has =
            |column: &ColumnId| *column == ColumnId::POSITION || tree.columns.contains(&column.0);
        Some(if columns.iter().all(has) {
            Self::new(columns, &tree.columns, &tree.types, Some(index))
        } else {
            let mut positions = Self::new(&[ColumnId::POSITION], &[], &[], Some(index));
            positions.fetch = Some(columns.to_vec());
            positions
        })
    }

    fn new(
        columns: &[ColumnId],
        of_tree: &[usize],
        types: &[PhysicalType],
        index: Option<crate::table::IndexId>,
    ) -> Self {
        let mut read = Vec::new();
        let mut slots = Vec::new();
        for column in columns {
            let number = of_tree.iter().position(|other| *other == column.0);
            match number {
                Some(number) if *column != ColumnId::POSITION => {
                    slots.push(Slot::Column(read.len()));
                    read.push((number, types[number]));
                }
                _ => slots.push(Slot::Position),
            }
        }
        Self {
            read,
            slots,
            index,
            fetch: None,
        }
    }

    /// The output columns of some rows.
    pub(in crate::base) fn batch(
        &self,
        table: &Arc<TableHandle>,
        pieces: &mut Pieces,
    ) -> Result<Batch> {
        let all = 0..pieces.rows();
        self.batch_of(table, pieces, all, &[])
    }

    /// The tree's columns behind some output columns.
    fn of_tree(&self, columns: &[usize]) -> Vec<usize> {
        let number = |column: &usize| match self.slots.get(*column)? {
            Slot::Column(read) => Some(self.read[*read].0),
            Slot::Position => None,
        };
        columns.iter().filter_map(number).collect()
    }

    /// The output columns of a range of rows, some of them as dictionary codes.
    fn batch_of(
        &self,
        table: &Arc<TableHandle>,
        pieces: &mut Pieces,
        range: Range<usize>,
        codes: &[usize],
    ) -> Result<Batch> {
        pieces.seal()?;
        let rows = pieces.rows();
        let read = pieces.columns(&self.read, codes)?;
        let mut positions: Option<ArrayRef> = None;
        let mut columns = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            columns.push(match slot {
                Slot::Column(number) => Arc::clone(&read[*number]),
                Slot::Position => match &positions {
                    Some(positions) => Arc::clone(positions),
                    None => {
                        let index = self.index.and_then(|index| table.definition.index(index));
                        let keys = pieces
                            .keys(|key| index.map_or(0, |index| index.encoder.key_length(key)))?;
                        positions = Some(Arc::clone(&keys));
                        keys
                    }
                },
            });
        }
        match (&self.fetch, columns.first()) {
            (Some(wanted), Some(positions)) => {
                table.fetch(&positions.slice(range.start, range.len()), wanted)
            }
            _ if range.len() == rows => Ok(Batch::new(columns, rows)),
            _ => Ok(Batch::new(columns, rows).slice(range.start, range.len())),
        }
    }
}

impl Projection {
    /// The output columns of the rows that pass a filter. `None` when the filter reads a column that the tree lacks.
    fn filtered(
        &self,
        pieces: &mut Pieces,
        filter: &mut dyn RowFilter,
        codes: &[usize],
    ) -> Result<Option<FilteredRows>> {
        if self.fetch.is_some() {
            return Ok(None);
        }
        let column = |slot: &Slot| match slot {
            Slot::Column(number) => Some(self.read[*number]),
            Slot::Position => None,
        };
        let Some(all) = self.slots.iter().map(column).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        pieces.seal()?;
        let rows_read = pieces.rows();
        let mut rows = FilteredColumns::new(pieces, &all);
        for step in 0..filter.steps() {
            rows.ask(filter, step)?;
            if rows.left == 0 {
                return Ok(Some(FilteredRows {
                    batch: None,
                    rows_read,
                }));
            }
        }
        Ok(Some(FilteredRows {
            batch: Some(rows.finish(codes)?),
            rows_read,
        }))
    }
}

/// Size in bytes at which a batch is full, so that operators that copy one need little memory.
const BATCH_BYTES: usize = 1 << 20;

struct Shared {
    table: Arc<TableHandle>,
    view: TreeView,
    ranges: Vec<ByteRange>,
    reverse: bool,
    projection: Projection,
    state: Mutex<State>,
}

struct State {
    /// Index of the current range.
    range: usize,
    segments: Option<Segments>,
    /// Segment taken from `segments` for the next batch.
    peeked: Option<Segment>,
}

/// Scan of one worker.
pub(super) struct TreeScan {
    shared: Arc<Shared>,
    /// Rows that exceed the last batch.
    rest: Option<Batch>,
    /// Rows that have passed a filter and exceed the last batch.
    passed: Option<Batch>,
    /// Number of rows after which the scan may end.
    enough: usize,
    /// Columns of the tree whose strings may come as dictionary codes.
    codes: Vec<usize>,
}

impl TreeScan {
    pub(in crate::base) fn new(
        table: &Arc<TableHandle>,
        view: TreeView,
        ranges: Vec<ByteRange>,
        reverse: bool,
        projection: Projection,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                table: Arc::clone(table),
                view,
                ranges,
                reverse,
                projection,
                state: Mutex::new(State {
                    range: 0,
                    segments: None,
                    peeked: None,
                }),
            }),
            rest: None,
            passed: None,
            enough: usize::MAX,
            codes: Vec::new(),
        }
    }
}

impl TreeScan {
    /// The next rows, with some columns as dictionary codes.
    fn next_of(&mut self, codes: &[usize]) -> Result<Option<Batch>> {
        let shared = Arc::clone(&self.shared);
        let options = &shared.table.statement.options;
        let wanted = options.batch_rows.max(1);
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None if self.enough == 0 => return Ok(None),
            None => loop {
                options.interrupt.check()?;
                let Some((range, segments)) = shared.take(wanted.min(self.enough))? else {
                    return Ok(None);
                };
                if let Some(batch) = shared.read(range, &segments, self.enough, codes)? {
                    self.enough -= batch.row_count();
                    break batch;
                }
            },
        };
        if batch.row_count() <= wanted {
            return Ok(Some(batch));
        }
        self.rest = Some(batch.slice(wanted, batch.row_count() - wanted));
        Ok(Some(batch.slice(0, wanted)))
    }

    /// Returns at most a batch of the rows that passed a filter, and keeps the others.
    fn part_of(&mut self, passed: Batch, rows_read: usize, most: usize) -> FilteredRows {
        let rows = passed.row_count();
        let batch = match rows > most {
            true => {
                self.passed = Some(passed.slice(most, rows - most));
                passed.slice(0, most)
            }
            false => passed,
        };
        FilteredRows {
            batch: Some(batch),
            rows_read,
        }
    }
}

impl Shared {
    /// Takes the next segments, of about `wanted` rows, with the index of their range.
    fn take(&self, wanted: usize) -> Result<Option<(usize, Vec<Segment>)>> {
        let mut state = lock(&self.state);
        loop {
            let number = state.range;
            if number >= self.ranges.len() {
                return Ok(None);
            }
            let range = if self.reverse {
                self.ranges.len() - 1 - number
            } else {
                number
            };
            let mut segments = match state.segments.take() {
                Some(segments) => segments,
                None => self.view.segments(self.ranges[range].clone(), self.reverse),
            };
            let mut taken: Vec<Segment> = Vec::new();
            let (mut rows, mut bytes) = (0, 0);
            let mut next = state.peeked.take();
            loop {
                if next.is_none() {
                    next = segments.next()?;
                }
                let Some(segment) = next.take() else {
                    state.range += 1;
                    break;
                };
                rows += segment.rows();
                bytes += segment.bytes();
                if (rows > wanted || bytes > BATCH_BYTES) && !taken.is_empty() {
                    state.peeked = Some(segment);
                    state.segments = Some(segments);
                    break;
                }
                taken.push(segment);
            }
            if !taken.is_empty() {
                return Ok(Some((range, taken)));
            }
        }
    }

    /// The rows of segments, in ascending order.
    fn pieces(&self, range: usize, segments: &[Segment]) -> Result<Pieces> {
        let mut pieces = self.view.pieces();
        let range = &self.ranges[range];
        if self.reverse {
            for segment in segments.iter().rev() {
                self.view.resolve(segment, range, &mut pieces)?;
            }
        } else {
            for segment in segments {
                self.view.resolve(segment, range, &mut pieces)?;
            }
        }
        Ok(pieces)
    }

    fn read(
        &self,
        range: usize,
        segments: &[Segment],
        enough: usize,
        codes: &[usize],
    ) -> Result<Option<Batch>> {
        let mut pieces = self.pieces(range, segments)?;
        let all = pieces.rows();
        if all == 0 {
            return Ok(None);
        }
        let range = if self.reverse {
            all.saturating_sub(enough)..all
        } else {
            0..all.min(enough)
        };
        let projection = &self.projection;
        let batch = projection.batch_of(&self.table, &mut pieces, range, codes)?;
        if !self.reverse {
            return Ok(Some(batch));
        }
        let rows = batch.row_count();
        let backwards = UInt32Array::from_iter_values((0..rows as u32).rev());
        let columns = batch.columns().iter().map(|column| {
            arrow_select::take::take(column, &backwards, None)
                .map_err(|error| crate::base::table::internal(&error))
        });
        Ok(Some(Batch::new(columns.collect::<Result<_>>()?, rows)))
    }
}

impl TableScan for TreeScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let codes = std::mem::take(&mut self.codes);
        let batch = self.next_of(&codes);
        self.codes = codes;
        batch
    }

    fn next_filtered(&mut self, filter: &mut dyn RowFilter) -> Result<Option<FilteredRows>> {
        let shared = Arc::clone(&self.shared);
        let options = &shared.table.statement.options;
        let wanted = options.batch_rows.max(1);
        if let Some(passed) = self.passed.take() {
            return Ok(Some(self.part_of(passed, 0, wanted)));
        }
        if self.rest.is_none() && self.enough == usize::MAX && !shared.reverse {
            loop {
                options.interrupt.check()?;
                let Some((range, segments)) = shared.take(wanted)? else {
                    return Ok(None);
                };
                let mut pieces = shared.pieces(range, &segments)?;
                if pieces.rows() == 0 {
                    continue;
                }
                let filtered = shared
                    .projection
                    .filtered(&mut pieces, filter, &self.codes)?;
                if let Some(rows) = filtered {
                    return Ok(Some(match rows.batch {
                        Some(batch) => self.part_of(batch, rows.rows_read, wanted),
                        None => rows,
                    }));
                }
                let batch = shared.projection.batch(&shared.table, &mut pieces)?;
                self.rest = Some(batch);
                break;
            }
        }
        let Some(batch) = self.next_of(&[])? else {
            return Ok(None);
        };
        FilteredRows::of(batch, filter).map(Some)
    }

    fn give_codes(&mut self, columns: &[usize]) {
        let projection = &self.shared.projection;
        if projection.fetch.is_none() && !self.shared.reverse {
            self.codes = projection.of_tree(columns);
        }
    }

    fn first_rows(&mut self, rows: u64) {
        self.enough = usize::try_from(rows).unwrap_or(usize::MAX);
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            shared: Arc::clone(&self.shared),
            rest: None,
            passed: None,
            enough: usize::MAX,
            codes: Vec::new(),
        })
    }
}

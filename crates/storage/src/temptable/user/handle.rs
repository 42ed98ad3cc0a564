//! Handle of one statement to a table.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::take::take;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, PhysicalType, Result};

use super::content::Content;
use super::heap::Heap;
use super::memory_engine::Account;
use super::piece::{Piece, fetch};
use super::pin::{ChangeBy, Pin};
use super::positions::numbers;
use super::scan::{HeapScan, IndexScan, Reader};
use super::table_core::Core;
use super::tree::{Cursor, shorten_key};
use super::undo::UndoLog;
use super::writer::Writer;
use crate::key_encoding::{ByteRange, RowKeys, after_prefix};
use crate::scan_request::{ColumnId, ScanRequest};
use crate::table::{
    IndexId, IndexSpec, KeyRange, LockMode, LockWait, Locked, Table, TableScan, TableState,
    TableStatistics, TableWriter, no_index, sample_runs,
};
use crate::temptable::context::TempTableContext;
use crate::temptable::record::FORCED_OVERFLOW_LIMIT;
use crate::temptable::rows::Gather;

/// Number of rows of a key that are looked up at once in a table that has overflowed.
const PIECE_IDS: usize = 1024;

#[derive(Debug)]
pub(super) struct Handle {
    core: Arc<Core>,
    statement: TempTableContext,
    undo: UndoLog,
    pin: Arc<Pin>,
}

/// Concatenates pieces and copies their strings: shared ones would pin memory that the table's pages need.
fn joined(pieces: &[Batch]) -> Result<Batch> {
    if let [only] = pieces {
        return Ok(only.clone());
    }
    let width = pieces.first().map_or(0, |piece| piece.columns().len());
    let columns = (0..width).map(|column| {
        let arrays: Vec<&dyn Array> = pieces.iter().map(|piece| &**piece.column(column)).collect();
        let joined = arrow_select::concat::concat(&arrays);
        joined.map_err(Error::internal)
    });
    let columns = columns.collect::<Result<_>>()?;
    let rows = pieces.iter().map(Batch::row_count).sum();
    Ok(Batch::new(columns, rows))
}

impl Handle {
    pub(super) fn new(core: &Arc<Core>, statement: &TempTableContext, undo: &UndoLog) -> Self {
        let options = statement.options();
        if core.pager.may_overflow {
            if options.forces_overflow() {
                core.pager.memory.set_limit(FORCED_OVERFLOW_LIMIT);
            } else if let Some(rows) = options.spill_after_rows {
                core.registration.overflow_after(rows);
            }
        }
        Self {
            core: Arc::clone(core),
            statement: statement.clone(),
            undo: undo.clone(),
            pin: core.pin(),
        }
    }

    /// Calls a function with the content that the handle sees.
    fn see<T>(&self, work: impl FnOnce(&Content) -> mayfly_memory::Result<T>) -> Result<T> {
        let seen = self.core.see_pinned(&self.pin, work);
        // Of an interrupt the statement knows the reason.
        seen.map_err(|error| self.statement.interrupt().check().err().unwrap_or(error))
    }

    /// A reader of columns of the handle's snapshot.
    fn reader(&self, columns: &[ColumnId]) -> Result<Reader> {
        let state = self.core.read()?;
        let content = match self.pin.snapshot() {
            Some(snapshot) => Arc::clone(snapshot),
            None => Arc::new(state.content.clone()),
        };
        Ok(Reader {
            core: Arc::clone(&self.core),
            statement: self.statement.clone(),
            content,
            columns: columns.to_vec(),
        })
    }

    /// The rows of these numbers, all of which exist, as the handle sees them.
    fn read_rows(&self, ids: &[u64], columns: &[ColumnId]) -> Result<Batch> {
        if !self.core.pager.has_overflowed() || ids.is_sorted() {
            return self.read_in_order(ids, columns);
        }
        // In table order, so that each page is read once.
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|at| ids[*at as usize]);
        let sorted: Vec<u64> = order.iter().map(|at| ids[*at as usize]).collect();
        let rows = self.read_in_order(&sorted, columns)?;
        let mut places = vec![0_u32; ids.len()];
        for (place, at) in (0_u32..).zip(&order) {
            places[*at as usize] = place;
        }
        let (count, places) = (rows.row_count(), UInt32Array::from(places));
        let columns = rows.columns().iter();
        let columns = columns.map(|column| take(column, &places, None));
        let columns: std::result::Result<Vec<ArrayRef>, _> = columns.collect();
        Ok(Batch::new(columns.map_err(|_| lost())?, count))
    }

    /// [`Self::read_rows`], but in pieces, so that a table that has overflowed needs no more memory than it has.
    fn read_in_order(&self, ids: &[u64], columns: &[ColumnId]) -> Result<Batch> {
        let mut pieces = Vec::new();
        let mut first = 0;
        while first < ids.len() || pieces.is_empty() {
            let piece = self.see(|content| {
                let mut piece = Piece::new(&self.core, content, columns);
                while first < ids.len() && (piece.len() == 0 || !piece.is_enough()) {
                    if self.core.pager.has_overflowed() {
                        self.statement.check_interrupt()?;
                    }
                    if !piece.add(ids[first])? {
                        return Ok(None);
                    }
                    first += 1;
                }
                Ok(Some(piece.gather(&mut Gather::default())))
            })?;
            let piece = piece.ok_or_else(lost)?;
            pieces.push(if first < ids.len() || !pieces.is_empty() {
                piece.with_own_strings()
            } else {
                piece
            });
        }
        joined(&pieces)
    }

    fn range(&self, index: IndexId, range: &KeyRange) -> Result<ByteRange> {
        let encoder = self.core.shape.encoders.get(index.0).ok_or_else(no_index)?;
        let mut range = encoder.range(range)?;
        shorten_key(&mut range.start);
        if let Some(end) = &mut range.end {
            shorten_key(end);
        }
        Ok(range)
    }
}

impl Table for Handle {
    fn columns(&self) -> &[PhysicalType] {
        &self.core.shape.columns
    }

    fn indexes(&self) -> &[IndexSpec] {
        &self.core.shape.indexes
    }

    fn statistics(&self) -> TableStatistics {
        let rows = self.see(|content| Ok(content.heap.len())).unwrap_or(0);
        let state = self.core.read();
        let account = state.as_ref().ok().and_then(|state| state.account.as_ref());
        TableStatistics {
            rows,
            memory_bytes: self.core.pager.memory.used(),
            disk_bytes: self.core.pager.temp_space.used(),
            declared: account.map(Account::size),
        }
    }

    fn state(&self) -> TableState {
        // Nobody asks about a table that is a session's own.
        TableState::Newest
    }

    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        let shape = &self.core.shape;
        let Some(spec) = shape.indexes.get(index.0) else {
            return 0;
        };
        let encoder = &shape.encoders[index.0];
        let whole = parts >= spec.parts.len();
        let distinct = self.see(|content| {
            let tree = &content.trees[index.0];
            if whole && spec.unique {
                return Ok(tree.len());
            }
            tree.distinct(&self.core.pager, |key| {
                if whole {
                    key.len()
                } else {
                    encoder.parts_length(key, parts)
                }
            })
        });
        distinct.unwrap_or_else(|_| self.statistics().rows)
    }

    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        let range = self.range(index, range)?;
        self.see(|content| content.trees[index.0].estimate(&self.core.pager, &range))
    }

    fn sample(
        &self,
        columns: &[ColumnId],
        rows: usize,
        take: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        if self.statistics().rows <= rows as u64 {
            let mut scan = self.scan(&ScanRequest::of(columns))?;
            while let Some(batch) = scan.next_batch()? {
                take(&batch)?;
            }
            return Ok(());
        }
        let runs = self.see(|content| {
            let heap = &content.heap;
            let mut runs = Vec::new();
            for run in sample_runs(heap.page_numbers(), rows) {
                let Some(view) = heap.view(&self.core.pager, run.piece)? else {
                    continue;
                };
                let slots = run.rows(Heap::slots(view.bytes()));
                let mut ids = Vec::with_capacity(slots.len());
                heap.rows_of(run.piece, view.bytes(), slots.start as u16, |id, _| {
                    ids.push(id);
                    ids.len() < slots.len()
                });
                runs.push(ids);
            }
            Ok(runs)
        })?;
        for ids in runs.iter().filter(|ids| !ids.is_empty()) {
            take(&self.read_rows(ids, columns)?)?;
        }
        Ok(())
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        let columns = request.columns;
        Ok(Box::new(HeapScan::new(self.reader(columns)?)))
    }

    fn index_scan(
        &self,
        index: IndexId,
        ranges: &[KeyRange],
        reverse: bool,
        columns: &[ColumnId],
    ) -> Result<Box<dyn TableScan>> {
        let ranges = ranges.iter().map(|range| self.range(index, range));
        let mut ranges = ByteRange::joined(ranges.collect::<Result<Vec<_>>>()?);
        if reverse {
            ranges.reverse();
        }
        let reader = self.reader(columns)?;
        Ok(Box::new(IndexScan::new(reader, index.0, ranges, reverse)))
    }

    fn index_lookup(
        &self,
        index: IndexId,
        keys: &[ArrayRef],
        null_safe: &[bool],
        columns: &[ColumnId],
    ) -> Result<(Batch, UInt32Array)> {
        let encoder = self.core.shape.encoders.get(index.0).ok_or_else(no_index)?;
        let count = keys.first().map_or(0, |keys| keys.len());
        let lookups = count.min(2) as u32;
        self.pin.count_lookups(lookups);
        let spec = &self.core.shape.indexes[index.0];
        let is_unique = spec.unique && keys.len() == spec.parts.len();
        let encoded = encoder.parts(keys);
        let mut lookup = Lookup {
            handle: self,
            index,
            keys,
            null_safe,
            is_unique,
            encoded: &encoded,
            order: Vec::new(),
            key: 0,
            cursor: Cursor::Start,
            range: ByteRange::prefix(&[]),
            found: Vec::with_capacity(count),
            ids: Vec::with_capacity(count),
        };
        let pager = &self.core.pager;
        let rows = if pager.has_overflowed() {
            lookup.sort(count);
            while lookup.key < count {
                self.see(|content| {
                    let forced = pager.times_forced();
                    while lookup.key < count && !pager.has_read_enough(forced) {
                        // A key may be several pages of a file.
                        self.statement.check_interrupt()?;
                        lookup.advance(content, PIECE_IDS)?;
                    }
                    Ok(())
                })?;
            }
            lookup.sort_back();
            self.read_rows(&lookup.ids, columns)?
        } else {
            self.see(|content| {
                while lookup.key < count {
                    lookup.advance(content, usize::MAX)?;
                }
                let mut scratch = Gather::default();
                fetch(&self.core, content, &mut scratch, &mut lookup.ids, columns)
            })?
        };
        let found = lookup.found;
        if rows.row_count() != found.len() {
            return Err(lost());
        }
        Ok((rows, UInt32Array::from(found)))
    }

    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        let ids: Vec<u64> = numbers(positions).collect();
        self.read_rows(&ids, columns)
    }

    fn lock(&self, positions: &ArrayRef, _mode: LockMode, wait: LockWait) -> Result<Locked> {
        if let Some(write_lock) = &self.core.write_lock {
            let interrupt = &self.statement.shared().interrupt;
            let is_new = self.undo.hold(&self.core, || {
                let (time, refused) = match wait {
                    LockWait::For(time) => (time, &codes::ER_LOCK_WAIT_TIMEOUT),
                    LockWait::No | LockWait::Skip => {
                        (std::time::Duration::ZERO, &codes::ER_LOCK_NOWAIT)
                    }
                };
                let locked = write_lock.lock(self.undo.owner(), time, interrupt);
                locked.map_err(|error| {
                    if error.is(&codes::ER_LOCK_WAIT_TIMEOUT) {
                        refused.error()
                    } else {
                        error
                    }
                })
            })?;
            // Later changes are the handle's own if it held the lock before.
            if is_new && self.core.version.load(Ordering::Relaxed) != self.pin.version {
                return Ok(Locked::Changed);
            }
        }
        Ok(Locked::Unchanged(vec![true; positions.len()]))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        let writer = Writer::new(&self.core, &self.statement, &self.undo, &self.pin)?;
        Ok(Box::new(writer))
    }

    fn truncate(&self) -> Result<()> {
        let core = &self.core;
        let mut state = core.write()?;
        let old = core.truncate(&mut state, ChangeBy::Handle(&self.pin));
        drop(state);
        drop(old);
        Ok(())
    }
}

/// Lookup of rows by keys, key by key.
struct Lookup<'a> {
    handle: &'a Handle,
    index: IndexId,
    keys: &'a [ArrayRef],
    null_safe: &'a [bool],
    is_unique: bool,
    encoded: &'a RowKeys<'a>,
    /// Permutation of the keys in lookup order; empty if they are in their own order.
    order: Vec<u32>,
    /// Index of the current key, and how far its rows were read.
    key: usize,
    cursor: Cursor,
    range: ByteRange,
    /// For each row found, the index of its key, and the row.
    found: Vec<u32>,
    ids: Vec<u64>,
}

impl Lookup<'_> {
    /// Orders the lookup of `count` keys by the index, so that each page is read once.
    fn sort(&mut self, count: usize) {
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        for key in 0..count {
            self.encoded.append(key, &mut bytes);
            ends.push(bytes.len());
        }
        let key = |at: &u32| &bytes[ends[*at as usize]..ends[*at as usize + 1]];
        self.order = (0..count as u32).collect();
        self.order.sort_by(|a, b| key(a).cmp(key(b)));
    }

    /// Restores the order of the keys in the result.
    fn sort_back(&mut self) {
        let (found, ids) = (&self.found, &self.ids);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|at| found[*at]);
        let sorted = order.iter().map(|at| (found[*at], ids[*at]));
        (self.found, self.ids) = sorted.unzip();
    }

    /// Looks up rows of the current key, at most `most`.
    fn advance(&mut self, content: &Content, most: usize) -> mayfly_memory::Result<()> {
        let keys = self.keys;
        let key = match self.order.get(self.key) {
            Some(key) => *key as usize,
            None => self.key,
        };
        let is_unknown = |(part, keys): (usize, &ArrayRef)| {
            keys.is_null(key) && !self.null_safe.get(part).copied().unwrap_or(false)
        };
        if keys.iter().enumerate().any(is_unknown) {
            self.key += 1;
            return Ok(());
        }
        let pager = &self.handle.core.pager;
        let tree = &content.trees[self.index.0];
        if matches!(self.cursor, Cursor::Start) {
            self.range.start.clear();
            self.encoded.append(key, &mut self.range.start);
            shorten_key(&mut self.range.start);
            if self.is_unique && !keys.iter().any(|keys| keys.is_null(key)) {
                if let Some(id) = tree.first_with(pager, &self.range.start)? {
                    self.ids.push(id);
                    self.found.push(key as u32);
                }
                self.key += 1;
                return Ok(());
            }
            self.range.end = after_prefix(&self.range.start);
        }
        let (range, cursor) = (&self.range, &mut self.cursor);
        tree.read_range(pager, range, false, cursor, most, &mut self.ids)?;
        self.found.resize(self.ids.len(), key as u32);
        if matches!(self.cursor, Cursor::End) {
            self.cursor = Cursor::Start;
            self.key += 1;
        }
        Ok(())
    }
}

fn lost() -> Error {
    Error::internal("a row that was asked for by its position does not exist")
}

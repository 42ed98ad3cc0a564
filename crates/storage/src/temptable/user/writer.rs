//! Writer of row changes by one statement.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Array, ArrayRef};
use mayfly_types::{Batch, Error, Result};

use super::content::{Changed, ColumnSet, Content, Failure, Scratch};
use super::memory_engine::Account;
use super::piece::fetch;
use super::pin::{ChangeBy, Pin};
use super::positions::{number, numbers};
use super::table_core::{Core, State, WriterScratch};
use super::tree::Position;
use super::undo::{Records, UndoLog};
use crate::scan_request::ColumnId;
use crate::table::{Duplicate, IndexId, RowsWritten, TableWriter};
use crate::temptable::context::TempTableContext;
use crate::temptable::rows::{Encoder, Gather, Resolver, Sources};

/// Number of rows that are encoded at once: few, since a duplicate stops the rest.
const RUN_ROWS: usize = 64;
/// Maximum wait for another session's write lock of a MEMORY table.
const WRITE_WAIT: Duration = Duration::from_secs(50);

/// Writer of one statement.
pub(super) struct Writer {
    core: Arc<Core>,
    statement: TempTableContext,
    undo: UndoLog,
    pin: Arc<Pin>,
    /// Position in the undo log at the beginning, until it has finished.
    start: Option<u64>,
}

/// Table that is locked for a change.
pub(super) struct Change<'a> {
    pub(super) core: &'a Core,
    pub(super) content: &'a mut Content,
    account: Option<&'a mut Account>,
    undo: Option<(std::sync::MutexGuard<'a, Records>, u32)>,
    scratch: &'a mut Scratch,
    /// Buffers of the long values of new rows.
    pub(super) sources: &'a mut Sources,
    /// Whether a row was added, changed or removed.
    has_changed: bool,
}

/// Number of rows that are added between two checks of the interrupt.
const ROWS_UNASKED: usize = 1024;

/// Reason why a change stopped.
pub(super) enum Stopped {
    Duplicate(Duplicate),
    Error(Error),
    Broken(Error),
}

/// Result of a change, or why it stopped.
pub(super) type Done<T> = std::result::Result<T, Stopped>;

impl Core {
    /// Changes rows while the table is locked, on behalf of `by`. `work` gets buffers for rows, and returns what was
    /// done and why it stopped. Without `undo` the changes are not recorded.
    pub(super) fn change<T>(
        self: &Arc<Self>,
        undo: Option<&UndoLog>,
        by: ChangeBy<'_>,
        work: impl FnOnce(&mut Change<'_>, &mut Vec<u64>) -> (T, Option<Stopped>),
    ) -> Result<(T, Option<Duplicate>)> {
        let core = self;
        let mut state = core.write()?;
        core.pin_others(&mut state, by);
        if core.write_lock.is_some() && state.published.is_none() {
            state.published = Some(Arc::new(state.content.clone()));
        }
        core.note_change();
        let State {
            content,
            account,
            scratch:
                WriterScratch {
                    scratch,
                    rows,
                    sources,
                },
            ..
        } = &mut *state;
        let records = undo.filter(|_| core.is_transactional()).map(|undo| {
            let mut records = undo.lock();
            let table = records.table(core);
            (records, table)
        });
        sources.begin_batch();
        let mut change = Change {
            core,
            content,
            account: account.as_mut(),
            undo: records,
            scratch,
            sources,
            has_changed: false,
        };
        let (done, stopped) = work(&mut change, rows);
        let stays = change.has_changed && change.undo.is_none();
        drop(change);
        if let Some(undo) = undo.filter(|_| stays) {
            undo.note_not_undone();
        }
        // Releases the values of the rows.
        sources.begin_batch();
        if !scratch.is_small() {
            *scratch = Scratch::default();
        }
        let count = content.heap.len();
        core.registration.set_rows(count);
        match stopped {
            None => Ok((done, None)),
            Some(Stopped::Duplicate(duplicate)) => Ok((done, Some(duplicate))),
            Some(Stopped::Error(error)) => Err(error),
            Some(Stopped::Broken(error)) => {
                state.broken = Some(error.clone());
                Err(error)
            }
        }
    }
}

impl Change<'_> {
    pub(super) fn stopped(&self, failure: Failure) -> Stopped {
        match failure {
            Failure::Duplicate(index, id) => Stopped::Duplicate(Duplicate {
                index,
                position: id.to_be_bytes().to_vec(),
            }),
            Failure::Memory(error) => Stopped::Error(self.core.error(&error)),
            Failure::Broken(error) => Stopped::Broken(self.core.broken_error(&error)),
        }
    }

    pub(super) fn insert(&mut self, row: &mut [u8]) -> Done<()> {
        let core = self.core;
        let mut entries = 0;
        if let Some(account) = &mut self.account {
            account.take_slot(&core.name).map_err(Stopped::Error)?;
            let resolver = Resolver {
                directory: &self.content.blobs.directory,
                transient: self.sources.addresses(),
            };
            entries = account.entry_bytes(&core.shape, row, resolver);
        }
        let relieved = self.content.relieve(&core.pager);
        let inserted = relieved.map_err(Failure::Memory).and_then(|()| {
            if let Some((undo, _)) = &mut self.undo {
                undo.reserve(core, 0)?;
            }
            let transient = self.sources.addresses();
            let content = &mut *self.content;
            content.insert(core.fixed(), row, transient, self.scratch)
        });
        if let Some(account) = &mut self.account {
            match &inserted {
                Ok(_) => account.change_entries(self.content.heap.len(), entries, 0),
                Err(_) => account.free_slot(),
            }
        }
        let id = inserted.map_err(|failure| self.stopped(failure))?;
        self.has_changed = true;
        if let Some((undo, table)) = &mut self.undo {
            undo.inserted(*table, id, 1);
        }
        Ok(())
    }

    /// Leaves the entries of indexes for the end of the statement, if it begins to load an empty table.
    fn begin_load(&mut self, rows: usize) {
        if self.account.is_none() && self.core.is_transactional() {
            self.content.begin_load(self.core.fixed(), rows);
        }
    }

    /// Whether rows of a batch can be appended as they are: without index entries, long values, or an account.
    fn is_plain(&self) -> bool {
        let mut indexes = 0..self.core.shape.indexes.len();
        let fixed = self.core.fixed();
        let fills_indexes = indexes.any(|index| !self.content.is_left_out(fixed, index));
        !fills_indexes && self.account.is_none() && !self.sources.has_transient()
    }

    /// Adds the first of some consecutive plain rows, and returns how many.
    fn append(&mut self, rows: &[u8]) -> Done<usize> {
        let core = self.core;
        let added = self.content.relieve(&core.pager).and_then(|()| {
            if let Some((undo, _)) = &mut self.undo {
                undo.reserve(core, 0)?;
            }
            self.content.heap.insert_run(&core.pager, rows)
        });
        let (first, count) = added.map_err(|error| self.stopped(Failure::Memory(error)))?;
        self.has_changed = true;
        if let Some((undo, table)) = &mut self.undo {
            undo.inserted(*table, first, count);
        }
        Ok(count)
    }

    /// Replaces a row by one that differs from it at most in `columns`.
    pub(super) fn update(&mut self, id: u64, row: &mut [u8], columns: ColumnSet) -> Done<()> {
        let come = match &self.account {
            Some(account) => account.entry_bytes(&self.core.shape, row, self.resolver()),
            None => 0,
        };
        let fixed = self.core.fixed();
        let updated = self.change_row(id, false, |content, sources, scratch, before| {
            let new = (row, sources.addresses(), columns);
            content.update(fixed, id, new, scratch, |old, resolver| {
                before.note(old, resolver)
            })
        })?;
        if let (Some(gone), Some(account)) = (updated, &mut self.account) {
            account.change_entries(self.content.heap.len(), come, gone);
        }
        Ok(())
    }

    /// Deletes a row; `found` is the index entry by which it was found. False if there is no such row.
    pub(super) fn delete(&mut self, id: u64, found: Option<(IndexId, Position)>) -> Done<bool> {
        let fixed = self.core.fixed();
        let deleted = self.change_row(id, true, |content, _, scratch, before| {
            let row = (id, found);
            content.delete(fixed, row, scratch, |old, resolver| {
                before.note(old, resolver)
            })
        })?;
        if let (Some(gone), Some(account)) = (deleted, &mut self.account) {
            account.free_slot();
            account.change_entries(self.content.heap.len(), 0, gone);
        }
        Ok(deleted.is_some())
    }

    fn resolver(&self) -> Resolver<'_> {
        Resolver {
            directory: &self.content.blobs.directory,
            transient: self.sources.addresses(),
        }
    }

    /// Changes or deletes a row by `work`, which notes the row before it changes anything. Returns the bytes of the
    /// index entries that the row had, if there was one.
    #[inline]
    fn change_row(
        &mut self,
        id: u64,
        is_delete: bool,
        work: impl FnOnce(&mut Content, &Sources, &mut Scratch, &mut Before<'_>) -> Changed<bool>,
    ) -> Done<Option<u64>> {
        let relieved = self.content.relieve(&self.core.pager);
        relieved.map_err(|error| self.stopped(Failure::Memory(error)))?;
        let start = self
            .undo
            .as_ref()
            .map_or(0, |(undo, _)| undo.record_start());
        let mut before = Before {
            core: self.core,
            account: self.account.as_deref(),
            undo: self.undo.as_mut().map(|(undo, _)| &mut **undo),
            is_recorded: false,
            entry_bytes: 0,
        };
        let changed = work(self.content, self.sources, self.scratch, &mut before);
        let Before {
            is_recorded,
            entry_bytes,
            ..
        } = before;
        let is_changed = matches!(changed, Ok(true));
        self.has_changed |= is_changed;
        if let Some((undo, table)) = &mut self.undo
            && is_recorded
        {
            if is_changed {
                undo.end(start, is_delete, *table, id);
            } else {
                undo.cancel(start);
            }
        }
        let changed = changed.map_err(|failure| self.stopped(failure))?;
        Ok(changed.then_some(entry_bytes))
    }
}

/// State of a row that is recorded before it is changed or deleted.
struct Before<'a> {
    core: &'a Core,
    account: Option<&'a Account>,
    undo: Option<&'a mut Records>,
    /// Whether a record of it was begun.
    is_recorded: bool,
    /// Bytes of its index entries in the account of a MEMORY table.
    entry_bytes: u64,
}

impl Before<'_> {
    fn note(&mut self, row: &[u8], resolver: Resolver<'_>) -> mayfly_memory::Result<()> {
        if let Some(account) = self.account {
            self.entry_bytes = account.entry_bytes(&self.core.shape, row, resolver);
        }
        if let Some(undo) = &mut self.undo {
            undo.begin(self.core, row, resolver)?;
            self.is_recorded = true;
        }
        Ok(())
    }
}

impl Writer {
    pub(super) fn new(
        core: &Arc<Core>,
        statement: &TempTableContext,
        undo: &UndoLog,
        pin: &Arc<Pin>,
    ) -> Result<Self> {
        if let Some(lock) = &core.write_lock {
            let interrupt = &statement.shared().interrupt;
            lock.lock(undo.owner(), WRITE_WAIT, interrupt)?;
        }
        pin.set_written();
        Ok(Self {
            core: Arc::clone(core),
            statement: statement.clone(),
            undo: undo.clone(),
            pin: Arc::clone(pin),
            start: Some(undo.position()),
        })
    }

    /// Makes some changes while the table is locked. Returns how many were made, and the duplicate that stopped them.
    fn change(
        &mut self,
        batch: Option<&Batch>,
        work: impl FnOnce(&mut Change<'_>, &mut Rows<'_>) -> (usize, Option<Stopped>),
    ) -> Result<(usize, Option<Duplicate>)> {
        self.statement.shared().interrupt.check()?;
        let core = &self.core;
        core.change(
            Some(&self.undo),
            ChangeBy::Handle(&self.pin),
            |change, rows| {
                let columns = batch.map_or(&[][..], Batch::columns);
                let directory = &change.content.blobs.directory;
                let mut rows = Rows {
                    encoder: Encoder::new(columns, change.sources, directory),
                    core,
                    rows,
                    start: 0,
                    end: 0,
                    count: batch.map_or(0, Batch::row_count),
                };
                work(change, &mut rows)
            },
        )
    }

    /// Ends the changes of this writer.
    fn leave(&self) {
        self.core.unlock();
    }
}

/// Rows of a batch, encoded a run at a time.
struct Rows<'a> {
    encoder: Encoder<'a>,
    core: &'a Core,
    rows: &'a mut Vec<u64>,
    /// Index of the first row in `rows`.
    start: usize,
    end: usize,
    count: usize,
}

impl Rows<'_> {
    /// One row's bytes; rows are requested from first to last.
    #[inline]
    fn row(&mut self, row: usize) -> &mut [u8] {
        let width = self.core.shape.layout.width;
        &mut self.run(row)[..width]
    }

    /// The bytes of a row and of some that follow it.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    #[inline]
    fn run(&mut self, row: usize) -> &mut [u8] {
        let layout = &self.core.shape.layout;
        let words = layout.width / 8;
        if row >= self.end {
            let count = RUN_ROWS.min(self.count - row);
            self.rows
                .resize((RUN_ROWS.min(self.count) * words).max(count * words), 0);
            let start = self.rows.as_mut_ptr().cast();
            // SAFETY: there is room for `count` rows; the batch has the table's columns and at least
            // `row + count` rows.
            unsafe { self.encoder.write(layout, row, count, None, start) };
            (self.start, self.end) = (row, row + count);
        }
        let words = &mut self.rows[(row - self.start) * words..(self.end - self.start) * words];
        // SAFETY: words are bytes of any value.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
    }
}

impl TableWriter for Writer {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        match self.insert(batch)?.duplicate {
            None => Ok(()),
            Some(_) => Err(Error::internal("a row that was appended is not new")),
        }
    }

    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        let count = batch.row_count();
        // In a table that is larger than memory each row of each index may be a page of a file.
        let step = if self.core.shape.indexes.is_empty() {
            count.max(1)
        } else {
            ROWS_UNASKED
        };
        let mut done = 0;
        loop {
            let part = if step >= count {
                batch.clone()
            } else {
                batch.slice(done, step.min(count - done))
            };
            let (rows, duplicate) = self.change(Some(&part), |change, rows| {
                change.begin_load(rows.count);
                let is_plain = change.is_plain();
                let mut row = 0;
                while row < rows.count {
                    let added = if is_plain {
                        change.append(rows.run(row))
                    } else {
                        change.insert(rows.row(row)).map(|()| 1)
                    };
                    match added {
                        Ok(count) => row += count,
                        Err(stopped) => return (row, Some(stopped)),
                    }
                }
                (rows.count, None)
            })?;
            done += rows;
            if duplicate.is_some() || done >= count {
                let rows = done;
                return Ok(RowsWritten { rows, duplicate });
            }
        }
    }

    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let (rows, duplicate) = self.change(Some(rows), |change, rows| {
            for (row, id) in numbers(positions).enumerate().take(rows.count) {
                if let Err(stopped) = change.update(id, rows.row(row), ColumnSet::ALL) {
                    return (row, Some(stopped));
                }
            }
            (positions.len(), None)
        })?;
        Ok(RowsWritten { rows, duplicate })
    }

    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        let (deleted, _) = self.change(None, |change, _| {
            let mut deleted = 0;
            for id in numbers(positions) {
                match change.delete(id, None) {
                    Ok(was_there) => deleted += usize::from(was_there),
                    Err(stopped) => return (deleted, Some(stopped)),
                }
            }
            (deleted, None)
        })?;
        Ok(deleted as u64)
    }

    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        let core = &self.core;
        let state = core.read()?;
        let columns: Vec<ColumnId> = (0..core.shape.columns.len()).map(ColumnId).collect();
        let mut ids = vec![number(position)];
        let rows = fetch(
            core,
            &state.content,
            &mut Gather::default(),
            &mut ids,
            &columns,
        );
        let rows = rows.map_err(|error| core.error(&error))?;
        Ok(Some(rows).filter(|rows| !rows.is_empty()))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let core = Arc::clone(&self.core);
        let mut state = core.write()?;
        let State {
            content, scratch, ..
        } = &mut *state;
        // Until then an error undoes what the writer has done.
        let sorted = content.sort_entries(core.fixed(), &mut scratch.scratch);
        drop(state);
        sorted.map_err(|error| {
            let reason = self.statement.interrupt().check().err();
            reason.unwrap_or_else(|| core.error(&error))
        })?;
        self.start = None;
        core.become_holder();
        let mut state = core.write()?;
        let State { content, .. } = &mut *state;
        let compacted = content.compact(core.fixed());
        compacted.map_err(|error| core.error(&error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(start) = self.start
            && self.core.is_transactional()
        {
            self.undo.undo_to(start);
            if let Ok(mut state) = self.core.write() {
                state.content.end_undone_load();
            }
        }
        self.leave();
    }
}

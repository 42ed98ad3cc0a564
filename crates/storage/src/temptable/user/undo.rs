//! Undo log of a session's transaction in its temporary tables.
//!
//! Records are consecutive in a buffer, each before its trailer, and are undone from the last to the first. A full
//! buffer stays in memory while the session's budget has room for it, else it goes to a temporary file. A savepoint is
//! a number of bytes. Records of a table that was dropped or emptied since are void and skipped.
//!
//! ```text
//!   +----------------------------------+---------+------+-------+----+
//!   | row as it was, then long values  | length  | kind | table | id |
//!   +----------------------------------+---------+------+-------+----+
//! ```

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, Weak};

use mayfly_memory::sync::UsedMutex;
use mayfly_memory::{Extent, MemoryError, Reservation, Result};
use mayfly_types::error::codes;

use super::content::{ColumnSet, Content, Failure, Scratch, Shape, value_bytes, view_of};
use super::pin::ChangeBy;
use super::table_core::{Core, State};
use crate::temptable::rows::{Resolver, View};
use crate::transaction::Participant;

/// Bytes of a trailer: length and kind, table, number of the row.
const TRAILER: usize = 4 + 4 + 4 + 8;
/// Size in bytes at which a buffer is sealed.
const BUFFER: usize = 256 << 10;
/// Bytes that a log may hold without a reservation, so that small statements need none.
const UNCOUNTED: usize = 4 << 10;
/// Step in which the reservation grows.
const STEP: usize = 64 << 10;

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    /// Consecutive rows from a number on were added; the length is their count.
    Inserted,
    Updated,
    Deleted,
}

/// Sealed buffer.
#[derive(Debug)]
enum Sealed {
    Memory(Vec<u8>, Reservation),
    File(Extent),
}

impl Sealed {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes, _) => bytes.len() as u64,
            Self::File(extent) => extent.len() as u64,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Records {
    /// The tables that records refer to, each with its number of truncations then.
    tables: Vec<(Weak<Core>, u64)>,
    sealed: Vec<Sealed>,
    sealed_bytes: u64,
    /// Bytes of sealed buffers in memory.
    sealed_memory: u64,
    buffer: Vec<u8>,
    account: Option<Reservation>,
    /// Whether the last record may still grow.
    is_open: bool,
    /// Whether non-transactional tables were changed.
    not_undone: bool,
    /// Tables whose locks are held until the statement ends.
    held: Vec<Arc<Core>>,
    scratch: Scratch,
}

/// Undo log of a session. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct UndoLog(Arc<UsedMutex<Records>>);

/// Record to be undone next.
struct Record {
    table: Weak<Core>,
    epoch: u64,
    kind: Kind,
    id: u64,
    length: usize,
}

impl Records {
    fn len(&self) -> u64 {
        self.sealed_bytes + self.buffer.len() as u64
    }

    /// The number by which records refer to a table.
    pub(super) fn table(&mut self, core: &Arc<Core>) -> u32 {
        let epoch = core.epoch.load(Ordering::Relaxed);
        let is_it = |(table, its): &(Weak<Core>, u64)| {
            *its == epoch && std::ptr::eq(table.as_ptr(), Arc::as_ptr(core))
        };
        let found = self.tables.iter().rposition(is_it);
        let number = found.unwrap_or_else(|| {
            self.tables.push((Arc::downgrade(core), epoch));
            self.tables.len() - 1
        });
        number as u32
    }

    /// Reserves room for a record of `bytes` bytes, so that adding it cannot fail.
    #[inline]
    pub(super) fn reserve(&mut self, core: &Core, bytes: usize) -> Result<()> {
        let needed = self.buffer.len() + bytes + TRAILER;
        if needed <= UNCOUNTED {
            return Ok(());
        }
        self.reserve_counted(core, needed, bytes)
    }

    fn reserve_counted(&mut self, core: &Core, mut needed: usize, bytes: usize) -> Result<()> {
        if needed > BUFFER && !self.buffer.is_empty() {
            self.seal(core)?;
            needed = bytes + TRAILER;
        }
        // The session's budget, above the table's.
        let memory = &core.pager.memory;
        let memory = memory.parent().unwrap_or(memory);
        let account = self.account.get_or_insert_with(|| memory.reservation());
        if account.bytes() < needed as u64 {
            let wanted = needed.next_multiple_of(STEP) as u64;
            core.pager.resources.make_room(wanted, account.budget());
            account.grow_forced(wanted - account.bytes())?;
        }
        Ok(())
    }

    /// Seals the buffer.
    fn seal(&mut self, core: &Core) -> Result<()> {
        let bytes = self.buffer.len() as u64;
        let memory = &core.pager.memory;
        let memory = memory.parent().unwrap_or(memory);
        // Buffers in memory stay there: they leave most of it to tables, whose pages can be evicted.
        let is_much = self.sealed_memory + bytes > memory.share() / 2;
        let reserved = (!is_much).then(|| memory.reserve(bytes));
        let sealed = match reserved {
            Some(Ok(account)) => {
                self.sealed_memory += bytes;
                Sealed::Memory(std::mem::take(&mut self.buffer), account)
            }
            _ => {
                let space = &core.pager.temp_space;
                let space = space.parent().unwrap_or(space);
                let file = core.pager.resources.temp_space.file(space);
                let extent = file.write(&self.buffer)?;
                self.buffer.clear();
                Sealed::File(extent)
            }
        };
        self.sealed_bytes += bytes;
        self.sealed.push(sealed);
        self.is_open = false;
        Ok(())
    }

    fn push_trailer(&mut self, length: usize, kind: Kind, table: u32, id: u64) {
        self.buffer
            .extend_from_slice(&(length as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(kind as u32).to_le_bytes());
        self.buffer.extend_from_slice(&table.to_le_bytes());
        self.buffer.extend_from_slice(&id.to_le_bytes());
    }

    /// Records added rows with consecutive numbers, after [`Self::reserve`].
    #[inline]
    pub(super) fn inserted(&mut self, table: u32, first_id: u64, count: usize) {
        let count = count as u32;
        if self.is_open
            && let Some(start) = self.buffer.len().checked_sub(TRAILER)
        {
            let (length, kind, its, first) = trailer(&self.buffer[start..]);
            if kind == Kind::Inserted && its == table && first + u64::from(length) == first_id {
                let longer = (length + count).to_le_bytes();
                self.buffer[start..start + 4].copy_from_slice(&longer);
                return;
            }
        }
        self.push_trailer(count as usize, Kind::Inserted, table, first_id);
        self.is_open = true;
    }

    /// Begins a record with a row as it is before a change.
    pub(super) fn begin(&mut self, core: &Core, row: &[u8], resolver: Resolver<'_>) -> Result<()> {
        let cells = &core.shape.layout.bytes_cells;
        let long = |view: &View| !view.is_inline();
        let views = || cells.iter().map(|cell| view_of(cell, row)).filter(long);
        let bytes: usize = views().map(|view| view.length() as usize).sum();
        self.reserve(core, row.len() + bytes)?;
        self.buffer.extend_from_slice(row);
        for view in views() {
            self.buffer.extend_from_slice(value_bytes(resolver, &view));
        }
        self.is_open = false;
        Ok(())
    }

    /// Offset of the next record, for [`Self::end`] and [`Self::cancel`].
    pub(super) fn record_start(&self) -> usize {
        self.buffer.len()
    }

    /// Completes the record of [`Self::begin`]: its row was changed.
    pub(super) fn end(&mut self, start: usize, deleted: bool, table: u32, id: u64) {
        // The buffer was sealed in between.
        let start = if start > self.buffer.len() { 0 } else { start };
        let kind = if deleted {
            Kind::Deleted
        } else {
            Kind::Updated
        };
        self.push_trailer(self.buffer.len() - start, kind, table, id);
    }

    /// Drops the record of [`Self::begin`]: its row was not changed.
    pub(super) fn cancel(&mut self, start: usize) {
        let start = if start > self.buffer.len() { 0 } else { start };
        self.buffer.truncate(start);
    }

    /// Takes the last record, whose row is left at the end of the buffer.
    fn last(&mut self) -> Result<Option<Record>> {
        if self.buffer.is_empty() {
            let Some(sealed) = self.sealed.pop() else {
                return Ok(None);
            };
            self.sealed_bytes -= sealed.len();
            match sealed {
                Sealed::Memory(bytes, _account) => {
                    self.sealed_memory -= bytes.len() as u64;
                    self.buffer = bytes;
                }
                Sealed::File(extent) => {
                    let mut bytes = vec![0; extent.len()];
                    extent.read(&mut bytes)?;
                    self.buffer = bytes;
                }
            }
        }
        let Some(start) = self.buffer.len().checked_sub(TRAILER) else {
            return Ok(None);
        };
        let (length, kind, table, id) = trailer(&self.buffer[start..]);
        self.buffer.truncate(start);
        let (table, epoch) = match self.tables.get(table as usize) {
            Some((table, epoch)) => (table.clone(), *epoch),
            None => (Weak::new(), 0),
        };
        Ok(Some(Record {
            table,
            epoch,
            kind,
            id,
            length: length as usize,
        }))
    }

    /// Removes all records.
    fn clear(&mut self) {
        self.tables.clear();
        self.sealed.clear();
        self.sealed_bytes = 0;
        self.sealed_memory = 0;
        if self.buffer.capacity() > UNCOUNTED {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        self.account = None;
        self.is_open = false;
    }

    fn release(&mut self) {
        for core in self.held.drain(..) {
            core.unlock();
        }
    }
}

fn trailer(bytes: &[u8]) -> (u32, Kind, u32, u64) {
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let kind = match word(4) {
        0 => Kind::Inserted,
        1 => Kind::Updated,
        _ => Kind::Deleted,
    };
    let id = u64::from(word(12)) | u64::from(word(16)) << 32;
    (word(0), kind, word(8), id)
}

impl UndoLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The records, locked for adding.
    pub(super) fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock()
    }

    /// The records, if there may be any.
    fn used(&self) -> Option<MutexGuard<'_, Records>> {
        self.0.used()
    }

    /// Removes all records, without undoing them.
    pub(crate) fn forget(&self) {
        if let Some(mut records) = self.used() {
            records.clear();
            self.end(records);
        }
    }

    /// Ends the transaction: only held locks are left to look at.
    fn end(&self, mut records: MutexGuard<'_, Records>) -> bool {
        let not_undone = std::mem::take(&mut records.not_undone);
        if records.held.is_empty() {
            self.0.end_use(records);
        }
        not_undone
    }

    /// Identifies the session in a table's lock.
    pub(super) fn owner(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Takes a table's lock by `lock` and holds it until the statement ends; returns whether it was not held before.
    pub(super) fn hold(
        &self,
        core: &Arc<Core>,
        lock: impl FnOnce() -> mayfly_types::Result<()>,
    ) -> mayfly_types::Result<bool> {
        let is_held = |held: &Arc<Core>| Arc::ptr_eq(held, core);
        let is_held = self
            .used()
            .is_some_and(|records| records.held.iter().any(is_held));
        if !is_held {
            lock()?;
            self.lock().held.push(Arc::clone(core));
        }
        Ok(!is_held)
    }

    pub(super) fn note_not_undone(&self) {
        self.lock().not_undone = true;
    }

    /// Position in the log, as [`Participant::savepoint`] gives it.
    pub(super) fn position(&self) -> u64 {
        let Some(mut records) = self.used() else {
            return 0;
        };
        records.is_open = false;
        records.len()
    }

    /// Undoes all changes after a position.
    pub(super) fn undo_to(&self, position: u64) {
        let Some(mut records) = self.used() else {
            return;
        };
        records.is_open = false;
        while records.len() > position {
            let record = match records.last() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    // Which tables the lost records belong to is unknown: any of these may be affected.
                    for (table, _) in &records.tables {
                        if let Some(core) = table.upgrade() {
                            core.set_broken(&error);
                        }
                    }
                    records.clear();
                    break;
                }
            };
            let start = match record.kind {
                Kind::Inserted => records.buffer.len(),
                _ => records.buffer.len().saturating_sub(record.length),
            };
            let core = record.table.upgrade();
            let core = core.filter(|core| core.epoch.load(Ordering::Relaxed) == record.epoch);
            if let Some(core) = core {
                let mut scratch = std::mem::take(&mut records.scratch);
                undo(&core, &record, &mut records.buffer[start..], &mut scratch);
                records.scratch = scratch;
            }
            records.buffer.truncate(start);
        }
        if records.len() == 0 {
            records.clear();
        }
    }
}

impl Core {
    fn set_broken(&self, error: &MemoryError) {
        if let Ok(mut state) = self.write() {
            state.broken = Some(self.broken_error(error));
        }
    }

    /// The error of every later statement.
    pub(super) fn broken_error(&self, error: &MemoryError) -> mayfly_types::Error {
        let reason = self.error(error);
        codes::ER_UNKNOWN_ERROR.with(&[&format!(
            "Table '{}' lost rows and cannot be used any more, drop it: {}",
            self.name,
            reason.message()
        )])
    }
}

/// Undoes one record; its row is in `bytes`.
fn undo(core: &Core, record: &Record, bytes: &mut [u8], scratch: &mut Scratch) {
    let Ok(mut state) = core.write() else {
        return;
    };
    core.pin_others(&mut state, ChangeBy::Undo);
    let State { content, .. } = &mut *state;
    let result = undo_in(core, content, record, bytes, scratch);
    core.note_change();
    let rows = content.heap.len();
    core.registration.set_rows(rows);
    if let Err(error) = result {
        state.broken = Some(core.broken_error(&error));
    }
}

fn undo_in(
    core: &Core,
    content: &mut Content,
    record: &Record,
    bytes: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let (shape, pager) = (&core.shape, &core.pager);
    let failed = |failure: Failure| match failure {
        Failure::Memory(error) | Failure::Broken(error) => error,
        Failure::Duplicate(..) => MemoryError::Interrupted,
    };
    let nothing = |_: &[u8], _: Resolver<'_>| Ok(());
    match record.kind {
        Kind::Inserted => {
            for id in (record.id..record.id + record.length as u64).rev() {
                content.relieve(pager)?;
                let deleted = content.delete(core.fixed(), (id, None), scratch, nothing);
                deleted.map_err(failed)?;
            }
        }
        Kind::Updated | Kind::Deleted => {
            content.relieve(pager)?;
            let (row, values) = bytes.split_at_mut(shape.layout.width.min(bytes.len()));
            let transient = [values.as_ptr()];
            place_values(shape, row);
            if record.kind == Kind::Deleted {
                let restored = content.restore(core.fixed(), record.id, (row, &transient), scratch);
                restored.map_err(failed)?;
            } else {
                let row = (row, &transient[..], ColumnSet::ALL);
                let updated = content.update(core.fixed(), record.id, row, scratch, nothing);
                updated.map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// Points a recorded row's views to the long values that follow it.
fn place_values(shape: &Shape, row: &mut [u8]) {
    let mut offset = 0;
    for cell in &shape.layout.bytes_cells {
        let view = view_of(cell, row);
        if !view.is_inline() {
            let placed = view.at(crate::temptable::rows::TRANSIENT, offset);
            row[cell.offset..cell.offset + 16].copy_from_slice(&placed.0.to_le_bytes());
            offset += view.length();
        }
    }
}

impl Participant for UndoLog {
    fn savepoint(&mut self) -> u64 {
        self.position()
    }

    fn roll_back_to(&mut self, savepoint: u64) -> bool {
        self.undo_to(savepoint);
        self.used().is_some_and(|records| records.not_undone)
    }

    fn commit(&mut self) -> mayfly_types::Result<()> {
        self.forget();
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        self.undo_to(0);
        self.used().is_some_and(|records| self.end(records))
    }

    fn end_statement(&mut self) -> mayfly_types::Result<()> {
        if let Some(mut records) = self.used() {
            records.release();
        }
        Ok(())
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.release();
    }
}

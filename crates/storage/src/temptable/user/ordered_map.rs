//! Ordered map of byte strings in the pages of a table, for uncommitted changes of a transaction that exceed its
//! memory.
//!
//! A key maps to a value, or to the mark that it has none. Changes can be undone by an [`UndoLog`], like those of any
//! table; [`OrderedMap::snapshot`] is unaffected by later changes.

use std::convert::Infallible;
use std::sync::Arc;

use mayfly_types::{IndexMethod, PhysicalType, Result, Value};

use super::blobs::Loaded;
use super::content::{ColumnSet, Content, value_bytes, view_of};
use super::pin::Pin;
use super::table_context::UserTableContext;
use super::table_core::Core;
use super::tree::Cursor;
use super::undo::UndoLog;
use super::writer::{Change, Done, Stopped};
use super::{UserTable, point};
use crate::key_encoding::{ByteRange, KeyEncoder};
use crate::table::IndexSpec;
use crate::temptable::rows::Cell;
use crate::values::StoredValue;

/// Value of a key; `None` is a value, too.
pub(crate) type MapValue = Option<Arc<[u8]>>;

const KEY: usize = 0;
const VALUE: usize = 1;
/// Number of entries that are changed, or read, per lock of the table.
const TURN: usize = 256;

/// Ordered map. Cloning gives another handle.
#[derive(Debug, Clone)]
pub(crate) struct OrderedMap(UserTable);

/// A snapshot of the map.
#[derive(Debug)]
pub(crate) struct MapSnapshot {
    core: Arc<Core>,
    pin: Arc<Pin>,
}

/// Range of a snapshot, which is read a few entries at a time.
#[derive(Debug)]
pub(crate) struct MapRange {
    encoded: ByteRange,
    reverse: bool,
    cursor: Cursor,
}

impl MapRange {
    /// Whether all of the range was read.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.cursor, Cursor::End)
    }
}

fn encode(encoder: &KeyEncoder, key: &[u8], encoded: &mut Vec<u8>) {
    encoded.clear();
    let value = |_| Ok::<_, Infallible>(StoredValue::Bytes(key));
    let Ok(()) = encoder.append_stored(value, encoded);
}

impl OrderedMap {
    /// Length limit of keys in bytes; longer keys would not be ordered: an index entry is cut where it fills a quarter
    /// of a page, and a key may take twice its length there.
    pub(crate) const LONGEST_KEY: usize = 3 << 10;

    /// An empty map.
    pub(crate) fn new(context: UserTableContext) -> Self {
        let index = IndexSpec::binary(&[KEY], true, IndexMethod::Clustered);
        let columns = vec![PhysicalType::Bytes, PhysicalType::Bytes];
        Self(UserTable::new(context, columns, vec![index]))
    }

    fn core(&self) -> &Arc<Core> {
        &self.0.0
    }

    /// Whether the map is empty.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.core().read();
        state.is_ok_and(|state| state.content.heap.len() == 0)
    }

    /// The current value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<MapValue>> {
        let core = self.core();
        core.see(|state| get(core, &state.content, key))
    }

    /// Sets the values of some keys. Without `undo` the change is permanent, and partial after an error.
    pub(crate) fn set<'e>(
        &self,
        entries: impl Iterator<Item = (&'e [u8], &'e MapValue)>,
        undo: Option<&UndoLog>,
    ) -> Result<()> {
        let mut entries = entries.peekable();
        let mut values = [Value::Bytes(Vec::new()), Value::Null];
        let mut encoded = Vec::new();
        let mut room = Vec::new();
        while entries.peek().is_some() {
            self.0.change(undo, |change, row| {
                for (key, value) in entries.by_ref().take(TURN) {
                    debug_assert!(key.len() <= Self::LONGEST_KEY);
                    encode(&change.core.shape.encoders[0], key, &mut encoded);
                    refill(&mut values[KEY], &mut Vec::new(), Some(key));
                    refill(&mut values[VALUE], &mut room, value.as_deref());
                    set(change, row, &encoded, &values)?;
                }
                Ok(crate::table::RowChange::Done)
            })?;
        }
        Ok(())
    }

    /// Removes a key.
    pub(crate) fn remove(&self, key: &[u8], undo: Option<&UndoLog>) -> Result<()> {
        let mut encoded = Vec::new();
        encode(&self.core().shape.encoders[0], key, &mut encoded);
        let removed = self.0.delete_row((crate::IndexId(0), &encoded), undo);
        removed.map(|_| ())
    }

    /// Makes every further access an error.
    pub(crate) fn fail(&self, error: mayfly_types::Error) {
        if let Ok(mut state) = self.core().write() {
            state.broken = Some(error);
        }
    }

    /// A snapshot of the current state.
    pub(crate) fn snapshot(&self) -> MapSnapshot {
        MapSnapshot {
            core: Arc::clone(self.core()),
            pin: self.core().pin(),
        }
    }
}

/// Sets a value's bytes, reusing its memory, which `room` keeps while the value is NULL.
fn refill(value: &mut Value, room: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match (&mut *value, bytes) {
        (Value::Bytes(old), Some(bytes)) => {
            old.clear();
            old.extend_from_slice(bytes);
        }
        (_, Some(bytes)) => {
            let mut new = std::mem::take(room);
            new.clear();
            new.extend_from_slice(bytes);
            *value = Value::Bytes(new);
        }
        (Value::Bytes(old), None) => {
            *room = std::mem::take(old);
            *value = Value::Null;
        }
        (_, None) => {}
    }
}

/// Inserts or updates a row.
fn set(change: &mut Change<'_>, row: &mut Vec<u64>, encoded: &[u8], values: &[Value]) -> Done<()> {
    let core = change.core;
    let layout = &core.shape.layout;
    row.resize(layout.width / 8, 0);
    let row = point::bytes(row);
    // Releases the values of the row before.
    change.sources.begin_batch();
    if !layout.write(row, values, change.sources) {
        return Err(Stopped::Error(crate::error::wrong_type()));
    }
    let found = change.content.trees[0].find(&core.pager, encoded);
    match found.map_err(|error| Stopped::Error(core.error(&error)))? {
        (_, None) => change.insert(row),
        (_, Some(id)) => {
            let mut value = ColumnSet::default();
            value.add(VALUE);
            change.update(id, row, value)
        }
    }
}

fn get(core: &Core, content: &Content, key: &[u8]) -> mayfly_memory::Result<Option<MapValue>> {
    let mut encoded = Vec::new();
    encode(&core.shape.encoders[0], key, &mut encoded);
    let Some(id) = content.trees[0].first_with(&core.pager, &encoded)? else {
        return Ok(None);
    };
    entry(core, content, id, &mut None, |_, value| {
        value.map(Arc::from)
    })
}

/// Calls `take` with the key and the value of a row. `loaded` keeps the long values of the row before pinned, near
/// which those of this one may be.
fn entry<T>(
    core: &Core,
    content: &Content,
    id: u64,
    loaded: &mut Option<Loaded>,
    take: impl FnOnce(&[u8], Option<&[u8]>) -> T,
) -> mayfly_memory::Result<Option<T>> {
    let pager = &core.pager;
    let Some(row) = content.heap.read(pager, id)? else {
        return Ok(None);
    };
    *loaded = content.load_overflowed(core.fixed(), row)?;
    let cells = core.shape.layout.cells();
    let is_null = |cell: &Cell| row[cell.null_byte] & cell.null_mask != 0;
    let views = [view_of(&cells[KEY], row), view_of(&cells[VALUE], row)];
    let key = value_bytes(content.resolver(), &views[KEY]);
    let value = (!is_null(&cells[VALUE])).then(|| value_bytes(content.resolver(), &views[VALUE]));
    Ok(Some(take(key, value)))
}

impl MapSnapshot {
    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<MapValue>> {
        self.see(|content| get(&self.core, content, key))
    }

    /// Begins to read the keys of a range.
    pub(crate) fn range(&self, range: &ByteRange, reverse: bool) -> MapRange {
        let bound = |key: &[u8]| {
            let mut encoded = Vec::new();
            encode(&self.core.shape.encoders[0], key, &mut encoded);
            super::tree::shorten_key(&mut encoded);
            encoded
        };
        MapRange {
            encoded: ByteRange {
                start: bound(&range.start),
                end: range.end.as_deref().map(bound),
            },
            reverse,
            cursor: Cursor::Start,
        }
    }

    /// Appends the next entries of a range: at most `most`, and at least one if there is one.
    pub(crate) fn next(
        &self,
        range: &mut MapRange,
        most: usize,
        entries: &mut Vec<(Vec<u8>, MapValue)>,
    ) -> Result<()> {
        let mut ids = Vec::new();
        self.see(|content| {
            let (reverse, cursor) = (range.reverse, &mut range.cursor);
            let tree = &content.trees[0];
            tree.read_range(
                &self.core.pager,
                &range.encoded,
                reverse,
                cursor,
                most,
                &mut ids,
            )
        })?;
        // In row order, so that each page is read once.
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|at| ids[*at as usize]);
        let mut found = Vec::new();
        found.resize_with(ids.len(), || None);
        let mut order = order.into_iter().peekable();
        while order.peek().is_some() {
            self.see(|content| {
                // Pages read here stay in memory while the table is locked.
                let forced = self.core.pager.times_forced();
                let mut before = None;
                for at in order.by_ref().take(TURN) {
                    let at = at as usize;
                    let both =
                        |key: &[u8], value: Option<&[u8]>| (key.to_vec(), value.map(Arc::from));
                    found[at] = entry(&self.core, content, ids[at], &mut before, both)?;
                    if self.core.pager.has_read_enough(forced) {
                        break;
                    }
                }
                Ok(())
            })?;
        }
        entries.extend(found.into_iter().flatten());
        Ok(())
    }

    /// Key that divides a range with more than `most` entries, so that the part which is read first has `most`.
    pub(crate) fn divide(
        &self,
        range: &ByteRange,
        reverse: bool,
        most: usize,
    ) -> Result<Option<Vec<u8>>> {
        let mut range = self.range(range, reverse);
        self.see(|content| {
            let mut ids = Vec::new();
            let (pager, tree) = (&self.core.pager, &content.trees[0]);
            let (encoded, cursor) = (&range.encoded, &mut range.cursor);
            tree.read_range(pager, encoded, reverse, cursor, most + 1, &mut ids)?;
            let first_of_part = if reverse {
                most.checked_sub(1)
            } else {
                Some(most)
            };
            match first_of_part.and_then(|index| ids.get(index)) {
                Some(id) if ids.len() > most => {
                    entry(&self.core, content, *id, &mut None, |key, _| key.to_vec())
                }
                _ => Ok(None),
            }
        })
    }

    fn see<T>(&self, work: impl FnOnce(&Content) -> mayfly_memory::Result<T>) -> Result<T> {
        self.core.see_pinned(&self.pin, work)
    }
}

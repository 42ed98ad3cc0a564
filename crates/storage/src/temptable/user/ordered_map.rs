//! An ordered map of byte strings in the pages of a table: for what is changed until a transaction
//! commits, when that is more than it shall have in memory.
//!
//! A key has a value, or is known to have none. Changes can be undone by an [`UndoLog`], as those of
//! any table; [`OrderedMap::snapshot`] sees the map as it is now, whatever is changed later.

use std::convert::Infallible;
use std::sync::Arc;

use mayfly_types::{PhysicalType, Result, Value};

use super::blobs::Loaded;
use super::content::{ColumnSet, Content, value_bytes, view_of};
use super::handle::Pin;
use super::tree::Cursor;
use super::undo::UndoLog;
use super::writer::{Change, Done, Stopped};
use super::{Core, UserTable, UserTableContext, point};
use crate::key_encoding::{ByteRange, KeyEncoder};
use crate::table::IndexSpec;
use crate::temptable::rows::Cell;
use crate::values::StoredValue;

/// A value; `None` is one too.
pub(crate) type MapValue = Option<Arc<[u8]>>;

const KEY: usize = 0;
const VALUE: usize = 1;
/// Entries that are changed, or read, while the table is locked once.
const TURN: usize = 256;

/// The map. Cloning gives another handle to it.
#[derive(Debug, Clone)]
pub(crate) struct OrderedMap(UserTable);

/// A snapshot of the map.
#[derive(Debug)]
pub(crate) struct MapSnapshot {
    core: Arc<Core>,
    pin: Arc<Pin>,
}

/// A range of a snapshot, which is read a few entries at a time.
#[derive(Debug)]
pub(crate) struct MapRange {
    encoded: ByteRange,
    reverse: bool,
    cursor: Cursor,
}

impl MapRange {
    /// Whether all of it was read.
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
    /// Longer keys would not be in order: an entry of an index is cut where it fills a quarter of a
    /// page, and a key may be twice as long there.
    pub(crate) const LONGEST_KEY: usize = 3 << 10;

    /// An empty map.
    pub(crate) fn new(context: UserTableContext) -> Self {
        let index = IndexSpec::binary(&[KEY], true, true);
        let columns = vec![PhysicalType::Bytes, PhysicalType::Bytes];
        Self(UserTable::new(context, columns, vec![index]))
    }

    fn core(&self) -> &Arc<Core> {
        &self.0.0
    }

    /// Whether it has no key.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.core().read();
        state.is_ok_and(|state| state.content.heap.len() == 0)
    }

    /// The value of a key as it is now.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<MapValue>> {
        let core = self.core();
        core.see(|state| get(core, &state.content, key))
    }

    /// Sets the values of some keys. Without `undo` that stands; after an error a part of it does.
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

    /// Takes a key out.
    pub(crate) fn remove(&self, key: &[u8], undo: Option<&UndoLog>) -> Result<()> {
        let mut encoded = Vec::new();
        encode(&self.core().shape.encoders[0], key, &mut encoded);
        let removed = self.0.delete_row(crate::IndexId(0), &encoded, undo);
        removed.map(|_| ())
    }

    /// From here on every look at it is an error.
    pub(crate) fn fail(&self, error: mayfly_types::Error) {
        if let Ok(mut state) = self.core().write() {
            state.broken = Some(error);
        }
    }

    /// As it is now.
    pub(crate) fn snapshot(&self) -> MapSnapshot {
        MapSnapshot {
            core: Arc::clone(self.core()),
            pin: Pin::new(self.core()),
        }
    }
}

/// Gives a value other bytes, in the memory that it has; what it has while it is NULL is in `room`.
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

/// Adds or changes a row.
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

/// Gives `take` the key and the value of a row. `loaded` holds on to the long values of the row before, near which
/// those of this one may be.
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

    /// Adds the next entries of a range, at most `most` and at least one where there is one.
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
        // In the order of the rows, so that each page is brought to memory once.
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|at| ids[*at as usize]);
        let mut found = Vec::new();
        found.resize_with(ids.len(), || None);
        let mut order = order.into_iter().peekable();
        while order.peek().is_some() {
            self.see(|content| {
                // While it is looked at, what is brought to memory stays there.
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

    /// Where to divide a range of more than so many entries, so that the part which is read first has
    /// that many.
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
        self.pin.see(&self.core, work)
    }
}

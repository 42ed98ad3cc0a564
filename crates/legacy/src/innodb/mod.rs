//! On-disk tables like InnoDB's since MySQL 5.7: B+-trees of pages of 16 KiB in the session's temporary tablespace,
//! through a buffer pool, without redo.
//!
//! Rows are in a clustered tree by a hidden row id of 6 bytes that counts up (`GEN_CLUST_INDEX`), which is a row's
//! position. A unique key has a secondary tree from keys to row ids; if the key is longer than [`KEY_MAX`], or has a
//! BLOB, the tree has its hash and the row id instead, and rows with equal hashes are compared (`<hash_key>`). Rows
//! are packed. The longest values of a row that exceeds half a page go to overflow pages, as in the row format
//! DYNAMIC.

mod buffer_pool;
mod overflow;
mod page;
mod tablespace;
mod tree;

use std::sync::Arc;

use mayfly_memory::{Budget, MemoryError};
use mayfly_storage::values::StoredValue;

use self::overflow::{read_value, write_value};
use self::tablespace::TablePages;
use self::tree::Tree;
use super::refusal::{Outcome, Refusal};
use super::row::{External, KeyImages, PackedLayout, PackedValue, RowSink};
use super::spec::{LegacyColumn, StoreForm};

pub use self::buffer_pool::{BufferPool, BufferPoolCounters};
pub use self::page::PAGE_BYTES;
pub use self::tablespace::{SessionTablespace, TemporaryTablespaces};

/// Maximum length of a secondary key, as in InnoDB's row format DYNAMIC.
const KEY_MAX: usize = 3072;
/// Maximum length of a row on its page: two must fit.
const ROW_MAX: usize = PAGE_BYTES / 2 - 100;
/// Length up to which strings stay in their row as long as others can be moved out.
const INLINE_MIN: usize = 40;
/// Trailing byte of a row that is stored with its key.
const IN_ROW: u8 = 0;
/// Trailing byte of the reference to a row on overflow pages.
const MOVED_OUT: u8 = 1;
/// Bytes of a row id.
const ROW_ID: usize = 6;

/// A row id as a key: the most significant byte first.
fn row_key(id: u64) -> [u8; ROW_ID] {
    let bytes = id.to_be_bytes();
    let mut key = [0; ROW_ID];
    key.copy_from_slice(&bytes[8 - ROW_ID..]);
    key
}

fn row_id(key: &[u8]) -> u64 {
    key.iter().fold(0, |id, byte| id << 8 | u64::from(*byte))
}

#[derive(Debug)]
enum Unique {
    None,
    Key(Tree),
    Hash(Tree),
}

/// Table in a tablespace.
#[derive(Debug)]
pub(super) struct InnoDbTable {
    layout: PackedLayout,
    clustered: Tree,
    unique: Unique,
    next_id: u64,
    packed: Vec<u8>,
    stored_key: Vec<u8>,
    // Declared after the trees, whose pages it frees.
    pages: TablePages,
}

impl InnoDbTable {
    /// An empty table; `space` is its budget of temporary space.
    pub(super) fn create(
        columns: &[LegacyColumn],
        images: &KeyImages,
        pool: &BufferPool,
        tablespace: &Arc<SessionTablespace>,
        space: &Budget,
        form: StoreForm,
    ) -> Outcome<Self> {
        let mut pages = TablePages::new(pool, tablespace, space);
        let clustered = Tree::create(&mut pages)?;
        let declared = images.declared_length();
        let is_short = declared.is_some_and(|length| length <= KEY_MAX) && !form.hashed;
        let unique = match images.part_count() {
            0 => Unique::None,
            _ if is_short => Unique::Key(Tree::create(&mut pages)?),
            _ => Unique::Hash(Tree::create(&mut pages)?),
        };
        Ok(Self {
            layout: PackedLayout::new(columns, form.natural),
            clustered,
            unique,
            next_id: 0,
            packed: Vec::new(),
            stored_key: Vec::new(),
            pages,
        })
    }

    pub(super) fn row_count(&self) -> u64 {
        self.next_id
    }

    /// Appends a row; returns its row id.
    pub(super) fn append(&mut self, row: &[StoredValue<'_>]) -> Outcome<u64> {
        let values = row.iter().map(|value| PackedValue::Value(*value));
        self.layout.pack(values, &mut self.packed)?;
        if self.packed.len() > ROW_MAX {
            let mut values: Vec<_> = row.iter().map(|value| PackedValue::Value(*value)).collect();
            self.move_out(0, &mut values, None)?;
        } else {
            self.packed.push(IN_ROW);
        }
        let id = self.next_id;
        let Self {
            clustered,
            pages,
            packed,
            ..
        } = self;
        clustered.insert(pages, &row_key(id), packed)?;
        self.next_id += 1;
        Ok(id)
    }

    /// Moves the longest values to overflow pages until the row, with the given values from column `first` on and
    /// those of `old` before, fits on its page, and packs it.
    fn move_out(
        &mut self,
        first: usize,
        values: &mut [PackedValue<'_>],
        old: Option<&[u8]>,
    ) -> Outcome<()> {
        loop {
            match old {
                Some(old) => {
                    let values = values.iter().copied();
                    self.layout.repack(old, first, values, &mut self.packed)?;
                }
                None => {
                    let values = values.iter().copied();
                    self.layout.pack(values, &mut self.packed)?;
                }
            }
            if self.packed.len() <= ROW_MAX {
                self.packed.push(IN_ROW);
                return Ok(());
            }
            let longest = values.iter_mut().max_by_key(|value| match value {
                PackedValue::Value(StoredValue::Bytes(text)) => text.len(),
                _ => 0,
            });
            match longest {
                Some(value) => match *value {
                    PackedValue::Value(StoredValue::Bytes(text)) if text.len() > INLINE_MIN => {
                        *value = PackedValue::External(write_value(&mut self.pages, text)?);
                    }
                    _ => return self.move_row_out(),
                },
                None => return self.move_row_out(),
            }
        }
    }

    /// Moves a whole row of very many columns to overflow pages; a reference to it replaces the row.
    fn move_row_out(&mut self) -> Outcome<()> {
        let row = std::mem::take(&mut self.packed);
        let external = write_value(&mut self.pages, &row)?;
        self.packed = row;
        self.packed.clear();
        self.packed.extend_from_slice(&external.page.to_le_bytes());
        self.packed
            .extend_from_slice(&external.length.to_le_bytes());
        self.packed.push(MOVED_OUT);
        Ok(())
    }

    /// The row that is stored as `stored`, and its location if it was moved out as a whole.
    fn open_row<'a>(
        &self,
        stored: &'a [u8],
        whole: &'a mut Vec<u8>,
    ) -> Outcome<(&'a [u8], Option<External>)> {
        let corrupt = || self.corrupt(stored.len());
        let (kind, row) = stored.split_last().ok_or_else(corrupt)?;
        if *kind == IN_ROW {
            return Ok((row, None));
        }
        let (page, length) = row.split_first_chunk().ok_or_else(corrupt)?;
        let length = length.try_into().map_err(|_| corrupt())?;
        let external = External {
            page: u32::from_le_bytes(*page),
            length: u64::from_le_bytes(length),
        };
        read_value(&self.pages, external, whole)?;
        Ok((whole, Some(external)))
    }

    fn corrupt(&self, bytes: usize) -> MemoryError {
        self.pages.corrupt(0, bytes)
    }

    /// The position of the row with a key, or of a new row with it.
    pub(super) fn find_or_insert(
        &mut self,
        images: &KeyImages,
        key: &[u8],
        hash: u64,
        row: &[StoredValue<'_>],
    ) -> Outcome<(u64, bool)> {
        match &self.unique {
            Unique::None => {}
            Unique::Key(_) if key.len() > KEY_MAX => return Err(Refusal::LongKey),
            Unique::Key(tree) => {
                let mut id = [0; ROW_ID];
                if tree.find(&self.pages, key, &mut id)? {
                    return Ok((row_id(&id), false));
                }
            }
            Unique::Hash(_) => {
                let mut stored = std::mem::take(&mut self.stored_key);
                let found = self.find_hashed(images, key, hash, &mut stored);
                self.stored_key = stored;
                if let Some(id) = found? {
                    return Ok((id, false));
                }
            }
        }
        let id = self.append(row)?;
        let Self { unique, pages, .. } = self;
        match unique {
            Unique::None => {}
            Unique::Key(tree) => tree.insert(pages, key, &row_key(id))?,
            Unique::Hash(tree) => tree.insert(pages, &hash_key(hash, id), &[])?,
        }
        Ok((id, true))
    }

    /// Compares the rows that have a hash with a key.
    fn find_hashed(
        &self,
        images: &KeyImages,
        key: &[u8],
        hash: u64,
        stored: &mut Vec<u8>,
    ) -> Outcome<Option<u64>> {
        let Unique::Hash(tree) = &self.unique else {
            return Ok(None);
        };
        let mut after = hash_key(hash, 0);
        let (mut entry, mut row) = (Vec::new(), Vec::new());
        while tree.first_from(&self.pages, &after, &mut entry)? {
            if entry.len() != after.len() || entry[..8] != after[..8] {
                break;
            }
            let id = row_id(&entry[8..]);
            row.clear();
            self.read_row(id, &mut row)?;
            stored.clear();
            let mut made = Ok(());
            self.each(&row, |column, value| {
                if column < images.part_count() && made.is_ok() {
                    made = images.append(column, value, stored);
                }
            })?;
            made?;
            if stored == key {
                return Ok(Some(id));
            }
            after = hash_key(hash, id + 1);
        }
        Ok(None)
    }

    /// Appends the bytes of a row to `image`.
    fn read_row(&self, id: u64, image: &mut Vec<u8>) -> Outcome<()> {
        let found = self.clustered.get(&self.pages, &row_key(id), image)?;
        if found {
            Ok(())
        } else {
            Err(self.corrupt(ROW_ID).into())
        }
    }

    /// Calls `take` with each column of a row.
    fn each(&self, row: &[u8], mut take: impl FnMut(usize, StoredValue<'_>)) -> Outcome<()> {
        let mut whole = Vec::new();
        let (row, _) = self.open_row(row, &mut whole)?;
        let mut value_bytes = Vec::new();
        let mut loaded = Ok(());
        let unpacked = self.layout.each(row, |column, value, _| match value {
            PackedValue::Value(value) => take(column, value),
            PackedValue::External(external) => {
                value_bytes.clear();
                if loaded.is_ok() {
                    loaded = read_value(&self.pages, external, &mut value_bytes);
                }
                take(column, StoredValue::Bytes(&value_bytes));
            }
        });
        loaded?;
        unpacked.map_err(|_| self.corrupt(row.len()).into())
    }

    /// Appends the row at a position to `image` and passes its columns to `sink`.
    pub(super) fn read(&self, id: u64, image: &mut Vec<u8>, sink: &mut RowSink) -> Outcome<()> {
        let start = image.len();
        self.read_row(id, image)?;
        self.each(&image[start..], |column, value| sink.push(column, value))?;
        sink.end_row();
        Ok(())
    }

    /// Updates the columns from `first` on of the row at a position, whose bytes are `image`.
    pub(super) fn update(
        &mut self,
        id: u64,
        image: &[u8],
        first: usize,
        values: &[StoredValue<'_>],
    ) -> Outcome<()> {
        let mut whole = Vec::new();
        let (old, moved) = self.open_row(image, &mut whole)?;
        let mut gone = Vec::from_iter(moved);
        let replaced = self.layout.each(old, |column, value, _| {
            if let (true, PackedValue::External(external)) = (column >= first, value) {
                gone.push(external);
            }
        });
        replaced.map_err(|_| self.corrupt(old.len()))?;
        let packed = values.iter().map(|value| PackedValue::Value(*value));
        self.layout.repack(old, first, packed, &mut self.packed)?;
        if self.packed.len() > ROW_MAX {
            let packed = values.iter().map(|value| PackedValue::Value(*value));
            let mut packed: Vec<_> = packed.collect();
            self.move_out(first, &mut packed, Some(old))?;
        } else {
            self.packed.push(IN_ROW);
        }
        let Self {
            clustered,
            pages,
            packed,
            ..
        } = self;
        clustered.replace(pages, &row_key(id), packed)?;
        for external in gone {
            overflow::free_value(pages, external)?;
        }
        Ok(())
    }

    /// The next row of a scan, if there is one.
    pub(super) fn next_row(
        &self,
        cursor: &mut LeafCursor,
        take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<Option<u64>> {
        let Some((key, row)) = self.clustered.next(&self.pages, cursor)? else {
            return Ok(None);
        };
        let id = row_id(key);
        self.each(row, take)?;
        Ok(Some(id))
    }
}

pub(super) use self::tree::LeafCursor;

/// A hash and a row id as a key.
fn hash_key(hash: u64, id: u64) -> [u8; 8 + ROW_ID] {
    let mut key = [0; 8 + ROW_ID];
    key[..8].copy_from_slice(&hash.to_be_bytes());
    key[8..].copy_from_slice(&row_key(id));
    key
}

#[cfg(test)]
mod tests;

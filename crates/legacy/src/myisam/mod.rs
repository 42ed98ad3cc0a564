//! On-disk tables like MyISAM's: rows in one file, a B-tree in another.
//!
//! `#sql_<process>_<n>.MYD` holds the rows: with a fixed length, at multiples of it, when no column varies (*FIXED*),
//! else with a length in front, in parts when an update has made a row longer (*DYNAMIC*). A row's position is its
//! offset. `#sql_<process>_<n>.MYI` holds a B-tree of the keys, through the [key cache](super::key_cache).
//!
//! A key that is longer than [`KEY_MAX`], or has a BLOB, is checked by a *unique constraint* instead: the tree holds
//! hashes of four bytes, and rows with equal hashes are read and compared.
//!
//! Rows are read and written in place, one system call each, through the operating system's cache. Rows that are only
//! appended are collected in a buffer of `read_buffer_size` (`HA_EXTRA_WRITE_CACHE`).

mod dynamic;
mod index;
mod page;
mod rows;

use std::sync::Arc;

use mayfly_memory::Budget;
use mayfly_storage::values::StoredValue;

use self::dynamic::DynamicRows;
use self::index::KeyTree;
use self::rows::{FixedRows, RowFile};
use super::file::LegacyDirectory;
use super::key_cache::KeyCache;
use super::refusal::Outcome;
use super::row::{FixedLayout, KeyImages, PackedLayout, RowSink};
use super::spec::{DeclaredForm, LegacyColumn, StoreForm};

pub(super) use self::rows::SequentialReader;

/// Maximum length of a key in a B-tree, as in MyISAM.
pub(super) const KEY_MAX: usize = 1000;
/// Bytes of a hash of the unique constraint (`MI_UNIQUE_HASH_LENGTH`).
const HASH_BYTES: usize = 4;

/// Row storage format.
#[derive(Debug)]
enum Rows {
    Fixed(FixedRows),
    Dynamic(DynamicRows),
}

/// Index of a table's key.
#[derive(Debug)]
enum Unique {
    /// The table has no key.
    None,
    /// B-tree of the keys themselves.
    Key(KeyTree),
    /// B-tree of the keys' hashes.
    Hash(KeyTree),
}

/// Options of a new table.
pub(super) struct MyIsamOptions<'a> {
    pub(super) directory: &'a LegacyDirectory,
    pub(super) key_cache: &'a KeyCache,
    /// The table's budget of temporary space.
    pub(super) space: &'a Budget,
    /// Budget of buffers.
    pub(super) memory: &'a Budget,
    pub(super) read_buffer: usize,
    pub(super) form: StoreForm,
}

/// Table in two files.
#[derive(Debug)]
pub(super) struct MyIsamTable {
    rows: Rows,
    unique: Unique,
    row_count: u64,
    scratch: Vec<u8>,
    key: Vec<u8>,
}

impl MyIsamTable {
    pub(super) fn create(
        columns: &[LegacyColumn],
        images: &KeyImages,
        options: &MyIsamOptions<'_>,
    ) -> Outcome<Self> {
        let varies = |column: &LegacyColumn| !matches!(column.form, DeclaredForm::Fixed { .. });
        let is_fixed = !options.form.natural && !columns.iter().any(varies);
        let layout = FixedLayout::new(columns).filter(|_| is_fixed);
        let has_key = images.part_count() > 0;
        let (rows, index) = if has_key {
            let [rows, index] = options.directory.create(["MYD", "MYI"])?;
            (rows, Some(index))
        } else {
            let [rows] = options.directory.create(["MYD"])?;
            (rows, None)
        };
        let mut file = RowFile::new(rows, options.space);
        if !has_key {
            file.cache_writes(options.read_buffer, options.memory)?;
        }
        let rows = match layout {
            Some(layout) => Rows::Fixed(FixedRows::new(layout, file)),
            None => Rows::Dynamic(DynamicRows::new(
                PackedLayout::new(columns, options.form.natural),
                file,
            )),
        };
        let declared = images.declared_length();
        let key_length = declared.filter(|length| *length <= KEY_MAX && !options.form.hashed);
        let unique = match index {
            None => Unique::None,
            Some(index) => {
                let cached = options.key_cache.open(Arc::new(index));
                match key_length {
                    Some(length) => Unique::Key(KeyTree::new(cached, length, options.space)),
                    None => Unique::Hash(KeyTree::of_hashes(cached, options.space)),
                }
            }
        };
        Ok(Self {
            rows,
            unique,
            row_count: 0,
            scratch: Vec::new(),
            key: Vec::new(),
        })
    }

    pub(super) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// Appends a row to a table without a key; returns its position.
    pub(super) fn append(&mut self, row: &[StoredValue<'_>]) -> Outcome<u64> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let appended = self
            .rows
            .encode(row, &mut scratch)
            .and_then(|()| self.rows.append(&scratch));
        self.scratch = scratch;
        self.row_count += u64::from(appended.is_ok());
        appended
    }

    /// The position of the row with a key, or of a new row with it. As in `mi_write()`, the key is inserted into the
    /// tree first, which finds an existing row: one descent for both.
    pub(super) fn find_or_insert(
        &mut self,
        images: &KeyImages,
        key: &[u8],
        hash: u64,
        row: &[StoredValue<'_>],
    ) -> Outcome<(u64, bool)> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = self.find_or_insert_with(images, key, hash, row, &mut scratch);
        self.scratch = scratch;
        done
    }

    fn find_or_insert_with(
        &mut self,
        images: &KeyImages,
        key: &[u8],
        hash: u64,
        row: &[StoredValue<'_>],
        scratch: &mut Vec<u8>,
    ) -> Outcome<(u64, bool)> {
        let Self {
            rows,
            unique,
            key: stored,
            ..
        } = self;
        let position = rows.next_position();
        match unique {
            Unique::None => {}
            Unique::Key(tree) => {
                rows.encode(row, scratch)?;
                if let Some(found) = tree.insert(key, position)? {
                    return Ok((found, false));
                }
            }
            Unique::Hash(tree) => {
                let hash = (hash as u32).to_be_bytes();
                let mut found = None;
                tree.visit(&hash, |candidate| {
                    rows.key(candidate, images, scratch, stored)?;
                    if stored == key {
                        found = Some(candidate);
                    }
                    Ok(found.is_some())
                })?;
                if let Some(found) = found {
                    return Ok((found, false));
                }
                rows.encode(row, scratch)?;
                // The position makes each entry distinct.
                tree.insert(&hash, position)?;
            }
        }
        rows.append(scratch)?;
        self.row_count += 1;
        Ok((position, true))
    }

    /// Appends the row at a position to `image` and passes its columns to a sink.
    pub(super) fn read(
        &self,
        position: u64,
        image: &mut Vec<u8>,
        sink: &mut RowSink,
    ) -> Outcome<()> {
        let start = image.len();
        self.rows.read(position, image)?;
        self.rows.decode(position, &image[start..], sink)
    }

    /// Updates the columns from `first` on of the row at a position, whose bytes are `image`.
    pub(super) fn update(
        &mut self,
        position: u64,
        image: &mut [u8],
        first: usize,
        values: &[StoredValue<'_>],
    ) -> Outcome<()> {
        match &mut self.rows {
            Rows::Fixed(rows) => rows.update(position, image, first, values),
            Rows::Dynamic(rows) => rows.update(position, image, first, values, &mut self.scratch),
        }
    }

    /// The next row of a scan, if there is one.
    pub(super) fn next_row(
        &self,
        reader: &mut SequentialReader,
        take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<Option<u64>> {
        match &self.rows {
            Rows::Fixed(rows) => rows.next_row(reader, take),
            Rows::Dynamic(rows) => rows.next_row(reader, take),
        }
    }
}

impl Rows {
    fn encode(&self, row: &[StoredValue<'_>], out: &mut Vec<u8>) -> Outcome<()> {
        match self {
            Self::Fixed(rows) => rows.encode(row, out),
            Self::Dynamic(rows) => rows.encode(row, out),
        }
    }

    /// The position of the next row.
    fn next_position(&self) -> u64 {
        match self {
            Self::Fixed(rows) => rows.file.end(),
            Self::Dynamic(rows) => rows.file.end(),
        }
    }

    fn append(&mut self, encoded: &[u8]) -> Outcome<u64> {
        match self {
            Self::Fixed(rows) => Ok(rows.file.append(encoded)?),
            Self::Dynamic(rows) => rows.append(encoded),
        }
    }

    /// Appends a row to `image`.
    fn read(&self, position: u64, image: &mut Vec<u8>) -> Outcome<()> {
        match self {
            Self::Fixed(rows) => rows.read(position, image),
            Self::Dynamic(rows) => rows.read(position, image),
        }
    }

    fn decode(&self, position: u64, image: &[u8], sink: &mut RowSink) -> Outcome<()> {
        match self {
            Self::Fixed(rows) => sink.push_row(|column| rows.layout.get(column, image)),
            Self::Dynamic(rows) => {
                rows.each(position, image, |column, value| sink.push(column, value))?;
                sink.end_row();
            }
        }
        Ok(())
    }

    /// The key of the row at a position.
    fn key(
        &self,
        position: u64,
        images: &KeyImages,
        scratch: &mut Vec<u8>,
        key: &mut Vec<u8>,
    ) -> Outcome<()> {
        scratch.clear();
        self.read(position, scratch)?;
        match self {
            Self::Fixed(rows) => images.put(|column| rows.layout.get(column, scratch), key),
            Self::Dynamic(rows) => {
                key.clear();
                let mut made = Ok(());
                rows.each(position, scratch, |column, value| {
                    if column < images.part_count() && made.is_ok() {
                        made = images.append(column, value, key);
                    }
                })?;
                made
            }
        }
    }
}

#[cfg(test)]
mod tests;

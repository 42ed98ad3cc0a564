//! Indexes of a table that is loaded in bulk: they get their entries after the rows, sorted.
//!
//! A statement that adds many rows to an empty table leaves the entries of its indexes that are not unique for the end:
//! the table is *unsorted* until then. Its rows are read again, a chunk of entries is sorted, and added in order, so that each goes behind the one before
//! it instead of into a leaf of its own. While the table is unsorted no index that is not unique has any entry: changes
//! of rows, and their undoing, leave these indexes out. If adding entries fails, the table is as before, and the statement is undone.

use mayfly_memory::Result;

use super::content::{Content, Fixed, Scratch, entries_of};
use super::tree::{Position, Tree, push_id};

/// Number of rows of a first batch from which loading an empty table is worth the second pass.
const ROWS_MIN: usize = 512;
/// Bytes of memory that a table must have left: with less, its pages go to the file and back while its rows are read
/// again.
const ROOM_MIN: u64 = 1 << 20;
/// Most bytes of entries that are sorted at once, and the least, which are taken past every limit.
const CHUNK_MAX: u64 = 96 << 20;
const CHUNK_MIN: u64 = 32 << 10;
/// Number of entries between two evictions of a table that is larger than its memory.
const ENTRIES_UNRELIEVED: usize = 256;

/// An entry in a chunk: the first bytes, for comparisons, and its place.
#[derive(Debug, Clone, Copy)]
struct Entry {
    head: u64,
    start: u32,
    length: u32,
}

/// Entries that are sorted together.
#[derive(Debug, Default)]
struct Chunk {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl Chunk {
    fn push(&mut self, entry: &[u8]) {
        let mut head = [0; 8];
        let length = entry.len().min(8);
        head[..length].copy_from_slice(&entry[..length]);
        self.entries.push(Entry {
            head: u64::from_be_bytes(head),
            start: self.bytes.len() as u32,
            length: entry.len() as u32,
        });
        self.bytes.extend_from_slice(entry);
    }

    fn size(&self) -> u64 {
        (self.bytes.len() + self.entries.len() * size_of::<Entry>()) as u64
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let whole = |entry: &Entry| {
            let start = entry.start as usize;
            &bytes[start..start + entry.length as usize]
        };
        self.entries
            .sort_unstable_by(|a, b| a.head.cmp(&b.head).then_with(|| whole(a).cmp(whole(b))));
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }
}

impl Content {
    /// Leaves the entries of indexes for later if the table is empty and has memory, and a load begins with `rows` rows.
    pub(super) fn begin_load(&mut self, fixed: Fixed<'_>, rows: usize) {
        let is_sortable = fixed.shape.indexes.iter().any(|index| !index.unique);
        let has_room = fixed.pager.memory.available() >= ROOM_MIN;
        if rows >= ROWS_MIN && is_sortable && has_room && self.heap.len() == 0 {
            self.is_unsorted = true;
        }
    }

    /// Whether an index has no entries yet.
    #[inline]
    pub(super) fn is_left_out(&self, fixed: Fixed<'_>, index: usize) -> bool {
        self.is_unsorted && !fixed.shape.indexes[index].unique
    }

    /// Ends the state of an unsorted table that has no rows any more.
    pub(super) fn end_undone_load(&mut self) {
        if self.heap.len() == 0 {
            self.is_unsorted = false;
        }
    }

    /// Adds the entries of an unsorted table. After an error no index that is not unique has any.
    pub(super) fn sort_entries(&mut self, fixed: Fixed<'_>, scratch: &mut Scratch) -> Result<()> {
        if !self.is_unsorted {
            return Ok(());
        }
        let sorted = self.add_sorted_entries(fixed, scratch);
        if sorted.is_err() {
            for index in 0..self.trees.len() {
                if self.is_left_out(fixed, index) {
                    self.trees[index] = Tree::new();
                }
            }
        } else {
            self.is_unsorted = false;
        }
        sorted
    }

    fn add_sorted_entries(&mut self, fixed: Fixed<'_>, scratch: &mut Scratch) -> Result<()> {
        let pager = fixed.pager;
        let room = (pager.memory.available() / 2).clamp(CHUNK_MIN, CHUNK_MAX);
        let mut held = pager.memory.reservation();
        if held.try_grow(room).is_err() {
            held.grow_forced(CHUNK_MIN)?;
        }
        let most = held.bytes();
        let mut chunk = Chunk::default();
        for index in 0..self.trees.len() {
            if !self.is_left_out(fixed, index) {
                continue;
            }
            for page in 0..self.heap.page_numbers() {
                self.collect_entries(fixed, index, page, &mut chunk)?;
                // Vectors double when they grow.
                if chunk.size() >= most / 2 {
                    self.add_chunk(fixed, index, &mut chunk, scratch)?;
                }
            }
            self.add_chunk(fixed, index, &mut chunk, scratch)?;
        }
        Ok(())
    }

    /// Collects the entries of a page's rows in an index.
    fn collect_entries(
        &self,
        fixed: Fixed<'_>,
        index: usize,
        page: usize,
        chunk: &mut Chunk,
    ) -> Result<()> {
        fixed.pager.check_interrupt()?;
        let Some(view) = self.heap.view(fixed.pager, page)? else {
            return Ok(());
        };
        let bytes = view.bytes();
        let width = fixed.shape.layout.width;
        // Long values are read back only for an index that has some.
        let layout = &fixed.shape.layout;
        let is_text = |column: usize| {
            let offset = layout.cells()[column].offset;
            layout.bytes_cells.iter().any(|cell| cell.offset == offset)
        };
        let mut parts = fixed.shape.indexes[index].parts.iter();
        let has_text = parts.any(|part| is_text(part.column));
        let mut failed = None;
        let mut key = Vec::new();
        self.heap.rows_of(page, bytes, 0, |id, row| {
            let offset = row as usize - bytes.as_ptr() as usize;
            let row = &bytes[offset..offset + width];
            let loaded = match has_text
                .then(|| self.load_overflowed(fixed, row))
                .transpose()
            {
                Ok(loaded) => loaded,
                Err(error) => {
                    failed = Some(error);
                    return false;
                }
            };
            entries_of(
                fixed.shape,
                index,
                (row, self.resolver()),
                &mut key,
                |key| {
                    push_id(key, id);
                    chunk.push(key);
                },
            );
            drop(loaded);
            true
        });
        failed.map_or(Ok(()), Err)
    }

    /// Adds a chunk of entries to an index, in order.
    fn add_chunk(
        &mut self,
        fixed: Fixed<'_>,
        index: usize,
        chunk: &mut Chunk,
        scratch: &mut Scratch,
    ) -> Result<()> {
        chunk.sort();
        for entries in chunk.entries.chunks(ENTRIES_UNRELIEVED) {
            self.relieve(fixed.pager)?;
            for entry in entries {
                let start = entry.start as usize;
                let entry = &chunk.bytes[start..start + entry.length as usize];
                let tree = &mut self.trees[index];
                tree.insert(fixed.pager, entry, Position::UNKNOWN, scratch.page())?;
            }
        }
        chunk.clear();
        Ok(())
    }
}

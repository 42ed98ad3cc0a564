//! Memory accounting of ENGINE=MEMORY: rows of fixed length, and when the table is full.
//!
//! The account counts as MySQL does, whatever the rows really need, so that a table is full at the same row in both.
//! Rows and the entries of hash indexes are allocated in blocks of a tenth of the rows that `max_heap_table_size` has
//! room for, but not many more bytes than `read_buffer_size`: so a table with one row is reported with that size.
//! Blocks are leaves of a tree whose nodes are counted too. An ordered index counts each entry with the bytes of its
//! values. A deleted row's slot is reused by the next one; only an emptied table frees memory.

use std::fmt;

use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType};

use super::content::{Shape, value_bytes, view_of};
use crate::table::DeclaredSize;
use crate::temptable::rows::Resolver;

/// Number of addresses in a node of the tree of blocks.
const NODE_FANOUT: u64 = 128;
const NODE_BYTES: u64 = NODE_FANOUT * 8;
/// Part of a block's size that is left for nodes: one for each possible level of the tree.
const STEP_RESERVE: u64 = 4 * NODE_BYTES;
/// Minimum number of rows in a block.
const BLOCK_ROWS_MIN: u64 = 10;
/// Assumed number of rows of a table whose limit has room for none.
const ROWS_UNKNOWN: u64 = 1000;
/// Bytes of a hash index entry: the next one, the row and the hash.
const HASH_ENTRY: u64 = 24;
/// Bytes of an ordered index entry beside its key: the node and the row's address.
const TREE_ENTRY: u64 = 24 + 8;
const ADDRESS: u64 = 8;

/// Limits and sizes by which the MEMORY engine counts bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Bytes of a row by its declaration: a VARCHAR counts with its full length.
    pub row_bytes: u64,
    /// The indexes, in the order of the table's.
    pub indexes: Vec<MemoryIndex>,
    /// `max_heap_table_size` of the session that created the table.
    pub max_bytes: u64,
    /// `read_buffer_size`: upper limit of a block in bytes, about.
    pub step_bytes: u64,
    /// MAX_ROWS, or 0.
    pub max_rows: u64,
    /// MIN_ROWS, or 0.
    pub min_rows: u64,
}

/// How an index is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryIndex {
    /// USING HASH.
    Hash,
    /// USING BTREE.
    Tree(Vec<MemoryKeyPart>),
}

/// Column of an ordered index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryKeyPart {
    /// Index of the column.
    pub column: usize,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Bytes in a key by the declaration of the column or its prefix.
    pub bytes: u64,
    /// Prefix length in characters; `None`: the whole string.
    pub prefix: Option<u32>,
    /// How a value of varying length is counted.
    pub varying: Option<VaryingBytes>,
}

/// Conversion from a string's length in UTF-8 to its length in the column's character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaryingBytes {
    /// The lengths are equal.
    Same,
    /// Each character takes this many bytes.
    EachCharacter(u64),
}

impl MemoryKeyPart {
    /// Bytes of the longest value; a string's include the two of its length.
    fn longest(&self) -> u64 {
        let length = if self.varying.is_some() { 2 } else { 0 };
        self.bytes + length + u64::from(self.nullable)
    }

    /// The part of a string that is in the key.
    fn in_key<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        let end = self
            .prefix
            .and_then(|prefix| starts(value).nth(prefix as usize));
        &value[..end.unwrap_or(value.len())]
    }

    fn of_row(&self, shape: &Shape, row: &[u8], resolver: Resolver<'_>) -> u64 {
        let cell = &shape.layout.cells()[self.column];
        if self.nullable && row[cell.null_byte] & cell.null_mask != 0 {
            return 1;
        }
        let value = match self.varying {
            Some(varying) if cell.ty == PhysicalType::Bytes => {
                let view = view_of(cell, row);
                let value = self.in_key(value_bytes(resolver, &view));
                let bytes = match varying {
                    VaryingBytes::Same => value.len() as u64,
                    VaryingBytes::EachCharacter(bytes) => starts(value).count() as u64 * bytes,
                };
                let bytes = bytes.min(self.bytes);
                bytes + if bytes < 255 { 1 } else { 3 }
            }
            _ => self.bytes,
        };
        value + u64::from(self.nullable)
    }
}

/// Offsets of the characters of UTF-8.
fn starts(value: &[u8]) -> impl Iterator<Item = usize> {
    let begins = |(_, byte): &(usize, &u8)| **byte & 0xC0 != 0x80;
    value
        .iter()
        .enumerate()
        .filter(begins)
        .map(|(offset, _)| offset)
}

/// Blocks of elements of one length.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    length: u64,
    per_block: u64,
}

impl Blocks {
    fn new(length: u64, most: u64, step: u64) -> Self {
        let most = if most == 0 { ROWS_UNKNOWN } else { most };
        let per_block = (most / 10).max(BLOCK_ROWS_MIN);
        let step = step.saturating_sub(STEP_RESERVE);
        let per_block = if per_block.saturating_mul(length) > step {
            step / length + 1
        } else {
            per_block
        };
        Self { length, per_block }
    }

    /// Bytes of the blocks for `count` elements, with their tree nodes.
    fn bytes(&self, count: u64) -> u64 {
        let blocks = count.div_ceil(self.per_block);
        let block = self.per_block.saturating_mul(self.length);
        let mut bytes = blocks.saturating_mul(block);
        // Every block but the first needs an address in a node, every node but the first another one.
        let mut nodes = blocks.saturating_sub(1);
        while nodes > 0 {
            bytes = bytes.saturating_add(nodes.saturating_mul(NODE_BYTES));
            nodes /= NODE_FANOUT;
        }
        bytes
    }
}

/// Account of one table.
#[derive(Debug)]
pub(super) struct Account {
    limits: MemoryLimits,
    /// Maximum number of rows by `max_bytes` and `max_rows`; 0 if not even one fits, so that bytes decide alone.
    most_rows: u64,
    rows: Blocks,
    entries: Blocks,
    hashes: u64,
    /// Number of slots ever allocated; `free`: of these, slots of deleted rows.
    slots: u64,
    free: u64,
    /// Maximum number of rows that hash indexes ever held.
    hashed: u64,
    /// Bytes of the entries of ordered indexes.
    tree_bytes: u64,
}

impl Account {
    pub(super) fn new(limits: &MemoryLimits) -> Self {
        let is_hash = |index: &&MemoryIndex| **index == MemoryIndex::Hash;
        let hashes = limits.indexes.iter().filter(is_hash).count() as u64;
        let index_bytes = limits.indexes.iter().map(|index| match index {
            MemoryIndex::Hash => HASH_ENTRY,
            MemoryIndex::Tree(parts) => {
                TREE_ENTRY + parts.iter().map(MemoryKeyPart::longest).sum::<u64>()
            }
        });
        let per_row = (limits.row_bytes + 1).next_multiple_of(8) + index_bytes.sum::<u64>();
        let fitting = limits.max_bytes / per_row;
        let most_rows = match limits.max_rows {
            0 => fitting,
            rows => rows.min(fitting),
        };
        // A deleted row holds the address of the next one, and a flag byte.
        let length = (limits.row_bytes.max(ADDRESS) + 1).next_multiple_of(8);
        let most = most_rows.max(limits.min_rows);
        Self {
            most_rows,
            rows: Blocks::new(length, most, limits.step_bytes),
            entries: Blocks::new(HASH_ENTRY, most, limits.step_bytes),
            limits: limits.clone(),
            hashes,
            slots: 0,
            free: 0,
            hashed: 0,
            tree_bytes: 0,
        }
    }

    /// The size figures that the engine reports.
    pub(super) fn size(&self) -> DeclaredSize {
        let row_bytes = self.limits.row_bytes.max(ADDRESS);
        let hash_bytes = self.entries.bytes(self.hashed);
        DeclaredSize {
            row_bytes,
            data_bytes: self.rows.bytes(self.slots),
            max_data_bytes: self.most_rows.saturating_mul(row_bytes),
            index_bytes: hash_bytes.saturating_mul(self.hashes) + self.tree_bytes,
            free_bytes: self.free.saturating_mul(row_bytes),
        }
    }

    /// Takes a slot for a row, of a deleted one or a new one; error 1114 when a new block is needed and the table is
    /// full.
    pub(super) fn take_slot(&mut self, table: &str) -> Result<(), Error> {
        if self.free > 0 {
            self.free -= 1;
            return Ok(());
        }
        if self.slots.is_multiple_of(self.rows.per_block)
            && let Some(full) = self.full()
        {
            return Err(codes::ER_RECORD_FILE_FULL_LIMIT.with(&[&table, &full]));
        }
        self.slots += 1;
        Ok(())
    }

    /// Returns the slot of a row that was not added, or is deleted.
    pub(super) fn free_slot(&mut self) {
        self.free += 1;
    }

    fn full(&self) -> Option<Full> {
        let size = self.size();
        let used = size.data_bytes.saturating_add(size.index_bytes);
        if used >= self.limits.max_bytes {
            return Some(Full {
                setting: "max_heap_table_size",
                limit: self.limits.max_bytes,
                unit: "bytes",
                used,
            });
        }
        let is_over = self.most_rows > 0 && self.slots > self.most_rows;
        is_over.then_some(Full {
            setting: "MAX_ROWS",
            limit: self.limits.max_rows,
            unit: "rows",
            used: self.slots,
        })
    }

    /// Bytes of a row's entries in ordered indexes.
    pub(super) fn entry_bytes(&self, shape: &Shape, row: &[u8], resolver: Resolver<'_>) -> u64 {
        let of_index = |index: &MemoryIndex| match index {
            MemoryIndex::Hash => 0,
            MemoryIndex::Tree(parts) => {
                let parts = parts.iter().map(|part| part.of_row(shape, row, resolver));
                TREE_ENTRY + parts.sum::<u64>()
            }
        };
        if self.hashes == self.limits.indexes.len() as u64 {
            0
        } else {
            self.limits.indexes.iter().map(of_index).sum()
        }
    }

    /// Counts entries of ordered indexes, `come` bytes added and `gone` bytes removed, and sets the number of rows.
    pub(super) fn change_entries(&mut self, rows: u64, come: u64, gone: u64) {
        self.hashed = self.hashed.max(rows);
        self.tree_bytes = (self.tree_bytes + come).saturating_sub(gone);
    }

    /// Resets the account of an emptied table.
    pub(super) fn clear(&mut self) {
        (self.slots, self.free, self.hashed, self.tree_bytes) = (0, 0, 0, 0);
    }
}

/// Limit that was reached.
#[derive(Debug)]
struct Full {
    setting: &'static str,
    limit: u64,
    unit: &'static str,
    used: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            setting,
            limit,
            unit,
            used,
        } = self;
        write!(
            f,
            "{setting} = {limit} {unit} when the table was made, {used} in use; raise {setting} and \
             make the table anew (ALTER TABLE … ENGINE = MEMORY), or use ENGINE = InnoDB"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a table; returns the number of rows, and the reported sizes.
    fn fill(limits: &MemoryLimits, entry: u64) -> (u64, u64, u64) {
        let mut account = Account::new(limits);
        let mut rows = 0;
        while account.take_slot("t").is_ok() {
            rows += 1;
            account.change_entries(rows, entry, 0);
        }
        let size = account.size();
        (rows, size.data_bytes, size.index_bytes)
    }

    fn limits(row_bytes: u64, indexes: Vec<MemoryIndex>, max_bytes: u64) -> MemoryLimits {
        MemoryLimits {
            row_bytes,
            indexes,
            max_bytes,
            step_bytes: 128 << 10,
            max_rows: 0,
            min_rows: 0,
        }
    }

    fn tree(bytes: u64, nullable: bool, varying: bool) -> MemoryIndex {
        MemoryIndex::Tree(vec![MemoryKeyPart {
            column: 0,
            nullable,
            bytes,
            prefix: None,
            varying: varying.then_some(VaryingBytes::Same),
        }])
    }

    #[test]
    fn a_table_is_full_with_the_row_with_which_mysql_is() {
        use MemoryIndex::Hash;
        // Rows, Data_length and Index_length of MySQL 9.7 when INSERT … SELECT gave 1114.
        let kib_256 = 256 << 10;
        assert_eq!(fill(&limits(5, vec![], kib_256), 0), (16380, 266_176, 0));
        assert_eq!(fill(&limits(17, vec![], kib_256), 0), (10920, 271_296, 0));
        assert_eq!(fill(&limits(307, vec![], kib_256), 0), (840, 271_296, 0));
        let one = fill(&limits(5, vec![Hash], kib_256), 0);
        assert_eq!(one, (6552, 112_000, 164_416));
        let two = fill(&limits(805, vec![Hash, Hash], kib_256), 0);
        assert_eq!(two, (300, 251_616, 32832));
        let ordered = fill(&limits(5, vec![tree(4, false, false)], kib_256), 36);
        assert_eq!(ordered, (5355, 93872, 192_780));
        let small = fill(&limits(46, vec![Hash], 16 << 10), 0);
        assert_eq!(small, (132, 11456, 8288));
        // No row fits, and at most ten.
        assert_eq!(fill(&limits(40007, vec![], 16384), 0), (4, 160_032, 0));
        assert_eq!(fill(&limits(8007, vec![], 16384), 0), (10, 80080, 0));
    }

    #[test]
    fn declared_numbers_of_rows_count() {
        let few = MemoryLimits {
            max_rows: 1000,
            ..limits(46, vec![MemoryIndex::Hash], 1 << 20)
        };
        assert_eq!(fill(&few, 0), (1100, 63040, 36640));
        let many = MemoryLimits {
            min_rows: 100_000,
            ..limits(5, vec![MemoryIndex::Hash], 256 << 10)
        };
        assert_eq!(fill(&many, 0), (7937, 126_992, 254_992));
    }

    #[test]
    fn one_row_takes_a_step_and_a_deleted_row_leaves_its_slot() {
        let indexes = vec![MemoryIndex::Hash, tree(40, true, true)];
        let mut account = Account::new(&limits(46, indexes, 16 << 20));
        assert_eq!(account.size().data_bytes, 0);
        account.take_slot("t").unwrap();
        account.change_entries(1, 35, 0);
        let size = account.size();
        let full = (size.data_bytes, size.index_bytes, size.max_data_bytes);
        assert_eq!(full, (127_008, 126_984 + 35, 5_249_980));
        account.free_slot();
        account.change_entries(0, 0, 35);
        let size = account.size();
        assert_eq!((size.data_bytes, size.index_bytes), (127_008, 126_984));
        assert_eq!(size.free_bytes, 46);
        account.take_slot("t").unwrap();
        assert_eq!(account.size().free_bytes, 0);
        account.clear();
        assert_eq!(account.size().data_bytes, 0);
    }

    #[test]
    fn a_key_has_the_characters_of_its_prefix() {
        let part = MemoryKeyPart {
            column: 0,
            nullable: false,
            bytes: 8,
            prefix: Some(2),
            varying: Some(VaryingBytes::Same),
        };
        assert_eq!(part.in_key("äöü".as_bytes()), "äö".as_bytes());
        assert_eq!(part.in_key(b"a"), b"a");
        assert_eq!(part.longest(), 10);
    }

    #[test]
    fn many_blocks_have_nodes_over_nodes() {
        let blocks = Blocks {
            length: 8,
            per_block: 10,
        };
        let nodes = |count: u64| (blocks.bytes(count * 10) - count * 80) / NODE_BYTES;
        assert_eq!((nodes(1), nodes(2), nodes(128)), (0, 1, 127));
        // The 129th block needs a second node, and that one a node above it.
        assert_eq!((nodes(129), nodes(130), nodes(257)), (129, 130, 258));
    }
}

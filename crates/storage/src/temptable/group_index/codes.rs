//! Grouping by several columns through codes: each column's values are numbered on their own, which is quick where
//! they repeat or are integers that lie close together, and the codes of a row together are the index of its group in
//! an array. As long as every column has few values this needs no hash of a whole key, and no comparison, however many
//! combinations there are.
//!
//! An array index has some bits for the code of each column, as many as its values need so far. When a column outgrows
//! its bits the groups move to another array.

#![expect(unsafe_code, reason = "a block seen as numbers")]

use arrow_array::ArrayRef;
use mayfly_memory::{Block, BlockPool, Budget};
use mayfly_types::Result;

use super::GroupIndex;

/// Binary logarithm of the array's maximum length: 4 MiB.
const BITS_MAX: u32 = 20;
/// Initial number of bits of a column.
const COLUMN_BITS_MIN: u32 = 2;
/// Maximum number of columns: more are not worth a pass over each.
const COLUMNS_MAX: usize = 4;
/// Minimum memory limit of the groups in bytes for codes and known values, which need memory, too.
const LIMIT_MIN: u64 = 4 << 20;
/// Denominator: the codes take at most this part of the memory limit, since the groups need the rest.
const LIMIT_SHARE: u64 = 8;

/// Number of combinations that may be new without repeats ...
const CREDIT: i64 = 16 << 10;
/// ... and one more for this many rows of known combinations.
const KNOWN_A_MISS: i64 = 4;

/// Codes of the values of each column, and the groups of their combinations.
pub(super) struct GroupCodes {
    columns: Vec<Column>,
    groups: Places,
    pool: BlockPool,
    budget: Budget,
    /// Array indexes of the rows of a batch.
    places: Vec<u32>,
    /// Number of further new combinations before the attempt ends.
    credit: i64,
}

struct Column {
    values: GroupIndex,
    bits: u32,
    /// Codes of the values of a batch.
    codes: Vec<u32>,
}

/// Array from combinations of codes to their group plus one, or 0.
struct Places {
    block: Block,
    count: usize,
}

impl Places {
    fn new(bits: u32, pool: &BlockPool, budget: &Budget) -> Option<Self> {
        let bytes = size_of::<u32>() << bits;
        if bits > BITS_MAX || bytes as u64 > budget.effective_limit() / LIMIT_SHARE {
            return None;
        }
        let mut block = pool.take(bytes, budget).ok()?;
        block.as_mut_slice()[..bytes].fill(0);
        Some(Self {
            block,
            count: 1 << bits,
        })
    }

    fn groups(&mut self) -> &mut [u32] {
        // SAFETY: the block is aligned to a page and holds `count` initialised numbers; `&mut self` makes the
        // access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().cast(), self.count) }
    }
}

impl GroupCodes {
    /// Whether keys of `columns` columns may be encoded by codes.
    pub(super) fn is_possible(columns: usize) -> bool {
        (2..=COLUMNS_MAX).contains(&columns)
    }

    /// Whether there is memory for lookups without a hash.
    pub(super) fn has_memory(budget: &Budget) -> bool {
        budget.effective_limit() >= LIMIT_MIN
    }

    /// Codes of columns whose values these indexes number.
    pub(super) fn new(columns: Vec<GroupIndex>, pool: &BlockPool, budget: &Budget) -> Option<Self> {
        let groups = Places::new(COLUMN_BITS_MIN * columns.len() as u32, pool, budget)?;
        let columns = columns.into_iter().map(|values| Column {
            values,
            bits: COLUMN_BITS_MIN,
            codes: Vec::new(),
        });
        Some(Self {
            columns: columns.collect(),
            groups,
            pool: pool.clone(),
            budget: budget.clone(),
            places: Vec::new(),
            credit: CREDIT,
        })
    }

    /// Whether combinations have repeated so far.
    pub(super) fn is_of_use(&self) -> bool {
        self.credit >= 0
    }

    /// Finds the array indexes of rows, and the first rows of combinations that have no group yet; `None` when a
    /// column has too many values, or values that do not repeat.
    pub(super) fn find(&mut self, keys: &[ArrayRef], row_count: usize) -> Result<Option<Vec<u32>>> {
        for (column, key) in self.columns.iter_mut().zip(keys) {
            let key = std::slice::from_ref(key);
            let values = &mut column.values;
            let taken = values.find_or_insert(key, row_count, &mut column.codes)?;
            if taken < row_count || !values.is_quick() {
                return Ok(None);
            }
        }
        if self.memory_bytes() > self.budget.effective_limit() / LIMIT_SHARE || !self.make_room() {
            return Ok(None);
        }
        self.places.clear();
        self.places.resize(row_count, 0);
        let mut shift = 0;
        for column in &self.columns {
            for (place, code) in self.places.iter_mut().zip(&column.codes) {
                *place |= code << shift;
            }
            shift += column.bits;
        }
        let groups = self.groups.groups();
        let mut first_rows = Vec::new();
        for (place, row) in self.places.iter().zip(0_u32..) {
            let group = &mut groups[*place as usize];
            if *group == 0 {
                first_rows.push(row);
                *group = u32::MAX;
            }
        }
        let (new, rows) = (first_rows.len() as i64, row_count as i64);
        self.credit = CREDIT.min(self.credit - new + (rows - new) / KNOWN_A_MISS);
        Ok(Some(first_rows))
    }

    /// Gives each column enough bits for its values; false when the array would be too long.
    fn make_room(&mut self) -> bool {
        let needed = |column: &Column| {
            let values = column.values.group_count().max(1) as u32;
            column.bits.max(u32::BITS - (values - 1).leading_zeros())
        };
        let wanted: Vec<u32> = self.columns.iter().map(needed).collect();
        if self
            .columns
            .iter()
            .map(|column| column.bits)
            .eq(wanted.iter().copied())
        {
            return true;
        }
        let (pool, budget) = (&self.pool, &self.budget);
        let Some(mut larger) = Places::new(wanted.iter().sum(), pool, budget) else {
            return false;
        };
        for (place, group) in self.groups.groups().iter().enumerate() {
            if *group == 0 {
                continue;
            }
            let (mut rest, mut moved, mut shift) = (place, 0, 0);
            for (column, wanted) in self.columns.iter().zip(&wanted) {
                moved |= (rest & ((1 << column.bits) - 1)) << shift;
                rest >>= column.bits;
                shift += wanted;
            }
            larger.groups()[moved] = *group;
        }
        self.groups = larger;
        for (column, wanted) in self.columns.iter_mut().zip(wanted) {
            column.bits = wanted;
        }
        true
    }

    /// Sets the groups of new combinations, of which those behind the last one got none, and sets `ids` to the groups
    /// of the rows before the first such one. [`GroupIndex::NO_GROUP`] stays without a group.
    pub(super) fn finish(
        &mut self,
        first_rows: &[u32],
        new_groups: &[u32],
        ids: &mut Vec<u32>,
    ) -> usize {
        let groups = self.groups.groups();
        for (number, row) in first_rows.iter().enumerate() {
            let group = new_groups
                .get(number)
                .copied()
                .unwrap_or(GroupIndex::NO_GROUP);
            groups[self.places[*row as usize] as usize] = group.wrapping_add(1);
        }
        // First rows ascend.
        let count = match first_rows.get(new_groups.len()) {
            Some(row) => *row as usize,
            None => self.places.len(),
        };
        ids.clear();
        let places = self.places[..count].iter();
        ids.extend(places.map(|place| groups[*place as usize].wrapping_sub(1)));
        count
    }

    /// Removes all groups; the columns keep their codes.
    pub(super) fn clear(&mut self) {
        self.groups.groups().fill(0);
    }

    /// Memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let columns = self.columns.iter();
        let columns: u64 = columns.map(|column| column.values.memory_bytes()).sum();
        self.groups.block.len() as u64 + columns
    }
}

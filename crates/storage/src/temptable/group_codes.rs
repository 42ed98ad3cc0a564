//! Groups of several key columns by codes: each column's values are numbered on their own, which is quick
//! where they repeat or are whole numbers that lie close together, and the numbers of a row together are
//! the place of its group in an array. As long as every column has few values that needs no hash of a whole
//! key, and no comparison, however many of their combinations there are.

#![expect(unsafe_code, reason = "a block seen as numbers")]

use arrow_array::ArrayRef;
use mayfly_memory::{Block, BlockPool, Budget};
use mayfly_types::Result;

use super::group_index::GroupIndex;

/// The array has so many places, as a power of two: 4 MiB.
const BITS: u32 = 20;
/// More columns would leave each of them too few values.
const COLUMNS_MAX: usize = 4;
/// The array takes no more than this part of the memory limit: the groups need the rest.
const LIMIT_SHARE: u64 = 8;

/// Numbers of the values of each column, and the groups of their combinations; see the module.
pub(super) struct GroupCodes {
    columns: Vec<GroupIndex>,
    /// Bits of the place that each column has.
    column_bits: u32,
    /// For each combination one more than its group, or 0.
    block: Block,
    codes: Vec<u32>,
    /// The places of the rows of a batch.
    places: Vec<u32>,
}

/// The rows of a batch that are the first ones of combinations without a group.
pub(super) struct NewCombinations {
    pub(super) first_rows: Vec<u32>,
}

impl GroupCodes {
    /// Whether keys of so many columns may have codes.
    pub(super) fn is_possible(columns: usize) -> bool {
        (2..=COLUMNS_MAX).contains(&columns)
    }

    /// Of columns that these indexes number.
    pub(super) fn new(columns: Vec<GroupIndex>, pool: &BlockPool, budget: &Budget) -> Option<Self> {
        let bytes = size_of::<u32>() << BITS;
        if bytes as u64 > budget.effective_limit() / LIMIT_SHARE {
            return None;
        }
        let mut block = pool.take(bytes, budget).ok()?;
        block.as_mut_slice()[..bytes].fill(0);
        Some(Self {
            column_bits: BITS / u32::try_from(columns.len()).ok()?,
            columns,
            block,
            codes: Vec::new(),
            places: Vec::new(),
        })
    }

    fn groups(&mut self) -> &mut [u32] {
        // SAFETY: the block is aligned to a page and holds 2^BITS initialised numbers; `&mut self` makes the
        // access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().cast(), 1 << BITS) }
    }

    /// Finds the places of rows, and those that have no group yet; `None` when a column has too many values, or
    /// values that do not repeat.
    pub(super) fn find(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
    ) -> Result<Option<NewCombinations>> {
        self.places.clear();
        self.places.resize(row_count, 0);
        for (number, (column, key)) in self.columns.iter_mut().zip(keys).enumerate() {
            let key = std::slice::from_ref(key);
            let taken = column.find_or_insert(key, row_count, &mut self.codes)?;
            let has_few = column.group_count() <= 1 << self.column_bits;
            if taken < row_count || !has_few || !column.is_quick() {
                return Ok(None);
            }
            let shift = self.column_bits * number as u32;
            for (place, code) in self.places.iter_mut().zip(&self.codes) {
                *place |= code << shift;
            }
        }
        let places = std::mem::take(&mut self.places);
        let groups = self.groups();
        let mut first_rows = Vec::new();
        for (row, place) in places.iter().enumerate() {
            let group = &mut groups[*place as usize];
            if *group == 0 {
                first_rows.push(row as u32);
                *group = u32::MAX;
            }
        }
        self.places = places;
        Ok(Some(NewCombinations { first_rows }))
    }

    /// Sets the groups of new combinations, of which those behind the last one got none, and puts the groups
    /// of the rows before the first such one into `ids`.
    pub(super) fn finish(
        &mut self,
        new: &NewCombinations,
        new_groups: &[u32],
        ids: &mut Vec<u32>,
    ) -> usize {
        let places = std::mem::take(&mut self.places);
        let groups = self.groups();
        for (number, row) in new.first_rows.iter().enumerate() {
            let group = new_groups.get(number).map_or(0, |group| group + 1);
            groups[places[*row as usize] as usize] = group;
        }
        // First rows rise.
        let count = match new.first_rows.get(new_groups.len()) {
            Some(row) => *row as usize,
            None => places.len(),
        };
        ids.clear();
        ids.extend(
            places[..count]
                .iter()
                .map(|place| groups[*place as usize] - 1),
        );
        self.places = places;
        count
    }

    /// Forgets all groups; the columns keep their codes.
    pub(super) fn clear(&mut self) {
        self.groups().fill(0);
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> u64 {
        let columns: u64 = self.columns.iter().map(GroupIndex::memory_bytes).sum();
        self.block.len() as u64 + columns
    }
}

//! Set of row keys in the pages of a tree, which go to a temporary file when memory is short.

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use mayfly_memory::{Budget, Result};
use mayfly_types::PhysicalType;

use super::pages::Pager;
use super::tree::{Tree, shorten_key};
use crate::key_encoding::KeyEncoder;
use crate::table::IndexPart;
use crate::temptable::KeyMode;
use crate::temptable::context::{Resources, TempTableContext};

/// Set of row keys.
pub(crate) struct KeySet {
    tree: Tree,
    pager: Pager,
    encoder: KeyEncoder,
    scratch: Vec<u8>,
    /// Concatenated keys of a batch, and the end of each.
    keys: Vec<u8>,
    ends: Vec<usize>,
    order: Vec<u32>,
}

impl KeySet {
    /// An empty set for rows of these columns, all of which are compared.
    pub(crate) fn new(
        resources: Resources,
        memory: Budget,
        temp_space: Budget,
        columns: &[PhysicalType],
        modes: &[KeyMode],
    ) -> Self {
        let parts = modes.iter().enumerate();
        let parts: Vec<_> = parts
            .map(|(column, mode)| IndexPart::new(column, *mode))
            .collect();
        Self {
            tree: Tree::new(),
            pager: Pager::new(resources, memory, temp_space, true),
            encoder: KeyEncoder::new(columns, &parts),
            scratch: Vec::new(),
            keys: Vec::new(),
            ends: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Adds the keys of rows; selects the rows whose keys were absent, also from earlier rows of the batch. Checks
    /// before each key whether the statement is to end.
    pub(crate) fn add(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        context: &TempTableContext,
    ) -> Result<BooleanBuffer> {
        self.encode(columns, rows);
        let mut is_new = BooleanBufferBuilder::new(rows);
        is_new.append_n(rows, false);
        // Adjacent keys are in one page, which is read once.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..rows as u32);
        order.sort_by(|a, b| self.key(*a as usize).cmp(self.key(*b as usize)));
        for row in &order {
            context.check_interrupt()?;
            let row = *row as usize;
            if self.add_key(row, context)? {
                is_new.set_bit(row, true);
            }
        }
        self.order = order;
        Ok(is_new.finish())
    }

    fn encode(&mut self, columns: &[ArrayRef], rows: usize) {
        self.keys.clear();
        self.ends.clear();
        let encoded = self.encoder.rows(columns);
        let mut key = std::mem::take(&mut self.scratch);
        for row in 0..rows {
            key.clear();
            encoded.append(row, &mut key);
            shorten_key(&mut key);
            self.keys.extend_from_slice(&key);
            self.ends.push(self.keys.len());
        }
        self.scratch = key;
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[row]]
    }

    /// Adds the key of a row of the batch; returns whether it was absent.
    fn add_key(&mut self, row: usize, context: &TempTableContext) -> Result<bool> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let key = &self.keys[start..self.ends[row]];
        let (at, found) = self.tree.find(&self.pager, key)?;
        if found.is_none() {
            self.tree.insert(&self.pager, key, at, &mut self.scratch)?;
        }
        self.relieve(context)?;
        Ok(found.is_none())
    }

    /// Evicts pages when the limit was passed, one by one, so that the statement can end between them.
    fn relieve(&mut self, context: &TempTableContext) -> Result<()> {
        if !self.pager.is_pressed() {
            return Ok(());
        }
        let Some(wanted) = self.pager.excess() else {
            return Ok(());
        };
        let (mut freed, mut any) = (0, false);
        while freed < wanted {
            context.check_interrupt()?;
            match self.tree.pages_mut().evict(&self.pager, 1, any)? {
                0 if any => break,
                0 => any = true,
                page => freed += page,
            }
        }
        Ok(())
    }
}

//! Key lookups by a writer, for foreign keys.
//!
//! They see the newest rows and lock them until the transaction ends: transactions that are about to add or remove
//! such a row are waited for.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::table::writer::DurableWriter;
use crate::key_encoding::ByteRange;
use crate::table::{IndexId, LockMode, no_index};

impl DurableWriter {
    /// Implements [`crate::TableWriter::find`].
    pub(super) fn find_now(
        &mut self,
        index: IndexId,
        key: &[ArrayRef],
        mode: LockMode,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        self.leave_bulk()?;
        self.is_new = false;
        let definition = Arc::clone(&self.table.definition);
        let tree = definition.index(index).ok_or_else(no_index)?;
        let mut prefix = Vec::new();
        tree.encoder.parts(key).append(0, &mut prefix);
        if tree.unique && key.len() == tree.encoder.part_count() {
            // A transaction that is adding a row with this key holds a lock on the key.
            self.lock(tree.tree, &prefix, mode)?;
        }
        let mut range = ByteRange::prefix(&prefix);
        let mut found: Vec<Vec<u8>> = Vec::new();
        let mut locked: Option<Vec<u8>> = None;
        while found.len() < limit {
            self.refresh()?;
            let Some((key, is_committed)) = self.first_in(tree.tree, &range)? else {
                break;
            };
            let position = if definition.is_clustered(index) {
                key.clone()
            } else {
                key[tree.encoder.key_length(&key)..].to_vec()
            };
            if is_committed && locked.as_ref() != Some(&position) {
                // A transaction that is removing the row holds a lock on it.
                self.lock(definition.rows(), &position, mode)?;
                locked = Some(position);
                continue;
            }
            found.push(position);
            range.start = key;
            range.start.push(0);
        }
        Ok(found)
    }
}

//! Making room for new block keys by changing the ordinals of their neighbours.

use mayfly_types::Result;

use super::file_writer::FileWriter;
use crate::base::block::Damaged;
use crate::base::block_key::{Group, NewKeys, ORDINAL_BYTES, ORDINALS, PREFIX_BYTES, group_key};
use crate::base::record_key::record_key;

impl NewKeys {
    /// [`Self::advance`], but blocks without room between them may get other keys. The last block is already written.
    pub(super) fn advance_in(
        &mut self,
        writer: &mut FileWriter<'_>,
        separator: &[u8],
        count: usize,
    ) -> Result<()> {
        if self.advance(separator, count) {
            return Ok(());
        }
        self.make_room(writer, &separator[..PREFIX_BYTES], count as u64)?;
        if self.advance(separator, count) {
            Ok(())
        } else {
            Err(Damaged.into())
        }
    }

    /// Changes the ordinals of blocks of a group to make room for `count` keys behind the last block.
    fn make_room(&mut self, writer: &mut FileWriter<'_>, prefix: &[u8], count: u64) -> Result<()> {
        let left = self.ordinal_in(self.last.get(4..), prefix);
        let mut window = Vec::new();
        for bits in 1..=8 * ORDINAL_BYTES {
            let size: u64 = 1 << bits;
            let base = left.unwrap_or(0) & !(size - 1);
            window.clear();
            self.ordinals(writer, prefix, base..base + size, &mut window)?;
            let all = window.len() as u64 + count + 1;
            let is_sparse = all.saturating_mul(all) <= size;
            if !is_sparse && (size < ORDINALS || all > size) {
                continue;
            }
            let step = size / all;
            let before = window.partition_point(|(ordinal, _)| Some(*ordinal) <= left);
            let moved = |index: usize| {
                let skipped = if index < before { 0 } else { count };
                base + step * (index as u64 + 1 + skipped)
            };
            // A new ordinal is free once the blocks that occupy it have moved.
            let goes_down = |index: &usize| moved(*index) <= window[*index].0;
            let down = (0..window.len()).filter(goes_down);
            let up = (0..window.len()).rev().filter(|index| !goes_down(index));
            for index in down.chain(up) {
                let (ordinal, length) = window[index];
                let mut old = group_key(self.tree, prefix, ordinal);
                old.truncate(length);
                let new = group_key(self.tree, prefix, moved(index));
                if old != new {
                    move_record(writer, &old, &new)?;
                }
            }
            if let Some(last) = before.checked_sub(1) {
                self.last = group_key(self.tree, prefix, moved(last));
            }
            let next = moved(before).min(ORDINALS - 1);
            self.next = Some(group_key(self.tree, prefix, next)[4..].to_vec());
            return Ok(());
        }
        Err(Damaged.into())
    }

    /// The ordinals in use, and the lengths of their keys.
    fn ordinals(
        &self,
        writer: &FileWriter<'_>,
        prefix: &[u8],
        range: std::ops::Range<u64>,
        out: &mut Vec<(u64, usize)>,
    ) -> Result<()> {
        let all = writer.read();
        let failed = |error: heed::Error| writer.environment().error(&error);
        let group = Group {
            all,
            tree: self.tree,
            prefix,
        };
        // A shorter key with an equal ordinal sorts before it.
        let mut start = group_key(self.tree, prefix, range.start);
        while start.len() > 4 + PREFIX_BYTES + 1 && start.last() == Some(&0) {
            start.pop();
        }
        let mut next = all.from(&start).map_err(failed)?;
        while let Some((found, ordinal)) = group.member(next)
            && ordinal < range.end
        {
            let key = record_key(self.tree, found.key);
            out.push((ordinal, key.len()));
            next = all.after(&key).map_err(failed)?;
        }
        Ok(())
    }
}

fn move_record(writer: &mut FileWriter<'_>, old: &[u8], new: &[u8]) -> Result<()> {
    let value = writer.read().get(old);
    let value = value.map_err(|error| writer.environment().error(&error))?;
    let value = value.ok_or(Damaged)?.to_vec();
    writer.remove(old)?;
    writer.put(new, &value)
}

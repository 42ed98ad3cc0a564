//! Chunks of rows that are given at once, with the bounds of their partitions and peer groups.

use std::collections::VecDeque;

use mayfly_storage::KeyMode;
use mayfly_types::Batch;

use crate::operators::boundaries::mark_boundaries;

/// Consecutive rows.
pub(super) struct Chunk<'a> {
    /// Number of the first row.
    pub(super) first: u64,
    pub(super) batch: &'a Batch,
    pub(super) partitions: Spans,
    /// Bounds of the peer groups (rows of a partition with equal sort keys); empty where no function reads them.
    pub(super) peers: Spans,
}

impl Chunk<'_> {
    pub(super) fn len(&self) -> usize {
        self.batch.row_count()
    }
}

/// For each row, the start of its group and the number behind its end; `u64::MAX` for a group whose end has not been
/// seen.
#[derive(Default)]
pub(super) struct Spans {
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
}

/// Finder of group boundaries.
pub(super) struct Boundaries {
    keys: Vec<(usize, KeyMode)>,
    /// Starts of the groups that are still needed.
    starts: VecDeque<u64>,
    /// Number of rows read.
    end: u64,
    /// The last row read.
    last: Option<Batch>,
}

impl Boundaries {
    pub(super) fn new(keys: Vec<(usize, KeyMode)>) -> Self {
        Self {
            keys,
            starts: VecDeque::new(),
            end: 0,
            last: None,
        }
    }

    /// Number of rows read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Start of the last group seen.
    pub(super) fn last_start(&self) -> u64 {
        self.starts.back().copied().unwrap_or(0)
    }

    /// Reads the rows that come next: those of a batch from `offset` on.
    pub(super) fn read(&mut self, batch: &Batch, offset: usize) {
        let count = batch.row_count() - offset;
        if count == 0 {
            return;
        }
        let rows = batch.slice(offset, count);
        let mut differs = vec![false; count];
        let keys = self.keys.iter().copied();
        mark_boundaries(&rows, self.last.as_ref(), keys, &mut differs);
        let begins = differs.iter().enumerate().filter(|(_, differs)| **differs);
        let end = self.end;
        self.starts.extend(begins.map(|(row, _)| end + row as u64));
        self.end += count as u64;
        self.last = Some(rows.slice(count - 1, 1).with_own_strings());
    }

    /// Bounds of the groups of some rows. `is_complete`: no row follows.
    pub(super) fn spans(&mut self, first: u64, count: usize, is_complete: bool) -> Spans {
        while let Some(next) = self.starts.get(1)
            && *next <= first
        {
            self.starts.pop_front();
        }
        let mut spans = Spans {
            starts: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
        };
        let end = first + count as u64;
        let mut groups = self.starts.iter().peekable();
        while let Some(start) = groups.next() {
            if *start >= end {
                break;
            }
            let behind = match groups.peek() {
                Some(next) => **next,
                None if is_complete => self.end,
                None => u64::MAX,
            };
            let rows = (behind.min(end) - (*start).max(first)) as usize;
            spans.starts.resize(spans.starts.len() + rows, *start);
            spans.ends.resize(spans.ends.len() + rows, behind);
        }
        spans
    }
}

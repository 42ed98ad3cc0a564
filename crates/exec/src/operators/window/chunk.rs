//! Rows that are given at once, and where their partitions and peers begin and end.

use std::collections::VecDeque;

use mayfly_storage::KeyMode;
use mayfly_types::Batch;

use crate::operators::boundaries::mark_boundaries;

/// Some rows, one behind the other.
pub(super) struct Chunk<'a> {
    /// The number of the first.
    pub(super) first: u64,
    pub(super) batch: &'a Batch,
    pub(super) partitions: Spans,
    /// Rows of a partition with equal keys of the order; empty where nobody asks.
    pub(super) peers: Spans,
}

impl Chunk<'_> {
    pub(super) fn len(&self) -> usize {
        self.batch.row_count()
    }
}

/// For each row, where the group begins that it is in, and the number behind its end; that of a group whose end has not
/// been seen is `u64::MAX`.
#[derive(Default)]
pub(super) struct Spans {
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
}

/// Where groups of rows begin.
pub(super) struct Boundaries {
    keys: Vec<(usize, KeyMode)>,
    /// The groups that are still of interest.
    starts: VecDeque<u64>,
    /// How many rows were looked at.
    end: u64,
    /// The last of them.
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

    /// How many rows were looked at.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Where the last group begins that was seen.
    pub(super) fn last_start(&self) -> u64 {
        self.starts.back().copied().unwrap_or(0)
    }

    /// Looks at the rows that come next, those of a batch from `offset` on.
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

    /// The groups of some rows. `is_complete`: no row comes any more.
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

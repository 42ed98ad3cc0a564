//! Grouping of an input whose groups are contiguous: no table is made, each group is given when the next begins.
//!
//! Groups are numbered within a batch; when there are as many as a batch may have rows, all but the last, which may
//! continue, are given.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_storage::KeyMode;
use mayfly_types::{Batch, Result};

use super::call::{Accumulators, Call};
use super::columns::Columns;
use crate::context::{Cursor, Node, RunContext};
use crate::operators::boundaries::mark_boundaries;
use crate::operators::one_cursor::OneCursor;
use crate::representation::to_column;
use crate::rows::{joined, take_rows};

pub(super) struct InOrder {
    pub(super) input: Arc<dyn Node>,
    pub(super) key_count: usize,
    pub(super) modes: Vec<KeyMode>,
    pub(super) columns: Columns,
    pub(super) calls: Vec<Call>,
    pub(super) reader: OneCursor,
}

impl Node for InOrder {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.reader.prepare();
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        0
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = self.reader.open(&self.input, run)?;
        Ok(Box::new(InOrderCursor {
            open: Groups::new(&self)?,
            node: self,
            input,
            rows: None,
        }))
    }
}

struct InOrderCursor {
    node: Arc<InOrder>,
    input: Option<Box<dyn Cursor>>,
    /// Rows that are read and not grouped yet.
    rows: Option<Rows>,
    open: Groups,
}

/// Rows of the aggregate's columns.
struct Rows {
    batch: Batch,
    /// Whether each row begins another group.
    differs: Vec<bool>,
    /// Numbers of the rows that begin a group.
    begins: Vec<u32>,
}

/// Groups under construction.
struct Groups {
    count: usize,
    /// Keys of the groups' first rows, in pieces.
    keys: Vec<Vec<ArrayRef>>,
    accumulators: Accumulators,
    /// Keys of the last row.
    last: Option<Batch>,
}

impl Groups {
    fn new(node: &InOrder) -> Result<Self> {
        Ok(Self {
            count: 0,
            keys: Vec::new(),
            accumulators: Accumulators::new(&node.calls)?,
            last: None,
        })
    }
}

impl Cursor for InOrderCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let groups_max = run.statement.options.batch_rows.max(1);
        loop {
            run.statement.check_interrupt()?;
            let rows = match self.rows.take() {
                Some(rows) => rows,
                None => match self.read(run)? {
                    Some(rows) => rows,
                    None => {
                        self.input = None;
                        return self.give(run);
                    }
                },
            };
            // The row that begins one group more than a batch may have waits for the next batch.
            let room = groups_max - self.open.count;
            match rows.begins.get(room) {
                None => self.take(&rows, run)?,
                Some(cut) => {
                    let cut = *cut as usize;
                    let count = rows.batch.row_count();
                    let now = Rows {
                        batch: rows.batch.slice(0, cut),
                        differs: rows.differs[..cut].to_vec(),
                        begins: rows.begins[..room].to_vec(),
                    };
                    self.take(&now, run)?;
                    self.rows = Some(Rows {
                        batch: rows.batch.slice(cut, count - cut),
                        differs: rows.differs[cut..].to_vec(),
                        // These rows are all behind the cut.
                        begins: rows.begins[room..]
                            .iter()
                            .map(|row| row - cut as u32)
                            .collect(),
                    });
                    return self.give(run);
                }
            }
        }
    }
}

impl InOrderCursor {
    fn read(&mut self, run: &RunContext) -> Result<Option<Rows>> {
        let Some(input) = &mut self.input else {
            return Ok(None);
        };
        while let Some(batch) = input.next(run)? {
            if batch.is_empty() {
                continue;
            }
            let batch = self.node.columns.evaluate(&batch, run)?;
            let differs = self.node.differs(&batch, self.open.last.as_ref());
            let last = batch.row_count() - 1;
            let keys = batch.columns()[..self.node.key_count].to_vec();
            self.open.last = Some(Batch::new(keys, last + 1).slice(last, 1));
            return Ok(Some(Rows {
                batch,
                begins: numbers_where(&differs),
                differs,
            }));
        }
        Ok(None)
    }

    /// Adds rows to the open groups.
    fn take(&mut self, rows: &Rows, run: &RunContext) -> Result<()> {
        let count = rows.batch.row_count();
        if count == 0 {
            return Ok(());
        }
        let open = &mut self.open;
        // There are at most as many groups as rows in a batch. The ends of short groups are unpredictable, so the loop
        // does not branch.
        let mut group = open.count as u32;
        let number = |differs: &bool| {
            group += u32::from(*differs);
            group.saturating_sub(1)
        };
        let groups: Vec<u32> = rows.differs.iter().map(number).collect();
        open.count = group as usize;
        if !rows.begins.is_empty() {
            let firsts = UInt32Array::from(rows.begins.clone());
            let keys = &rows.batch.columns()[..self.node.key_count];
            open.keys.push(take_rows(keys, &firsts)?);
        }
        open.accumulators.resize(open.count);
        open.accumulators
            .update(&self.node.calls, &groups, &rows.batch, run)?;
        open.accumulators.charge(None, run)
    }

    /// Gives all groups, which are complete.
    fn give(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        if self.open.count == 0 {
            return Ok(None);
        }
        let last = self.open.last.take();
        let mut done = std::mem::replace(&mut self.open, Groups::new(&self.node)?);
        self.open.last = last;
        let mut columns = Vec::with_capacity(self.node.key_count + self.node.calls.len());
        for key in 0..self.node.key_count {
            columns.push(joined(done.keys.iter().map(|keys| &keys[key]))?);
        }
        for result in done.accumulators.results(run)? {
            columns.push(to_column(result));
        }
        Ok(Some(Batch::new(columns, done.count)))
    }
}

impl InOrder {
    /// Whether the keys of each row differ from the row before.
    fn differs(&self, batch: &Batch, last: Option<&Batch>) -> Vec<bool> {
        let mut differs = vec![false; batch.row_count()];
        let keys = self.modes.iter().enumerate().take(self.key_count);
        mark_boundaries(
            batch,
            last,
            keys.map(|(key, mode)| (key, *mode)),
            &mut differs,
        );
        differs
    }
}

/// Indexes of the true flags.
fn numbers_where(flags: &[bool]) -> Vec<u32> {
    let mut numbers = vec![0; flags.len()];
    let mut count = 0;
    for (number, flag) in (0..).zip(flags) {
        numbers[count] = number;
        count += usize::from(*flag);
    }
    numbers.truncate(count);
    numbers
}

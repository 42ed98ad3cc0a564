//! Groups whose rows come one after the other: no table is made, each group is given when the next
//! one begins.
//!
//! The groups of some rows are numbered as they come; when there are as many as a batch may have rows,
//! they are given, all but the one that may still go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_schema::DataType;
use mayfly_functions::SignatureContext;
use mayfly_storage::KeyMode;
use mayfly_types::{Batch, Result};

use super::call::{Accumulators, Call};
use super::columns::Columns;
use crate::context::{Cursor, Node, RunContext};
use crate::representation::to_column;
use crate::rows::{joined, take_rows};

pub(super) struct InOrder {
    pub(super) input: Arc<dyn Node>,
    pub(super) key_count: usize,
    pub(super) modes: Vec<KeyMode>,
    pub(super) columns: Columns,
    pub(super) calls: Vec<Call>,
    pub(super) signature: SignatureContext,
    /// The one cursor is open.
    pub(super) taken: AtomicBool,
}

impl Node for InOrder {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.taken.store(false, Ordering::Relaxed);
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        0
    }

    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let is_taken = self.taken.swap(true, Ordering::Relaxed);
        let input = (!is_taken).then(|| Arc::clone(&self.input).open(run));
        Ok(Box::new(InOrderCursor {
            open: Groups::new(&self)?,
            node: self,
            input: input.transpose()?,
            rows: None,
        }))
    }
}

struct InOrderCursor {
    node: Arc<InOrder>,
    input: Option<Box<dyn Cursor>>,
    /// Rows that were read and are not grouped yet.
    rows: Option<Rows>,
    open: Groups,
}

/// Rows of the aggregate's columns.
struct Rows {
    batch: Batch,
    /// Those that begin another group.
    begins: Vec<u32>,
}

/// Groups that are being made.
struct Groups {
    count: usize,
    /// The keys of their first rows, in pieces.
    keys: Vec<Vec<ArrayRef>>,
    accumulators: Accumulators,
    /// The last row's keys.
    last: Option<Batch>,
}

impl Groups {
    fn new(node: &InOrder) -> Result<Self> {
        Ok(Self {
            count: 0,
            keys: Vec::new(),
            accumulators: Accumulators::new(&node.calls, &node.signature)?,
            last: None,
        })
    }
}

impl Cursor for InOrderCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
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
            // What begins one group more than may be given waits for the next batch.
            let room = groups_max - self.open.count;
            match rows.begins.get(room) {
                None => self.take(&rows, run)?,
                Some(cut) => {
                    let cut = *cut as usize;
                    let count = rows.batch.row_count();
                    let now = Rows {
                        batch: rows.batch.slice(0, cut),
                        begins: rows.begins[..room].to_vec(),
                    };
                    self.take(&now, run)?;
                    self.rows = Some(Rows {
                        batch: rows.batch.slice(cut, count - cut),
                        // They are all behind the cut.
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
            let begins = self.node.begins(&batch, self.open.last.as_ref());
            let last = batch.row_count() - 1;
            let keys = batch.columns()[..self.node.key_count].to_vec();
            self.open.last = Some(Batch::new(keys, last + 1).slice(last, 1));
            return Ok(Some(Rows { batch, begins }));
        }
        Ok(None)
    }

    /// Takes rows into the open groups.
    fn take(&mut self, rows: &Rows, run: &RunContext) -> Result<()> {
        let count = rows.batch.row_count();
        if count == 0 {
            return Ok(());
        }
        let open = &mut self.open;
        let mut groups = Vec::with_capacity(count);
        let mut begins = rows.begins.iter().peekable();
        // Groups are at most as many as a batch's rows.
        let mut group = open.count as u32;
        for row in 0..count as u32 {
            if begins.next_if(|begin| **begin == row).is_some() {
                group += 1;
            }
            groups.push(group.saturating_sub(1));
        }
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

    /// The groups that are complete: all of them.
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
    /// The rows whose keys differ from those of the row before.
    fn begins(&self, batch: &Batch, last: Option<&Batch>) -> Vec<u32> {
        let count = batch.row_count();
        let mut differs = vec![false; count];
        for (key, mode) in self.modes.iter().enumerate().take(self.key_count) {
            let column = batch.column(key);
            mark(column, *mode, &mut differs);
            differs[0] |= match last {
                None => true,
                Some(last) => differs_between(last.column(key), column, *mode),
            };
        }
        (0..count as u32)
            .filter(|row| differs[*row as usize])
            .collect()
    }
}

/// Marks the rows whose value differs from that of the row before.
fn mark(column: &ArrayRef, mode: KeyMode, differs: &mut [bool]) {
    match column.data_type() {
        DataType::Int64 => mark_native::<Int64Type>(column, differs),
        DataType::UInt64 => mark_native::<UInt64Type>(column, differs),
        DataType::Float64 => mark_native::<Float64Type>(column, differs),
        DataType::Decimal128(..) => mark_native::<Decimal128Type>(column, differs),
        DataType::Decimal256(..) => mark_native::<Decimal256Type>(column, differs),
        _ => {
            let texts = column.as_binary_view();
            for (row, differs) in differs.iter_mut().enumerate().skip(1) {
                *differs |= match (texts.is_null(row - 1), texts.is_null(row)) {
                    (false, false) => !equal(texts.value(row - 1), texts.value(row), mode),
                    (a, b) => a != b,
                };
            }
        }
    }
}

fn mark_native<T: ArrowPrimitiveType>(column: &ArrayRef, differs: &mut [bool]) {
    let array = column.as_primitive::<T>();
    let values = array.values();
    match array.nulls() {
        None => {
            for (differs, pair) in differs[1..].iter_mut().zip(values.windows(2)) {
                *differs |= pair[0] != pair[1];
            }
        }
        Some(nulls) => {
            for row in 1..values.len() {
                let (before, now) = (nulls.is_null(row - 1), nulls.is_null(row));
                differs[row] |= before != now || !now && values[row - 1] != values[row];
            }
        }
    }
}

fn equal(a: &[u8], b: &[u8], mode: KeyMode) -> bool {
    match mode {
        KeyMode::Binary => a == b,
        KeyMode::Collated(collation) => a == b || collation.equals(a, b),
    }
}

/// Whether the last value of one column differs from the first of another.
fn differs_between(last: &ArrayRef, first: &ArrayRef, mode: KeyMode) -> bool {
    let Ok(both) = joined([last, &first.slice(0, 1)]) else {
        return true;
    };
    let mut differs = [false; 2];
    mark(&both, mode, &mut differs);
    differs[1]
}

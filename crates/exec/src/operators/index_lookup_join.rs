//! Index lookup joins: the keys of a batch of left rows are looked up together in an index of the right table.
//!
//! The rows of a cursor come out in the order of the left ones. The number of left rows that are looked up together follows from
//! the number of right rows found before, so that a batch of pairs stays about as large as a batch of rows. After many
//! more lookups than were estimated the join may go on as a hash join ([`AdaptiveJoin`]). Left rows that have many right
//! rows each are divided among the cursors of all threads ([`LeftRows`]).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use mayfly_plan::physical::{self, JoinKind, OperatorNumber};
use mayfly_plan::{TableSource, key_value};
use mayfly_storage::{ColumnId, IndexId, Table};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Error, PhysicalType, Result, Value};

use super::hash_join::AdaptiveJoin;
use super::index_scan::index_of;
use super::left_rows::LeftRows;
use super::looked_up::LookedUp;
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::Program;
use crate::expression::values::array_of;
use crate::key_filter::GivenFilter;
use crate::representation::{column_type, to_column};
use crate::state::lock;

struct LookupJoin {
    number: OperatorNumber,
    kind: JoinKind,
    left: Arc<dyn Node>,
    left_columns: usize,
    table: Arc<TableSource>,
    index: usize,
    columns: Vec<ColumnId>,
    keys: Vec<Key>,
    null_safe: Vec<bool>,
    residual: Option<Program>,
    finds_one: bool,
    rows_per_key: f64,
    adaptive: Option<AdaptiveJoin>,
    left_rows: LeftRows,
    opened: Mutex<Option<Arc<dyn Table>>>,
}

/// Value of a key part.
struct Key {
    program: Program,
    /// (value, column): physical types of the value and of the column.
    types: (PhysicalType, PhysicalType),
}

pub(super) fn build(
    join: &physical::IndexLookupJoin,
    left: Arc<dyn Node>,
    number: OperatorNumber,
) -> Result<Arc<dyn Node>> {
    let (index, _) = index_of(&join.table, join.index)?;
    let keys = join.keys.iter().zip(&index.parts).map(|(key, part)| {
        let value = column_type(&key.value.ty);
        let column = join.table.columns.get(part.column);
        let column = column.map_or(value, |column| column_type(&column.ty));
        Key {
            program: Program::compile(&key.value),
            types: (value, column),
        }
    });
    let hash = join.hash.as_ref();
    let adaptive = hash.map(|hash| AdaptiveJoin::new(join, hash, Arc::clone(&left)));
    Ok(Arc::new(LookupJoin {
        number,
        adaptive: adaptive.transpose()?.flatten(),
        kind: join.kind,
        left,
        left_columns: join.left.output.len(),
        index: join.index,
        columns: join.columns.iter().copied().map(ColumnId).collect(),
        keys: keys.collect(),
        null_safe: join.keys.iter().map(|key| key.null_safe).collect(),
        table: Arc::clone(&join.table),
        residual: join.residual.as_ref().map(Program::compile),
        finds_one: join.finds_one,
        rows_per_key: join.rows_per_key,
        left_rows: LeftRows::default(),
        opened: Mutex::new(None),
    }))
}

impl Node for LookupJoin {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        *lock(&self.opened) = Some(run.statement.tables.open(self.table.id)?);
        self.adaptive.iter().for_each(AdaptiveJoin::reset);
        self.left_rows.clear();
        self.left.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        // A lookup costs as much as several rows of a scan.
        let per_row = self.rows_per_key.max(1.0) * 4.0;
        (self.left.rows_hint() as f64 * per_row) as u64
    }

    fn is_unordered(&self) -> bool {
        let keys = self.keys.iter().map(|key| &key.program);
        !keys.chain(&self.residual).any(Program::is_volatile) && self.left.is_unordered()
    }

    fn follows_rounds(&self) -> bool {
        self.left.follows_rounds()
    }

    fn takes_filter(&self, column: usize) -> bool {
        column < self.left_columns
            && self.residual.as_ref().is_none_or(Program::is_total)
            && self.keys.iter().all(|key| key.program.is_total())
            && self.left.takes_filter(column)
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.left.give_filter(column, filter);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let Some(table) = lock(&self.opened).clone() else {
            return Err(Error::internal("a join was not prepared"));
        };
        let (_, index) = index_of(&self.table, self.index)?;
        Ok(Box::new(LookupCursor {
            left: Some(Arc::clone(&self.left).open(run)?),
            hashed: None,
            table,
            index,
            fan_out: self.rows_per_key.max(1.0),
            block: None,
            ready: VecDeque::new(),
            node: self,
        }))
    }
}

struct LookupCursor {
    node: Arc<LookupJoin>,
    /// The left rows; `None` once the join has changed to a hash join.
    left: Option<Box<dyn Cursor>>,
    hashed: Option<Box<dyn Cursor>>,
    table: Arc<dyn Table>,
    index: IndexId,
    /// Right rows per left row, as of the last lookups.
    fan_out: f64,
    block: Option<Block>,
    ready: VecDeque<Batch>,
}

/// A batch of left rows with their keys.
struct Block {
    left: Batch,
    keys: Vec<ArrayRef>,
    next_row: usize,
}

impl Cursor for LookupCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if let Some(hashed) = &mut self.hashed {
                return hashed.next(run);
            }
            run.statement.check_interrupt()?;
            let rows_max = run.statement.options.batch_rows;
            let open = self
                .block
                .take()
                .filter(|block| block.next_row < block.left.row_count());
            let mut block = match open {
                Some(block) => block,
                None => {
                    let Some(left) = self.next_left(run)? else {
                        return Ok(None);
                    };
                    if left.is_empty() {
                        continue;
                    }
                    Block {
                        keys: self.node.keys_of(&left, run)?,
                        left,
                        next_row: 0,
                    }
                }
            };
            let first = block.next_row;
            if let Some(adaptive) = &self.node.adaptive
                && let Some(index) = adaptive.index(&*self.table, run)?
                && let Some(left) = self.left.take()
            {
                let rest = block.left.slice(first, block.left.row_count() - first);
                self.hashed = Some(adaptive.cursor(index, rest, left));
                continue;
            }
            // The number fits in usize: it is at most the batch's.
            let wanted = (rows_max as f64 / self.fan_out).max(1.0) as usize;
            let rows = wanted.min(block.left.row_count() - first);
            block.next_row += rows;
            let left = block.left.slice(first, rows);
            let keys: Vec<ArrayRef> = block
                .keys
                .iter()
                .map(|key| key.slice(first, rows))
                .collect();
            self.block = Some(block);
            let node = &self.node;
            let (right, found) =
                self.table
                    .index_lookup(self.index, &keys, &node.null_safe, &node.columns)?;
            self.fan_out = (found.len() as f64 / rows as f64).max(1.0);
            let counters = &run.statement.counters;
            let sought = node.sought(&keys, rows);
            count(&counters.handler_read_key, sought);
            run.statement.looked_up(node.number, sought);
            (node.adaptive.iter()).for_each(|adaptive| adaptive.looked_up(sought));
            // An existence test ends with the row that it finds.
            if !node.finds_one && !node.kind.is_left_only() {
                count(&counters.handler_read_next, found.len() as u64);
            }
            run.statement.examined(node.number, found.len() as u64);
            let join = LookedUp {
                kind: node.kind,
                residual: node.residual.as_ref(),
                right_first: false,
            };
            if let Some(joined) = join.joined(left, right, &found, run)? {
                self.ready = crate::rows::split(&joined, rows_max);
            }
        }
    }
}

impl LookupCursor {
    /// The next left rows. Without an adaptive join, those of a batch that have more right rows than a batch of pairs are
    /// left to all cursors.
    fn next_left(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let Some(left) = &mut self.left else {
            return Ok(None);
        };
        if self.node.adaptive.is_some() {
            return left.next(run);
        }
        let rows_max = run.statement.options.batch_rows as f64;
        // The number fits in usize: it is at most the batch's.
        let together = (rows_max / self.fan_out).max(1.0) as usize;
        self.node.left_rows.next(&mut **left, together, run)
    }
}

impl LookupJoin {
    /// Number of rows with a lookup: none for NULL, which is equal to nothing.
    fn sought(&self, keys: &[ArrayRef], rows: usize) -> u64 {
        let mut sought: Option<BooleanBuffer> = None;
        for (key, null_safe) in keys.iter().zip(&self.null_safe) {
            if let (false, Some(nulls)) = (null_safe, key.nulls()) {
                sought = Some(match sought {
                    Some(both) => &both & nulls.inner(),
                    None => nulls.inner().clone(),
                });
            }
        }
        sought.map_or(rows, |sought| sought.count_set_bits()) as u64
    }

    fn keys_of(&self, left: &Batch, run: &RunContext) -> Result<Vec<ArrayRef>> {
        self.keys
            .iter()
            .map(|key| {
                let values = to_column(key.program.evaluate_array(left, run)?);
                let (from, to) = key.types;
                if from == to {
                    return Ok(values);
                }
                let converted: Vec<Value> = (0..values.len())
                    .map(|row| key_value(&array_value(&values, row), to))
                    .collect();
                Ok(array_of(&converted, to))
            })
            .collect()
    }
}

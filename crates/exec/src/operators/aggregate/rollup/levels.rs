//! Super-aggregate rows, merged from the states of the groups by all keys, which come in the order of their keys.
//!
//! Each level has one open group: the merged states of those of its groups that have passed, in one row. A group whose
//! first keys differ from those of the one before closes the open groups of all levels that have these keys.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array, new_null_array};
use mayfly_plan::Expression;
use mayfly_plan::physical::{Grouping, Purpose, SortKey};
use mayfly_storage::KeyMode;
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::super::call::{Accumulators, Call};
use super::Build;
use crate::context::{Cursor, Node, RunContext};
use crate::operators::boundaries::mark_boundaries;
use crate::operators::keys::key_mode;
use crate::operators::one_cursor::OneCursor;
use crate::operators::sort;
use crate::representation::{column_types, to_column};
use crate::rows::{joined, split, take_rows, with_own_strings};

pub(super) fn build(
    input: Arc<dyn Node>,
    grouping: &Grouping,
    calls: Vec<Call>,
    run: &RunContext,
    build_states: Build,
) -> Result<Arc<dyn Node>> {
    let key_types: Vec<SqlType> = grouping.keys.iter().map(|key| key.ty.clone()).collect();
    let groups = Grouping {
        keys: grouping.keys.clone(),
        aggregates: grouping.aggregates.clone(),
        temporary: grouping.temporary.clone(),
        ..Grouping::default()
    };
    let groups = build_states(input, &groups, run)?;
    let states = calls.iter().flat_map(Call::declared_states).cloned();
    let row: Vec<SqlType> = key_types.iter().cloned().chain(states).collect();
    let keys = Expression::columns_of(&key_types).into_iter();
    let keys: Vec<SortKey> = keys
        .map(|expression| SortKey {
            expression,
            descending: false,
        })
        .collect();
    let cause = "WITH ROLLUP gives each sum after the rows that it sums up";
    let temporary = grouping.temporary_beside(Purpose::GroupBy, cause);
    Ok(Arc::new(Levels {
        input: sort::build(groups, &row, &keys, None, None, &temporary),
        key_types: column_types(&key_types),
        modes: key_types.iter().map(key_mode).collect(),
        calls,
        reader: OneCursor::default(),
    }))
}

struct Levels {
    /// Input: keys and states of the groups by all keys, in order.
    input: Arc<dyn Node>,
    key_types: Vec<PhysicalType>,
    modes: Vec<KeyMode>,
    calls: Vec<Call>,
    reader: OneCursor,
}

impl Node for Levels {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.reader.prepare();
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        self.input.rows_hint().max(1)
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = self.reader.open(&self.input, run)?;
        Ok(Box::new(LevelsCursor {
            open: Vec::new(),
            last: None,
            pending: VecDeque::new(),
            node: self,
            input,
        }))
    }
}

struct LevelsCursor {
    node: Arc<Levels>,
    input: Option<Box<dyn Cursor>>,
    /// For each level, by number of keys, the states of its open group, in one row.
    open: Vec<Vec<ArrayRef>>,
    /// Keys of the last group; `None` before the first.
    last: Option<Batch>,
    pending: VecDeque<Batch>,
}

impl Cursor for LevelsCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let Some(input) = &mut self.input else {
                return Ok(None);
            };
            let rows = match input.next(run)? {
                Some(batch) if batch.is_empty() => continue,
                Some(batch) => self.pass(&batch, run)?,
                None => {
                    self.input = None;
                    self.close(run)?
                }
            };
            self.pending = split(&rows, run.statement.options.batch_rows);
        }
    }
}

/// Rows of one level: the group whose keys they have, by its index in the batch, and results.
struct LevelRows {
    kept: usize,
    groups: Vec<u32>,
    results: Vec<ArrayRef>,
}

impl LevelsCursor {
    /// Rows of some groups, and before each the rows of the groups that it closes.
    fn pass(&mut self, batch: &Batch, run: &RunContext) -> Result<Batch> {
        let node = Arc::clone(&self.node);
        let key_count = node.key_types.len();
        let rows = batch.row_count();
        let (keys, states) = batch.columns().split_at(key_count);
        let mut shared = node.shared_keys(batch, self.last.as_ref());
        if self.last.is_none() {
            // No group is open yet.
            shared[0] = key_count;
        }
        // The group before the first is the last one of the batch before.
        let before = usize::from(self.last.is_some());
        let numbers: Vec<u32> = (0..rows as u32).collect();
        let mut levels = vec![LevelRows {
            kept: key_count,
            groups: numbers.iter().map(|row| row + before as u32).collect(),
            results: node.merged(&[(&numbers, states)], rows, run)?,
        }];
        let was_open = std::mem::take(&mut self.open);
        for kept in 0..key_count {
            let carried: &[ArrayRef] = was_open.get(kept).map_or(&[], Vec::as_slice);
            let closed = node.close_level(kept, &shared, carried, states, before, run)?;
            self.open.push(closed.open);
            levels.push(closed.rows);
        }
        // The level with most keys comes first.
        levels[1..].reverse();
        let keys: Vec<ArrayRef> = match &self.last {
            None => keys.to_vec(),
            Some(last) => {
                let both = last.columns().iter().zip(keys);
                both.map(|(last, key)| joined([last, key]))
                    .collect::<Result<_>>()?
            }
        };
        let order = order(&shared, &levels);
        let last: Vec<ArrayRef> = batch.columns()[..key_count].to_vec();
        let last = Batch::new(last, rows).slice(rows - 1, 1);
        self.last = Some(with_own_strings(
            last,
            &run.statement.temp.resources().stable,
        ));
        node.rows(&keys, &levels, &order)
    }

    /// Rows of all open groups, those with most keys first.
    fn close(&mut self, run: &RunContext) -> Result<Batch> {
        let node = Arc::clone(&self.node);
        let key_count = node.key_types.len();
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            // Grand total over no rows.
            let total = LevelRows {
                kept: 0,
                groups: vec![0],
                results: node.merged(&[], 1, run)?,
            };
            let types = node.key_types.iter();
            let keys: Vec<ArrayRef> = types.map(|ty| new_null_array(&ty.arrow(), 1)).collect();
            return node.rows(&keys, &[total], &UInt32Array::from(vec![0]));
        }
        let levels = open.iter().enumerate().rev().map(|(kept, states)| {
            Ok(LevelRows {
                kept,
                groups: vec![0],
                results: node.merged(&[(&[0], states)], 1, run)?,
            })
        });
        let levels = levels.collect::<Result<Vec<_>>>()?;
        let order = UInt32Array::from_iter_values(0..key_count as u32);
        let last = self.last.take();
        let keys = last.map_or(Vec::new(), Batch::into_columns);
        node.rows(&keys, &levels, &order)
    }
}

/// State of a level after a batch of groups.
struct ClosedLevel {
    rows: LevelRows,
    /// States of the group that is then open, in one row.
    open: Vec<ArrayRef>,
}

impl Levels {
    /// Number of leading keys that each group shares with the one before.
    fn shared_keys(&self, batch: &Batch, last: Option<&Batch>) -> Vec<usize> {
        let mut shared = vec![self.modes.len(); batch.row_count()];
        let mut differs = vec![false; batch.row_count()];
        for (key, mode) in self.modes.iter().enumerate().rev() {
            differs.fill(false);
            mark_boundaries(batch, last, [(key, *mode)], &mut differs);
            for (shared, differs) in shared.iter_mut().zip(&differs) {
                if *differs {
                    *shared = key;
                }
            }
        }
        shared
    }

    /// Closed groups of the level of `kept` keys in a batch, and the group open after them. `carried` is the states of the
    /// group open before, no column before the first group.
    fn close_level(
        &self,
        kept: usize,
        shared: &[usize],
        carried: &[ArrayRef],
        states: &[ArrayRef],
        before: usize,
        run: &RunContext,
    ) -> Result<ClosedLevel> {
        let rows = shared.len();
        let closing = (0..rows).filter(|row| shared[*row] < kept);
        let closing: Vec<usize> = closing.collect();
        let first_open = closing.last().copied().unwrap_or(0);
        let slices = |first: usize, count: usize| -> Vec<ArrayRef> {
            let columns = states.iter();
            columns.map(|column| column.slice(first, count)).collect()
        };
        let has_carried: &[u32] = if before > 0 { &[0] } else { &[] };
        let mut results = Vec::new();
        if !closing.is_empty() {
            let mut group = 0;
            let mut next = closing.iter().peekable();
            let ids = (0..first_open).map(|row| {
                if next.next_if(|closing| **closing == row).is_some() {
                    group += 1;
                }
                group
            });
            let ids: Vec<u32> = ids.collect();
            let parts = [
                (has_carried, carried),
                (ids.as_slice(), &slices(0, first_open)),
            ];
            results = self.merged(&parts, closing.len(), run)?;
        }
        let zeros = vec![0; rows - first_open];
        let rest = slices(first_open, rows - first_open);
        let mut open = Accumulators::new(&self.calls)?;
        open.resize(1);
        if closing.is_empty() && before > 0 {
            open.merge(&self.calls, has_carried, carried, run)?;
        }
        open.merge(&self.calls, &zeros, &rest, run)?;
        open.charge(None, run)?;
        let groups = closing.iter().map(|row| (row + before - 1) as u32);
        Ok(ClosedLevel {
            rows: LevelRows {
                kept,
                groups: groups.collect(),
                results,
            },
            open: open.take_states()?,
        })
    }

    /// Results of groups whose states are merged from `parts`: (group of each row, states).
    fn merged(
        &self,
        parts: &[(&[u32], &[ArrayRef])],
        groups: usize,
        run: &RunContext,
    ) -> Result<Vec<ArrayRef>> {
        let mut accumulators = Accumulators::new(&self.calls)?;
        accumulators.resize(groups);
        for (ids, states) in parts.iter().filter(|(ids, _)| !ids.is_empty()) {
            accumulators.merge(&self.calls, ids, states, run)?;
        }
        accumulators.charge(None, run)?;
        let results = accumulators.results(run)?.into_iter();
        Ok(results.map(to_column).collect())
    }

    /// Rows of levels in an order: their keys, with NULL for those not in the level, their results and their levels.
    fn rows(&self, keys: &[ArrayRef], levels: &[LevelRows], order: &UInt32Array) -> Result<Batch> {
        let filled: Vec<&LevelRows> = levels
            .iter()
            .filter(|level| !level.groups.is_empty())
            .collect();
        let key_count = self.key_types.len();
        let mut columns = Vec::with_capacity(key_count + self.calls.len() + 1);
        let groups = filled
            .iter()
            .map(|level| UInt32Array::from(level.groups.clone()));
        let groups: Vec<UInt32Array> = groups.collect();
        for (key, (values, ty)) in keys.iter().zip(&self.key_types).enumerate() {
            let parts = filled.iter().zip(&groups).map(|(level, groups)| {
                if key < level.kept {
                    let mut taken = take_rows(std::slice::from_ref(values), groups)?;
                    return Ok(taken.remove(0));
                }
                Ok(new_null_array(&ty.arrow(), groups.len()))
            });
            columns.push(joined(&parts.collect::<Result<Vec<_>>>()?)?);
        }
        for call in 0..self.calls.len() {
            columns.push(joined(filled.iter().map(|level| &level.results[call]))?);
        }
        let numbers = filled.iter().flat_map(|level| {
            std::iter::repeat_n((key_count - level.kept) as i64, level.groups.len())
        });
        columns.push(Arc::new(Int64Array::from_iter_values(numbers)));
        Ok(Batch::new(take_rows(&columns, order)?, order.len()))
    }
}

/// Output order of rows stored level by level: before each group the rows that it closes.
fn order(shared: &[usize], levels: &[LevelRows]) -> UInt32Array {
    let mut rows = 0;
    let mut positions = Vec::with_capacity(levels.len());
    for level in levels {
        positions.push(rows);
        rows += level.groups.len() as u32;
    }
    let mut order = Vec::with_capacity(rows as usize);
    for shared in shared {
        for (level, position) in levels.iter().zip(&mut positions).skip(1) {
            if *shared < level.kept {
                order.push(*position);
                *position += 1;
            }
        }
        order.push(positions[0]);
        positions[0] += 1;
    }
    UInt32Array::from(order)
}

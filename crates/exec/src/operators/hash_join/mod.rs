//! Hash joins: joins by equality.
//!
//! The build side goes into a temporary table with hash access; while that fits in memory, the probe side streams past
//! its index. When it does not fit, the probe side goes into a table too, and the two are joined partition by
//! partition: rows that may match lie in the same pair of partitions, and rows whose key a filter of the build side's
//! keys refuses are not written where they would not come out. A pair whose build side is larger than memory, since its
//! rows are of one key, is joined piece by piece. The probe side is the preserved one, so that every kind of join is
//! decided row by row of it; or the build side is, whose rows are then marked ([`marking`]).

mod cursor;
mod marking;
mod null_aware;
mod source;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use mayfly_memory::Reservation;
use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKey, JoinKind, TemporaryTable};
use mayfly_storage::{Access, JoinIndex, KeyColumn, PartitionQueue, TempTable};
use mayfly_types::{Batch, Result, SqlType};

use self::cursor::JoinCursor;
use self::marking::MarkingJoin;
use self::source::Source;
use super::keys::{Layout, key_mode};
use super::tables;
use super::wanted::Wanted;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::hash_filter::HashFilter;
use crate::key_filter::{GivenFilter, KeyFilter};
use crate::state::lock;

/// Specification of a hash join in the plan.
pub(super) struct Specification<'a> {
    pub(super) kind: JoinKind,
    pub(super) left: &'a [SqlType],
    pub(super) right: &'a [SqlType],
    pub(super) keys: &'a [JoinKey],
    pub(super) residual: Option<&'a Expression>,
    pub(super) build_left: bool,
    pub(super) partnered: bool,
    pub(super) temporary: &'a TemporaryTable,
    pub(super) wanted: Wanted<'a>,
}

struct HashJoin {
    kind: JoinKind,
    build: Side,
    probe: Side,
    /// Whether the build side is the left one: its columns come first.
    build_first: bool,
    /// Whether most probe rows are expected to have a partner.
    partnered: bool,
    residual: Option<Program>,
    temporary: TemporaryTable,
    /// For each column of either side whether it is materialized.
    made: (Vec<bool>, Vec<bool>),
    state: Mutex<State>,
}

struct Side {
    input: Arc<dyn Node>,
    layout: Layout,
    keys: Vec<KeyColumn>,
}

impl Side {
    fn key_columns(&self) -> Vec<usize> {
        self.keys.iter().map(|key| key.column).collect()
    }

    /// An empty filter of the side's whole keys, if the other side may have to be written to a table.
    fn hash_filter(&self, table: &TempTable, run: &RunContext) -> Option<HashFilter> {
        let memory = run.statement.temp.memory();
        let keys = self.input.rows_hint();
        let is_large = keys >= run.statement.options.partitioned_join_rows_min
            || keys.saturating_mul(HASH_FILTER_ROW_BYTES) > memory.available() / 4;
        is_large
            .then(|| HashFilter::new(table.hasher(), keys, memory))
            .flatten()
    }

    fn keys_of(&self, batch: &Batch) -> Vec<ArrayRef> {
        let columns = self.keys.iter().map(|key| batch.column(key.column));
        columns.map(Arc::clone).collect()
    }

    /// Drains the prepared side into a table with hash access, and its keys into filters.
    fn fill(
        &self,
        temporary: &TemporaryTable,
        filters: &[KeyOf],
        whole_keys: WholeKeys<'_>,
        run: &RunContext,
    ) -> Result<Built> {
        let table = tables::create(
            temporary,
            self.layout.columns.clone(),
            Access::Hash(self.keys.clone()),
            run,
        )?;
        let made = match whole_keys {
            WholeKeys::Added => self.hash_filter(&table, run),
            WholeKeys::Ignored | WholeKeys::Asked(_) => None,
        };
        let has_null_key = AtomicBool::new(false);
        tables::fill(&table, &self.input, usize::MAX, run, |batch, run| {
            let mut batch = self.layout.extend(batch, run)?;
            if let Some(made) = &made {
                made.add(&self.keys_of(&batch), batch.row_count());
            }
            if let WholeKeys::Asked(filter) = whole_keys {
                batch = filter.kept(&self.keys_of(&batch), batch);
            }
            for key in filters {
                key.filter.add(batch.column(key.build_column));
            }
            let has_null =
                |key: &KeyColumn| !key.null_safe && batch.column(key.column).null_count() > 0;
            if self.keys.iter().any(has_null) {
                has_null_key.store(true, Ordering::Relaxed);
            }
            Ok(batch)
        })?;
        let rows = table.row_count();
        let is_dense = match (self.keys.as_slice(), filters) {
            ([_], [key]) => key.filter.span().is_some_and(|span| span / 4 < rows),
            _ => false,
        };
        Ok(Built {
            rows,
            is_dense,
            table,
            has_null_key: has_null_key.into_inner(),
            whole_keys: made,
        })
    }
}

struct Built {
    table: TempTable,
    rows: u64,
    /// Whether the only key is an integer of a dense range: rows are found in an array.
    is_dense: bool,
    has_null_key: bool,
    /// Filter of the whole keys, if it was asked for and the keys are many.
    whole_keys: Option<HashFilter>,
}

impl Built {
    /// Filter for the rows of the other side that are written to a table.
    fn asked(&self) -> WholeKeys<'_> {
        self.whole_keys
            .as_ref()
            .map_or(WholeKeys::Ignored, WholeKeys::Asked)
    }
}

/// Use of the whole keys of rows that are written to a table.
#[derive(Clone, Copy)]
enum WholeKeys<'a> {
    Ignored,
    /// Keys are added to a filter, if they are many.
    Added,
    /// Rows whose key is not in this filter are left out.
    Asked(&'a HashFilter),
}

enum State {
    New,
    /// No probe row can come out.
    Nothing,
    /// Every probe row comes out: NOT IN over no rows.
    Everything,
    Streaming {
        index: Arc<JoinIndex>,
        _table: TempTable,
    },
    Partitioned {
        queue: PartitionQueue,
        rows: u64,
        _tables: (TempTable, TempTable),
    },
}

/// Reserves memory for a mark of each of `rows` rows.
fn memory_of_marks(rows: usize, run: &RunContext) -> Result<Reservation> {
    let temp = &run.statement.temp;
    let mut held = temp.memory().reservation();
    temp.resize_working_set(&mut held, rows.div_ceil(8) as u64)?;
    Ok(held)
}

pub(super) fn build(
    specification: Specification<'_>,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
) -> Arc<dyn Node> {
    if specification.kind == JoinKind::NullAwareAnti
        && (specification.keys.len() > 1 || specification.residual.is_some())
    {
        return null_aware::by_nested_loop(&specification, left, right);
    }
    let side = |input, row: &[SqlType], pick: fn(&JoinKey) -> &Expression| {
        let mut layout = Layout::new(row);
        let keys = specification
            .keys
            .iter()
            .map(|key| KeyColumn {
                column: layout.column_of(pick(key)),
                mode: key_mode(&pick(key).ty),
                null_safe: key.null_safe,
            })
            .collect();
        Side {
            input: layout.slices(input),
            layout,
            keys,
        }
    };
    let left_side = || side(Arc::clone(&left), specification.left, |key| &key.left);
    let right_side = || side(Arc::clone(&right), specification.right, |key| &key.right);
    let join = |kind, build_left: bool| {
        let (build, probe) = match build_left {
            true => (left_side(), right_side()),
            false => (right_side(), left_side()),
        };
        HashJoin::new(&specification, kind, build, probe, build_left)
    };
    let kind = specification.kind;
    match (kind, specification.build_left) {
        (JoinKind::Inner, build_left) => Arc::new(join(kind, build_left)),
        (JoinKind::NullAwareAnti, _) | (_, false) => Arc::new(join(kind, false)),
        (JoinKind::Left | JoinKind::Semi | JoinKind::Anti, true) => {
            let pairs = join(JoinKind::Inner, true);
            Arc::new(MarkingJoin::new(kind, pairs, join(kind, false)))
        }
    }
}

impl HashJoin {
    /// Builds a join of two sides; the left one is the build side if it is `build_first`.
    fn new(
        specification: &Specification<'_>,
        kind: JoinKind,
        build: Side,
        probe: Side,
        build_first: bool,
    ) -> Self {
        let residual = specification.residual.map(Program::compile);
        let columns = specification.left.len() + specification.right.len();
        let mut made = vec![specification.wanted.is_none(); columns];
        let read = residual.iter().flat_map(Program::columns);
        for column in specification
            .wanted
            .into_iter()
            .flatten()
            .copied()
            .chain(read)
        {
            if let Some(made) = made.get_mut(column) {
                *made = true;
            }
        }
        let right_made = made.split_off(specification.left.len());
        let made = match build_first {
            true => (made, right_made),
            false => (right_made, made),
        };
        Self {
            kind,
            build,
            probe,
            build_first,
            partnered: specification.partnered,
            residual,
            temporary: specification.temporary.clone(),
            made,
            state: Mutex::new(State::New),
        }
    }
}

/// A filter of the build side's values of one key.
struct KeyOf {
    filter: Arc<KeyFilter>,
    build_column: usize,
}

/// Estimated bytes of a row of a build side: with less memory than several times this for all rows, the probe side may
/// have to be written to a table.
const HASH_FILTER_ROW_BYTES: u64 = 64;

/// Maximum number of keys with filters: the first ones refuse most rows.
const FILTERED_KEYS_MAX: usize = 2;

impl Node for HashJoin {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.build.input.prepare(run)?;
        let filters = self.filters(run);
        let whole_keys = self.whole_keys(&filters);
        let built = (self.build).fill(&self.temporary, &filters, whole_keys, run)?;
        drop(filters);
        let state = if built.rows == 0 {
            match self.kind {
                JoinKind::Inner | JoinKind::Semi => State::Nothing,
                JoinKind::Anti | JoinKind::NullAwareAnti => {
                    self.probe.input.prepare(run)?;
                    State::Everything
                }
                JoinKind::Left => self.streaming_or_partitioned(built, run)?,
            }
        } else if self.kind == JoinKind::NullAwareAnti && built.has_null_key {
            State::Nothing
        } else {
            self.streaming_or_partitioned(built, run)?
        };
        *lock(&self.state) = state;
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match &*lock(&self.state) {
            State::New | State::Nothing => 0,
            State::Everything | State::Streaming { .. } => self.probe.input.rows_hint(),
            State::Partitioned { rows, .. } => *rows,
        }
    }

    fn is_unordered(&self) -> bool {
        if self.residual.as_ref().is_some_and(Program::is_volatile) {
            return false;
        }
        match &*lock(&self.state) {
            State::New | State::Nothing => false,
            State::Partitioned { .. } => true,
            State::Everything | State::Streaming { .. } => self.probe.input.is_unordered(),
        }
    }

    fn follows_rounds(&self) -> bool {
        // The recursive table is read once in a query block, so not also by the build side.
        match &*lock(&self.state) {
            State::New | State::Partitioned { .. } => false,
            State::Nothing | State::Everything | State::Streaming { .. } => {
                self.probe.input.follows_rounds()
            }
        }
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.residual.as_ref().is_none_or(Program::is_total)
            && self.build.layout.is_total()
            && self.probe.layout.is_total()
            && self
                .side_of(column)
                .is_some_and(|(side, column)| side.input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        if let Some((side, column)) = self.side_of(column) {
            side.input.give_filter(column, filter);
        }
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let source = match &*lock(&self.state) {
            State::New | State::Nothing => Source::Nothing,
            State::Everything => {
                return Arc::clone(&self.probe.input).open(run);
            }
            State::Streaming { index, .. } => Source::Streaming {
                index: Arc::clone(index),
                input: Arc::clone(&self.probe.input).open(run)?,
            },
            State::Partitioned { queue, .. } => Source::Partitioned {
                queue: queue.clone(),
                pair: None,
            },
        };
        Ok(Box::new(JoinCursor::new(self, source)))
    }
}

impl HashJoin {
    /// Source of a result column: its side and its number there, where filtering its rows removes rows of the result
    /// and has no other effect.
    fn side_of(&self, column: usize) -> Option<(&Side, usize)> {
        let (first, second) = match self.build_first {
            true => (&self.build, &self.probe),
            false => (&self.probe, &self.build),
        };
        let columns = first.layout.row_columns;
        let (side, column) = match column.checked_sub(columns) {
            None => (first, column),
            Some(column) => (second, column),
        };
        (self.kind == JoinKind::Inner || std::ptr::eq(side, &self.probe)).then_some((side, column))
    }

    /// Filters to be filled with the keys of the prepared build side. The probe side has them already, and applies them
    /// when it is read.
    fn filters(&self, run: &RunContext) -> Vec<KeyOf> {
        let mut filters = Vec::new();
        if !matches!(self.kind, JoinKind::Inner | JoinKind::Semi) {
            return filters;
        }
        for (number, (build, probe)) in self.build.keys.iter().zip(&self.probe.keys).enumerate() {
            let is_row = probe.column < self.probe.layout.row_columns;
            if build.null_safe || !is_row || !self.probe.input.takes_filter(probe.column) {
                continue;
            }
            let ty = self.build.layout.columns[build.column];
            let filter = (filters.len() < FILTERED_KEYS_MAX)
                .then(|| {
                    let memory = run.statement.temp.memory();
                    KeyFilter::new(ty, self.build.input.rows_hint(), memory)
                })
                .flatten()
                .map(Arc::new);
            let given = GivenFilter {
                maker: (std::ptr::from_ref(self).addr(), number),
                filter: filter.clone(),
            };
            self.probe.input.give_filter(probe.column, &given);
            filters.extend(filter.map(|filter| KeyOf {
                filter,
                build_column: build.column,
            }));
        }
        filters
    }

    /// Use of the whole keys of the build side: they make a filter where a probe row without a partner does not come
    /// out, such rows exist, and no filter of the only key has refused them already.
    fn whole_keys(&self, filters: &[KeyOf]) -> WholeKeys<'static> {
        let is_filtered = filters.len() == self.build.keys.len() && filters.len() == 1;
        match self.kind {
            JoinKind::Inner | JoinKind::Semi if !is_filtered && !self.partnered => WholeKeys::Added,
            _ => WholeKeys::Ignored,
        }
    }

    fn streaming_or_partitioned(&self, built: Built, run: &RunContext) -> Result<State> {
        self.probe.input.prepare(run)?;
        let index = if self.prefers_partitions(&built, run) {
            None
        } else {
            built.table.join_index()?
        };
        Ok(match index {
            Some(index) => State::Streaming {
                index: Arc::new(index),
                _table: built.table,
            },
            None => {
                let probe = (self.probe).fill(&self.temporary, &[], built.asked(), run)?;
                State::Partitioned {
                    queue: PartitionQueue::pairs(&built.table, &probe.table),
                    rows: probe.rows,
                    _tables: (built.table, probe.table),
                }
            }
        })
    }

    /// Whether partitioning the probe side too costs less than the cache misses of lookups in an index that is larger
    /// than the caches. It must fit in memory beside the build side.
    fn prefers_partitions(&self, built: &Built, run: &RunContext) -> bool {
        let temp = &run.statement.temp;
        let probed = self.probe.input.rows_hint();
        let row_bytes = built.table.record().memory_bytes / built.rows.max(1);
        let available = temp.room_of_table();
        built.rows >= run.statement.options.partitioned_join_rows_min
            && !built.is_dense
            && probed >= built.rows / 4
            && row_bytes.saturating_mul(probed) <= available / 2
    }
}

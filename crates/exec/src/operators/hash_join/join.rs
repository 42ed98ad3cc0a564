//! Hash join of two sides: how its build side is filtered and kept, and whether its probe side streams.
//!
//! Cursors read the join and the state in which its preparation left it, and never change them: what they find is
//! their own.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{JoinKind, TemporaryTable};
use mayfly_storage::{JoinIndex, KeyedRows, PartitionQueue, TempTable};
use mayfly_types::Result;

use super::side::{BuildFilter, Built, Side, WholeKeys};
use super::specification::Specification;
use crate::context::RunContext;
use crate::expression::Program;
use crate::key_filter::{ColumnFilter, GivenFilter, KeyFilter};

/// Maximum number of keys with filters: the first ones refuse most rows.
const FILTERED_KEYS_MAX: usize = 2;

/// Hash join: rows of the probe side are looked up among those of the build side.
pub(super) struct HashJoin {
    pub(super) kind: JoinKind,
    pub(super) build: Side,
    pub(super) probe: Side,
    /// Whether the build side is the left one: its columns come first.
    pub(super) build_first: bool,
    /// Whether most probe rows are expected to have a partner.
    partnered: bool,
    pub(super) residual: Option<Program>,
    pub(super) temporary: TemporaryTable,
    /// For each column of either side whether it is materialized.
    pub(super) made: (Vec<bool>, Vec<bool>),
    pub(super) state: Mutex<State>,
}

/// State of a hash join between its preparation and its end.
pub(super) enum State {
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
    /// The build side, by a tree of its keys.
    Keyed(Arc<KeyedRows>),
}

impl HashJoin {
    /// Builds a join of two sides; the left one is the build side if it is `build_first`.
    pub(super) fn new(
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
        let made = if build_first {
            (made, right_made)
        } else {
            (right_made, made)
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

    /// Source of a result column: its side and its number there, where filtering its rows removes rows of the result
    /// and has no other effect.
    pub(super) fn side_of(&self, column: usize) -> Option<(&Side, usize)> {
        let (first, second) = if self.build_first {
            (&self.build, &self.probe)
        } else {
            (&self.probe, &self.build)
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
    pub(super) fn filters(&self, run: &RunContext) -> Vec<BuildFilter> {
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
                filter: filter.clone().map(ColumnFilter::Keys),
            };
            self.probe.input.give_filter(probe.column, &given);
            filters.extend(filter.map(|filter| BuildFilter {
                filter,
                build_column: build.column,
            }));
        }
        filters
    }

    /// Use of the whole keys of the build side: they make a filter where a probe row without a partner does not come
    /// out, such rows exist, and no filter of the only key has refused them already.
    pub(super) fn whole_keys(&self, filters: &[BuildFilter]) -> WholeKeys<'static> {
        let is_filtered = filters.len() == self.build.keys.len() && filters.len() == 1;
        match self.kind {
            JoinKind::Inner | JoinKind::Semi if !is_filtered && !self.partnered => WholeKeys::Added,
            _ => WholeKeys::Ignored,
        }
    }

    /// Prepares the probe side, which streams past an index of the build side if that fits in memory, or goes into a
    /// table of its own; in a recursion it streams past a tree of the build side.
    pub(super) fn streaming_or_partitioned(&self, built: Built, run: &RunContext) -> Result<State> {
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
            None if self.serves_rounds(&built, run) => {
                State::Keyed(Arc::new(built.table.into_keyed_rows()?))
            }
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

    /// Whether the build side is worth a tree of its keys: the probe rows are those of a round of a recursion, and fewer
    /// than the build rows, which would be read again in each round. A measured operator is run once for each round.
    fn serves_rounds(&self, built: &Built, run: &RunContext) -> bool {
        run.statement.measures.is_none()
            && self.probe.input.follows_rounds()
            && self.probe.input.rows_hint() < built.rows
    }

    /// Whether partitioning the probe side too costs less than the cache misses of lookups in an index that is larger
    /// than the caches. It must fit in memory beside the build side.
    pub(super) fn prefers_partitions(&self, built: &Built, run: &RunContext) -> bool {
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

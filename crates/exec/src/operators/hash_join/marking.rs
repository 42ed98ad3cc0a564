//! Outer, semi and anti joins whose preserved side is the build side: chosen where it is the smaller one.
//!
//! The other side probes the index of the preserved rows and marks those that found a partner. At the end, marked rows
//! come out of a semi join, unmarked ones out of an anti join, and out of an outer join beside NULLs. A preserved side
//! that does not fit in memory is joined partition by partition like those of the other joins, with the sides swapped.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::JoinKind;
use mayfly_storage::{JoinIndex, JoinMatches, PartitionQueue, TempTable};
use mayfly_types::{Batch, Result};

use super::cursor::JoinCursor;
use super::join::{HashJoin, State};
use super::marks::{Marker, Marks};
use super::source::Source;
use crate::context::{Cursor, Node, RunContext};
use crate::driver::{Sink, drain_from};
use crate::expression::Program;
use crate::key_filter::GivenFilter;
use crate::state::lock;

/// A hash join that marks the rows of its build side, which is the preserved one.
pub(super) struct MarkingJoin {
    kind: JoinKind,
    /// The pairs: an inner join that builds over the preserved side.
    pairs: Arc<HashJoin>,
    /// The join with the sides swapped, used partition by partition.
    partitioned: Arc<HashJoin>,
    state: Mutex<Marking>,
}

enum Marking {
    New,
    /// There is no preserved row.
    Nothing,
    Marked(Marked),
    /// Partition by partition.
    Partitioned,
}

/// Index of the preserved rows, and their marks.
#[derive(Clone)]
struct Marked {
    index: Arc<JoinIndex>,
    marks: Arc<Marks>,
    _table: TempTable,
}

impl MarkingJoin {
    pub(super) fn new(kind: JoinKind, pairs: HashJoin, partitioned: HashJoin) -> Self {
        Self {
            kind,
            pairs: Arc::new(pairs),
            partitioned: Arc::new(partitioned),
            state: Mutex::new(Marking::New),
        }
    }

    /// A cursor of the pairs that reads nothing by itself.
    fn idle_cursor(&self) -> JoinCursor {
        JoinCursor::new(Arc::clone(&self.pairs), Source::Nothing)
    }

    fn make(&self, run: &RunContext) -> Result<Marking> {
        let (preserved, other) = (&self.pairs.build, &self.pairs.probe);
        preserved.input.prepare(run)?;
        let filters = self.pairs.filters(run);
        let whole_keys = self.pairs.whole_keys(&filters);
        let built = preserved.fill(&self.pairs.temporary, &filters, whole_keys, run)?;
        drop(filters);
        if built.rows == 0 {
            return Ok(Marking::Nothing);
        }
        other.input.prepare(run)?;
        let index = if self.pairs.prefers_partitions(&built, run) {
            None
        } else {
            built.table.join_index()?
        };
        let Some(index) = index else {
            // A row without a partner marks nothing.
            let other =
                (self.partitioned.build).fill(&self.pairs.temporary, &[], built.asked(), run)?;
            *lock(&self.partitioned.state) = State::Partitioned {
                queue: PartitionQueue::pairs(&other.table, &built.table),
                rows: built.rows,
                _tables: (other.table, built.table),
            };
            return Ok(Marking::Partitioned);
        };
        let marked = Marked {
            marks: Arc::new(Marks::new(index.row_count(), run)?),
            index: Arc::new(index),
            _table: built.table,
        };
        if self.kind != JoinKind::Left {
            drain_from(&other.input, None, run, usize::MAX, || {
                Ok(MarkSink {
                    cursor: self.idle_cursor(),
                    marked: marked.clone(),
                    matches: JoinMatches::default(),
                })
            })?;
        }
        Ok(Marking::Marked(marked))
    }
}

impl Node for MarkingJoin {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let state = self.make(run)?;
        *lock(&self.state) = state;
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match &*lock(&self.state) {
            Marking::New | Marking::Nothing => 0,
            Marking::Partitioned => self.partitioned.rows_hint(),
            Marking::Marked(marked) if self.kind == JoinKind::Left => {
                let lone = marked.index.row_count() as u64;
                self.pairs.probe.input.rows_hint().saturating_add(lone)
            }
            Marking::Marked(marked) => marked.index.row_count() as u64,
        }
    }

    fn is_unordered(&self) -> bool {
        let residual = self.pairs.residual.as_ref();
        let streams =
            self.kind == JoinKind::Left && matches!(&*lock(&self.state), Marking::Marked(_));
        !residual.is_some_and(Program::is_volatile)
            && (!streams || self.pairs.probe.input.is_unordered())
    }

    fn takes_filter(&self, column: usize) -> bool {
        let preserved = &self.pairs.build;
        column < preserved.layout.row_columns
            && self.pairs.residual.as_ref().is_none_or(Program::is_total)
            && preserved.layout.is_total()
            && self.pairs.probe.layout.is_total()
            && preserved.input.takes_filter(column)
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.pairs.build.input.give_filter(column, filter);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let marked = match &*lock(&self.state) {
            Marking::New | Marking::Nothing => return Ok(Box::new(self.idle_cursor())),
            Marking::Partitioned => return Arc::clone(&self.partitioned).open(run),
            Marking::Marked(marked) => marked.clone(),
        };
        if self.kind != JoinKind::Left {
            return Ok(Box::new(MarkedCursor {
                rows: self.idle_cursor(),
                pairs: None,
                gives_marked: self.kind == JoinKind::Semi,
                beside_nulls: false,
                marked,
            }));
        }
        // Before the input is opened: rows that opening takes are still to be marked.
        let marker = Marker::new(&marked.marks);
        let source = Source::Streaming {
            index: Arc::clone(&marked.index),
            input: Arc::clone(&self.pairs.probe.input).open(run)?,
        };
        let pairs = JoinCursor::new(Arc::clone(&self.pairs), source).marking(&marked.marks);
        Ok(Box::new(MarkedCursor {
            rows: self.idle_cursor(),
            pairs: Some((pairs, marker)),
            gives_marked: false,
            beside_nulls: true,
            marked,
        }))
    }
}

/// Gives pairs, if the join has them, and then rows by their marks.
struct MarkedCursor {
    rows: JoinCursor,
    pairs: Option<(JoinCursor, Marker)>,
    gives_marked: bool,
    beside_nulls: bool,
    marked: Marked,
}

impl Cursor for MarkedCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let Marked { index, marks, .. } = &self.marked;
        if let Some((pairs, _)) = &mut self.pairs {
            if let Some(batch) = pairs.next(run)? {
                return Ok(Some(batch));
            }
            self.pairs = None;
        }
        // The last cursor knows all marks. A cursor that is opened later finds nothing to mark: all rows of the other
        // side were taken by cursors that have ended.
        if marks.is_marking() {
            return Ok(None);
        }
        run.statement.check_interrupt()?;
        let rows = marks.take(self.gives_marked, run.statement.options.batch_rows, index);
        if rows.is_empty() {
            return Ok(None);
        }
        self.rows
            .built_alone(index, &rows, self.beside_nulls)
            .map(Some)
    }
}

/// Sink that marks the partners of its rows.
struct MarkSink {
    cursor: JoinCursor,
    marked: Marked,
    matches: JoinMatches,
}

impl Sink for MarkSink {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let Marked { index, marks, .. } = &self.marked;
        let batch = self.cursor.extended(batch, run)?;
        let mut probe = self.cursor.probe(&batch, index)?;
        let Some(residual) = self.cursor.residual() else {
            // The rows of a key are marked together, so each key is followed once.
            for first in probe.first_matches() {
                if !marks.has(index.ordinal(first)) {
                    index
                        .rows_from(first)
                        .for_each(|row| marks.mark(index.ordinal(row)));
                }
            }
            return Ok(());
        };
        let limit = run.statement.options.batch_rows;
        while index.next_matches(&mut probe, limit, &mut self.matches) {
            run.statement.check_interrupt()?;
            let JoinMatches {
                probe_rows,
                build_rows,
            } = &self.matches;
            let pairs = self.cursor.pairs(&batch, index, probe_rows, build_rows)?;
            let selection = residual.select(&pairs, run)?;
            for (pair, row) in build_rows.iter().enumerate() {
                if selection.contains(pair) {
                    marks.mark(index.ordinal(*row));
                }
            }
        }
        Ok(())
    }
}

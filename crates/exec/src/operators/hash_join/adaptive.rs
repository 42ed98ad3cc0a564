//! Adaptive joins: an index lookup join that changes to a hash join once its lookups have cost as much.
//!
//! The first worker that counts as many lookups as that scans the right table into a hash table, while the others go on looking
//! up; then every worker probes it with the rest of its left rows. No row waits: each batch is joined as soon as it has
//! come. The change is given up where the hash table does not fit in memory, or where reading locks the rows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_plan::Expression;
use mayfly_plan::physical::{AdaptiveHash, IndexLookupJoin, OperatorNumber};
use mayfly_storage::{JoinIndex, KeyColumn, Table, TempTable};
use mayfly_types::{Batch, Result, SqlType};

use super::cursor::JoinCursor;
use super::join::HashJoin;
use super::side::{Side, WholeKeys};
use super::source::Source;
use super::specification::Specification;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::operators::keys::{Layout, key_mode};
use crate::operators::scan;
use crate::state::lock;

/// Bytes that a row of the build side is assumed to take beside its cells.
const ROW_BYTES: f64 = 64.0;

/// Number of an operator that is not part of the plan, and not measured.
const UNMEASURED: OperatorNumber = OperatorNumber::MAX;

/// Hash join that may replace the lookups of an index lookup join.
pub(in crate::operators) struct AdaptiveJoin {
    join: Arc<HashJoin>,
    /// Number of lookups after which it does.
    after: u64,
    /// Estimated number of rows of the build side.
    rows: f64,
    lookups: AtomicU64,
    state: Mutex<State>,
}

/// State of the change from lookups to a hash join.
enum State {
    LookingUp,
    /// A worker makes the hash table.
    Changing,
    Changed {
        index: Arc<JoinIndex>,
        _table: TempTable,
    },
    /// The hash table was too large, or a scan would lock too much.
    GivenUp,
}

impl AdaptiveJoin {
    /// The hash join that `join` may change to; `None` if conditions could fail or warn for rows that no key finds.
    pub(in crate::operators) fn new(
        join: &IndexLookupJoin,
        hash: &AdaptiveHash,
        left: Arc<dyn Node>,
    ) -> Result<Option<Self>> {
        let is_total = |one: &Option<Expression>| {
            one.as_ref()
                .is_none_or(|one| Program::compile(one).is_total())
        };
        if !is_total(&hash.predicate) || !is_total(&hash.residual) {
            return Ok(None);
        }
        let type_of = |column: &usize| join.table.columns[*column].ty.clone();
        let right: Vec<SqlType> = join.columns.iter().map(type_of).collect();
        let mut columns = join.columns.clone();
        let mut build_layout = Layout::new(&right);
        let mut probe_layout = Layout::new(&join.left.output);
        let (mut build_keys, mut probe_keys) = (Vec::new(), Vec::new());
        for (key, column) in join.keys.iter().zip(&hash.keys) {
            let ty = type_of(column);
            let place = columns.iter().position(|read| read == column);
            let place = place.unwrap_or_else(|| {
                columns.push(*column);
                build_layout.add_column(&ty)
            });
            let key_column = |column| KeyColumn {
                column,
                mode: key_mode(&ty),
                null_safe: false,
            };
            build_keys.push(key_column(place));
            probe_keys.push(key_column(probe_layout.column_of(&key.value)));
        }
        let (predicate, unordered) = (hash.predicate.as_ref(), (&[][..], &[][..]));
        let build = Side {
            input: scan::build(&join.table, &columns, predicate, unordered, UNMEASURED)?,
            layout: build_layout,
            keys: build_keys,
        };
        let probe = Side {
            input: left,
            layout: probe_layout,
            keys: probe_keys,
        };
        let specification = Specification {
            kind: join.kind,
            left: &join.left.output,
            right: &right,
            keys: &[],
            residual: hash.residual.as_ref(),
            build_left: false,
            partnered: true,
            temporary: &hash.temporary,
            wanted: None,
        };
        let join = HashJoin::new(&specification, join.kind, build, probe, false);
        Ok(Some(Self {
            join: Arc::new(join),
            after: hash.after,
            rows: hash.rows,
            lookups: AtomicU64::new(0),
            state: Mutex::new(State::LookingUp),
        }))
    }

    /// Begins a run.
    pub(in crate::operators) fn reset(&self) {
        self.lookups.store(0, Ordering::Relaxed);
        *lock(&self.state) = State::LookingUp;
    }

    /// Counts lookups.
    pub(in crate::operators) fn looked_up(&self, keys: u64) {
        self.lookups.fetch_add(keys, Ordering::Relaxed);
    }

    /// Index of the hash table, if the join has changed, or changes now.
    pub(in crate::operators) fn index(
        &self,
        table: &dyn Table,
        run: &RunContext,
    ) -> Result<Option<Arc<JoinIndex>>> {
        if self.lookups.load(Ordering::Relaxed) <= self.after {
            return Ok(None);
        }
        match &mut *lock(&self.state) {
            State::Changed { index, .. } => return Ok(Some(Arc::clone(index))),
            State::Changing | State::GivenUp => return Ok(None),
            state @ State::LookingUp => *state = State::Changing,
        }
        let made = if table.locks_reads() {
            None
        } else {
            self.make_table(run)?
        };
        let index = made.as_ref().map(|(index, _)| Arc::clone(index));
        *lock(&self.state) = match made {
            Some((index, _table)) => State::Changed { index, _table },
            None => State::GivenUp,
        };
        Ok(index)
    }

    /// The build side in a hash table, with its index; `None` if it does not fit in memory.
    fn make_table(&self, run: &RunContext) -> Result<Option<(Arc<JoinIndex>, TempTable)>> {
        let room = run.statement.temp.room_of_table();
        if self.rows * ROW_BYTES > room as f64 / 2.0 {
            return Ok(None);
        }
        let build = &self.join.build;
        build.input.prepare(run)?;
        let built = build.fill(&self.join.temporary, &[], WholeKeys::Ignored, run)?;
        let index = built.table.join_index()?;
        Ok(index.map(|index| (Arc::new(index), built.table)))
    }

    /// Cursor over the join of some left rows and all that `left` has after them.
    pub(in crate::operators) fn cursor(
        &self,
        index: Arc<JoinIndex>,
        first: Batch,
        left: Box<dyn Cursor>,
    ) -> Box<dyn Cursor> {
        let input = Box::new(Rest {
            first: Some(first),
            left,
        });
        let source = Source::Streaming { index, input };
        Box::new(JoinCursor::new(Arc::clone(&self.join), source))
    }
}

/// Rows of a batch, then those of a cursor.
struct Rest {
    first: Option<Batch>,
    left: Box<dyn Cursor>,
}

impl Cursor for Rest {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.left.next(run),
        }
    }
}

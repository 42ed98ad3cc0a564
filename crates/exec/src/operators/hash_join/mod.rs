//! Hash joins: joins by equality.
//!
//! The build side goes into a temporary table with hash access; while that fits in memory, the probe side streams past
//! its index. When it does not fit, the probe side goes into a table too, and the two are joined partition by
//! partition: rows that may match lie in the same pair of partitions, and rows whose key a filter of the build side's
//! keys refuses are not written where they would not come out. A pair whose build side is larger than memory, since its
//! rows are of one key, is joined piece by piece. In a recursion, whose rounds look few keys up in the same build side,
//! it goes into a tree instead ([`keyed`]). The probe side is the preserved one, so that every kind of join is
//! decided row by row of it; or the build side is, whose rows are then marked ([`marking`]).

mod adaptive;
mod cursor;
mod join;
mod keyed;
mod marking;
mod marks;
mod null_aware;
mod side;
mod source;
mod specification;

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKey, JoinKind};
use mayfly_storage::KeyColumn;
use mayfly_types::{Result, SqlType};

pub(super) use self::adaptive::AdaptiveJoin;
use self::cursor::JoinCursor;
use self::join::{HashJoin, State};
use self::keyed::KeyedCursor;
use self::marking::MarkingJoin;
use self::side::Side;
use self::source::Source;
pub(super) use self::specification::Specification;
use super::keys::{Layout, key_mode};
use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::key_filter::GivenFilter;
use crate::state::lock;

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
        let (build, probe) = if build_left {
            (left_side(), right_side())
        } else {
            (right_side(), left_side())
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
            State::Everything | State::Streaming { .. } | State::Keyed(_) => {
                self.probe.input.rows_hint()
            }
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
            State::Everything | State::Streaming { .. } | State::Keyed(_) => {
                self.probe.input.is_unordered()
            }
        }
    }

    fn follows_rounds(&self) -> bool {
        // The recursive table is read once in a query block, so not also by the build side.
        match &*lock(&self.state) {
            State::New | State::Partitioned { .. } => false,
            State::Nothing | State::Everything | State::Streaming { .. } | State::Keyed(_) => {
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
            State::Keyed(rows) => {
                let rows = Arc::clone(rows);
                let input = Arc::clone(&self.probe.input).open(run)?;
                return Ok(Box::new(KeyedCursor::new(self.clone(), rows, input)));
            }
        };
        Ok(Box::new(JoinCursor::new(self, source)))
    }
}

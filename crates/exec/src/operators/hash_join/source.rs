//! Source of the probe rows and of the index that they are looked up in.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use mayfly_memory::Reservation;
use mayfly_plan::physical::JoinKind;
use mayfly_storage::{JoinIndex, JoinPair, PartitionQueue};
use mayfly_types::{Batch, Result};

use super::join::HashJoin;
use super::marks::memory_of_marks;
use super::side::Side;
use crate::context::{Cursor, RunContext};

pub(super) enum Source {
    Nothing,
    Streaming {
        index: Arc<JoinIndex>,
        input: Box<dyn Cursor>,
    },
    Partitioned {
        queue: PartitionQueue,
        pair: Option<PairSource>,
    },
}

/// Probe rows with their computed keys.
pub(super) enum Probed {
    /// Rows to be looked up in the index, which has all of their matches.
    Whole(Batch, Arc<JoinIndex>),
    /// Rows to be looked up in the index of a piece of the build side; their matches are marked from this row number
    /// on.
    Piece(Batch, Arc<JoinIndex>, usize),
    /// Rows that were looked up in every piece: their marks, from this number on, decide.
    Marked(Batch, usize),
}

impl Source {
    /// The next probe rows. Fills `hashes` with the hashes of their keys if known, else leaves it empty.
    pub(super) fn next(
        &mut self,
        node: &HashJoin,
        hashes: &mut Vec<u64>,
        run: &RunContext,
    ) -> Result<Option<Probed>> {
        hashes.clear();
        match self {
            Self::Nothing => Ok(None),
            Self::Streaming { index, input } => {
                let Some(batch) = input.next(run)? else {
                    return Ok(None);
                };
                let Side { layout, .. } = &node.probe;
                let batch = layout.extend(batch, run)?;
                Ok(Some(Probed::Whole(batch, Arc::clone(index))))
            }
            Self::Partitioned { queue, pair } => loop {
                if let Some(current) = pair {
                    if let Some(probed) = current.next(hashes)? {
                        return Ok(Some(probed));
                    }
                    *pair = None;
                }
                match queue.next_pair()? {
                    None => return Ok(None),
                    Some(next) => *pair = Some(PairSource::new(next, node.kind, run)?),
                }
            },
        }
    }

    /// Marks a probe row of a piece as matched. Inner joins keep no marks.
    pub(super) fn mark(&mut self, row: usize) {
        if let Self::Partitioned {
            pair: Some(pair), ..
        } = self
            && let Some(marks) = &mut pair.marks
        {
            marks.mark(row);
        }
    }

    /// Whether a probe row has a match in any piece.
    pub(super) fn is_marked(&self, row: usize) -> bool {
        let Self::Partitioned {
            pair: Some(pair), ..
        } = self
        else {
            return false;
        };
        pair.marks
            .as_ref()
            .is_some_and(|marks| marks.marked.get_bit(row))
    }
}

/// A pair of partitions that is being read.
pub(super) struct PairSource {
    pair: JoinPair,
    kind: JoinKind,
    stage: Stage,
    /// Number of the next probe row.
    next_row: usize,
    marks: Option<ProbeMarks>,
}

enum Stage {
    /// The next index is to be built.
    Between,
    LookingUp(Arc<JoinIndex>),
    Deciding,
}

impl PairSource {
    fn new(pair: JoinPair, kind: JoinKind, run: &RunContext) -> Result<Self> {
        let marks = if pair.is_in_pieces() && kind != JoinKind::Inner {
            Some(ProbeMarks::new(pair.probe_rows(), run)?)
        } else {
            None
        };
        Ok(Self {
            pair,
            kind,
            stage: Stage::Between,
            next_row: 0,
            marks,
        })
    }

    fn next(&mut self, hashes: &mut Vec<u64>) -> Result<Option<Probed>> {
        loop {
            if !matches!(self.stage, Stage::Between)
                && let Some(batch) = self.pair.next_probed(hashes)?
            {
                let first = self.next_row;
                self.next_row += batch.row_count();
                match &self.stage {
                    Stage::LookingUp(index) if self.pair.is_in_pieces() => {
                        return Ok(Some(Probed::Piece(batch, Arc::clone(index), first)));
                    }
                    Stage::LookingUp(index) => {
                        return Ok(Some(Probed::Whole(batch, Arc::clone(index))));
                    }
                    Stage::Deciding | Stage::Between => {
                        return Ok(Some(Probed::Marked(batch, first)));
                    }
                }
            }
            self.next_row = 0;
            let decided = matches!(self.stage, Stage::Deciding);
            // The index is freed before the next one needs its memory.
            self.stage = Stage::Between;
            self.stage = match self.next_index()? {
                Some(index) => Stage::LookingUp(Arc::new(index)),
                None if self.marks.is_none() || decided => return Ok(None),
                None => {
                    self.pair.rewind();
                    Stage::Deciding
                }
            };
        }
    }

    fn next_index(&mut self) -> Result<Option<JoinIndex>> {
        let all_marked = self.marks.as_ref().is_some_and(ProbeMarks::is_full);
        if all_marked && self.kind != JoinKind::Left {
            // Semi and anti joins need no further piece.
            return Ok(None);
        }
        self.pair.next_index()
    }
}

/// Marks of the probe rows of a pair that have a match in a piece.
struct ProbeMarks {
    marked: BooleanBufferBuilder,
    /// Number of unmarked rows.
    unmarked: usize,
    _reservation: Reservation,
}

impl ProbeMarks {
    fn new(rows: usize, run: &RunContext) -> Result<Self> {
        let reservation = memory_of_marks(rows, run)?;
        let mut marked = BooleanBufferBuilder::new(rows);
        marked.append_n(rows, false);
        Ok(Self {
            marked,
            unmarked: rows,
            _reservation: reservation,
        })
    }

    fn mark(&mut self, row: usize) {
        self.unmarked -= usize::from(!self.marked.get_bit(row));
        self.marked.set_bit(row, true);
    }

    fn is_full(&self) -> bool {
        self.unmarked == 0
    }
}

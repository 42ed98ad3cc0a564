//! Window functions: each gives its values for a chunk of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, UInt64Array, new_null_array};
use arrow_select::interleave::interleave;
use mayfly_functions::aggregate::{Block, Frame, FrameAggregate, frame_aggregate};
use mayfly_plan::window::{WindowCall, WindowFunction};
use mayfly_types::{Batch, PhysicalType, Result};

use super::chunk::Chunk;
use super::frames::{Frames, Lookahead};
use super::rows::{Reader, Rows};
use crate::context::RunContext;
use crate::error::arrow;
use crate::operators::keys::Layout;
use crate::representation::{column_type, to_column};

/// A window function and its state.
pub(super) enum Function {
    RowNumber,
    Rank,
    DenseRank {
        last: u64,
    },
    PercentRank,
    CumeDist,
    Ntile(u64),
    /// LAG (negative offset) and LEAD.
    Shift {
        rows: i64,
        value: Value,
        default: Option<usize>,
    },
    /// FIRST_VALUE, LAST_VALUE and NTH_VALUE: a value of the frame.
    Pick {
        pick: Pick,
        frames: Frames,
        value: Value,
    },
    Aggregate {
        aggregate: Box<dyn FrameAggregate>,
        columns: Vec<usize>,
        frames: Frames,
        entering: Reader,
        leaving: Reader,
    },
}

/// Row of a frame that a function picks.
#[derive(Clone, Copy)]
pub(super) enum Pick {
    /// The row `n` rows behind the first.
    FromStart(u64),
    Last,
}

/// A column whose values are read forward.
pub(super) struct Value {
    column: usize,
    physical: PhysicalType,
    reader: Reader,
    /// (row, value) that was read last.
    held: Option<(u64, ArrayRef)>,
}

impl Value {
    fn new(call: &WindowCall, layout: &mut Layout) -> Self {
        let argument = call.arguments.first();
        Self {
            column: argument.map_or(0, |argument| layout.column_of(argument)),
            physical: column_type(&call.result),
            reader: Reader::default(),
            held: None,
        }
    }

    /// Values of rows; where there is no row, the value of `default` for the current row.
    fn take(
        &mut self,
        positions: impl ExactSizeIterator<Item = Option<u64>>,
        default: Option<&ArrayRef>,
        rows: &Rows,
    ) -> Result<ArrayRef> {
        let null = || new_null_array(&self.physical.arrow(), 1);
        let mut sources: Vec<ArrayRef> = vec![default.cloned().unwrap_or_else(null)];
        let mut here: (u64, u64) = (0, 0);
        let mut wanted = Vec::with_capacity(positions.len());
        let held = self.held.as_ref().map(|(row, value)| {
            sources.push(Arc::clone(value));
            *row
        });
        let mut last = None;
        for (at, position) in positions.enumerate() {
            let Some(position) = position else {
                wanted.push((0, if default.is_some() { at } else { 0 }));
                continue;
            };
            if held == Some(position) {
                wanted.push((1, 0));
                continue;
            }
            if position < here.0 || position >= here.1 {
                let (first, batch) = rows.block(&mut self.reader, position)?;
                here = (first, first + batch.row_count() as u64);
                sources.push(Arc::clone(batch.column(self.column)));
            }
            last = Some((position, wanted.len()));
            wanted.push((sources.len() - 1, (position - here.0) as usize));
        }
        let arrays: Vec<&dyn Array> = sources.iter().map(AsRef::as_ref).collect();
        let taken = interleave(&arrays, &wanted).map_err(arrow)?;
        if let Some((row, at)) = last {
            let value = Batch::new(vec![taken.slice(at, 1)], 1).with_own_strings();
            self.held = Some((row, Arc::clone(value.column(0))));
        }
        Ok(taken)
    }
}

impl Function {
    pub(super) fn new(call: &WindowCall, layout: &mut Layout) -> Result<Self> {
        let shift = |rows: i64, layout: &mut Layout| Self::Shift {
            rows,
            value: Value::new(call, layout),
            default: call
                .arguments
                .get(1)
                .map(|default| layout.column_of(default)),
        };
        let pick = |pick: Pick, layout: &mut Layout| Self::Pick {
            pick,
            frames: Frames::new(&call.frame, layout),
            value: Value::new(call, layout),
        };
        Ok(match &call.function {
            WindowFunction::RowNumber => Self::RowNumber,
            WindowFunction::Rank => Self::Rank,
            WindowFunction::DenseRank => Self::DenseRank { last: 0 },
            WindowFunction::PercentRank => Self::PercentRank,
            WindowFunction::CumeDist => Self::CumeDist,
            WindowFunction::Ntile(buckets) => Self::Ntile(*buckets),
            WindowFunction::Lag(rows) => shift(-rows.cast_signed(), layout),
            WindowFunction::Lead(rows) => shift(rows.cast_signed(), layout),
            WindowFunction::FirstValue => pick(Pick::FromStart(0), layout),
            WindowFunction::NthValue(row) => pick(Pick::FromStart(row.saturating_sub(1)), layout),
            WindowFunction::LastValue => pick(Pick::Last, layout),
            WindowFunction::Aggregate(aggregate) => {
                let frames = Frames::new(&call.frame, layout);
                let never_removes = frames.begins_with_partition();
                let (function, signature) = (aggregate.function, &aggregate.signature);
                let columns = aggregate.arguments.iter();
                Self::Aggregate {
                    aggregate: frame_aggregate(function, signature, never_removes)?,
                    columns: columns.map(|argument| layout.column_of(argument)).collect(),
                    frames,
                    entering: Reader::default(),
                    leaving: Reader::default(),
                }
            }
        })
    }

    /// Rows that must be seen before the value of a row is known.
    pub(super) fn lookahead(&self) -> Lookahead {
        match self {
            Self::RowNumber => Lookahead::Rows(0),
            Self::Rank | Self::DenseRank { .. } => Lookahead::Rows(0),
            Self::PercentRank | Self::CumeDist | Self::Ntile(_) => Lookahead::Partition,
            Self::Shift { rows, .. } => Lookahead::Rows(u64::try_from(*rows).unwrap_or(0)),
            Self::Pick { frames, pick, .. } => match pick {
                // The first row is in every such frame.
                Pick::FromStart(0) if frames.begins_with_partition() => frames.lookahead_of_first(),
                _ => frames.lookahead(),
            },
            Self::Aggregate { frames, .. } => frames.lookahead(),
        }
    }

    /// Whether the function depends on peers.
    pub(super) fn reads_peers(&self) -> bool {
        match self {
            Self::Rank | Self::DenseRank { .. } | Self::PercentRank | Self::CumeDist => true,
            Self::Pick { frames, .. } | Self::Aggregate { frames, .. } => frames.reads_peers(),
            Self::RowNumber | Self::Ntile(_) | Self::Shift { .. } => false,
        }
    }

    /// First row that the function may still read, if `next` is the next row of output.
    pub(super) fn low(&self, next: u64) -> u64 {
        match self {
            Self::Shift { rows, .. } => next.saturating_add_signed((*rows).min(0)),
            Self::Pick { pick, frames, .. } => {
                let (start, end) = frames.last;
                let own = match pick {
                    Pick::FromStart(_) if frames.begins_with_partition() => end,
                    Pick::FromStart(_) => start,
                    Pick::Last => end.saturating_sub(1),
                };
                own.min(frames.low())
            }
            Self::Aggregate {
                aggregate, frames, ..
            } => {
                let (start, end) = aggregate.frame();
                let own = if frames.begins_with_partition() {
                    end
                } else {
                    start
                };
                own.min(frames.low())
            }
            _ => next,
        }
    }

    /// Values of the function for the rows of a chunk.
    pub(super) fn values(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &Rows,
        run: &RunContext,
    ) -> Result<ArrayRef> {
        let numbers = chunk.first..chunk.first + chunk.len() as u64;
        let partitions = chunk.partitions.starts.iter().zip(&chunk.partitions.ends);
        match self {
            Self::RowNumber => Ok(numbers_of(
                numbers
                    .zip(&chunk.partitions.starts)
                    .map(|(row, start)| row - start + 1),
            )),
            Self::Rank => Ok(numbers_of(
                chunk
                    .peers
                    .starts
                    .iter()
                    .zip(&chunk.partitions.starts)
                    .map(|(peer, start)| peer - start + 1),
            )),
            Self::DenseRank { last } => {
                let groups = numbers.zip(&chunk.peers.starts);
                let groups = groups.zip(&chunk.partitions.starts);
                Ok(numbers_of(groups.map(|((row, peer), start)| {
                    if row == *start {
                        *last = 1;
                    } else if row == *peer {
                        *last += 1;
                    }
                    *last
                })))
            }
            Self::PercentRank => {
                let ranks = chunk.peers.starts.iter().zip(partitions);
                Ok(shares_of(ranks.map(|(peer, (start, end))| {
                    let others = end - start - 1;
                    (peer - start) as f64 / others.max(1) as f64
                })))
            }
            Self::CumeDist => {
                let ends = chunk.peers.ends.iter().zip(partitions);
                Ok(shares_of(ends.map(|(peer, (start, end))| {
                    (peer - start) as f64 / (end - start) as f64
                })))
            }
            Self::Ntile(buckets) => {
                let rows = numbers.zip(partitions);
                Ok(numbers_of(rows.map(|(row, (start, end))| {
                    bucket(row - start, end - start, *buckets)
                })))
            }
            Self::Shift {
                rows: distance,
                value,
                default,
            } => {
                let bounds = chunk.partitions.starts.iter().zip(&chunk.partitions.ends);
                let positions = Positions {
                    row: chunk.first,
                    bounds,
                };
                let distance = *distance;
                let positions = positions.map(|(row, start, end)| {
                    let position = i128::from(row) + i128::from(distance);
                    let position = u64::try_from(position).ok()?;
                    (start <= position && position < end).then_some(position)
                });
                let default = default.map(|column| chunk.batch.column(column));
                value.take(positions, default, rows)
            }
            Self::Pick {
                pick,
                frames,
                value,
            } => {
                let frames = frames.of(chunk, rows)?;
                let positions = frames.iter().map(|(start, end)| {
                    let position = match pick {
                        Pick::FromStart(behind) => start.saturating_add(*behind),
                        Pick::Last => end.saturating_sub(1),
                    };
                    (start..end).contains(&&position).then_some(position)
                });
                value.take(positions, None, rows)
            }
            Self::Aggregate {
                aggregate,
                columns,
                frames,
                entering,
                leaving,
            } => {
                let keeps_all = frames.begins_with_partition();
                let frames = frames.of(chunk, rows)?;
                let readers = (entering, leaving);
                slide(
                    &mut **aggregate,
                    columns,
                    &frames,
                    keeps_all,
                    rows,
                    readers,
                    run,
                )?;
                Ok(to_column(aggregate.take_results(run.evaluation())?))
            }
        }
    }

    /// Bytes of the function's state.
    pub(super) fn memory_bytes(&self) -> u64 {
        match self {
            Self::Aggregate { aggregate, .. } => aggregate.memory_bytes() as u64,
            _ => 0,
        }
    }
}

/// Row numbers with the bounds of their partitions.
struct Positions<I> {
    row: u64,
    bounds: I,
}

impl<'a, I: Iterator<Item = (&'a u64, &'a u64)>> Iterator for Positions<I> {
    type Item = (u64, u64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let (start, end) = self.bounds.next()?;
        self.row += 1;
        Some((self.row - 1, *start, *end))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bounds.size_hint()
    }
}

impl<'a, I: ExactSizeIterator<Item = (&'a u64, &'a u64)>> ExactSizeIterator for Positions<I> {}

fn numbers_of(numbers: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(numbers))
}

fn shares_of(shares: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(shares))
}

/// NTILE: bucket of a row; the first buckets have one row more than the others.
fn bucket(row: u64, rows: u64, buckets: u64) -> u64 {
    let (size, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (size + 1);
    if row < in_larger {
        row / (size + 1) + 1
    } else {
        larger + (row - in_larger) / size.max(1) + 1
    }
}

/// Moves an aggregate over frames, together for frames that read the same blocks.
fn slide(
    aggregate: &mut dyn FrameAggregate,
    columns: &[usize],
    frames: &[Frame],
    keeps_all: bool,
    rows: &Rows,
    (entering, leaving): (&mut Reader, &mut Reader),
    run: &RunContext,
) -> Result<()> {
    let arguments = |batch: &Batch| -> Vec<ArrayRef> {
        let columns = columns.iter();
        columns
            .map(|column| Arc::clone(batch.column(*column)))
            .collect()
    };
    let last = rows.end().saturating_sub(1);
    let mut rest = frames;
    while let [(start, end), ..] = *rest {
        let (_, behind) = aggregate.frame();
        if start >= behind && aggregate.frame() != (start, start) {
            aggregate.restart(start);
        }
        let (first, behind) = aggregate.frame();
        let (enter_first, batch) = rows.block(entering, behind.min(last))?;
        let enter_end = enter_first + batch.row_count() as u64;
        let enter = arguments(batch);
        let added = Block {
            arguments: &enter,
            first: enter_first,
        };
        let leave;
        let (removed, leave_end) = if keeps_all {
            (added, u64::MAX)
        } else {
            let (leave_first, batch) = rows.block(leaving, first.min(last))?;
            leave = arguments(batch);
            let removed = Block {
                arguments: &leave,
                first: leave_first,
            };
            (removed, leave_first + batch.row_count() as u64)
        };
        let count = rest.partition_point(|(start, end)| *end <= enter_end && *start <= leave_end);
        if count > 0 {
            let (now, later) = rest.split_at(count);
            aggregate.slide(added, removed, now, run.evaluation())?;
            rest = later;
        } else if end > enter_end {
            run.statement.check_interrupt()?;
            aggregate.add(added, enter_end)?;
        } else {
            aggregate.remove(removed, leave_end)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn the_first_buckets_are_larger() {
        let buckets = |rows: u64, count: u64| -> Vec<u64> {
            (0..rows).map(|row| bucket(row, rows, count)).collect()
        };
        assert_eq!(buckets(7, 3), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(buckets(2, 4), [1, 2]);
        assert_eq!(buckets(4, 2), [1, 1, 2, 2]);
        assert_eq!(buckets(3, 1), [1, 1, 1]);
    }
}

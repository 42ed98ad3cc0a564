//! Window frames: the range of rows that a function reads for each row.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use mayfly_functions::aggregate::Frame;
use mayfly_plan::window::{self, FrameBound};
use mayfly_types::{PhysicalType, Result};

use super::chunk::Chunk;
use super::rows::{Reader, Rows};
use crate::operators::keys::Layout;
use crate::representation::column_type;

/// Frames of a call.
pub(super) struct Frames {
    start: Bound,
    end: Bound,
    counts_rows: bool,
    /// Frame of the last row.
    pub(super) last: Frame,
}

enum Bound {
    Unbounded,
    CurrentRow,
    Rows(i64),
    Value(ValueBound),
}

/// A RANGE bound, by the value of the sort key.
struct ValueBound {
    /// Columns of the sort key and of the bound's value.
    key: usize,
    value: usize,
    physical: PhysicalType,
    descending: bool,
    is_start: bool,
    /// First row that may be the bound.
    at: u64,
    reader: Reader,
}

/// Rows that must be seen before the frame of a row is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lookahead {
    /// The row itself and `n` rows behind it.
    Rows(u64),
    /// All of its peers.
    Peers,
    /// Its whole partition.
    Partition,
}

impl Frames {
    pub(super) fn new(frame: &window::Frame, layout: &mut Layout) -> Self {
        let mut bound = |bound: &FrameBound, is_start: bool| match bound {
            FrameBound::Unbounded => Bound::Unbounded,
            FrameBound::CurrentRow => Bound::CurrentRow,
            FrameBound::Rows(rows) => Bound::Rows(*rows),
            FrameBound::Value(value) => Bound::Value(ValueBound {
                physical: column_type(&value.key.ty),
                key: layout.column_of(&value.key),
                value: layout.column_of(&value.value),
                descending: value.descending,
                is_start,
                at: 0,
                reader: Reader::default(),
            }),
        };
        Self {
            start: bound(&frame.start, true),
            end: bound(&frame.end, false),
            counts_rows: frame.counts_rows,
            last: (0, 0),
        }
    }

    /// Whether every frame begins with its partition.
    pub(super) fn begins_with_partition(&self) -> bool {
        matches!(self.start, Bound::Unbounded)
    }

    pub(super) fn lookahead(&self) -> Lookahead {
        let of_bound = |bound: &Bound| match bound {
            Bound::Rows(rows) => Lookahead::Rows(u64::try_from(*rows).unwrap_or(0)),
            Bound::CurrentRow if self.counts_rows => Lookahead::Rows(0),
            Bound::CurrentRow => Lookahead::Peers,
            Bound::Value(_) => Lookahead::Partition,
            Bound::Unbounded => Lookahead::Rows(0),
        };
        match self.end {
            Bound::Unbounded => Lookahead::Partition,
            _ => of_bound(&self.start).max(of_bound(&self.end)),
        }
    }

    /// Rows that must be seen before it is known whether a frame that begins with its partition has a first row.
    pub(super) fn lookahead_of_first(&self) -> Lookahead {
        match self.end {
            Bound::Value(_) => Lookahead::Partition,
            _ => Lookahead::Rows(0),
        }
    }

    /// Whether the frames depend on peers.
    pub(super) fn reads_peers(&self) -> bool {
        let reads = |bound: &Bound| match bound {
            Bound::CurrentRow => !self.counts_rows,
            Bound::Value(_) => true,
            Bound::Unbounded | Bound::Rows(_) => false,
        };
        reads(&self.start) || reads(&self.end)
    }

    /// First row whose key later frames may read.
    pub(super) fn low(&self) -> u64 {
        let of_bound = |bound: &Bound| match bound {
            Bound::Value(value) => value.at,
            _ => u64::MAX,
        };
        of_bound(&self.start).min(of_bound(&self.end))
    }

    /// Frames of rows; an end is the number behind the last row. No start is behind its end, and neither ever moves
    /// back.
    pub(super) fn of(&mut self, chunk: &Chunk<'_>, rows: &Rows) -> Result<Vec<Frame>> {
        let starts = self.start.of(chunk, self.counts_rows, true, rows)?;
        let ends = self.end.of(chunk, self.counts_rows, false, rows)?;
        let frames: Vec<Frame> = starts
            .into_iter()
            .zip(ends)
            .map(|(start, end)| (start.min(end), end))
            .collect();
        if let Some(last) = frames.last() {
            self.last = *last;
        }
        Ok(frames)
    }
}

impl Bound {
    fn of(
        &mut self,
        chunk: &Chunk<'_>,
        counts_rows: bool,
        is_start: bool,
        rows: &Rows,
    ) -> Result<Vec<u64>> {
        let partitions = &chunk.partitions;
        let numbers = chunk.first..chunk.first + chunk.len() as u64;
        // An end is the number behind the row.
        let behind = u64::from(!is_start);
        Ok(match self {
            Self::Unbounded if is_start => partitions.starts.clone(),
            Self::Unbounded => partitions.ends.clone(),
            Self::CurrentRow if counts_rows => numbers.map(|row| row + behind).collect(),
            Self::CurrentRow if is_start => chunk.peers.starts.clone(),
            Self::CurrentRow => chunk.peers.ends.clone(),
            Self::Rows(distance) => {
                let bounds = partitions.starts.iter().zip(&partitions.ends);
                let moved = numbers.zip(bounds);
                let moved = moved.map(|(row, (start, end))| {
                    let row = (row + behind).saturating_add_signed(*distance);
                    row.clamp(*start, *end)
                });
                moved.collect()
            }
            Self::Value(value) => value.of(chunk, rows)?,
        })
    }
}

impl ValueBound {
    fn of(&mut self, chunk: &Chunk<'_>, rows: &Rows) -> Result<Vec<u64>> {
        match self.physical {
            PhysicalType::Int64 | PhysicalType::Bool => self.of_native::<Int64Type>(chunk, rows),
            PhysicalType::UInt64 => self.of_native::<UInt64Type>(chunk, rows),
            PhysicalType::Float64 => self.of_native::<Float64Type>(chunk, rows),
            PhysicalType::Decimal128(_) => self.of_native::<Decimal128Type>(chunk, rows),
            PhysicalType::Decimal256(_) => self.of_native::<Decimal256Type>(chunk, rows),
            PhysicalType::Bytes => Err(mismatch()),
        }
    }

    fn of_native<T>(&mut self, chunk: &Chunk<'_>, rows: &Rows) -> Result<Vec<u64>>
    where
        T: ArrowPrimitiveType,
        T::Native: PartialOrd,
    {
        let keys = natives::<T>(chunk.batch.column(self.key))?;
        let values = natives::<T>(chunk.batch.column(self.value))?;
        let mut bounds = Vec::with_capacity(chunk.len());
        let mut block: Option<(u64, PrimitiveArray<T>)> = None;
        for row in 0..chunk.len() {
            if keys.is_null(row) {
                // The bound of a NULL is its peer group.
                bounds.push(if self.is_start {
                    chunk.peers.starts[row]
                } else {
                    chunk.peers.ends[row]
                });
                continue;
            }
            let value = values.is_valid(row).then(|| values.value(row));
            let end = chunk.partitions.ends[row];
            self.at = self.at.max(chunk.partitions.starts[row]);
            while self.at < end {
                let is_here = |block: &(u64, PrimitiveArray<T>)| {
                    self.at >= block.0 && self.at < block.0 + block.1.len() as u64
                };
                if !block.as_ref().is_some_and(is_here) {
                    let (first, batch) = rows.block(&mut self.reader, self.at)?;
                    block = Some((first, natives::<T>(batch.column(self.key))?.clone()));
                }
                let Some((first, keys)) = &block else { break };
                let at = (self.at - first) as usize;
                let key = keys.is_valid(at).then(|| keys.value(at));
                if !self.is_passed(key, value) {
                    break;
                }
                self.at += 1;
            }
            bounds.push(self.at);
        }
        Ok(bounds)
    }

    /// Whether a row with that key is before the bound.
    fn is_passed<N: PartialOrd>(&self, key: Option<N>, bound: Option<N>) -> bool {
        let Some(key) = key else {
            // NULLs come first, or last if descending.
            return !self.descending;
        };
        let Some(bound) = bound else {
            return !self.is_start;
        };
        match (self.is_start, self.descending) {
            (true, false) => key < bound,
            (true, true) => key > bound,
            (false, false) => key <= bound,
            (false, true) => key >= bound,
        }
    }
}

fn natives<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<&PrimitiveArray<T>> {
    column.as_primitive_opt::<T>().ok_or_else(mismatch)
}

fn mismatch() -> mayfly_types::Error {
    mayfly_types::Error::internal("the key of a frame has another type")
}

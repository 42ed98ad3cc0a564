//! From chunks to batches.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer, i256};
use mayfly_types::{Batch, PhysicalType, Result};

use super::chunk::{Chunk, Column, Narrow, OFFSET_BITS, OFFSET_MASK, Values};
use super::{Inner, Snapshot, TABLE_NAME};
use crate::error::user_error;
use crate::table::{ColumnId, TableScan};

/// One worker's cursor: takes a chunk at a time.
pub(super) struct ColumnarScan {
    table: Arc<Inner>,
    chunks: Snapshot,
    columns: Vec<ColumnId>,
    /// The next chunk that no worker has taken.
    next: Arc<AtomicUsize>,
    current: Option<Current>,
}

/// The chunk that is being read.
struct Current {
    chunk: Arc<Chunk>,
    row: usize,
    columns: Vec<Reader>,
}

/// What a column needs in memory for the batch that is made.
struct Reader {
    fixed: Buffer,
    /// Blocks that batches are made of now, from `first_block` on.
    blocks: Vec<Buffer>,
    first_block: usize,
}

impl ColumnarScan {
    pub(super) fn new(table: &Arc<Inner>, chunks: Snapshot, columns: &[ColumnId]) -> Self {
        Self {
            table: Arc::clone(table),
            chunks,
            columns: columns.to_vec(),
            next: Arc::default(),
            current: None,
        }
    }

    fn read(&mut self) -> mayfly_memory::Result<Option<Batch>> {
        let context = &self.table.context;
        if self.current.is_none() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = self.chunks.get(index) else {
                return Ok(None);
            };
            let mut columns = Vec::with_capacity(self.columns.len());
            for id in &self.columns {
                columns.push(Reader {
                    fixed: chunk.columns[id.0].fixed.load(context)?,
                    blocks: Vec::new(),
                    first_block: 0,
                });
            }
            self.current = Some(Current {
                chunk: Arc::clone(chunk),
                row: 0,
                columns,
            });
        }
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let end = (current.row + context.batch_rows.max(1)).min(current.chunk.rows);
        let rows = current.row..end;
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (id, reader) in self.columns.iter().zip(&mut current.columns) {
            let column = &current.chunk.columns[id.0];
            arrays.push(reader.read(column, rows.clone(), &self.table)?);
        }
        current.row = end;
        if end == current.chunk.rows {
            self.current = None;
        }
        Ok(Some(Batch::new(arrays, rows.len())))
    }
}

impl TableScan for ColumnarScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.read().map_err(|error| user_error(&error, TABLE_NAME))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            table: Arc::clone(&self.table),
            chunks: Arc::clone(&self.chunks),
            columns: self.columns.clone(),
            next: Arc::clone(&self.next),
            current: None,
        })
    }
}

impl Narrow {
    /// The values of some rows.
    fn each(&self, fixed: &[u8], rows: Range<usize>, mut take: impl FnMut(u64)) {
        let Self { base, width, start } = *self;
        let bytes = &fixed[start + rows.start * width..start + rows.end * width];
        match width {
            0 => rows.for_each(|_| take(base)),
            1 => {
                for byte in bytes {
                    take(base.wrapping_add(u64::from(*byte)));
                }
            }
            2 => {
                for word in bytes.as_chunks::<2>().0 {
                    take(base.wrapping_add(u64::from(u16::from_le_bytes(*word))));
                }
            }
            4 => {
                for word in bytes.as_chunks::<4>().0 {
                    take(base.wrapping_add(u64::from(u32::from_le_bytes(*word))));
                }
            }
            _ => {
                for word in bytes.as_chunks::<8>().0 {
                    take(base.wrapping_add(u64::from_le_bytes(*word)));
                }
            }
        }
    }
}

/// All zero bytes, for a column without values.
fn zeros(ty: PhysicalType, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    match ty {
        PhysicalType::Bool => Arc::new(BooleanArray::new(BooleanBuffer::new_unset(rows), nulls)),
        PhysicalType::Bytes => {
            let views = ScalarBuffer::from(vec![0_u128; rows]);
            Arc::new(BinaryViewArray::new(views, Vec::<Buffer>::new(), nulls))
        }
        PhysicalType::Float64 => Arc::new(Float64Array::new(vec![0.0; rows].into(), nulls)),
        PhysicalType::Int64 => Arc::new(Int64Array::new(vec![0; rows].into(), nulls)),
        PhysicalType::UInt64 => Arc::new(UInt64Array::new(vec![0; rows].into(), nulls)),
        PhysicalType::Decimal128(_) => {
            let array = Decimal128Array::new(vec![0; rows].into(), nulls);
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Decimal256(_) => {
            let array = Decimal256Array::new(vec![i256::ZERO; rows].into(), nulls);
            Arc::new(array.with_data_type(ty.arrow()))
        }
    }
}

impl Reader {
    fn read(
        &mut self,
        column: &Column,
        rows: Range<usize>,
        table: &Inner,
    ) -> mayfly_memory::Result<ArrayRef> {
        // A handle of its own, since blocks are loaded beside it.
        let fixed = &self.fixed.clone();
        let nulls = column.validity.map(|start| {
            let bits = fixed.slice(start);
            NullBuffer::new(BooleanBuffer::new(bits, rows.start, rows.len()))
        });
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let ty = column.ty;
        Ok(match &column.values {
            Values::Nothing => zeros(ty, rows.len(), nulls),
            Values::Bits { start } => {
                let bits = BooleanBuffer::new(fixed.slice(*start), rows.start, rows.len());
                Arc::new(BooleanArray::new(bits, nulls))
            }
            Values::Narrow(narrow) => narrow_array(narrow, fixed, ty, rows, nulls),
            Values::Plain { width, start } => {
                let bytes = &fixed[start + rows.start * width..start + rows.end * width];
                plain_array(bytes, ty, nulls)
            }
            Values::OneLength { length, per_block } => {
                let (length, per_block) = (*length, *per_block);
                self.keep_blocks(
                    column,
                    rows.start / per_block..(rows.end - 1) / per_block + 1,
                    table,
                )?;
                let views = self.views_of_one_length(length, per_block, rows);
                self.strings(views, nulls)
            }
            Values::Strings { positions, lengths } => {
                let mut views = Vec::with_capacity(rows.len());
                lengths.each(fixed, rows.clone(), |length| views.push(u128::from(length)));
                let positions = &fixed[positions + rows.start * 4..positions + rows.end * 4];
                let positions = positions.as_chunks::<4>().0;
                // Positions rise; one of an empty value may name a block that is not there.
                let block = |place: &[u8; 4]| {
                    let block = (u32::from_le_bytes(*place) >> OFFSET_BITS) as usize;
                    block.min(column.blocks.len())
                };
                let first = positions.first().map_or(0, block);
                let last = positions.last().map_or(0, |place| block(place) + 1);
                self.keep_blocks(column, first..last.min(column.blocks.len()), table)?;
                for (view, place) in views.iter_mut().zip(positions) {
                    let (length, place) = (*view as usize, u32::from_le_bytes(*place));
                    if length > 0 {
                        let index = (place >> OFFSET_BITS) as usize - self.first_block;
                        let start = (place & OFFSET_MASK) as usize;
                        *view = view_of(&self.blocks[index], index as u32, start, length);
                    }
                }
                self.strings(views, nulls)
            }
            Values::Dictionary { views, codes } => {
                self.keep_blocks(column, 0..column.blocks.len(), table)?;
                let values = self.fixed[*views..].as_chunks::<16>().0;
                let mut views = Vec::with_capacity(rows.len());
                codes.each(&self.fixed, rows, |code| {
                    views.push(u128::from_le_bytes(values[code as usize]));
                });
                self.strings(views, nulls)
            }
        })
    }

    /// Brings these blocks into memory and lets go of others.
    fn keep_blocks(
        &mut self,
        column: &Column,
        wanted: Range<usize>,
        table: &Inner,
    ) -> mayfly_memory::Result<()> {
        let held = self.first_block..self.first_block + self.blocks.len();
        if held == wanted {
            return Ok(());
        }
        let keep = if held.contains(&wanted.start) {
            self.blocks.drain(..wanted.start - held.start);
            self.blocks.truncate(wanted.len());
            self.blocks.len()
        } else {
            self.blocks.clear();
            0
        };
        self.first_block = wanted.start;
        for block in wanted.skip(keep) {
            self.blocks.push(column.blocks[block].load(&table.context)?);
        }
        Ok(())
    }

    fn views_of_one_length(
        &self,
        length: usize,
        per_block: usize,
        rows: Range<usize>,
    ) -> Vec<u128> {
        let mut views = Vec::with_capacity(rows.len());
        let mut row = rows.start;
        while row < rows.end {
            let (block, place) = (row / per_block, row % per_block);
            let count = (per_block - place).min(rows.end - row);
            let index = block - self.first_block;
            let bytes = &self.blocks[index][place * length..(place + count) * length];
            let number = index as u32;
            if length > 12 {
                let tail = u128::from(number) << 64 | length as u128;
                let values = bytes.chunks_exact(length).enumerate();
                views.extend(values.map(|(n, value)| {
                    let prefix = u32::from_le_bytes([value[0], value[1], value[2], value[3]]);
                    let offset = ((place + n) * length) as u128;
                    tail | u128::from(prefix) << 32 | offset << 96
                }));
            } else {
                for n in 0..count {
                    views.push(view_of(bytes, number, n * length, length));
                }
            }
            row += count;
        }
        views
    }

    #[expect(unsafe_code, reason = "views of our own making need not be checked")]
    fn strings(&self, views: Vec<u128>, nulls: Option<NullBuffer>) -> ArrayRef {
        // SAFETY: each view is inline, or names bytes of one of the blocks by the number it has
        // among them, with the prefix that stands there.
        let array = unsafe {
            BinaryViewArray::new_unchecked(
                ScalarBuffer::from(views),
                self.blocks.clone().into(),
                nulls,
            )
        };
        Arc::new(array)
    }
}

#[inline(always)]
fn view_of(block: &[u8], number: u32, start: usize, length: usize) -> u128 {
    let value = &block[start..start + length];
    if length <= 12 {
        let mut view = [0; 16];
        view[0] = length as u8;
        view[4..4 + length].copy_from_slice(value);
        return u128::from_le_bytes(view);
    }
    let prefix = u32::from_le_bytes([value[0], value[1], value[2], value[3]]);
    length as u128 | u128::from(prefix) << 32 | u128::from(number) << 64 | (start as u128) << 96
}

fn narrow_array(
    narrow: &Narrow,
    fixed: &[u8],
    ty: PhysicalType,
    rows: Range<usize>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let count = rows.len();
    match ty {
        PhysicalType::UInt64 => {
            let mut values: Vec<u64> = Vec::with_capacity(count);
            narrow.each(fixed, rows, |value| values.push(value));
            Arc::new(UInt64Array::new(values.into(), nulls))
        }
        PhysicalType::Decimal128(_) => {
            let mut values: Vec<i128> = Vec::with_capacity(count);
            narrow.each(fixed, rows, |value| values.push(i128::from(value as i64)));
            let array = Decimal128Array::new(values.into(), nulls);
            Arc::new(array.with_data_type(ty.arrow()))
        }
        _ => {
            let mut values: Vec<i64> = Vec::with_capacity(count);
            narrow.each(fixed, rows, |value| values.push(value as i64));
            Arc::new(Int64Array::new(values.into(), nulls))
        }
    }
}

fn plain_array(bytes: &[u8], ty: PhysicalType, nulls: Option<NullBuffer>) -> ArrayRef {
    match ty {
        PhysicalType::Decimal128(_) => {
            let values = bytes.as_chunks::<16>().0;
            let values: Vec<i128> = values.iter().map(|v| i128::from_le_bytes(*v)).collect();
            let array = Decimal128Array::new(values.into(), nulls);
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Decimal256(_) => {
            let values = bytes.as_chunks::<32>().0;
            let values: Vec<i256> = values.iter().map(|v| i256::from_le_bytes(*v)).collect();
            let array = Decimal256Array::new(values.into(), nulls);
            Arc::new(array.with_data_type(ty.arrow()))
        }
        _ => {
            let values = bytes.as_chunks::<8>().0;
            let values: Vec<f64> = values.iter().map(|v| f64::from_le_bytes(*v)).collect();
            Arc::new(Float64Array::new(values.into(), nulls))
        }
    }
}

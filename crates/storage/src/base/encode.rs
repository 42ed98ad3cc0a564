//! From batches to a chunk.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use mayfly_memory::{Result, SizeClass, TempFile};
use mayfly_types::{Batch, PhysicalType};

use super::BaseTableContext;
use super::chunk::{Chunk, Column, Narrow, OFFSET_BITS, Values};
use super::piece::{Piece, PieceBuilder};
use crate::temptable::hash_bytes;

/// With a limit below this, blocks of strings are short: a scan must hold a few of them.
const LONG_BLOCKS_LIMIT: u64 = 128 << 20;
/// Fewer rows than this are not worth looking for repeated values.
const DICTIONARY_ROWS_MIN: usize = 4096;
/// A chunk is looked through for repeated values when so many of its rows have few.
const SAMPLE_ROWS: usize = 1024;
/// A dictionary has at most one value for so many rows.
const ROWS_PER_VALUE: usize = 8;

/// Makes a chunk of all rows of the batches.
pub(super) fn encode(
    context: &BaseTableContext,
    file: &TempFile,
    types: &[PhysicalType],
    batches: &[Batch],
) -> Result<Chunk> {
    let rows = batches.iter().map(Batch::row_count).sum();
    let is_short = context.memory.effective_limit() < LONG_BLOCKS_LIMIT;
    let block = if is_short {
        SizeClass::Large
    } else {
        SizeClass::Huge
    };
    let encoder = Encoder {
        context,
        file,
        rows,
        block_bytes: block.bytes(),
    };
    let columns: Result<Vec<_>> = types
        .iter()
        .enumerate()
        .map(|(index, ty)| {
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
            encoder.column(*ty, &arrays)
        })
        .collect();
    Ok(Chunk {
        rows,
        columns: columns?,
    })
}

struct Encoder<'a> {
    context: &'a BaseTableContext,
    file: &'a TempFile,
    rows: usize,
    block_bytes: usize,
}

impl Encoder<'_> {
    fn column(&self, ty: PhysicalType, arrays: &[&ArrayRef]) -> Result<Column> {
        let nulls = arrays.iter().any(|array| array.null_count() > 0);
        let mut fixed = Fixed::default();
        let mut blocks = Vec::new();
        let values = match ty {
            PhysicalType::Int64 => {
                let each = numbers(arrays, |array| array.as_primitive::<Int64Type>().values());
                fixed.narrow(self.rows, true, || {
                    each().map(|value| value.map(|v| *v as u64))
                })
            }
            PhysicalType::UInt64 => {
                let each = numbers(arrays, |array| array.as_primitive::<UInt64Type>().values());
                fixed.narrow(self.rows, false, || each().map(|value| value.copied()))
            }
            PhysicalType::Float64 => {
                let each = numbers(arrays, |array| array.as_primitive::<Float64Type>().values());
                fixed.plain(each().map(|value| value.copied().unwrap_or(0.0).to_le_bytes()))
            }
            PhysicalType::Decimal128(_) => {
                let each = numbers(arrays, |array| {
                    array.as_primitive::<Decimal128Type>().values()
                });
                if each().flatten().all(|value| i64::try_from(*value).is_ok()) {
                    fixed.narrow(self.rows, true, || {
                        each().map(|value| value.map(|v| *v as u64))
                    })
                } else {
                    fixed.plain(each().map(|value| value.copied().unwrap_or(0).to_le_bytes()))
                }
            }
            PhysicalType::Decimal256(_) => {
                let each = numbers(arrays, |array| {
                    array.as_primitive::<Decimal256Type>().values()
                });
                fixed.plain(each().map(|value| value.copied().unwrap_or_default().to_le_bytes()))
            }
            PhysicalType::Bool => {
                let arrays = arrays.iter().map(|array| array.as_boolean());
                let each = arrays.flat_map(|array| (0..array.len()).map(|row| array.value(row)));
                Values::Bits {
                    start: fixed.bits(each),
                }
            }
            PhysicalType::Bytes => {
                let arrays: Vec<_> = arrays.iter().map(|array| array.as_binary_view()).collect();
                let strings = Strings {
                    arrays: &arrays,
                    rows: self.rows,
                };
                self.strings(&strings, &mut fixed, &mut blocks)?
            }
        };
        let validity = nulls.then(|| {
            let each = arrays
                .iter()
                .flat_map(|array| (0..array.len()).map(|row| array.is_valid(row)));
            fixed.bits(each)
        });
        Ok(Column {
            ty,
            values,
            validity,
            fixed: self.piece(&fixed.bytes)?,
            blocks,
        })
    }

    fn piece(&self, bytes: &[u8]) -> Result<Piece> {
        let mut piece = PieceBuilder::new(self.context, bytes.len())?;
        piece.bytes().copy_from_slice(bytes);
        piece.finish(self.context, self.file)
    }

    fn strings(
        &self,
        strings: &Strings<'_>,
        fixed: &mut Fixed,
        blocks: &mut Vec<Piece>,
    ) -> Result<Values> {
        if let Some((distinct, codes)) = strings.dictionary() {
            let start = fixed.start_of(16);
            let places = self.write_values(&mut distinct.iter().copied(), blocks)?;
            for (value, place) in distinct.iter().zip(places) {
                fixed.bytes.extend_from_slice(&view_bytes(value, place));
            }
            let each = || codes.iter().map(|code| Some(u64::from(*code)));
            let Values::Narrow(codes) = fixed.narrow(self.rows, false, each) else {
                return Ok(Values::Nothing);
            };
            return Ok(Values::Dictionary {
                views: start,
                codes,
            });
        }
        if let Some(length) = strings.one_length() {
            if length == 0 {
                return Ok(Values::Nothing);
            }
            self.write_values(&mut strings.each().flatten(), blocks)?;
            let per_block = (self.block_bytes / length).max(1);
            return Ok(Values::OneLength { length, per_block });
        }
        let places = self.write_values(
            &mut strings.each().map(|value| value.unwrap_or_default()),
            blocks,
        )?;
        let positions = fixed.start_of(4);
        let places = places.iter().flat_map(|place| place.to_le_bytes());
        fixed.bytes.extend(places);
        let each = || {
            strings
                .each()
                .map(|value| Some(value.map_or(0, <[u8]>::len) as u64))
        };
        match fixed.narrow(self.rows, false, each) {
            Values::Narrow(lengths) => Ok(Values::Strings { positions, lengths }),
            _ => Ok(Values::Nothing),
        }
    }

    /// Writes values back to back into blocks; gives the position of each.
    fn write_values(
        &self,
        values: &mut dyn Iterator<Item = &[u8]>,
        blocks: &mut Vec<Piece>,
    ) -> Result<Vec<u32>> {
        let block_bytes = self.block_bytes;
        let mut places = Vec::with_capacity(self.rows);
        // A block is known by its values before it is allocated, so that the last is of its size.
        let (mut pending, mut used): (Vec<&[u8]>, usize) = (Vec::new(), 0);
        for value in values {
            if used + value.len() > block_bytes && used > 0 {
                blocks.push(self.value_block(&pending, used)?);
                pending.clear();
                used = 0;
            }
            places.push((blocks.len() as u32) << OFFSET_BITS | used as u32);
            pending.push(value);
            used += value.len();
        }
        if used > 0 {
            blocks.push(self.value_block(&pending, used)?);
        }
        Ok(places)
    }

    fn value_block(&self, values: &[&[u8]], length: usize) -> Result<Piece> {
        let mut piece = PieceBuilder::new(self.context, length)?;
        let mut rest = piece.bytes();
        for value in values {
            let (place, after) = rest.split_at_mut(value.len());
            place.copy_from_slice(value);
            rest = after;
        }
        piece.finish(self.context, self.file)
    }
}

/// The view of a value at a position: Arrow's, but with the block's number and offset together as
/// the last eight bytes.
fn view_bytes(value: &[u8], place: u32) -> [u8; 16] {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(value.len() as u32).to_le_bytes());
    if value.len() <= 12 {
        view[4..4 + value.len()].copy_from_slice(value);
    } else {
        view[4..8].copy_from_slice(&value[..4]);
        view[8..12].copy_from_slice(&(place >> OFFSET_BITS).to_le_bytes());
        view[12..].copy_from_slice(&(place & super::chunk::OFFSET_MASK).to_le_bytes());
    }
    view
}

/// Every value of some arrays, `None` for NULL; can be asked for again and again.
fn numbers<'a, T: 'a>(
    arrays: &'a [&'a ArrayRef],
    values: impl Fn(&'a ArrayRef) -> &'a [T] + Copy + 'a,
) -> impl Fn() -> Box<dyn Iterator<Item = Option<&'a T>> + 'a> {
    move || {
        Box::new(arrays.iter().flat_map(move |array| {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            values(array)
                .iter()
                .enumerate()
                .map(move |(row, value)| match nulls {
                    Some(nulls) if nulls.is_null(row) => None,
                    _ => Some(value),
                })
        }))
    }
}

/// The bytes of a column that are not string values.
#[derive(Default)]
struct Fixed {
    bytes: Vec<u8>,
}

impl Fixed {
    fn start_of(&mut self, alignment: usize) -> usize {
        let start = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(start, 0);
        start
    }

    fn plain<const WIDTH: usize>(&mut self, values: impl Iterator<Item = [u8; WIDTH]>) -> Values {
        let start = self.start_of(WIDTH);
        for value in values {
            self.bytes.extend_from_slice(&value);
        }
        Values::Plain {
            width: WIDTH,
            start,
        }
    }

    fn bits(&mut self, values: impl Iterator<Item = bool>) -> usize {
        let start = self.start_of(8);
        let (mut byte, mut bit) = (0_u8, 0);
        for value in values {
            byte |= u8::from(value) << bit;
            bit += 1;
            if bit == 8 {
                self.bytes.push(byte);
                (byte, bit) = (0, 0);
            }
        }
        if bit > 0 {
            self.bytes.push(byte);
        }
        start
    }

    fn narrow<I: Iterator<Item = Option<u64>>>(
        &mut self,
        rows: usize,
        signed: bool,
        values: impl Fn() -> I,
    ) -> Values {
        // Signed numbers are ordered by their bits after the sign is turned over.
        let flip = if signed { 1 << 63 } else { 0 };
        let (least, greatest) = values()
            .flatten()
            .fold((u64::MAX, 0), |(least, greatest), n| {
                (least.min(n ^ flip), greatest.max(n ^ flip))
            });
        if least > greatest {
            return Values::Nothing;
        }
        let base = least ^ flip;
        let width = match greatest - least {
            0 => 0,
            0x1..=0xFF => 1,
            0x100..=0xFFFF => 2,
            0x1_0000..=0xFFFF_FFFF => 4,
            _ => 8,
        };
        let start = self.start_of(width.max(1));
        self.bytes.reserve(rows * width);
        let stored = values().map(|value| value.map_or(0, |value| value.wrapping_sub(base)));
        match width {
            0 => {}
            1 => self.bytes.extend(stored.map(|value| value as u8)),
            2 => stored.for_each(|n| self.bytes.extend_from_slice(&(n as u16).to_le_bytes())),
            4 => stored.for_each(|n| self.bytes.extend_from_slice(&(n as u32).to_le_bytes())),
            _ => stored.for_each(|n| self.bytes.extend_from_slice(&n.to_le_bytes())),
        }
        Values::Narrow(Narrow { base, width, start })
    }
}

/// The strings of one column.
struct Strings<'a> {
    arrays: &'a [&'a BinaryViewArray],
    rows: usize,
}

impl<'a> Strings<'a> {
    /// Every value, `None` for NULL.
    fn each(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        self.arrays.iter().flat_map(|array| array.iter())
    }

    /// The length that all have; none when one is NULL.
    fn one_length(&self) -> Option<usize> {
        let mut common = None;
        for array in self.arrays {
            if array.null_count() > 0 {
                return None;
            }
            for view in array.views().iter() {
                let length = *view as u32;
                if *common.get_or_insert(length) != length {
                    return None;
                }
            }
        }
        common.map(|length| length as usize)
    }

    /// The distinct values and each row's code, when there are few.
    fn dictionary(&self) -> Option<(Vec<&'a [u8]>, Vec<u16>)> {
        if self.rows < DICTIONARY_ROWS_MIN {
            return None;
        }
        let step = self.rows / SAMPLE_ROWS;
        let sample = self.each().step_by(step).take(SAMPLE_ROWS);
        let sample: std::collections::HashSet<_, BytesHasher> = sample.collect();
        // A sample of half as many rows as there are values shows a good half of them twice.
        if sample.len() > SAMPLE_ROWS * 3 / 4 {
            return None;
        }
        let most = self.rows / ROWS_PER_VALUE;
        let mut numbers: HashMap<&[u8], u16, BytesHasher> = HashMap::default();
        let (mut distinct, mut codes) = (Vec::new(), Vec::with_capacity(self.rows));
        for value in self.each() {
            let value = value.unwrap_or_default();
            let next = distinct.len() as u16;
            let code = *numbers.entry(value).or_insert_with(|| {
                distinct.push(value);
                next
            });
            if distinct.len() > most {
                return None;
            }
            codes.push(code);
        }
        Some((distinct, codes))
    }
}

/// The tables' own hash of bytes, for maps as small as a chunk.
type BytesHasher = BuildHasherDefault<BytesHash>;

#[derive(Default)]
struct BytesHash(u64);

impl Hasher for BytesHash {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(23) ^ hash_bytes(bytes);
    }

    fn write_usize(&mut self, _: usize) {
        // The length is in the hash of the bytes.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

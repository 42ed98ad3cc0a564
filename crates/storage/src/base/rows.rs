//! Rows on their way into blocks: their keys and columns, one value behind the other.
//!
//! Rows come from blocks that are rewritten, from batches, or from single rows of a transaction, and
//! leave as blocks. [`Sizes`] follows how large a block of the rows from one on would be.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use mayfly_types::PhysicalType;

use super::block::{
    BLOCK_BYTES, Block, CHECKSUM_BYTES, Checked, Damaged, FORMAT, HEADER_BYTES, STRINGS, Values,
    checksum_of,
};

/// Between two blocks whose first keys have so many bytes in common there is no separator: they are
/// not divided.
pub(super) const SEPARATOR_BYTES: usize = 500;

/// Strings, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Texts {
    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    #[inline]
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.start(row)..self.ends[row]]
    }

    fn length(&self, row: usize) -> usize {
        self.ends[row] - self.start(row)
    }
}

#[derive(Debug)]
enum Column {
    /// Numbers whose order as unsigned ones is theirs after the sign bit was turned.
    Signed(Vec<u64>),
    Unsigned(Vec<u64>),
    /// Bits of doubles.
    Bits(Vec<u64>),
    Wide(Vec<i128>),
    Huge(Vec<i256>),
    Text(Texts),
}

impl Column {
    fn new(ty: PhysicalType) -> Self {
        match ty {
            PhysicalType::Bool | PhysicalType::UInt64 => Self::Unsigned(Vec::new()),
            PhysicalType::Int64 => Self::Signed(Vec::new()),
            PhysicalType::Float64 => Self::Bits(Vec::new()),
            PhysicalType::Decimal128(_) => Self::Wide(Vec::new()),
            PhysicalType::Decimal256(_) => Self::Huge(Vec::new()),
            PhysicalType::Bytes => Self::Text(Texts::default()),
        }
    }

    fn push_nothing(&mut self) {
        match self {
            Self::Signed(values) | Self::Unsigned(values) | Self::Bits(values) => values.push(0),
            Self::Wide(values) => values.push(0),
            Self::Huge(values) => values.push(i256::ZERO),
            Self::Text(texts) => texts.push(&[]),
        }
    }
}

/// Rows of a tree, in the order in which they were appended.
#[derive(Debug)]
pub(super) struct Rows {
    types: Arc<[PhysicalType]>,
    keys: Texts,
    /// For each column, which rows are NULL; empty as long as none is.
    nulls: Vec<Vec<bool>>,
    columns: Vec<Column>,
}

impl Rows {
    pub(super) fn new(types: &Arc<[PhysicalType]>) -> Self {
        Self {
            types: Arc::clone(types),
            keys: Texts::default(),
            nulls: vec![Vec::new(); types.len()],
            columns: types.iter().map(|ty| Column::new(*ty)).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.ends.len()
    }

    pub(super) fn key(&self, row: usize) -> &[u8] {
        self.keys.get(row)
    }

    fn note_null(&mut self, column: usize, row: usize) {
        let nulls = &mut self.nulls[column];
        nulls.resize(row, false);
        nulls.push(true);
    }

    fn is_null(&self, column: usize, row: usize) -> bool {
        self.nulls[column].get(row).copied().unwrap_or(false)
    }

    /// Appends rows of a block.
    pub(super) fn append_block(
        &mut self,
        block: &Block<'_>,
        rows: std::ops::Range<usize>,
    ) -> Checked<()> {
        if block.columns() != self.types.len() || rows.end > block.rows() {
            return Err(Damaged);
        }
        let first = self.len();
        for number in 0..self.types.len() {
            let from = block.column(number)?;
            if from.validity.is_some() {
                for (place, row) in rows.clone().enumerate() {
                    if from.is_null(row) {
                        self.note_null(number, first + place);
                    }
                }
            }
            match (&mut self.columns[number], from.values) {
                (
                    Column::Signed(values) | Column::Unsigned(values) | Column::Bits(values),
                    Values::Narrow { base, width, bytes },
                ) => {
                    for row in rows.clone() {
                        values.push(Values::narrow(base, width, bytes, row)?);
                    }
                }
                (Column::Wide(values), Values::Narrow { base, width, bytes }) => {
                    for row in rows.clone() {
                        let value = Values::narrow(base, width, bytes, row)?;
                        values.push(i128::from(value as i64));
                    }
                }
                (Column::Wide(values), Values::Wide(words)) => {
                    let words = words.get(rows.clone()).ok_or(Damaged)?;
                    values.extend(words.iter().map(|word| i128::from_le_bytes(*word)));
                }
                (Column::Huge(values), Values::Narrow { base, width, bytes }) => {
                    for row in rows.clone() {
                        let value = Values::narrow(base, width, bytes, row)?;
                        values.push(i256::from(value as i64));
                    }
                }
                (Column::Huge(values), Values::Huge(words)) => {
                    let words = words.get(rows.clone()).ok_or(Damaged)?;
                    values.extend(words.iter().map(|word| i256::from_le_bytes(*word)));
                }
                (Column::Text(texts), Values::Strings(strings)) => {
                    for row in rows.clone() {
                        texts.push(strings.get(row)?);
                    }
                }
                _ => return Err(Damaged),
            }
        }
        for row in rows {
            let (prefix, suffix) = block.key_parts(row)?;
            self.keys.bytes.extend_from_slice(prefix);
            self.keys.push(suffix);
        }
        Ok(())
    }

    /// Appends a row of a transaction (see [`super::row`]).
    pub(super) fn append_row(&mut self, key: &[u8], row: &[u8]) -> Checked<()> {
        let place = self.len();
        let types = Arc::clone(&self.types);
        let mut reader = super::row::RowReader::new(&types, row);
        for (number, ty) in types.iter().enumerate() {
            let Some(bytes) = reader.next_value(*ty)? else {
                self.note_null(number, place);
                self.columns[number].push_nothing();
                continue;
            };
            match &mut self.columns[number] {
                Column::Signed(values) | Column::Unsigned(values) | Column::Bits(values) => {
                    let word = bytes.try_into().map_err(|_| Damaged)?;
                    values.push(u64::from_le_bytes(word));
                }
                Column::Wide(values) => {
                    let word = bytes.try_into().map_err(|_| Damaged)?;
                    values.push(i128::from_le_bytes(word));
                }
                Column::Huge(values) => {
                    let word = bytes.try_into().map_err(|_| Damaged)?;
                    values.push(i256::from_le_bytes(word));
                }
                Column::Text(texts) => texts.push(bytes),
            }
        }
        self.keys.push(key);
        Ok(())
    }

    /// Appends the columns of rows of some arrays; their keys are to be given to
    /// [`Self::push_key`].
    pub(super) fn append_arrays(&mut self, arrays: &[&ArrayRef], first: usize, rows: &[usize]) {
        for (number, array) in arrays.iter().enumerate() {
            if array.null_count() > 0 {
                for (place, row) in rows.iter().enumerate() {
                    if array.is_null(*row) {
                        self.note_null(number, first + place);
                    }
                }
            }
            match (&mut self.columns[number], self.types[number]) {
                (Column::Unsigned(values), PhysicalType::Bool) => {
                    let array = array.as_boolean();
                    values.extend(rows.iter().map(|row| u64::from(array.value(*row))));
                }
                (Column::Unsigned(values), _) => {
                    let array = array.as_primitive::<UInt64Type>().values();
                    values.extend(rows.iter().map(|row| array[*row]));
                }
                (Column::Signed(values), _) => {
                    let array = array.as_primitive::<Int64Type>().values();
                    values.extend(rows.iter().map(|row| array[*row] as u64));
                }
                (Column::Bits(values), _) => {
                    let array = array.as_primitive::<Float64Type>().values();
                    values.extend(rows.iter().map(|row| array[*row].to_bits()));
                }
                (Column::Wide(values), _) => {
                    let array = array.as_primitive::<Decimal128Type>().values();
                    values.extend(rows.iter().map(|row| array[*row]));
                }
                (Column::Huge(values), _) => {
                    let array = array.as_primitive::<Decimal256Type>().values();
                    values.extend(rows.iter().map(|row| array[*row]));
                }
                (Column::Text(texts), _) => {
                    let array = array.as_binary_view();
                    for row in rows {
                        if array.is_null(*row) {
                            texts.push(&[]);
                        } else {
                            texts.push(array.value(*row));
                        }
                    }
                }
            }
        }
    }

    /// The key of the next row of [`Self::append_arrays`].
    pub(super) fn push_key(&mut self, key: &[u8]) {
        self.keys.push(key);
    }

    /// The rows in another order.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        let rows = || order.iter().map(|row| *row as usize);
        let texts = |texts: &Texts| {
            let mut out = Texts::default();
            rows().for_each(|row| out.push(texts.get(row)));
            out
        };
        let column = |column: &Column| match column {
            Column::Signed(values) => Column::Signed(rows().map(|row| values[row]).collect()),
            Column::Unsigned(values) => Column::Unsigned(rows().map(|row| values[row]).collect()),
            Column::Bits(values) => Column::Bits(rows().map(|row| values[row]).collect()),
            Column::Wide(values) => Column::Wide(rows().map(|row| values[row]).collect()),
            Column::Huge(values) => Column::Huge(rows().map(|row| values[row]).collect()),
            Column::Text(values) => Column::Text(texts(values)),
        };
        let nulls = |column: usize| match self.nulls[column].is_empty() {
            true => Vec::new(),
            false => rows().map(|row| self.is_null(column, row)).collect(),
        };
        Self {
            types: Arc::clone(&self.types),
            keys: texts(&self.keys),
            nulls: (0..self.columns.len()).map(nulls).collect(),
            columns: self.columns.iter().map(column).collect(),
        }
    }

    /// Appends other rows of the same columns.
    pub(super) fn append_rows(&mut self, other: &Self) {
        let first = self.len();
        for number in 0..self.columns.len() {
            for row in 0..other.len() {
                if other.is_null(number, row) {
                    self.note_null(number, first + row);
                }
            }
            match (&mut self.columns[number], &other.columns[number]) {
                (Column::Signed(to), Column::Signed(from))
                | (Column::Unsigned(to), Column::Unsigned(from))
                | (Column::Bits(to), Column::Bits(from)) => to.extend_from_slice(from),
                (Column::Wide(to), Column::Wide(from)) => to.extend_from_slice(from),
                (Column::Huge(to), Column::Huge(from)) => to.extend_from_slice(from),
                (Column::Text(to), Column::Text(from)) => {
                    (0..other.len()).for_each(|row| to.push(from.get(row)));
                }
                _ => debug_assert!(false, "the columns are of the same types"),
            }
        }
        (0..other.len()).for_each(|row| self.keys.push(other.key(row)));
    }

    /// The rows from one on.
    pub(super) fn rest(&self, from: usize) -> Self {
        let order: Vec<u32> = (from as u32..self.len() as u32).collect();
        self.reordered(&order)
    }

    /// Bytes in memory.
    pub(super) fn memory(&self) -> usize {
        let columns = self.columns.iter().map(|column| match column {
            Column::Signed(v) | Column::Unsigned(v) | Column::Bits(v) => v.capacity() * 8,
            Column::Wide(values) => values.capacity() * 16,
            Column::Huge(values) => values.capacity() * 32,
            Column::Text(texts) => texts.bytes.capacity() + texts.ends.capacity() * 8,
        });
        columns.sum::<usize>() + self.keys.bytes.capacity() + self.keys.ends.capacity() * 8
    }

    /// About how many bytes a block of all rows has.
    pub(super) fn estimate(&self) -> usize {
        let mut sizes = Sizes::new(self, 0);
        (0..self.len()).fold(0, |_, row| sizes.add(self, row))
    }

    /// Divides the rows from `first` on into blocks, which give their rows to `take`. The rows of
    /// the last block are left over when they do not fill it and `keep_rest` is set. Returns how
    /// many rows were taken, from the first row on.
    pub(super) fn divide<E>(
        &self,
        first: usize,
        evenly: bool,
        keep_rest: bool,
        mut take: impl FnMut(std::ops::Range<usize>) -> std::result::Result<(), E>,
    ) -> std::result::Result<usize, E> {
        let rows = self.len();
        let mut limit = BLOCK_BYTES;
        if evenly {
            let mut sizes = Sizes::new(self, first);
            let all = (first..rows).fold(0, |_, row| sizes.add(self, row));
            let blocks = all.div_ceil(BLOCK_BYTES).max(1);
            limit = BLOCK_BYTES.min(all / blocks + all / blocks / 16 + 64);
        }
        let mut start = first;
        while start < rows {
            let mut sizes = Sizes::new(self, start);
            let mut end = start;
            while end < rows {
                if sizes.add(self, end) > limit && end > start {
                    break;
                }
                end += 1;
            }
            if end == rows && keep_rest {
                break;
            }
            let end = self.divisible(start, end);
            take(start..end)?;
            start = end;
        }
        Ok(start)
    }

    /// The end of a block near `end` at which it can be divided from what follows.
    fn divisible(&self, start: usize, end: usize) -> usize {
        let rows = self.len();
        let can =
            |end: usize| end >= rows || common(self.key(end - 1), self.key(end)) < SEPARATOR_BYTES;
        if can(end) {
            return end;
        }
        let before = (start + 1..end).rev().find(|end| can(*end));
        before.unwrap_or_else(|| (end..=rows).find(|end| can(*end)).unwrap_or(rows))
    }

    /// The shortest key between two rows: larger than the first one's, not larger than the second's.
    pub(super) fn separator(before: &[u8], first: &[u8]) -> Vec<u8> {
        let length = common(before, first) + 1;
        first[..length.min(first.len())].to_vec()
    }

    /// The bytes of a block.
    pub(super) fn encode(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        let mut sizes = Sizes::new(self, rows.start);
        let all = rows.clone().fold(0, |_, row| sizes.add(self, row));
        let mut out = Vec::with_capacity(all);
        out.extend_from_slice(&[0; CHECKSUM_BYTES]);
        out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.types.len() as u16).to_le_bytes());
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.resize(HEADER_BYTES + 4 * (self.types.len() + 1), 0);
        let mut section = 0;
        let mut begin = |out: &mut Vec<u8>| {
            let start = (out.len() as u32).to_le_bytes();
            let at = HEADER_BYTES + 4 * section;
            out[at..at + 4].copy_from_slice(&start);
            section += 1;
        };
        begin(&mut out);
        let prefix = sizes.prefix;
        out.extend_from_slice(&(prefix as u32).to_le_bytes());
        out.extend_from_slice(&self.key(rows.start)[..prefix]);
        sizes
            .keys
            .encode(&self.keys, prefix, rows.clone(), &mut out);
        for (number, column) in self.columns.iter().enumerate() {
            begin(&mut out);
            let size = &sizes.columns[number];
            out.push(u8::from(size.has_nulls));
            if size.has_nulls {
                let start = out.len();
                out.resize(start + rows.len().div_ceil(8), 0);
                for (place, row) in rows.clone().enumerate() {
                    if !self.is_null(number, row) {
                        out[start + place / 8] |= 1 << (place % 8);
                    }
                }
            }
            size.encode(self, number, column, rows.clone(), &mut out);
        }
        debug_assert_eq!(out.len(), all, "the size was known before");
        let checksum = checksum_of(&out[CHECKSUM_BYTES..]);
        out[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
        out
    }
}

/// How many bytes two keys have in common.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The size of some strings in a block.
#[derive(Debug, Default)]
struct TextSize {
    count: usize,
    bytes: usize,
    /// Of the first one.
    length: usize,
    differ: bool,
}

impl TextSize {
    fn add(&mut self, length: usize) {
        if self.count == 0 {
            self.length = length;
        }
        self.differ |= length != self.length;
        self.bytes += length;
        self.count += 1;
    }

    /// Bytes of each end, when `cut` bytes at the beginning of each string are left out.
    fn width(&self, cut: usize) -> usize {
        match self.bytes - cut * self.count {
            _ if !self.differ => 0,
            bytes if bytes <= usize::from(u16::MAX) => 2,
            _ => 4,
        }
    }

    fn total(&self, cut: usize) -> usize {
        let width = self.width(cut);
        let ends = if width == 0 { 4 } else { width * self.count };
        1 + ends + self.bytes - cut * self.count
    }

    fn encode(&self, texts: &Texts, cut: usize, rows: std::ops::Range<usize>, out: &mut Vec<u8>) {
        let width = self.width(cut);
        out.push(width as u8);
        if width == 0 {
            out.extend_from_slice(&((self.length - cut) as u32).to_le_bytes());
        } else {
            let mut end = 0;
            for row in rows.clone() {
                end += texts.length(row) - cut;
                out.extend_from_slice(&(end as u32).to_le_bytes()[..width]);
            }
        }
        for row in rows {
            out.extend_from_slice(&texts.get(row)[cut..]);
        }
    }
}

/// The size of a column in a block.
#[derive(Debug)]
struct ColumnSize {
    has_nulls: bool,
    /// The values as unsigned numbers of the same order.
    smallest: u64,
    largest: u64,
    /// A decimal that is no 64-bit number.
    is_wide: bool,
    text: TextSize,
}

const SIGN: u64 = 1 << 63;

impl ColumnSize {
    #[inline]
    fn add_ordered(&mut self, value: u64) {
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
    }

    #[inline]
    fn add(&mut self, column: &Column, row: usize, is_null: bool) {
        if let Column::Text(texts) = column {
            self.text.add(texts.length(row));
        }
        if is_null {
            self.has_nulls = true;
            return;
        }
        match column {
            Column::Signed(values) => self.add_ordered(values[row] ^ SIGN),
            Column::Unsigned(values) => self.add_ordered(values[row]),
            Column::Bits(_) | Column::Text(_) => {}
            Column::Wide(values) => match i64::try_from(values[row]) {
                Ok(value) => self.add_ordered(value as u64 ^ SIGN),
                Err(_) => self.is_wide = true,
            },
            Column::Huge(values) => match values[row].to_i128().map(i64::try_from) {
                Some(Ok(value)) => self.add_ordered(value as u64 ^ SIGN),
                _ => self.is_wide = true,
            },
        }
    }

    fn width(&self, column: &Column) -> usize {
        match column {
            Column::Bits(_) => 8,
            Column::Wide(_) if self.is_wide => 16,
            Column::Huge(_) if self.is_wide => 32,
            Column::Text(_) => STRINGS,
            _ if self.smallest > self.largest => 0,
            _ => match self.largest - self.smallest {
                0 => 0,
                1..=0xFF => 1,
                0x100..=0xFFFF => 2,
                0x1_0000..=0xFFFF_FFFF => 4,
                _ => 8,
            },
        }
    }

    #[inline]
    fn total(&self, column: &Column, rows: usize) -> usize {
        let bits = if self.has_nulls { rows.div_ceil(8) } else { 0 };
        2 + bits
            + match self.width(column) {
                STRINGS => self.text.total(0),
                width @ (16 | 32) => width * rows,
                width => 8 + width * rows,
            }
    }

    fn encode(
        &self,
        all: &Rows,
        number: usize,
        column: &Column,
        rows: std::ops::Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let width = self.width(column);
        out.push(width as u8);
        let sign = if matches!(column, Column::Unsigned(_)) {
            0
        } else {
            SIGN
        };
        let base = match column {
            Column::Bits(_) => 0,
            _ if self.smallest > self.largest => 0,
            _ => self.smallest ^ sign,
        };
        if width < 16 {
            out.extend_from_slice(&base.to_le_bytes());
        }
        let narrow = |row: usize, value: u64, out: &mut Vec<u8>| {
            // A NULL has the value of the base: any that fits will do.
            let is_null = self.has_nulls && all.is_null(number, row);
            let more = if is_null { 0 } else { value.wrapping_sub(base) };
            match width {
                0 => {}
                1 => out.push(more as u8),
                2 => out.extend_from_slice(&(more as u16).to_le_bytes()),
                4 => out.extend_from_slice(&(more as u32).to_le_bytes()),
                _ => out.extend_from_slice(&more.to_le_bytes()),
            }
        };
        match column {
            Column::Signed(values) | Column::Unsigned(values) | Column::Bits(values) => {
                rows.for_each(|row| narrow(row, values[row], out));
            }
            Column::Wide(values) if width < 16 => {
                rows.for_each(|row| narrow(row, values[row] as u64, out));
            }
            Column::Wide(values) => {
                rows.for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Column::Huge(values) if width < 16 => {
                rows.for_each(|row| narrow(row, values[row].as_i128() as u64, out));
            }
            Column::Huge(values) => {
                rows.for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Column::Text(texts) => self.text.encode(texts, 0, rows, out),
        }
    }
}

/// The size of a block that grows row by row.
#[derive(Debug)]
struct Sizes {
    start: usize,
    rows: usize,
    /// Bytes that all keys have in common.
    prefix: usize,
    keys: TextSize,
    columns: Vec<ColumnSize>,
}

impl Sizes {
    fn new(rows: &Rows, start: usize) -> Self {
        let column = |_: &Column| ColumnSize {
            has_nulls: false,
            smallest: u64::MAX,
            largest: 0,
            is_wide: false,
            text: TextSize::default(),
        };
        Self {
            start,
            rows: 0,
            prefix: if start < rows.len() {
                rows.keys.length(start)
            } else {
                0
            },
            keys: TextSize::default(),
            columns: rows.columns.iter().map(column).collect(),
        }
    }

    /// Adds the next row; the size of a block with it.
    fn add(&mut self, rows: &Rows, row: usize) -> usize {
        self.rows += 1;
        let key = rows.key(row);
        // Keys rise, so that what the first and the last have in common, all have.
        self.prefix = common(&rows.key(self.start)[..self.prefix], key);
        self.keys.add(key.len());
        let mut size = HEADER_BYTES + 4 * (self.columns.len() + 1);
        size += 4 + self.prefix + self.keys.total(self.prefix);
        for (number, column) in rows.columns.iter().enumerate() {
            let sizes = &mut self.columns[number];
            sizes.add(column, row, rows.is_null(number, row));
            size += sizes.total(column, self.rows);
        }
        size
    }
}

//! Rows on their way into blocks: keys and columns in growing buffers.
//!
//! Rows come from blocks that are rewritten, from batches, or from single rows of a transaction, and leave as blocks,
//! whose size [`Sizes`] computes in advance.

pub(super) mod block_sizes;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use mayfly_types::PhysicalType;

use self::block_sizes::Sizes;
use super::block::{
    Block, BlockRows, CHECKSUM_BYTES, Checked, Damaged, FORMAT, HEADER_BYTES, Strings, Values,
    checksum_of,
};
use super::random;
use super::row::RowReader;
use crate::values::{ArrayValues, StoredValue};

/// Concatenated strings.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) ends: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Texts {
    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.bytes.clear();
    }

    fn reserve(&mut self, rows: usize, bytes: usize) {
        self.ends.reserve(rows);
        self.bytes.reserve(bytes);
    }

    /// Appends some strings of a block.
    fn append(&mut self, strings: &Strings<'_>, rows: Range<usize>) -> Checked<()> {
        let Some(last) = rows.end.checked_sub(1).filter(|last| *last >= rows.start) else {
            return Ok(());
        };
        let ((start, _), (_, end)) = (strings.bounds(rows.start)?, strings.bounds(last)?);
        let bytes = strings.bytes.get(start..end).ok_or(Damaged)?;
        let first = self.bytes.len();
        let mut before = start;
        self.ends.reserve(rows.len());
        for row in rows {
            let (_, end) = strings.bounds(row)?;
            if end < before {
                return Err(Damaged);
            }
            self.ends.push(first + (end - start));
            before = end;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    pub(super) fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.start(row)..self.ends[row]]
    }
}

/// Limits of dictionary encoding: at most this many distinct strings, of at most this many bytes, each repeated on
/// average this many times.
const CODES_MAX: usize = 4096;
const CODED_BYTES: usize = 128 << 10;
const REPEATS_MIN: usize = 16;

const CODED_ROWS: &str = "rows with codes are made into blocks and get no more rows";

impl Texts {
    fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8
    }

    /// Dictionary encoding: the distinct strings and the code of each row, if there are few distinct ones.
    fn coded(&self) -> Option<(Self, Vec<u16>)> {
        let rows = self.ends.len();
        let most = CODES_MAX.min(rows / REPEATS_MIN);
        // Open addressing: slots hold a code plus 1, or 0 if empty.
        let mut slots = vec![0_u16; 2 * CODES_MAX];
        let mut strings = Self::default();
        let mut codes = Vec::with_capacity(rows);
        for row in 0..rows {
            let text = self.get(row);
            let mut slot = random::hash(text) as usize % slots.len();
            let code = loop {
                match slots[slot].checked_sub(1) {
                    Some(code) if strings.get(usize::from(code)) == text => break code,
                    Some(_) => slot = (slot + 1) % slots.len(),
                    None => {
                        let code = strings.ends.len();
                        if code >= most || strings.bytes.len() + text.len() > CODED_BYTES {
                            return None;
                        }
                        strings.push(text);
                        slots[slot] = code as u16 + 1;
                        break code as u16;
                    }
                }
            };
            codes.push(code);
        }
        (rows > 0).then_some((strings, codes))
    }
}

/// Order of words, which allows storing them as differences from the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordOrder {
    Unsigned,
    /// As unsigned numbers once the sign bit is inverted.
    Signed,
    /// None: the words are bits of doubles.
    None,
}

/// The values of a column.
#[derive(Debug)]
pub(super) enum Column {
    Words(WordOrder, Vec<u64>),
    Wide(Vec<i128>),
    Huge(Vec<i256>),
    Text(Texts),
    /// Few distinct strings: each once, and the code of each row.
    Coded {
        strings: Texts,
        codes: Vec<u16>,
    },
}

impl Column {
    fn new(ty: PhysicalType) -> Self {
        match ty {
            PhysicalType::Bool | PhysicalType::UInt64 => {
                Self::Words(WordOrder::Unsigned, Vec::new())
            }
            PhysicalType::Int64 => Self::Words(WordOrder::Signed, Vec::new()),
            PhysicalType::Float64 => Self::Words(WordOrder::None, Vec::new()),
            PhysicalType::Decimal128(_) => Self::Wide(Vec::new()),
            PhysicalType::Decimal256(_) => Self::Huge(Vec::new()),
            PhysicalType::Bytes => Self::Text(Texts::default()),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Words(_, values) => values.clear(),
            Self::Wide(values) => values.clear(),
            Self::Huge(values) => values.clear(),
            Self::Text(texts) => texts.clear(),
            Self::Coded { .. } => *self = Self::Text(Texts::default()),
        }
    }

    fn push_nothing(&mut self) {
        match self {
            Self::Words(_, values) => values.push(0),
            Self::Wide(values) => values.push(0),
            Self::Huge(values) => values.push(i256::ZERO),
            Self::Text(texts) => texts.push(&[]),
            Self::Coded { .. } => debug_assert!(false, "{CODED_ROWS}"),
        }
    }
}

/// Rows of a tree, in the order in which they were appended.
#[derive(Debug)]
pub(super) struct Rows {
    types: Arc<[PhysicalType]>,
    /// Common prefix of all keys, left out in `keys`; empty except where one block is rewritten.
    pub(super) shared: Vec<u8>,
    pub(super) keys: Texts,
    /// NULL flags of each column; empty as long as no row is NULL.
    pub(super) nulls: Vec<Vec<bool>>,
    pub(super) columns: Vec<Column>,
}

impl Rows {
    pub(super) fn new(types: &Arc<[PhysicalType]>) -> Self {
        Self {
            types: Arc::clone(types),
            shared: Vec::new(),
            keys: Texts::default(),
            nulls: vec![Vec::new(); types.len()],
            columns: types.iter().map(|ty| Column::new(*ty)).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.ends.len()
    }

    /// Removes all rows; their memory is kept for reuse.
    pub(super) fn clear(&mut self) {
        self.shared.clear();
        self.keys.clear();
        self.nulls.iter_mut().for_each(Vec::clear);
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// A row's key without the shared prefix.
    pub(super) fn key(&self, row: usize) -> &[u8] {
        self.keys.get(row)
    }

    /// Sets the shared prefix of the keys that follow. Existing keys keep as much of it as they share.
    pub(super) fn share(&mut self, bytes: &[u8]) {
        if self.len() == 0 {
            self.shared.clear();
            self.shared.extend_from_slice(bytes);
            return;
        }
        let length = common(&self.shared, bytes);
        let cut = self.shared.split_off(length);
        if cut.is_empty() {
            return;
        }
        let keys = std::mem::take(&mut self.keys);
        for row in 0..keys.ends.len() {
            self.keys.bytes.extend_from_slice(&cut);
            self.keys.push(keys.get(row));
        }
    }

    /// Length of the common prefix of the first key and `bytes`.
    pub(super) fn common_with_first(&self, bytes: &[u8]) -> usize {
        let length = common(&self.shared, bytes);
        if length == self.shared.len() {
            length + common(self.key(0), &bytes[length..])
        } else {
            length
        }
    }

    /// The shortest separator between a row and the one before.
    pub(super) fn separator_before(&self, row: usize) -> Vec<u8> {
        let rest = Self::separator(self.key(row - 1), self.key(row));
        [self.shared.as_slice(), rest].concat()
    }

    fn note_null(&mut self, column: usize, row: usize) {
        let nulls = &mut self.nulls[column];
        nulls.resize(row, false);
        nulls.push(true);
    }

    pub(super) fn is_null(&self, column: usize, row: usize) -> bool {
        self.nulls[column].get(row).copied().unwrap_or(false)
    }

    /// Reserves memory for all rows of a block and for some more, whose keys and values take these bytes.
    pub(super) fn reserve_for(
        &mut self,
        block: &Block<'_>,
        more: usize,
        bytes: usize,
    ) -> Checked<()> {
        let rows = block.rows() + more;
        for number in 0..self.types.len().min(block.columns()) {
            match &mut self.columns[number] {
                Column::Words(_, values) => values.reserve(rows),
                Column::Wide(values) => values.reserve(rows),
                Column::Huge(values) => values.reserve(rows),
                Column::Text(texts) => {
                    texts.reserve(rows, block.section_bytes(number + 1)? + bytes);
                }
                Column::Coded { .. } => return Err(Damaged),
            }
        }
        self.keys.reserve(rows, block.section_bytes(0)? + bytes);
        Ok(())
    }

    /// Appends rows of a block.
    pub(super) fn append_block(&mut self, block: &Block<'_>, rows: Range<usize>) -> Checked<()> {
        if block.columns() != self.types.len() || rows.end > block.rows() {
            return Err(Damaged);
        }
        let first = self.len();
        for number in 0..self.types.len() {
            let from = block.column(number)?;
            if from.validity.is_some() {
                for (index, row) in rows.clone().enumerate() {
                    if from.is_null(row) {
                        self.note_null(number, first + index);
                    }
                }
            }
            match (&mut self.columns[number], from.values) {
                (Column::Words(_, values), from) => {
                    from.append_words(BlockRows::Range(rows.clone()), values)?
                }
                (Column::Wide(values), from) => {
                    from.append_wide(BlockRows::Range(rows.clone()), values)?
                }
                (Column::Huge(values), from) => {
                    from.append_huge(BlockRows::Range(rows.clone()), values)?
                }
                (Column::Text(texts), Values::Strings(strings)) => {
                    texts.append(&strings, rows.clone())?;
                }
                (Column::Text(texts), values) => {
                    for row in rows.clone() {
                        texts.push(values.text(row)?);
                    }
                }
                (Column::Coded { .. }, _) => return Err(Damaged),
            }
        }
        let (prefix, suffixes) = block.keys();
        let prefix = prefix.strip_prefix(&*self.shared).ok_or(Damaged)?;
        if prefix.is_empty() {
            return self.keys.append(suffixes, rows);
        }
        for row in rows {
            self.keys.bytes.extend_from_slice(prefix);
            self.keys.push(suffixes.get(row)?);
        }
        Ok(())
    }

    /// Appends a row of a transaction (see [`super::row`]).
    pub(super) fn append_row(&mut self, key: &[u8], row: &[u8]) -> Checked<()> {
        let index = self.len();
        let types = Arc::clone(&self.types);
        let mut reader = RowReader::new(&types, row);
        for (number, ty) in types.iter().enumerate() {
            match (&mut self.columns[number], reader.next_value(*ty)?) {
                (Column::Words(_, values), StoredValue::Word(word)) => values.push(word),
                (Column::Wide(values), StoredValue::Decimal128(value)) => values.push(value),
                (Column::Huge(values), StoredValue::Decimal256(value)) => values.push(value),
                (Column::Text(texts), StoredValue::Bytes(text)) => texts.push(text),
                (column, StoredValue::Null) => {
                    column.push_nothing();
                    self.note_null(number, index);
                }
                _ => return Err(Damaged),
            }
        }
        self.keys
            .push(key.strip_prefix(&*self.shared).ok_or(Damaged)?);
        Ok(())
    }

    /// Appends columns of the first `rows` rows of `arrays` behind `before` rows; the keys follow by
    /// [`Self::push_key`].
    pub(super) fn append_arrays(&mut self, arrays: &[&ArrayRef], before: usize, rows: usize) {
        for (number, array) in arrays.iter().enumerate() {
            debug_assert_eq!(*array.data_type(), self.types[number].arrow());
            if array.null_count() > 0 {
                for row in (0..rows).filter(|row| array.is_null(*row)) {
                    self.note_null(number, before + row);
                }
            }
            match (&mut self.columns[number], ArrayValues::new(array)) {
                (Column::Words(_, values), ArrayValues::Bools(bits)) => {
                    values.extend(bits.iter().take(rows).map(u64::from));
                }
                (Column::Words(_, values), ArrayValues::Words(words)) => {
                    values.extend_from_slice(&words[..rows]);
                }
                (Column::Wide(values), ArrayValues::Decimal128(decimals)) => {
                    values.extend_from_slice(&decimals[..rows]);
                }
                (Column::Huge(values), ArrayValues::Decimal256(decimals)) => {
                    values.extend_from_slice(&decimals[..rows]);
                }
                (Column::Text(texts), ArrayValues::Bytes(strings)) => {
                    let strings = strings.iter().take(rows);
                    strings.for_each(|text| texts.push(text.unwrap_or_default()));
                }
                _ => debug_assert!(false, "{CODED_ROWS}"),
            }
        }
    }

    /// Dictionary-encodes string columns with few distinct strings, after which the rows can only be made into whole
    /// blocks. Returns whether there is such a column.
    pub(super) fn code_texts(&mut self) -> bool {
        let mut is_coded = false;
        for column in &mut self.columns {
            if let Column::Text(texts) = column
                && let Some((strings, codes)) = texts.coded()
            {
                *column = Column::Coded { strings, codes };
                is_coded = true;
            }
        }
        is_coded
    }

    /// Appends the key of the next row of [`Self::append_arrays`].
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
            Column::Words(order, values) => {
                Column::Words(*order, rows().map(|row| values[row]).collect())
            }
            Column::Wide(values) => Column::Wide(rows().map(|row| values[row]).collect()),
            Column::Huge(values) => Column::Huge(rows().map(|row| values[row]).collect()),
            Column::Text(values) => Column::Text(texts(values)),
            Column::Coded { strings, codes } => {
                let mut out = Texts::default();
                rows().for_each(|row| out.push(strings.get(usize::from(codes[row]))));
                Column::Text(out)
            }
        };
        let nulls = |column: usize| {
            if self.nulls[column].is_empty() {
                Vec::new()
            } else {
                rows().map(|row| self.is_null(column, row)).collect()
            }
        };
        Self {
            types: Arc::clone(&self.types),
            shared: self.shared.clone(),
            keys: texts(&self.keys),
            nulls: (0..self.columns.len()).map(nulls).collect(),
            columns: self.columns.iter().map(column).collect(),
        }
    }

    /// Appends a range of rows of `other`, which has equal columns.
    pub(super) fn append_rows(&mut self, other: &Self, rows: Range<usize>) {
        let first = self.len();
        for number in 0..self.columns.len() {
            for (index, row) in rows.clone().enumerate() {
                if other.is_null(number, row) {
                    self.note_null(number, first + index);
                }
            }
            match (&mut self.columns[number], &other.columns[number]) {
                (Column::Words(_, to), Column::Words(_, from)) => {
                    to.extend_from_slice(&from[rows.clone()]);
                }
                (Column::Wide(to), Column::Wide(from)) => {
                    to.extend_from_slice(&from[rows.clone()]);
                }
                (Column::Huge(to), Column::Huge(from)) => {
                    to.extend_from_slice(&from[rows.clone()]);
                }
                (Column::Text(to), Column::Text(from)) => {
                    rows.clone().for_each(|row| to.push(from.get(row)));
                }
                (Column::Text(to), Column::Coded { strings, codes }) => {
                    let codes = codes[rows.clone()].iter();
                    codes.for_each(|code| to.push(strings.get(usize::from(*code))));
                }
                _ => debug_assert!(false, "the columns are of the same types"),
            }
        }
        rows.for_each(|row| self.keys.push(other.key(row)));
    }

    /// The rows from an index on.
    pub(super) fn rest(&self, from: usize) -> Self {
        let mut rest = Self::new(&self.types);
        rest.append_rows(self, from..self.len());
        rest
    }

    /// Memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let columns = self.columns.iter().map(|column| match column {
            Column::Words(_, values) => values.capacity() * 8,
            Column::Wide(values) => values.capacity() * 16,
            Column::Huge(values) => values.capacity() * 32,
            Column::Text(texts) => texts.memory(),
            Column::Coded { strings, codes } => strings.memory() + codes.capacity() * 2,
        });
        columns.sum::<usize>() + self.keys.bytes.capacity() + self.keys.ends.capacity() * 8
    }

    /// Divides the rows from `first` on into blocks of at most `limit` bytes and calls `take` with the rows of each.
    /// The last block's rows are left over when they do not fill it and `keep_rest` is set. Returns the number of rows
    /// taken.
    pub(super) fn divide<E>(
        &self,
        first: usize,
        limit: usize,
        keep_rest: bool,
        mut take: impl FnMut(Range<usize>) -> std::result::Result<(), E>,
    ) -> std::result::Result<usize, E> {
        let mut start = first;
        let mut guess = 64;
        while start < self.len() {
            let end = self.block_end(start, limit, guess);
            if end == self.len() && keep_rest {
                break;
            }
            guess = end - start;
            take(start..end)?;
            start = end;
        }
        Ok(start)
    }

    /// The end of a well filled block that begins at `start`, within the limit unless it is a single row. `guess` is
    /// an estimate of its number of rows.
    fn block_end(&self, start: usize, limit: usize, guess: usize) -> usize {
        // A block's size rises with its rows: `fits` is an end within the limit, `exceeds` one beyond it.
        let (mut fits, mut exceeds) = (start + 1, self.len() + 1);
        let mut end = (start + guess.max(1)).min(self.len());
        while fits + 1 < exceeds {
            let end_tried = end.clamp(fits + 1, exceeds - 1);
            let bytes = Sizes::of(self, start..end_tried).counted();
            let rows = end_tried - start;
            if bytes <= limit {
                fits = end_tried;
                if bytes >= limit - limit / 16 {
                    break;
                }
            } else {
                exceeds = end_tried;
            }
            // Extrapolates from the mean size of these rows.
            let wanted = limit - limit / 64;
            end = start + (rows * wanted / bytes.max(1)).max(1);
        }
        fits
    }

    /// The shortest key between two rows: larger than the first one's, and not larger than the second's.
    pub(super) fn separator<'k>(before: &[u8], first: &'k [u8]) -> &'k [u8] {
        let length = common(before, first) + 1;
        &first[..length.min(first.len())]
    }

    /// The bytes of a block of all rows, in any order: it can be read, but not searched.
    pub(super) fn encode_unordered(&self) -> Vec<u8> {
        let rows = 0..self.len();
        let mut out = Vec::new();
        self.encode(&Sizes::of_unordered(self, rows.clone()), rows, &mut out);
        out
    }

    /// Replaces the content of `out` by the bytes of a block of these sizes.
    pub(super) fn encode(&self, sizes: &Sizes, rows: Range<usize>, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(sizes.total);
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
        begin(out);
        let prefix = sizes.prefix;
        out.extend_from_slice(&(prefix as u32).to_le_bytes());
        out.extend_from_slice(&self.shared);
        let cut = prefix - self.shared.len();
        out.extend_from_slice(&self.key(rows.start)[..cut]);
        sizes.keys.encode(&self.keys, cut, rows.clone(), out);
        for number in 0..self.columns.len() {
            begin(out);
            let size = &sizes.columns[number];
            out.push(u8::from(size.has_nulls));
            if size.has_nulls {
                let start = out.len();
                out.resize(start + rows.len().div_ceil(8), 0);
                for (index, row) in rows.clone().enumerate() {
                    if !self.is_null(number, row) {
                        out[start + index / 8] |= 1 << (index % 8);
                    }
                }
            }
            size.encode(self, number, rows.clone(), out);
        }
        debug_assert_eq!(out.len(), sizes.total, "the size was known before");
        let checksum = checksum_of(&out[CHECKSUM_BYTES..]);
        out[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Length of the common prefix of two keys.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

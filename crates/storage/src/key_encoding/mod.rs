//! Order-preserving encoding of index keys: keys compare as their bytes do.
//!
//! A key is the concatenation of its parts. A part is a byte that tells NULL (0) from a value (1), then the value:
//! integers, decimals and floats most significant byte first, with the sign bit inverted so that negative ones come
//! first; strings as their collation's sort key, or as their bytes. The encoding is prefix-free, so that parts can
//! follow each other: numbers have a fixed length and strings end with a 0. Inside a string 0 and 1 are escaped as 1 1
//! and 1 2. A descending part has all of its bytes inverted.
//!
//! Equal values give equal bytes. Keys are never decoded: tables hold the values beside them.
//!
//! A row has one key, or, in a multi-valued index, a key for each distinct element of the array in one of the parts
//! ([`KeyEncoder::each_entry`]).

use arrow_array::ArrayRef;
use mayfly_types::charset::{Charset, utf8};
use mayfly_types::{CollationId, PhysicalType, Result, Value, typed_array};

use crate::error::wrong_type;
use crate::table::{IndexPart, KeyBound, KeyRange};
use crate::temptable::KeyMode;
use crate::values::{ColumnValues, StoredValue};

const NULL: u8 = 0;
const VALUE: u8 = 1;
/// Terminator of a string.
const END: u8 = 0;
/// Escape byte: followed by 1 for a 0 in a string, by 2 for a 1.
const ESCAPE: u8 = 1;

/// Encoding of a part's strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// Bytes as they are; a prefix length counts bytes.
    Bytes,
    /// Bytes as they are; a prefix length counts characters.
    Characters,
    /// Sort keys of a collation.
    SortKey(CollationId),
}

#[derive(Debug, Clone, Copy)]
struct Part {
    column: usize,
    ty: PhysicalType,
    text: Text,
    prefix: Option<u32>,
    /// Mask that is XORed with every byte: all ones for a descending part.
    inversion: u8,
    /// Whether the column holds arrays of `ty`.
    is_array: bool,
}

/// Encoder of the keys of one index.
#[derive(Debug, Clone)]
pub struct KeyEncoder {
    parts: Vec<Part>,
    is_multi_valued: bool,
}

/// Encoder of the keys of single rows in an index, in the form that its store keeps.
#[derive(Debug, Clone, Copy)]
pub struct RowKeyEncoder<'e> {
    encoder: &'e KeyEncoder,
    kept: fn(&mut Vec<u8>),
}

impl<'e> RowKeyEncoder<'e> {
    /// An encoder whose keys `kept` brings into the store's form.
    pub(crate) fn new(encoder: &'e KeyEncoder, kept: fn(&mut Vec<u8>)) -> Self {
        Self { encoder, kept }
    }

    /// Sets `key` to the key of values of all key parts, none of them NULL.
    #[inline]
    pub fn encode<'v>(
        self,
        values: impl IntoIterator<Item = &'v Value>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        key.clear();
        self.encoder.append_values(values, key)?;
        (self.kept)(key);
        Ok(())
    }
}

/// Half-open range of encoded keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteRange {
    /// Inclusive start.
    pub start: Vec<u8>,
    /// Exclusive end; `None`: unbounded.
    pub end: Option<Vec<u8>>,
}

impl ByteRange {
    /// All keys.
    pub const ALL: Self = Self {
        start: Vec::new(),
        end: None,
    };

    /// The range of keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self {
            start: prefix.to_vec(),
            end: after_prefix(prefix),
        }
    }

    /// Sorts and joins ranges, so that none overlaps another: bounds are moved outwards where an index holds less than
    /// the values that they are made of.
    pub fn joined(mut ranges: Vec<Self>) -> Vec<Self> {
        ranges.sort_by(|a, b| a.start.cmp(&b.start));
        let mut joined: Vec<Self> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last) if last.end.as_ref().is_none_or(|end| range.start <= *end) => {
                    let is_longer = match (&last.end, &range.end) {
                        (None, _) => false,
                        (Some(_), None) => true,
                        (Some(last), Some(end)) => end > last,
                    };
                    if is_longer {
                        last.end = range.end;
                    }
                }
                _ => joined.push(range),
            }
        }
        joined
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether a key lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }
}

/// The smallest key that is larger than all keys that begin with `prefix`; `None` if there is none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut after = None;
    put_after_prefix(prefix, &mut after);
    after
}

/// [`after_prefix`], but written to `after`, whose memory is reused.
pub(crate) fn put_after_prefix(prefix: &[u8], after: &mut Option<Vec<u8>>) {
    let Some(last) = prefix.iter().rposition(|byte| *byte != u8::MAX) else {
        *after = None;
        return;
    };
    let after = after.get_or_insert_default();
    after.clear();
    after.extend_from_slice(&prefix[..=last]);
    after[last] += 1;
}

/// Keys of the rows of some arrays.
pub struct RowKeys<'a> {
    parts: Vec<(&'a Part, ColumnValues<'a>)>,
    is_multi_valued: bool,
}

impl RowKeys<'_> {
    /// Appends a row's key.
    #[inline]
    pub fn append(&self, row: usize, key: &mut Vec<u8>) {
        for (part, source) in &self.parts {
            part.append(source.get(row), key);
        }
    }

    /// Whether a row may have any number of keys.
    pub fn is_multi_valued(&self) -> bool {
        self.is_multi_valued
    }

    /// Calls `each` with the key of every entry of a row, in ascending order. `key` is the buffer that
    /// `each` gets, and may keep.
    #[inline]
    pub fn each_entry<E>(
        &self,
        row: usize,
        key: &mut Vec<u8>,
        each: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts = self.parts.iter();
        let parts = parts.map(|(part, source)| Ok((*part, source.get(row))));
        each_key(parts, self.is_multi_valued, key, each)
    }

    /// Whether a part of a row's key is NULL: such a key is no duplicate.
    pub fn has_null(&self, row: usize) -> bool {
        self.parts.iter().any(|(_, source)| source.is_null(row))
    }
}

impl KeyEncoder {
    /// An encoder for an index over these columns of a table.
    pub fn new(columns: &[PhysicalType], parts: &[IndexPart]) -> Self {
        let part = |part: &IndexPart| Part {
            column: part.column,
            ty: part.elements.unwrap_or(columns[part.column]),
            text: match part.mode {
                KeyMode::Binary => Text::Bytes,
                KeyMode::Collated(collation) if collation.is_bytewise_equality() => {
                    if collation.collation().charset == Charset::Binary {
                        Text::Bytes
                    } else {
                        Text::Characters
                    }
                }
                KeyMode::Collated(collation) => Text::SortKey(collation),
            },
            prefix: part.prefix,
            inversion: if part.descending { u8::MAX } else { 0 },
            is_array: part.elements.is_some(),
        };
        Self {
            parts: parts.iter().map(part).collect(),
            is_multi_valued: parts.iter().any(|part| part.elements.is_some()),
        }
    }

    /// Whether a row may have any number of keys.
    pub fn is_multi_valued(&self) -> bool {
        self.is_multi_valued
    }

    /// The number of parts.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The columns of the parts.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.column)
    }

    /// The keys of rows, given arrays of all columns of the table.
    pub fn rows<'a>(&'a self, columns: &'a [ArrayRef]) -> RowKeys<'a> {
        let source = |part: &'a Part| (part, ColumnValues::new(&columns[part.column]));
        RowKeys {
            parts: self.parts.iter().map(source).collect(),
            is_multi_valued: self.is_multi_valued,
        }
    }

    /// Keys or key prefixes, given one array for each of the first parts of the index.
    pub fn parts<'a>(&'a self, arrays: &'a [ArrayRef]) -> RowKeys<'a> {
        let source = |(part, array): (&'a Part, &'a ArrayRef)| (part, ColumnValues::new(array));
        RowKeys {
            parts: self.parts.iter().zip(arrays).map(source).collect(),
            is_multi_valued: false,
        }
    }

    /// Calls `each` with the key of every entry of a row, in ascending order; `value` gives the values of the row's
    /// columns. `key` is the buffer that `each` gets, and may keep.
    #[inline]
    pub(crate) fn each_entry<'a, E>(
        &self,
        value: impl Fn(usize) -> Result<StoredValue<'a>, E>,
        key: &mut Vec<u8>,
        each: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts = self.parts.iter();
        let parts = parts.map(|part| Ok((part, value(part.column)?)));
        each_key(parts, self.is_multi_valued, key, each)
    }

    /// Appends the only key of a row, whose column values `value` gives.
    #[inline]
    pub(crate) fn append_stored<'a, E>(
        &self,
        value: impl Fn(usize) -> Result<StoredValue<'a>, E>,
        key: &mut Vec<u8>,
    ) -> Result<(), E> {
        for part in &self.parts {
            part.append(value(part.column)?, key);
        }
        Ok(())
    }

    /// The length of the first `parts` parts of a key, which other bytes may follow. For bytes that are no key the
    /// result is meaningless, but never more than their number.
    pub(crate) fn parts_length(&self, key: &[u8], parts: usize) -> usize {
        let mut length = 0;
        for part in self.parts.iter().take(parts) {
            let rest = &key[length..];
            let is_null = rest
                .first()
                .is_none_or(|flag| *flag == NULL ^ part.inversion);
            length += match part.ty {
                _ if is_null => 1,
                PhysicalType::Decimal128(_) => 17,
                PhysicalType::Decimal256(_) => 33,
                PhysicalType::Bytes => {
                    let text = &rest[1..];
                    let end = memchr::memchr(END ^ part.inversion, text);
                    end.map_or(rest.len(), |end| end + 2)
                }
                PhysicalType::Bool
                | PhysicalType::Int64
                | PhysicalType::UInt64
                | PhysicalType::Float64 => 9,
            };
            length = length.min(key.len());
        }
        length
    }

    /// The length of the key at the beginning of some bytes.
    pub fn key_length(&self, key: &[u8]) -> usize {
        self.parts_length(key, self.parts.len())
    }

    /// Appends a key prefix: the values of its first parts. A value is of its column's physical type, or a number that
    /// can be converted to it without loss. The value of a column prefix is a sort key where beginnings of strings are
    /// not ordered as the strings are ([`CollationId::orders_beginnings`]).
    #[inline]
    pub fn append_values<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        for (part, value) in self.parts.iter().zip(values) {
            part.append_value(value, key)?;
        }
        Ok(())
    }

    /// The byte range between two bounds. A bound whose last value is only a prefix of its column is always inclusive:
    /// longer values share the prefix.
    pub fn range(&self, range: &KeyRange) -> Result<ByteRange> {
        let start = match &range.start {
            KeyBound::Unbounded => Vec::new(),
            KeyBound::Excluded(values) if !self.ends_in_prefix(values) => {
                match after_prefix(&self.bound(values)?) {
                    Some(start) => start,
                    None => return Ok(nothing()),
                }
            }
            KeyBound::Included(values) | KeyBound::Excluded(values) => self.bound(values)?,
        };
        let end = match &range.end {
            KeyBound::Unbounded => None,
            KeyBound::Excluded(values) if !self.ends_in_prefix(values) => Some(self.bound(values)?),
            KeyBound::Included(values) | KeyBound::Excluded(values) => {
                after_prefix(&self.bound(values)?)
            }
        };
        Ok(ByteRange { start, end })
    }

    fn ends_in_prefix(&self, values: &[Value]) -> bool {
        let last = self.parts.iter().zip(values).next_back();
        last.is_some_and(|(part, value)| part.prefix.is_some() && !value.is_null())
    }

    fn bound(&self, values: &[Value]) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(values.len() * 16);
        self.append_values(values, &mut key)?;
        Ok(key)
    }
}

/// Calls `each` with every key that the parts of a row give.
#[inline]
fn each_key<'a, E>(
    parts: impl Iterator<Item = Result<(&'a Part, StoredValue<'a>), E>>,
    is_multi_valued: bool,
    key: &mut Vec<u8>,
    mut each: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    if is_multi_valued {
        let parts: Vec<_> = parts.collect::<Result<_, E>>()?;
        return keys_of_array(&parts).iter_mut().try_for_each(each);
    }
    key.clear();
    for part in parts {
        let (part, value) = part?;
        part.append(value, key);
    }
    each(key)
}

/// The distinct keys of a row with an array in one part, in ascending order.
fn keys_of_array(parts: &[(&Part, StoredValue<'_>)]) -> Vec<Vec<u8>> {
    let with = |element: StoredValue<'_>| {
        let mut key = Vec::new();
        for (part, value) in parts {
            part.append(if part.is_array { element } else { *value }, &mut key);
        }
        key
    };
    let mut arrays = parts.iter().filter(|(part, _)| part.is_array);
    let mut keys = match arrays.next() {
        Some((part, StoredValue::Bytes(array))) => {
            let elements = typed_array::elements(array, part.ty);
            let key = |element| StoredValue::of(part.ty, &element).map(with);
            elements.filter_map(key).collect()
        }
        _ => vec![with(StoredValue::Null)],
    };
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The empty range.
fn nothing() -> ByteRange {
    ByteRange {
        start: Vec::new(),
        end: Some(Vec::new()),
    }
}

impl Part {
    #[inline(always)]
    fn put<const N: usize>(&self, bytes: [u8; N], key: &mut Vec<u8>) {
        let first = key.len();
        key.push(VALUE);
        key.extend_from_slice(&bytes);
        self.invert(first, key);
    }

    /// Inverts the bytes from `first` on if the part is descending.
    #[inline(always)]
    fn invert(&self, first: usize, key: &mut [u8]) {
        if self.inversion != 0 {
            for byte in &mut key[first..] {
                *byte ^= self.inversion;
            }
        }
    }

    #[inline(always)]
    fn append(&self, value: StoredValue<'_>, key: &mut Vec<u8>) {
        match value {
            StoredValue::Null => key.push(NULL ^ self.inversion),
            StoredValue::Word(word) => self.put(self.ordered(word).to_be_bytes(), key),
            StoredValue::Decimal128(unscaled) => {
                self.put((unscaled as u128 ^ 1 << 127).to_be_bytes(), key);
            }
            StoredValue::Decimal256(unscaled) => {
                let (low, high) = unscaled.to_parts();
                let mut bytes = [0; 32];
                bytes[..16].copy_from_slice(&(high as u128 ^ 1 << 127).to_be_bytes());
                bytes[16..].copy_from_slice(&low.to_be_bytes());
                self.put(bytes, key);
            }
            StoredValue::Bytes(text) => self.put_text(text, key),
        }
    }

    /// A word that, unsigned, is ordered as the value is.
    #[inline(always)]
    fn ordered(&self, word: u64) -> u64 {
        match self.ty {
            PhysicalType::Int64 => word ^ 1 << 63,
            PhysicalType::Float64 => {
                // Adding 0 turns -0.0 into 0.0.
                let bits = (f64::from_bits(word) + 0.0).to_bits();
                bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 }
            }
            _ => word,
        }
    }

    fn put_text(&self, text: &[u8], key: &mut Vec<u8>) {
        let text = match self.prefix {
            None => text,
            Some(length) => {
                let length = length as usize;
                let end = match self.text {
                    _ if text.len() <= length => text.len(),
                    Text::Bytes => length,
                    Text::Characters | Text::SortKey(_) => utf8::offset_of_char(text, length),
                };
                &text[..end.min(text.len())]
            }
        };
        let first = key.len();
        key.reserve(text.len() + 2);
        key.push(VALUE);
        match self.text {
            Text::Bytes | Text::Characters => key.extend_from_slice(text),
            Text::SortKey(collation) => collation.append_sort_key(text, key),
        }
        self.end_text(first, key);
    }

    fn put_sort_key(&self, sort_key: &[u8], key: &mut Vec<u8>) {
        let first = key.len();
        key.push(VALUE);
        key.extend_from_slice(sort_key);
        self.end_text(first, key);
    }

    /// Terminates the string of a part that begins at `first`.
    fn end_text(&self, first: usize, key: &mut Vec<u8>) {
        escape(key, first + 1);
        key.push(END);
        self.invert(first, key);
    }

    #[inline]
    fn append_value(&self, value: &Value, key: &mut Vec<u8>) -> Result<()> {
        match (value, self.text) {
            (Value::Bytes(sort_key), Text::SortKey(collation))
                if self.prefix.is_some() && !collation.orders_beginnings() =>
            {
                self.put_sort_key(sort_key, key);
            }
            _ => self.append(StoredValue::of(self.ty, value).ok_or_else(wrong_type)?, key),
        }
        Ok(())
    }
}

/// Escapes the 0s and 1s from `start` on in place.
fn escape(key: &mut Vec<u8>, start: usize) {
    let special = key[start..].iter().filter(|byte| **byte <= ESCAPE).count();
    if special == 0 {
        return;
    }
    let mut from = key.len();
    key.resize(from + special, 0);
    let mut to = key.len();
    // Moves bytes from the end until source and target meet: the bytes before are in place.
    while from < to {
        from -= 1;
        to -= 1;
        let byte = key[from];
        if byte <= ESCAPE {
            key[to] = byte + 1;
            to -= 1;
            key[to] = ESCAPE;
        } else {
            key[to] = byte;
        }
    }
}

#[cfg(test)]
mod tests;

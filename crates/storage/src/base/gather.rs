//! Rows of blocks as Arrow arrays.
//!
//! [`Pieces`] are runs of rows in blocks. Numbers are widened in loops over a run; strings stay where they are, in the
//! map of the file: arrays point to them through buffers that keep the snapshot. The blocks of a large part of the
//! file share a buffer ([`Snapshot::window`]).

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, UInt16Array};
use arrow_buffer::{
    BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, ScalarBuffer, bit_util,
};
use mayfly_types::coded::{CODES_MAX, Coded};
use mayfly_types::{PhysicalType, Result, Selection};

use super::block::{self, Block, BlockRows, Checked, Damaged, Ends, Strings, Values};
use super::rows::Rows;
use super::snapshot::Snapshot;
use crate::row_filter::NumberRange;
use crate::temptable::View;
use crate::values::{decimal128_array, decimal256_array, word_array};

/// Number of rows of a block below which strings are copied rather than pointed to.
const SPARSE_ROWS: usize = 8;
/// Mean length of runs up to which rows are gathered one by one.
const SHORT_RUN: usize = 16;

/// A run of rows of one block.
#[derive(Debug, Clone, Copy)]
struct Run {
    block: u32,
    start: u32,
    end: u32,
}

impl Run {
    fn rows(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Selection of rows of [`Pieces`].
pub(super) struct ChosenRows {
    /// Indexes of the rows in their blocks.
    rows: Vec<u32>,
    /// The blocks of the rows, each with its range in `rows`.
    parts: Vec<(u32, Range<usize>)>,
}

impl ChosenRows {
    /// Adds rows of a block.
    fn add(&mut self, block: u32, rows: impl Iterator<Item = u32>) {
        let first = self.rows.len();
        self.rows.extend(rows);
        let end = self.rows.len();
        match self.parts.last_mut() {
            _ if first == end => {}
            Some((last, part)) if *last == block => part.end = end,
            _ => self.parts.push((block, first..end)),
        }
    }
}

/// Owner of a block's bytes.
enum Holder {
    /// The map of the file.
    Map,
    /// A buffer of the block's own.
    Buffer(Buffer),
}

/// Buffers of some blocks, and for each block (buffer, offset in it).
type Buffers = (Vec<Buffer>, Vec<(u32, u32)>);

/// Dictionary that combines those of a column's blocks.
struct CodedStrings {
    /// Each block with the combined code of its first entry.
    blocks: Vec<(u32, usize)>,
    views: Vec<u128>,
    buffers: Vec<Buffer>,
}

/// Rows of blocks, in output order.
pub(super) struct Pieces {
    /// Snapshot that holds the blocks' bytes at their addresses.
    snapshot: Arc<Snapshot>,
    blocks: Vec<(Block<'static>, Holder)>,
    runs: Vec<Run>,
    /// Index of the first run that is not finished.
    open_run: usize,
    rows: usize,
    /// Rows of the transaction, until [`Self::seal`] makes a block of them.
    own: Option<Rows>,
}

/// Placeholder in runs for the block of the transaction's own rows, until it is made.
const OWN: u32 = u32::MAX;

impl Pieces {
    /// No rows yet, of blocks of a snapshot.
    pub(super) fn new(snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Arc::clone(snapshot),
            blocks: Vec::new(),
            runs: Vec::new(),
            open_run: 0,
            rows: 0,
            own: None,
        }
    }

    /// Adds a row of the transaction (see [`super::row`]).
    pub(super) fn push_own(
        &mut self,
        types: &Arc<[PhysicalType]>,
        key: &[u8],
        row: &[u8],
    ) -> Checked<()> {
        let own = self.own.get_or_insert_with(|| Rows::new(types));
        let index = own.len();
        own.append_row(key, row)?;
        self.push(OWN, index, index + 1);
        Ok(())
    }

    /// Makes a block of the transaction's own rows, once all rows are added.
    pub(super) fn seal(&mut self) -> Checked<()> {
        if let Some(own) = self.own.take() {
            let block = self.add_own(own.encode_unordered())?;
            for run in self.runs.iter_mut().filter(|run| run.block == OWN) {
                run.block = block;
            }
        }
        Ok(())
    }

    /// The block added last, with its index.
    pub(super) fn last_block(&self) -> Option<(u32, Block<'static>)> {
        let (block, _) = self.blocks.last()?;
        Some(((self.blocks.len() - 1) as u32, *block))
    }

    /// The block added last, and the end of the rows taken from it.
    pub(super) fn last_place(&self) -> Option<(u32, Block<'static>, usize)> {
        let (number, block) = self.last_block()?;
        let last = self.runs.last().filter(|run| run.block == number);
        Some((number, block, last.map_or(0, |run| run.end as usize)))
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The index of a block of this snapshot, which is added unless it was added last.
    pub(super) fn block_number(&mut self, block: Block<'static>) -> u32 {
        match self.last_block() {
            Some((number, last)) if last.bytes.as_ptr() == block.bytes.as_ptr() => number,
            _ => self.add_block(block),
        }
    }

    /// Adds a block of this snapshot.
    pub(super) fn add_block(&mut self, block: Block<'static>) -> u32 {
        self.blocks.push((block, Holder::Map));
        (self.blocks.len() - 1) as u32
    }

    /// Adds a block that is not in the file.
    #[expect(unsafe_code, reason = "the block's bytes are held beside it")]
    fn add_own(&mut self, bytes: Vec<u8>) -> Checked<u32> {
        let buffer = Buffer::from_vec(bytes);
        // SAFETY: a buffer's bytes do not move, and the buffer is kept beside the block.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), buffer.len()) };
        self.blocks
            .push((Block::parse(bytes)?, Holder::Buffer(buffer)));
        Ok((self.blocks.len() - 1) as u32)
    }

    fn block(&self, block: u32) -> &Block<'static> {
        &self.blocks[block as usize].0
    }

    /// Adds rows of a block.
    #[inline]
    pub(super) fn push(&mut self, block: u32, start: usize, end: usize) {
        if start >= end {
            return;
        }
        self.rows += end - start;
        let (start, end) = (start as u32, end as u32);
        if self.runs.len() > self.open_run
            && let Some(last) = self.runs.last_mut()
            && last.block == block
            && last.end == start
        {
            last.end = end;
            return;
        }
        self.runs.push(Run { block, start, end });
    }

    /// Finishes the last run; returns the index of the next one.
    pub(super) fn begin_run(&mut self) -> usize {
        self.open_run = self.runs.len();
        self.open_run
    }

    /// Number of rows of some runs.
    pub(super) fn rows_of(&self, runs: Range<usize>) -> usize {
        self.runs[runs].iter().map(|run| run.rows().len()).sum()
    }

    /// Permutes the runs.
    pub(super) fn reorder(&mut self, order: &[Range<usize>]) {
        let ordered = order.iter().flat_map(|runs| &self.runs[runs.clone()]);
        self.runs = ordered.copied().collect();
    }

    /// The buffers of the blocks.
    #[expect(unsafe_code, reason = "a buffer over the map of the file")]
    fn buffers(&self) -> Buffers {
        let mut buffers = Vec::new();
        let mut locations = Vec::with_capacity(self.blocks.len());
        // Most batches lie within one window.
        let mut windows: Vec<(usize, u32)> = Vec::new();
        for (block, holder) in &self.blocks {
            let number = buffers.len() as u32;
            if let Holder::Buffer(buffer) = holder {
                locations.push((number, 0));
                buffers.push(buffer.clone());
                continue;
            }
            let address = block.bytes.as_ptr() as usize;
            let window = self.snapshot.window(block.bytes);
            let known = windows.iter().rev().find(|known| known.0 == window.start);
            let number = match known {
                Some((_, number)) => *number,
                None => {
                    let Some(pointer) = NonNull::new(window.start as *mut u8) else {
                        continue;
                    };
                    let owner = Arc::clone(&self.snapshot);
                    // SAFETY: the buffer reaches beyond the snapshot's blocks, but only their bytes
                    // are ever read through it. They stay as they are until the owner is dropped.
                    let buffer =
                        unsafe { Buffer::from_custom_allocation(pointer, window.len(), owner) };
                    buffers.push(buffer);
                    windows.push((window.start, number));
                    number
                }
            };
            locations.push((number, (address - window.start) as u32));
        }
        (buffers, locations)
    }

    /// The key of the first row.
    pub(super) fn first_key(&self) -> Checked<Vec<u8>> {
        let run = self.runs.first().ok_or(Damaged)?;
        self.block(run.block).key(run.start as usize)
    }

    /// The rows whose bit is set, out of all or of `among`.
    pub(super) fn choose(&self, among: Option<&ChosenRows>, bits: &BooleanBuffer) -> ChosenRows {
        let mut chosen = ChosenRows {
            rows: Vec::with_capacity(bits.count_set_bits()),
            parts: Vec::new(),
        };
        let mut before = 0;
        match among {
            None => {
                for run in &self.runs {
                    let indices = bits.slice(before, run.rows().len());
                    let rows = indices.set_indices_u32().map(|index| run.start + index);
                    chosen.add(run.block, rows);
                    before += run.rows().len();
                }
            }
            Some(among) => {
                for (block, part) in &among.parts {
                    let rows = &among.rows[part.clone()];
                    let indices = bits.slice(before, rows.len());
                    chosen.add(
                        *block,
                        indices.set_indices_u32().map(|index| rows[index as usize]),
                    );
                    before += rows.len();
                }
            }
        }
        chosen
    }

    /// All rows as single rows, if runs are so short that this is faster.
    fn short_runs(&self) -> Option<ChosenRows> {
        if self.runs.len() * SHORT_RUN < self.rows {
            return None;
        }
        let mut chosen = ChosenRows {
            rows: Vec::with_capacity(self.rows),
            parts: Vec::new(),
        };
        for run in &self.runs {
            chosen.add(run.block, run.start..run.end);
        }
        Some(chosen)
    }

    /// Calls `each` with the rows, or the chosen ones, block by block.
    #[inline]
    fn each_part<'c>(
        &self,
        chosen: Option<&'c ChosenRows>,
        mut give: impl FnMut(u32, BlockRows<'c>) -> Checked<()>,
    ) -> Checked<()> {
        match chosen {
            None => {
                let mut runs = self.runs.iter();
                runs.try_for_each(|run| give(run.block, BlockRows::Range(run.rows())))
            }
            Some(chosen) => {
                let mut parts = chosen.parts.iter();
                parts.try_for_each(|(block, part)| {
                    give(*block, BlockRows::List(&chosen.rows[part.clone()]))
                })
            }
        }
    }

    /// Columns of all rows.
    pub(super) fn columns(
        &self,
        wanted: &[(usize, PhysicalType)],
        codes: &[usize],
    ) -> Checked<Vec<ArrayRef>> {
        self.columns_of(wanted, self.short_runs().as_ref(), codes)
    }

    /// Columns of all rows, or of the chosen ones. Those in `codes` come as dictionary arrays if their blocks are
    /// dictionary-encoded with few entries.
    pub(super) fn columns_of(
        &self,
        wanted: &[(usize, PhysicalType)],
        chosen: Option<&ChosenRows>,
        codes: &[usize],
    ) -> Checked<Vec<ArrayRef>> {
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let blocks = chosen.map_or(self.blocks.len(), |chosen| chosen.parts.len());
        let sparse = rows < blocks * SPARSE_ROWS;
        let has_text = wanted.iter().any(|(_, ty)| *ty == PhysicalType::Bytes);
        let buffers = if has_text && !sparse {
            Some(self.buffers())
        } else {
            None
        };
        let column = |(number, ty): &(usize, PhysicalType)| {
            if codes.contains(number)
                && let Some(codes) = self.codes(*number, chosen)?
            {
                return Ok(codes);
            }
            self.column(*number, *ty, &buffers, chosen)
        };
        wanted.iter().map(column).collect()
    }

    /// A column as a dictionary array, if its blocks are dictionary-encoded with few entries.
    #[expect(unsafe_code, reason = "each code was compared with how many there are")]
    fn codes(&self, number: usize, chosen: Option<&ChosenRows>) -> Checked<Option<ArrayRef>> {
        let Some(strings) = self.coded_strings(number, chosen)? else {
            return Ok(None);
        };
        // The dictionary's codes must fit their type.
        if strings.views.len() > CODES_MAX {
            return Ok(None);
        }
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let mut nulls = Nulls::default();
        let mut codes = Vec::with_capacity(rows);
        self.each_coded(number, chosen, &strings, |column, coded, first, rows| {
            nulls.add(column.validity, &rows, codes.len());
            coded.append_codes(rows, first as u16, &mut codes)
        })?;
        let codes = UInt16Array::new(codes.into(), nulls.finish(rows));
        let strings = text_array(strings.views, strings.buffers, None);
        // SAFETY: `append_codes` gives codes of the strings of its block, which begin at `first`.
        let coded = unsafe { Coded::new_unchecked(codes, strings) };
        Ok(Some(Arc::new(coded)))
    }

    /// The combined dictionary of a column, if all of its blocks are dictionary-encoded with few entries.
    fn coded_strings(
        &self,
        number: usize,
        chosen: Option<&ChosenRows>,
    ) -> Checked<Option<CodedStrings>> {
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let (mut count, mut is_coded) = (0, true);
        let mut blocks: Vec<(u32, usize)> = Vec::new();
        self.each_part(chosen, |block, _| {
            if is_coded && blocks.last().is_none_or(|(last, _)| *last != block) {
                blocks.push((block, count));
                match self.block(block).column(number)?.values {
                    Values::Coded(coded) => count += coded.count,
                    _ => is_coded = false,
                }
            }
            Ok(())
        })?;
        if !is_coded || count > rows / CODES_PART {
            return Ok(None);
        }
        let (buffers, locations) = self.buffers();
        let mut views = Vec::with_capacity(count + 1);
        for (block, _) in &blocks {
            if let Values::Coded(coded) = self.block(*block).column(number)?.values {
                let (buffer, base) = locations[*block as usize];
                let base = base + coded.strings.start as u32;
                let all = BlockRows::Range(0..coded.count);
                append_views(&coded.strings, all, buffer, base, &mut views)?;
            }
        }
        Ok(Some(CodedStrings {
            blocks,
            views,
            buffers,
        }))
    }

    /// Calls `each` with the rows of a column block by block, and the first combined code of each block.
    fn each_coded<'c>(
        &self,
        number: usize,
        chosen: Option<&'c ChosenRows>,
        strings: &CodedStrings,
        mut give: impl FnMut(
            &block::Column<'static>,
            block::Coded<'static>,
            usize,
            BlockRows<'c>,
        ) -> Checked<()>,
    ) -> Checked<()> {
        let mut blocks = strings.blocks.iter().peekable();
        let mut first = 0;
        self.each_part(chosen, |block, rows| {
            if let Some((_, start)) = blocks.next_if(|(next, _)| *next == block) {
                first = *start;
            }
            let column = self.block(block).column(number)?;
            let Values::Coded(coded) = column.values else {
                return Err(Damaged);
            };
            give(&column, coded, first, rows)
        })
    }

    fn column(
        &self,
        number: usize,
        ty: PhysicalType,
        buffers: &Option<Buffers>,
        chosen: Option<&ChosenRows>,
    ) -> Checked<ArrayRef> {
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let mut nulls = Nulls::default();
        Ok(match ty {
            PhysicalType::Bytes => {
                let mut views: Vec<u128> = Vec::with_capacity(rows);
                let (mut copied, mut of_codes): (Vec<u8>, Vec<u128>) = Default::default();
                self.each_part(chosen, |number_of_block, rows| {
                    let column = self.block(number_of_block).column(number)?;
                    nulls.add(column.validity, &rows, views.len());
                    let location = buffers
                        .as_ref()
                        .map(|(_, all)| all[number_of_block as usize]);
                    match (location, column.values) {
                        (Some((buffer, base)), Values::Strings(strings)) => {
                            let base = base + strings.start as u32;
                            append_views(&strings, rows, buffer, base, &mut views)?;
                        }
                        (Some((buffer, base)), Values::Coded(coded)) => {
                            let base = base + coded.strings.start as u32;
                            of_codes.clear();
                            let all = BlockRows::Range(0..coded.count);
                            append_views(&coded.strings, all, buffer, base, &mut of_codes)?;
                            coded.append_by_code(rows, &of_codes, &mut views)?;
                        }
                        (_, values) => rows.each(|row| {
                            let text = values.text(row)?;
                            views.push(View::of(text, 0, copied.len() as u32).0);
                            if text.len() > INLINE {
                                copied.extend_from_slice(text);
                            }
                            Ok(())
                        })?,
                    }
                    Ok(())
                })?;
                let buffers = match buffers {
                    Some((buffers, _)) => buffers.clone(),
                    None => vec![Buffer::from_vec(copied)],
                };
                text_array(views, buffers, nulls.finish(rows))
            }
            PhysicalType::Decimal128(_) => {
                let values = self.numbers(number, &mut nulls, chosen, Values::append_wide)?;
                decimal128_array(ty, values, nulls.finish(rows))
            }
            PhysicalType::Decimal256(_) => {
                let values = self.numbers(number, &mut nulls, chosen, Values::append_huge)?;
                decimal256_array(ty, values, nulls.finish(rows))
            }
            PhysicalType::Bool
            | PhysicalType::Int64
            | PhysicalType::UInt64
            | PhysicalType::Float64 => {
                let words = self.numbers(number, &mut nulls, chosen, Values::append_words)?;
                word_array(ty, words, nulls.finish(rows))
            }
        })
    }

    /// The values of a column, appended by `append` run by run, and its NULLs.
    #[inline]
    fn numbers<T>(
        &self,
        number: usize,
        nulls: &mut Nulls,
        chosen: Option<&ChosenRows>,
        append: impl Fn(&Values<'static>, BlockRows<'_>, &mut Vec<T>) -> Checked<()>,
    ) -> Checked<Vec<T>> {
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let mut values = Vec::with_capacity(rows);
        self.each_part(chosen, |block, rows| {
            let column = self.block(block).column(number)?;
            nulls.add(column.validity, &rows, values.len());
            append(&column.values, rows, &mut values)
        })?;
        Ok(values)
    }

    /// The rows, of all or of the chosen ones, whose number in a column lies within a range. The numbers are compared
    /// as encoded in the blocks; base and width of a block bound its values.
    pub(super) fn within(
        &self,
        number: usize,
        ty: PhysicalType,
        range: NumberRange,
        chosen: Option<&ChosenRows>,
    ) -> Checked<BooleanBuffer> {
        let mut flags = vec![0; chosen.map_or(self.rows, |chosen| chosen.rows.len())];
        let mut start = 0;
        self.each_part(chosen, |block, rows| {
            let column = self.block(block).column(number)?;
            let flags = &mut flags[start..start + rows.len()];
            start += rows.len();
            column.values.within(ty, range, &rows, flags)?;
            column.each_null(&rows, |index| flags[index] = 0);
            Ok(())
        })?;
        Ok(bits_of(&flags))
    }

    /// The rows, of all or of the chosen ones, whose string in a column is wanted. If the blocks are
    /// dictionary-encoded with few entries, `ask` gets the dictionary's strings, with NULL at the end.
    pub(super) fn by_code(
        &self,
        number: usize,
        chosen: Option<&ChosenRows>,
        ask: impl FnOnce(ArrayRef) -> Result<Selection>,
    ) -> Result<Option<BooleanBuffer>> {
        let rows = chosen.map_or(self.rows, |chosen| chosen.rows.len());
        let Some(mut strings) = self.coded_strings(number, chosen)? else {
            return Ok(None);
        };
        let codes = strings.views.len();
        let mut views = std::mem::take(&mut strings.views);
        let buffers = std::mem::take(&mut strings.buffers);
        let mut valid = BooleanBufferBuilder::new(codes + 1);
        valid.append_n(codes, true);
        valid.append(false);
        views.push(0);
        let nulls = Some(NullBuffer::new(valid.finish()));
        let wanted = ask(text_array(views, buffers, nulls))?;
        let wanted: Vec<u8> = (0..=codes)
            .map(|code| wanted.contains(code).into())
            .collect();
        let mut flags = Vec::with_capacity(rows);
        self.each_coded(number, chosen, &strings, |column, coded, first, rows| {
            let before = flags.len();
            coded.append_flags(
                rows.clone(),
                wanted.get(first..codes).ok_or(Damaged)?,
                &mut flags,
            )?;
            column.each_null(&rows, |index| flags[before + index] = wanted[codes]);
            Ok(())
        })?;
        Ok(Some(bits_of(&flags)))
    }

    /// The keys of the rows, each from the offset that `skip` returns for it.
    pub(super) fn keys(&self, skip: impl Fn(&[u8]) -> usize) -> Checked<ArrayRef> {
        let mut views: Vec<u128> = Vec::with_capacity(self.rows);
        let mut copied: Vec<u8> = Vec::new();
        let mut key: Vec<u8> = Vec::new();
        for run in &self.runs {
            let block = self.block(run.block);
            for row in run.start..run.end {
                key.clear();
                block.append_key(row as usize, &mut key)?;
                let key = key.get(skip(&key)..).ok_or(Damaged)?;
                views.push(View::of(key, 0, copied.len() as u32).0);
                if key.len() > INLINE {
                    copied.extend_from_slice(key);
                }
            }
        }
        Ok(text_array(views, vec![Buffer::from_vec(copied)], None))
    }
}

/// Longest string, in bytes, that a view holds inline.
const INLINE: usize = View::INLINE_MAX as usize;

fn append_views(
    strings: &Strings<'_>,
    rows: BlockRows<'_>,
    buffer: u32,
    base: u32,
    views: &mut Vec<u128>,
) -> Checked<()> {
    if let Ends::Fixed(length) = strings.ends
        && length > INLINE
        && let BlockRows::Range(rows) = &rows
    {
        let bytes = strings.bytes.get(rows.start * length..rows.end * length);
        let tail = length as u128 | u128::from(buffer) << 64;
        let mut offset = base + (rows.start * length) as u32;
        for text in bytes.ok_or(Damaged)?.chunks_exact(length) {
            let prefix = u32::from_le_bytes([text[0], text[1], text[2], text[3]]);
            views.push(tail | u128::from(prefix) << 32 | u128::from(offset) << 96);
            offset += length as u32;
        }
        return Ok(());
    }
    strings.each_bounds(rows, |start, end| {
        let view = View::of_range(
            strings.bytes,
            start..end,
            buffer,
            base.wrapping_add(start as u32),
        );
        views.push(view.ok_or(Damaged)?.0);
        Ok(())
    })
}

#[expect(unsafe_code, reason = "views of our own making need not be checked")]
fn text_array(views: Vec<u128>, buffers: Vec<Buffer>, nulls: Option<NullBuffer>) -> ArrayRef {
    // SAFETY: each view is inline, or names bytes of one of the buffers that were checked to be
    // there, with the prefix that stands there.
    let array =
        unsafe { BinaryViewArray::new_unchecked(ScalarBuffer::from(views), buffers.into(), nulls) };
    Arc::new(array)
}

/// Dictionary entries may be at most this fraction of a scan's rows to be asked about instead of the rows.
const CODES_PART: usize = 4;

/// Packs bytes of 0 or 1 into bits.
fn bits_of(flags: &[u8]) -> BooleanBuffer {
    // The multiplication collects the eight flags in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let byte = |eight: &[u8; 8]| (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) as u8;
    let (chunks, rest) = flags.as_chunks::<8>();
    let mut bytes: Vec<u8> = Vec::with_capacity(flags.len().div_ceil(8));
    bytes.extend(chunks.iter().map(byte));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        bytes.push(byte(&last));
    }
    BooleanBuffer::new(Buffer::from_vec(bytes), 0, flags.len())
}

/// Validity bitmap that is built once the first NULL appears.
#[derive(Default)]
struct Nulls(Option<BooleanBufferBuilder>);

impl Nulls {
    /// Adds the validity of rows of a block, before which there were `before` rows.
    fn add(&mut self, validity: Option<&[u8]>, rows: &BlockRows<'_>, before: usize) {
        let count = rows.len();
        match (validity, &mut self.0) {
            (None, None) => {}
            (None, Some(bits)) => bits.append_n(count, true),
            (Some(validity), bits) => {
                let bits = bits.get_or_insert_with(|| {
                    let mut bits = BooleanBufferBuilder::new(before + count);
                    bits.append_n(before, true);
                    bits
                });
                match rows {
                    BlockRows::Range(rows) => bits.append_packed_range(rows.clone(), validity),
                    BlockRows::List(rows) => {
                        for row in *rows {
                            bits.append(bit_util::get_bit(validity, *row as usize));
                        }
                    }
                }
            }
        }
    }

    fn finish(self, rows: usize) -> Option<NullBuffer> {
        let mut bits = self.0?;
        debug_assert_eq!(bits.len(), rows);
        Some(NullBuffer::new(bits.finish())).filter(|nulls| nulls.null_count() > 0)
    }
}

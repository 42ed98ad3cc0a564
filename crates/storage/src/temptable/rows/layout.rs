//! Row layout: the position of each column in a row.

use std::ops::Range;

use arrow_buffer::i256;
use mayfly_types::PhysicalType;

const _: () = assert!(
    cfg!(target_endian = "little"),
    "rows and views are little-endian"
);

/// Mask of the hash in a row's header.
pub(crate) const HASH_MASK: u64 = !0xFFFF;
/// Number of columns whose NULL bits are in the header.
const HEADER_NULL_BITS: usize = 16;
const HEADER_BYTES: usize = 8;

/// Cell of a string, bit for bit an Arrow view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct View(pub(crate) u128);

impl View {
    /// Longest value, in bytes, that is stored inline.
    pub(crate) const INLINE_MAX: u32 = 12;

    /// The view of a string at an offset of a buffer; a short one is inline.
    #[inline(always)]
    pub(crate) fn of(text: &[u8], buffer: u32, offset: u32) -> Self {
        if text.len() <= Self::INLINE_MAX as usize {
            let mut view = [0; 16];
            view[0] = text.len() as u8;
            view[4..4 + text.len()].copy_from_slice(text);
            return Self(u128::from_le_bytes(view));
        }
        let prefix = u32::from_le_bytes([text[0], text[1], text[2], text[3]]);
        Self(text.len() as u128 | u128::from(prefix) << 32).at(buffer, offset)
    }

    /// The view of a range of some bytes, which start at an offset of a buffer; `None` if the range is out of bounds.
    /// A short string that other bytes follow is one load and a mask.
    #[inline(always)]
    pub(crate) fn of_range(
        bytes: &[u8],
        range: Range<usize>,
        buffer: u32,
        offset: u32,
    ) -> Option<Self> {
        let text = bytes.get(range.clone())?;
        if text.len() <= Self::INLINE_MAX as usize
            && let Some(word) = bytes[range.start..].first_chunk()
        {
            let value = u128::from_le_bytes(*word) & ((1 << (8 * text.len())) - 1);
            return Some(Self(text.len() as u128 | value << 32));
        }
        Some(Self::of(text, buffer, offset))
    }

    #[inline]
    pub(crate) fn length(self) -> u32 {
        self.0 as u32
    }

    /// The first four bytes in memory order, 0 for missing ones.
    #[inline]
    pub(crate) fn start(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn is_inline(self) -> bool {
        self.length() <= Self::INLINE_MAX
    }

    /// The buffer's number; undefined when inline.
    #[inline]
    pub(crate) fn buffer(self) -> u32 {
        (self.0 >> 64) as u32
    }

    /// The offset of the value in its buffer; undefined when inline.
    #[inline]
    pub(crate) fn offset(self) -> u32 {
        (self.0 >> 96) as u32
    }

    /// The view of an equal value at another place.
    #[inline]
    pub(crate) fn at(self, buffer: u32, offset: u32) -> Self {
        Self(u128::from(self.0 as u64) | u128::from(buffer) << 64 | u128::from(offset) << 96)
    }

    /// The view with another buffer number.
    #[inline]
    pub(crate) fn in_buffer(self, buffer: u32) -> Self {
        Self(self.0 & !(0xFFFF_FFFF_u128 << 64) | u128::from(buffer) << 64)
    }

    /// The bytes of an inline value.
    #[inline]
    pub(crate) fn inline_bytes(&self) -> &[u8] {
        debug_assert!(self.is_inline());
        let bytes: &[u8; 16] = zerocopy_view(&self.0);
        &bytes[4..4 + self.length() as usize]
    }
}

#[expect(
    unsafe_code,
    reason = "a u128 seen as its bytes, without a copy that would not outlive it"
)]
#[inline]
fn zerocopy_view(view: &u128) -> &[u8; 16] {
    // SAFETY: both are 16 bytes; an array of bytes needs no alignment and has no invalid value.
    unsafe { &*std::ptr::from_ref(view).cast::<[u8; 16]>() }
}

/// Position of one column in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) ty: PhysicalType,
    pub(crate) offset: usize,
    /// Offset of the byte with the NULL bit.
    pub(crate) null_byte: usize,
    /// Mask of the NULL bit in that byte.
    pub(crate) null_mask: u8,
}

fn cell_bytes(ty: PhysicalType) -> usize {
    match ty {
        PhysicalType::Bool | PhysicalType::Int64 | PhysicalType::UInt64 | PhysicalType::Float64 => {
            8
        }
        PhysicalType::Decimal128(_) | PhysicalType::Bytes => 16,
        PhysicalType::Decimal256(_) => 32,
    }
}

impl Cell {
    /// Bytes of the cell.
    #[inline]
    pub(crate) fn byte_width(&self) -> usize {
        cell_bytes(self.ty)
    }
}

/// Positions of all columns in a row.
#[derive(Debug)]
pub(crate) struct RowLayout {
    cells: Vec<Cell>,
    /// Bytes of NULL bits after the header.
    pub(crate) extra_null_bytes: usize,
    /// Bytes of a row, a multiple of 8.
    pub(crate) width: usize,
    /// Cells of strings.
    pub(crate) bytes_cells: Vec<Cell>,
}

impl RowLayout {
    /// The layout of rows of these columns.
    pub(crate) fn new(columns: &[PhysicalType]) -> Self {
        let extra_null_bytes = columns
            .len()
            .saturating_sub(HEADER_NULL_BITS)
            .div_ceil(8)
            .next_multiple_of(8);
        let mut width = HEADER_BYTES + extra_null_bytes;
        let cells: Vec<Cell> = columns
            .iter()
            .enumerate()
            .map(|(index, ty)| {
                let offset = width;
                width += cell_bytes(*ty);
                let null_byte = if index < HEADER_NULL_BITS {
                    index / 8
                } else {
                    HEADER_BYTES + (index - HEADER_NULL_BITS) / 8
                };
                Cell {
                    ty: *ty,
                    offset,
                    null_byte,
                    null_mask: 1 << (index % 8),
                }
            })
            .collect();
        let bytes_cells = cells
            .iter()
            .filter(|cell| cell.ty == PhysicalType::Bytes)
            .copied()
            .collect();
        Self {
            cells,
            extra_null_bytes,
            width,
            bytes_cells,
        }
    }

    #[inline]
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// Readers of parts of a row.
///
/// # Safety
/// For all: `row` points to an initialised row of the layout that `cell` is of.
#[expect(
    unsafe_code,
    reason = "rows are raw bytes in blocks; they are read here alone"
)]
impl Cell {
    /// Whether the value is NULL.
    ///
    /// # Safety
    /// See the block.
    #[inline]
    pub(crate) unsafe fn is_null(&self, row: *const u8) -> bool {
        // SAFETY: the NULL byte lies in the row.
        unsafe { *row.add(self.null_byte) & self.null_mask != 0 }
    }

    /// The first 8 bytes of the cell.
    ///
    /// # Safety
    /// See the block; the cell has at least 8 bytes.
    #[inline]
    pub(crate) unsafe fn word(&self, row: *const u8) -> u64 {
        // SAFETY: a cell of at least 8 bytes lies at the offset.
        unsafe { row.add(self.offset).cast::<u64>().read_unaligned() }
    }

    /// The first 16 bytes of the cell.
    ///
    /// # Safety
    /// See the block; the cell has at least 16 bytes.
    #[inline]
    pub(crate) unsafe fn wide(&self, row: *const u8) -> u128 {
        // SAFETY: the caller asks this of cells of at least 16 bytes only.
        unsafe { row.add(self.offset).cast::<u128>().read_unaligned() }
    }

    /// All 32 bytes of the cell.
    ///
    /// # Safety
    /// See the block; the cell has 32 bytes.
    #[inline]
    pub(crate) unsafe fn wider(&self, row: *const u8) -> i256 {
        // SAFETY: the caller asks this of cells of 32 bytes only.
        unsafe { row.add(self.offset).cast::<i256>().read_unaligned() }
    }

    /// The view of a string.
    ///
    /// # Safety
    /// See the block; the cell is of a string.
    #[inline]
    pub(crate) unsafe fn view(&self, row: *const u8) -> View {
        // SAFETY: as for `wide`.
        View(unsafe { self.wide(row) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_row_is_24_bytes_and_wide_rows_keep_their_null_bits_apart() {
        assert_eq!(RowLayout::new(&[PhysicalType::Bytes]).width, 24);
        let many = RowLayout::new(&[PhysicalType::Int64; 100]);
        assert_eq!((many.extra_null_bytes, many.width), (16, 8 + 16 + 800));
        let mut seen = std::collections::HashSet::new();
        for cell in many.cells() {
            assert!(seen.insert((cell.null_byte, cell.null_mask)));
            assert!(cell.offset >= 24 && (cell.null_byte < 2 || (8..24).contains(&cell.null_byte)));
        }
    }

    #[test]
    fn a_view_can_be_moved() {
        let inline = View::of(b"hello", 7, 9);
        assert_eq!(inline.0.to_le_bytes(), *b"\x05\0\0\0hello\0\0\0\0\0\0\0");
        assert_eq!(inline.inline_bytes(), b"hello");
        let bytes = b"hello, hello, hello, hello";
        for (start, end) in
            (0..=bytes.len()).flat_map(|end| (0..=end).map(move |start| (start, end)))
        {
            let view = View::of_range(bytes, start..end, 3, start as u32);
            assert_eq!(view, Some(View::of(&bytes[start..end], 3, start as u32)));
        }
        assert_eq!(View::of_range(bytes, 20..27, 3, 20), None);
        let long = View::of(&[b'a'; 40], 7, 9);
        assert_eq!((long.length(), long.buffer(), long.offset()), (40, 7, 9));
        let moved = long.in_buffer(8);
        assert_eq!((moved.length(), moved.buffer(), moved.offset()), (40, 8, 9));
        assert_eq!(moved.0 as u64, long.0 as u64);
    }
}

//! Equality of the keys of rows.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use mayfly_memory::prefetch;
use mayfly_types::PhysicalType;

use super::collated::CollatedKeys;
use super::directory::{Directory, TRANSIENT_MASK, is_transient};
use super::layout::{Cell, RowLayout, View};
use crate::temptable::spec::{KeyColumn, KeyMode};

/// Resolver of long values to addresses.
#[derive(Clone, Copy)]
pub(crate) struct Resolver<'a> {
    pub(crate) directory: &'a Directory,
    pub(crate) transient: &'a [*const u8],
}

impl<'a> Resolver<'a> {
    /// A resolver for rows that are stored in a table.
    pub(crate) fn stored(directory: &'a Directory) -> Self {
        Self {
            directory,
            transient: &[],
        }
    }

    /// A row whose long values this resolves.
    #[inline(always)]
    pub(crate) fn of(self, row: *const u8) -> RowRef<'a> {
        RowRef { row, values: self }
    }

    /// The address of a long value.
    #[inline(always)]
    pub(crate) fn address(&self, view: View) -> *const u8 {
        let buffer = view.buffer();
        let start = if is_transient(buffer) {
            self.transient[(buffer & TRANSIENT_MASK) as usize]
        } else {
            self.directory.address(buffer)
        };
        debug_assert!(!start.is_null(), "a value that is read is in memory");
        start.wrapping_add(view.offset() as usize)
    }

    /// A value's bytes.
    ///
    /// # Safety
    /// `view` is of a row whose values this resolves, and they are in memory for `'b`.
    #[inline(always)]
    pub(crate) unsafe fn bytes<'b>(&self, view: &'b View) -> &'b [u8] {
        if view.is_inline() {
            view.inline_bytes()
        } else {
            // SAFETY: a long view names as many initialised bytes as its length says.
            unsafe { std::slice::from_raw_parts(self.address(*view), view.length() as usize) }
        }
    }
}

/// A row with the resolver of its long values.
#[derive(Clone, Copy)]
pub(crate) struct RowRef<'a> {
    row: *const u8,
    values: Resolver<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Key {
    /// The cell in rows of the table.
    cell: Cell,
    /// The cell in rows that are looked up.
    other: Cell,
    /// Collation of strings that may be equal with different bytes.
    collated: Option<CollatedKeys>,
    null_safe: bool,
}

/// Key columns of a layout.
#[derive(Debug)]
pub(crate) struct RowKeys {
    keys: Vec<Key>,
    /// The cells of the only key, if it is a string compared by bytes.
    single_bytes: Option<(Cell, Cell)>,
    /// The cells of the first key that is a string.
    first_string: Option<(Cell, Cell)>,
}

impl RowKeys {
    /// Keys for comparing rows of one layout.
    pub(crate) fn new(layout: &RowLayout, columns: &[KeyColumn]) -> Self {
        Self::pairs(columns, |_, column| {
            (layout.cells()[column], layout.cells()[column])
        })
    }

    /// Keys for comparing rows of a table with rows that consist of keys only, in the order of `columns`.
    pub(crate) fn looked_up(
        layout: &RowLayout,
        columns: &[KeyColumn],
        keys_only: &RowLayout,
    ) -> Self {
        Self::pairs(columns, |index, column| {
            (layout.cells()[column], keys_only.cells()[index])
        })
    }

    fn pairs(columns: &[KeyColumn], cells: impl Fn(usize, usize) -> (Cell, Cell)) -> Self {
        let keys: Vec<Key> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let (cell, other) = cells(index, column.column);
                let is_text = cell.ty == PhysicalType::Bytes;
                Key {
                    cell,
                    other,
                    collated: CollatedKeys::of(column.mode).filter(|_| is_text),
                    null_safe: column.null_safe,
                }
            })
            .collect();
        let single_bytes = match keys.as_slice() {
            [key] if key.cell.ty == PhysicalType::Bytes && key.collated.is_none() => {
                Some((key.cell, key.other))
            }
            _ => None,
        };
        let first_string = keys
            .iter()
            .find(|key| key.cell.ty == PhysicalType::Bytes)
            .map(|key| (key.cell, key.other));
        Self {
            keys,
            single_bytes,
            first_string,
        }
    }

    /// The modes of the keys, for hashing.
    pub(crate) fn modes(columns: &[KeyColumn]) -> impl Iterator<Item = KeyMode> {
        columns.iter().map(|column| column.mode)
    }

    /// Whether a key column that is not null-safe is NULL: such a row has no matches in a join.
    ///
    /// # Safety
    /// `row` is a row of the table's layout.
    pub(crate) unsafe fn has_unsafe_null(&self, row: *const u8) -> bool {
        // SAFETY: as promised by the caller.
        let is_null = |key: &Key| !key.null_safe && unsafe { key.cell.is_null(row) };
        self.keys.iter().any(is_null)
    }

    /// [`Self::has_unsafe_null`], but for a row that is looked up.
    ///
    /// # Safety
    /// `row` is a row of the layout of looked-up keys.
    pub(crate) unsafe fn lookup_has_unsafe_null(&self, row: *const u8) -> bool {
        // SAFETY: as promised by the caller.
        let is_null = |key: &Key| !key.null_safe && unsafe { key.other.is_null(row) };
        self.keys.iter().any(is_null)
    }

    /// Prefetches what [`Self::equal`] is about to read beside the rows themselves.
    ///
    /// # Safety
    /// As for [`Self::equal`].
    #[inline]
    pub(crate) unsafe fn prefetch_values(&self, a: RowRef<'_>, b: RowRef<'_>) {
        let Some((cell, other)) = &self.first_string else {
            return;
        };
        // SAFETY: both are rows of their layouts, as the caller promises.
        let (a_view, b_view) = unsafe { (cell.view(a.row), other.view(b.row)) };
        // NULLs, and strings that differ in length or prefix, need no further bytes (if compared by bytes).
        if a_view.0 as u64 != b_view.0 as u64 || a_view.is_inline() {
            return;
        }
        for (view, row) in [(a_view, a), (b_view, b)] {
            let address = row.values.address(view);
            prefetch(address);
            prefetch(address.wrapping_add(view.length() as usize - 1));
        }
    }

    /// Whether row `a` of the table and row `b` that is looked up have equal keys, NULL equal to NULL.
    ///
    /// # Safety
    /// `a` and `b` are rows of their layouts, with their values in memory.
    #[inline]
    pub(crate) unsafe fn equal(&self, a: RowRef<'_>, b: RowRef<'_>) -> bool {
        // SAFETY: both are rows of this layout, as the caller promises.
        unsafe {
            if let Some((cell, other)) = &self.single_bytes {
                let (a_null, b_null) = (cell.is_null(a.row), other.is_null(b.row));
                if a_null || b_null {
                    return a_null == b_null;
                }
                let (a_view, b_view) = (cell.view(a.row), other.view(b.row));
                return equal_bytes(a_view, a.values, b_view, b.values);
            }
            self.keys.iter().all(|key| key.equal(a, b))
        }
    }
}

impl Key {
    /// Whether two cells are equal.
    ///
    /// # Safety
    /// `a` and `b` are rows of their layouts, with their values in memory.
    unsafe fn equal(&self, a: RowRef<'_>, b: RowRef<'_>) -> bool {
        let (a_values, b_values) = (a.values, b.values);
        let (a, b) = (a.row, b.row);
        let (cell, other) = (&self.cell, &self.other);
        // SAFETY: the rows are of the layouts of these cells; wide reads are of wide cells.
        unsafe {
            let (a_null, b_null) = (cell.is_null(a), other.is_null(b));
            if a_null || b_null {
                return a_null == b_null;
            }
            match cell.ty {
                PhysicalType::Bool | PhysicalType::Int64 | PhysicalType::UInt64 => {
                    cell.word(a) == other.word(b)
                }
                PhysicalType::Float64 => {
                    f64::from_bits(cell.word(a)) == f64::from_bits(other.word(b))
                }
                PhysicalType::Decimal128(_) => cell.wide(a) == other.wide(b),
                PhysicalType::Decimal256(_) => {
                    cell.wide(a) == other.wide(b) && cell.wide(a.add(16)) == other.wide(b.add(16))
                }
                PhysicalType::Bytes => {
                    let (a, b) = (cell.view(a), other.view(b));
                    let Some(collated) = &self.collated else {
                        return equal_bytes(a, a_values, b, b_values);
                    };
                    a == b && a.is_inline()
                        || collated.equal(a_values.bytes(&a), b_values.bytes(&b))
                }
            }
        }
    }
}

/// Whether two strings have equal bytes.
///
/// # Safety
/// The resolvers resolve the views, and the bytes are in memory.
#[inline(always)]
unsafe fn equal_bytes(a: View, a_values: Resolver<'_>, b: View, b_values: Resolver<'_>) -> bool {
    // Length and prefix are in the cell and compared first.
    if a.0 as u64 != b.0 as u64 {
        return false;
    }
    if a.is_inline() {
        return a.0 == b.0;
    }
    // SAFETY: as promised by the caller of `RowKeys::equal`.
    unsafe { a_values.bytes(&a) == b_values.bytes(&b) }
}

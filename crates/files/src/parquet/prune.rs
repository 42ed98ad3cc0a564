//! Rows of a row group that may meet the terms of a scan: none, all, or those of some pages.
//!
//! Three things that a writer leaves in a file exclude rows, from the cheapest to the dearest: the statistics of the row
//! group in the footer; the Bloom filter of a column ([`super::bloom`]); the page index, which has the bounds of each page
//! of a column. Where one of them is missing or damaged it excludes nothing.
//!
//! The bounds of floating-point columns say nothing, because writers leave NaN out of them. Nor do those that old writers
//! found in the order of signed bytes, and those of timestamps of 12 bytes.

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::Field;
use mayfly_engine::{
    ColumnCondition, ColumnTerm, InputFile, Result, StatementMemory, Value, arrow_in, value_at,
};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowSelection, RowSelector};
use parquet::basic::Type as Physical;
use parquet::file::metadata::page_index::PageIndexProvider;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::index_reader::{decode_column_index, decode_offset_index};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::statistics::Statistics;

use super::chunk::{INDEX_MAX, TermColumn, bytes_at};
use super::{bloom, wide};
use crate::guard::guarded;
use crate::terms::Range;

/// Memory that a decoded page index takes for each of its bytes.
const DECODED: u64 = 4;

/// A row group of a file.
pub(super) struct Group<'f> {
    pub(super) path: &'f str,
    pub(super) footer: &'f ArrowReaderMetadata,
    pub(super) fields: &'f [Field],
    pub(super) index: usize,
}

/// Bounds of the values of row groups or pages, with the numbers of their rows and of their NULLs.
struct Bounds {
    /// Whether the least and the greatest values are in the order of SQL.
    are_ordered: bool,
    least: parquet::errors::Result<ArrayRef>,
    greatest: parquet::errors::Result<ArrayRef>,
    nulls: UInt64Array,
    rows: Vec<u64>,
}

impl<'f> Group<'f> {
    /// Whether a row of the group may meet a term on the column at a place of the file, by the footer.
    pub(super) fn may_meet(&self, place: Option<usize>, term: &ColumnTerm) -> bool {
        let Some(place) = place else {
            return Range::one(&Value::Null).may_meet(&term.condition, term.collation);
        };
        let known = || {
            self.bounds(place).is_none_or(|(field, bounds)| {
                let ranges = bounds.ranges(field, &term.condition);
                ranges[0].may_meet(&term.condition, term.collation)
            })
        };
        guarded(self.path, || Ok(known())).unwrap_or(true)
    }

    /// Bounds in the footer of the column at a place; `None` if there are none.
    fn bounds(&self, place: usize) -> Option<(&'f Field, Bounds)> {
        let (column, converter) = self.column(place)?;
        let group = self.footer.metadata().row_group(self.index);
        let statistics = column.chunk.statistics();
        let is_good =
            |it: &Statistics| !it.is_min_max_deprecated() || it.is_min_max_backwards_compatible();
        let bounds = Bounds {
            are_ordered: is_ordered(&column) && statistics.is_some_and(is_good),
            least: converter.row_group_mins([group]),
            greatest: converter.row_group_maxes([group]),
            nulls: converter.row_group_null_counts([group]).ok()?,
            rows: vec![u64::try_from(group.num_rows()).unwrap_or(0)],
        };
        Some((column.field, bounds))
    }

    /// The column at a place of the file, and the reader of its statistics; `None` for nested types.
    fn column(&self, place: usize) -> Option<(TermColumn<'f>, StatisticsConverter<'f>)> {
        let field = self.fields.get(place)?;
        // The bounds of wide numbers are those of their bytes.
        if field.data_type().is_nested() || wide::is_wide(field) {
            return None;
        }
        let schema = self.footer.parquet_schema();
        let converter =
            StatisticsConverter::try_new(field.name(), self.footer.schema(), schema).ok()?;
        let converter = converter.with_missing_null_counts_as_zero(false);
        let leaf = converter.parquet_column_index()?;
        let chunk = self.footer.metadata().row_group(self.index).column(leaf);
        Some((TermColumn { field, leaf, chunk }, converter))
    }

    /// Whether a row of the group may meet a term on the column at a place of the file, by the column's Bloom filter.
    pub(super) fn may_contain(
        &self,
        file: &InputFile,
        memory: &StatementMemory,
        place: usize,
        term: &ColumnTerm,
    ) -> Result<bool> {
        let values = match &term.condition {
            ColumnCondition::Equal(value) => std::slice::from_ref(value),
            ColumnCondition::Among(values) => values,
            _ => return Ok(true),
        };
        let Some((column, _)) = self.column(place) else {
            return Ok(true);
        };
        bloom::may_contain(&column, self.path, file, memory, values)
    }

    /// Rows of the group that may meet a term on the column at a place of the file, by the page index; `None` if it
    /// excludes none.
    pub(super) fn pages(
        &self,
        file: &InputFile,
        memory: &StatementMemory,
        place: usize,
        term: &ColumnTerm,
    ) -> Result<Option<RowSelection>> {
        let Some((column, converter)) = self.column(place) else {
            return Ok(None);
        };
        let ranges = (
            column.chunk.column_index_range(),
            column.chunk.offset_index_range(),
        );
        let (Some(values), Some(places)) = ranges else {
            return Ok(None);
        };
        let size = values
            .end
            .saturating_sub(values.start)
            .saturating_add(places.end.saturating_sub(places.start));
        if size > INDEX_MAX {
            return Ok(None);
        }
        let _memory = memory.reserve(size * DECODED)?;
        let rows = u64::try_from(self.footer.metadata().row_group(self.index).num_rows());
        let selection = || {
            let [values, places] = bytes_at(file, [values, places])?;
            let index = PageIndex {
                leaf: column.leaf,
                values: decode_column_index(&values, column.chunk.column_type()).ok()?,
                places: decode_offset_index(&places).ok()?,
            };
            let rows = page_rows(&index.places, rows.ok()?)?;
            let bounds = Bounds {
                are_ordered: is_ordered(&column),
                least: converter.data_page_mins(&index, &[0]),
                greatest: converter.data_page_maxes(&index, &[0]),
                nulls: converter.data_page_null_counts(&index, &[0]).ok()?,
                rows,
            };
            if bounds.nulls.len() != bounds.rows.len() {
                return None;
            }
            let ranges = bounds.ranges(column.field, &term.condition);
            let pages = ranges
                .iter()
                .zip(&bounds.rows)
                .map(|(range, rows)| RowSelector {
                    row_count: usize::try_from(*rows).unwrap_or(0),
                    skip: !range.may_meet(&term.condition, term.collation),
                });
            let pages: Vec<RowSelector> = pages.collect();
            let excludes = pages.iter().any(|page| page.skip);
            excludes.then(|| RowSelection::from(pages))
        };
        Ok(guarded(self.path, || Ok(selection())).unwrap_or(None))
    }
}

/// Whether the bounds of a column are in the order of SQL.
fn is_ordered(column: &TermColumn<'_>) -> bool {
    column.chunk.column_type() != Physical::INT96 && !column.field.data_type().is_floating()
}

/// Numbers of rows of the pages of a column, whose places must be in order and those of all rows.
fn page_rows(places: &OffsetIndexMetaData, rows: u64) -> Option<Vec<u64>> {
    let first = places.page_locations().iter();
    let first = first.map(|page| u64::try_from(page.first_row_index).ok());
    let first: Vec<u64> = first.collect::<Option<_>>()?;
    if first.first() != Some(&0) {
        return None;
    }
    let ends = first.iter().skip(1).copied().chain([rows]);
    first
        .iter()
        .zip(ends)
        .map(|(first, end)| end.checked_sub(*first))
        .collect()
}

impl Bounds {
    /// What is known of the values of each row group or page.
    fn ranges(&self, field: &Field, condition: &ColumnCondition) -> Vec<Range> {
        let of_null = matches!(condition, ColumnCondition::Null | ColumnCondition::NotNull);
        let bounds = |array: &parquet::errors::Result<ArrayRef>| {
            if of_null || !self.are_ordered {
                return None;
            }
            let array = arrow_in::values(array.as_ref().ok()?, field, &Err).ok()?;
            (array.len() == self.rows.len()).then_some(array)
        };
        let (least, greatest) = (bounds(&self.least), bounds(&self.greatest));
        let at = |array: &Option<ArrayRef>, index: usize| {
            let array = array.as_ref()?;
            array.is_valid(index).then(|| value_at(array, index))
        };
        let ranges = self.rows.iter().enumerate().map(|(index, rows)| {
            let nulls = self.nulls.is_valid(index).then(|| self.nulls.value(index));
            Range {
                // NaN is NULL.
                has_nulls: nulls != Some(0) || field.data_type().is_floating(),
                has_values: nulls != Some(*rows),
                least: at(&least, index),
                greatest: at(&greatest, index),
            }
        });
        ranges.collect()
    }
}

/// Page index of one column of one row group, which has the index 0.
#[derive(Debug)]
struct PageIndex {
    leaf: usize,
    values: ColumnIndexMetaData,
    places: OffsetIndexMetaData,
}

impl PageIndexProvider for PageIndex {
    fn has_offset_indexes(&self) -> bool {
        true
    }

    fn has_column_indexes(&self) -> bool {
        true
    }

    fn column_index(&self, group: usize, column: usize) -> Option<&ColumnIndexMetaData> {
        (group == 0 && column == self.leaf).then_some(&self.values)
    }

    fn offset_index(&self, group: usize, column: usize) -> Option<&OffsetIndexMetaData> {
        (group == 0 && column == self.leaf).then_some(&self.places)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

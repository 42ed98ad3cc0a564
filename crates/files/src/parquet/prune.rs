//! Row groups that no row of which can meet a term, by the statistics in the footer.
//!
//! The bounds of floating-point columns say nothing, because writers leave NaN out of them. Nor do those that old writers
//! found in the order of signed bytes, and those of timestamps of 12 bytes.

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use mayfly_engine::{ColumnCondition, ColumnTerm, Value, arrow_in, value_at};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::Type as Physical;
use parquet::file::statistics::Statistics;

use crate::terms::Range;

/// Whether a row of a group may meet a term on the column at a place of the file.
pub(super) fn may_meet(
    footer: &ArrowReaderMetadata,
    fields: &[Field],
    place: Option<usize>,
    group: usize,
    term: &ColumnTerm,
) -> bool {
    let Some(field) = place.and_then(|place| fields.get(place)) else {
        return Range::one(&Value::Null).may_meet(&term.condition, term.collation);
    };
    range(footer, field, group, &term.condition)
        .is_none_or(|range| range.may_meet(&term.condition, term.collation))
}

/// What the statistics of a column say; `None` if there are none.
fn range(
    footer: &ArrowReaderMetadata,
    field: &Field,
    group: usize,
    condition: &ColumnCondition,
) -> Option<Range> {
    if field.data_type().is_nested() {
        return None;
    }
    let schema = footer.schema();
    let converter =
        StatisticsConverter::try_new(field.name(), schema, footer.parquet_schema()).ok()?;
    let group = footer.metadata().row_group(group);
    let converter = converter.with_missing_null_counts_as_zero(false);
    let nulls = converter.row_group_null_counts([group]).ok()?;
    let nulls = nulls.is_valid(0).then(|| nulls.value(0));
    let rows = u64::try_from(group.num_rows()).unwrap_or(0);
    let mut range = Range {
        // NaN is NULL.
        has_nulls: nulls != Some(0) || field.data_type().is_floating(),
        has_values: nulls != Some(rows),
        ..Range::default()
    };
    let of_null = matches!(condition, ColumnCondition::Null | ColumnCondition::NotNull);
    let has_order = converter.parquet_column_index().is_some_and(|leaf| {
        let column = group.column(leaf);
        let statistics = column.statistics();
        let is_good =
            |it: &Statistics| !it.is_min_max_deprecated() || it.is_min_max_backwards_compatible();
        column.column_type() != Physical::INT96 && statistics.is_some_and(is_good)
    });
    if of_null || field.data_type().is_floating() || !has_order {
        return Some(range);
    }
    let bound = |array: parquet::errors::Result<ArrayRef>| {
        let array = arrow_in::values(&array.ok()?, field, &Err).ok()?;
        (array.len() == 1 && array.is_valid(0)).then(|| value_at(&array, 0))
    };
    range.least = bound(converter.row_group_mins([group]));
    range.greatest = bound(converter.row_group_maxes([group]));
    Some(range)
}

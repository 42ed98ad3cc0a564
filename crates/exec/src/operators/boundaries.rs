//! Group boundaries in rows that come group by group.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use mayfly_storage::KeyMode;
use mayfly_types::Batch;

use crate::rows::joined;

/// Marks the rows of a batch whose keys differ from those of the row before. The row before the first is the first row
/// of `last`; without it, the first row begins a group.
pub(super) fn mark_boundaries(
    batch: &Batch,
    last: Option<&Batch>,
    keys: impl IntoIterator<Item = (usize, KeyMode)>,
    differs: &mut [bool],
) {
    let Some(first) = differs.first_mut() else {
        return;
    };
    *first |= last.is_none();
    for (key, mode) in keys {
        let column = batch.column(key);
        mark(column, mode, differs);
        if let Some(last) = last {
            differs[0] |= differs_between(last.column(key), column, mode);
        }
    }
}

/// Marks the rows whose value differs from that of the row before.
fn mark(column: &ArrayRef, mode: KeyMode, differs: &mut [bool]) {
    match column.data_type() {
        DataType::Int64 => mark_native::<Int64Type>(column, differs),
        DataType::UInt64 => mark_native::<UInt64Type>(column, differs),
        DataType::Float64 => mark_native::<Float64Type>(column, differs),
        DataType::Decimal128(..) => mark_native::<Decimal128Type>(column, differs),
        DataType::Decimal256(..) => mark_native::<Decimal256Type>(column, differs),
        _ => {
            let texts = column.as_binary_view();
            for (row, differs) in differs.iter_mut().enumerate().skip(1) {
                *differs |= match (texts.is_null(row - 1), texts.is_null(row)) {
                    (false, false) => !equal(texts.value(row - 1), texts.value(row), mode),
                    (a, b) => a != b,
                };
            }
        }
    }
}

fn mark_native<T: ArrowPrimitiveType>(column: &ArrayRef, differs: &mut [bool]) {
    let array = column.as_primitive::<T>();
    let values = array.values();
    match array.nulls() {
        None => {
            for (differs, pair) in differs[1..].iter_mut().zip(values.windows(2)) {
                *differs |= pair[0] != pair[1];
            }
        }
        Some(nulls) => {
            for row in 1..values.len() {
                let (before, now) = (nulls.is_null(row - 1), nulls.is_null(row));
                differs[row] |= before != now || !now && values[row - 1] != values[row];
            }
        }
    }
}

fn equal(a: &[u8], b: &[u8], mode: KeyMode) -> bool {
    match mode {
        KeyMode::Binary => a == b,
        KeyMode::Collated(collation) => a == b || collation.equals(a, b),
    }
}

/// Whether the last value of one column differs from the first of another.
fn differs_between(last: &ArrayRef, first: &ArrayRef, mode: KeyMode) -> bool {
    let Ok(both) = joined([last, &first.slice(0, 1)]) else {
        return true;
    };
    let mut differs = [false; 2];
    mark(&both, mode, &mut differs);
    differs[1]
}

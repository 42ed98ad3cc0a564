//! Combines the branches of CASE, each of which has the values of some rows, into one column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_select::interleave::interleave;
use mayfly_functions::Column;
use mayfly_types::{PhysicalType, Result, Value};

use super::values::repeat;

/// Values of a branch.
pub(super) struct Branch {
    pub(super) column: Column,
    /// Whether the column has a value for every row, not for the selected ones alone.
    pub(super) is_whole: bool,
    /// The rows that take their value from it. No row is in two branches.
    pub(super) selection: BooleanBuffer,
}

/// Combines branches into a column of `rows` rows, each of which is in one branch.
pub(super) fn combine(
    branches: Vec<Branch>,
    physical: PhysicalType,
    rows: usize,
) -> Result<Column> {
    let ty = physical.arrow();
    let is_plain = branches.iter().all(|branch| match &branch.column {
        Column::Constant(_) => true,
        Column::Array(array) => *array.data_type() == ty,
    });
    let array = match physical {
        PhysicalType::Int64 if is_plain => numbers::<Int64Type>(&branches, physical, rows),
        PhysicalType::UInt64 if is_plain => numbers::<UInt64Type>(&branches, physical, rows),
        PhysicalType::Float64 if is_plain => numbers::<Float64Type>(&branches, physical, rows),
        PhysicalType::Decimal128(_) if is_plain => {
            numbers::<Decimal128Type>(&branches, physical, rows)
        }
        _ => interleaved(branches, physical, rows)?,
    };
    Ok(Column::Array(array))
}

/// [`combine`] for numbers: a loop for each branch.
fn numbers<T: ArrowPrimitiveType>(
    branches: &[Branch],
    physical: PhysicalType,
    rows: usize,
) -> ArrayRef {
    // The rows of a whole column need not be copied one by one.
    let base = branches.iter().position(|branch| branch.is_whole);
    let is_null = |branch: &Branch| matches!(branch.column, Column::Constant(Value::Null));
    let mut others = branches
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != base);
    let base_array = base.and_then(|at| match &branches[at].column {
        Column::Array(array) => Some(array.as_primitive::<T>()),
        Column::Constant(_) => None,
    });
    let mut valid = BooleanBuffer::new_set(rows);
    if let Some(base) = base {
        restrict(
            &mut valid,
            &branches[base],
            base_array.and_then(|array| array.nulls()),
        );
    }
    let values =
        if let (Some(array), true) = (base_array, others.clone().all(|(_, it)| is_null(it))) {
            for (_, branch) in others {
                restrict(&mut valid, branch, None);
            }
            array.values().clone()
        } else {
            let mut values: Vec<T::Native> = match base_array {
                Some(array) => array.values().to_vec(),
                None => vec![T::Native::default(); rows],
            };
            for (_, branch) in &mut others {
                let selected = branch.selection.set_indices();
                match &branch.column {
                    Column::Constant(Value::Null) => restrict(&mut valid, branch, None),
                    Column::Constant(value) => {
                        let value = repeat(value, physical, 1).as_primitive::<T>().value(0);
                        selected.for_each(|row| values[row] = value);
                    }
                    Column::Array(array) => {
                        let array = array.as_primitive::<T>();
                        let own = array.values();
                        if branch.is_whole {
                            selected.for_each(|row| values[row] = own[row]);
                        } else {
                            selected
                                .zip(own.iter())
                                .for_each(|(row, own)| values[row] = *own);
                        }
                        restrict(&mut valid, branch, array.nulls());
                    }
                }
            }
            values.into()
        };
    let nulls = Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0);
    Arc::new(PrimitiveArray::<T>::new(values, nulls).with_data_type(physical.arrow()))
}

/// Removes from `valid` the rows whose branch has NULL.
fn restrict(valid: &mut BooleanBuffer, branch: &Branch, nulls: Option<&NullBuffer>) {
    let others = !&branch.selection;
    if matches!(branch.column, Column::Constant(Value::Null)) {
        *valid = &*valid & &others;
        return;
    }
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return;
    };
    let own = if branch.is_whole {
        nulls.inner().clone()
    } else {
        let mut own = BooleanBufferBuilder::new(branch.selection.len());
        own.append_n(branch.selection.len(), false);
        for (row, is_valid) in branch.selection.set_indices().zip(nulls.iter()) {
            own.set_bit(row, is_valid);
        }
        own.finish()
    };
    *valid = &*valid & &(&own | &others);
}

/// [`combine`] for values of any type.
fn interleaved(branches: Vec<Branch>, physical: PhysicalType, rows: usize) -> Result<ArrayRef> {
    // A constant is one row, read as often as needed.
    let mut indices = vec![(0_usize, 0_usize); rows];
    let mut arrays = Vec::with_capacity(branches.len());
    for (index, branch) in branches.into_iter().enumerate() {
        let is_constant = matches!(branch.column, Column::Constant(_));
        for (nth, row) in branch.selection.set_indices().enumerate() {
            let place = match branch.is_whole {
                true => row,
                false if is_constant => 0,
                false => nth,
            };
            indices[row] = (index, place);
        }
        arrays.push(match branch.column {
            Column::Constant(value) => repeat(&value, physical, 1),
            Column::Array(array) => array,
        });
    }
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    interleave(&arrays, &indices).map_err(crate::error::arrow)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Decimal128Array, Int64Array};
    use mayfly_types::convert::array_value;

    use super::*;

    /// A pseudo-random number below `many`.
    fn random(state: &mut u64, many: u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) % many
    }

    /// Branches of random rows, and the value that each row must have.
    fn case(state: &mut u64, physical: PhysicalType) -> (Vec<Branch>, Vec<Value>) {
        let rows = random(state, 200) as usize + 1;
        let count = random(state, 4) + 1;
        let of_row: Vec<u64> = (0..rows).map(|_| random(state, count)).collect();
        let mut expected = vec![Value::Null; rows];
        let mut branches = Vec::new();
        for number in 0..count {
            let selection = BooleanBuffer::collect_bool(rows, |row| of_row[row] == number);
            let form = random(state, 4);
            let is_whole = form == 0;
            let length = if is_whole {
                rows
            } else {
                selection.count_set_bits()
            };
            let mut value =
                || (random(state, 5) > 0).then(|| i128::from(random(state, 1000)) - 500);
            let column = match form {
                2 => Column::Constant(Value::Null),
                3 => Column::Constant(array_value(&array_of(&[value()], physical), 0)),
                _ => {
                    let values: Vec<Option<i128>> = (0..length).map(|_| value()).collect();
                    Column::Array(array_of(&values, physical))
                }
            };
            for (nth, row) in selection.set_indices().enumerate() {
                expected[row] = match &column {
                    Column::Constant(value) => value.clone(),
                    Column::Array(array) => array_value(array, if is_whole { row } else { nth }),
                };
            }
            branches.push(Branch {
                column,
                is_whole,
                selection,
            });
        }
        (branches, expected)
    }

    fn array_of(values: &[Option<i128>], physical: PhysicalType) -> ArrayRef {
        match physical {
            PhysicalType::Int64 => {
                let values = values.iter().map(|value| Some((*value)? as i64));
                Arc::new(values.collect::<Int64Array>())
            }
            _ => {
                let array: Decimal128Array = values.iter().collect();
                Arc::new(array.with_data_type(physical.arrow()))
            }
        }
    }

    #[test]
    fn each_row_has_the_value_of_its_branch() {
        let mut state = 11;
        for physical in [PhysicalType::Int64, PhysicalType::Decimal128(2)] {
            for _ in 0..500 {
                let (branches, expected) = case(&mut state, physical);
                let copies = branches.iter().map(|branch| Branch {
                    column: branch.column.clone(),
                    is_whole: branch.is_whole,
                    selection: branch.selection.clone(),
                });
                let slow = interleaved(copies.collect(), physical, expected.len());
                let Ok(Column::Array(array)) = combine(branches, physical, expected.len()) else {
                    panic!("no column");
                };
                let slow = slow.expect("a column");
                for (row, expected) in expected.iter().enumerate() {
                    assert_eq!(array_value(&array, row), *expected, "row {row}");
                    assert_eq!(array_value(&slow, row), *expected, "row {row}");
                }
            }
        }
    }
}

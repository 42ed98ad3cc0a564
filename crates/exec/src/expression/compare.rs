//! Comparisons of whole columns: one typed loop per physical type.
//!
//! Each operator is a pair of a loop and, where it is the mirror image of another, swapped
//! operands. Strings compare through their collation; where equality of a collation is equality
//! of bytes, length and prefix in the string view decide most rows without touching the bytes.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use mayfly_functions::Column;
use mayfly_functions::repeated::passing_texts;
use mayfly_plan::Comparison;
use mayfly_types::{CollationId, PhysicalType, Value};

use super::truth::Truth;
use super::values::{as_decimal, as_f64, as_i64, as_u64, into_array};

/// Comparison of two operands, specialized by their type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparer {
    pub(crate) physical: PhysicalType,
    pub(crate) collation: CollationId,
}

impl Comparer {
    /// Compares two columns of `row_count` rows.
    pub(crate) fn compare(
        self,
        comparison: Comparison,
        left: &Column,
        right: &Column,
        row_count: usize,
    ) -> Truth {
        if comparison == Comparison::NullSafeEqual {
            return self.null_safe_equal(left, right, row_count);
        }
        if left.is_constant_null() || right.is_constant_null() {
            return Truth::Constant(None);
        }
        match (left, right) {
            (Column::Constant(left), Column::Constant(right)) => {
                Truth::Constant(Some(comparison.holds(self.order_values(left, right))))
            }
            (Column::Array(left), Column::Constant(right)) => with_nulls(
                self.array_with_value(comparison, left, right),
                left.nulls().cloned(),
            ),
            (Column::Constant(left), Column::Array(right)) => with_nulls(
                self.array_with_value(comparison.mirrored(), right, left),
                right.nulls().cloned(),
            ),
            (Column::Array(left), Column::Array(right)) => with_nulls(
                self.arrays(comparison, left, right),
                NullBuffer::union(left.nulls(), right.nulls()),
            ),
        }
    }

    fn null_safe_equal(self, left: &Column, right: &Column, row_count: usize) -> Truth {
        match (left, right) {
            (Column::Constant(left), Column::Constant(right)) => {
                let both = left.is_null() && right.is_null();
                let neither = !left.is_null() && !right.is_null();
                Truth::Constant(Some(
                    both || (neither && self.order_values(left, right).is_eq()),
                ))
            }
            (Column::Constant(Value::Null), Column::Array(array))
            | (Column::Array(array), Column::Constant(Value::Null)) => match array.nulls() {
                None => Truth::Constant(Some(false)),
                Some(nulls) => Truth::Rows {
                    yes: !nulls.inner(),
                    no: None,
                },
            },
            _ => {
                let left = into_array(left.clone(), self.physical, row_count);
                let right = into_array(right.clone(), self.physical, row_count);
                let equal = self.arrays(Comparison::Equal, &left, &right);
                let yes = match (left.nulls(), right.nulls()) {
                    (None, None) => equal,
                    (Some(nulls), None) | (None, Some(nulls)) => &equal & nulls.inner(),
                    (Some(left), Some(right)) => {
                        let both_valid = left.inner() & right.inner();
                        let both_null = &!left.inner() & &!right.inner();
                        &(&equal & &both_valid) | &both_null
                    }
                };
                Truth::Rows { yes, no: None }
            }
        }
    }

    /// The order of two values that are not NULL.
    pub(crate) fn order_values(self, left: &Value, right: &Value) -> Ordering {
        match self.physical {
            PhysicalType::Bool | PhysicalType::Int64 => as_i64(left).cmp(&as_i64(right)),
            PhysicalType::UInt64 => as_u64(left).cmp(&as_u64(right)),
            PhysicalType::Float64 => as_f64(left)
                .partial_cmp(&as_f64(right))
                .unwrap_or(Ordering::Equal),
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                as_decimal(left, scale).cmp(&as_decimal(right, scale))
            }
            PhysicalType::Bytes => match (left, right) {
                (Value::Bytes(left), Value::Bytes(right)) => self.collation.compare(left, right),
                _ => Ordering::Equal,
            },
        }
    }

    fn array_with_value(
        self,
        comparison: Comparison,
        left: &ArrayRef,
        right: &Value,
    ) -> BooleanBuffer {
        match self.physical {
            PhysicalType::Bool => {
                let right = as_i64(right) != 0;
                let left = left.as_boolean();
                BooleanBuffer::collect_bool(left.len(), |row| {
                    comparison.holds(left.value(row).cmp(&right))
                })
            }
            PhysicalType::Int64 => native_with_value::<Int64Type>(comparison, left, as_i64(right)),
            PhysicalType::UInt64 => {
                native_with_value::<UInt64Type>(comparison, left, as_u64(right))
            }
            PhysicalType::Float64 => {
                native_with_value::<Float64Type>(comparison, left, as_f64(right))
            }
            PhysicalType::Decimal128(scale) => match as_decimal(right, scale).to_i128() {
                Some(right) => native_with_value::<Decimal128Type>(comparison, left, right),
                // Larger than any value of the column, or smaller.
                None => {
                    let below = as_decimal(right, scale).is_negative();
                    let ordering = if below {
                        Ordering::Greater
                    } else {
                        Ordering::Less
                    };
                    if comparison.holds(ordering) {
                        BooleanBuffer::new_set(left.len())
                    } else {
                        BooleanBuffer::new_unset(left.len())
                    }
                }
            },
            PhysicalType::Decimal256(scale) => {
                native_with_value::<Decimal256Type>(comparison, left, as_decimal(right, scale))
            }
            PhysicalType::Bytes => {
                let Value::Bytes(right) = right else {
                    return BooleanBuffer::new_unset(left.len());
                };
                self.strings_with_value(comparison, left.as_binary_view(), right)
            }
        }
    }

    fn strings_with_value(
        self,
        comparison: Comparison,
        left: &BinaryViewArray,
        right: &[u8],
    ) -> BooleanBuffer {
        if self.collation.is_bytewise_equality() {
            match comparison {
                Comparison::Equal => return equal_bytes_with_value(left, right),
                Comparison::NotEqual => return !&equal_bytes_with_value(left, right),
                _ => {}
            }
        }
        let collation = self.collation.collation();
        match comparison {
            Comparison::Equal => passing_texts(left, |text| collation.equals(text, right)),
            Comparison::NotEqual => passing_texts(left, |text| !collation.equals(text, right)),
            _ => passing_texts(left, |text| {
                comparison.holds(collation.compare(text, right))
            }),
        }
    }

    pub(crate) fn arrays(
        self,
        comparison: Comparison,
        left: &ArrayRef,
        right: &ArrayRef,
    ) -> BooleanBuffer {
        match self.physical {
            PhysicalType::Bool => {
                let (left, right) = (left.as_boolean(), right.as_boolean());
                BooleanBuffer::collect_bool(left.len(), |row| {
                    comparison.holds(left.value(row).cmp(&right.value(row)))
                })
            }
            PhysicalType::Int64 => natives::<Int64Type>(comparison, left, right),
            PhysicalType::UInt64 => natives::<UInt64Type>(comparison, left, right),
            PhysicalType::Float64 => natives::<Float64Type>(comparison, left, right),
            PhysicalType::Decimal128(_) => natives::<Decimal128Type>(comparison, left, right),
            PhysicalType::Decimal256(_) => natives::<Decimal256Type>(comparison, left, right),
            PhysicalType::Bytes => {
                let (left, right) = (left.as_binary_view(), right.as_binary_view());
                let (rows, collation) = (left.len(), self.collation.collation());
                match comparison {
                    Comparison::Equal | Comparison::NullSafeEqual => {
                        BooleanBuffer::collect_bool(rows, |row| {
                            collation.equals(left.value(row), right.value(row))
                        })
                    }
                    _ => BooleanBuffer::collect_bool(rows, |row| {
                        comparison.holds(collation.compare(left.value(row), right.value(row)))
                    }),
                }
            }
        }
    }
}

fn with_nulls(yes: BooleanBuffer, nulls: Option<NullBuffer>) -> Truth {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => Truth::Rows { yes, no: None },
        Some(nulls) => Truth::Rows {
            no: Some(&!&yes & nulls.inner()),
            yes: &yes & nulls.inner(),
        },
    }
}

fn native_with_value<T: ArrowPrimitiveType>(
    comparison: Comparison,
    left: &ArrayRef,
    right: T::Native,
) -> BooleanBuffer {
    let left = left.as_primitive::<T>().values().as_ref();
    loops(comparison, left.len(), |row| left[row], |_| right)
}

fn natives<T: ArrowPrimitiveType>(
    comparison: Comparison,
    left: &ArrayRef,
    right: &ArrayRef,
) -> BooleanBuffer {
    let left = left.as_primitive::<T>().values().as_ref();
    let right = &right.as_primitive::<T>().values()[..left.len()];
    loops(comparison, left.len(), |row| left[row], |row| right[row])
}

/// One loop for each operator, so that no loop branches on the operator.
#[inline]
fn loops<V: PartialOrd>(
    comparison: Comparison,
    rows: usize,
    left: impl Fn(usize) -> V,
    right: impl Fn(usize) -> V,
) -> BooleanBuffer {
    match comparison {
        Comparison::Equal | Comparison::NullSafeEqual => {
            BooleanBuffer::collect_bool(rows, |row| left(row) == right(row))
        }
        Comparison::NotEqual => BooleanBuffer::collect_bool(rows, |row| left(row) != right(row)),
        Comparison::Less => BooleanBuffer::collect_bool(rows, |row| left(row) < right(row)),
        Comparison::LessOrEqual => BooleanBuffer::collect_bool(rows, |row| left(row) <= right(row)),
        Comparison::Greater => BooleanBuffer::collect_bool(rows, |row| left(row) > right(row)),
        Comparison::GreaterOrEqual => {
            BooleanBuffer::collect_bool(rows, |row| left(row) >= right(row))
        }
    }
}

fn equal_bytes_with_value(left: &BinaryViewArray, right: &[u8]) -> BooleanBuffer {
    let views = left.views();
    // A view begins with the length and, in the same eight bytes, the first four bytes.
    let head = {
        let mut head = [0_u8; 8];
        head[..4].copy_from_slice(&u32::try_from(right.len()).unwrap_or(u32::MAX).to_le_bytes());
        for (to, from) in head[4..].iter_mut().zip(right) {
            *to = *from;
        }
        u64::from_le_bytes(head)
    };
    if right.len() <= 12 {
        let mut view = [0_u8; 16];
        view[..4].copy_from_slice(&head.to_le_bytes()[..4]);
        view[4..4 + right.len()].copy_from_slice(right);
        let view = u128::from_le_bytes(view);
        BooleanBuffer::collect_bool(views.len(), |row| views[row] == view)
    } else {
        BooleanBuffer::collect_bool(views.len(), |row| {
            views[row] as u64 == head && left.value(row) == right
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int64Array};

    use super::*;

    const ALL: [Comparison; 7] = [
        Comparison::Equal,
        Comparison::NullSafeEqual,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    fn oracle<T: PartialOrd>(comparison: Comparison, a: Option<T>, b: Option<T>) -> Option<bool> {
        if comparison == Comparison::NullSafeEqual {
            return Some(a == b);
        }
        let (a, b) = (a?, b?);
        Some(comparison.holds(a.partial_cmp(&b)?))
    }

    fn listed(truth: Truth, rows: usize) -> Vec<Option<bool>> {
        let array = into_array(truth.into_column(), PhysicalType::Bool, rows);
        array.as_boolean().iter().collect()
    }

    /// Every operator over arrays, an array with a constant, a constant with an array, and two
    /// constants, against the plain definition.
    fn check<T: PartialOrd + Clone>(
        comparer: Comparer,
        left: Vec<Option<T>>,
        right: Vec<Option<T>>,
        array: impl Fn(Vec<Option<T>>) -> ArrayRef,
        value: impl Fn(T) -> Value,
    ) {
        let value = |v: &Option<T>| Column::Constant(v.clone().map_or(Value::Null, &value));
        let rows = left.len();
        let (a, b) = (
            Column::Array(array(left.clone())),
            Column::Array(array(right.clone())),
        );
        for comparison in ALL {
            let expected: Vec<_> = left
                .iter()
                .zip(&right)
                .map(|(a, b)| oracle(comparison, a.clone(), b.clone()))
                .collect();
            let actual = listed(comparer.compare(comparison, &a, &b, rows), rows);
            assert_eq!(actual, expected, "{comparison:?}");
            for (row, constant) in right.iter().enumerate() {
                let expected: Vec<_> = left
                    .iter()
                    .map(|a| oracle(comparison, a.clone(), constant.clone()))
                    .collect();
                let truth = comparer.compare(comparison, &a, &value(constant), rows);
                assert_eq!(
                    listed(truth, rows),
                    expected,
                    "{comparison:?} constant {row}"
                );
                let expected: Vec<_> = left
                    .iter()
                    .map(|a| oracle(comparison, constant.clone(), a.clone()))
                    .collect();
                let truth = comparer.compare(comparison, &value(constant), &a, rows);
                assert_eq!(
                    listed(truth, rows),
                    expected,
                    "constant {row} {comparison:?}"
                );
                let truth = comparer.compare(comparison, &value(&left[row]), &value(constant), 1);
                assert_eq!(
                    listed(truth, 1),
                    [oracle(comparison, left[row].clone(), constant.clone())]
                );
            }
        }
    }

    #[test]
    fn numbers() {
        check(
            Comparer {
                physical: PhysicalType::Int64,
                collation: CollationId::BINARY,
            },
            vec![Some(1), None, Some(-5), Some(i64::MAX), None],
            vec![Some(1), Some(2), Some(i64::MIN), None, None],
            |values| Arc::new(Int64Array::from(values)),
            Value::Int,
        );
        check(
            Comparer {
                physical: PhysicalType::Float64,
                collation: CollationId::BINARY,
            },
            vec![Some(1.5), None, Some(-0.0)],
            vec![Some(2.5), Some(2.0), Some(0.0)],
            |values| Arc::new(Float64Array::from(values)),
            Value::Float,
        );
    }

    #[test]
    fn bytes() {
        let long = "a value that does not fit into a view";
        let other = "a value that does not fit into a VIEW";
        let left = [
            Some(long),
            Some(""),
            None,
            Some("abcd"),
            Some("abcdefghijkl"),
            Some(long),
        ];
        let right = [
            Some(long),
            Some("a"),
            Some("b"),
            Some("abc"),
            Some("abcdefghijkl"),
            Some(other),
        ];
        check(
            Comparer {
                physical: PhysicalType::Bytes,
                collation: CollationId::BINARY,
            },
            left.map(|v| v.map(|v| v.as_bytes().to_vec())).to_vec(),
            right.map(|v| v.map(|v| v.as_bytes().to_vec())).to_vec(),
            |values| {
                Arc::new(
                    values
                        .iter()
                        .map(|v| v.as_deref())
                        .collect::<BinaryViewArray>(),
                )
            },
            Value::Bytes,
        );
    }
}

//! Comparison kernels: one generic loop for each physical type, with fast paths for a constant side.
//!
//! Both sides have the same SQL type: the planner converted them (the manual, "Type Conversion in
//! Expression Evaluation"). Packed temporal values order as integers do; only strings need their
//! collation.

use std::cmp::Ordering;

use arrow_array::types::{ArrowPrimitiveType, Decimal256Type};
use arrow_array::{Array, BinaryViewArray, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind};

use crate::Column;
use crate::input::{self, Bools, Decimals, Numbers, Texts};

/// A comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`
    Equal,
    /// `<=>`: NULL equals NULL, and the result is never NULL.
    NullSafeEqual,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Operator {
    /// The operator with its sides exchanged.
    pub fn flip(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            symmetric => symmetric,
        }
    }

    /// Whether the operator holds for values with this ordering.
    #[inline]
    pub fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal | Self::NullSafeEqual => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// Compares two columns of type `ty`, row by row.
pub fn compare(
    operator: Operator,
    left: &Column,
    right: &Column,
    row_count: usize,
    ty: &SqlType,
) -> Result<BooleanArray> {
    // A constant is always moved to the right, so that kernels handle one case only.
    if matches!(left, Column::Constant(_)) && matches!(right, Column::Array(_)) {
        return compare(operator.flip(), right, left, row_count, ty);
    }
    let compared = match ty.physical() {
        PhysicalType::Bool => bools(
            operator,
            input::bools(left)?,
            input::bools(right)?,
            row_count,
        ),
        PhysicalType::Int64 => primitives(operator, input::ints(left)?, input::ints(right)?),
        PhysicalType::UInt64 => primitives(operator, input::uints(left)?, input::uints(right)?),
        PhysicalType::Float64 => primitives(operator, input::floats(left)?, input::floats(right)?),
        PhysicalType::Decimal128(scale) => {
            let left = input::decimals(left, scale)?;
            let right = input::decimals(right, scale)?;
            match (input::narrow(left), input::narrow(right)) {
                (Some(left), Some(right)) => primitives(operator, left, right),
                _ => decimals(operator, left, right, row_count),
            }
        }
        PhysicalType::Decimal256(scale) => decimals(
            operator,
            input::decimals(left, scale)?,
            input::decimals(right, scale)?,
            row_count,
        ),
        PhysicalType::Bytes if ty.kind == TypeKind::Json => {
            let (left, right) = (input::texts(left)?, input::texts(right)?);
            (0..row_count)
                .map(|row| Some(operator.accepts(compare_json(left.get(row)?, right.get(row)?))))
                .collect()
        }
        PhysicalType::Bytes => texts(
            operator,
            input::texts(left)?,
            input::texts(right)?,
            row_count,
            ty.collation,
        ),
    };
    // Kernels of two constants return one row.
    let compared = if compared.len() == row_count {
        compared
    } else {
        let value = (compared.len() == 1 && compared.is_valid(0)).then(|| compared.value(0));
        repeat(value, row_count)
    };
    Ok(if operator == Operator::NullSafeEqual {
        null_safe(compared, left, right, row_count)
    } else {
        compared
    })
}

fn repeat(value: Option<bool>, row_count: usize) -> BooleanArray {
    match value {
        Some(true) => BooleanArray::new(BooleanBuffer::new_set(row_count), None),
        Some(false) => BooleanArray::new(BooleanBuffer::new_unset(row_count), None),
        None => BooleanArray::new_null(row_count),
    }
}

/// Turns `=` into `<=>`: two NULLs are equal, a NULL and another value are not.
fn null_safe(equal: BooleanArray, left: &Column, right: &Column, row_count: usize) -> BooleanArray {
    let Some(unknown) = equal.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return equal;
    };
    let nulls_of = |column: &Column| match column {
        Column::Array(array) => match array.nulls() {
            Some(nulls) => !nulls.inner(),
            None => BooleanBuffer::new_unset(row_count),
        },
        Column::Constant(value) if value.is_null() => BooleanBuffer::new_set(row_count),
        Column::Constant(_) => BooleanBuffer::new_unset(row_count),
    };
    let both_null = &nulls_of(left) & &nulls_of(right);
    let known_equal = equal.values() & unknown.inner();
    BooleanArray::new(&known_equal | &both_null, None)
}

fn primitives<T: ArrowPrimitiveType>(
    operator: Operator,
    left: Numbers<'_, T>,
    right: Numbers<'_, T>,
) -> BooleanArray
where
    T::Native: PartialOrd,
{
    match operator {
        Operator::Equal | Operator::NullSafeEqual => primitive_loop(left, right, |a, b| a == b),
        Operator::NotEqual => primitive_loop(left, right, |a, b| a != b),
        Operator::Less => primitive_loop(left, right, |a, b| a < b),
        Operator::LessOrEqual => primitive_loop(left, right, |a, b| a <= b),
        Operator::Greater => primitive_loop(left, right, |a, b| a > b),
        Operator::GreaterOrEqual => primitive_loop(left, right, |a, b| a >= b),
    }
}

#[inline]
fn primitive_loop<T: ArrowPrimitiveType>(
    left: Numbers<'_, T>,
    right: Numbers<'_, T>,
    test: impl Fn(T::Native, T::Native) -> bool,
) -> BooleanArray {
    match (left, right) {
        (Numbers::Array(left), Numbers::Array(right)) => {
            let (a, b) = (&left.values()[..], &right.values()[..left.len()]);
            let values = BooleanBuffer::collect_bool(a.len(), |row| test(a[row], b[row]));
            BooleanArray::new(values, NullBuffer::union(left.nulls(), right.nulls()))
        }
        (Numbers::Array(left), Numbers::Constant(Some(right))) => {
            let a = &left.values()[..];
            let values = BooleanBuffer::collect_bool(a.len(), |row| test(a[row], right));
            BooleanArray::new(values, left.nulls().cloned())
        }
        (Numbers::Constant(Some(left)), Numbers::Constant(Some(right))) => {
            repeat(Some(test(left, right)), 1)
        }
        (Numbers::Array(array), Numbers::Constant(None))
        | (Numbers::Constant(_), Numbers::Array(array)) => BooleanArray::new_null(array.len()),
        _ => BooleanArray::new_null(1),
    }
}

fn decimals(
    operator: Operator,
    left: Decimals<'_>,
    right: Decimals<'_>,
    row_count: usize,
) -> BooleanArray {
    let wide = |values: Decimals<'_>| -> Option<()> {
        matches!(values, Decimals::Wide(_) | Decimals::Constant(_)).then_some(())
    };
    if wide(left).is_some() && wide(right).is_some() {
        fn view(values: Decimals<'_>) -> Numbers<'_, Decimal256Type> {
            match values {
                Decimals::Wide(array) => Numbers::Array(array),
                Decimals::Constant(value) => Numbers::Constant(value),
                Decimals::Narrow(_) => Numbers::Constant(None),
            }
        }
        return primitives(operator, view(left), view(right));
    }
    (0..row_count)
        .map(|row| Some(operator.accepts(left.get(row)?.cmp(&right.get(row)?))))
        .collect()
}

fn bools(operator: Operator, left: Bools<'_>, right: Bools<'_>, row_count: usize) -> BooleanArray {
    (0..row_count)
        .map(|row| Some(operator.accepts(left.get(row)?.cmp(&right.get(row)?))))
        .collect()
}

fn texts(
    operator: Operator,
    left: Texts<'_>,
    right: Texts<'_>,
    row_count: usize,
    collation: CollationId,
) -> BooleanArray {
    let wants_equality = matches!(
        operator,
        Operator::Equal | Operator::NullSafeEqual | Operator::NotEqual
    );
    if wants_equality && collation.is_bytewise_equality() && !collation.collation().pad_space {
        let negated = operator == Operator::NotEqual;
        match (left, right) {
            (Texts::Array(left), Texts::Constant(Some(right))) => {
                return equal_to_constant(left, right, negated);
            }
            (Texts::Array(left), Texts::Array(right)) => {
                let values = BooleanBuffer::collect_bool(left.len(), |row| {
                    same_bytes(left, right, row) != negated
                });
                return BooleanArray::new(values, NullBuffer::union(left.nulls(), right.nulls()));
            }
            _ => {}
        }
    }
    if wants_equality {
        let negated = operator == Operator::NotEqual;
        return (0..row_count)
            .map(|row| Some(text_equals(left.get(row)?, right.get(row)?, collation) != negated))
            .collect();
    }
    (0..row_count)
        .map(|row| {
            let ordering = compare_texts(left.get(row)?, right.get(row)?, collation);
            Some(operator.accepts(ordering))
        })
        .collect()
}

/// Equality of bytes with one constant: length and first bytes are compared as one integer, and a
/// short string is its view.
fn equal_to_constant(array: &BinaryViewArray, constant: &[u8], negated: bool) -> BooleanArray {
    let views = array.views();
    let mut short = [0_u8; 16];
    let length = u32::try_from(constant.len()).unwrap_or(u32::MAX);
    short[..4].copy_from_slice(&length.to_le_bytes());
    let values = if constant.len() <= 12 {
        short[4..4 + constant.len()].copy_from_slice(constant);
        let wanted = u128::from_le_bytes(short);
        BooleanBuffer::collect_bool(views.len(), |row| (views[row] == wanted) != negated)
    } else {
        short[4..8].copy_from_slice(&constant[..4]);
        let wanted = u128::from_le_bytes(short) as u64;
        BooleanBuffer::collect_bool(views.len(), |row| {
            (views[row] as u64 == wanted && array.value(row) == constant) != negated
        })
    };
    BooleanArray::new(values, array.nulls().cloned())
}

#[inline]
fn same_bytes(left: &BinaryViewArray, right: &BinaryViewArray, row: usize) -> bool {
    let (a, b) = (left.views()[row], right.views()[row]);
    // The low half holds length and first four bytes.
    a as u64 == b as u64
        && if a as u32 <= 12 {
            a == b
        } else {
            left.value(row) == right.value(row)
        }
}

/// Equality of two strings.
#[inline]
pub(crate) fn text_equals(left: &[u8], right: &[u8], collation: CollationId) -> bool {
    collation.equals(left, right)
}

/// Order of two strings.
#[inline]
pub(crate) fn compare_texts(left: &[u8], right: &[u8], collation: CollationId) -> Ordering {
    collation.compare(left, right)
}

/// Order of two JSON documents.
pub(crate) fn compare_json(left: &[u8], right: &[u8]) -> Ordering {
    mayfly_types::json::compare(left, right)
}

//! Three-valued logic over whole columns.
//!
//! A [`Truth`] keeps two bit sets, "is true" and "is false"; a row in neither is unknown. AND, OR
//! and NOT are then two word-wise operations each, with or without NULLs.

use std::ops::{BitAnd, BitOr, Not};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, i256};
use arrow_schema::DataType;
use mayfly_functions::Column;
use mayfly_types::Value;

/// The truth of a predicate for each row.
#[derive(Debug, Clone)]
pub(crate) enum Truth {
    /// One truth value for every row; `None` is unknown.
    Constant(Option<bool>),
    /// One bit a row.
    Rows {
        /// Rows for which the predicate is true.
        yes: BooleanBuffer,
        /// Rows for which the predicate is false; `None`: all rows that are not true.
        no: Option<BooleanBuffer>,
    },
}

impl Truth {
    /// Truth of a predicate's column. Numbers count as true unless they are zero.
    pub(crate) fn of(column: &Column) -> Self {
        match column {
            Column::Constant(value) => Self::Constant(match value {
                Value::Null => None,
                Value::Int(value) => Some(*value != 0),
                Value::UInt(value) => Some(*value != 0),
                Value::Float(value) => Some(*value != 0.0),
                Value::Decimal { unscaled, .. } => Some(*unscaled != i256::ZERO),
                Value::Bytes(bytes) => Some(!bytes.is_empty()),
            }),
            Column::Array(array) => Self::of_array(array),
        }
    }

    fn of_array(array: &ArrayRef) -> Self {
        let rows = array.len();
        let values = match array.data_type() {
            DataType::Boolean => array.as_boolean().values().clone(),
            DataType::Int64 => not_zero::<Int64Type>(array),
            DataType::UInt64 => not_zero::<UInt64Type>(array),
            DataType::Float64 => not_zero::<Float64Type>(array),
            DataType::Decimal128(..) => not_zero::<Decimal128Type>(array),
            DataType::Decimal256(..) => not_zero::<Decimal256Type>(array),
            _ => BooleanBuffer::collect_bool(rows, |row| array.is_valid(row)),
        };
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Self::Rows {
                yes: values,
                no: None,
            },
            Some(nulls) => {
                let valid = nulls.inner();
                Self::Rows {
                    yes: values.bitand(valid),
                    no: Some(values.not().bitand(valid)),
                }
            }
        }
    }

    /// Converts to a column of the physical type Bool.
    pub(crate) fn into_column(self) -> Column {
        match self {
            Self::Constant(None) => Column::Constant(Value::Null),
            Self::Constant(Some(truth)) => Column::Constant(Value::Int(i64::from(truth))),
            Self::Rows { yes, no } => {
                let nulls = no.map(|no| NullBuffer::new(yes.bitor(&no)));
                let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
                Column::Array(Arc::new(BooleanArray::new(yes, nulls)))
            }
        }
    }

    /// Rows for which the predicate is true; the error is the value that all rows share.
    pub(crate) fn into_selection(self) -> Result<BooleanBuffer, bool> {
        match self {
            Self::Constant(truth) => Err(truth == Some(true)),
            Self::Rows { yes, .. } => Ok(yes),
        }
    }

    /// The truth if it is constant.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            Self::Constant(truth) => *truth,
            Self::Rows { .. } => None,
        }
    }

    /// Rows that are undecided: not false (`true`: not true) yet, so that a later term of an AND (OR) still matters.
    pub(crate) fn undecided(&self, conjunction: bool, rows: usize) -> BooleanBuffer {
        match self {
            Self::Constant(Some(truth)) if *truth != conjunction => BooleanBuffer::new_unset(rows),
            Self::Constant(_) => BooleanBuffer::new_set(rows),
            Self::Rows { yes, no } => match (conjunction, no) {
                (true, Some(no)) => no.not(),
                (true, None) => yes.clone(),
                (false, _) => yes.not(),
            },
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(Some(true)), other) | (other, Self::Constant(Some(true))) => other,
            (Self::Constant(Some(false)), _) | (_, Self::Constant(Some(false))) => {
                Self::Constant(Some(false))
            }
            (Self::Constant(None), Self::Constant(None)) => Self::Constant(None),
            (Self::Constant(None), Self::Rows { yes, no })
            | (Self::Rows { yes, no }, Self::Constant(None)) => {
                let no = no.unwrap_or_else(|| yes.not());
                Self::Rows {
                    yes: BooleanBuffer::new_unset(no.len()),
                    no: Some(no),
                }
            }
            (Self::Rows { yes: a, no: None }, Self::Rows { yes: b, no: None }) => Self::Rows {
                yes: a.bitand(&b),
                no: None,
            },
            (Self::Rows { yes: a, no: not_a }, Self::Rows { yes: b, no: not_b }) => {
                let not_a = not_a.unwrap_or_else(|| a.not());
                let not_b = not_b.unwrap_or_else(|| b.not());
                Self::Rows {
                    yes: a.bitand(&b),
                    no: Some(not_a.bitor(&not_b)),
                }
            }
        }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        self.negate().and(other.negate()).negate()
    }

    pub(crate) fn negate(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(truth.map(|truth| !truth)),
            Self::Rows { yes, no: None } => Self::Rows {
                yes: yes.not(),
                no: None,
            },
            Self::Rows { yes, no: Some(no) } => Self::Rows {
                yes: no,
                no: Some(yes),
            },
        }
    }

    /// IS TRUE, IS FALSE, IS UNKNOWN.
    pub(crate) fn is(self, wanted: Option<bool>) -> Self {
        match (self, wanted) {
            (Self::Constant(truth), wanted) => Self::Constant(Some(truth == wanted)),
            (Self::Rows { yes, .. }, Some(true)) => Self::Rows { yes, no: None },
            (Self::Rows { yes, no }, Some(false)) => Self::Rows {
                yes: no.unwrap_or_else(|| yes.not()),
                no: None,
            },
            (Self::Rows { no: None, .. }, None) => Self::Constant(Some(false)),
            (Self::Rows { yes, no: Some(no) }, None) => Self::Rows {
                yes: yes.bitor(&no).not(),
                no: None,
            },
        }
    }

    /// Spreads the truth of selected rows over all: the i-th set bit of `selection` gets the i-th row's truth. Rows
    /// that are not selected become `rest`.
    pub(crate) fn spread(self, selection: &BooleanBuffer, rest: bool) -> Self {
        let (yes, no) = match self {
            Self::Constant(truth) => {
                let none = BooleanBuffer::new_unset(selection.len());
                match truth {
                    Some(true) => (selection.clone(), none),
                    Some(false) => (none, selection.clone()),
                    None => (none.clone(), none),
                }
            }
            Self::Rows { yes, no: None } => {
                let yes = spread_bits(&yes, selection);
                let yes = if rest {
                    yes.bitor(&selection.not())
                } else {
                    yes
                };
                return Self::Rows { yes, no: None };
            }
            Self::Rows { yes, no: Some(no) } => {
                (spread_bits(&yes, selection), spread_bits(&no, selection))
            }
        };
        let others = selection.not();
        if rest {
            Self::Rows {
                yes: yes.bitor(&others),
                no: Some(no),
            }
        } else {
            Self::Rows {
                yes,
                no: Some(no.bitor(&others)),
            }
        }
    }
}

/// Rows whose number is not zero.
fn not_zero<T: ArrowPrimitiveType>(array: &ArrayRef) -> BooleanBuffer {
    let (values, zero) = (array.as_primitive::<T>().values(), T::Native::default());
    BooleanBuffer::collect_bool(values.len(), |row| values[row] != zero)
}

/// Moves the i-th bit to the position of the i-th set bit of `selection`, a word at a time.
fn spread_bits(bits: &BooleanBuffer, selection: &BooleanBuffer) -> BooleanBuffer {
    let bits: Vec<u64> = bits.bit_chunks().iter_padded().collect();
    let mut place = 0;
    let word = |mut selected: u64| {
        let (word, shift) = (place / 64, place % 64);
        place += selected.count_ones() as usize;
        let at = |word: usize| bits.get(word).copied().unwrap_or(0);
        // The upper part in two steps, since a shift by 64 is not defined.
        let mut next = at(word) >> shift | at(word + 1) << 1 << (63 - shift);
        if selected == u64::MAX {
            return next;
        }
        let mut out = 0;
        while selected != 0 {
            let lowest = selected & selected.wrapping_neg();
            out |= lowest & (next & 1).wrapping_neg();
            next >>= 1;
            selected ^= lowest;
        }
        out
    };
    let words: Vec<u64> = selection.bit_chunks().iter_padded().map(word).collect();
    BooleanBuffer::new(Buffer::from_vec(words), 0, selection.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[Option<bool>]) -> Truth {
        Truth::of(&Column::Array(Arc::new(BooleanArray::from(
            values.to_vec(),
        ))))
    }

    fn listed(truth: Truth, rows: usize) -> Vec<Option<bool>> {
        match truth.into_column() {
            Column::Constant(Value::Null) => vec![None; rows],
            Column::Constant(value) => vec![Some(value != Value::Int(0)); rows],
            Column::Array(array) => array.as_boolean().iter().collect(),
        }
    }

    #[test]
    fn kleene_tables() {
        const ALL: [Option<bool>; 3] = [Some(true), Some(false), None];
        let left: Vec<_> = ALL.iter().flat_map(|a| [*a; 3]).collect();
        let right: Vec<_> = ALL.iter().cycle().take(9).copied().collect();
        let (t, f, n) = (Some(true), Some(false), None);
        let and = vec![t, f, n, f, f, f, n, f, n];
        let or = vec![t, t, t, t, f, n, t, n, n];
        assert_eq!(listed(column(&left).and(column(&right)), 9), and);
        assert_eq!(listed(column(&left).or(column(&right)), 9), or);
        for (index, constant) in ALL.iter().enumerate() {
            let (and, or) = (&and[index * 3..][..3], &or[index * 3..][..3]);
            let constant = || Truth::Constant(*constant);
            assert_eq!(listed(constant().and(column(&ALL)), 3), and);
            assert_eq!(listed(column(&ALL).and(constant()), 3), and);
            assert_eq!(listed(column(&ALL).or(constant()), 3), or);
        }
        assert_eq!(listed(column(&ALL).negate(), 3), [f, t, n]);
        assert_eq!(listed(column(&ALL).is(None), 3), [f, f, t]);
        assert_eq!(listed(column(&ALL).is(Some(false)), 3), [f, t, f]);
        assert_eq!(listed(column(&[t, f]).is(None), 2), [f, f]);
    }

    #[test]
    fn spread_reaches_over_words() {
        for (rows, step, offset) in [
            (1, 1, 0),
            (64, 1, 0),
            (200, 1, 3),
            (1000, 2, 5),
            (777, 7, 1),
        ] {
            let selection = BooleanBuffer::collect_bool(rows + offset, |row| row % step == 0);
            let selection = selection.slice(offset, rows);
            let count = selection.count_set_bits();
            let bits = BooleanBuffer::collect_bool(count + offset, |row| row % 3 == 0);
            let bits = bits.slice(offset, count);
            let spread = spread_bits(&bits, &selection);
            let mut nth = 0;
            for row in 0..rows {
                let expected = selection.value(row) && bits.value(nth);
                assert_eq!(spread.value(row), expected, "row {row} of {rows}");
                nth += usize::from(selection.value(row));
            }
        }
    }

    #[test]
    fn spread_puts_rows_back_in_place() {
        let selection = BooleanBuffer::from(vec![true, false, true, true]);
        let truth = column(&[Some(true), None, Some(false)]);
        assert_eq!(
            listed(truth.clone().spread(&selection, false), 4),
            [Some(true), Some(false), None, Some(false)]
        );
        assert_eq!(
            listed(truth.spread(&selection, true), 4),
            [Some(true), Some(true), None, Some(false)]
        );
    }
}

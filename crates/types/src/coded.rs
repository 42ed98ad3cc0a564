//! Dictionary-encoded columns of strings: each string once, and for each row the code of its string (Arrow's dictionary
//! arrays).
//!
//! A scan returns this form only to an operator that asked for it, and only where the table stores it: GROUP BY then
//! looks each string up once. No other operator knows the form; [`Batch::decoded`] gives the usual one.

use std::sync::Arc;

use arrow_array::types::UInt16Type;
use arrow_array::{Array, ArrayRef, DictionaryArray};
use arrow_select::take::take;

use crate::Batch;

/// A dictionary-encoded column. Its strings are [`crate::PhysicalType::Bytes`] and not NULL, a row may be NULL; a
/// string may have no row, or occur twice.
pub type Coded = DictionaryArray<UInt16Type>;

/// Greatest number of strings in the dictionary of a batch.
pub const CODES_MAX: usize = u16::MAX as usize;

/// The column as a dictionary array, if it is one.
pub fn coded(column: &ArrayRef) -> Option<&Coded> {
    column.as_any().downcast_ref()
}

/// The column in its usual form, without a dictionary.
pub fn decoded(column: &ArrayRef) -> ArrayRef {
    match coded(column) {
        None => Arc::clone(column),
        Some(coded) => {
            let strings = take(coded.values().as_ref(), coded.keys(), None);
            strings.expect("an array of codes has a string for each")
        }
    }
}

impl Batch {
    /// The rows, with all columns in their usual form.
    #[must_use]
    pub fn decoded(self) -> Self {
        let rows = self.row_count();
        if !self.columns().iter().any(|column| coded(column).is_some()) {
            return self;
        }
        Self::new(self.columns().iter().map(decoded).collect(), rows)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::{BinaryViewArray, Int64Array, UInt16Array};

    use super::*;

    #[test]
    fn rows_have_the_strings_of_their_codes() {
        let strings = BinaryViewArray::from_iter_values(["a", "a string that is no view", "b"]);
        let codes = UInt16Array::from(vec![Some(1), None, Some(0), Some(1)]);
        let column: ArrayRef = Arc::new(Coded::new(codes, Arc::new(strings)));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
        let batch = Batch::new(vec![column, numbers], 4).slice(1, 3).decoded();
        let texts: Vec<Option<&[u8]>> = batch.column(0).as_binary_view().iter().collect();
        let expected: [Option<&[u8]>; 3] = [None, Some(b"a"), Some(b"a string that is no view")];
        assert_eq!(texts, expected);
        assert_eq!(batch.column(1).len(), 3);
    }
}

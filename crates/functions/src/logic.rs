//! AND, OR, XOR and NOT in three-valued logic, on whole bitmaps.

use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

/// Bitmaps of the rows that are not NULL, and of those that are true.
fn known_and_true(array: &BooleanArray) -> (Option<BooleanBuffer>, BooleanBuffer) {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => (None, array.values().clone()),
        Some(nulls) => (Some(nulls.inner().clone()), array.values() & nulls.inner()),
    }
}

/// Conjunction: FALSE wins over NULL.
pub fn and(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    let (left_known, left_true) = known_and_true(left);
    let (right_known, right_true) = known_and_true(right);
    let result = &left_true & &right_true;
    let known = match (left_known, right_known) {
        (None, None) => None,
        // The side without NULLs decides where the result is false.
        (Some(known), None) => Some(&known | &!&right_true),
        (None, Some(known)) => Some(&known | &!&left_true),
        (Some(left_known), Some(right_known)) => {
            let left_false = &left_known & &!&left_true;
            let right_false = &right_known & &!&right_true;
            Some(&(&(&left_known & &right_known) | &left_false) | &right_false)
        }
    };
    BooleanArray::new(result, known.map(NullBuffer::new))
}

/// Disjunction: TRUE wins over NULL.
pub fn or(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    let (left_known, left_true) = known_and_true(left);
    let (right_known, right_true) = known_and_true(right);
    let result = &left_true | &right_true;
    let known = match (left_known, right_known) {
        (None, None) => None,
        (Some(known), None) => Some(&known | &right_true),
        (None, Some(known)) => Some(&known | &left_true),
        (Some(left_known), Some(right_known)) => Some(&(&left_known & &right_known) | &result),
    };
    BooleanArray::new(result, known.map(NullBuffer::new))
}

/// Exclusive or: NULL when either is.
pub fn xor(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    BooleanArray::new(left.values() ^ right.values(), nulls)
}

/// Negation: NULL stays NULL.
pub fn not(operand: &BooleanArray) -> BooleanArray {
    BooleanArray::new(!operand.values(), operand.nulls().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [Option<bool>; 3] = [Some(true), Some(false), None];

    fn check(
        vectorised: fn(&BooleanArray, &BooleanArray) -> BooleanArray,
        model: fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) {
        let pairs: Vec<_> = VALUES
            .iter()
            .flat_map(|a| VALUES.iter().map(move |b| (*a, *b)))
            .collect();
        let left: BooleanArray = pairs.iter().map(|pair| pair.0).collect();
        let right: BooleanArray = pairs.iter().map(|pair| pair.1).collect();
        let expected: BooleanArray = pairs.iter().map(|pair| model(pair.0, pair.1)).collect();
        assert_eq!(vectorised(&left, &right), expected);
        // Sides without NULLs take other code paths.
        for fixed in [true, false] {
            let right = BooleanArray::from(vec![fixed; pairs.len()]);
            let expected: BooleanArray = pairs
                .iter()
                .map(|pair| model(pair.0, Some(fixed)))
                .collect();
            assert_eq!(vectorised(&left, &right), expected);
            assert_eq!(vectorised(&right, &left), expected);
        }
    }

    #[test]
    fn three_values() {
        check(and, |a, b| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        });
        check(or, |a, b| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        });
        check(xor, |a, b| Some(a? ^ b?));
    }
}

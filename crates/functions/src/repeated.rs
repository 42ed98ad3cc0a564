//! Tests of repeated strings: in a column of few different strings, each is mostly tested once.
//!
//! Rows with equal views have equal strings. Stores that keep each string of a column once give equal views for it,
//! and a short string is part of its view. So a small hash table from views to test results answers for most rows;
//! where views do not repeat, the table is no longer used.

use arrow_array::BinaryViewArray;
use arrow_buffer::BooleanBuffer;

/// Size of the table, a power of two: several times the number of different strings in a column that is worth it, so
/// that few collide.
const REMEMBERED: usize = 1024;
/// Rows after each of which it is decided whether the table stays in use: enough for most of a few hundred strings to have
/// been tested.
const CHUNK_ROWS: usize = 512;
/// Number of rows for which no table is made.
const SHORT: usize = 128;
/// Tests per chunk above which the table is given up.
const TESTS_MAX: usize = CHUNK_ROWS * 3 / 4;

/// The rows whose string passes a test that depends on the string alone. Values under NULLs may be tested too.
pub fn passing_texts(
    array: &BinaryViewArray,
    mut test: impl FnMut(&[u8]) -> bool,
) -> BooleanBuffer {
    let views = array.views();
    if views.len() < SHORT {
        return BooleanBuffer::collect_bool(views.len(), |row| test(array.value(row)));
    }
    // 0 is the view of the empty string.
    let mut remembered = [(0_u128, test(&[])); REMEMBERED];
    let (mut repeats, mut tests) = (true, 0);
    BooleanBuffer::collect_bool(views.len(), |row| {
        if !repeats {
            return test(array.value(row));
        }
        if row % CHUNK_ROWS == 0 {
            repeats = tests <= TESTS_MAX;
            tests = 0;
        }
        let view = views[row];
        let place = slot_of(view);
        // Two-way buckets: two colliding views do not evict each other. The choice between them is branch-free.
        let [(first, passes_first), (second, passes_second)] =
            [remembered[place], remembered[place ^ 1]];
        let (is_first, is_second) = (first == view, second == view);
        if is_first | is_second {
            return is_first & passes_first | is_second & passes_second;
        }
        remembered[place ^ 1] = remembered[place];
        remembered[place] = (view, test(array.value(row)));
        tests += 1;
        remembered[place].1
    })
}

fn slot_of(view: u128) -> usize {
    let mixed = (view as u64 ^ (view >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 54) as usize
}

const _: () = assert!(REMEMBERED == 1 << 10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_tested_or_remembered() {
        let texts = [
            "",
            "MAIL",
            "SHIP",
            "a string that is longer than a view",
            "mail",
        ];
        for different in [1, 2, 5] {
            let all: Vec<&str> = (0..1000).map(|row| texts[row * 7 % different]).collect();
            let array = BinaryViewArray::from_iter_values(&all);
            let mut tests = 0;
            let found = passing_texts(&array, |text| {
                tests += 1;
                text.len() == 4
            });
            let expected: Vec<bool> = all.iter().map(|text| text.len() == 4).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            assert!(different > 2 || tests <= 4, "{tests} tests");
        }
        let all: Vec<String> = (0..1000)
            .map(|row| format!("the string of row {row}"))
            .collect();
        let array = BinaryViewArray::from_iter_values(&all);
        let found = passing_texts(&array, |text| text.ends_with(b"7"));
        assert_eq!(found.count_set_bits(), 100);
        assert_eq!(passing_texts(&array.slice(0, 0), |_| true).len(), 0);
        let nulls = BinaryViewArray::from_iter([None, Some("x"), None]);
        assert_eq!(
            passing_texts(&nulls, |text| text == b"x").count_set_bits(),
            1
        );
    }
}

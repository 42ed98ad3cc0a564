//! VECTOR values: the manual, "The VECTOR Type" and "Vector Functions".
//!
//! A value is the bytes of its elements, single-precision numbers, the least significant byte first. The text form is a
//! list in brackets.

use std::fmt::Write;

/// Bytes of an element.
pub const ELEMENT_BYTES: usize = 4;
/// The greatest number of elements.
pub const DIMENSIONS_MAX: u32 = 16_383;
/// The number of elements of a column that is declared without one.
pub const DIMENSIONS_DEFAULT: u32 = 2048;

/// The number of elements of a value; `None` if the bytes are none, or more than a value has.
pub fn dimensions(value: &[u8]) -> Option<u32> {
    let count = u32::try_from(value.len() / ELEMENT_BYTES).ok()?;
    let is_whole = value.len().is_multiple_of(ELEMENT_BYTES);
    (is_whole && (1..=DIMENSIONS_MAX).contains(&count)).then_some(count)
}

/// The elements of a value.
pub fn elements(value: &[u8]) -> impl Iterator<Item = f32> + '_ {
    let (elements, _) = value.as_chunks::<ELEMENT_BYTES>();
    elements.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

/// Appends the value of a text, or returns false if the text is none. Numbers that are too large or too small for an
/// element are refused.
pub fn parse(text: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    if !append_parsed(text, out) {
        out.truncate(start);
        return false;
    }
    true
}

fn append_parsed(text: &[u8], out: &mut Vec<u8>) -> bool {
    let list = text.trim_ascii().strip_prefix(b"[");
    let Some(list) = list.and_then(|list| list.strip_suffix(b"]")) else {
        return false;
    };
    let mut count = 0;
    for element in list.split(|byte| *byte == b',') {
        let element = std::str::from_utf8(element.trim_ascii()).ok();
        let value: Option<f32> = element.and_then(|element| element.parse().ok());
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return false;
        };
        let is_written_zero = || {
            let mantissa = element.unwrap_or_default().split(['e', 'E']).next();
            let mut digits = mantissa.unwrap_or_default().bytes();
            !digits.any(|byte| matches!(byte, b'1'..=b'9'))
        };
        let is_exact = value.is_normal() || value == 0.0 && is_written_zero();
        if !is_exact {
            return false;
        }
        count += 1;
        if count > DIMENSIONS_MAX {
            return false;
        }
        out.extend_from_slice(&value.to_le_bytes());
    }
    true
}

/// Appends the text of a value: `[1.00000e+00,2.00000e+00]`.
pub fn append_text(out: &mut Vec<u8>, value: &[u8]) {
    let mut text = String::new();
    out.push(b'[');
    for (index, element) in elements(value).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        text.clear();
        append_element(&mut text, element);
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b']');
}

/// Appends a number in the form of C's `%.5e`.
fn append_element(text: &mut String, value: f32) {
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        if value.is_sign_negative() {
            text.push('-');
        }
        text.push_str(name);
        return;
    }
    let printed = format!("{value:.5e}");
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    // Writing to a String does not fail.
    let _ = write!(text, "{mantissa}e{sign}{digits:0>2}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        parse(text.as_bytes(), &mut out).then_some(out)
    }

    fn printed(value: &[u8]) -> String {
        let mut out = Vec::new();
        append_text(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_read_as_in_mysql() {
        for (text, elements) in [
            ("[1,2]", Some(&[1.0, 2.0][..])),
            (" [1 ,  2 ]  ", Some(&[1.0, 2.0])),
            ("[-1.5e3]", Some(&[-1500.0])),
            ("[-0]", Some(&[-0.0])),
            ("[0e99]", Some(&[0.0])),
            ("[]", None),
            ("", None),
            ("1,2", None),
            ("[1,2", None),
            ("[1,,2]", None),
            ("[1,2]x", None),
            ("[1e40]", None),
            ("[1e-50]", None),
            ("[nan]", None),
            ("[inf]", None),
            ("[a]", None),
        ] {
            let bytes = elements.map(|elements| {
                let bytes = elements.iter().map(|element: &f32| element.to_le_bytes());
                bytes.flatten().collect::<Vec<u8>>()
            });
            assert_eq!(parsed(text), bytes, "{text}");
        }
    }

    #[test]
    fn texts_have_no_more_elements_than_a_value() {
        let text = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(parsed(&text(16_383)).is_some());
        assert!(parsed(&text(16_384)).is_none());
    }

    #[test]
    fn numbers_are_printed_as_in_c() {
        assert_eq!(
            printed(&parsed("[1,-0.1,1e10]").unwrap()),
            "[1.00000e+00,-1.00000e-01,1.00000e+10]"
        );
        assert_eq!(printed(&[0, 0, 0x80, 0x7f]), "[inf]");
        assert_eq!(printed(&[0, 0, 0x80, 0xff]), "[-inf]");
        assert_eq!(printed(&[0, 0, 0xc0, 0x7f]), "[nan]");
    }

    #[test]
    fn dimensions_are_whole_numbers_of_elements() {
        assert_eq!(dimensions(&[0; 12]), Some(3));
        assert_eq!(dimensions(&[0; 11]), None);
        assert_eq!(dimensions(&[]), None);
        assert_eq!(dimensions(&vec![0; 65_532]), Some(16_383));
        assert_eq!(dimensions(&vec![0; 65_536]), None);
    }

    proptest! {
        #[test]
        fn a_printed_vector_reads_back(numbers in proptest::collection::vec(-99_999_i32..99_999, 1..20)) {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect();
            prop_assert_eq!(parsed(&printed(&bytes)), Some(bytes));
        }
    }
}

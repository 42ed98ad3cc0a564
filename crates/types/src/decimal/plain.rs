//! Texts that are plain numbers: nearly all texts that are read as numbers.

/// Whether a byte is a space of C's `isspace`, which MySQL skips around numbers and dates.
pub(crate) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

/// Number of spaces at the start of a text.
pub(crate) fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

/// A text that is nothing but a number of at most 18 digits without an exponent: its digits as an
/// integer, and how many of them stand after the point.
pub fn plain_number(text: &[u8]) -> Option<(i64, u8)> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0_i64;
    let mut point = None;
    for (at, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // The nineteenth digit may overflow; it is refused below.
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    let count = digits.len() - usize::from(point.is_some());
    if count == 0 || count > 18 {
        return None;
    }
    let scale = point.map_or(0, |point| digits.len() - 1 - point);
    Some((if negative { -value } else { value }, scale as u8))
}

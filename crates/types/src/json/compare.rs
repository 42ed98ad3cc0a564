//! The order of documents: the manual, "Comparison and Ordering of JSON Values".
//!
//! Values of different kinds stand in the order null, number, string, object, array, boolean, date, time, date and
//! time, bits, bytes. Numbers are compared by their exact value, strings by their bytes, arrays element by element. An
//! object with fewer members comes first; then their keys and values are compared in turn.
//!
//! [`append_sort_key`] gives bytes of the same order, for hashing and sorting: equal documents, such
//! as `1` and `1.0`, have equal keys.

use std::cmp::Ordering;

use super::tag::{TypeTag, untagged};
use super::text::{JsonKind, JsonScalar, elements, kind_of, length, members, scalar_of, unquote};
use crate::decimal::Decimal;
use crate::temporal::parse_time;

/// The rank of a value's kind among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Rank {
    Null = 1,
    Number,
    String,
    Object,
    Array,
    Bool,
    Date,
    Time,
    DateTime,
    Bit,
    Blob,
}

impl Rank {
    fn of(value: &[u8]) -> Self {
        match kind_of(value) {
            JsonKind::Null => Self::Null,
            JsonKind::Number => Self::Number,
            JsonKind::Object => Self::Object,
            JsonKind::Array => Self::Array,
            JsonKind::Bool => Self::Bool,
            JsonKind::String => match untagged(value).1 {
                Some(TypeTag::Date) => Self::Date,
                Some(TypeTag::Time) => Self::Time,
                Some(TypeTag::DateTime | TypeTag::Timestamp) => Self::DateTime,
                Some(TypeTag::Bit) => Self::Bit,
                Some(TypeTag::Blob) => Self::Blob,
                _ => Self::String,
            },
        }
    }
}

/// Compares two normalised documents.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (rank, other) = (Rank::of(a), Rank::of(b));
    if rank != other {
        return rank.cmp(&other);
    }
    if a == b {
        return Ordering::Equal;
    }
    match rank {
        Rank::Null => Ordering::Equal,
        Rank::Bool => a.first().cmp(&b.first()),
        Rank::Number => compare_numbers(&scalar_of(a), &scalar_of(b)),
        // The text of dates sorts in their order.
        Rank::String | Rank::Date | Rank::DateTime => unquote(a).cmp(&unquote(b)),
        Rank::Time => micros_of_time(a).cmp(&micros_of_time(b)),
        Rank::Bit | Rank::Blob => base64_order(a).cmp(base64_order(b)),
        Rank::Array => {
            let (mut left, mut right) = (elements(a), elements(b));
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ordering::Equal,
                    (None, Some(_)) => return Ordering::Less,
                    (Some(_), None) => return Ordering::Greater,
                    (Some(x), Some(y)) => match compare(x, y) {
                        Ordering::Equal => {}
                        order => return order,
                    },
                }
            }
        }
        Rank::Object => {
            let by_length = length(a).cmp(&length(b));
            if by_length.is_ne() {
                return by_length;
            }
            for ((key, x), (other, y)) in members(a).zip(members(b)) {
                let order = unquote(key)
                    .cmp(&unquote(other))
                    .then_with(|| compare(x, y));
                if order.is_ne() {
                    return order;
                }
            }
            Ordering::Equal
        }
    }
}

fn micros_of_time(value: &[u8]) -> i64 {
    parse_time(&unquote(value), false).map_or(0, |time| time.micros)
}

/// The bytes in an order like that of their base64 text: its digits by their values, above 0.
fn base64_order(value: &[u8]) -> impl Iterator<Item = u8> {
    let (text, _) = untagged(value);
    text.iter().map(|byte| match byte {
        b'A'..=b'Z' => byte - b'A' + 2,
        b'a'..=b'z' => byte - b'a' + 28,
        b'0'..=b'9' => byte - b'0' + 54,
        b'+' => 64,
        b'/' => 65,
        // Padding and the quotes.
        _ => 1,
    })
}

fn compare_numbers(a: &JsonScalar<'_>, b: &JsonScalar<'_>) -> Ordering {
    match (a, b) {
        (JsonScalar::Int(a), JsonScalar::Int(b)) => a.cmp(b),
        (JsonScalar::Double(a), JsonScalar::Double(b)) => {
            // No NaN is ever in a document.
            a.partial_cmp(b).unwrap_or(Ordering::Equal)
        }
        (JsonScalar::Double(a), b) => compare_double(*a, exact(b)),
        (a, JsonScalar::Double(b)) => compare_double(*b, exact(a)).reverse(),
        (a, b) => exact(a).compare(exact(b)),
    }
}

fn exact(number: &JsonScalar<'_>) -> Decimal {
    match number {
        JsonScalar::Int(value) => (*value).into(),
        JsonScalar::UInt(value) => (*value).into(),
        JsonScalar::Decimal(value) => *value,
        _ => Decimal::ZERO,
    }
}

/// Compares a double, by its decimal text, with a decimal; one beyond all decimals by its sign.
fn compare_double(a: f64, b: Decimal) -> Ordering {
    match Decimal::from_f64(a) {
        Some(parsed) if !parsed.overflow => {
            let rounded = parsed.value.compare(b);
            // A double too small for a decimal is still not zero.
            match rounded {
                Ordering::Equal if parsed.value.is_zero() && a != 0.0 => {
                    a.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
                }
                order => order,
            }
        }
        _ if a < 0.0 => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// Appends a key whose bytes compare as the documents do, as far as a double distinguishes two numbers.
pub fn append_sort_key(document: &[u8], out: &mut Vec<u8>) {
    let rank = Rank::of(document);
    out.push(rank as u8);
    match rank {
        Rank::Null => {}
        Rank::Bool => out.push(u8::from(document.first() == Some(&b't'))),
        Rank::Number => append_number_key(&scalar_of(document), out),
        Rank::String | Rank::Date | Rank::DateTime => append_string_key(&unquote(document), out),
        Rank::Time => {
            let biased = micros_of_time(document).wrapping_sub(i64::MIN);
            out.extend_from_slice(&biased.to_be_bytes());
        }
        Rank::Bit | Rank::Blob => {
            out.extend(base64_order(document));
            out.push(0);
        }
        Rank::Array => {
            for element in elements(document) {
                append_sort_key(element, out);
            }
            out.push(0);
        }
        Rank::Object => {
            let count = u32::try_from(length(document)).unwrap_or(u32::MAX);
            out.extend_from_slice(&count.to_be_bytes());
            for (key, value) in members(document) {
                append_string_key(&unquote(key), out);
                append_sort_key(value, out);
            }
        }
    }
}

/// Zero bytes end a string; those inside are followed by 0xFF.
fn append_string_key(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Appends the nearest double, then the number's distance above it.
fn append_number_key(number: &JsonScalar<'_>, out: &mut Vec<u8>) {
    let (double, rest) = match number {
        JsonScalar::Double(value) => (*value, 0),
        JsonScalar::Int(value) => (*value as f64, i128::from(*value) - *value as f64 as i128),
        JsonScalar::UInt(value) => (*value as f64, i128::from(*value) - *value as f64 as i128),
        other => (exact(other).to_f64(), 0),
    };
    // Zero has two signs but is one number.
    let bits = (double + 0.0).to_bits();
    let ordered = if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    };
    out.extend_from_slice(&ordered.to_be_bytes());
    let rest = (rest + (1 << 15)).clamp(0, i128::from(u16::MAX)) as u16;
    out.extend_from_slice(&rest.to_be_bytes());
}

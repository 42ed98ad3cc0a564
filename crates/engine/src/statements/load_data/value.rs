//! Fields that are written as MySQL itself writes values, read without an allocation. `None` is for
//! everything else, which the conversions of crate `types` decide about.

use mayfly_types::temporal::DateTime;
use mayfly_types::temporal::calendar::days_in_month;

/// Up to 19 digits always fit in 64 bits.
const DIGITS_MAX: usize = 19;
/// The fractional digits of a microsecond.
const FRACTION_DIGITS: usize = 6;

#[inline]
fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > DIGITS_MAX {
        return None;
    }
    let mut number = 0_u64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

fn without_sign(bytes: &[u8]) -> (bool, &[u8]) {
    match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    }
}

/// An integer without sign.
#[inline]
pub(super) fn unsigned(bytes: &[u8]) -> Option<u64> {
    digits(bytes)
}

/// An integer.
#[inline]
pub(super) fn signed(bytes: &[u8]) -> Option<i64> {
    let (negative, rest) = without_sign(bytes);
    let number = i64::try_from(digits(rest)?).ok()?;
    Some(if negative { -number } else { number })
}

/// A number with a point or an exponent.
pub(super) fn double(bytes: &[u8]) -> Option<f64> {
    // Letters but the exponent's spell infinities and the like.
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !bytes.iter().all(is_number) || !bytes.last()?.is_ascii_digit() {
        return None;
    }
    let number: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A number of at most so many digits, of which `scale` are behind the point; in units of the last.
#[inline]
pub(super) fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let (negative, rest) = without_sign(bytes);
    let point = memchr::memchr(b'.', rest);
    let (integer, fraction) = match point {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &rest[rest.len()..]),
    };
    let scale = usize::from(scale);
    if (integer.is_empty() && fraction.is_empty())
        || fraction.len() > scale
        || integer.len() + scale > usize::from(precision)
    {
        return None;
    }
    let mut number = 0_i128;
    for byte in integer.iter().chain(fraction) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i128::from(digit);
    }
    for _ in fraction.len()..scale {
        number *= 10;
    }
    Some(if negative { -number } else { number })
}

#[inline]
fn pair(bytes: &[u8], at: usize) -> Option<u8> {
    let number = digits(bytes.get(at..at + 2)?)?;
    u8::try_from(number).ok()
}

/// `YYYY-MM-DD` of a day that exists.
#[inline]
pub(super) fn date(bytes: &[u8]) -> Option<DateTime> {
    let [_, _, _, _, b'-', _, _, b'-', _, _] = bytes else {
        return None;
    };
    let year = u16::try_from(digits(bytes.get(..4)?)?).ok()?;
    let (month, day) = (pair(bytes, 5)?, pair(bytes, 8)?);
    let exists =
        year > 0 && (1..=12).contains(&month) && day > 0 && day <= days_in_month(year, month);
    exists.then(|| DateTime::date(year, month, day))
}

/// `YYYY-MM-DD hh:mm:ss[.ffffff]` of a moment that exists, with at most so many fractional digits.
#[inline]
pub(super) fn datetime(bytes: &[u8], fraction_digits: u8) -> Option<DateTime> {
    let day = date(bytes.get(..10)?)?;
    let [b' ', _, _, b':', _, _, b':', _, _, fraction @ ..] = bytes.get(10..)? else {
        return None;
    };
    let (hour, minute, second) = (pair(bytes, 11)?, pair(bytes, 14)?, pair(bytes, 17)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let microsecond = match fraction {
        [] => 0,
        [b'.', written @ ..] => {
            if written.len() > usize::from(fraction_digits).min(FRACTION_DIGITS) {
                return None;
            }
            let missing = u32::try_from(FRACTION_DIGITS - written.len()).ok()?;
            u32::try_from(digits(written)? * 10_u64.pow(missing)).ok()?
        }
        _ => return None,
    };
    Some(DateTime {
        hour,
        minute,
        second,
        microsecond,
        ..day
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(unsigned(b"4294967295"), Some(4_294_967_295));
        assert_eq!(
            unsigned(b"9999999999999999999"),
            Some(9_999_999_999_999_999_999)
        );
        for text in ["", "-1", "+1", " 1", "1 ", "1.0", "18446744073709551615"] {
            assert_eq!(unsigned(text.as_bytes()), None, "{text}");
        }
        assert_eq!(signed(b"-9223372036854775807"), Some(-i64::MAX));
        assert_eq!(signed(b"0"), Some(0));
        for text in ["", "-", "--1", "9223372036854775808"] {
            assert_eq!(signed(text.as_bytes()), None, "{text}");
        }
        assert_eq!(double(b"-1.5e3"), Some(-1500.0));
        for text in ["", "inf", "nan", "1.", "1e999", "1x"] {
            assert_eq!(double(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimals() {
        assert_eq!(decimal(b"12.5", 6, 2), Some(1250));
        assert_eq!(decimal(b"-.25", 6, 2), Some(-25));
        assert_eq!(decimal(b"9999.99", 6, 2), Some(999_999));
        for text in ["", "-", ".", "1.234", "12345", "1.2.3", "1e2"] {
            assert_eq!(decimal(text.as_bytes(), 6, 2), None, "{text}");
        }
    }

    #[test]
    fn moments() {
        assert_eq!(date(b"2024-02-29"), Some(DateTime::date(2024, 2, 29)));
        for text in [
            "2023-02-29",
            "0000-00-00",
            "2024-1-1",
            "2024/01/01",
            "2024-00-01",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        let moment = datetime(b"2024-02-29 23:59:58.5", 1).expect("it exists");
        assert_eq!((moment.hour, moment.minute, moment.second), (23, 59, 58));
        assert_eq!(moment.microsecond, 500_000);
        for text in [
            "2024-02-29",
            "2024-02-29 24:00:00",
            "2024-02-29 10:00:00.25",
        ] {
            assert_eq!(datetime(text.as_bytes(), 1), None, "{text}");
        }
    }
}

//! Parsers of fields that are written as MySQL itself writes values, without allocation. `None` is for all others,
//! which the conversions of crate `types` decide about.

use std::str::FromStr;

use mayfly_types::convert::number::plain_number;
use mayfly_types::temporal::DateTime;
use mayfly_types::temporal::calendar::days_in_month;

/// Number of digits that a `u64` always holds.
const DIGITS_AT_ONCE: usize = 19;

/// Fractional digits of a microsecond.
const FRACTION_DIGITS: usize = 6;

#[inline]
fn digits(bytes: &[u8]) -> Option<u64> {
    let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let digit = |number: u64, byte: &u8| number * 10 + u64::from(byte - b'0');
    is_number.then(|| bytes.iter().fold(0, digit))
}

/// An integer.
#[inline]
pub(super) fn integer<T: TryFrom<i64> + FromStr>(bytes: &[u8]) -> Option<T> {
    match plain_number(bytes) {
        Some((number, 0)) => T::try_from(number).ok(),
        Some(_) => None,
        // The text may have more digits than a plain number.
        None => std::str::from_utf8(bytes).ok()?.parse().ok(),
    }
}

/// A number with a point or an exponent.
pub(super) fn double(bytes: &[u8]) -> Option<f64> {
    // Letters other than the exponent's spell infinities and the like.
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !bytes.iter().all(is_number) || !bytes.last()?.is_ascii_digit() {
        return None;
    }
    let number: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A number of at most `precision` digits, `scale` of them behind the point; in units of the last digit.
#[inline]
pub(super) fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let unsigned = bytes.strip_prefix(b"-");
    let rest = unsigned.unwrap_or(bytes);
    let point = memchr::memchr(b'.', rest);
    let (integer, fraction) = match point {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &rest[rest.len()..]),
    };
    let missing = usize::from(scale).checked_sub(fraction.len())?;
    let has_room = integer.len() + usize::from(scale) <= usize::from(precision);
    if !has_room || integer.len() + fraction.len() == 0 {
        return None;
    }
    let mut number = 0_i128;
    for part in [integer, fraction] {
        for few in part.chunks(DIGITS_AT_ONCE) {
            number = number * power_of_ten(few.len())? + i128::from(digits(few)?);
        }
    }
    number *= power_of_ten(missing)?;
    Some(if unsigned.is_some() { -number } else { number })
}

fn power_of_ten(power: usize) -> Option<i128> {
    10_i128.checked_pow(power.try_into().ok()?)
}

#[inline]
fn pair(bytes: &[u8], at: usize) -> Option<u8> {
    let number = digits(bytes.get(at..at + 2)?)?;
    u8::try_from(number).ok()
}

/// `YYYY-MM-DD` of a valid date.
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

/// A valid datetime, `YYYY-MM-DD hh:mm:ss[.ffffff]`, with at most `fraction_digits` fractional digits.
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
    use std::fmt::Debug;

    use super::*;

    fn check<T: PartialEq + Debug>(
        parse: fn(&[u8]) -> Option<T>,
        good: &[(&str, T)],
        bad: &[&str],
    ) {
        for (text, value) in good {
            assert_eq!(parse(text.as_bytes()).as_ref(), Some(value), "{text}");
        }
        for text in bad {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers() {
        check(
            integer::<u64>,
            &[
                ("4294967295", 4_294_967_295),
                ("18446744073709551615", u64::MAX),
            ],
            &["", "-1", " 1", "1 ", "1.0", "18446744073709551616"],
        );
        check(
            integer::<i64>,
            &[("-9223372036854775807", -i64::MAX), ("0", 0)],
            &["", "-", "--1", "9223372036854775808"],
        );
        check(
            double,
            &[("-1.5e3", -1500.0)],
            &["", "inf", "nan", "1.", "1e999", "1x"],
        );
    }

    #[test]
    fn decimals() {
        check(
            |bytes| decimal(bytes, 6, 2),
            &[("12.5", 1250), ("-.25", -25), ("9999.99", 999_999)],
            &["", "-", ".", "1.234", "12345", "1.2.3", "1e2"],
        );
        let nines = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
        check(
            |bytes| decimal(bytes, 38, 10),
            &[
                ("-9999999999999999999999999999.9999999999", -nines),
                (
                    "1234567890123456789012",
                    12_345_678_901_234_567_890_120_000_000_000,
                ),
                ("0.0000000001", 1),
            ],
            &[
                "10000000000000000000000000000",
                "1234567890123456789x.5",
                "0.00000000001",
            ],
        );
    }

    #[test]
    fn dates_and_times() {
        let bad = [
            "2023-02-29",
            "0000-00-00",
            "2024-1-1",
            "2024/01/01",
            "2024-00-01",
        ];
        check(date, &[("2024-02-29", DateTime::date(2024, 2, 29))], &bad);
        let last = DateTime {
            hour: 23,
            minute: 59,
            second: 58,
            microsecond: 500_000,
            ..DateTime::date(2024, 2, 29)
        };
        check(
            |bytes| datetime(bytes, 1),
            &[("2024-02-29 23:59:58.5", last)],
            &[
                "2024-02-29",
                "2024-02-29 24:00:00",
                "2024-02-29 10:00:00.25",
            ],
        );
    }
}

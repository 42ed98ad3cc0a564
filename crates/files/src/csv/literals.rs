//! Texts as numbers, truth values, dates and times.

/// An order of year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateOrder {
    Ymd = 1,
    Dmy = 2,
    Mdy = 4,
}

impl DateOrder {
    pub(crate) const ALL: [Self; 3] = [Self::Ymd, Self::Dmy, Self::Mdy];

    /// An order by its letters.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "ymd" => Some(Self::Ymd),
            "dmy" => Some(Self::Dmy),
            "mdy" => Some(Self::Mdy),
            _ => None,
        }
    }
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As SQL does.
    Plain,
    /// `1,234,567.89`: with commas between groups of three digits.
    Groups,
    /// `1.234.567,89`: with a decimal comma, and perhaps points between groups.
    Comma,
}

impl Style {
    /// (group separator, decimal point); no separator is 0.
    fn marks(self) -> (u8, u8) {
        match self {
            Self::Plain => (0, b'.'),
            Self::Groups => (b',', b'.'),
            Self::Comma => (b'.', b','),
        }
    }

    /// Digits before and behind the decimal point of a number in this style.
    pub(super) fn digits_of(self, bytes: &[u8]) -> Option<(usize, usize)> {
        let (group, point) = self.marks();
        let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
        let (whole, fraction) = match unsigned.iter().position(|byte| *byte == point) {
            Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
            None => (unsigned, None),
        };
        let are_digits = |text: &[u8]| digits(text) == text.len();
        if fraction.is_some_and(|fraction| fraction.is_empty() || !are_digits(fraction)) {
            return None;
        }
        let mut parts = whole.split(|byte| *byte == group);
        let first = parts.next()?;
        let mut count = first.len();
        let is_grouped = count < whole.len();
        let begins_with_zero = first.starts_with(b"0") && (first.len() > 1 || is_grouped);
        if first.is_empty() || !are_digits(first) || begins_with_zero || is_grouped && count > 3 {
            return None;
        }
        for part in parts {
            if part.len() != 3 || !are_digits(part) {
                return None;
            }
            count += 3;
        }
        Some((count, fraction.map_or(0, <[u8]>::len)))
    }

    /// A number in this style as SQL writes it.
    pub(super) fn plain(self, bytes: &[u8]) -> Vec<u8> {
        let (group, point) = self.marks();
        let digits = bytes.iter().filter(|byte| **byte != group);
        digits
            .map(|byte| if *byte == point { b'.' } else { *byte })
            .collect()
    }
}

/// A value without the blanks around it.
pub(super) fn without_blanks(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = bytes.iter().position(|byte| !is_blank(byte));
    let end = bytes.iter().rposition(|byte| !is_blank(byte));
    match (begin, end) {
        (Some(begin), Some(end)) => &bytes[begin..=end],
        _ => &[],
    }
}

/// true or false, in any case.
pub(crate) fn boolean(bytes: &[u8]) -> Option<bool> {
    if bytes.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if bytes.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// The first eight bytes of a text, or all of them with zeros behind; the first one is the lowest.
#[inline]
fn word(text: &[u8]) -> u64 {
    if let Some(first) = text.first_chunk::<8>() {
        return u64::from_le_bytes(*first);
    }
    // Loads that overlap take the place of a loop over the bytes.
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << ((text.len() - 4) * 8);
    }
    let byte = |at: usize| text.get(at).map_or(0, |byte| u64::from(*byte) << (at * 8));
    byte(0) | byte(1) | byte(2)
}

/// The number of digits that a text begins with.
#[inline]
pub(super) fn digits(text: &[u8]) -> usize {
    let mut count = 0;
    loop {
        let rest = &text[count..];
        let word = word(rest) ^ ZEROS;
        // The first byte above 9; a carry reaches later ones alone.
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        let found = (others.trailing_zeros() / 8) as usize;
        count += found;
        if found < 8 || rest.len() <= 8 {
            return count;
        }
    }
}

/// Eight digits 0.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The number of at most 18 digits.
#[inline]
pub(crate) fn number_of(mut digits: &[u8]) -> u64 {
    let mut number = 0;
    while digits.len() > 8 {
        let (first, rest) = digits.split_at(8);
        number = number * 100_000_000 + of_eight(word(first) ^ ZEROS);
        digits = rest;
    }
    if digits.is_empty() {
        return number;
    }
    // Digits 0 stand before those of the last word.
    let missing = (8 - digits.len()) * 8;
    let last = of_eight((word(digits) ^ ZEROS) << missing);
    number * TENS[digits.len()] + last
}

/// Powers of ten.
const TENS: [u64; 9] = {
    let mut tens = [1; 9];
    let mut at = 1;
    while at < 9 {
        tens[at] = tens[at - 1] * 10;
        at += 1;
    }
    tens
};

/// The number of eight digits of a byte each, the first one in the lowest: pairs, fours and eights are made of their
/// halves.
#[inline]
fn of_eight(word: u64) -> u64 {
    let word = (word & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let word = (word & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (word & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// The parts of a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Number<'t> {
    pub(crate) negative: bool,
    /// Digits before the point, without leading zeros but that of 0.5; perhaps none.
    pub(crate) whole: &'t [u8],
    /// Whether it has a point.
    pub(super) point: bool,
    pub(crate) fraction: &'t [u8],
    /// Whether it has an exponent.
    pub(super) exponent: bool,
}

impl<'t> Number<'t> {
    /// `[-]digits[.digits][e[+-]digits]` without leading zeros; `.5` has no digits before the point.
    pub(crate) fn of(bytes: &'t [u8]) -> Option<Self> {
        let (negative, rest) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, bytes),
        };
        let (whole, mut rest) = rest.split_at(digits(rest));
        let mut new = Self {
            negative,
            whole,
            point: false,
            fraction: &[],
            exponent: false,
        };
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        if let [b'.', behind @ ..] = rest {
            (new.fraction, rest) = behind.split_at(digits(behind));
            new.point = true;
            if new.fraction.is_empty() {
                return None;
            }
        }
        if whole.is_empty() && !new.point {
            return None;
        }
        if let [b'e' | b'E', behind @ ..] = rest {
            let behind = match behind {
                [b'+' | b'-', behind @ ..] => behind,
                _ => behind,
            };
            new.exponent = true;
            if behind.is_empty() || digits(behind) != behind.len() {
                return None;
            }
            rest = &[];
        }
        rest.is_empty().then_some(new)
    }

    /// Number of digits without the zeros that they begin with.
    pub(super) fn significant_digits(&self) -> usize {
        let digits = self.whole.len() + self.fraction.len();
        if digits <= 15 || !matches!(self.whole, b"" | b"0") {
            return digits;
        }
        let zeros = self
            .fraction
            .iter()
            .take_while(|digit| **digit == b'0')
            .count();
        self.fraction.len() - zeros
    }

    /// Whether all digits are 0.
    pub(super) fn is_zero(&self) -> bool {
        let mut digits = self.whole.iter().chain(self.fraction);
        digits.all(|digit| *digit == b'0')
    }
}

/// (year, month, day) of a text in an order: parts between `-`, `/` or `.`, the year of four digits. With points the day is
/// first.
pub(crate) fn date(bytes: &[u8], order: DateOrder) -> Option<(u16, u8, u8)> {
    // Most dates are written as SQL's.
    if let [a, b, c, d, b'-', e, f, b'-', g, h] = bytes
        && order == DateOrder::Ymd
    {
        let [century, year, month, day] = pairs([[a, b], [c, d], [e, f], [g, h]])?;
        return valid_day(u16::from(century) * 100 + u16::from(year), month, day);
    }
    let separator = *bytes.iter().find(|byte| !byte.is_ascii_digit())?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let mut parts = bytes.split(|byte| *byte == separator);
    let parts = [
        parts.next()?,
        parts.next()?,
        parts.next()?,
        parts.next().unwrap_or(b""),
    ];
    let [first, second, third, b""] = parts else {
        return None;
    };
    if bytes.len() != first.len() + second.len() + third.len() + 2 {
        return None;
    }
    let (year, month, day) = match order {
        DateOrder::Ymd => (first, second, third),
        DateOrder::Dmy => (third, second, first),
        DateOrder::Mdy if separator != b'.' => (third, first, second),
        DateOrder::Mdy => return None,
    };
    day_of(year, month, day)
}

/// The day of a year of four digits, and a month and a day of one or two.
#[inline]
fn day_of(year: &[u8], month: &[u8], day: &[u8]) -> Option<(u16, u8, u8)> {
    let number = |text: &[u8]| match text {
        [a @ b'0'..=b'9'] => Some(a - b'0'),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    };
    let (century, year) = year.split_at_checked(2).filter(|_| year.len() == 4)?;
    let year = u16::from(number(century)?) * 100 + u16::from(number(year)?);
    valid_day(year, number(month)?, number(day)?)
}

/// The numbers of pairs of digits.
#[inline]
fn pairs<const N: usize>(pairs: [[&u8; 2]; N]) -> Option<[u8; N]> {
    let digits = pairs.map(|pair| pair.map(|byte| byte.wrapping_sub(b'0')));
    let greatest = digits.iter().flatten().fold(0, |it, digit| it.max(*digit));
    (greatest <= 9).then(|| digits.map(|[tens, ones]| tens * 10 + ones))
}

/// A day, if the year has it.
#[inline]
fn valid_day(year: u16, month: u8, day: u8) -> Option<(u16, u8, u8)> {
    if (1..=28).contains(&day) && (1..=12).contains(&month) && year > 0 {
        return Some((year, month, day));
    }
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (year > 0 && (1..=days).contains(&day)).then_some((year, month, day))
}

/// Microseconds of a time `[-]HH:MM[:SS[.fraction]]`, and the digits of its fraction. Hours have at least two digits.
pub(crate) fn time(bytes: &[u8]) -> Option<(i64, u8)> {
    // Most times are written as SQL's.
    if let [a, b, b':', c, d, b':', e, f, rest @ ..] = bytes
        && let ([], fraction) | ([b'.'], fraction) = rest.split_at(rest.len().min(1))
        && (fraction.is_empty() == rest.is_empty() && fraction.len() <= 6)
        && digits(fraction) == fraction.len()
        && let Some([hours, minutes @ 0..60, seconds @ 0..60]) = pairs([[a, b], [c, d], [e, f]])
    {
        let seconds = (i64::from(hours) * 60 + i64::from(minutes)) * 60 + i64::from(seconds);
        let micros = number_of(fraction) as i64 * POWERS[6 - fraction.len()];
        return Some((seconds * 1_000_000 + micros, fraction.len() as u8));
    }
    signed_time(bytes)
}

/// Powers of ten.
const POWERS: [i64; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/// [`time`] of any form.
fn signed_time(bytes: &[u8]) -> Option<(i64, u8)> {
    let (negative, rest) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    let (rest, fraction) = match rest.iter().position(|byte| *byte == b'.') {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &b""[..]),
    };
    let has_fraction = bytes.contains(&b'.');
    let mut parts = rest.split(|byte| *byte == b':');
    let two = |part: &[u8]| match part {
        [a @ b'0'..=b'5', b @ b'0'..=b'9'] => Some(i64::from((a - b'0') * 10 + (b - b'0'))),
        _ => None,
    };
    let hours = parts.next()?;
    let is_number = (2..=3).contains(&hours.len()) && hours.iter().all(u8::is_ascii_digit);
    let hours = is_number.then(|| {
        hours
            .iter()
            .fold(0, |it, digit| it * 10 + i64::from(digit - b'0'))
    });
    let (hours, minutes) = (hours?, two(parts.next()?)?);
    let seconds = match parts.next() {
        Some(seconds) => two(seconds)?,
        None if has_fraction => return None,
        None => 0,
    };
    if parts.next().is_some() || has_fraction && fraction.is_empty() {
        return None;
    }
    let (shown, more) = fraction.split_at(fraction.len().min(6));
    if more.iter().any(|digit| *digit != b'0') || !shown.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut micros = shown
        .iter()
        .fold(0, |it, digit| it * 10 + i64::from(digit - b'0'));
    for _ in shown.len()..6 {
        micros *= 10;
    }
    let micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    let is_time = micros <= (838 * 3600 + 59 * 60 + 59) * 1_000_000;
    let digits = shown.len() as u8;
    is_time.then_some((if negative { -micros } else { micros }, digits))
}

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
        let digits = |text: &[u8]| text.iter().take_while(|it| it.is_ascii_digit()).count();
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
    if let [_, _, _, _, b'-', _, _, b'-', _, _] = bytes
        && order == DateOrder::Ymd
    {
        return day_of(&bytes[..4], &bytes[5..7], &bytes[8..]);
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
fn day_of(year: &[u8], month: &[u8], day: &[u8]) -> Option<(u16, u8, u8)> {
    let number = |text: &[u8], lengths: std::ops::RangeInclusive<usize>| {
        let digits = lengths.contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
        let number = |it: u16, digit: &u8| it * 10 + u16::from(digit - b'0');
        digits.then(|| text.iter().fold(0_u16, number))
    };
    let (year, month, day) = (
        number(year, 4..=4)?,
        number(month, 1..=2)?,
        number(day, 1..=2)?,
    );
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let is_day = year > 0 && (1..=days).contains(&day);
    is_day.then_some((year, month as u8, day as u8))
}

/// Microseconds of a time `[-]HH:MM[:SS[.fraction]]`, and the digits of its fraction. Hours have at least two digits.
pub(crate) fn time(bytes: &[u8]) -> Option<(i64, u8)> {
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

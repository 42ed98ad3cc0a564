//! The type of a column, from all of its values: the narrowest one that shows each of them again.
//!
//! Whole numbers are BIGINT, BIGINT UNSIGNED or DECIMAL, fractions are DECIMAL with all of their digits, numbers with an
//! exponent DOUBLE. Leading zeros and a plus make texts. Dates are read in the order of year, month and day that all of the
//! column allows, and are texts if more than one does. A time zone makes a text.

use mayfly_engine::{CollationId, SqlType, TypeKind};

use super::fields::Field;

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

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// true and false
    Bool,
    Int,
    UInt,
    /// Precision and scale.
    Decimal(u8, u8),
    Double,
    Date(DateOrder),
    /// The order of the date, and the digits of a second's fraction.
    DateTime(DateOrder, u8),
    Time(u8),
    /// The length of the longest value in bytes.
    Text(u32),
}

impl Kind {
    pub(crate) fn sql_type(self) -> SqlType {
        match self {
            Self::Bool => SqlType {
                length: 1,
                ..SqlType::integer(TypeKind::TinyInt)
            },
            Self::Int => SqlType::bigint(),
            Self::UInt => SqlType::bigint_unsigned(),
            Self::Decimal(precision, scale) => SqlType::decimal(precision, scale),
            Self::Double => SqlType::double(),
            Self::Date(_) => SqlType::temporal(TypeKind::Date, 0),
            Self::DateTime(_, digits) => SqlType::temporal(TypeKind::DateTime, digits),
            Self::Time(digits) => SqlType::temporal(TypeKind::Time, digits),
            Self::Text(length) => match length.saturating_mul(2).max(VARCHAR_MIN) {
                length @ ..=VARCHAR_MAX => SqlType::varchar(length, CollationId::default()),
                _ => SqlType::text(TypeKind::LongText, CollationId::default()),
            },
        }
    }
}

/// The shortest VARCHAR: a table that is made of a file is to have room for other texts.
const VARCHAR_MIN: u32 = 32;

/// The longest VARCHAR of four bytes a character.
const VARCHAR_MAX: u32 = 16_383;

const BOOL: u8 = 1;
const INT: u8 = 2;
const DECIMAL: u8 = 4;
const DOUBLE: u8 = 8;
const DATE: u8 = 16;
const DATETIME: u8 = 32;
const TIME: u8 = 64;

/// What the values of a column so far allow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guess {
    /// The kinds that have all values.
    kinds: u8,
    has_values: bool,
    pub(crate) has_nulls: bool,
    has_negative: bool,
    exceeds_i64: bool,
    exceeds_u64: bool,
    /// Digits before and behind the point.
    whole: u32,
    fraction: u32,
    /// The orders of dates.
    orders: u8,
    /// Digits of a second's fraction.
    second: u8,
    length: u32,
}

impl Guess {
    /// Without values. `order` is the one of dates, if it is known.
    pub(crate) fn new(order: Option<DateOrder>) -> Self {
        Self {
            kinds: BOOL | INT | DECIMAL | DOUBLE | DATE | DATETIME | TIME,
            has_values: false,
            has_nulls: false,
            has_negative: false,
            exceeds_i64: false,
            exceeds_u64: false,
            whole: 1,
            fraction: 0,
            orders: order.map_or(7, |order| order as u8),
            second: 0,
            length: 0,
        }
    }

    /// Makes the column one of texts.
    pub(crate) fn keep_text(&mut self) {
        self.kinds = 0;
    }

    /// Adds a value that is not NULL.
    pub(crate) fn add(&mut self, field: &Field<'_>) {
        let bytes = field.bytes();
        self.has_values = true;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.length = self.length.max(length);
        if self.kinds != 0 {
            self.kinds &= self.kinds_of(bytes);
        }
    }

    fn kinds_of(&mut self, bytes: &[u8]) -> u8 {
        let Some(first) = bytes.first() else {
            return 0;
        };
        match first {
            b'0'..=b'9' | b'-' | b'.' => {}
            b't' | b'T' | b'f' | b'F' => return if boolean(bytes).is_some() { BOOL } else { 0 },
            _ => return 0,
        }
        if let Some(number) = Number::of(bytes) {
            return self.kinds_of_number(&number, bytes);
        }
        if let Some((micros, digits)) = time(bytes) {
            let _ = micros;
            self.second = self.second.max(digits);
            return TIME;
        }
        let split = bytes.iter().position(|byte| matches!(byte, b' ' | b'T'));
        let (date, kinds) = match split {
            None => (bytes, DATE | DATETIME),
            Some(at) => match time(&bytes[at + 1..]) {
                Some((0..DAY, digits)) => {
                    self.second = self.second.max(digits);
                    (&bytes[..at], DATETIME)
                }
                _ => return 0,
            },
        };
        self.orders &= orders(date);
        if self.orders == 0 { 0 } else { kinds }
    }

    fn kinds_of_number(&mut self, number: &Number<'_>, bytes: &[u8]) -> u8 {
        if number.exponent || number.negative && number.is_zero() {
            // A double has neither 1e400 nor 1e-400.
            let double = std::str::from_utf8(bytes).unwrap_or_default().parse();
            let is_double =
                double.is_ok_and(|it: f64| it.is_finite() && (it != 0.0 || number.is_zero()));
            return if is_double { DOUBLE } else { 0 };
        }
        let whole = u32::try_from(number.whole.len()).unwrap_or(u32::MAX);
        let fraction = u32::try_from(number.fraction.len()).unwrap_or(u32::MAX);
        self.whole = self.whole.max(whole);
        self.fraction = self.fraction.max(fraction);
        self.has_negative |= number.negative;
        if whole > 18 {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            self.exceeds_i64 |= text.parse::<i64>().is_err();
            self.exceeds_u64 |= text.parse::<u64>().is_err();
        }
        let int = if number.point { 0 } else { INT };
        let double = if is_exact_double(number, bytes) {
            DOUBLE
        } else {
            0
        };
        int | DECIMAL | double
    }

    /// Adds what another part of the column allows.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.kinds &= other.kinds;
        self.has_values |= other.has_values;
        self.has_nulls |= other.has_nulls;
        self.has_negative |= other.has_negative;
        self.exceeds_i64 |= other.exceeds_i64;
        self.exceeds_u64 |= other.exceeds_u64;
        self.whole = self.whole.max(other.whole);
        self.fraction = self.fraction.max(other.fraction);
        self.orders &= other.orders;
        self.second = self.second.max(other.second);
        self.length = self.length.max(other.length);
    }

    /// Whether all values are dates, perhaps in several orders.
    pub(crate) fn is_date(&self) -> bool {
        self.has_values && self.kinds & (DATE | DATETIME) != 0
    }

    /// How the values are read.
    pub(crate) fn kind(&self) -> Kind {
        let text = Kind::Text(self.length);
        if !self.has_values {
            return text;
        }
        let has = |kind| self.kinds & kind != 0;
        let mut orders = DateOrder::ALL.into_iter();
        let mut of_orders = orders.by_ref().filter(|it| self.orders & *it as u8 != 0);
        let order = of_orders.next().filter(|_| of_orders.next().is_none());
        let fits_decimal = self.fraction <= 30 && self.whole.saturating_add(self.fraction) <= 65;
        match (order, fits_decimal) {
            _ if has(BOOL) => Kind::Bool,
            _ if has(INT) && !self.exceeds_i64 => Kind::Int,
            _ if has(INT) && !self.exceeds_u64 && !self.has_negative => Kind::UInt,
            (_, true) if has(DECIMAL) => {
                Kind::Decimal((self.whole + self.fraction) as u8, self.fraction as u8)
            }
            _ if has(DOUBLE) => Kind::Double,
            (Some(order), _) if has(DATE) => Kind::Date(order),
            (Some(order), _) if has(DATETIME) => Kind::DateTime(order, self.second),
            _ if has(TIME) => Kind::Time(self.second),
            _ => text,
        }
    }
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

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
    point: bool,
    pub(crate) fraction: &'t [u8],
    exponent: bool,
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

    fn is_zero(&self) -> bool {
        let mut digits = self.whole.iter().chain(self.fraction);
        digits.all(|digit| *digit == b'0')
    }
}

/// Whether the double nearest to a number shows the number again.
fn is_exact_double(number: &Number<'_>, bytes: &[u8]) -> bool {
    if number.whole.len() + number.fraction.len() <= 15 {
        return true;
    }
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let Ok(double) = text.parse::<f64>() else {
        return false;
    };
    let shown = double.to_string();
    let Some(shown) = Number::of(shown.as_bytes()) else {
        return false;
    };
    fn without_zeros(fraction: &[u8]) -> &[u8] {
        let end = fraction.iter().rposition(|digit| *digit != b'0');
        &fraction[..end.map_or(0, |end| end + 1)]
    }
    let whole = if number.whole.is_empty() {
        b"0"
    } else {
        number.whole
    };
    shown.whole == whole && without_zeros(shown.fraction) == without_zeros(number.fraction)
}

/// The orders in which a text is a date.
fn orders(bytes: &[u8]) -> u8 {
    let valid = DateOrder::ALL
        .into_iter()
        .filter(|order| date(bytes, *order).is_some());
    valid.fold(0, |orders, order| orders | order as u8)
}

/// (year, month, day) of a text in an order: parts between `-`, `/` or `.`, the year of four digits. With points the day is
/// first.
pub(crate) fn date(bytes: &[u8], order: DateOrder) -> Option<(u16, u8, u8)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(values: &[&str]) -> Kind {
        // Parts of a column allow the same as the column.
        let guess = |values: &[&str]| {
            let mut guess = Guess::new(None);
            for value in values {
                guess.add(&Field::Plain(value.as_bytes()));
            }
            guess
        };
        let whole = guess(values).kind();
        for middle in 0..=values.len() {
            let mut first = guess(&values[..middle]);
            first.merge(&guess(&values[middle..]));
            assert_eq!(first.kind(), whole, "{values:?} cut at {middle}");
        }
        whole
    }

    #[test]
    fn types_show_every_value_again() {
        use DateOrder::{Dmy, Mdy, Ymd};
        for (values, expected) in [
            (&["1", "-20"][..], Kind::Int),
            (&["18446744073709551615", "1"], Kind::UInt),
            (&["18446744073709551615", "-1"], Kind::Decimal(20, 0)),
            (
                &["123456789012345678901234567890123456789"],
                Kind::Decimal(39, 0),
            ),
            (&["1", "2.50"], Kind::Decimal(3, 2)),
            (&[".5", "-12"], Kind::Decimal(3, 1)),
            (&["1e3", "2.5"], Kind::Double),
            (&["0.1234567890123456", "1e-7"], Kind::Double),
            (&["0.12345678901234567890123", "1e-7"], Kind::Text(25)),
            (&["-0.0", "1.5"], Kind::Double),
            (&["007", "8"], Kind::Text(3)),
            (&["+491234"], Kind::Text(7)),
            (&["1,5"], Kind::Text(3)),
            (&["5."], Kind::Text(2)),
            (&["inf"], Kind::Text(3)),
            (&["1e400", "1"], Kind::Text(5)),
            (&["1e-400"], Kind::Text(6)),
            (&["1", "x"], Kind::Text(1)),
            (&["1", "true"], Kind::Text(4)),
            (&["true", "FALSE"], Kind::Bool),
            (&["2024-02-29"], Kind::Date(Ymd)),
            (&["2023-02-29"], Kind::Text(10)),
            (&["01/02/2024", "13/02/2024"], Kind::Date(Dmy)),
            (&["01/02/2024", "02/13/2024"], Kind::Date(Mdy)),
            (&["01/02/2024", "02/01/2024"], Kind::Text(10)),
            (&["13/02/2024", "02/13/2024"], Kind::Text(10)),
            (&["01.02.2024"], Kind::Date(Dmy)),
            (
                &["2024-01-01", "2024-01-01 10:00:00.25"],
                Kind::DateTime(Ymd, 2),
            ),
            (&["2024-01-01T10:00:00"], Kind::DateTime(Ymd, 0)),
            (&["2024-01-01T10:00:00Z"], Kind::Text(20)),
            (&["2024-01-01 25:00:00"], Kind::Text(19)),
            (&["2024-01-01 10:00:00.1234567"], Kind::Text(27)),
            (&["12:30", "100:00:00.5"], Kind::Time(1)),
            (&["1:30"], Kind::Text(4)),
            (&["2024-01-01", "1"], Kind::Text(10)),
            (&[], Kind::Text(0)),
            (&["é"], Kind::Text(2)),
            (&["0000-00-00"], Kind::Text(10)),
        ] {
            assert_eq!(kind(values), expected, "{values:?}");
        }
    }
}

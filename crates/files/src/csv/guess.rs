//! The type of a column, from all of its values: the narrowest one that shows each of them again.
//!
//! Whole numbers are BIGINT, BIGINT UNSIGNED or DECIMAL, fractions are DECIMAL with all of their digits, numbers with an
//! exponent DOUBLE. Leading zeros and a plus make texts. Dates are read in the order of year, month and day that all of the
//! column allows, and are texts if more than one does. A time zone makes a text.

use mayfly_engine::{CollationId, SqlType, TypeKind};

use super::fields::Field;
use super::literals::{DateOrder, Number, boolean, date, time};

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
        // A kind that the values before have excluded is not tried again.
        let may_be = |kinds: u8| self.kinds & kinds != 0;
        let is_number = may_be(INT | DECIMAL | DOUBLE);
        if let Some(number) = is_number.then(|| Number::of(bytes)).flatten() {
            return self.kinds_of_number(&number, bytes);
        }
        let is_time = may_be(TIME);
        if let Some((_, digits)) = is_time.then(|| time(bytes)).flatten() {
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
        self.orders = orders(date, self.orders);
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

/// The orders among `of` in which a text is a date.
fn orders(bytes: &[u8], of: u8) -> u8 {
    let valid = DateOrder::ALL
        .into_iter()
        .filter(|order| of & *order as u8 != 0 && date(bytes, *order).is_some());
    valid.fold(0, |orders, order| orders | order as u8)
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

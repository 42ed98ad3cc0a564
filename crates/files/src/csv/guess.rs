//! The type of a column, from all of its values: the narrowest of a few types that shows each of them again. Few, because a
//! type that the first rows show ([`Guess::is_final`]) is then seldom refuted by later ones.
//!
//! Whole numbers are BIGINT, BIGINT UNSIGNED or DECIMAL, fractions are DECIMAL with all of their digits, numbers with an
//! exponent DOUBLE. Leading zeros and a plus make texts. Dates are read in the order of year, month and day that all of the
//! column allows, and numbers with commas in the style that all of it allows; they are texts if more than one does. A time
//! zone makes a text. Blanks around a value are no part of it, except of a text.

use mayfly_engine::{CollationId, SqlType, TypeKind};

use super::literals::{DateOrder, Number, Style, boolean, date, digits, time, without_blanks};

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// true and false
    Bool,
    Int(Style),
    UInt,
    /// Precision and scale.
    Decimal(Style, u8, u8),
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
            Self::Int(_) => SqlType::bigint(),
            Self::UInt => SqlType::bigint_unsigned(),
            Self::Decimal(_, precision, scale) => SqlType::decimal(precision, scale),
            Self::Double => SqlType::double(),
            Self::Date(_) => SqlType::temporal(TypeKind::Date, 0),
            Self::DateTime(_, digits) => SqlType::temporal(TypeKind::DateTime, digits),
            Self::Time(digits) => SqlType::temporal(TypeKind::Time, digits),
            Self::Text(length) => match varchar_length(length) {
                Some(length) => SqlType::varchar(length, CollationId::default()),
                None => SqlType::text(TypeKind::LongText, CollationId::default()),
            },
        }
    }

    /// The length in bytes of the longest text of a type.
    pub(crate) fn text_max(self) -> u32 {
        match self {
            // No value was seen, so that any value may have another kind.
            Self::Text(0) => 0,
            Self::Text(length) => varchar_length(length).map_or(u32::MAX, |length| length / 2),
            _ => u32::MAX,
        }
    }
}

/// The length of a VARCHAR for texts of up to some bytes: room for twice as many, as a power of two, since a table that is made
/// of a file is to have room for other texts. `None` where a VARCHAR cannot have it.
fn varchar_length(longest: u32) -> Option<u32> {
    let length = longest.max(VARCHAR_MIN / 2).checked_mul(2)?;
    (length <= VARCHAR_MAX).then(|| length.next_power_of_two().min(VARCHAR_MAX))
}

/// The precision of DECIMAL for numbers of some digits, whose sums (22 digits more) up to the first one have 128 bits.
fn precision(digits: u32) -> u8 {
    match digits {
        0..=16 => 16,
        17..=38 => 38,
        _ => 65,
    }
}

/// The shortest VARCHAR.
const VARCHAR_MIN: u32 = 32;

/// The longest VARCHAR of four bytes a character.
const VARCHAR_MAX: u32 = 16_383;

const BOOL: u16 = 1;
const INT: u16 = 2;
const DECIMAL: u16 = 4;
const DOUBLE: u16 = 8;
const DATE: u16 = 16;
const DATETIME: u16 = 32;
const TIME: u16 = 64;
/// Numbers in the styles with groups and with a decimal comma.
const GROUPS: u16 = 128;
const COMMA: u16 = 256;
const ALL: u16 = 511;
/// Kinds that have whole numbers.
const WHOLE: u16 = INT | DECIMAL | DOUBLE | GROUPS | COMMA;

/// What the values of a column so far allow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guess {
    /// The kinds that have all values.
    kinds: u16,
    has_values: bool,
    has_negative: bool,
    exceeds_i64: bool,
    exceeds_u64: bool,
    /// Digits before and behind the point.
    whole: u32,
    fraction: u32,
    /// Those of numbers with commas, in each of the two styles.
    groups: (u32, u32),
    comma: (u32, u32),
    /// Whether numbers of both styles are such with groups.
    prefers_groups: bool,
    /// The orders of dates.
    orders: u8,
    /// Digits of a second's fraction.
    second: u8,
    length: u32,
}

impl Guess {
    /// Without values. `order` is the one of dates, if it is known.
    pub(crate) fn new(order: Option<DateOrder>, delimiter: u8) -> Self {
        Self {
            kinds: ALL,
            groups: (0, 0),
            comma: (0, 0),
            // Where commas delimit fields, they are not decimal points.
            prefers_groups: delimiter == b',',
            has_values: false,
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
    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.has_values = true;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.length = self.length.max(length);
        if self.kinds == 0 {
            return;
        }
        // Most numbers are whole ones of few digits.
        if (1..=DOUBLE_DIGITS).contains(&bytes.len()) && digits(bytes) == bytes.len() {
            let is_number = bytes[0] != b'0' || bytes.len() == 1;
            self.kinds &= if is_number { WHOLE } else { 0 };
            self.whole = self.whole.max(length);
            return;
        }
        self.kinds &= self.kinds_of(bytes);
    }

    fn kinds_of(&mut self, bytes: &[u8]) -> u16 {
        let bytes = without_blanks(bytes);
        let Some(first) = bytes.first() else {
            return 0;
        };
        match first {
            b'0'..=b'9' | b'-' | b'.' => {}
            b't' | b'T' | b'f' | b'F' => return if boolean(bytes).is_some() { BOOL } else { 0 },
            _ => return 0,
        }
        // A kind that the values before have excluded is not tried again.
        let known = self.kinds;
        let may_be = |kinds: u16| known & kinds != 0;
        let is_number = may_be(WHOLE);
        if let Some(number) = is_number.then(|| Number::of(bytes)).flatten() {
            return self.kinds_of_number(&number, bytes);
        }
        if may_be(GROUPS | COMMA) {
            let kinds = self.kinds_of_styles(bytes);
            if kinds != 0 {
                return kinds;
            }
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

    /// The styles of a number with commas.
    fn kinds_of_styles(&mut self, bytes: &[u8]) -> u16 {
        let mut kinds = 0;
        let styles = [
            (Style::Groups, GROUPS, &mut self.groups),
            (Style::Comma, COMMA, &mut self.comma),
        ];
        for (style, kind, digits) in styles {
            if let Some((whole, fraction)) = style.digits_of(bytes) {
                kinds |= kind;
                widen(digits, whole, fraction);
            }
        }
        kinds
    }

    fn kinds_of_number(&mut self, number: &Number<'_>, bytes: &[u8]) -> u16 {
        if number.exponent || number.negative && number.is_zero() {
            let is_double = double(number, bytes).is_some();
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
        let mut kinds = DECIMAL | DOUBLE | GROUPS;
        if !number.point {
            kinds |= INT | COMMA;
        } else if number.fraction.len() == 3
            && let Some((whole, fraction)) = Style::Comma.digits_of(bytes)
        {
            kinds |= COMMA;
            widen(&mut self.comma, whole, fraction);
        }
        if number.significant_digits() > DOUBLE_DIGITS {
            kinds &= !DOUBLE;
        }
        kinds
    }

    /// Adds what another part of the column allows.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.kinds &= other.kinds;
        self.has_values |= other.has_values;
        self.has_negative |= other.has_negative;
        self.exceeds_i64 |= other.exceeds_i64;
        self.exceeds_u64 |= other.exceeds_u64;
        self.whole = self.whole.max(other.whole);
        self.fraction = self.fraction.max(other.fraction);
        for (mine, (whole, fraction)) in [
            (&mut self.groups, other.groups),
            (&mut self.comma, other.comma),
        ] {
            *mine = (mine.0.max(whole), mine.1.max(fraction));
        }
        self.orders &= other.orders;
        self.second = self.second.max(other.second);
        self.length = self.length.max(other.length);
    }

    pub(crate) fn has_values(&self) -> bool {
        self.has_values
    }

    /// Whether all values are dates, perhaps in several orders.
    pub(crate) fn is_date(&self) -> bool {
        self.has_values && self.kinds & (DATE | DATETIME) != 0
    }

    /// The style of numbers with commas.
    fn style(&self) -> Option<Style> {
        match (self.kinds & GROUPS != 0, self.kinds & COMMA != 0) {
            (true, true) if !self.prefers_groups => None,
            (true, _) => Some(Style::Groups),
            // Points alone are in addresses too.
            (false, true) => (self.comma.1 > 0).then_some(Style::Comma),
            (false, false) => None,
        }
    }

    /// The kind of numbers with commas; `None` for too many digits.
    fn styled(&self) -> Option<Kind> {
        let style = self.style()?;
        let (whole, fraction) = match style {
            Style::Comma => (self.whole.max(self.comma.0), self.comma.1),
            _ => (
                self.whole.max(self.groups.0),
                self.fraction.max(self.groups.1),
            ),
        };
        match (whole, fraction) {
            (..=18, 0) => Some(Kind::Int(style)),
            (_, 0..=30) if whole.saturating_add(fraction) <= 65 => Some(Kind::Decimal(
                style,
                precision(whole + fraction),
                fraction as u8,
            )),
            _ => None,
        }
    }

    /// Why the column is one of texts although its values look like others; `None` if they do not.
    pub(crate) fn unclear(&self) -> Option<&'static str> {
        if !self.has_values || !matches!(self.kind(), Kind::Text(_)) {
            return None;
        }
        if self.kinds & (DATE | DATETIME) != 0 {
            return Some(
                "its dates may begin with the day or with the month, which date_order says",
            );
        }
        let has_commas = self.kinds & DECIMAL == 0;
        (has_commas && self.kinds & (GROUPS | COMMA) == GROUPS | COMMA)
            .then_some("its commas may be decimal points, or stand between groups of digits")
    }

    /// Whether later values that fit the kind cannot change it: values that are read in one way only, or texts of several kinds.
    pub(crate) fn is_final(&self) -> bool {
        match self.kind() {
            Kind::Text(_) => self.kinds == 0 || !self.has_values,
            Kind::Int(style) | Kind::Decimal(style, ..) => style == Style::Plain,
            _ => true,
        }
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
            _ if has(INT) && !self.exceeds_i64 => Kind::Int(Style::Plain),
            _ if has(INT) && !self.exceeds_u64 && !self.has_negative => Kind::UInt,
            (_, true) if has(DECIMAL) => Kind::Decimal(
                Style::Plain,
                precision(self.whole + self.fraction),
                self.fraction as u8,
            ),
            _ if has(DOUBLE) => Kind::Double,
            _ if self.style().is_some() => self.styled().unwrap_or(text),
            (Some(order), _) if has(DATE) => Kind::Date(order),
            (Some(order), _) if has(DATETIME) => Kind::DateTime(order, self.second),
            _ if has(TIME) => Kind::Time(self.second),
            _ => text,
        }
    }
}

/// The double of a number's text, if it shows all of its digits. A double has neither 1e400 nor 1e-400.
pub(super) fn double(number: &Number<'_>, bytes: &[u8]) -> Option<f64> {
    let double: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    let is_exact = number.significant_digits() <= DOUBLE_DIGITS
        && double.is_finite()
        && (double != 0.0 || number.is_zero());
    is_exact.then_some(double)
}

/// Microseconds of a day.
pub(super) const DAY: i64 = 86_400_000_000;

/// Most significant digits of a number that is read as a double: programs write no more of a double's, and those that they
/// write give the double again.
const DOUBLE_DIGITS: usize = 17;

/// Widens digits before and behind a point.
fn widen(digits: &mut (u32, u32), whole: usize, fraction: usize) {
    let count = |digits: usize| u32::try_from(digits).unwrap_or(u32::MAX);
    *digits = (digits.0.max(count(whole)), digits.1.max(count(fraction)));
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
            let mut guess = Guess::new(None, b';');
            for value in values {
                guess.add(value.as_bytes());
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
            (&["1", "-20"][..], Kind::Int(Style::Plain)),
            (&["18446744073709551615", "1"], Kind::UInt),
            (
                &["18446744073709551615", "-1"],
                Kind::Decimal(Style::Plain, 38, 0),
            ),
            (
                &["123456789012345678901234567890123456789"],
                Kind::Decimal(Style::Plain, 65, 0),
            ),
            (&["1", "2.50"], Kind::Decimal(Style::Plain, 16, 2)),
            (&[".5", "-12"], Kind::Decimal(Style::Plain, 16, 1)),
            (&["1e3", "2.5"], Kind::Double),
            (&["0.1234567890123456", "1e-7"], Kind::Double),
            (&["0.12345678901234567890123", "1e-7"], Kind::Text(25)),
            (&["-0.0", "1.5"], Kind::Double),
            (&["007", "8"], Kind::Text(3)),
            (&["+491234"], Kind::Text(7)),
            (&["1,5", "-12"], Kind::Decimal(Style::Comma, 16, 1)),
            (&["1.234,5", "1.500"], Kind::Decimal(Style::Comma, 16, 1)),
            (&["1.234.567", "1,00"], Kind::Decimal(Style::Comma, 16, 2)),
            (&["1,234", "12.5"], Kind::Decimal(Style::Groups, 16, 1)),
            (&["1,234,567", "7"], Kind::Int(Style::Groups)),
            (&["1,234"], Kind::Text(5)),
            (&["1,234", "2"], Kind::Text(5)),
            (&["0,123"], Kind::Decimal(Style::Comma, 16, 3)),
            (&["1,5", "1.5"], Kind::Text(3)),
            (&["1,5", "1,234,567"], Kind::Text(9)),
            (&["1,5", "1e3"], Kind::Text(3)),
            (&["192.168.100"], Kind::Text(11)),
            (&["1,", ",5"], Kind::Text(2)),
            (&["01,5"], Kind::Text(4)),
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

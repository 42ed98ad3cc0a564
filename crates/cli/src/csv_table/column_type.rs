//! Column types of a CSV file: the narrowest one that holds every value.

use super::slashed_date::{SlashedDate, is_date};

/// Greatest length in characters of a text column that becomes VARCHAR(255); longer ones become LONGTEXT.
const VARCHAR_CHARACTERS: usize = 255;
/// Greatest number of digits of MySQL's DECIMAL.
const DECIMAL_DIGITS_MAX: usize = 65;
const DECIMAL_SCALE_MAX: usize = 30;
/// Number of digits above which an integer fits no integer type.
const INTEGER_DIGITS: usize = 20;
/// Number of digits up to which an integer is a BIGINT.
const BIGINT_DIGITS: usize = 18;

/// The narrowest type that holds every value seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// No value so far except empty ones.
    Unknown,
    /// Least and greatest value.
    Integer(i128, i128),
    /// Digits before and behind the point.
    Decimal(usize, usize),
    Double,
    Date,
    /// Digits of the fraction of a second.
    DateTime(usize),
    /// Digits of the fraction of a second.
    Time(usize),
    /// `true` and `false`.
    Boolean,
    /// A number with commas between groups of three digits: digits before and behind the point, and whether some value
    /// shows that the comma is not a decimal point.
    Grouped(usize, usize, bool),
    /// A date in another form than SQL's.
    Slashed(SlashedDate),
    /// Greatest number of characters of a value.
    Text(usize),
}

impl ColumnType {
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Unknown)
    }

    /// The type in SQL.
    pub(super) fn sql(self) -> String {
        match self {
            Self::Integer(min, max) if min >= i32::MIN.into() && max <= i32::MAX.into() => {
                "INT".to_owned()
            }
            Self::Integer(_, max) if max > i64::MAX.into() => "BIGINT UNSIGNED".to_owned(),
            Self::Integer(..) => "BIGINT".to_owned(),
            Self::Decimal(digits, scale) => {
                format!("DECIMAL({}, {scale})", (digits + scale).max(1))
            }
            Self::Double => "DOUBLE".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::DateTime(0) => "DATETIME".to_owned(),
            Self::DateTime(digits) => format!("DATETIME({digits})"),
            Self::Time(0) => "TIME".to_owned(),
            Self::Time(digits) => format!("TIME({digits})"),
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::Grouped(digits, 0, _) if digits <= BIGINT_DIGITS => "BIGINT".to_owned(),
            Self::Grouped(digits, scale, _) => format!("DECIMAL({}, {scale})", digits + scale),
            Self::Slashed(date) => date.sql().to_owned(),
            Self::Text(characters) if characters > VARCHAR_CHARACTERS => "LONGTEXT".to_owned(),
            Self::Text(_) | Self::Unknown => format!("VARCHAR({VARCHAR_CHARACTERS})"),
        }
    }

    /// The narrowest type of one value that is not empty.
    pub(super) fn of(text: &[u8]) -> Self {
        number(text)
            .or_else(|| temporal(text))
            .or_else(|| grouped(text))
            .or_else(|| SlashedDate::of(text).map(Self::Slashed))
            .or_else(|| boolean(text))
            .unwrap_or_else(|| Self::text(text))
    }

    /// The type of a text. Its characters are counted only if it may be a long one; otherwise its exact length does not
    /// matter.
    pub(super) fn text(text: &[u8]) -> Self {
        let is_short = text.len() <= VARCHAR_CHARACTERS;
        // Each character has one byte that is not a continuation byte.
        let begins = |byte: &&u8| (**byte & 0xc0) != 0x80;
        Self::Text(if is_short {
            text.len()
        } else {
            text.iter().filter(begins).count()
        })
    }

    /// The expression that converts the text of a file to the stored value.
    pub(super) fn conversion(self, text: String) -> String {
        match self {
            Self::Boolean => format!("{text} = 'true'"),
            Self::Grouped(..) => format!("REPLACE({text}, ',', '')"),
            Self::Slashed(date) => format!("STR_TO_DATE({text}, '{}')", date.format()),
            _ => text,
        }
    }

    /// Whether the values of a file are stored as they are written.
    pub(super) fn is_stored_as_written(self) -> bool {
        !matches!(self, Self::Boolean | Self::Grouped(..) | Self::Slashed(_))
    }

    /// The type once all values are known, and what is ambiguous about them: they are then text.
    pub(super) fn settled(self, delimiter: u8) -> (Self, Option<String>) {
        match self {
            // Where commas delimit fields, they are not decimal points.
            Self::Grouped(_, _, false) if delimiter != b',' => {
                let unclear = "a comma may be a decimal point, or stand between groups of digits";
                (Self::Text(0), Some(unclear.to_owned()))
            }
            Self::Slashed(date) => match date.unclear() {
                Some(unclear) => (Self::Text(0), Some(unclear)),
                None => (self, None),
            },
            _ => (self, None),
        }
    }

    /// The narrowest type that holds the values of both. The length of text is kept only roughly: a column that becomes
    /// text had values shorter than any limit that matters.
    pub(super) fn join(self, other: Self) -> Self {
        use ColumnType::{
            Boolean, Date, DateTime, Decimal, Double, Grouped, Integer, Slashed, Text, Time,
            Unknown,
        };
        match (self, other) {
            (Unknown, any) | (any, Unknown) => any,
            (Text(a), Text(b)) => Text(a.max(b)),
            (Text(characters), _) | (_, Text(characters)) => Text(characters),
            (Integer(a, b), Integer(c, d)) => integers(a.min(c), b.max(d)),
            (Decimal(a, b), Decimal(c, d)) => decimals(a.max(c), b.max(d)),
            (Decimal(digits, scale), Integer(min, max))
            | (Integer(min, max), Decimal(digits, scale)) => {
                decimals(digits.max(digits_of(min, max)), scale)
            }
            (Double, Double | Integer(..) | Decimal(..)) | (Integer(..) | Decimal(..), Double) => {
                Double
            }
            (Date, Date) => Date,
            (Date, DateTime(fraction)) | (DateTime(fraction), Date) => DateTime(fraction),
            (DateTime(a), DateTime(b)) => DateTime(a.max(b)),
            (Time(a), Time(b)) => Time(a.max(b)),
            (Boolean, Boolean) => Boolean,
            (Grouped(a, b, c), Grouped(d, e, f)) => groups(a.max(d), b.max(e), c || f),
            (Grouped(digits, scale, sure), Integer(min, max))
            | (Integer(min, max), Grouped(digits, scale, sure)) => {
                groups(digits.max(digits_of(min, max)), scale, sure)
            }
            (Grouped(a, b, _), Decimal(c, d)) | (Decimal(c, d), Grouped(a, b, _)) => {
                groups(a.max(c), b.max(d), true)
            }
            (Slashed(a), Slashed(b)) => a.join(b).map_or(Text(0), Slashed),
            _ => Text(0),
        }
    }
}

fn digits_of(min: i128, max: i128) -> usize {
    let digits = |n: i128| {
        n.unsigned_abs()
            .checked_ilog10()
            .map_or(1, |log| log as usize + 1)
    };
    digits(min).max(digits(max))
}

fn integers(min: i128, max: i128) -> ColumnType {
    let signed = min >= i64::MIN.into() && max <= i64::MAX.into();
    if signed || (min >= 0 && max <= u64::MAX.into()) {
        ColumnType::Integer(min, max)
    } else {
        decimals(digits_of(min, max), 0)
    }
}

fn decimals(digits: usize, scale: usize) -> ColumnType {
    if scale > DECIMAL_SCALE_MAX || digits + scale > DECIMAL_DIGITS_MAX {
        ColumnType::Double
    } else {
        ColumnType::Decimal(digits, scale)
    }
}

fn groups(digits: usize, scale: usize, sure: bool) -> ColumnType {
    match decimals(digits, scale) {
        ColumnType::Decimal(..) => ColumnType::Grouped(digits, scale, sure),
        _ => ColumnType::Text(0),
    }
}

/// Number of digits at the beginning of a text.
fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn all_digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// `1,234,567.89`
fn grouped(text: &[u8]) -> Option<ColumnType> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let point = unsigned.iter().position(|&byte| byte == b'.');
    let (integer, fraction) = match point {
        Some(at) => (&unsigned[..at], &unsigned[at + 1..]),
        None => (unsigned, &[][..]),
    };
    let mut parts = integer.split(|&byte| byte == b',');
    let first = parts.next()?;
    let begins = (1..=3).contains(&first.len()) && all_digits(first) && !first.starts_with(b"0");
    let mut count = 0;
    for part in parts {
        if part.len() != 3 || !all_digits(part) {
            return None;
        }
        count += 1;
    }
    if !begins || count == 0 || !all_digits(fraction) {
        return None;
    }
    let sure = count > 1 || point.is_some();
    Some(groups(first.len() + 3 * count, fraction.len(), sure))
}

fn boolean(text: &[u8]) -> Option<ColumnType> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    (is(b"true") || is(b"false")).then_some(ColumnType::Boolean)
}

/// The type of a number. `007` and `+1` are text: as numbers they would lose their form.
fn number(text: &[u8]) -> Option<ColumnType> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let digits = leading_digits(unsigned);
    let (integer, rest) = unsigned.split_at(digits);
    if digits == 0 || (digits > 1 && integer.starts_with(b"0")) {
        return None;
    }
    let (scale, has_point) = match rest.strip_prefix(b".") {
        Some(fraction) => (leading_digits(fraction), true),
        None => (0, false),
    };
    let rest = rest
        .get(usize::from(has_point) + scale..)
        .unwrap_or_default();
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent
            .strip_prefix(b"-")
            .or(exponent.strip_prefix(b"+"))
            .unwrap_or(exponent);
        let is_finite = || {
            let text = std::str::from_utf8(text).ok();
            text.and_then(|text| text.parse::<f64>().ok())
                .is_some_and(f64::is_finite)
        };
        let is_sound = !exponent.is_empty() && all_digits(exponent) && is_finite();
        return is_sound.then_some(ColumnType::Double);
    }
    if !rest.is_empty() {
        return None;
    }
    if has_point {
        return Some(decimals(digits, scale));
    }
    if digits > INTEGER_DIGITS {
        return Some(decimals(digits, 0));
    }
    let value = integer
        .iter()
        .fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
    let value = if unsigned.len() < text.len() {
        -value
    } else {
        value
    };
    Some(integers(value, value))
}

/// `2024-02-29`, `2024-02-29 23:59:59.5` (or with `T`), `23:59:59`.
fn temporal(bytes: &[u8]) -> Option<ColumnType> {
    if let Some(fraction) = time(bytes) {
        return Some(ColumnType::Time(fraction));
    }
    let (day, rest) = bytes.split_at_checked(10)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = day else {
        return None;
    };
    let year = pair(*y1, *y2)? * 100 + pair(*y3, *y4)?;
    let month = pair(*m1, *m2)?;
    let day_of_month = pair(*d1, *d2)?;
    if !is_date(year, month, day_of_month) {
        return None;
    }
    match rest {
        [] => Some(ColumnType::Date),
        [b' ' | b'T', clock @ ..] => time(clock).map(ColumnType::DateTime),
        _ => None,
    }
}

/// The fractional digits of `hh:mm:ss[.ffffff]`, if it is that.
fn time(bytes: &[u8]) -> Option<usize> {
    let (clock, fraction) = bytes.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock else {
        return None;
    };
    if pair(*h1, *h2)? > 23 || pair(*m1, *m2)? > 59 || pair(*s1, *s2)? > 59 {
        return None;
    }
    match fraction {
        [] => Some(0),
        [b'.', digits @ ..] => {
            let sound = (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
            sound.then_some(digits.len())
        }
        _ => None,
    }
}

fn pair(tens: u8, ones: u8) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(values: &[&str]) -> ColumnType {
        let types = values.iter().map(|value| ColumnType::of(value.as_bytes()));
        types.fold(ColumnType::Unknown, ColumnType::join)
    }

    #[test]
    fn numbers_with_groups_of_digits() {
        let sql = |values: &[&str], delimiter| {
            let (ty, unclear) = joined(values).settled(delimiter);
            (ty.sql(), unclear.is_some())
        };
        let decimal = |text: &str| (text.to_owned(), false);
        assert_eq!(
            sql(&["1,234.50", "12.5", "7"], b';'),
            decimal("DECIMAL(6, 2)")
        );
        assert_eq!(sql(&["-1,234,567", "12"], b';'), decimal("BIGINT"));
        assert_eq!(sql(&["1,234", "12"], b','), decimal("BIGINT"));
        assert_eq!(
            sql(&["1,234", "12"], b';'),
            ("VARCHAR(255)".to_owned(), true)
        );
        for text in [
            "1,23", "12,3456", "1,234,56", "0,123", ",123", "1,,234", "1,234,",
        ] {
            assert!(matches!(joined(&[text]), ColumnType::Text(_)), "{text}");
        }
    }

    #[test]
    fn true_and_false() {
        assert_eq!(joined(&["true", "False", "TRUE"]).sql(), "BOOLEAN");
        assert_eq!(joined(&["true", "1"]).sql(), "VARCHAR(255)");
    }

    #[test]
    fn dates_that_sql_writes_otherwise() {
        let settled = |values: &[&str]| {
            let (ty, unclear) = joined(values).settled(b',');
            (ty.conversion("d".to_owned()), unclear.is_some())
        };
        let date = |format: &str| (format!("STR_TO_DATE(d, '{format}')"), false);
        assert_eq!(settled(&["03/04/2024", "31/12/2023"]), date("%d/%m/%Y"));
        assert_eq!(settled(&["3/4/2024", "12/31/2023"]), date("%m/%d/%Y"));
        assert_eq!(settled(&["2024/3/4"]), date("%Y/%m/%d"));
        assert_eq!(settled(&["3.4.2024"]), date("%d.%m.%Y"));
        assert_eq!(settled(&["31/12/2023 9:05"]), date("%d/%m/%Y %H:%i"));
        assert_eq!(
            settled(&["03/04/2024", "05/06/2024"]),
            ("d".to_owned(), true)
        );
        for values in [
            &["31/12/2023", "12/31/2023"][..],
            &["29/02/2023"],
            &["31/12/2023", "31-12-2023"],
            &["31/12/2023", "31/12/2023 10:00"],
            &["1.2.3.4"],
            &["a/b/c"],
            &["\n -x/y"],
            &["99999999999/1/2024"],
            &["31/12/23"],
        ] {
            assert_eq!(settled(values), ("d".to_owned(), false), "{values:?}");
        }
    }
}

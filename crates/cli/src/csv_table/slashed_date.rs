//! Dates with the day or the month first, or with other separators than SQL's: `31/12/2023`, `12/31/2023 9:05`,
//! `2023/12/31`, `31.12.2023`.

const DAY_FIRST: u8 = 1;
const MONTH_FIRST: u8 = 2;
const YEAR_FIRST: u8 = 4;

/// The possible forms of the dates of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlashedDate {
    /// The orders of the parts that all values allow.
    orders: u8,
    separator: u8,
    clock: Clock,
}

/// The time behind a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    None,
    Minutes,
    Seconds,
}

impl SlashedDate {
    /// The possible readings of a text as a date.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let (day, clock) = match text.iter().position(|&byte| byte == b' ') {
            Some(at) => (&text[..at], clock(&text[at + 1..])?),
            None => (text, Clock::None),
        };
        let separator = *day.iter().find(|byte| !byte.is_ascii_digit())?;
        if !matches!(separator, b'/' | b'.' | b'-') {
            return None;
        }
        let mut parts = day.split(|&byte| byte == separator);
        let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
        let (a, b, c) = (number(first, 4)?, number(second, 2)?, number(third, 4)?);
        if parts.next().is_some() {
            return None;
        }
        let orders = match (first.len(), third.len()) {
            (4, 1 | 2) if is_date(a, b, c) => YEAR_FIRST,
            (1 | 2, 4) => {
                let day_first = if is_date(c, b, a) { DAY_FIRST } else { 0 };
                // Points are used in countries whose dates begin with the day.
                let may_be_month = separator != b'.' && is_date(c, a, b);
                day_first | if may_be_month { MONTH_FIRST } else { 0 }
            }
            _ => 0,
        };
        (orders != 0).then_some(Self {
            orders,
            separator,
            clock,
        })
    }

    /// The readings that the values of both allow.
    pub(super) fn join(self, other: Self) -> Option<Self> {
        let orders = self.orders & other.orders;
        let same = self.separator == other.separator && self.clock == other.clock;
        (same && orders != 0).then_some(Self { orders, ..self })
    }

    /// The type in SQL.
    pub(super) fn sql(self) -> &'static str {
        match self.clock {
            Clock::None => "DATE",
            _ => "DATETIME",
        }
    }

    /// The format for STR_TO_DATE().
    pub(super) fn format(self) -> String {
        let parts = match self.orders {
            YEAR_FIRST => ["%Y", "%m", "%d"],
            MONTH_FIRST => ["%m", "%d", "%Y"],
            _ => ["%d", "%m", "%Y"],
        };
        let clock = match self.clock {
            Clock::None => "",
            Clock::Minutes => " %H:%i",
            Clock::Seconds => " %H:%i:%s",
        };
        parts.join(char::from(self.separator).encode_utf8(&mut [0; 4])) + clock
    }

    /// The reason why the column is not one of dates.
    pub(super) fn unclear(self) -> Option<String> {
        let is_unclear = self.orders == DAY_FIRST | MONTH_FIRST;
        is_unclear.then(|| {
            let format = Self {
                orders: DAY_FIRST,
                ..self
            };
            format!(
                "its dates may begin with the day or with the month; STR_TO_DATE(…, '{}') reads them",
                format.format()
            )
        })
    }
}

/// A number of at most `most` (few) digits.
fn number(digits: &[u8], most: usize) -> Option<u32> {
    if !(1..=most).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = |value: u32, digit: &u8| value * 10 + u32::from(digit - b'0');
    Some(digits.iter().fold(0, value))
}

fn clock(text: &[u8]) -> Option<Clock> {
    let mut parts = text.split(|&byte| byte == b':');
    let hour = number(parts.next()?, 2)?;
    let minutes = parts.next().filter(|part| part.len() == 2)?;
    let minute = number(minutes, 2)?;
    let seconds = parts.next();
    let second = match seconds {
        Some(digits) if digits.len() == 2 => number(digits, 2)?,
        Some(_) => return None,
        None => 0,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(match seconds {
        Some(_) => Clock::Seconds,
        None => Clock::Minutes,
    })
}

/// Whether the day exists.
pub(super) fn is_date(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    year > 0 && (1..=days).contains(&day)
}

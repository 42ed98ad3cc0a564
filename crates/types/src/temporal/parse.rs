//! Text to temporal values: every form of literal that the manual lists under "Date and Time
//! Literals", with its tolerance: any punctuation as delimiter, years of two digits, numbers
//! without delimiters, `T`, fractions, a time zone offset at the end.

use super::{
    DateRules, DateTime, MICROS_PER_SECOND, TIME_MAX_MICROS, TemporalError, fraction_unit,
};
use crate::decimal::plain::{is_space, spaces};

/// The outcome of [`parse_datetime`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedDateTime {
    /// The value, with at most six fractional digits (the seventh was rounded in unless asked
    /// otherwise).
    pub value: DateTime,
    /// Only a date was given.
    pub is_date: bool,
    /// How many fractional digits were given, at most six.
    pub fractional_digits: u8,
    /// Seconds east of UTC, when the text ended with an offset.
    pub offset: Option<i32>,
    /// There was more text after the value.
    pub truncated: bool,
}

/// The outcome of [`parse_time`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedTime {
    /// The value, clamped to the range of TIME.
    pub micros: i64,
    /// How many fractional digits were given, at most six.
    pub fractional_digits: u8,
    /// The value was clamped.
    pub out_of_range: bool,
    /// There was more text after the value.
    pub truncated: bool,
    /// The date and time that `micros` is the time of day of.
    pub moment: Option<ParsedDateTime>,
}

fn is_blank(text: &[u8]) -> bool {
    spaces(text) == text.len()
}

/// Parses a date or date and time. `truncate` cuts digits after the sixth instead of rounding
/// (TIME_TRUNCATE_FRACTIONAL).
pub fn parse_datetime(
    text: &[u8],
    rules: DateRules,
    truncate: bool,
) -> Result<ParsedDateTime, TemporalError> {
    let text = &text[spaces(text)..];
    if let Some(parsed) = parse_usual(text, rules) {
        return parsed;
    }
    parse_general(text, rules, truncate, false)
}

/// Parses `YYYY-MM-DD` and `YYYY-MM-DD hh:mm:ss`, the forms of nearly all texts.
fn parse_usual(text: &[u8], rules: DateRules) -> Option<Result<ParsedDateTime, TemporalError>> {
    let pair = |at: usize| -> Option<u8> {
        let (high, low) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (high < 10 && low < 10).then(|| high * 10 + low)
    };
    if !matches!(text.len(), 10 | 19) || text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let mut value = DateTime::date(
        u16::from(pair(0)?) * 100 + u16::from(pair(2)?),
        pair(5)?,
        pair(8)?,
    );
    if text.len() == 19 {
        if text[10] != b' ' || text[13] != b':' || text[16] != b':' {
            return None;
        }
        value.hour = pair(11)?;
        value.minute = pair(14)?;
        value.second = pair(17)?;
    }
    Some(value.check(rules).map(|()| ParsedDateTime {
        value,
        is_date: text.len() == 10,
        fractional_digits: 0,
        offset: None,
        truncated: false,
    }))
}

const YEAR: usize = 0;
const DAY: usize = 2;
const SECOND: usize = 5;
const FRACTION: usize = 6;

fn parse_general(
    text: &[u8],
    rules: DateRules,
    truncate: bool,
    needs_space: bool,
) -> Result<ParsedDateTime, TemporalError> {
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return Err(TemporalError::Malformed);
    }
    let digits = text
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'T')
        .count();
    // Without delimiters the fields have fixed widths.
    let fixed = matches!(text.get(digits), None | Some(b'.'));
    let mut width = match digits {
        _ if !fixed => 4,
        4 | 8 | 14.. => 4,
        _ => 2,
    };
    let fixed_year_width = width;
    let mut parts = [0_u32; 7];
    let mut lengths = [0_usize; 7];
    let mut at = 0;
    let mut field_end = 0;
    let mut count = 0;
    let mut not_zero = false;
    let mut delimiter_seen = false;
    let mut space_seen = false;
    while count < parts.len() && text.get(at).is_some_and(u8::is_ascii_digit) {
        let start = at;
        let to_delimiter = !fixed && count != FRACTION;
        let mut value = 0_u32;
        while let Some(byte @ b'0'..=b'9') = text.get(at) {
            if !to_delimiter && at - start == width {
                break;
            }
            value = value * 10 + u32::from(byte - b'0');
            if value > 999_999 {
                return Err(TemporalError::Malformed);
            }
            at += 1;
        }
        parts[count] = value;
        lengths[count] = at - start;
        not_zero |= value != 0;
        width = 2;
        let part = count;
        count += 1;
        field_end = at;
        let Some(&next) = text.get(at) else { break };
        if part == DAY && next == b'T' {
            at += 1;
            field_end = at;
            continue;
        }
        if part == SECOND {
            if next == b'.' {
                at += 1;
                field_end = at;
                width = 6;
                continue;
            }
            break;
        }
        if part == FRACTION {
            break;
        }
        while let Some(&byte) = text.get(at) {
            if is_space(byte) {
                if part != DAY {
                    if is_blank(&text[at..]) {
                        at = text.len();
                        break;
                    }
                    return Err(TemporalError::Malformed);
                }
                space_seen = true;
            } else if !byte.is_ascii_punctuation() {
                break;
            } else {
                delimiter_seen = true;
            }
            at += 1;
        }
        field_end = at;
    }
    if needs_space && delimiter_seen && !space_seen {
        return Err(TemporalError::Malformed);
    }
    let mut rest = &text[field_end..];
    let year_length = if fixed {
        fixed_year_width
    } else {
        lengths[YEAR]
    };
    if year_length == 2 && not_zero {
        parts[YEAR] += if parts[YEAR] < 70 { 2000 } else { 1900 };
    }
    let fractional_digits = lengths[FRACTION].min(6) as u8;
    let microsecond = parts[FRACTION] * fraction_unit(fractional_digits) as u32;
    let in_range = |value: u32, most: u32| (value <= most).then_some(value as u8);
    let value = (|| {
        Some(DateTime {
            year: u16::try_from(parts[YEAR])
                .ok()
                .filter(|year| *year <= 9999)?,
            month: in_range(parts[1], 12)?,
            day: in_range(parts[DAY], 31)?,
            hour: in_range(parts[3], 23)?,
            minute: in_range(parts[4], 59)?,
            second: in_range(parts[SECOND], 59)?,
            microsecond,
        })
    })();
    let mut value = match value {
        Some(value) if count >= 3 => value,
        _ => {
            return Err(if not_zero || !is_blank(rest) {
                TemporalError::Malformed
            } else {
                TemporalError::ZeroDate
            });
        }
    };
    value.check_date(rules, not_zero)?;
    if fractional_digits == 6 && rest.first().is_some_and(u8::is_ascii_digit) {
        if rest[0] >= b'5' && !truncate {
            value = value.add_micros(1).ok_or(TemporalError::OutOfRange)?;
        }
        let more = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = &rest[more..];
    }
    let mut offset = None;
    if count > 3
        && let Some((seconds, length)) = parse_offset_suffix(rest)?
    {
        offset = Some(seconds);
        rest = &rest[length..];
    }
    Ok(ParsedDateTime {
        value,
        is_date: count <= 3,
        fractional_digits,
        offset,
        truncated: !is_blank(rest),
    })
}

/// Parses `+hh:mm` or `-hh:mm` from -13:59 to +14:00, with nothing after it.
fn parse_offset_suffix(text: &[u8]) -> Result<Option<(i32, usize)>, TemporalError> {
    let sign = match text.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Ok(None),
    };
    let [_, h1, h2, b':', m1, m2] = text else {
        return Ok(None);
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
    let (Some(h1), Some(h2), Some(m1), Some(m2)) = (digit(h1), digit(h2), digit(m1), digit(m2))
    else {
        return Ok(None);
    };
    let (hours, minutes) = (h1 * 10 + h2, m1 * 10 + m2);
    let total = (hours * 60 + minutes) * 60;
    let most = if sign > 0 { 14 * 3600 } else { 14 * 3600 - 60 };
    // The manual rules out "-00:00".
    if minutes > 59 || total > most || (sign < 0 && total == 0) {
        return Err(TemporalError::OutOfRange);
    }
    Ok(Some((sign * total, 6)))
}

/// Parses a TIME: `[D ]hh:mm[:ss]`, `hhmmss`, `D hh`, each with a fraction, or the time of day of a
/// full date and time. `truncate` cuts digits after the sixth instead of rounding.
pub fn parse_time(text: &[u8], truncate: bool) -> Result<ParsedTime, TemporalError> {
    let text = &text[spaces(text)..];
    let negative = text.first() == Some(&b'-');
    let text = &text[usize::from(negative)..];
    if text.is_empty() {
        return Err(TemporalError::Malformed);
    }
    if text.len() >= 12
        && let Ok(parsed) = parse_general(text, DateRules::default(), truncate, true)
        && !parsed.is_date
    {
        return Ok(ParsedTime {
            micros: parsed.value.time_of_day(),
            fractional_digits: parsed.fractional_digits,
            out_of_range: false,
            truncated: parsed.truncated,
            moment: Some(parsed),
        });
    }
    parse_mere_time(text, negative, truncate)
}

/// Reads digits; `None` when they exceed the range of any part.
fn digits(text: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    while let Some(byte @ b'0'..=b'9') = text.get(*at) {
        value = value * 10 + u64::from(byte - b'0');
        if value > u64::from(u32::MAX) {
            return None;
        }
        *at += 1;
    }
    Some(value)
}

fn parse_mere_time(
    text: &[u8],
    negative: bool,
    truncate: bool,
) -> Result<ParsedTime, TemporalError> {
    let malformed = TemporalError::Malformed;
    let mut at = 0;
    let first = digits(text, &mut at).ok_or(malformed)?;
    if at == 0 && text.first() != Some(&b'.') && text.first() != Some(&b':') {
        return Err(malformed);
    }
    let after_first = at;
    at += spaces(&text[at..]);
    let digit_at = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    // Days, hours, minutes, seconds.
    let mut parts = [0_u64; 4];
    let mut state;
    if at > after_first && digit_at(at) {
        parts[0] = first;
        state = 1;
    } else if text.get(at) == Some(&b':') && digit_at(at + 1) {
        parts[1] = first;
        state = 2;
        at += 1;
    } else {
        at = after_first;
        parts = [0, first / 10_000, first / 100 % 100, first % 100];
        state = 4;
    }
    while state < 4 {
        parts[state] = digits(text, &mut at).ok_or(malformed)?;
        state += 1;
        if state < 4 && text.get(at) == Some(&b':') && digit_at(at + 1) {
            at += 1;
        } else {
            break;
        }
    }
    let mut micros = 0_i64;
    let mut fractional_digits = 0_u8;
    if text.get(at) == Some(&b'.') {
        at += 1;
        let mut round_up = None;
        while let Some(byte @ b'0'..=b'9') = text.get(at) {
            if fractional_digits < 6 {
                micros = micros * 10 + i64::from(byte - b'0');
                fractional_digits += 1;
            } else {
                round_up.get_or_insert(*byte >= b'5');
            }
            at += 1;
        }
        micros *= fraction_unit(fractional_digits);
        micros += i64::from(round_up == Some(true) && !truncate);
    }
    if matches!(text.get(at), Some(b'e' | b'E'))
        && (digit_at(at + 1) || (matches!(text.get(at + 1), Some(b'+' | b'-')) && digit_at(at + 2)))
    {
        return Err(malformed);
    }
    let [days, hours, minutes, seconds] = parts;
    if minutes > 59 || seconds > 59 {
        return Err(TemporalError::OutOfRange);
    }
    let total_seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    let total = i64::try_from(total_seconds)
        .ok()
        .and_then(|seconds| seconds.checked_mul(MICROS_PER_SECOND))
        .and_then(|whole| whole.checked_add(micros))
        .unwrap_or(i64::MAX);
    let clamped = total.min(TIME_MAX_MICROS);
    Ok(ParsedTime {
        micros: if negative { -clamped } else { clamped },
        fractional_digits,
        out_of_range: clamped != total,
        truncated: !is_blank(&text[at..]),
        moment: None,
    })
}

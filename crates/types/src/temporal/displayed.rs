//! The reader of displayed dates and times: texts that functions returned for a value that they computed.
//!
//! ADDDATE() and ADDTIME() of a text return a text, and are still used as a date, a moment or a time (the type of the
//! text has `temporal_text`). The form of the text says which of the three it is, where a text of a user could be read
//! as each of them: `2002-03-05` has no time of day, and `10:11:12` no date.

use super::{DateRules, DateTime, parse_datetime, parse_time};

/// Bytes of a date, and of a moment without a fraction.
const DATE: usize = "2002-03-05".len();
const MOMENT: usize = "2002-03-05 10:11:12".len();

/// A value that was displayed as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displayed {
    /// `2002-03-05`
    Date(DateTime),
    /// `2002-03-05 10:11:12`, with or without a fraction.
    DateTime(DateTime),
    /// Microseconds of `10:11:12` or `-100:11:12`, with or without a fraction.
    Time(i64),
}

impl Displayed {
    /// The value of a text; `None` if it has none of the three forms.
    pub fn read(text: &[u8]) -> Option<Self> {
        // As displayed, no value is wrong by the rules of a mode.
        let rules = DateRules {
            allow_invalid_dates: true,
            ..DateRules::default()
        };
        if text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-') {
            if text.len() != DATE && text.len() < MOMENT {
                return None;
            }
            let parsed = parse_datetime(text, rules, false).ok();
            let parsed = parsed.filter(|parsed| !parsed.truncated && parsed.offset.is_none())?;
            return Some(match parsed.is_date {
                true => Self::Date(parsed.value),
                false => Self::DateTime(parsed.value),
            });
        }
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let hours = digits.iter().take_while(|byte| byte.is_ascii_digit());
        if !matches!(hours.count(), 2 | 3) {
            return None;
        }
        let parsed = parse_time(text, false).ok()?;
        let is_plain = !parsed.truncated && !parsed.out_of_range && parsed.moment.is_none();
        (is_plain && text.contains(&b':')).then_some(Self::Time(parsed.micros))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{append_date, append_datetime, append_time};
    use super::*;

    #[test]
    fn what_is_displayed_is_read_back() {
        let day = DateTime::date(2002, 3, 5);
        let moment = day.with_time_of_day(36_672_500_000);
        let mut text = Vec::new();
        append_date(&mut text, day.pack());
        assert_eq!(Displayed::read(&text), Some(Displayed::Date(day)));
        for (value, digits) in [(day, 0), (moment, 6)] {
            text.clear();
            append_datetime(&mut text, value.pack(), digits);
            assert_eq!(Displayed::read(&text), Some(Displayed::DateTime(value)));
        }
        for (micros, digits) in [
            (0, 0),
            (-1, 6),
            (36_672_000_000, 0),
            (-3_020_399_000_000, 0),
        ] {
            text.clear();
            append_time(&mut text, micros, digits);
            assert_eq!(Displayed::read(&text), Some(Displayed::Time(micros)));
        }
    }

    #[test]
    fn other_forms_are_none() {
        let texts = [
            "",
            "-",
            "2002",
            "20020305",
            "2002-03-5",
            "02-03-05",
            "10",
            "1:2:3",
            "10:11:12x",
            "1 10:11:12",
            "2002-03-05 10:11:12+01:00",
            "2002-03-05x",
            "2002-03-05 10:11",
            "2002-13-05",
            "x",
        ];
        for text in texts {
            assert_eq!(Displayed::read(text.as_bytes()), None, "{text}");
        }
    }
}

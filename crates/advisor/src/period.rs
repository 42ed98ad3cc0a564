//! Start and end of the analyzed period: a time, or an age.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

const UNITS: [(&str, i64); 5] = [
    ("s", 1),
    ("m", 60),
    ("h", 3600),
    ("d", 86_400),
    ("w", 604_800),
];

/// The time of a text, in microseconds since 1970: `2h`, `7d`, `2026-11-26`, `2026-11-26 10:00:00` or with a zone as
/// `2026-11-26T10:00:00Z`. Times without a zone are UTC, as in the report. `now` is the present time.
pub fn moment(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    for (unit, seconds) in UNITS {
        if let Some(number) = text
            .strip_suffix(unit)
            .and_then(|number| number.parse::<u32>().ok())
        {
            return now.checked_sub(i64::from(number) * seconds * 1_000_000);
        }
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_microsecond());
    }
    let day = text
        .parse::<DateTime>()
        .or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)))
        .ok()?;
    Some(
        day.to_zoned(TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_microsecond(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spans() {
        let day = 1_795_651_200_000_000;
        assert_eq!(moment("2026-11-26", 0), Some(day));
        assert_eq!(moment("2026-11-26 01:00:00", 0), Some(day + 3_600_000_000));
        assert_eq!(moment("2026-11-26T01:00:00+01:00", 0), Some(day));
        assert_eq!(moment("2h", day), Some(day - 7_200_000_000));
        assert_eq!(moment("1w", day), Some(day - 604_800_000_000));
        for text in ["", "yesterday", "h", "-2h", "2y"] {
            assert_eq!(moment(text, day), None, "{text}");
        }
    }
}

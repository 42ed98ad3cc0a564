//! Names of time zones for `time_zone`.

use mayfly_types::Result;
use mayfly_types::error::codes;

/// The normalized setting of a zone: `SYSTEM`, an offset `+hh:mm`, or a name; 1298 for anything else.
pub(crate) fn checked(text: &str) -> Result<String> {
    if text.eq_ignore_ascii_case("SYSTEM") {
        return Ok("SYSTEM".to_owned());
    }
    if let Some(offset) = offset(text) {
        return Ok(offset);
    }
    let known = mayfly_types::temporal::zone::TimeZone::parse(text).is_ok();
    if known && !text.starts_with(['+', '-']) {
        return Ok(text.to_owned());
    }
    Err(codes::ER_UNKNOWN_TIME_ZONE.with(&[&text]))
}

/// An offset between -13:59 and +14:00, with two digits for the hours.
fn offset(text: &str) -> Option<String> {
    let sign = text
        .chars()
        .next()
        .filter(|sign| matches!(sign, '+' | '-'))?;
    let (hours, minutes) = text[1..].split_once(':')?;
    let digits = |part: &str, most: usize| {
        let right = !part.is_empty() && part.len() <= most;
        (right && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<i32>().ok())?
    };
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    if minutes > 59 {
        return None;
    }
    let total = hours * 60 + minutes;
    let in_range = if sign == '-' {
        total <= 13 * 60 + 59
    } else {
        total <= 14 * 60
    };
    in_range.then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::offset;

    #[test]
    fn offsets_have_mysqls_range() {
        let check = |text: &str| offset(text);
        assert_eq!(check("+1:00").as_deref(), Some("+01:00"));
        assert_eq!(check("+14:00").as_deref(), Some("+14:00"));
        assert_eq!(check("-13:59").as_deref(), Some("-13:59"));
        for wrong in ["+14:01", "-14:00", "1:00", "+1", "+001:00", "+1:60", "+:00"] {
            assert_eq!(check(wrong), None, "{wrong}");
        }
    }
}

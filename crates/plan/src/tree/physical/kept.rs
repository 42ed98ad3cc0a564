//! Results that are kept for other statements: the hint RESULT_CACHE.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::catalog::TableId;

/// A result that other statements with the same text may read, and what it depends on besides the session's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptResult {
    /// Text of the query, and of the common table expressions that it may name.
    pub text: Arc<str>,
    /// How long it may be read.
    pub freshness: Freshness,
    /// The base tables that it reads, each once.
    pub tables: Vec<TableId>,
    /// The user variables that it reads.
    pub variables: Vec<String>,
}

/// How long a kept result may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// For a time after it was computed.
    For(Duration),
    /// Until a table that it reads is changed.
    UntilChanged,
}

impl Freshness {
    /// Parses the argument of the hint: `60s`, `5m`, `2h`, `1d`, also with the unit as a word, or `UNTIL CHANGED`.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_uppercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words == ["UNTIL", "CHANGED"] {
            return Some(Self::UntilChanged);
        }
        let text = words.join(" ");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = text.split_at(digits);
        let seconds = match unit.trim_start() {
            "S" | "SECOND" => 1,
            "M" | "MINUTE" => 60,
            "H" | "HOUR" => 3600,
            "D" | "DAY" => 86_400,
            _ => return None,
        };
        let count: u64 = count.parse().ok()?;
        let seconds = count.checked_mul(seconds).filter(|seconds| *seconds > 0)?;
        Some(Self::For(Duration::from_secs(seconds)))
    }
}

impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(time) => write!(f, "RESULT_CACHE({}s)", time.as_secs()),
            Self::UntilChanged => f.write_str("RESULT_CACHE(UNTIL CHANGED)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_times_or_until_changed() {
        for (text, shown) in [
            ("60s", Some("RESULT_CACHE(60s)")),
            ("2 h", Some("RESULT_CACHE(7200s)")),
            ("3 minute", Some("RESULT_CACHE(180s)")),
            ("1d", Some("RESULT_CACHE(86400s)")),
            ("until  changed", Some("RESULT_CACHE(UNTIL CHANGED)")),
            ("0s", None),
            ("60", None),
            ("s", None),
            ("-1s", None),
            ("99999999999999999999d", None),
            ("until", None),
            ("", None),
        ] {
            let parsed = Freshness::parse(text).map(|freshness| freshness.to_string());
            assert_eq!(parsed.as_deref(), shown, "{text}");
        }
    }
}

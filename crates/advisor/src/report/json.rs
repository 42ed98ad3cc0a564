//! The report as JSON: the members are those of [`Report`], described in `docs/advise.md`.

use super::Report;

/// The report as JSON, with line breaks.
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

//! Where blocks of a CSV file may be cut: behind the last row's end that is in no quoted field.
//!
//! A quote opens a field only at its start, so that nothing but quotes and row ends is looked for.

use memchr::{memchr, memchr2};

use super::dialect::Dialect;
use crate::text::input::Cut;

/// The search for the end of the last whole row.
#[derive(Debug)]
pub(super) struct RowCut<'d> {
    dialect: &'d Dialect,
    /// Bytes that were looked at.
    seen: usize,
    /// Whether a quoted field is open behind them.
    is_quoted: bool,
    /// The end of the last whole row.
    end: usize,
}

impl<'d> RowCut<'d> {
    pub(super) fn new(dialect: &'d Dialect) -> Self {
        Self {
            dialect,
            seen: 0,
            is_quoted: false,
            end: 0,
        }
    }

    fn look(&mut self, text: &[u8], is_at_end: bool) {
        let dialect = self.dialect;
        let Some(quote) = dialect.quote else {
            self.end = memchr::memrchr(dialect.row_end, text).map_or(self.end, |at| at + 1);
            self.seen = text.len();
            return;
        };
        while self.seen < text.len() {
            let rest = &text[self.seen..];
            if self.is_quoted {
                let found = match dialect.escape {
                    Some(escape) if escape != quote => memchr2(quote, escape, rest),
                    _ => memchr(quote, rest),
                };
                let Some(found) = found.map(|found| self.seen + found) else {
                    self.seen = text.len();
                    return;
                };
                let is_escape = text[found] != quote;
                let next = text.get(found + 1).copied();
                // Whether the quote is doubled is to be seen with the next byte.
                if next.is_none() && !is_at_end {
                    self.seen = found;
                    return;
                }
                if is_escape || next == Some(quote) && dialect.escape == Some(quote) {
                    self.seen = found + 2;
                } else {
                    self.is_quoted = false;
                    self.seen = found + 1;
                }
                continue;
            }
            let Some(found) = memchr2(quote, dialect.row_end, rest) else {
                self.seen = text.len();
                return;
            };
            let found = self.seen + found;
            self.seen = found + 1;
            if text[found] == dialect.row_end {
                self.end = self.seen;
            } else {
                let before = found.checked_sub(1).and_then(|at| text.get(at));
                self.is_quoted = before
                    .is_none_or(|byte| *byte == dialect.delimiter || *byte == dialect.row_end);
            }
        }
    }
}

impl Cut for RowCut<'_> {
    fn run(&mut self, text: &[u8], is_at_end: bool) -> Option<usize> {
        self.look(text, is_at_end);
        (self.end > 0).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str, steps: usize) -> usize {
        let dialect = Dialect::default();
        let mut cut = RowCut::new(&dialect);
        for end in (0..text.len()).step_by(steps).chain([text.len()]) {
            if end > 0 {
                cut.run(&text.as_bytes()[..end], end == text.len());
            }
        }
        cut.end
    }

    #[test]
    fn rows_end_outside_of_quotes_however_the_text_comes() {
        for (text, end) in [
            ("a,b\nc", 4),
            ("a,\"b\nc\"\nd", 8),
            ("a,\"b\"\"\nc\"\nd", 10),
            ("\"a\"\"\"\nb", 6),
            ("5\" pipe,\n\"x\n", 9),
            ("a\"b\nc\n", 6),
        ] {
            for steps in 1..=text.len() {
                assert_eq!(end_of(text, steps), end, "{text:?} by {steps}");
            }
        }
    }
}

//! Where blocks of a CSV file may be cut: behind the last row's end that is in no quoted field.
//!
//! A quote opens a field only at its start, so that nothing but quotes and row ends is looked for.

use memchr::{memchr2, memrchr};

use super::dialect::Dialect;
use super::separators::each_place;
use crate::text::input::Cut;

/// The search for the end of the last whole row.
#[derive(Debug)]
pub(super) struct RowCut<'d> {
    dialect: &'d Dialect,
    /// Bytes that were looked at.
    seen: usize,
    /// Where the text outside of quotes begins that was seen last; `None` within a quoted field.
    outside: Option<usize>,
    /// The earlier texts outside of quotes.
    before: Vec<(usize, usize)>,
    /// A byte that is taken as it is.
    escaped: Option<usize>,
}

impl<'d> RowCut<'d> {
    pub(super) fn new(dialect: &'d Dialect) -> Self {
        Self {
            dialect,
            seen: 0,
            outside: Some(0),
            before: Vec::new(),
            escaped: None,
        }
    }

    fn look(&mut self, text: &[u8], is_at_end: bool) {
        let dialect = self.dialect;
        let seen = std::mem::replace(&mut self.seen, text.len());
        let Some(quote) = dialect.quote else {
            return;
        };
        let escape = dialect.escape.unwrap_or(quote);
        let new = text.get(seen..).unwrap_or_default();
        // Most texts have none of both, and are found to have none many bytes at a time.
        if memchr2(quote, escape, new).is_none() {
            return;
        }
        each_place(new, [quote, escape, escape], |place| {
            let at = seen + place as usize;
            match self.outside {
                _ if self.escaped == Some(at) => {}
                Some(start) => {
                    let before = at.checked_sub(1).and_then(|at| text.get(at));
                    let opens = before
                        .is_none_or(|byte| *byte == dialect.delimiter || *byte == dialect.row_end);
                    if text[at] == quote && opens {
                        self.before.push((start, at));
                        self.outside = None;
                    }
                }
                None => {
                    let next = text.get(at + 1).copied();
                    let is_escape = text[at] != quote;
                    if is_escape || next == Some(quote) && dialect.escape == Some(quote) {
                        self.escaped = Some(at + 1);
                    } else if next.is_some() || is_at_end {
                        self.outside = Some(at + 1);
                    } else {
                        // Whether the quote is doubled is to be seen with the next byte.
                        self.seen = at;
                    }
                }
            }
            true
        });
    }

    /// The end of the last row that was seen.
    fn end(&self, text: &[u8]) -> Option<usize> {
        let last = self.outside.map(|start| (start, self.seen));
        let mut outside = last.iter().chain(self.before.iter().rev());
        outside.find_map(|(start, end)| {
            let text = text.get(*start..*end)?;
            memrchr(self.dialect.row_end, text).map(|at| start + at + 1)
        })
    }
}

impl Cut for RowCut<'_> {
    fn run(&mut self, text: &[u8], is_at_end: bool) -> Option<usize> {
        self.look(text, is_at_end);
        self.end(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str, steps: usize) -> usize {
        let dialect = Dialect::default();
        let (mut cut, mut found) = (RowCut::new(&dialect), None);
        for end in (0..text.len()).step_by(steps).chain([text.len()]) {
            if end > 0 {
                found = cut.run(&text.as_bytes()[..end], end == text.len());
            }
        }
        found.unwrap_or_default()
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

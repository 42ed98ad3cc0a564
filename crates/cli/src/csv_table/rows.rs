//! Cuts a CSV file into rows and fields (RFC 4180): a field may be in double quotes, which are doubled inside.
//! Extensions of the standard are accepted where they are unambiguous: each of `
//! `, `\r
//! ` and, in a file whose first row ends so, `\r` ends a row; blanks may follow a closing quote. Ambiguous input is an
//! error, so that no row is lost inside of a quoted field.
//!
//! The bytes may be a part of a file that ends anywhere. A row that they cut is [`RowStep::Incomplete`], and the caller
//! returns to its beginning with more bytes.

use std::ops::Range;

use memchr::{memchr, memchr3};

const QUOTE: u8 = b'"';

/// The dialect of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The delimiter of fields.
    pub(super) delimiter: u8,
    /// Whether `\r` alone ends a row.
    pub(super) lone_returns: bool,
    /// Whether empty lines are skipped: in a file with one column they are rows.
    pub(super) skips_blank_lines: bool,
}

/// A field of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'r> {
    /// The content, without quotes around it.
    pub(super) text: &'r [u8],
    /// Whether it is in quotes.
    pub(super) is_quoted: bool,
}

impl Field<'_> {
    /// Whether it is empty or the word NULL, as in LOAD DATA.
    pub(super) fn is_null(&self) -> bool {
        !self.is_quoted && (self.text.is_empty() || self.text == b"NULL")
    }
}

/// The end of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowEnd {
    /// `\n`
    Newline,
    /// `\r\n`
    ReturnNewline,
    /// `\r`
    Return,
    /// The end of the file.
    File,
}

/// Result of reading a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowStep {
    /// A row.
    Row {
        /// Number of its fields.
        fields: usize,
        /// Its end.
        end: RowEnd,
    },
    /// The bytes end before a row begins.
    End,
    /// The bytes end before the row does.
    Incomplete,
    /// The row cannot be read.
    Wrong {
        /// The column, from 1.
        column: usize,
        /// The offset of the error.
        at: usize,
        /// The error.
        complaint: &'static str,
    },
}

/// The end of a field.
enum Separator {
    Delimiter,
    Row(RowEnd),
}

/// A field that was read.
struct Found {
    text: Range<usize>,
    /// Whether it contains doubled quotes.
    is_doubled: bool,
    is_quoted: bool,
    separator: Separator,
}

/// Reason why a field was not read.
enum Unread {
    Incomplete,
    Wrong(usize, &'static str),
}

/// Reader of rows from bytes.
#[derive(Debug)]
pub(super) struct Rows<'b> {
    dialect: Dialect,
    bytes: &'b [u8],
    at: usize,
    row_begin: usize,
    /// Whether the bytes end where the file does.
    is_last: bool,
    /// Whether something was skipped: a blank line, or a blank behind a quote.
    is_irregular: bool,
    undoubled: Vec<u8>,
}

impl<'b> Rows<'b> {
    /// The rows of bytes that begin with one. `is_last`: the file ends with them.
    pub(super) fn new(dialect: Dialect, bytes: &'b [u8], is_last: bool) -> Self {
        Self {
            dialect,
            bytes,
            at: 0,
            row_begin: 0,
            is_last,
            is_irregular: false,
            undoubled: Vec::new(),
        }
    }

    /// Offset of the current row: the number of bytes before it.
    pub(super) fn row_begin(&self) -> usize {
        self.row_begin
    }

    /// Offset of the next row.
    pub(super) fn row_end(&self) -> usize {
        self.at
    }

    /// Whether something was skipped: a blank line, or a blank behind a quote.
    pub(super) fn is_irregular(&self) -> bool {
        self.is_irregular
    }

    /// Reads a row, and passes its fields with their indexes, from 0; also those of a row that turns out to be
    /// incomplete or wrong.
    pub(super) fn next_row(&mut self, mut take: impl FnMut(usize, Field<'_>)) -> RowStep {
        if let Err(Unread::Incomplete) = self.skip_blank_lines() {
            return RowStep::Incomplete;
        }
        if self.at >= self.bytes.len() {
            return RowStep::End;
        }
        let mut column = 0;
        loop {
            let is_quoted = self.bytes.get(self.at) == Some(&QUOTE);
            let found = if is_quoted {
                self.quoted_field()
            } else {
                self.plain_field()
            };
            let found = match found {
                Ok(found) => found,
                Err(Unread::Incomplete) => return RowStep::Incomplete,
                Err(Unread::Wrong(at, complaint)) => {
                    let column = column + 1;
                    return RowStep::Wrong {
                        column,
                        at,
                        complaint,
                    };
                }
            };
            let text = self.bytes.get(found.text).unwrap_or_default();
            let text = if found.is_doubled {
                undouble(text, &mut self.undoubled);
                &self.undoubled[..]
            } else {
                text
            };
            let is_quoted = found.is_quoted;
            take(column, Field { text, is_quoted });
            column += 1;
            if let Separator::Row(end) = found.separator {
                let fields = column;
                return RowStep::Row { fields, end };
            }
        }
    }

    fn skip_blank_lines(&mut self) -> Result<(), Unread> {
        self.row_begin = self.at;
        while self.dialect.skips_blank_lines
            && let Some((_, length)) = self.row_end_at(self.at)?
        {
            self.at += length;
            self.row_begin = self.at;
            self.is_irregular = true;
        }
        Ok(())
    }

    /// The end of a row at an offset, and its length.
    fn row_end_at(&self, at: usize) -> Result<Option<(RowEnd, usize)>, Unread> {
        Ok(match self.bytes.get(at) {
            Some(b'\n') => Some((RowEnd::Newline, 1)),
            Some(b'\r') => match self.bytes.get(at + 1) {
                Some(b'\n') => Some((RowEnd::ReturnNewline, 2)),
                None if !self.is_last => return Err(Unread::Incomplete),
                None => Some((RowEnd::Return, 1)),
                Some(_) => self.dialect.lone_returns.then_some((RowEnd::Return, 1)),
            },
            _ => None,
        })
    }

    /// The separator behind a field at an offset, if there is one, and the offset behind it.
    fn separator_at(&self, at: usize) -> Result<Option<(Separator, usize)>, Unread> {
        match self.bytes.get(at) {
            None if !self.is_last => Err(Unread::Incomplete),
            None => Ok(Some((Separator::Row(RowEnd::File), at))),
            Some(byte) if *byte == self.dialect.delimiter => {
                Ok(Some((Separator::Delimiter, at + 1)))
            }
            Some(_) => {
                let end = self.row_end_at(at)?;
                Ok(end.map(|(end, length)| (Separator::Row(end), at + length)))
            }
        }
    }

    fn plain_field(&mut self) -> Result<Found, Unread> {
        let begin = self.at;
        let mut from = begin;
        loop {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let found = memchr3(self.dialect.delimiter, b'\n', b'\r', rest);
            let at = found.map_or(self.bytes.len(), |found| from + found);
            if let Some((separator, behind)) = self.separator_at(at)? {
                self.at = behind;
                return Ok(Found {
                    text: begin..at,
                    is_doubled: false,
                    is_quoted: false,
                    separator,
                });
            }
            from = at + 1;
        }
    }

    fn quoted_field(&mut self) -> Result<Found, Unread> {
        let begin = self.at + 1;
        let (mut from, mut is_doubled) = (begin, false);
        let end = loop {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(found) = memchr(QUOTE, rest) else {
                let unclosed = Unread::Wrong(self.at, "the quote is never closed");
                return Err(if self.is_last {
                    unclosed
                } else {
                    Unread::Incomplete
                });
            };
            match self.bytes.get(from + found + 1) {
                Some(&QUOTE) => {
                    is_doubled = true;
                    from += found + 2;
                }
                None if !self.is_last => return Err(Unread::Incomplete),
                _ => break from + found,
            }
        };
        let behind_quote = self.bytes.get(end + 1..).unwrap_or_default();
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t') && *byte != self.dialect.delimiter;
        let blanks = behind_quote
            .iter()
            .take_while(|byte| is_blank(byte))
            .count();
        self.is_irregular |= blanks > 0;
        let at = end + 1 + blanks;
        let Some((separator, behind)) = self.separator_at(at)? else {
            return Err(Unread::Wrong(at, "text stands behind the closing quote"));
        };
        self.at = behind;
        Ok(Found {
            text: begin..end,
            is_doubled,
            is_quoted: true,
            separator,
        })
    }
}

/// Reduces each doubled quote of a text to one.
fn undouble(mut text: &[u8], undoubled: &mut Vec<u8>) {
    undoubled.clear();
    while let Some(at) = memchr(QUOTE, text) {
        undoubled.extend_from_slice(&text[..=at]);
        text = text.get(at + 2..).unwrap_or_default();
    }
    undoubled.extend_from_slice(text);
}

/// Writes a field so that it is read back as equal, by LOAD DATA too.
pub(super) fn write_field(field: Field<'_>, row: &mut Vec<u8>) {
    if field.is_null() {
        row.extend_from_slice(b"NULL");
    } else if field.is_quoted {
        row.push(QUOTE);
        for &byte in field.text {
            if byte == QUOTE {
                row.push(QUOTE);
            }
            row.push(byte);
        }
        row.push(QUOTE);
    } else {
        row.extend_from_slice(field.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Dialect = Dialect {
        delimiter: b',',
        lone_returns: false,
        skips_blank_lines: true,
    };

    /// The rows of a text, as `a|b`, a quoted field as `'a'`, and the reason why reading ended.
    fn rows(text: &str, dialect: Dialect, is_last: bool) -> (Vec<String>, RowStep) {
        let mut rows = Rows::new(dialect, text.as_bytes(), is_last);
        let mut found = Vec::new();
        loop {
            let mut fields = Vec::new();
            let step = rows.next_row(|_, field| {
                let text = String::from_utf8_lossy(field.text);
                fields.push(if field.is_quoted {
                    format!("'{text}'")
                } else {
                    text.into_owned()
                });
            });
            match step {
                RowStep::Row { .. } => found.push(fields.join("|")),
                _ => return (found, step),
            }
        }
    }

    #[test]
    fn fields_and_rows() {
        let all = |text: &str| {
            let (rows, step) = rows(text, COMMA, true);
            assert_eq!(step, RowStep::End, "{text:?}");
            rows
        };
        assert_eq!(all("a,b\n1,\n"), ["a|b", "1|"]);
        assert_eq!(all("a,b\r\n1,2\n3,"), ["a|b", "1|2", "3|"]);
        assert_eq!(all("a,b\n\n\r\n1,2\n\n"), ["a|b", "1|2"]);
        assert_eq!(
            all("\"a\nb\" ,\"c\"\"d\"\t\n1,5\" x"),
            ["'a\nb'|'c\"d'", "1|5\" x"]
        );
        assert_eq!(all("a\rb,\"\"\n"), ["a\rb|''"]);
        let single = Dialect {
            skips_blank_lines: false,
            ..COMMA
        };
        assert_eq!(rows("a\n\n1\n", single, true).0, ["a", "", "1"]);
        let returns = Dialect {
            lone_returns: true,
            ..COMMA
        };
        assert_eq!(
            rows("a,b\r1,2\r\n3,4\n", returns, true).0,
            ["a|b", "1|2", "3|4"]
        );
    }

    #[test]
    fn what_is_wrong_is_found_where_it_is() {
        let wrong = |text: &str| match rows(text, COMMA, true) {
            (before, RowStep::Wrong { column, at, .. }) => (before.len(), column, at),
            (_, step) => panic!("{step:?}"),
        };
        assert_eq!(wrong("a,b\n1,\"x\" y\n"), (1, 2, 10));
        assert_eq!(wrong("a,b\n1,\"x\n2,y\n"), (1, 2, 6));
        assert_eq!(wrong("a\n\"x\"\ry\n"), (1, 1, 5));
    }

    #[test]
    fn rows_that_the_bytes_cut() {
        for text in ["a,b", "a,\"b", "a,\"b\"", "a,\"b\" ", "a,b\r", "\r"] {
            let (before, step) = rows(&format!("1,2\n{text}"), COMMA, false);
            assert_eq!((before.len(), step), (1, RowStep::Incomplete), "{text:?}");
        }
    }

    #[test]
    fn fields_are_written_as_they_are_read() {
        let text = "a,\"b,\"\"\",,\"\",NULL,\"NULL\"\n";
        let mut row = Vec::new();
        Rows::new(COMMA, text.as_bytes(), true).next_row(|column, field| {
            if column > 0 {
                row.push(b',');
            }
            write_field(field, &mut row);
        });
        assert_eq!(row, b"a,\"b,\"\"\",NULL,\"\",NULL,\"NULL\"");
    }
}

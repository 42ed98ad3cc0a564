//! The fields of the rows of a block.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::dialect::Dialect;

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field<'t> {
    /// Without quotes.
    Plain(&'t [u8]),
    /// Between quotes, without them.
    Quoted(Cow<'t, [u8]>),
}

impl Field<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Quoted(bytes) => bytes,
        }
    }
}

/// A row that is no CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A quote is not closed.
    Unclosed,
    /// Text follows a quote that closes a field.
    BehindQuote,
}

impl Malformed {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Unclosed => "a quote is not closed",
            Self::BehindQuote => "text follows the quote that closes a field",
        }
    }
}

/// The fields of a block, one after another.
#[derive(Debug)]
pub(crate) struct Fields<'t> {
    text: &'t [u8],
    dialect: &'t Dialect,
    at: usize,
}

/// What follows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another one of its row.
    Field,
    /// The end of its row.
    Row,
}

impl<'t> Fields<'t> {
    pub(crate) fn new(text: &'t [u8], dialect: &'t Dialect, at: usize) -> Self {
        Self { text, dialect, at }
    }

    /// Where the next row begins; `None` behind the last one. Comments are passed over, and empty lines where rows have
    /// several fields.
    pub(crate) fn row_start(&mut self, passes_empty: bool) -> Option<usize> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = *rest.first()?;
            let is_comment = self.dialect.comment == Some(first);
            let is_empty = first == self.dialect.row_end || rest.starts_with(b"\r\n");
            if !(is_comment || is_empty && passes_empty) {
                return Some(self.at);
            }
            let end = memchr(self.dialect.row_end, rest);
            self.at += end.map_or(rest.len(), |end| end + 1);
        }
    }

    /// Where the next field begins.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The next field of the row.
    pub(crate) fn field(&mut self) -> Result<(Field<'t>, Next), Malformed> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match self.dialect.quote {
            Some(quote) if rest.first() == Some(&quote) => self.quoted(quote),
            _ => Ok(self.plain(rest)),
        }
    }

    fn plain(&mut self, rest: &'t [u8]) -> (Field<'t>, Next) {
        let (delimiter, row_end) = (self.dialect.delimiter, self.dialect.row_end);
        match memchr2(delimiter, row_end, rest) {
            Some(end) => {
                self.at += end + 1;
                if rest[end] == delimiter {
                    return (Field::Plain(&rest[..end]), Next::Field);
                }
                (
                    Field::Plain(without_return(&rest[..end], row_end)),
                    Next::Row,
                )
            }
            None => {
                self.at = self.text.len();
                (Field::Plain(without_return(rest, row_end)), Next::Row)
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<(Field<'t>, Next), Malformed> {
        let start = self.at + 1;
        let (mut from, mut value) = (start, Cow::Borrowed(&self.text[start..start]));
        let mut at = start;
        let end = loop {
            let rest = &self.text[at..];
            let found = match self.dialect.escape {
                Some(escape) if escape != quote => memchr2(quote, escape, rest),
                _ => memchr(quote, rest),
            };
            let Some(found) = found.map(|found| at + found) else {
                self.at = self.text.len();
                return Err(Malformed::Unclosed);
            };
            let next = self.text.get(found + 1);
            let is_escape = self.text[found] != quote;
            let is_doubled = next == Some(&quote) && self.dialect.escape == Some(quote);
            if !is_escape && !is_doubled {
                break found;
            }
            if next.is_none() {
                self.at = self.text.len();
                return Err(Malformed::Unclosed);
            }
            value.to_mut().extend_from_slice(&self.text[from..found]);
            from = found + 1;
            at = found + 2;
        };
        match &mut value {
            Cow::Borrowed(_) => value = Cow::Borrowed(&self.text[start..end]),
            Cow::Owned(bytes) => bytes.extend_from_slice(&self.text[from..end]),
        }
        let behind = &self.text[end + 1..];
        let (length, next) = match behind {
            [] => (0, Next::Row),
            [first, ..] if *first == self.dialect.delimiter => (1, Next::Field),
            [first, ..] if *first == self.dialect.row_end => (1, Next::Row),
            [b'\r', second, ..] if *second == self.dialect.row_end => (2, Next::Row),
            [b'\r'] => (1, Next::Row),
            _ => {
                self.at = end + 1;
                return Err(Malformed::BehindQuote);
            }
        };
        self.at = end + 1 + length;
        Ok((Field::Quoted(value), next))
    }

    /// Passes over the rest of a malformed row: up to the line's end behind the malformed field.
    pub(crate) fn pass(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = memchr(self.dialect.row_end, rest);
        self.at += end.map_or(rest.len(), |end| end + 1);
    }
}

/// A row's last field without the carriage return of its end.
fn without_return(field: &[u8], row_end: u8) -> &[u8] {
    match field {
        [field @ .., b'\r'] if row_end == b'\n' => field,
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of all rows; quoted ones between brackets.
    fn rows(text: &str, dialect: &Dialect) -> Vec<Result<Vec<String>, Malformed>> {
        let mut fields = Fields::new(text.as_bytes(), dialect, 0);
        let mut rows = Vec::new();
        while fields.row_start(false).is_some() {
            let mut row = Vec::new();
            rows.push(loop {
                match fields.field() {
                    Ok((field, next)) => {
                        let text = String::from_utf8_lossy(field.bytes()).into_owned();
                        row.push(match field {
                            Field::Plain(_) => text,
                            Field::Quoted(_) => format!("[{text}]"),
                        });
                        if next == Next::Row {
                            break Ok(row);
                        }
                    }
                    Err(malformed) => {
                        fields.pass();
                        break Err(malformed);
                    }
                }
            });
        }
        rows
    }

    #[test]
    fn fields_of_rfc_4180_and_its_variants() {
        let row = |fields: &[&str]| Ok(fields.iter().map(|it| (*it).to_owned()).collect());
        let standard = Dialect::default();
        for (text, expected) in [
            ("a,b\r\nc,d", vec![row(&["a", "b"]), row(&["c", "d"])]),
            ("a,\n", vec![row(&["a", ""])]),
            ("\"a\"\"b\",\"\"\n", vec![row(&["[a\"b]", "[]"])]),
            ("\"a\nb\",c\n", vec![row(&["[a\nb]", "c"])]),
            ("5\" pipe,x\n", vec![row(&["5\" pipe", "x"])]),
            ("\n\n", vec![row(&[""]), row(&[""])]),
            (
                "\"a\"b,c\nd,e\n",
                vec![Err(Malformed::BehindQuote), row(&["d", "e"])],
            ),
            (
                "\"a\nb\"c,d\ne,f\n",
                vec![Err(Malformed::BehindQuote), row(&["e", "f"])],
            ),
            ("\"a", vec![Err(Malformed::Unclosed)]),
            ("\"a\"\r", vec![row(&["[a]"])]),
            ("a\0b,c", vec![row(&["a\0b", "c"])]),
        ] {
            assert_eq!(rows(text, &standard), expected, "{text:?}");
        }
        let escaped = Dialect {
            escape: Some(b'\\'),
            ..Dialect::default()
        };
        assert_eq!(rows("\"a\\\"b\",c", &escaped), [row(&["[a\"b]", "c"])]);
    }
}

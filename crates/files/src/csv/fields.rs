//! The fields of the rows of a block.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::dialect::Dialect;
use super::separators::Separators;

/// A field: a part of the text of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'t> {
    /// The text, without quotes around it.
    text: &'t [u8],
    quotes: Quotes,
}

/// How a field is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Around,
    /// Quoted, with a byte that makes the next one a part of the text.
    Escaped(u8),
}

impl<'t> Field<'t> {
    /// A field without quotes.
    pub(crate) const fn plain(text: &'t [u8]) -> Self {
        Self {
            text,
            quotes: Quotes::None,
        }
    }

    /// A well-formed field with its quotes, if it has any. Quotes in quoted fields are doubled.
    #[inline]
    pub(super) fn of(text: &'t [u8], dialect: &Dialect) -> Self {
        match (dialect.quote, text) {
            (Some(quote), [first, text @ .., _]) if *first == quote => Self {
                text,
                quotes: match memchr(quote, text) {
                    Some(_) => Quotes::Escaped(quote),
                    None => Quotes::Around,
                },
            },
            _ => Self::plain(text),
        }
    }

    /// The field as the block has it, without quotes around it.
    #[inline]
    pub(crate) fn raw(&self) -> &'t [u8] {
        self.text
    }

    #[inline]
    pub(crate) fn is_quoted(&self) -> bool {
        self.quotes != Quotes::None
    }

    /// Whether its value differs from its text in the block.
    #[inline]
    pub(crate) fn is_escaped(&self) -> bool {
        matches!(self.quotes, Quotes::Escaped(_))
    }

    /// The value of the field.
    #[inline]
    pub(crate) fn bytes(&self) -> Cow<'t, [u8]> {
        match self.quotes {
            Quotes::None | Quotes::Around => Cow::Borrowed(self.text),
            Quotes::Escaped(escape) => Cow::Owned(without_escapes(self.text, escape)),
        }
    }
}

#[cold]
fn without_escapes(mut text: &[u8], escape: u8) -> Vec<u8> {
    let mut value = Vec::with_capacity(text.len());
    while let Some(found) = memchr(escape, text) {
        value.extend_from_slice(&text[..found]);
        value.extend(text.get(found + 1));
        text = text.get(found + 2..).unwrap_or_default();
    }
    value.extend_from_slice(text);
    value
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
pub(crate) struct Fields<'s, 't> {
    text: &'t [u8],
    dialect: &'s Dialect,
    /// Where the next field begins.
    at: usize,
    /// The separators behind `at`.
    separators: &'s [u32],
}

/// What follows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another one of its row.
    Field,
    /// The end of its row.
    Row,
}

impl<'s, 't> Fields<'s, 't> {
    /// The fields from a place on.
    pub(crate) fn new(
        text: &'t [u8],
        dialect: &'s Dialect,
        separators: &'s Separators,
        at: usize,
    ) -> Self {
        Self {
            text,
            dialect,
            at,
            separators: separators.from(at),
        }
    }

    /// Where the next row begins; `None` behind the last one. Comments are passed over, and empty lines where rows have
    /// several fields.
    #[inline]
    pub(crate) fn row_start(&mut self, passes_empty: bool) -> Option<usize> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = *rest.first()?;
            let is_comment = self.dialect.comment == Some(first);
            let is_empty =
                first == self.dialect.row_end || first == b'\r' && rest.starts_with(b"\r\n");
            if !(is_comment || is_empty && passes_empty) {
                return Some(self.at);
            }
            self.pass();
        }
    }

    /// Where the next field begins.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The next field of the row.
    #[inline]
    pub(crate) fn field(&mut self) -> Result<(Field<'t>, Next), Malformed> {
        match self.dialect.quote {
            Some(quote) if self.text.get(self.at) == Some(&quote) => self.quoted(quote),
            _ => Ok(self.plain()),
        }
    }

    #[inline]
    fn plain(&mut self) -> (Field<'t>, Next) {
        let (start, row_end) = (self.at, self.dialect.row_end);
        let Some((end, separators)) = self.separators.split_first() else {
            self.at = self.text.len();
            let text = self.text.get(start..).unwrap_or_default();
            return (Field::plain(without_return(text, row_end)), Next::Row);
        };
        let end = *end as usize;
        self.separators = separators;
        self.at = (end + 1).min(self.text.len());
        let text = &self.text[start..end];
        if self.text.get(end).is_none_or(|byte| *byte == row_end) {
            (Field::plain(without_return(text, row_end)), Next::Row)
        } else {
            (Field::plain(text), Next::Field)
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<(Field<'t>, Next), Malformed> {
        let start = self.at + 1;
        let (mut at, mut quotes) = (start, Quotes::Around);
        let end = loop {
            let rest = &self.text[at..];
            let found = match self.dialect.escape {
                Some(escape) if escape != quote => memchr2(quote, escape, rest),
                _ => memchr(quote, rest),
            };
            let Some(found) = found.map(|found| at + found) else {
                self.go_to(self.text.len());
                return Err(Malformed::Unclosed);
            };
            let next = self.text.get(found + 1);
            let is_escape = self.text[found] != quote;
            let is_doubled = next == Some(&quote) && self.dialect.escape == Some(quote);
            if !is_escape && !is_doubled {
                break found;
            }
            if next.is_none() {
                self.go_to(self.text.len());
                return Err(Malformed::Unclosed);
            }
            quotes = Quotes::Escaped(self.text[found]);
            at = found + 2;
        };
        let behind = &self.text[end + 1..];
        let blanks = behind
            .iter()
            .take_while(|byte| self.is_blank(**byte))
            .count();
        let behind = &behind[blanks..];
        let (length, next) = match behind {
            [] => (0, Next::Row),
            [first, ..] if *first == self.dialect.delimiter => (1, Next::Field),
            [first, ..] if *first == self.dialect.row_end => (1, Next::Row),
            [b'\r', second, ..] if *second == self.dialect.row_end => (2, Next::Row),
            [b'\r'] => (1, Next::Row),
            _ => {
                self.go_to(end + 1);
                return Err(Malformed::BehindQuote);
            }
        };
        self.go_to(end + 1 + blanks + length);
        let text = &self.text[start..end];
        Ok((Field { text, quotes }, next))
    }

    /// Whether a byte is a blank that may stand behind a closing quote.
    fn is_blank(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && byte != self.dialect.delimiter
    }

    /// Passes over the rest of a malformed row: up to the line's end behind the malformed field.
    pub(crate) fn pass(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = memchr(self.dialect.row_end, rest);
        self.go_to(self.at + end.map_or(rest.len(), |end| end + 1));
    }

    /// Passes over fields that end at the next separators, at most `count`.
    pub(super) fn pass_separators(&mut self, count: usize) -> &'s [u32] {
        let (passed, rest) = self.separators.split_at(count.min(self.separators.len()));
        self.separators = rest;
        if let Some(last) = passed.last() {
            self.at = (*last as usize + 1).min(self.text.len());
        }
        passed
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        let behind = |separators: &[u32]| separators.iter().position(|it| *it as usize >= at);
        let passed = behind(self.separators).unwrap_or(self.separators.len());
        self.separators = &self.separators[passed..];
    }
}

/// A row's last field without the carriage return of its end.
pub(super) fn without_return(field: &[u8], row_end: u8) -> &[u8] {
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
        let separators = Separators::of(text.as_bytes(), dialect, 0);
        let mut fields = Fields::new(text.as_bytes(), dialect, &separators, 0);
        let mut rows = Vec::new();
        while fields.row_start(false).is_some() {
            let mut row = Vec::new();
            rows.push(loop {
                match fields.field() {
                    Ok((field, next)) => {
                        let text = String::from_utf8_lossy(&field.bytes()).into_owned();
                        row.push(match field.is_quoted() {
                            false => text,
                            true => format!("[{text}]"),
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
            ("\"a\" ,\"b\" \t\n", vec![row(&["[a]", "[b]"])]),
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

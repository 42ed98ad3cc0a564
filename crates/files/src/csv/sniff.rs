//! The dialect of a CSV file, found in a sample.
//!
//! The delimiter is the candidate that gives the most rows of equal numbers of fields, and of those with as many rows the
//! one that gives most fields.

use super::dialect::Dialect;
use super::fields::{Fields, Next};
use super::separators::Separators;

/// Bytes of a sample.
pub(crate) const SAMPLE: usize = 256 << 10;

/// Rows of a sample that are looked at.
const ROWS: usize = 1000;

/// Delimiters, the most usual first.
const DELIMITERS: &[u8] = b",;\t|";

impl Dialect {
    /// The dialect of a sample; `given` is what the call says of it, with its delimiter where that is known.
    pub(crate) fn of(sample: &[u8], given: &Self, delimiter: Option<u8>) -> Self {
        let returns_only = !sample.contains(&b'\n') && sample.contains(&b'\r');
        let row_end = if returns_only { b'\r' } else { b'\n' };
        let with = |delimiter| Self {
            delimiter,
            row_end,
            ..given.clone()
        };
        if let Some(delimiter) = delimiter {
            return with(delimiter);
        }
        let scored = DELIMITERS.iter().map(|delimiter| {
            let dialect = with(*delimiter);
            (dialect.score(sample), dialect)
        });
        // The first one of equal ones.
        let best = scored.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map_or_else(|| with(b','), |(_, dialect)| dialect)
    }

    /// (rows with the most frequent number of fields, that number) of a sample; zeros if rows have one field.
    fn score(&self, sample: &[u8]) -> (usize, usize) {
        let separators = Separators::of(sample, self, 0);
        let mut fields = Fields::new(sample, self, &separators, 0);
        let mut widths = Vec::new();
        while widths.len() < ROWS && fields.row_start(true).is_some() {
            let mut width = 0;
            loop {
                match fields.field() {
                    Ok((_, next)) => {
                        width += 1;
                        if next == Next::Row {
                            widths.push(width);
                            break;
                        }
                    }
                    Err(_) => {
                        fields.pass();
                        break;
                    }
                }
            }
        }
        // The last row may be cut off.
        if widths.len() > 1 {
            widths.pop();
        }
        widths.sort_unstable();
        let groups = widths.chunk_by(|a, b| a == b);
        let best = groups.map(|group| (group.len(), group[0])).max();
        best.filter(|(_, width)| *width > 1).unwrap_or((0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found() {
        for (sample, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n2,5;3,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b,c|d\n1|2,2|3\n4|5|6\n", b'|'),
            ("a\n1\n", b','),
            ("\"x;y\",b\n\"p;q\",r\n", b','),
            ("", b','),
        ] {
            let found = Dialect::of(sample.as_bytes(), &Dialect::default(), None);
            assert_eq!(
                char::from(found.delimiter),
                char::from(delimiter),
                "{sample:?}"
            );
        }
        let old = Dialect::of(b"a,b\r1,2\r", &Dialect::default(), None);
        assert_eq!(old.row_end, b'\r');
    }
}

//! Cuts a text into statements as it is read, as the `mysql` client does: at `;`, `\g`, `\G` or the
//! DELIMITER, outside of quotes and comments. No more of a script than its longest statement is in
//! memory, so that dumps may be of any size; and the program can say at which line a statement
//! that fails begins.
//!
//! A text is bytes: only the engine knows its character set, and dumps hold BLOBs as they are.

use std::io::{self, Read};
use std::ops::Range;

/// A statement of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut<'r> {
    /// The statement, without its delimiter and what stands before it.
    pub(crate) text: &'r [u8],
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
    /// It ended in `\G`.
    pub(crate) vertical: bool,
    /// Its delimiter was there.
    pub(crate) is_complete: bool,
}

/// What is read at once, at the least.
const CHUNK: usize = 1 << 18;
/// The most bytes that say what begins at a position, but for the delimiter.
const LOOK_AHEAD: usize = 3;

/// Reads the statements of a text.
#[derive(Debug)]
pub(crate) struct StatementReader<R> {
    source: R,
    /// Bytes of the source that may be needed; those before `start` are not.
    buffer: Vec<u8>,
    start: usize,
    /// Where to go on looking.
    at: usize,
    /// The line of `start`.
    line: usize,
    delimiter: Vec<u8>,
    at_end: bool,
    /// Bytes of the source before `start`.
    bytes_done: u64,
}

/// What may stand before a text in UTF-8, and is no part of it (The Unicode Standard, 23.8).
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What a piece of text is.
enum Piece {
    /// Belongs to a statement.
    Text,
    Blank,
    Comment,
    /// Ends a statement.
    Delimiter {
        vertical: bool,
    },
}

impl<R: Read> StatementReader<R> {
    /// Starts at the beginning of a text with `;` as delimiter.
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            line: 1,
            delimiter: b";".to_vec(),
            at_end: false,
            bytes_done: 0,
        }
    }

    /// How much of the text is in the statements so far.
    pub(crate) fn bytes_done(&self) -> u64 {
        self.bytes_done
    }

    /// The next statement that is not empty; `None` at the end.
    pub(crate) fn next_statement(&mut self) -> io::Result<Option<Cut<'_>>> {
        self.skip_to_statement()?;
        if self.at >= self.buffer.len() {
            return Ok(None);
        }
        while let Some((piece, length)) = self.piece()? {
            let end = self.at;
            self.at += length;
            if let Piece::Delimiter { vertical } = piece {
                return Ok(Some(self.cut(self.start..end, vertical, true)));
            }
        }
        Ok(Some(self.cut(self.start..self.at, false, false)))
    }

    /// A statement; reading goes on at `at`.
    fn cut(&mut self, text: Range<usize>, vertical: bool, is_complete: bool) -> Cut<'_> {
        let line = self.line;
        self.pass();
        Cut {
            text: self.buffer.get(text).unwrap_or_default(),
            line,
            vertical,
            is_complete,
        }
    }

    /// What is before `at` is done with.
    fn pass(&mut self) {
        let passed = self.buffer.get(self.start..self.at).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.bytes_done += passed.len() as u64;
        self.start = self.at;
    }

    /// Skips blanks, comments, delimiters and commands of the client.
    fn skip_to_statement(&mut self) -> io::Result<()> {
        if self.bytes_done == 0 {
            self.require(BYTE_ORDER_MARK.len())?;
            if self.rest().starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            }
        }
        loop {
            self.pass();
            if self.take_delimiter_command()? {
                continue;
            }
            match self.piece()? {
                None | Some((Piece::Text, _)) => return Ok(()),
                Some((_, length)) => self.at += length,
            }
        }
    }

    /// `DELIMITER //` is a command of the client and ends with its line.
    fn take_delimiter_command(&mut self) -> io::Result<bool> {
        const COMMAND: &[u8] = b"delimiter";
        self.require(COMMAND.len() + 1)?;
        let is_command = self.rest().get(..COMMAND.len()).is_some_and(|word| {
            word.eq_ignore_ascii_case(COMMAND)
                && self.rest()[COMMAND.len()..]
                    .first()
                    .is_some_and(|byte| byte.is_ascii_whitespace())
        });
        if !is_command {
            return Ok(false);
        }
        let length = self.length_to(|rest| rest.iter().position(|&byte| byte == b'\n'))?;
        let line = &self.rest()[COMMAND.len()..length];
        let mut words = line.split(u8::is_ascii_whitespace);
        let Some(delimiter) = words.find(|word| !word.is_empty()) else {
            return Ok(false);
        };
        self.delimiter = delimiter.to_vec();
        self.at += length;
        Ok(true)
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Reads until so many bytes follow, or to the end.
    fn require(&mut self, count: usize) -> io::Result<()> {
        while !self.at_end && self.buffer.len() < self.at + count {
            self.read_more()?;
        }
        Ok(())
    }

    /// Reads about as much again as is buffered, so that scanning the buffer again costs no more than
    /// reading it did.
    fn read_more(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.at -= self.start;
        self.start = 0;
        let kept = self.buffer.len();
        self.buffer.resize(kept + kept.max(CHUNK), 0);
        // A single call, because what comes through a pipe may wait for what it says to be done.
        let read = loop {
            match self.source.read(&mut self.buffer[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer
            .truncate(kept + read.as_ref().map_or(0, |read| *read));
        self.at_end = read? == 0;
        Ok(())
    }

    /// How far it is to what `find` finds in the rest of the text, or to the end.
    fn length_to(&mut self, find: impl Fn(&[u8]) -> Option<usize>) -> io::Result<usize> {
        loop {
            if let Some(length) = find(self.rest()) {
                return Ok(length);
            }
            if self.at_end {
                return Ok(self.rest().len());
            }
            self.read_more()?;
        }
    }

    /// What begins at `at`, and how long it is; `None` at the end.
    fn piece(&mut self) -> io::Result<Option<(Piece, usize)>> {
        self.require(LOOK_AHEAD.max(self.delimiter.len()))?;
        let rest = self.rest();
        let Some(&first) = rest.first() else {
            return Ok(None);
        };
        if rest.starts_with(&self.delimiter) {
            let piece = Piece::Delimiter { vertical: false };
            return Ok(Some((piece, self.delimiter.len())));
        }
        let second = rest.get(1).copied();
        let line = |rest: &[u8]| rest.iter().position(|&byte| byte == b'\n');
        Ok(Some(match first {
            b'\\' if matches!(second, Some(b'g' | b'G')) => {
                let vertical = second == Some(b'G');
                (Piece::Delimiter { vertical }, 2)
            }
            b'\'' | b'"' | b'`' => {
                let quoted = |rest: &[u8]| quoted_length(rest, first);
                (Piece::Text, self.length_to(quoted)?)
            }
            b'#' => (Piece::Comment, self.length_to(line)?),
            // Two dashes begin a comment when a blank or the end of the text follows.
            b'-' if second == Some(b'-') && rest.get(2).is_none_or(|b| b.is_ascii_whitespace()) => {
                (Piece::Comment, self.length_to(line)?)
            }
            b'/' if second == Some(b'*') => {
                // A conditional comment is a statement, a hint may be in one.
                let piece = match rest.get(2) {
                    Some(b'!') => Piece::Text,
                    _ => Piece::Comment,
                };
                (piece, self.length_to(comment_length)?)
            }
            _ if first.is_ascii_whitespace() => (Piece::Blank, 1),
            _ => {
                let plain = rest.iter().skip(1);
                let delimiter = self.delimiter.first().copied();
                let length =
                    plain.take_while(|byte| !is_special(**byte) && Some(**byte) != delimiter);
                (Piece::Text, 1 + length.count())
            }
        }))
    }
}

/// Whether a byte may begin something else than text.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'\'' | b'"' | b'`' | b'#' | b'-' | b'/' | b';'
    ) || byte.is_ascii_whitespace()
}

/// The length of a quoted text; `None` when its end is not there.
fn quoted_length(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        let found = match quote {
            b'`' => memchr::memchr(quote, rest)?,
            _ => memchr::memchr2(quote, b'\\', rest)?,
        };
        if rest[found] == quote {
            // A doubled quote is read as two strings side by side, which ends at the same offset.
            return Some(at + found + 1);
        }
        at += found + 2;
    }
}

/// The length of a comment; `None` when its end is not there.
fn comment_length(text: &[u8]) -> Option<usize> {
    let inside = text.get(2..)?;
    memchr::memmem::find(inside, b"*/").map(|end| 2 + end + 2)
}

/// Whether a text that is being typed ends in a complete statement.
pub(crate) fn is_complete(text: &str) -> bool {
    let mut reader = StatementReader::new(text.as_bytes());
    let mut complete = true;
    // Memory can be read.
    while let Ok(Some(cut)) = reader.next_statement() {
        complete = cut.is_complete;
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_from(source: impl Read) -> Vec<(String, usize, bool)> {
        let mut reader = StatementReader::new(source);
        let mut cuts = Vec::new();
        while let Some(cut) = reader.next_statement().unwrap() {
            let text = String::from_utf8_lossy(cut.text).trim().to_owned();
            cuts.push((text, cut.line, cut.vertical));
        }
        cuts
    }

    /// Gives a byte at a time.
    struct Slow<'t>(&'t [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.0.len().min(1));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    fn cut(text: &str) -> Vec<(String, usize, bool)> {
        let cuts = cut_from(text.as_bytes());
        assert_eq!(cut_from(Slow(text.as_bytes())), cuts);
        cuts
    }

    #[test]
    fn statements_end_at_delimiters_outside_of_quotes_and_comments() {
        let text = "SELECT ';', \"a\\\";\", `;`; -- no; end\n# nor; here\nSELECT /* ; */ 2\\G\n;;\nSELECT 3";
        let expected = [
            ("SELECT ';', \"a\\\";\", `;`", 1, false),
            ("SELECT /* ; */ 2", 3, true),
            ("SELECT 3", 5, false),
        ];
        let cuts = cut(text);
        let cuts: Vec<_> = cuts.iter().map(|(t, l, v)| (t.as_str(), *l, *v)).collect();
        assert_eq!(cuts, expected);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_statement() {
        let cut_texts = |text: &str| cut(text).into_iter().map(|cut| cut.0).collect::<Vec<_>>();
        assert_eq!(
            cut_texts("\u{feff}SELECT 1; SELECT 2"),
            ["SELECT 1", "SELECT 2"]
        );
        assert_eq!(cut_texts("SELECT 1;\u{feff}x"), ["SELECT 1", "\u{feff}x"]);
    }

    #[test]
    fn doubled_quotes_stay_inside() {
        assert_eq!(cut("SELECT 'it''s; so';SELECT 2").len(), 2);
    }

    #[test]
    fn delimiter_command() {
        let cuts = cut("DELIMITER //\nSELECT 1; SELECT 2//\nDELIMITER ;\nSELECT 3;");
        assert_eq!(
            cuts,
            [
                ("SELECT 1; SELECT 2".into(), 2, false),
                ("SELECT 3".into(), 4, false)
            ]
        );
    }

    #[test]
    fn conditional_comments_are_statements_and_others_are_not() {
        assert_eq!(cut("/* a */; -- b\n /*!40101 SET NAMES utf8 */;").len(), 1);
        assert_eq!(
            cut("/*M!999999\\- sandbox */ \n-- x\n--\n-- y\nSELECT 1;"),
            [("SELECT 1".to_owned(), 5, false)]
        );
    }

    #[test]
    fn a_statement_may_be_larger_than_what_is_read_at_once() {
        let long = format!("SELECT '{}\\';', 1", "x".repeat(3 * CHUNK));
        let text = format!("{long};\nSELECT 2;");
        let cuts = cut_from(text.as_bytes());
        assert_eq!(cuts, [(long, 1, false), ("SELECT 2".to_owned(), 2, false)]);
    }

    #[test]
    fn bytes_that_are_no_text() {
        let mut reader = StatementReader::new(&b"SELECT '\xff;\x00';\nSELECT 2;"[..]);
        let first = reader.next_statement().unwrap().unwrap();
        assert_eq!(first.text, b"SELECT '\xff;\x00'");
        assert_eq!(reader.bytes_done(), 13);
        assert_eq!(reader.next_statement().unwrap().unwrap().line, 2);
        assert_eq!(reader.next_statement().unwrap(), None);
    }

    #[test]
    fn completeness_while_typing() {
        assert!(is_complete("SELECT 1;"));
        assert!(is_complete("SELECT 1\\G"));
        assert!(!is_complete("SELECT ';"));
        assert!(!is_complete("SELECT 1; SELECT"));
        assert!(is_complete("-- only a comment"));
        assert!(!is_complete("SELECT 'é\\"));
    }
}

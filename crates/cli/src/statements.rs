//! Cuts a text into statements as it is read, as the `mysql` client does: at `;`, `\g`, `\G` or the DELIMITER, outside
//! of quotes and comments; other than there, a `;` inside a compound statement does not end it, so that stored programs
//! need no DELIMITER. It also finds the client's own commands between them. At most the longest statement of a script
//! is in memory, so that dumps may have any size; and the line of a failed statement is known.
//!
//! A text is bytes: only the engine knows its character set, and dumps contain BLOBs as they are.

use std::io::{self, Read};
use std::ops::Range;

use mayfly_engine::CompoundScanner;

use crate::client_command::{self, ClientCommand};

/// Source of a text.
pub(crate) trait TextSource {
    /// Reads the next bytes, as many as there are; none at the end. An error of the kind Interrupted means that the
    /// statement that was begun is to be discarded.
    fn read(&mut self, buffer: &mut [u8], place: Place<'_>) -> io::Result<usize>;

    /// Discards typed input that was not returned yet.
    fn forget(&mut self) {}
}

/// Position in a text at which more of it is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'d> {
    /// A statement is begun.
    pub(crate) is_within: bool,
    /// The delimiter of statements.
    pub(crate) delimiter: &'d [u8],
}

impl<R: Read> TextSource for R {
    fn read(&mut self, buffer: &mut [u8], _: Place<'_>) -> io::Result<usize> {
        // A single call: the sender of a pipe may wait for the result of what it has sent.
        loop {
            match Read::read(self, buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Next unit of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unit<'r> {
    /// A statement for the engine.
    Statement(Cut<'r>),
    /// A command for the client, and its line.
    Command(ClientCommand, usize),
}

/// A statement of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut<'r> {
    /// The statement, without its delimiter and without blanks and comments before it.
    pub(crate) text: &'r [u8],
    /// Its first line, from 1.
    pub(crate) line: usize,
    /// Whether it ended in `\G`.
    pub(crate) vertical: bool,
    /// Its delimiter was there.
    pub(crate) is_complete: bool,
}

/// Least size of a read.
const CHUNK: usize = 1 << 18;

/// Reader of the statements of a text.
#[derive(Debug)]
pub(crate) struct StatementReader<R> {
    source: R,
    /// Bytes of the source that may be needed; those before `start` are not.
    buffer: Vec<u8>,
    start: usize,
    /// Offset at which scanning continues.
    at: usize,
    /// The line of `start`.
    line: usize,
    delimiter: Vec<u8>,
    at_end: bool,
    /// Whether the text ends within a quoted text or a comment.
    is_cut_off: bool,
    /// Bytes of the source before `start`.
    bytes_done: u64,
}

/// Byte order mark before a text in UTF-8, which is not part of it (The Unicode Standard, 23.8).
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Kind of a piece of text.
enum Piece {
    /// Belongs to a statement.
    Text,
    Blank,
    Comment,
    /// Ends a statement.
    Delimiter {
        vertical: bool,
    },
    /// `\c`: discards the statement.
    Cancel,
}

/// Scanner of the pieces of a statement, which may cut words in two.
#[derive(Default)]
struct Compound {
    scanner: CompoundScanner,
    /// The word that the text so far ends with.
    word: Vec<u8>,
}

impl Compound {
    /// Whether a semicolon here is inside the statement.
    fn is_open(&mut self) -> bool {
        self.end_word();
        self.scanner.is_open()
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.scanner.word(&self.word);
            self.word.clear();
        }
    }

    fn read(&mut self, piece: &Piece, text: &[u8]) {
        if self.scanner.is_plain() {
            return;
        }
        if matches!(piece, Piece::Comment) {
            return self.end_word();
        }
        if matches!(text, [b'\'' | b'"' | b'`', ..] | [b'/', b'*', ..]) {
            self.end_word();
            return self.scanner.other();
        }
        for &byte in text {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..) {
                self.word.push(byte);
                continue;
            }
            self.end_word();
            if !byte.is_ascii_whitespace() {
                self.scanner.symbol(byte);
            }
        }
    }
}

impl<R: TextSource> StatementReader<R> {
    /// A reader at the beginning of a text, with `;` as delimiter.
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            line: 1,
            delimiter: b";".to_vec(),
            at_end: false,
            is_cut_off: false,
            bytes_done: 0,
        }
    }

    /// Number of bytes of the text in the statements so far.
    pub(crate) fn bytes_done(&self) -> u64 {
        self.bytes_done
    }

    /// The next statement that is not empty, or command of the client; `None` at the end.
    pub(crate) fn next_unit(&mut self) -> io::Result<Option<Unit<'_>>> {
        loop {
            self.skip_to_statement()?;
            if self.at >= self.buffer.len() {
                return Ok(None);
            }
            let line = self.line;
            if let Some(command) = self.take_line_command()? {
                return Ok(Some(Unit::Command(command, line)));
            }
            let (end, last) = self.statement_end()?;
            if matches!(last, Some(Piece::Cancel)) {
                self.pass();
                continue;
            }
            // `exit;` is equivalent to `exit`.
            let text = self.buffer.get(self.start..end).unwrap_or_default();
            if let Some(command) =
                client_command::parse(text).filter(ClientCommand::may_be_delimited)
            {
                self.pass();
                return Ok(Some(Unit::Command(command, line)));
            }
            let vertical = matches!(last, Some(Piece::Delimiter { vertical: true }));
            let cut = self.cut(self.start..end, vertical, last.is_some());
            return Ok(Some(Unit::Statement(cut)));
        }
    }

    /// Skips to the end of the current statement; returns its end and the piece that ends it.
    fn statement_end(&mut self) -> io::Result<(usize, Option<Piece>)> {
        let mut compound = Compound::default();
        while let Some((piece, length)) = self.piece()? {
            let end = self.at;
            self.at += length;
            let text = self.buffer.get(end..self.at).unwrap_or_default();
            let ends = matches!(piece, Piece::Delimiter { .. } | Piece::Cancel);
            if ends && (text != b";" || !compound.is_open()) {
                return Ok((end, Some(piece)));
            }
            compound.read(&piece, text);
        }
        Ok((self.at, None))
    }

    /// Discards the statement that was begun, and the text read behind it.
    pub(crate) fn forget(&mut self) {
        self.buffer.clear();
        (self.start, self.at) = (0, 0);
        self.source.forget();
    }

    /// Takes a command of the client on its own line, without a delimiter.
    fn take_line_command(&mut self) -> io::Result<Option<ClientCommand>> {
        while client_command::is_cut(self.rest()) && !self.at_end {
            self.read_more()?;
        }
        if !client_command::may_begin(self.rest()) {
            return Ok(None);
        }
        let length = self.length_to(|rest| rest.iter().position(|&byte| byte == b'\n'))?;
        let line = &self.rest()[..length];
        let command = client_command::parse(line);
        let ends_statement = [&self.delimiter[..], b"\\g", b"\\G"];
        let mut ends = ends_statement.iter();
        // What else has a delimiter is read as a statement.
        if !matches!(command, Some(ClientCommand::System(_)))
            && ends.any(|end| memchr::memmem::find(line, end).is_some())
        {
            return Ok(None);
        }
        if command.is_some() {
            self.at += length;
            self.pass();
        }
        Ok(command)
    }

    /// A statement; reading continues at `at`.
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

    /// Marks everything before `at` as processed.
    fn pass(&mut self) {
        let passed = self.buffer.get(self.start..self.at).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.bytes_done += passed.len() as u64;
        self.start = self.at;
    }

    /// Skips blanks, comments, delimiters and commands of the client.
    fn skip_to_statement(&mut self) -> io::Result<()> {
        if self.bytes_done == 0 {
            while BYTE_ORDER_MARK.starts_with(self.rest()) && !self.at_end {
                self.read_more()?;
            }
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

    /// Takes `DELIMITER //`, a command of the client that ends with its line.
    fn take_delimiter_command(&mut self) -> io::Result<bool> {
        const COMMAND: &[u8] = b"delimiter";
        let is_begun = |rest: &[u8]| {
            let begin = COMMAND.get(..rest.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(rest))
        };
        while is_begun(self.rest()) && !self.at_end {
            self.read_more()?;
        }
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

    /// Reads until `count` bytes follow, or to the end.
    fn require(&mut self, count: usize) -> io::Result<()> {
        while !self.at_end && self.buffer.len() < self.at + count {
            self.read_more()?;
        }
        Ok(())
    }

    /// Reads about as much again as is buffered, so that scanning the buffer again costs no more than reading it did.
    fn read_more(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.at -= self.start;
        self.start = 0;
        let kept = self.buffer.len();
        self.buffer.resize(kept + kept.max(CHUNK), 0);
        let place = Place {
            is_within: kept > 0,
            delimiter: &self.delimiter,
        };
        let read = self.source.read(&mut self.buffer[kept..], place);
        self.buffer
            .truncate(kept + read.as_ref().map_or(0, |read| *read));
        self.at_end = read? == 0;
        Ok(())
    }

    /// Distance to the match of `find` in the rest of the text, or to the end.
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

    /// [`Self::length_to`] of a text that must have an end.
    fn length_to_end(&mut self, find: impl Fn(&[u8]) -> Option<usize>) -> io::Result<usize> {
        let length = self.length_to(&find)?;
        self.is_cut_off = find(self.rest()).is_none();
        Ok(length)
    }

    /// The piece at `at`, and its length; `None` at the end.
    fn piece(&mut self) -> io::Result<Option<(Piece, usize)>> {
        self.require(1)?;
        let Some(&first) = self.rest().first() else {
            return Ok(None);
        };
        // No more is read than necessary: typed statements run before more input is requested.
        if self.delimiter.first() == Some(&first) {
            self.require(self.delimiter.len())?;
        }
        match first {
            b'\\' => self.require(2)?,
            b'-' | b'/' => {
                self.require(2)?;
                if matches!(
                    (first, self.rest().get(1)),
                    (b'-', Some(b'-')) | (b'/', Some(b'*'))
                ) {
                    self.require(3)?;
                }
            }
            _ => {}
        }
        let rest = self.rest();
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
            b'\\' if second == Some(b'c') => (Piece::Cancel, 2),
            b'\'' | b'"' | b'`' => {
                let quoted = |rest: &[u8]| quoted_length(rest, first);
                (Piece::Text, self.length_to_end(quoted)?)
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
                (piece, self.length_to_end(comment_length)?)
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

/// Whether a byte may begin a piece other than text.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'\'' | b'"' | b'`' | b'#' | b'-' | b'/' | b';'
    ) || byte.is_ascii_whitespace()
}

/// The length of a quoted text; `None` when its end is missing.
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

/// The length of a comment; `None` when its end is missing.
fn comment_length(text: &[u8]) -> Option<usize> {
    let inside = text.get(2..)?;
    memchr::memmem::find(inside, b"*/").map(|end| 2 + end + 2)
}

/// Ending of a text that is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Behind a statement or a command.
    Complete,
    /// In a statement.
    Statement,
    /// In a quoted text or a comment of one, where blanks count.
    Quoted,
}

/// The ending of a text whose statements end in a delimiter.
pub(crate) fn ending(text: &str, delimiter: &[u8]) -> Ending {
    let mut reader = StatementReader::new(text.as_bytes());
    reader.delimiter = delimiter.to_vec();
    let mut ending = Ending::Complete;
    // Reading from memory does not fail.
    while let Ok(Some(unit)) = reader.next_unit() {
        ending = match unit {
            Unit::Statement(cut) if !cut.is_complete => Ending::Statement,
            _ => Ending::Complete,
        };
    }
    if reader.is_cut_off {
        ending = Ending::Quoted;
    }
    ending
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_from(source: impl Read) -> Vec<(String, usize, bool)> {
        let mut reader = StatementReader::new(source);
        let mut cuts = Vec::new();
        while let Some(unit) = reader.next_unit().unwrap() {
            cuts.push(match unit {
                Unit::Statement(cut) => {
                    let text = String::from_utf8_lossy(cut.text).trim().to_owned();
                    (text, cut.line, cut.vertical)
                }
                Unit::Command(command, line) => (format!("{command:?}"), line, false),
            });
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
    fn stored_programs_need_no_delimiter() {
        let program = "CREATE DEFINER=a@b PROCEDURE p() BEGIN -- x; y\n IF a THEN SELECT ';'; END IF; /* ; */ END";
        let cuts = cut(&format!("{program};\nBEGIN; SELECT 1\\G"));
        let cuts: Vec<_> = cuts.iter().map(|(t, l, v)| (t.as_str(), *l, *v)).collect();
        assert_eq!(
            cuts,
            [
                (program, 1, false),
                ("BEGIN", 3, false),
                ("SELECT 1", 3, true)
            ]
        );
        let begun = "CREATE PROCEDURE p() BEGIN SELECT 1;";
        assert_eq!(ending(begun, b";"), Ending::Statement);
        assert_eq!(ending(&format!("{begun} END;"), b";"), Ending::Complete);
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
        let Some(Unit::Statement(first)) = reader.next_unit().unwrap() else {
            panic!("a statement");
        };
        assert_eq!(first.text, b"SELECT '\xff;\x00'");
        assert_eq!(reader.bytes_done(), 13);
        let Some(Unit::Statement(second)) = reader.next_unit().unwrap() else {
            panic!("a statement");
        };
        assert_eq!(second.line, 2);
        assert_eq!(reader.next_unit().unwrap(), None);
    }

    /// Returns one line at a time, and only lines that the taken statements need.
    struct Lines<'t>(std::str::SplitInclusive<'t, char>, usize);

    impl TextSource for Lines<'_> {
        fn read(&mut self, buffer: &mut [u8], place: Place<'_>) -> io::Result<usize> {
            let line = self.0.next().unwrap_or_default();
            assert_eq!(place.is_within, line.starts_with("->"), "{line}");
            let line = line.trim_start_matches("->");
            buffer[..line.len()].copy_from_slice(line.as_bytes());
            self.1 += 1;
            Ok(line.len())
        }
    }

    #[test]
    fn no_more_is_read_than_a_statement_needs() {
        let text = "x;\nd;\nuse a\nu;\nSELECT 1 -\n->-1;\n/\n->1;-;\nexit\nSELECT '\n->;'\n->;\n;\n\ndelimiter $$\na;\n->$$\nb\\c\n/* a\n->*/\nc$$\n";
        let mut reader = StatementReader::new(Lines(text.split_inclusive('\n'), 0));
        let mut lines = Vec::new();
        while let Some(_unit) = reader.next_unit().unwrap() {
            lines.push(reader.source.1);
        }
        assert_eq!(lines, [1, 2, 3, 4, 6, 8, 8, 9, 12, 17, 21]);
    }

    #[test]
    fn commands_of_the_client_stand_between_statements() {
        let texts = |text: &str| cut(text).into_iter().map(|cut| cut.0).collect::<Vec<_>>();
        assert_eq!(
            texts("use `a b`\nSELECT 1;\n  source x y.sql \n\\. z.sql;exit;SELECT\nuse\n;quit"),
            [
                "Use(\"a b\")",
                "SELECT 1",
                "Source(\"x y.sql\")",
                "Source(\"z.sql\")",
                "Quit",
                "SELECT\nuse",
                "Quit",
            ]
        );
        // With its delimiter `use` is a statement of the engine, like any other on that line.
        assert_eq!(texts("use a; SELECT 1;"), ["use a", "SELECT 1"]);
        assert_eq!(texts("use a\\G"), ["use a"]);
        assert_eq!(texts("help 'x';\nuse;\nhelp"), ["help 'x'", "use", "Help"]);
        assert_eq!(texts("users;\nexit_code"), ["users", "exit_code"]);
        assert_eq!(texts("use a\r\nSELECT 1;"), ["Use(\"a\")", "SELECT 1"]);
    }

    #[test]
    fn how_a_text_ends_that_is_being_typed() {
        for complete in [
            "SELECT 1;",
            "SELECT 1\\G",
            "-- only a comment",
            "use a",
            "exit",
            "SELECT 1;\nsource a.sql",
            "SELECT 'a' \\c",
        ] {
            assert_eq!(ending(complete, b";"), Ending::Complete, "{complete}");
        }
        for statement in ["SELECT 1; SELECT", "SELECT 'a'", "SELECT 1 -- a 'comment"] {
            assert_eq!(ending(statement, b";"), Ending::Statement, "{statement}");
        }
        assert_eq!(ending("SELECT 1;", b"//"), Ending::Statement);
        assert_eq!(ending("SELECT 1//", b"//"), Ending::Complete);
        for quoted in [
            "SELECT ';",
            "SELECT 'é\\",
            "SELECT `a",
            "SELECT /* a;",
            "/* a",
        ] {
            assert_eq!(ending(quoted, b";"), Ending::Quoted, "{quoted}");
        }
    }
}

//! Cutting bytes into fields.
//!
//! A [`Splitter`] reads one line after the other: [`Splitter::field`] as often as fields are wanted,
//! then [`Splitter::next_line`], which skips the rest of the line. How many fields are wanted makes a
//! difference: in what is skipped, enclosing characters mean nothing, as in MySQL.
//!
//! The bytes may be a part of a file that ends anywhere. What cannot be decided without seeing more
//! is [`Step::Incomplete`], and the caller comes back to the beginning of the line with more bytes.
//!
//! A field is a range of the bytes, found by a vectorised search for the few bytes that can end it;
//! only a field with escapes or doubled quotes inside is put together in a buffer, which is reused.

use memchr::{memchr, memchr2, memchr3};

use super::Format;

/// What came of asking for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A field.
    Field(Field),
    /// The line, or the file, has no more fields.
    NoField,
    /// The bytes end before the field does.
    Incomplete,
}

/// A field, whose bytes [`Splitter::bytes_of`] gives until the next field is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    start: usize,
    end: usize,
    in_buffer: bool,
    /// Whether it was between enclosing characters.
    pub enclosed: bool,
    /// Whether `N` was escaped in it.
    escaped_n: bool,
}

/// What came of going to the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The line ended; `cut` when it had more than was read.
    Ended {
        /// Something was skipped.
        cut: bool,
    },
    /// The file ended.
    EndOfFile,
    /// The bytes end before the line does.
    Incomplete,
}

/// Up to three bytes to look for.
#[derive(Debug, Clone, Copy)]
struct Needles {
    bytes: [u8; 3],
    count: u8,
}

impl Needles {
    fn new(candidates: [Option<u8>; 3]) -> Self {
        let mut needles = Self {
            bytes: [0; 3],
            count: 0,
        };
        for byte in candidates.into_iter().flatten() {
            needles.bytes[usize::from(needles.count)] = byte;
            needles.count += 1;
        }
        needles
    }

    #[inline]
    fn find(self, bytes: &[u8]) -> Option<usize> {
        let [a, b, c] = self.bytes;
        match self.count {
            0 => None,
            1 => memchr(a, bytes),
            2 => memchr2(a, b, bytes),
            _ => memchr3(a, b, c, bytes),
        }
    }
}

/// Whether a terminator stands at an offset.
enum Match {
    Yes,
    No,
    /// The bytes end inside of it.
    Unknown,
}

/// Cuts bytes into lines and fields.
#[derive(Debug)]
pub struct Splitter<'a> {
    format: &'a Format,
    line_end: &'a [u8],
    bytes: &'a [u8],
    position: usize,
    /// Where reading must begin again if the line turns out to be incomplete.
    line_begin: usize,
    /// The bytes end where the file does.
    is_last: bool,
    at_line_start: bool,
    line_ended: bool,
    file_ended: bool,
    plain: Needles,
    enclosed: Needles,
    rest_of_line: Needles,
    buffer: Vec<u8>,
}

impl<'a> Splitter<'a> {
    /// A splitter of bytes that begin with a line. `is_last`: the file ends with them.
    pub fn new(format: &'a Format, bytes: &'a [u8], is_last: bool) -> Self {
        let line_end = format.line_end_when_reading();
        let (line, field) = (line_end.first().copied(), format.field_end.first().copied());
        Self {
            format,
            line_end,
            bytes,
            position: 0,
            line_begin: 0,
            is_last,
            at_line_start: true,
            line_ended: false,
            file_ended: false,
            plain: Needles::new([line, field.filter(|_| field != line), format.escape]),
            enclosed: Needles::new([format.enclosed, format.escape, None]),
            rest_of_line: Needles::new([line, format.escape, None]),
            buffer: Vec::new(),
        }
    }

    /// Where the line at hand begins: how many bytes belong to the lines before it.
    pub fn line_begin(&self) -> usize {
        self.line_begin
    }

    /// The bytes of the field that was read last.
    #[inline]
    pub fn bytes_of(&self, field: &Field) -> &[u8] {
        let source = if field.in_buffer {
            &self.buffer
        } else {
            self.bytes
        };
        source.get(field.start..field.end).unwrap_or(&[])
    }

    /// Whether a field is NULL: `\N`, or the word NULL where fields could be enclosed and this one
    /// is not.
    #[inline]
    pub fn is_null(&self, field: &Field) -> bool {
        let length = field.end - field.start;
        (field.escaped_n && length == 1)
            || (length == 4
                && !field.enclosed
                && self.format.enclosed.is_some()
                && self.bytes_of(field) == b"NULL")
    }

    /// The next field of the line.
    #[inline]
    pub fn field(&mut self) -> Step {
        if self.line_ended {
            return Step::NoField;
        }
        if self.at_line_start {
            self.at_line_start = false;
            if !self.format.line_start.is_empty() && !self.skip_to_line_start() {
                return self.end_of_bytes();
            }
        }
        let start = self.position;
        match self.bytes.get(start) {
            None => self.end_of_bytes(),
            Some(first) if Some(*first) == self.format.enclosed => self.enclosed_field(start),
            Some(_) => self.plain_field(start),
        }
    }

    fn end_of_bytes(&mut self) -> Step {
        if !self.is_last {
            return Step::Incomplete;
        }
        self.line_ended = true;
        self.file_ended = true;
        Step::NoField
    }

    /// Skips to behind the next line prefix, on whatever line it is.
    fn skip_to_line_start(&mut self) -> bool {
        let prefix = &self.format.line_start;
        let rest = self.bytes.get(self.position..).unwrap_or(&[]);
        match memchr::memmem::find(rest, prefix) {
            Some(at) => {
                self.position += at + prefix.len();
                true
            }
            None => {
                // What is behind may be the beginning of a prefix; what is before is no line.
                let kept = self.bytes.len().saturating_sub(prefix.len() - 1);
                self.line_begin = self.line_begin.max(kept);
                false
            }
        }
    }

    /// Whether a terminator, whose first byte is at an offset, stands there.
    #[inline]
    fn matches(&self, terminator: &[u8], at: usize) -> Match {
        if terminator.len() == 1 {
            return Match::Yes;
        }
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        if rest.starts_with(terminator) {
            Match::Yes
        } else if !self.is_last && terminator.starts_with(rest) {
            Match::Unknown
        } else {
            Match::No
        }
    }

    #[inline]
    fn plain_field(&mut self, start: usize) -> Step {
        let mut piece = start;
        let mut at = start;
        let mut in_buffer = false;
        let mut escaped_n = false;
        let (end, behind) = loop {
            let Some(found) = self.plain.find(self.bytes.get(at..).unwrap_or(&[])) else {
                if !self.is_last {
                    return Step::Incomplete;
                }
                self.line_ended = true;
                self.file_ended = true;
                break (self.bytes.len(), self.bytes.len());
            };
            at += found;
            let byte = self.bytes[at];
            if Some(byte) == self.format.escape {
                let Some(next) = self.bytes.get(at + 1).copied() else {
                    if !self.is_last {
                        return Step::Incomplete;
                    }
                    // An escape character at the very end stands for itself.
                    at += 1;
                    continue;
                };
                if self.format.escape != self.format.enclosed || next == byte {
                    self.take_escaped(&mut in_buffer, piece, at, next, &mut escaped_n);
                    at += 2;
                    piece = at;
                } else {
                    at += 1;
                }
                continue;
            }
            if self.line_end.first() == Some(&byte) {
                match self.matches(self.line_end, at) {
                    Match::Yes => {
                        self.line_ended = true;
                        break (at, at + self.line_end.len());
                    }
                    Match::Unknown => return Step::Incomplete,
                    Match::No => {}
                }
            }
            if self.format.field_end.first() == Some(&byte) {
                match self.matches(&self.format.field_end, at) {
                    Match::Yes => break (at, at + self.format.field_end.len()),
                    Match::Unknown => return Step::Incomplete,
                    Match::No => {}
                }
            }
            at += 1;
        };
        self.position = behind;
        Step::Field(self.finished(piece, end, in_buffer, false, escaped_n))
    }

    /// A field whose first byte is the enclosing character.
    fn enclosed_field(&mut self, start: usize) -> Step {
        let quote = self.format.enclosed;
        let mut piece = start + 1;
        let mut at = start + 1;
        let mut in_buffer = false;
        let mut escaped_n = false;
        let (end, behind) = loop {
            let Some(found) = self.enclosed.find(self.bytes.get(at..).unwrap_or(&[])) else {
                return self.unclosed_field(start, piece, in_buffer, escaped_n);
            };
            at += found;
            let byte = self.bytes[at];
            let next = self.bytes.get(at + 1).copied();
            if next.is_none() && !self.is_last {
                return Step::Incomplete;
            }
            let is_quote = Some(byte) == quote;
            if is_quote {
                // Twice it stands for itself; else the field ends if something ends behind it.
                let Some(next) = next else {
                    self.line_ended = true;
                    self.file_ended = true;
                    break (at, at + 1);
                };
                if next == byte {
                    self.take_literal(&mut in_buffer, piece, at, byte);
                    at += 2;
                    piece = at;
                    continue;
                }
                if self.line_end.first() == Some(&next) {
                    match self.matches(self.line_end, at + 1) {
                        Match::Yes => {
                            self.line_ended = true;
                            break (at, at + 1 + self.line_end.len());
                        }
                        Match::Unknown => return Step::Incomplete,
                        Match::No => {}
                    }
                }
                if self.format.field_end.first() == Some(&next) {
                    match self.matches(&self.format.field_end, at + 1) {
                        Match::Yes => break (at, at + 1 + self.format.field_end.len()),
                        Match::Unknown => return Step::Incomplete,
                        Match::No => {}
                    }
                }
                at += 1;
                continue;
            }
            let Some(next) = next else {
                at += 1;
                continue;
            };
            self.take_escaped(&mut in_buffer, piece, at, next, &mut escaped_n);
            at += 2;
            piece = at;
        };
        self.position = behind;
        Step::Field(self.finished(piece, end, in_buffer, true, escaped_n))
    }

    /// The file ends inside of an enclosed field: it is all that is left, from its quote on.
    fn unclosed_field(
        &mut self,
        start: usize,
        piece: usize,
        in_buffer: bool,
        escaped_n: bool,
    ) -> Step {
        if !self.is_last {
            return Step::Incomplete;
        }
        let end = self.bytes.len();
        self.line_ended = true;
        self.file_ended = true;
        self.position = end;
        if in_buffer {
            self.buffer.insert(0, self.bytes[start]);
        }
        let piece = if in_buffer { piece } else { start };
        Step::Field(self.finished(piece, end, in_buffer, false, escaped_n))
    }

    /// Puts what came before an escape, and what it stands for, in the buffer.
    #[cold]
    fn take_escaped(
        &mut self,
        in_buffer: &mut bool,
        piece: usize,
        at: usize,
        escaped: u8,
        escaped_n: &mut bool,
    ) {
        let byte = match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'0' => 0,
            b'Z' => 0x1a,
            other => other,
        };
        *escaped_n |= escaped == b'N';
        self.take_literal(in_buffer, piece, at, byte);
    }

    fn take_literal(&mut self, in_buffer: &mut bool, piece: usize, at: usize, byte: u8) {
        if !*in_buffer {
            self.buffer.clear();
            *in_buffer = true;
        }
        self.buffer
            .extend_from_slice(self.bytes.get(piece..at).unwrap_or(&[]));
        self.buffer.push(byte);
    }

    #[inline]
    fn finished(
        &mut self,
        piece: usize,
        end: usize,
        in_buffer: bool,
        enclosed: bool,
        escaped_n: bool,
    ) -> Field {
        let (start, end) = if in_buffer {
            self.buffer
                .extend_from_slice(self.bytes.get(piece..end).unwrap_or(&[]));
            (0, self.buffer.len())
        } else {
            (piece, end)
        };
        Field {
            start,
            end,
            in_buffer,
            enclosed,
            escaped_n,
        }
    }

    /// Up to `width` bytes of a line of the fixed-width format, which [`Self::bytes_of`] gives.
    pub fn fixed_line(&mut self, width: usize) -> Step {
        if self.line_ended {
            return Step::NoField;
        }
        if self.at_line_start {
            self.at_line_start = false;
            if !self.format.line_start.is_empty() && !self.skip_to_line_start() {
                return self.end_of_bytes();
            }
        }
        self.buffer.clear();
        let mut at = self.position;
        while self.buffer.len() < width {
            let Some(byte) = self.bytes.get(at).copied() else {
                if !self.is_last {
                    return Step::Incomplete;
                }
                self.line_ended = true;
                self.file_ended = true;
                if self.buffer.is_empty() {
                    return Step::NoField;
                }
                break;
            };
            if Some(byte) == self.format.escape {
                match self.bytes.get(at + 1).copied() {
                    Some(next) => {
                        self.take_escaped(&mut true, at, at, next, &mut false);
                        at += 2;
                        continue;
                    }
                    None if !self.is_last => return Step::Incomplete,
                    None => {}
                }
            }
            if self.line_end.first() == Some(&byte) {
                match self.matches(self.line_end, at) {
                    Match::Yes => {
                        at += self.line_end.len();
                        self.line_ended = true;
                        break;
                    }
                    Match::Unknown => return Step::Incomplete,
                    Match::No => {}
                }
            }
            self.buffer.push(byte);
            at += 1;
        }
        self.position = at;
        Step::Field(Field {
            start: 0,
            end: self.buffer.len(),
            in_buffer: true,
            enclosed: false,
            escaped_n: false,
        })
    }

    /// Goes to the next line.
    #[inline]
    pub fn next_line(&mut self) -> LineEnd {
        self.at_line_start = true;
        if self.file_ended {
            self.line_begin = self.bytes.len();
            return LineEnd::EndOfFile;
        }
        if self.line_ended || self.line_end.is_empty() {
            self.line_ended = false;
            self.line_begin = self.position;
            return LineEnd::Ended { cut: false };
        }
        self.skip_line()
    }

    fn skip_line(&mut self) -> LineEnd {
        let start = self.position;
        let mut at = start;
        loop {
            let Some(found) = self.rest_of_line.find(self.bytes.get(at..).unwrap_or(&[])) else {
                if !self.is_last {
                    return LineEnd::Incomplete;
                }
                self.position = self.bytes.len();
                self.line_begin = self.position;
                self.file_ended = true;
                return LineEnd::EndOfFile;
            };
            at += found;
            if Some(self.bytes[at]) == self.format.escape {
                at += 2;
                continue;
            }
            match self.matches(self.line_end, at) {
                Match::Yes => {
                    self.position = at + self.line_end.len();
                    self.line_begin = self.position;
                    return LineEnd::Ended { cut: at > start };
                }
                Match::Unknown => return LineEnd::Incomplete,
                Match::No => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Splitting of bytes into lines and fields.
//!
//! A [`Splitter`] reads one line after the other: [`Splitter::field`] for each wanted field, then
//! [`Splitter::next_line`], which skips the rest of the line. The number of wanted fields matters: in the skipped
//! rest, enclosing characters have no meaning, as in MySQL.
//!
//! The bytes may be a part of a file that ends anywhere. Where more bytes are needed to decide, the result is
//! [`Step::Incomplete`], and the caller restarts at the beginning of the line with more bytes.
//!
//! A field is a range of the bytes, found by a vectorised search for the few bytes that can end it; only a field with
//! escapes or doubled quotes inside is copied into a buffer, which is reused.

use memchr::{memchr, memchr2, memchr3};

use super::Format;

/// The outcome of reading a field.
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
    /// Whether it was enclosed.
    pub enclosed: bool,
    /// Whether it contains an escaped `N`.
    escaped_n: bool,
}

/// The outcome of going to the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The line ended; `cut` when it had more than was read.
    Ended {
        /// Whether a part of the line was skipped.
        cut: bool,
    },
    /// The file ended.
    EndOfFile,
    /// The bytes end before the line does.
    Incomplete,
}

/// Up to three bytes to search for.
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

/// The bytes end, though not the file, before a decision is possible.
struct Incomplete;

impl From<Result<Option<Field>, Incomplete>> for Step {
    #[inline]
    fn from(field: Result<Option<Field>, Incomplete>) -> Self {
        match field {
            Ok(Some(field)) => Self::Field(field),
            Ok(None) => Self::NoField,
            Err(Incomplete) => Self::Incomplete,
        }
    }
}

/// A field being read.
struct Partial {
    /// Offset of the bytes that are not in the buffer.
    begin: usize,
    /// Whether earlier bytes are in the buffer.
    in_buffer: bool,
    /// Whether it contains an escaped `N`.
    escaped_n: bool,
}

impl Partial {
    fn new(begin: usize) -> Self {
        Self {
            begin,
            in_buffer: false,
            escaped_n: false,
        }
    }
}

/// Splitter of bytes into lines and fields.
#[derive(Debug)]
pub struct Splitter<'a> {
    format: &'a Format,
    line_end: &'a [u8],
    bytes: &'a [u8],
    position: usize,
    /// Offset to restart from if the line turns out to be incomplete.
    line_begin: usize,
    /// Whether the file ends with the bytes.
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

    /// The offset of the current line: the number of bytes of the lines before it.
    pub(crate) fn line_begin(&self) -> usize {
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
        self.next_field().into()
    }

    #[inline]
    fn next_field(&mut self) -> Result<Option<Field>, Incomplete> {
        if !self.begin_field()? {
            return Ok(None);
        }
        match self.bytes.get(self.position) {
            None => {
                self.end_file()?;
                Ok(None)
            }
            Some(first) if Some(*first) == self.format.enclosed => self.enclosed_field().map(Some),
            Some(_) => self.plain_field().map(Some),
        }
    }

    /// Skips the line prefix before the first field; false when the line has ended.
    #[inline]
    fn begin_field(&mut self) -> Result<bool, Incomplete> {
        if self.at_line_start && !self.line_ended {
            self.at_line_start = false;
            if !self.format.line_start.is_empty() && !self.skip_to_line_start() {
                self.end_file()?;
            }
        }
        Ok(!self.line_ended)
    }

    /// Handles the end of the bytes: the end of the file, unless more of it follows.
    fn end_file(&mut self) -> Result<(), Incomplete> {
        if !self.is_last {
            return Err(Incomplete);
        }
        self.line_ended = true;
        self.file_ended = true;
        Ok(())
    }

    /// Skips to after the next line prefix, on any line.
    fn skip_to_line_start(&mut self) -> bool {
        let prefix = &self.format.line_start;
        let Some(offset) = memchr::memmem::find(self.rest(self.position), prefix) else {
            // The last bytes may be the beginning of a prefix; earlier ones belong to no line.
            let undecided = self.bytes.len().saturating_sub(prefix.len() - 1);
            self.line_begin = self.line_begin.max(undecided);
            return false;
        };
        self.position += offset + prefix.len();
        true
    }

    /// The bytes from an offset on.
    #[inline]
    fn rest(&self, offset: usize) -> &'a [u8] {
        self.bytes.get(offset..).unwrap_or(&[])
    }

    /// Whether a terminator, whose first byte is at an offset, is complete there.
    #[inline]
    fn is_at(&self, terminator: &[u8], offset: usize) -> Result<bool, Incomplete> {
        if terminator.len() == 1 {
            return Ok(true);
        }
        let rest = self.rest(offset);
        if !self.is_last && rest.len() < terminator.len() && terminator.starts_with(rest) {
            return Err(Incomplete);
        }
        Ok(rest.starts_with(terminator))
    }

    /// The offset behind the line's end that begins with `byte` at an offset, if there is one.
    #[inline]
    fn behind_line_end(&mut self, byte: u8, offset: usize) -> Result<Option<usize>, Incomplete> {
        if self.line_end.first() != Some(&byte) || !self.is_at(self.line_end, offset)? {
            return Ok(None);
        }
        self.line_ended = true;
        Ok(Some(offset + self.line_end.len()))
    }

    /// The offset behind the end of the line or field that begins with `byte` at an offset, if there is one.
    #[inline]
    fn behind_field_end(&mut self, byte: u8, offset: usize) -> Result<Option<usize>, Incomplete> {
        if let Some(behind) = self.behind_line_end(byte, offset)? {
            return Ok(Some(behind));
        }
        let field_end = &self.format.field_end;
        let ends = field_end.first() == Some(&byte) && self.is_at(field_end, offset)?;
        Ok(ends.then_some(offset + field_end.len()))
    }

    #[inline]
    fn plain_field(&mut self) -> Result<Field, Incomplete> {
        let mut at = self.position;
        let mut partial = Partial::new(at);
        let (end, behind) = loop {
            let Some(found) = self.plain.find(self.rest(at)) else {
                self.end_file()?;
                break (self.bytes.len(), self.bytes.len());
            };
            at += found;
            let byte = self.bytes[at];
            if Some(byte) == self.format.escape {
                match self.bytes.get(at + 1).copied() {
                    None if !self.is_last => return Err(Incomplete),
                    Some(next) if self.format.escape != self.format.enclosed || next == byte => {
                        self.take_escaped(&mut partial, at, next);
                        at += 2;
                    }
                    // An escape character at the very end is literal.
                    _ => at += 1,
                }
                continue;
            }
            if let Some(behind) = self.behind_field_end(byte, at)? {
                break (at, behind);
            }
            at += 1;
        };
        self.position = behind;
        Ok(self.finished(partial, end, false))
    }

    /// Reads a field whose first byte is the enclosing character.
    fn enclosed_field(&mut self) -> Result<Field, Incomplete> {
        let start = self.position;
        let mut at = start + 1;
        let mut partial = Partial::new(at);
        let (end, behind) = loop {
            let Some(found) = self.enclosed.find(self.rest(at)) else {
                return self.unclosed_field(start, partial);
            };
            at += found;
            let byte = self.bytes[at];
            let next = self.bytes.get(at + 1).copied();
            if next.is_none() && !self.is_last {
                return Err(Incomplete);
            }
            let is_quote = Some(byte) == self.format.enclosed;
            match next {
                // A doubled one is literal; else the field ends if a terminator follows.
                Some(next) if is_quote && next == byte => {
                    self.take_literal(&mut partial, at, byte);
                    at += 2;
                }
                Some(next) if is_quote => {
                    if let Some(behind) = self.behind_field_end(next, at + 1)? {
                        break (at, behind);
                    }
                    at += 1;
                }
                Some(next) => {
                    self.take_escaped(&mut partial, at, next);
                    at += 2;
                }
                None if is_quote => {
                    self.end_file()?;
                    break (at, at + 1);
                }
                None => at += 1,
            }
        };
        self.position = behind;
        Ok(self.finished(partial, end, true))
    }

    /// The file ends inside of an enclosed field: the field is the rest of the file, from its quote on.
    fn unclosed_field(&mut self, start: usize, mut partial: Partial) -> Result<Field, Incomplete> {
        self.end_file()?;
        self.position = self.bytes.len();
        if partial.in_buffer {
            self.buffer.insert(0, self.bytes[start]);
        } else {
            partial.begin = start;
        }
        Ok(self.finished(partial, self.bytes.len(), false))
    }

    /// Copies the bytes before an escape at an offset, and the escaped byte, into the buffer.
    #[cold]
    fn take_escaped(&mut self, partial: &mut Partial, offset: usize, escaped: u8) {
        partial.escaped_n |= escaped == b'N';
        self.take_literal(partial, offset, unescaped(escaped));
    }

    /// Copies the bytes before two bytes at an offset, and the byte that they represent, into the buffer.
    fn take_literal(&mut self, partial: &mut Partial, offset: usize, byte: u8) {
        if !partial.in_buffer {
            self.buffer.clear();
            partial.in_buffer = true;
        }
        let before = self.bytes.get(partial.begin..offset).unwrap_or(&[]);
        self.buffer.extend_from_slice(before);
        self.buffer.push(byte);
        partial.begin = offset + 2;
    }

    #[inline]
    fn finished(&mut self, partial: Partial, end: usize, enclosed: bool) -> Field {
        let Partial {
            begin,
            in_buffer,
            escaped_n,
        } = partial;
        let (start, end) = if in_buffer {
            let rest = self.bytes.get(begin..end).unwrap_or(&[]);
            self.buffer.extend_from_slice(rest);
            (0, self.buffer.len())
        } else {
            (begin, end)
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
    pub(crate) fn fixed_line(&mut self, width: usize) -> Step {
        self.next_fixed_line(width).into()
    }

    fn next_fixed_line(&mut self, width: usize) -> Result<Option<Field>, Incomplete> {
        if !self.begin_field()? {
            return Ok(None);
        }
        self.buffer.clear();
        let mut at = self.position;
        while self.buffer.len() < width {
            let Some(byte) = self.bytes.get(at).copied() else {
                self.end_file()?;
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                break;
            };
            if Some(byte) == self.format.escape {
                match self.bytes.get(at + 1) {
                    Some(next) => {
                        self.buffer.push(unescaped(*next));
                        at += 2;
                        continue;
                    }
                    None if !self.is_last => return Err(Incomplete),
                    None => {}
                }
            }
            if let Some(behind) = self.behind_line_end(byte, at)? {
                at = behind;
                break;
            }
            self.buffer.push(byte);
            at += 1;
        }
        self.position = at;
        Ok(Some(Field {
            start: 0,
            end: self.buffer.len(),
            in_buffer: true,
            enclosed: false,
            escaped_n: false,
        }))
    }

    /// Goes to the next line.
    #[inline]
    pub(crate) fn next_line(&mut self) -> LineEnd {
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
        self.skip_line().unwrap_or(LineEnd::Incomplete)
    }

    fn skip_line(&mut self) -> Result<LineEnd, Incomplete> {
        let start = self.position;
        let mut at = start;
        loop {
            let Some(found) = self.rest_of_line.find(self.rest(at)) else {
                self.end_file()?;
                self.position = self.bytes.len();
                self.line_begin = self.position;
                return Ok(LineEnd::EndOfFile);
            };
            at += found;
            if Some(self.bytes[at]) == self.format.escape {
                at += 2;
            } else if self.is_at(self.line_end, at)? {
                self.position = at + self.line_end.len();
                self.line_begin = self.position;
                return Ok(LineEnd::Ended { cut: at > start });
            } else {
                at += 1;
            }
        }
    }
}

/// The byte that an escape sequence represents.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 0x1a,
        other => other,
    }
}

#[cfg(test)]
mod tests;

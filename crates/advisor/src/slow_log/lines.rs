//! Lines of bytes from any reader, each kept up to a limit, so that a file without line breaks takes no memory.

use std::io::{BufRead, Result};

/// The lines of a reader, with one line to look ahead.
pub(super) struct Lines<'r> {
    reader: Box<dyn BufRead + 'r>,
    limit: usize,
    line: Line,
    ahead: Option<Line>,
    /// Whether `line` is to be returned again.
    kept: bool,
    /// Whether the end was reached in looking ahead.
    ended: bool,
}

/// A line without its line break.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    /// Whether it was longer than the limit.
    cut: bool,
}

impl<'r> Lines<'r> {
    /// Lines of at most `limit` bytes each; the rest of a longer line is skipped.
    pub(super) fn new(reader: Box<dyn BufRead + 'r>, limit: usize) -> Self {
        Self {
            reader,
            limit,
            line: Line::default(),
            ahead: None,
            kept: false,
            ended: false,
        }
    }

    /// Advances to the next line; returns whether there is one.
    pub(super) fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.kept) {
            return Ok(true);
        }
        if let Some(ahead) = self.ahead.take() {
            self.line = ahead;
            return Ok(true);
        }
        if self.ended {
            return Ok(false);
        }
        read_line(&mut *self.reader, &mut self.line, self.limit)
    }

    /// The current line.
    pub(super) fn line(&self) -> &[u8] {
        &self.line.bytes
    }

    /// Whether the end of the line was skipped.
    pub(super) fn is_cut(&self) -> bool {
        self.line.cut
    }

    /// Makes the next [`Self::advance`] stay at this line.
    pub(super) fn keep(&mut self) {
        self.kept = true;
    }

    /// The line behind this one.
    pub(super) fn ahead(&mut self) -> Result<Option<&[u8]>> {
        if self.ahead.is_none() && !self.ended {
            let mut line = Line::default();
            if read_line(&mut *self.reader, &mut line, self.limit)? {
                self.ahead = Some(line);
            } else {
                self.ended = true;
            }
        }
        Ok(self.ahead.as_ref().map(|line| line.bytes.as_slice()))
    }
}

/// Reads the next line; returns whether there was one.
fn read_line(reader: &mut dyn BufRead, line: &mut Line, limit: usize) -> Result<bool> {
    line.bytes.clear();
    line.cut = false;
    let mut any = false;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        let room = limit.saturating_sub(line.bytes.len()).min(piece.len());
        line.bytes.extend_from_slice(&piece[..room]);
        line.cut |= room < piece.len();
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            if line.bytes.last() == Some(&b'\r') {
                line.bytes.pop();
            }
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_either_break_and_at_the_limit() {
        let reader = std::io::BufReader::with_capacity(3, &b"ab\r\nlong line\n\nend"[..]);
        let mut lines = Lines::new(Box::new(reader), 6);
        let mut found = Vec::new();
        while lines.advance().expect("memory can be read") {
            let text = String::from_utf8_lossy(lines.line()).into_owned();
            found.push((text, lines.is_cut()));
        }
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|(text, cut)| (text.as_str(), *cut))
            .collect();
        assert_eq!(
            found,
            [("ab", false), ("long l", true), ("", false), ("end", false)]
        );
    }

    #[test]
    fn a_line_is_seen_ahead_and_read_again() {
        let mut lines = Lines::new(Box::new(&b"a\nb"[..]), 9);
        assert!(lines.advance().expect("memory can be read"));
        assert_eq!(lines.ahead().expect("memory can be read"), Some(&b"b"[..]));
        lines.keep();
        assert!(lines.advance().expect("memory can be read"));
        assert_eq!(lines.line(), b"a");
        assert!(lines.advance().expect("memory can be read"));
        assert_eq!(lines.line(), b"b");
        assert_eq!(lines.ahead().expect("memory can be read"), None);
        assert!(!lines.advance().expect("memory can be read"));
    }
}

//! Lines of bytes from any reader, each kept up to a limit, so that a file without line breaks takes no memory.

use std::io::{BufRead, Result};

/// Reads the next line without its line break into `line`; whether there was one. What is longer than `limit` bytes
/// is read and thrown away.
pub(super) fn read_line(
    reader: &mut dyn BufRead,
    line: &mut Vec<u8>,
    limit: usize,
) -> Result<bool> {
    line.clear();
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
        let room = limit.saturating_sub(line.len()).min(piece.len());
        line.extend_from_slice(&piece[..room]);
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
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
        let mut reader = std::io::BufReader::with_capacity(3, &b"ab\r\nlong line\n\nend"[..]);
        let mut line = Vec::new();
        let mut lines = Vec::new();
        while read_line(&mut reader, &mut line, 6).expect("memory can be read") {
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        assert_eq!(lines, ["ab", "long l", "", "end"]);
    }
}

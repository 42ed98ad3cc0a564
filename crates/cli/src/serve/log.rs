//! The server's own log on standard error: an event is one line, whatever names of clients it contains.

use std::io::{self, Write};

use mayfly_engine::printable;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Starts the log at a level of `--log-level`.
pub(super) fn start(level: &str) -> Result<(), String> {
    let filter = EnvFilter::try_new(level).map_err(|error| format!("--log-level: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Lines)
        .with_ansi(false)
        .try_init()
        .map_err(|error| error.to_string())
}

/// Standard error, with one line for each event.
#[derive(Debug, Clone, Copy)]
struct Lines;

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Line<io::Stderr>;

    fn make_writer(&'w self) -> Self::Writer {
        Line(io::stderr())
    }
}

/// Writer that writes an event with its line feed in one call, as one line.
struct Line<W>(W);

impl<W: Write> Write for Line<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        self.0
            .write_all(format!("{}\n", printable(line)).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let mut written = Line(Vec::new());
        let event = b"login of 'a\nERROR forged\x1b[2J' failed\n";
        written.write_all(event).expect("it is written");
        let text = String::from_utf8(written.0).expect("it is text");
        assert_eq!(text, "login of 'a\\nERROR forged\\u{1b}[2J' failed\n");
    }
}

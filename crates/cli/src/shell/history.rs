//! The history file `~/.mayfly_history`: readable by its owner only, without statements that contain a password.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustyline::history::{FileHistory, History as _};
use rustyline::{Config, Result};

/// Greatest number of statements in the file.
pub(super) const STATEMENTS: usize = 10_000;

/// Greatest number of bytes of a statement that is kept.
const STATEMENT_BYTES: usize = 1 << 16;

/// Interval of writes while statements arrive.
const WRITTEN_EVERY: Duration = Duration::from_secs(1);

/// Words of statements that are not kept, as in `histignore` of the `mysql` client.
const SECRET_WORDS: [&str; 2] = ["identified", "password"];

/// First line of a file of the written format; a file without it has `<
/// >` for line ends in statements.
const FORMAT: &str = "#V2";

/// The file of a history, and the time when it was written.
#[derive(Debug)]
pub(super) struct HistoryFile {
    path: PathBuf,
    written: Instant,
}

impl HistoryFile {
    /// Reads a history from its file, which is created if missing, and made private.
    pub(super) fn open(path: &Path, history: &mut FileHistory) -> io::Result<Self> {
        let mut options = File::options();
        options.append(true).create(true).mode(0o600);
        options
            .open(path)?
            .set_permissions(Permissions::from_mode(0o600))?;
        let text = std::fs::read_to_string(path)?;
        if text.starts_with(FORMAT) {
            history.load(path).map_err(io::Error::other)?;
        } else {
            for line in text.lines() {
                let statement = line.replace("<\\n>", "\n");
                history.add(&statement).map_err(io::Error::other)?;
            }
            history.save(path).map_err(io::Error::other)?;
        }
        Ok(Self {
            path: path.to_owned(),
            written: Instant::now(),
        })
    }

    /// Writes new statements.
    pub(super) fn write(&mut self, history: &mut FileHistory) -> Result<()> {
        self.written = Instant::now();
        history.append(&self.path)
    }

    /// Writes new statements if some time has passed: in a paste each line is a statement.
    pub(super) fn write_sometimes(&mut self, history: &mut FileHistory) -> Result<()> {
        if self.written.elapsed() < WRITTEN_EVERY {
            return Ok(());
        }
        self.write(history)
    }
}

/// An empty history.
pub(super) fn new(config: &Config) -> FileHistory {
    FileHistory::with_config(config)
}

/// Whether a statement is kept.
pub(super) fn is_kept(statement: &str) -> bool {
    let lowercase = statement.to_ascii_lowercase();
    let is_secret = SECRET_WORDS.iter().any(|word| lowercase.contains(word));
    !is_secret && !statement.is_empty() && statement.len() <= STATEMENT_BYTES
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn the_file_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        std::fs::write(&path, "SELECT 1;\nSELECT<\\n>2;\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut history = new(&Config::default());
        let mut file = HistoryFile::open(&path, &mut history).unwrap();
        history.add("SELECT\n'\\';").unwrap();
        file.write(&mut history).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "#V2\nSELECT 1;\nSELECT\\n2;\nSELECT\\n'\\\\';\n");
        let mut read = new(&Config::default());
        HistoryFile::open(&path, &mut read).unwrap();
        let statements: Vec<&String> = read.iter().collect();
        assert_eq!(statements, ["SELECT 1;", "SELECT\n2;", "SELECT\n'\\';"]);
    }

    #[test]
    fn statements_with_passwords_are_not_kept() {
        assert!(!is_kept("CREATE USER ann IDENTIFIED BY 'sesame';"));
        assert!(!is_kept("SET password = 'sesame';"));
        assert!(!is_kept("") && !is_kept(&" ".repeat(STATEMENT_BYTES + 1)));
        assert!(is_kept("SELECT 2;"));
    }
}

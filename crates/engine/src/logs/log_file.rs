//! Log files: opened on demand, and written one entry at a time.
//!
//! An entry is one write, while other entries of the log wait. After an error, the entry is lost and the error is
//! reported once, until a write succeeds again: the statement does not fail.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_types::Error;
use mayfly_types::error::codes;
use parking_lot::Mutex;

use crate::files::system_text;
use crate::options::{BackgroundErrors, LogFiles};

/// Largest buffer that is kept for reuse.
const BUFFER_KEPT: usize = 64 << 10;

/// State of the last write, on which the lines of an entry depend.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The database of the last `use`.
    pub(super) database: String,
    /// The second of the last time.
    pub(super) second: Option<i64>,
}

#[derive(Default)]
struct State {
    path: PathBuf,
    file: Option<Box<dyn Write + Send>>,
    written: Written,
    buffer: String,
    /// Whether the last write failed, and was reported.
    has_failed: bool,
    /// Whether a part of an entry was written: the next entry begins on a new line.
    is_torn: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A log's file, opened on demand and written one entry at a time.
#[derive(Debug)]
pub(super) struct LogFile {
    files: Arc<dyn LogFiles>,
    state: Mutex<State>,
}

impl LogFile {
    /// A file that is not open.
    pub(super) fn new(files: Arc<dyn LogFiles>) -> Self {
        Self {
            files,
            state: Mutex::default(),
        }
    }

    /// Reopens the file: error 29 on failure, and then the old file stays open.
    pub(super) fn open(
        &self,
        path: &Path,
        header: &str,
        errors: Option<&dyn BackgroundErrors>,
    ) -> Result<(), Error> {
        let mut state = self.state.lock();
        begin(&mut state, &*self.files, path, header, errors).map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(0);
            codes::EE_FILENOTFOUND.with(&[&path.display(), &errno, &system_text(&error)])
        })
    }

    /// Closes the file.
    pub(super) fn close(&self) {
        *self.state.lock() = State::default();
    }

    /// Appends the entry that `format` writes.
    pub(super) fn append(
        &self,
        path: &Path,
        header: &str,
        errors: Option<&dyn BackgroundErrors>,
        format: impl FnOnce(&mut Written, &mut String),
    ) {
        let state = &mut *self.state.lock();
        let mut done = Ok(());
        if state.file.is_none() || state.path != path {
            done = begin(state, &*self.files, path, header, errors);
        }
        if done.is_ok() {
            done = state.append(format);
        }
        match done {
            Ok(()) if std::mem::take(&mut state.has_failed) => {
                if let Some(errors) = errors {
                    errors.log_file(path, None);
                }
            }
            Ok(()) => {}
            Err(error) => {
                let was_reported = std::mem::replace(&mut state.has_failed, true);
                if let (false, Some(errors)) = (was_reported, errors) {
                    errors.log_file(path, Some(&error));
                }
            }
        }
    }
}

fn begin(
    state: &mut State,
    files: &dyn LogFiles,
    path: &Path,
    header: &str,
    errors: Option<&dyn BackgroundErrors>,
) -> io::Result<()> {
    if files.make_private(path)
        && let Some(errors) = errors
    {
        errors.log_was_open_to_others(path);
    }
    let mut file = files.open(path)?;
    file.write_all(header.as_bytes())?;
    state.path = path.to_owned();
    state.file = Some(file);
    state.written = Written::default();
    state.is_torn = false;
    Ok(())
}

impl State {
    fn append(&mut self, format: impl FnOnce(&mut Written, &mut String)) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        self.buffer.clear();
        if self.is_torn {
            self.buffer.push('\n');
        }
        format(&mut self.written, &mut self.buffer);
        let done = file.write_all(self.buffer.as_bytes());
        self.is_torn = done.is_err();
        if done.is_err() {
            // The context for later entries was not written.
            self.written = Written::default();
        }
        if self.buffer.capacity() > BUFFER_KEPT {
            self.buffer = String::new();
        }
        done
    }
}

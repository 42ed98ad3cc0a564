//! Source of the text that a user types, line by line, as statements need it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use super::completer::{Names, ShellHelper};
use super::history::{self, HistoryFile};
use super::keys::{CONTINUATION_PROMPT, PROMPT, Typing};
use super::terminal::TerminalMode;
use crate::statements::{Place, TextSource};

/// The lines of a terminal.
pub(super) struct TypedText {
    editor: Editor<ShellHelper, FileHistory>,
    history_file: Option<HistoryFile>,
    typing: Arc<Typing>,
    /// Typed bytes that were not returned yet.
    line: Vec<u8>,
    at: usize,
    /// The statement at hand.
    statement: String,
    ended: bool,
    mode: Option<TerminalMode>,
}

impl TypedText {
    /// The lines of the terminal that is standard input.
    pub(super) fn new(names: Names) -> Result<Self, ReadlineError> {
        let mode = TerminalMode::set();
        let config = Config::builder()
            .max_history_size(history::STATEMENTS)?
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .build();
        let history = history::new(&config);
        let mut editor = Editor::with_history(config, history)?;
        let typing = Typing::new();
        for (key, handler) in typing.bindings() {
            editor.bind_sequence(key, handler);
        }
        editor.set_helper(Some(ShellHelper::new(names, Arc::clone(&typing))));
        // Without the file, history lives as long as the shell.
        let path = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".mayfly_history"));
        let history_file =
            path.and_then(|path| HistoryFile::open(&path, editor.history_mut()).ok());
        Ok(Self {
            editor,
            history_file,
            typing,
            line: Vec::new(),
            at: 0,
            statement: String::new(),
            ended: false,
            mode,
        })
    }

    /// Asks for a line.
    fn ask(&mut self, place: Place<'_>) -> io::Result<()> {
        if !place.is_within {
            self.remember();
        }
        self.typing.ask(place);
        let prompt = if place.is_within {
            CONTINUATION_PROMPT
        } else {
            PROMPT
        };
        let answer = self.editor.readline(prompt);
        if let Some(mode) = &self.mode {
            mode.apply();
        }
        let forgotten = || io::Error::from(io::ErrorKind::Interrupted);
        match answer {
            Ok(line) => {
                self.statement.push_str(&line);
                self.statement.push('\n');
                self.line = line.into_bytes();
                self.line.push(b'\n');
                self.at = 0;
                Ok(())
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Err(forgotten()),
            Err(ReadlineError::Eof) => {
                self.ended = true;
                if place.is_within {
                    Err(forgotten())
                } else {
                    Ok(())
                }
            }
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                eprintln!("mayfly: the line is no UTF-8");
                Err(forgotten())
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Keeps the statement in the history.
    fn remember(&mut self) {
        let statement = std::mem::take(&mut self.statement);
        let statement = statement.trim_end();
        // A statement that cannot be kept is lost when the shell ends.
        if history::is_kept(statement) {
            let _ = self.editor.add_history_entry(statement);
        }
        if let Some(file) = &mut self.history_file {
            let _ = file.write_sometimes(self.editor.history_mut());
        }
    }
}

impl TextSource for TypedText {
    fn read(&mut self, buffer: &mut [u8], place: Place<'_>) -> io::Result<usize> {
        if self.at == self.line.len() && !self.ended {
            self.ask(place)?;
        }
        let rest = self.line.get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(from), Some(to)) = (rest.get(..count), buffer.get_mut(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }

    fn forget(&mut self) {
        self.at = self.line.len();
        self.statement.clear();
    }
}

impl Drop for TypedText {
    fn drop(&mut self) {
        self.remember();
        if let Some(file) = &mut self.history_file {
            // Statements that cannot be written are lost.
            let _ = file.write(self.editor.history_mut());
        }
    }
}

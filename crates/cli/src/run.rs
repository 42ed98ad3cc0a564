//! Runs statements and prints their results.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use crate::caret;
use crate::client_command::ClientCommand;
use crate::connection::{Connection, Failure, Interrupter};
use crate::display::Display;
use crate::failed_statements::FailedStatements;
use crate::file_format;
use crate::load_progress::LoadProgress;
use crate::options::Options;
use crate::output::Format;
use crate::plot::Plot;
use crate::progress::Progress;
use crate::shell::Names;
use crate::show::{Show, Told};
use crate::statements::{Cut, StatementReader, TextSource, Unit};
use crate::warnings;

/// Runner of statements with one output format.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) display: Display,
    pub(crate) interactive: bool,
    pub(crate) go_on: bool,
    pub(crate) failed: FailedStatements,
    /// Nesting depth of files read by `source`.
    pub(crate) depth: usize,
    /// Names for the completion of words in the shell.
    names: Option<Names>,
    /// Whether they may have changed since they were looked up.
    pub(crate) names_changed: bool,
    /// The last statement of the shell.
    pub(crate) last_statement: Vec<u8>,
    /// The last result of the shell.
    pub(crate) plot: Plot,
    /// How much is shown of each statement, as `mysql --verbose` has it.
    verbose: u8,
}

/// Reason why the reading of a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The end of the text.
    Done,
    /// A failed statement.
    Failed,
    /// A command that ends the program.
    Quit,
}

/// Source of the statements of a text.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Its name, if it is a file.
    name: Option<String>,
    /// Its length, if it is known.
    length: Option<u64>,
    /// Whether it is a script, perhaps a dump: its progress is shown, and its failed statement.
    is_script: bool,
}

impl Source {
    fn script(name: Option<&str>, file: &File) -> Self {
        // A pipe has no length.
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file());
        Self {
            name: name.map(str::to_owned),
            length: metadata.map(|metadata| metadata.len()),
            is_script: true,
        }
    }

    /// The position of a line in it.
    fn place(&self, line: usize) -> String {
        let file = self.name.as_ref().map(|name| format!(" of {name}"));
        format!("at line {line}{}", file.unwrap_or_default())
    }
}

/// Rows that a table of the shell shows.
const ROWS_SHOWN: usize = 1000;
/// The error of a statement that Mayfly does not support.
const NOT_THERE_YET: u16 = 1235;
/// The error of a statement that Ctrl-C has ended.
const INTERRUPTED: u16 = 1317;
/// Number of bytes shown of a failed statement.
const BEGINNING_BYTES: usize = 160;

impl Runner {
    /// A runner for scripts, `-e` and pipes: results only; Ctrl-C ends the program.
    pub(crate) fn batch(options: &Options) -> Self {
        let default = if io::stdout().is_terminal() {
            Format::Table
        } else {
            Format::Tsv
        };
        Self {
            display: Display::new(
                options.format().unwrap_or(default),
                !options.skip_column_names,
            ),
            interactive: false,
            go_on: options.force,
            failed: FailedStatements::default(),
            depth: 0,
            names: None,
            names_changed: false,
            last_statement: Vec::new(),
            plot: Plot::default(),
            verbose: options.verbose,
        }
    }

    /// A runner for a terminal: counts, times and temporary tables after each result. After a failed statement, those
    /// typed behind it still run.
    pub(crate) fn interactive(options: &Options, names: Names) -> Self {
        let mut display = Display::new(
            options.format().unwrap_or(Format::Table),
            !options.skip_column_names,
        );
        display.rows_max = ROWS_SHOWN;
        display.fits_terminal = true;
        if let Some(command) = &options.pager {
            display.set_pager(command.as_deref());
        }
        Self {
            names: Some(names),
            display,
            interactive: true,
            go_on: true,
            ..Self::batch(options)
        }
    }

    /// Whether any statement failed.
    pub(crate) fn failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Runs the statements of a file.
    pub(crate) fn file(
        &mut self,
        connection: &mut dyn Connection,
        path: &str,
    ) -> Result<Ended, String> {
        let wrong = |error| format!("{path}: {error}");
        file_format::require_script(path)?;
        let file = File::open(path).map_err(wrong)?;
        let source = Source::script(Some(path), &file);
        self.script(connection, file, &source).map_err(wrong)
    }

    /// Runs the statements of standard input.
    pub(crate) fn standard_input(
        &mut self,
        connection: &mut dyn Connection,
    ) -> Result<Ended, String> {
        let wrong = |error| format!("standard input: {error}");
        // Opening it reads a file from its start, and leaves a pipe unread.
        file_format::require_script("/dev/stdin")?;
        let input = io::stdin().as_fd().try_clone_to_owned().map_err(wrong)?;
        let input = File::from(input);
        let source = Source::script(None, &input);
        self.script(connection, input, &source).map_err(wrong)
    }

    /// Runs the statements of a text as they are read. The failures of a script are summed up at its end.
    pub(crate) fn script(
        &mut self,
        connection: &mut dyn Connection,
        text: impl TextSource,
        source: &Source,
    ) -> io::Result<Ended> {
        let ended = self.statements(connection, text, source)?;
        if source.is_script && self.depth == 0 && self.go_on {
            let summary = self.failed.take_summary();
            if let Some(summary) = summary.filter(|_| !self.interactive) {
                let name = source.name.as_deref().unwrap_or("standard input");
                eprintln!("mayfly: {name}: {summary}");
            }
        }
        Ok(ended)
    }

    fn statements(
        &mut self,
        connection: &mut dyn Connection,
        text: impl TextSource,
        source: &Source,
    ) -> io::Result<Ended> {
        let mut reader = StatementReader::new(text);
        let progress = if source.is_script && !self.interactive {
            LoadProgress::of_source(source.name.as_deref(), source.length)
        } else {
            LoadProgress::hidden()
        };
        loop {
            let unit = match reader.next_unit() {
                Ok(Some(unit)) => unit,
                Ok(None) => return Ok(Ended::Done),
                // Ctrl-C while it was typed.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    reader.forget();
                    continue;
                }
                Err(error) => return Err(error),
            };
            let ended = match unit {
                Unit::Statement(cut) => self.statement(connection, &cut, source, &progress),
                Unit::Command(ClientCommand::Use(name), line) => {
                    let sql = format!("USE `{}`", name.replace('`', "``"));
                    let cut = Cut {
                        text: sql.as_bytes(),
                        line,
                        vertical: false,
                        is_complete: true,
                    };
                    self.statement(connection, &cut, source, &progress)
                }
                Unit::Command(command, _) => {
                    progress.suspend(|| self.command(connection, &command))
                }
            };
            match ended {
                Ended::Done => {}
                // Ctrl-C also discards the text typed behind the statement, but does not end the shell.
                Ended::Failed if self.interactive && self.depth == 0 => reader.forget(),
                _ => return Ok(ended),
            }
            if let Some(names) = &self.names
                && std::mem::take(&mut self.names_changed)
            {
                names.refresh(connection);
            }
            progress.reached(reader.bytes_done());
        }
    }

    /// Runs a statement, and prints its error.
    fn statement(
        &mut self,
        connection: &mut dyn Connection,
        cut: &Cut<'_>,
        source: &Source,
        progress: &LoadProgress,
    ) -> Ended {
        let format = match (cut.vertical, self.display.format) {
            (true, Format::Table | Format::Tsv) => Format::Vertical,
            (_, format) => format,
        };
        if self.interactive && self.depth == 0 {
            self.last_statement = cut.text.to_vec();
        }
        self.names_changed |= connection.changes_names(cut.text);
        let Err(failure) = self.run(connection, cut, format, source, progress) else {
            return Ended::Done;
        };
        self.failed.add(cut.text);
        let names = self.names.as_ref();
        if let Some(mut text) = failure_text(&failure, source, cut, self.interactive, names) {
            let is_absent = matches!(&failure, Failure::Statement(it) if it.errno == NOT_THERE_YET);
            if is_absent && source.is_script && !self.go_on {
                text.push_str("\n  --force goes on without what is not there yet");
            }
            progress.suspend(|| eprintln!("{text}"));
        }
        match failure {
            Failure::Statement(error) if self.go_on && error.errno != INTERRUPTED => Ended::Done,
            _ => Ended::Failed,
        }
    }

    fn run(
        &mut self,
        connection: &mut dyn Connection,
        cut: &Cut<'_>,
        format: Format,
        source: &Source,
        progress: &LoadProgress,
    ) -> Result<(), Failure> {
        let bar = connection.progress().filter(|_| self.interactive);
        let bar = bar.map(|handle| Progress::watch(handle, None));
        // Nothing else is written where programs read a file.
        let verbose = match format.columnar() {
            Some(_) => 0,
            None => self.verbose,
        };
        let told = Told {
            counts: self.interactive || verbose > 1,
            time: self.display.timing && (self.interactive || verbose > 2),
            plot: self.interactive,
        };
        if verbose > 0 {
            let line = "-".repeat(14);
            let text = String::from_utf8_lossy(cut.text);
            progress.suspend(|| self.display.print(&format!("{line}\n{text}\n{line}\n")))?;
        }
        let mut show = Show::new(
            &self.display,
            format,
            told,
            connection.time_zone(),
            progress,
            bar,
        );
        let ran = connection.run(cut.text, &mut show);
        let (warning_count, plot) = show.finish();
        if let Some(plot) = plot {
            self.plot = plot;
        }
        ran?;
        if self.interactive {
            let line = connection.note();
            let line = line.map_or(String::new(), |line| line + "\n");
            self.display.print(&line)?;
        } else if warning_count > 0 {
            let place = source.place(cut.line);
            let warnings = connection.warnings();
            progress.suspend(|| warnings::print(&warnings, &place));
        }
        Ok(())
    }
}
/// Message about a failed statement for the user.
fn failure_text(
    failure: &Failure,
    source: &Source,
    cut: &Cut<'_>,
    interactive: bool,
    names: Option<&Names>,
) -> Option<String> {
    let error = match failure {
        // The reader of the pipe has closed it: nothing is reported.
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
        Failure::Output(error) => {
            return Some(format!("mayfly: cannot write the result: {error}"));
        }
        Failure::Statement(error) if interactive => {
            let known = names.map(Names::all).unwrap_or_default();
            let place = caret::place(cut.text, &error.message, &known);
            return Some(format!("{error}{place}"));
        }
        Failure::Statement(error) => error,
    };
    let (errno, state, place) = (error.errno, &error.state, source.place(cut.line));
    let mut text = format!("ERROR {errno} ({state}) {place}: {}", error.message);
    if source.is_script {
        text.push_str(&format!("\n  in: {}", beginning(cut.text)));
    }
    Some(text)
}

/// The beginning of a statement, on one line.
fn beginning(statement: &[u8]) -> String {
    let shown = statement.get(..BEGINNING_BYTES).unwrap_or(statement);
    let text = String::from_utf8_lossy(shown);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|character| !character.is_control());
    if shown.len() < statement.len() {
        line.truncate(line.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        line.push('…');
    }
    line
}

/// Makes Ctrl-C end the running statement. Where none is running, it ends the program if that `ends_program`.
pub(crate) fn on_interrupt(interrupter: Interrupter, ends_program: bool) -> Result<(), String> {
    /// The status of a program that SIGINT has ended, as shells have it.
    const INTERRUPTED_STATUS: i32 = 130;
    let handler = move || {
        if !interrupter() && ends_program {
            std::process::exit(INTERRUPTED_STATUS);
        }
    };
    ctrlc::set_handler(handler).map_err(|e| format!("Ctrl-C: {e}"))
}

//! Runs statements and prints their results.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use mayfly_engine::{
    Cursor, Error, KillHandle, ResultColumn, ResultStream, Session, StatementResult,
    TemporaryTableRecord,
};

use crate::caret;
use crate::client_command::ClientCommand;
use crate::display::Display;
use crate::failed_statements::FailedStatements;
use crate::file_format;
use crate::load_progress::LoadProgress;
use crate::options::Options;
use crate::output::Format;
use crate::plot::Plot;
use crate::progress::Progress;
use crate::shell::Names;
use crate::statements::{Cut, StatementReader, TextSource, Unit};
use crate::units;
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
/// The error of a text without a statement.
const EMPTY_QUERY: u16 = 1065;
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
    pub(crate) fn file(&mut self, session: &mut Session, path: &str) -> Result<Ended, String> {
        let wrong = |error| format!("{path}: {error}");
        file_format::require_script(path)?;
        let file = File::open(path).map_err(wrong)?;
        let source = Source::script(Some(path), &file);
        self.script(session, file, &source).map_err(wrong)
    }

    /// Runs the statements of standard input.
    pub(crate) fn standard_input(&mut self, session: &mut Session) -> Result<Ended, String> {
        let wrong = |error| format!("standard input: {error}");
        // Opening it reads a file from its start, and leaves a pipe unread.
        file_format::require_script("/dev/stdin")?;
        let input = io::stdin().as_fd().try_clone_to_owned().map_err(wrong)?;
        let input = File::from(input);
        let source = Source::script(None, &input);
        self.script(session, input, &source).map_err(wrong)
    }

    /// Runs the statements of a text as they are read. The failures of a script are summed up at its end.
    pub(crate) fn script(
        &mut self,
        session: &mut Session,
        text: impl TextSource,
        source: &Source,
    ) -> io::Result<Ended> {
        let ended = self.statements(session, text, source)?;
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
        session: &mut Session,
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
                Unit::Statement(cut) => self.statement(session, &cut, source, &progress),
                Unit::Command(ClientCommand::Use(name), line) => {
                    let sql = format!("USE `{}`", name.replace('`', "``"));
                    let cut = Cut {
                        text: sql.as_bytes(),
                        line,
                        vertical: false,
                        is_complete: true,
                    };
                    self.statement(session, &cut, source, &progress)
                }
                Unit::Command(command, _) => progress.suspend(|| self.command(session, &command)),
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
                names.refresh(session);
            }
            progress.reached(reader.bytes_done());
        }
    }

    /// Runs a statement, and prints its error.
    fn statement(
        &mut self,
        session: &mut Session,
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
        self.names_changed |= changes_names(cut.text);
        let Err(failure) = self.run(session, cut, format, source, progress) else {
            return Ended::Done;
        };
        self.failed.add(cut.text);
        let names = self.names.as_ref();
        if let Some(mut text) = failure.text(source, cut, self.interactive, names) {
            let is_absent =
                matches!(&failure, Failure::Statement(it) if it.errno() == NOT_THERE_YET);
            if is_absent && source.is_script && !self.go_on {
                text.push_str("\n  --force goes on without what is not there yet");
            }
            progress.suspend(|| eprintln!("{text}"));
        }
        match failure {
            Failure::Statement(error) if self.go_on && error.errno() != INTERRUPTED => Ended::Done,
            _ => Ended::Failed,
        }
    }

    fn run(
        &mut self,
        session: &mut Session,
        cut: &Cut<'_>,
        format: Format,
        source: &Source,
        progress: &LoadProgress,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let bar = self
            .interactive
            .then(|| Progress::watch(session.progress_handle(), None));
        let mut stream = match session.query_bytes(cut.text) {
            // A conditional comment for another server.
            Err(error) if error.errno() == EMPTY_QUERY => return Ok(()),
            stream => stream?,
        };
        for set in stream.take_sets() {
            progress.suspend(|| self.show_set(set, format))?;
        }
        let warning_count = if stream.columns().is_empty() && !self.interactive {
            stream.into_result()?.warning_count
        } else {
            progress.suspend(|| self.show(stream, format, start, bar))?
        };
        if self.interactive {
            let line = temporary_tables_line(&session.finished_temporary_tables());
            let line = line.map_or(String::new(), |line| line + "\n");
            self.display.print(&line)?;
        } else if warning_count > 0 {
            let place = source.place(cut.line);
            progress.suspend(|| warnings::print(&session.warnings(), &place));
        }
        Ok(())
    }

    /// Prints a set of rows before a statement's own result.
    fn show_set(&self, mut set: Cursor, format: Format) -> Result<(), Failure> {
        let mut out = self.display.open()?;
        let columns = Arc::clone(set.columns());
        let mut writer = self.display.writer(format, &columns);
        let mut row_count = 0;
        while let Some(batch) = set.next_rows(usize::MAX)? {
            row_count += batch.row_count();
            let part = StatementResult {
                columns: Arc::clone(&columns),
                batches: vec![batch],
                ..StatementResult::default()
            };
            writer.rows(&mut out, &part)?;
        }
        writer.finish(&mut out)?;
        if self.interactive {
            let rows = if row_count == 1 { "row" } else { "rows" };
            writeln!(out, "{row_count} {rows} in set\n")?;
        }
        Ok(out.finish()?)
    }

    /// Prints the result of a statement.
    fn show(
        &mut self,
        mut stream: ResultStream<'_>,
        format: Format,
        start: Instant,
        bar: Option<Progress>,
    ) -> Result<u64, Failure> {
        let mut out = self.display.open()?;
        let columns: Arc<[ResultColumn]> = Arc::from(stream.columns());
        let mut row_count = 0;
        let mut writer = self.display.writer(format, &columns);
        if self.interactive && !columns.is_empty() {
            self.plot = Plot::of(&columns);
        }
        while let Some(batch) = stream.next_batch()? {
            row_count += batch.row_count();
            let part = StatementResult {
                columns: Arc::clone(&columns),
                batches: vec![batch],
                ..StatementResult::default()
            };
            if self.interactive {
                self.plot.add(&part);
            }
            writer.rows(&mut out, &part)?;
        }
        let result = stream.into_result()?;
        drop(bar);
        if !columns.is_empty() {
            writer.finish(&mut out)?;
        }
        if self.interactive {
            let seconds = self.display.timing.then(|| start.elapsed().as_secs_f64());
            let line = closing_line(&result, !columns.is_empty(), row_count, seconds);
            writeln!(out, "{line}")?;
        }
        out.finish()?;
        Ok(result.warning_count)
    }
}

/// Whether a statement may change the completed names.
fn changes_names(statement: &[u8]) -> bool {
    const WITHOUT_NAMES: [&str; 6] = ["select", "insert", "update", "delete", "replace", "set"];
    let begins = |word: &&str| {
        let begin = statement.get(..word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    !WITHOUT_NAMES.iter().any(begins)
}

/// "10 rows in set (0.08 sec)", as the `mysql` client says it.
fn closing_line(
    result: &StatementResult,
    has_rows: bool,
    row_count: usize,
    seconds: Option<f64>,
) -> String {
    let counted = |count: u64, word: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{count} {word}{ending}")
    };
    let mut line = match (has_rows, row_count as u64) {
        (true, 0) => "Empty set".to_owned(),
        (true, rows) => format!("{} in set", counted(rows, "row")),
        (false, _) => format!(
            "Query OK, {} affected",
            counted(result.affected_rows, "row")
        ),
    };
    if result.warning_count > 0 {
        line.push_str(&format!(", {}", counted(result.warning_count, "warning")));
    }
    if let Some(seconds) = seconds {
        line.push_str(&format!(" ({seconds:.3} sec)"));
    }
    if !result.info.is_empty() {
        line.push('\n');
        line.push_str(&result.info);
    }
    line
}

/// One line about the temporary tables of a statement; none when it had none.
fn temporary_tables_line(tables: &[TemporaryTableRecord]) -> Option<String> {
    let purposes: Vec<&str> = tables.iter().map(|table| table.purpose.name()).collect();
    let largest = tables.iter().map(|table| table.memory_peak).max()?;
    let on_disk: u64 = tables.iter().map(|table| table.disk_peak).sum();
    let overflowed = tables.iter().filter(|table| table.disk_peak > 0).count();
    let mut line = format!(
        "Temporary tables: {} ({}), the largest {}",
        tables.len(),
        purposes.join(", "),
        units::bytes(largest)
    );
    if overflowed > 0 {
        line.push_str(&format!(
            "; {overflowed} overflowed, {} on disk",
            units::bytes(on_disk)
        ));
    }
    Some(line)
}

/// Reason why the result of a statement was not printed.
enum Failure {
    Statement(Error),
    Output(io::Error),
}

impl Failure {
    /// The message for the user.
    fn text(
        &self,
        source: &Source,
        cut: &Cut<'_>,
        interactive: bool,
        names: Option<&Names>,
    ) -> Option<String> {
        let error = match self {
            // The reader of the pipe has closed it: nothing is reported.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
            Self::Output(error) => {
                return Some(format!("mayfly: cannot write the result: {error}"));
            }
            Self::Statement(error) if interactive => {
                let known = names.map(Names::all).unwrap_or_default();
                let place = caret::place(cut.text, error.message(), &known);
                return Some(format!("{error}{place}"));
            }
            Self::Statement(error) => error,
        };
        let (errno, state, place) = (error.errno(), error.sqlstate(), source.place(cut.line));
        let mut text = format!("ERROR {errno} ({state}) {place}: {}", error.message());
        if source.is_script {
            text.push_str(&format!("\n  in: {}", beginning(cut.text)));
        }
        Some(text)
    }
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Makes Ctrl-C end the running statement instead of the program.
pub(crate) fn kill_on_interrupt(kill: KillHandle) -> Result<(), String> {
    ctrlc::set_handler(move || kill.kill()).map_err(|e| format!("Ctrl-C: {e}"))
}

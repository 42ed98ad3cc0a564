//! Runs statements and shows what they give.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mayfly_engine::{
    Error, KillHandle, ProgressHandle, ResultColumn, ResultStream, Session, StatementResult,
    TemporaryTableRecord,
};

use crate::load_progress::LoadProgress;
use crate::options::Options;
use crate::output::{self, Format};
use crate::statements::{Cut, StatementReader};
use crate::units;

/// A statement that takes longer than this gets a progress bar.
const PROGRESS_BAR_AFTER: Duration = Duration::from_millis(500);

/// Runs statements with one way of showing results.
#[derive(Debug)]
pub(crate) struct Runner {
    format: Format,
    column_names: bool,
    interactive: bool,
    go_on: bool,
    failed: bool,
}

/// Where the statements of a text come from.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Its name, if it is a file's.
    name: Option<String>,
    /// Its length, if it is known.
    length: Option<u64>,
    /// It is a script, perhaps a dump: its progress is shown, and the statement that fails.
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
}

/// The error of a text without a statement.
const EMPTY_QUERY: u16 = 1065;
/// How much of a statement that failed is shown.
const BEGINNING_BYTES: usize = 160;

impl Runner {
    /// For scripts, `-e` and pipes: results only; Ctrl-C ends the program.
    pub(crate) fn batch(options: &Options) -> Self {
        let default = if io::stdout().is_terminal() {
            Format::Table
        } else {
            Format::Tsv
        };
        Self {
            format: options.format.unwrap_or(default),
            column_names: !options.skip_column_names,
            interactive: false,
            go_on: options.force,
            failed: false,
        }
    }

    /// For a terminal: counts, times and temporary tables after each result.
    pub(crate) fn interactive(options: &Options) -> Self {
        Self {
            format: options.format.unwrap_or(Format::Table),
            interactive: true,
            go_on: false,
            ..Self::batch(options)
        }
    }

    /// Whether any statement failed.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Runs the statements of a file.
    pub(crate) fn file(&mut self, session: &mut Session, path: &str) -> Result<bool, String> {
        let wrong = |error| format!("{path}: {error}");
        let file = File::open(path).map_err(wrong)?;
        let source = Source::script(Some(path), &file);
        self.script(session, file, &source).map_err(wrong)
    }

    /// Runs the statements of standard input.
    pub(crate) fn standard_input(&mut self, session: &mut Session) -> Result<bool, String> {
        let wrong = |error| format!("standard input: {error}");
        let input = io::stdin().as_fd().try_clone_to_owned().map_err(wrong)?;
        let input = File::from(input);
        let source = Source::script(None, &input);
        self.script(session, input, &source).map_err(wrong)
    }

    /// Runs the statements of a text as they are read; `false` when one failed and the rest was
    /// left.
    pub(crate) fn script(
        &mut self,
        session: &mut Session,
        text: impl Read,
        source: &Source,
    ) -> io::Result<bool> {
        let mut reader = StatementReader::new(text);
        let progress = if source.is_script && !self.interactive {
            LoadProgress::of_source(source.name.as_deref(), source.length)
        } else {
            LoadProgress::hidden()
        };
        while let Some(cut) = reader.next_statement()? {
            let format = match (cut.vertical, self.format) {
                (true, Format::Table) => Format::Vertical,
                (_, format) => format,
            };
            if let Err(failure) = self.run(session, cut.text, format, &progress) {
                self.failed = true;
                if let Some(text) = failure.text(source, &cut, self.interactive) {
                    progress.suspend(|| eprintln!("{text}"));
                }
                if !self.go_on || !matches!(failure, Failure::Statement(_)) {
                    return Ok(false);
                }
            }
            progress.reached(reader.bytes_done());
        }
        Ok(true)
    }

    fn run(
        &self,
        session: &mut Session,
        sql: &[u8],
        format: Format,
        progress: &LoadProgress,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let bar = self
            .interactive
            .then(|| Progress::watch(session.progress_handle()));
        let stream = match session.query_bytes(sql) {
            // A conditional comment for another server.
            Err(error) if error.errno() == EMPTY_QUERY => return Ok(()),
            stream => stream?,
        };
        if stream.columns().is_empty() && !self.interactive {
            stream.into_result()?;
            return Ok(());
        }
        progress.suspend(|| self.show(stream, format, start, bar))?;
        if self.interactive {
            let line = temporary_tables_line(&session.finished_temporary_tables());
            println!("{}", line.map_or(String::new(), |line| line + "\n"));
        }
        Ok(())
    }

    /// Prints what a statement gives.
    fn show(
        &self,
        mut stream: ResultStream<'_>,
        format: Format,
        start: Instant,
        bar: Option<Progress>,
    ) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let columns: Arc<[ResultColumn]> = Arc::from(stream.columns());
        let mut row_count = 0;
        let mut writer = output::writer(format, &columns, self.column_names);
        while let Some(batch) = stream.next_batch()? {
            row_count += batch.row_count();
            let part = StatementResult {
                columns: Arc::clone(&columns),
                batches: vec![batch],
                ..StatementResult::default()
            };
            writer.rows(&mut out, &part)?;
        }
        let result = stream.into_result()?;
        drop(bar);
        if !columns.is_empty() {
            writer.finish(&mut out)?;
        }
        if self.interactive {
            let seconds = start.elapsed().as_secs_f64();
            let line = closing_line(&result, !columns.is_empty(), row_count, seconds);
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        Ok(())
    }
}

/// "10 rows in set (0.08 sec)", as the `mysql` client says it.
fn closing_line(
    result: &StatementResult,
    has_rows: bool,
    row_count: usize,
    seconds: f64,
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
    line.push_str(&format!(" ({seconds:.3} sec)"));
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

/// Why the result of a statement was not shown.
enum Failure {
    Statement(Error),
    Output(io::Error),
}

impl Failure {
    /// The message for the user.
    fn text(&self, source: &Source, cut: &Cut<'_>, interactive: bool) -> Option<String> {
        let error = match self {
            // The reader of the pipe went away: there is nothing to report.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
            Self::Output(error) => {
                return Some(format!("mayfly: cannot write the result: {error}"));
            }
            Self::Statement(error) if interactive => return Some(error.to_string()),
            Self::Statement(error) => error,
        };
        let (errno, state, line) = (error.errno(), error.sqlstate(), cut.line);
        let file = source.name.as_ref().map(|name| format!(" of {name}"));
        let mut text = format!(
            "ERROR {errno} ({state}) at line {line}{}: {}",
            file.unwrap_or_default(),
            error.message()
        );
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

/// A bar where the end is known, a count where it is not.
fn progress_style(is_bounded: bool) -> ProgressStyle {
    let template = if is_bounded {
        "{spinner} [{elapsed}] {wide_bar} {human_pos}/{human_len} rows read"
    } else {
        "{spinner} [{elapsed}] {human_pos} rows read"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A progress bar on standard error, drawn by a thread of its own until this is dropped.
struct Progress {
    ended: mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    fn watch(handle: ProgressHandle) -> Self {
        let (ended, wait) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PROGRESS_BAR_AFTER) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let mut is_bounded = None;
            while wait.recv_timeout(Duration::from_millis(100))
                == Err(mpsc::RecvTimeoutError::Timeout)
            {
                let (read, expected) = (handle.rows_read(), handle.rows_expected());
                if is_bounded != Some(expected > 0) {
                    is_bounded = Some(expected > 0);
                    bar.set_style(progress_style(expected > 0));
                }
                bar.set_length(expected.max(read));
                bar.set_position(read);
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Self {
            ended,
            thread: Some(thread),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // The thread may have ended already; both outcomes are fine.
        let _ = self.ended.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Ends the running statement on Ctrl-C, instead of the program.
pub(crate) fn kill_on_interrupt(kill: KillHandle) -> Result<(), String> {
    ctrlc::set_handler(move || kill.kill()).map_err(|e| format!("Ctrl-C: {e}"))
}

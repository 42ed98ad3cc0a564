//! Where results are shown and how: format, limits, times, the pager, and the copy in a file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;

use mayfly_engine::{ResultColumn, TimeZone};

use crate::command_line::shell;
use crate::output::{self, ColumnarFile, Format, TableLimits, Writer};

/// Pager without a command and without $PAGER.
const PAGER: &str = "less -SFX";

/// Settings of the display of results.
#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) format: Format,
    /// Whether results have a line of names.
    pub(crate) column_names: bool,
    /// Whether the time of each statement is shown.
    pub(crate) timing: bool,
    /// Rows that a table shows; 0 for all.
    pub(crate) rows_max: usize,
    /// Whether tables fit the terminal.
    pub(crate) fits_terminal: bool,
    /// The file of a result with typed columns; standard output without it.
    pub(crate) columnar_file: Option<PathBuf>,
    /// Whether standard output has such a result.
    has_written: Cell<bool>,
    pager: Option<String>,
    tee: Option<File>,
}

impl Display {
    /// Everything is shown.
    pub(crate) fn new(format: Format, column_names: bool) -> Self {
        Self {
            format,
            column_names,
            timing: true,
            rows_max: 0,
            fits_terminal: false,
            columnar_file: None,
            has_written: Cell::new(false),
            pager: None,
            tee: None,
        }
    }

    /// A writer of a result in a format; `zone` is that in which TIMESTAMPs are shown.
    ///
    /// # Errors
    /// The file of a format with typed columns cannot be made.
    pub(crate) fn writer(
        &self,
        format: Format,
        columns: &Arc<[ResultColumn]>,
        zone: &TimeZone,
    ) -> io::Result<Box<dyn Writer>> {
        if let Some(name) = format.columnar() {
            let path = self.columnar_file.as_deref();
            if path.is_none() && self.has_written.replace(true) {
                return Err(io::Error::other(format!(
                    "standard output has a file of {name}: there is one result in a file"
                )));
            }
            let file = ColumnarFile::new(name, columns, zone.clone(), path)?;
            return Ok(Box::new(file));
        }
        let width = || rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |it| it.ws_col.into());
        let limits = TableLimits {
            rows: self.rows_max,
            // A pager shows long lines in parts.
            width: if self.fits_terminal && self.pager.is_none() {
                width()
            } else {
                0
            },
        };
        Ok(output::writer(format, columns, self.column_names, limits))
    }

    /// Output for a result; its end has to be awaited by [`Output::finish`].
    ///
    /// # Errors
    /// The pager cannot be started.
    pub(crate) fn open(&self) -> io::Result<Output> {
        self.open_with(self.pager.as_deref())
    }

    /// Output for a result that is not shown.
    pub(crate) fn open_without_pager(&self) -> io::Result<Output> {
        self.open_with(None)
    }

    fn open_with(&self, pager: Option<&str>) -> io::Result<Output> {
        let tee = self.tee.as_ref().map(File::try_clone).transpose()?;
        let target = match pager {
            None => Target::Standard(io::stdout()),
            Some(command) => {
                let child = shell(command).stdin(Stdio::piped()).spawn()?;
                Target::Pager(child)
            }
        };
        Ok(Output(BufWriter::with_capacity(
            1 << 16,
            Tee { target, tee },
        )))
    }

    /// Writes a message where results go, without the pager.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        let tee = self.tee.as_ref().map(File::try_clone).transpose()?;
        let target = Target::Standard(io::stdout());
        writeln!(Tee { target, tee }, "{text}")
    }

    /// Shows results in a pager: a command, or else $PAGER.
    pub(crate) fn set_pager(&mut self, command: Option<&str>) -> &str {
        let usual = || {
            std::env::var("PAGER")
                .ok()
                .filter(|pager| !pager.is_empty())
        };
        let command = command.map(str::to_owned).or_else(usual);
        self.pager
            .insert(command.unwrap_or_else(|| PAGER.to_owned()))
    }

    /// Shows results without a pager.
    pub(crate) fn end_pager(&mut self) {
        self.pager = None;
    }

    /// Appends what is shown to a file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn set_tee(&mut self, path: &str) -> io::Result<()> {
        self.tee = Some(File::options().append(true).create(true).open(path)?);
        Ok(())
    }

    /// Ends the copy.
    pub(crate) fn end_tee(&mut self) {
        self.tee = None;
    }
}

/// Output of one result.
pub(crate) struct Output(BufWriter<Tee>);

/// A target, and the file with a copy.
struct Tee {
    target: Target,
    tee: Option<File>,
}

enum Target {
    Standard(io::Stdout),
    Pager(Child),
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Target::Standard(standard) => standard.write(bytes)?,
            Target::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes)?,
                None => bytes.len(),
            },
        };
        if let Some(tee) = &mut self.tee {
            tee.write_all(bytes.get(..written).unwrap_or_default())?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Standard(standard) => standard.flush(),
            Target::Pager(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        if let Target::Pager(child) = &mut self.target {
            // A pager ends when its input does, or when the user leaves it.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

impl Output {
    /// Writes the rest, and waits for the pager. A pager that the user has left is no error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let is_paged = matches!(self.0.get_ref().target, Target::Pager(_));
        match self.0.flush() {
            Err(error) if is_paged && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

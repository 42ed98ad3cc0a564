//! Shows the results of a statement as they come: a [`Receiver`] that writes to the display.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use mayfly_engine::{ResultColumn, TimeZone};

use crate::connection::{Receiver, ResultEnd};
use crate::display::{Display, Output};
use crate::load_progress::LoadProgress;
use crate::output::{Format, Part, Writer};
use crate::plot::Plot;
use crate::progress::Progress;

/// How much is said beside the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// The numbers of rows and warnings behind a result.
    pub(crate) counts: bool,
    /// The time that a statement took.
    pub(crate) time: bool,
    /// Whether the last result is kept for `\plot`.
    pub(crate) plot: bool,
}

/// Shows the results of one statement.
pub(crate) struct Show<'r> {
    display: &'r Display,
    format: Format,
    told: Told,
    /// The time zone of TIMESTAMPs, for files.
    zone: TimeZone,
    progress: &'r LoadProgress,
    bar: Option<Progress>,
    start: Instant,
    /// The result that is being shown.
    result: Option<(Output, Box<dyn Writer>)>,
    row_count: usize,
    warning_count: u64,
    plot: Option<Plot>,
}

impl<'r> Show<'r> {
    /// Shows the results of a statement that runs now.
    pub(crate) fn new(
        display: &'r Display,
        format: Format,
        told: Told,
        zone: TimeZone,
        progress: &'r LoadProgress,
        bar: Option<Progress>,
    ) -> Self {
        Self {
            display,
            format,
            told,
            zone,
            progress,
            bar,
            start: Instant::now(),
            result: None,
            row_count: 0,
            warning_count: 0,
            plot: None,
        }
    }

    /// The number of warnings, and what `\plot` draws of the last result with rows.
    pub(crate) fn finish(self) -> (u64, Option<Plot>) {
        (self.warning_count, self.plot)
    }

    fn finish_result(&mut self, end: &ResultEnd) -> io::Result<()> {
        let mut out = match self.result.take() {
            Some((mut out, mut writer)) => {
                writer.finish(&mut out)?;
                out
            }
            None if self.told.counts => self.display.open()?,
            None => return Ok(()),
        };
        if self.told.counts {
            let is_timed = self.told.time && end.is_last;
            let seconds = is_timed.then(|| self.start.elapsed().as_secs_f64());
            writeln!(out, "{}", closing_line(end, self.row_count, seconds))?;
            if !end.is_last {
                writeln!(out)?;
            }
        }
        out.finish()
    }
}

impl Receiver for Show<'_> {
    fn columns(&mut self, columns: &Arc<[ResultColumn]>) -> io::Result<()> {
        let writer = self.display.writer(self.format, columns, &self.zone)?;
        let out = match self.format.columnar() {
            Some(_) => self.display.open_without_pager()?,
            None => self.display.open()?,
        };
        self.result = Some((out, writer));
        self.row_count = 0;
        if self.told.plot {
            self.plot = Some(Plot::of(columns));
        }
        Ok(())
    }

    fn rows(&mut self, rows: Part<'_>) -> io::Result<()> {
        self.row_count += rows.row_count();
        if let Some(plot) = &mut self.plot {
            plot.add(rows);
        }
        let Some((out, writer)) = &mut self.result else {
            return Ok(());
        };
        self.progress.suspend(|| {
            writer.rows(out, rows)?;
            // The bar is drawn again behind whole lines.
            if self.progress.is_shown() {
                out.flush()?;
            }
            Ok(())
        })
    }

    fn end(&mut self, end: &ResultEnd) -> io::Result<()> {
        self.warning_count = end.warning_count;
        if end.is_last {
            self.bar = None;
        }
        let progress = self.progress;
        progress.suspend(|| self.finish_result(end))
    }
}

/// "10 rows in set (0.08 sec)", as the `mysql` client says it.
fn closing_line(end: &ResultEnd, row_count: usize, seconds: Option<f64>) -> String {
    let counted = |count: u64, word: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{count} {word}{ending}")
    };
    let mut line = match (end.has_rows, row_count as u64) {
        (true, 0) => "Empty set".to_owned(),
        (true, rows) => format!("{} in set", counted(rows, "row")),
        (false, _) => format!("Query OK, {} affected", counted(end.affected_rows, "row")),
    };
    if end.warning_count > 0 {
        line.push_str(&format!(", {}", counted(end.warning_count, "warning")));
    }
    if let Some(seconds) = seconds {
        line.push_str(&format!(" ({seconds:.3} sec)"));
    }
    if !end.info.is_empty() {
        line.push('\n');
        line.push_str(&end.info);
    }
    line
}

//! Report of `mayfly what-if`: as text, as a picture, as a page, and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use mayfly_charts::{Axis, Bar, BarChart, BarGroup, Scale, Unit, html, svg, terminal};
use mayfly_engine::TemporaryTableRecord;
use serde_json::json;

use super::eras::Elsewhere;
use super::settings::{Case, Engine};
use super::{Outcome, UNSTABLE};
use crate::row_sum::RowSum;
use crate::units;

/// Number of columns of the chart on a terminal.
const CHART_WIDTH: usize = 100;

/// The cases with their outcomes.
pub(crate) struct Report<'r> {
    pub(crate) statement: &'r str,
    pub(crate) cases: &'r [Case],
    pub(crate) outcomes: &'r [Outcome],
    pub(crate) elsewhere: &'r [Elsewhere],
}

/// Comparison of the rows of all cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// (ended, cases): this many of the cases ended within their time, with the same rows.
    Same(usize, usize),
    /// Two cases returned different rows.
    Different,
    /// Two runs of a case returned different rows.
    Unstable,
    /// (failed, cases): this many of the cases ended with an error.
    Failed(usize, usize),
}

impl Verdict {
    /// The verdict as a sentence.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Same(ended, all) if ended == all => {
                "The statement gave the same rows in every case.".to_owned()
            }
            Self::Same(ended, all) => {
                format!(
                    "The statement gave the same rows in the {ended} cases of {all} that ended in their time."
                )
            }
            Self::Different => "THE ROWS DIFFER BETWEEN CASES.".to_owned(),
            Self::Unstable => format!("{UNSTABLE}."),
            Self::Failed(failed, all) => {
                format!("The statement ended with an error in {failed} of {all} cases.")
            }
        }
    }
}

/// The median of sorted times.
fn median(times: &[Duration]) -> Duration {
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl Report<'_> {
    fn rows(&self) -> impl Iterator<Item = (&Case, &Outcome)> {
        self.cases.iter().zip(self.outcomes)
    }

    /// The median of the first case with the same engine and enough memory.
    fn in_memory(&self, engine: Engine) -> Option<Duration> {
        let is_legacy = |engine| matches!(engine, Engine::Legacy(_));
        let mut rows = self.rows();
        rows.find_map(|(case, outcome)| match outcome {
            Outcome::Ran { times, .. }
                if case.stays_in_memory() && is_legacy(case.engine) == is_legacy(engine) =>
            {
                Some(median(times))
            }
            _ => None,
        })
    }

    /// The comparison of the rows of the cases.
    pub(crate) fn verdict(&self) -> Verdict {
        let is =
            |wanted: fn(&Outcome) -> bool| self.outcomes.iter().filter(|one| wanted(one)).count();
        let sums = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Ran { rows, .. } => Some(*rows),
            _ => None,
        });
        let sums: Vec<RowSum> = sums.collect();
        if sums.windows(2).any(|pair| pair[0] != pair[1]) {
            return Verdict::Different;
        }
        let failed = is(|one| matches!(one, Outcome::Failed(_)));
        if failed > 0 {
            return Verdict::Failed(failed, self.outcomes.len());
        }
        if is(|one| matches!(one, Outcome::Unstable)) > 0 {
            return Verdict::Unstable;
        }
        Verdict::Same(sums.len(), self.outcomes.len())
    }

    /// Whether all cases that ended in their time gave the same rows, and none ended with an error.
    pub(crate) fn is_same_everywhere(&self) -> bool {
        matches!(self.verdict(), Verdict::Same(..))
    }

    /// The title of a case: it names memory only where the tables were in memory.
    fn title(&self, case: &Case, outcome: &Outcome) -> String {
        let Outcome::Ran { tables, .. } = outcome else {
            return case.title.clone();
        };
        let on_disk = tables
            .iter()
            .find(|table| table.disk_peak > 0 || !matches!(table.engine, "MEMORY" | "TempTable"));
        match on_disk.filter(|_| case.stays_in_memory()) {
            // A BLOB or a long string, which MEMORY cannot store.
            Some(table) => case
                .title
                .replace("in memory", &format!("no limit: {} on disk", table.engine)),
            None => case.title.clone(),
        }
    }

    /// The cells of a case: its title, time, ratio to memory, and its temporary tables.
    fn cells(&self, case: &Case, outcome: &Outcome) -> Vec<String> {
        let (time, ratio, tables) = match outcome {
            Outcome::Ran { times, tables, .. } => {
                let time = median(times);
                let ratio = self.in_memory(case.engine).map(|memory| {
                    format!(
                        "{:.1} ×",
                        time.as_secs_f64() / memory.as_secs_f64().max(1e-9)
                    )
                });
                (
                    Unit::Seconds.write(time.as_secs_f64()),
                    ratio.unwrap_or_default(),
                    tables.iter().map(described).collect::<Vec<_>>().join("; "),
                )
            }
            Outcome::TooLong(limit) => (
                format!("> {} s", limit.as_secs()),
                String::new(),
                String::new(),
            ),
            Outcome::Failed(error) => ("error".to_owned(), String::new(), error.clone()),
            Outcome::Unstable => (
                "?".to_owned(),
                String::new(),
                "two runs gave other rows".to_owned(),
            ),
        };
        vec![self.title(case, outcome), time, ratio, tables]
    }

    /// A table in the form of the articles', and a chart.
    pub(crate) fn text(&self) -> String {
        let head = ["temporary tables", "time", "to memory", "what they were"].map(str::to_owned);
        let mut lines = vec![head.to_vec()];
        lines.extend(self.rows().map(|(case, outcome)| self.cells(case, outcome)));
        let width = |column: usize| {
            let widths = lines.iter().map(|line| line[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..3).map(width).collect();
        let mut text = format!("{}\n\n", self.statement.trim());
        for line in &lines {
            let _ = writeln!(
                text,
                "  {:<a$}  {:>b$}  {:>c$}  {}",
                line[0],
                line[1],
                line[2],
                line[3],
                a = widths[0],
                b = widths[1],
                c = widths[2],
            );
        }
        let _ = write!(
            text,
            "\n{}",
            terminal::bar_chart(&self.chart(), CHART_WIDTH)
        );
        let _ = write!(text, "\n{}", self.verdict().text());
        if !self.elsewhere.is_empty() {
            let _ = write!(text, "\n\nInternal temporary tables of other servers");
        }
        for line in self.elsewhere {
            let _ = write!(text, "\n{}", line.text());
        }
        text
    }

    fn chart(&self) -> BarChart {
        let groups = self.rows().map(|(case, outcome)| BarGroup {
            label: self.title(case, outcome),
            bars: vec![match outcome {
                Outcome::Ran { times, .. } => Some(Bar {
                    value: median(times).as_secs_f64(),
                    range: times
                        .first()
                        .zip(times.last())
                        .map(|(least, most)| (least.as_secs_f64(), most.as_secs_f64())),
                }),
                _ => None,
            }],
        });
        BarChart {
            title: "Time by the engine and the memory of temporary tables".to_owned(),
            description: "The median time of the statement in each case.".to_owned(),
            value: Axis {
                label: "time".to_owned(),
                scale: Scale::Linear,
                unit: Unit::Seconds,
            },
            series: vec!["time".to_owned()],
            groups: groups.collect(),
        }
    }

    /// The chart.
    pub(crate) fn svg(&self) -> String {
        svg::bar_chart(&self.chart())
    }

    /// The report as a self-contained page.
    pub(crate) fn html(&self) -> String {
        let mut page = html::Page::new("What if: temporary tables");
        page.preformatted(self.statement.trim());
        page.figure(&self.svg());
        let rows: Vec<Vec<String>> = self
            .rows()
            .map(|(case, outcome)| self.cells(case, outcome))
            .collect();
        let head = ["Temporary tables", "Time", "To memory", "What they were"];
        page.table("Time in each case", &head, &rows, |_| false);
        page.paragraph(&self.verdict().text());
        page.finish()
    }

    /// The report as JSON.
    pub(crate) fn json(&self) -> String {
        let cases = self.rows().map(|(case, outcome)| {
            let (memory, disk) = match case.engine {
                Engine::TempTable => ("TempTable", None),
                Engine::Legacy(disk) => ("MEMORY", Some(disk)),
            };
            let mut object = json!({
                "title": self.title(case, outcome), "engine": memory, "disk_engine": disk, "limit_bytes": case.limit,
            });
            match outcome {
                Outcome::Ran { times, tables, rows } => {
                    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
                    object["seconds"] = json!(seconds);
                    object["rows"] = json!(rows.rows);
                    object["temporary_tables"] = tables.iter().map(table_json).collect();
                }
                Outcome::TooLong(limit) => object["longer_than_seconds"] = json!(limit.as_secs()),
                Outcome::Failed(error) => object["error"] = json!(error),
                Outcome::Unstable => object["error"] = json!("two runs gave other rows"),
            }
            object
        });
        let cases: Vec<serde_json::Value> = cases.collect();
        let report = json!({
            "statement": self.statement,
            "same_rows": self.is_same_everywhere(),
            "verdict": self.verdict().text(),
            "cases": cases,
            "elsewhere": self.elsewhere.iter().map(Elsewhere::json).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

fn described(table: &TemporaryTableRecord) -> String {
    let rows = if table.groups > 0 {
        table.groups
    } else {
        table.rows
    };
    let mut text = format!(
        "{} in {}: {rows} rows, {} in memory",
        table.purpose.name(),
        table.engine,
        units::bytes(table.memory_peak)
    );
    if table.disk_peak > 0 {
        let _ = write!(text, ", {} on disk", units::bytes(table.disk_peak));
    }
    text
}

fn table_json(table: &TemporaryTableRecord) -> serde_json::Value {
    json!({
        "purpose": table.purpose.name(),
        "cause": &*table.cause,
        "engine": table.engine,
        "rows": table.rows,
        "groups": table.groups,
        "memory_peak_bytes": table.memory_peak,
        "disk_peak_bytes": table.disk_peak,
        "bytes_written": table.bytes_written,
        "limit": table.limit.map(|limit| limit.setting),
    })
}

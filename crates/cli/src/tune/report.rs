//! The report of `mayfly tune` as text, as a page, as pictures and as JSON.

use std::fmt::Write;

use mayfly_charts::{LineChart, html::Page, svg, terminal};
use mayfly_tuning::{Advice, CaseReport, Outcome, Report, published, read_bytes};
use serde_json::{Value, json};

use super::conclusion;
use super::figures::{self, Row, capitalized};

const TITLE: &str = "Which read_buffer_size is best?";
/// Characters of the longest bar in a table.
const BAR_WIDTH: usize = 12;
/// Lines of a chart in the terminal.
const CHART_HEIGHT: usize = 12;
const RULE: &str = "Sizes are compared within rounds. \"As good\" cannot be told from the best: it takes at most two standard errors \
                    of the median longer, which count for 1 % at least and 5 % at most. The smallest of them is chosen.";

/// Content of the report.
pub(super) struct Told<'a> {
    pub(super) report: &'a Report,
    pub(super) advice: &'a Advice,
    pub(super) facts: &'a [(&'static str, String)],
    /// The scanned file.
    pub(super) file: &'a str,
}

impl Told<'_> {
    fn facts(&self) -> String {
        let facts = self
            .facts
            .iter()
            .map(|(name, value)| format!("{name}: {value}"));
        let facts: Vec<String> = facts.collect();
        facts.join("; ")
    }

    /// The report for a terminal with `width` columns.
    pub(super) fn text(&self, width: usize) -> String {
        let mut out = format!("{}\n{}\n", self.file, self.facts());
        for case in &self.report.cases {
            let _ = write!(
                out,
                "\n{} [{}]",
                capitalized(&case.case.title),
                case.case.name
            );
            match (&case.outcome, figures::extent(case)) {
                (Outcome::Skipped(why), _) => {
                    let _ = writeln!(out, "\n  not measured: {why}");
                }
                (_, extent) => {
                    let _ = writeln!(out, ": {}", extent.unwrap_or_default());
                    out += &table(figures::columns(case), &figures::rows(self.report, case));
                    if let Some(warning) = figures::warning(case) {
                        let _ = writeln!(out, "  ({warning})");
                    }
                }
            }
        }
        for case in self
            .report
            .cases
            .iter()
            .filter(|case| published(&case.case).is_some())
        {
            if let Some(chart) = figures::chart(self.report, case) {
                out += &format!("\n{}", terminal::line_chart(&chart, width, CHART_HEIGHT));
            }
        }
        let _ = writeln!(out, "\n{RULE}");
        let lines = self.advice.option_file();
        if lines.is_empty() {
            out += "\nNothing was measured, so there is nothing to set.\n";
        } else {
            let _ = writeln!(out, "\nFor my.cnf:\n\n{lines}");
        }
        if let Some(doubt) = self.doubt() {
            let _ = writeln!(out, "{doubt}");
        }
        for reason in conclusion::reasons(self.advice) {
            let _ = writeln!(out, "{reason}");
        }
        if self.report.was_stopped {
            out += "It was interrupted: these are the times that were measured until then.\n";
        }
        out
    }

    /// Limits of the advice's reliability; `None` if every case was calm.
    fn doubt(&self) -> Option<String> {
        let measured = self
            .report
            .cases
            .iter()
            .filter(|case| case.measured().is_some());
        let all = measured.clone().count();
        let restless = measured
            .filter(|case| figures::warning(case).is_some())
            .count();
        (restless > 0).then(|| {
            format!(
                "{restless} of {all} cases have differences that may be chance (a restless machine, or too few rounds), so \
                 these values may be, too."
            )
        })
    }

    fn charts(&self) -> Vec<LineChart> {
        let charts = self
            .report
            .cases
            .iter()
            .filter_map(|case| figures::chart(self.report, case));
        charts.collect()
    }

    /// All charts in one picture.
    pub(super) fn svg(&self) -> String {
        svg::line_charts(
            TITLE,
            &conclusion::reasons(self.advice).join(" "),
            &self.charts(),
            2,
        )
    }

    /// A page.
    pub(super) fn html(&self) -> String {
        let mut page = Page::new(TITLE);
        page.paragraph(self.file);
        page.paragraph(&self.facts());
        page.heading("For my.cnf");
        let lines = self.advice.option_file();
        page.preformatted(if lines.is_empty() {
            "# nothing was measured"
        } else {
            &lines
        });
        for reason in self
            .doubt()
            .into_iter()
            .chain(conclusion::reasons(self.advice))
        {
            page.paragraph(&reason);
        }
        page.paragraph(RULE);
        for case in &self.report.cases {
            page.heading(&capitalized(&case.case.title));
            if let Outcome::Skipped(why) = &case.outcome {
                page.paragraph(&format!("Not measured: {why}."));
                continue;
            }
            if let Some(chart) = figures::chart(self.report, case) {
                page.figure(&svg::line_chart(&chart));
            }
            let rows = figures::rows(self.report, case);
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.cells().map(str::to_owned).to_vec())
                .collect();
            if let Some(warning) = figures::warning(case) {
                page.paragraph(&format!("{}.", capitalized(&warning)));
            }
            let extent = figures::extent(case).unwrap_or_default();
            page.table(&extent, &figures::columns(case), &cells, |row| {
                rows[row].is_chosen
            });
        }
        page.finish()
    }

    /// All measured times, and their evaluation.
    pub(super) fn json(&self) -> Value {
        let setting = |setting: &Option<mayfly_tuning::Setting>| {
            setting.as_ref().map(|setting| {
                json!({
                    "value": setting.value,
                    "loss": setting.loss,
                    "default_loss": setting.default_loss,
                    "default_loses_in": setting.default_loses_in,
                })
            })
        };
        let facts = self
            .facts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        json!({
            "file": self.file,
            "machine": Value::Object(facts.collect()),
            "was_interrupted": self.report.was_stopped,
            "cases": self.report.cases.iter().map(|case| self.case_json(case)).collect::<Vec<_>>(),
            "advice": {
                "read_buffer_size": setting(&self.advice.read_buffer_size),
                "read_rnd_buffer_size": setting(&self.advice.read_rnd_buffer_size),
                "option_file": self.advice.option_file(),
            },
        })
    }

    fn case_json(&self, case: &CaseReport) -> Value {
        let mut object = json!({ "name": case.case.name, "title": case.case.title });
        if let Outcome::Skipped(why) = &case.outcome {
            object["skipped"] = json!(why);
        }
        let Some((measured, choice)) = case.measured() else {
            return object;
        };
        let sizes = self.report.sizes.iter().enumerate().map(|(index, size)| {
            let times: Vec<f64> = measured
                .rounds
                .iter()
                .filter_map(|round| round[index])
                .collect();
            let summary = measured.summary(index);
            json!({
                "size": size,
                "bytes_at_a_time": read_bytes(*size),
                "seconds": times,
                "median_seconds": summary.map(|it| it.median),
                "quartiles_seconds": summary.map(|it| [it.low_quartile, it.high_quartile]),
                "least_seconds": summary.map(|it| it.least),
                "excess": choice.excess(index),
                "is_as_good_as_best": choice.is_as_good[index],
                "article_excess": published(&case.case).and_then(|table| table.excess(*size)),
            })
        });
        object["bytes"] = json!(measured.bytes);
        object["best"] = json!(self.report.sizes[choice.best]);
        object["chosen"] = json!(self.report.sizes[choice.chosen]);
        object["noise"] = json!(choice.noise);
        object["sizes"] = sizes.collect();
        object
    }
}

/// A table of a case for the terminal.
fn table(columns: [&str; 7], rows: &[Row]) -> String {
    let has_article = rows.iter().any(|row| !row.article.is_empty());
    let is_shown = |column: usize| column != 5 || has_article;
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.cells()[column].chars().count());
        cells
            .chain([columns[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: [&str; 7], bar: &str| {
        let mut line = format!("  {:<1$}", cells[0], widths[0]);
        for column in (1..6).filter(|column| is_shown(*column)) {
            let _ = write!(line, "  {:>1$}", cells[column], widths[column]);
        }
        let _ = write!(line, "  {bar:BAR_WIDTH$}  {}", cells[6]);
        line.trim_end().to_owned() + "\n"
    };
    let mut out = line(columns, "");
    for row in rows {
        out += &line(row.cells(), &terminal::bar(row.share, BAR_WIDTH));
    }
    out
}

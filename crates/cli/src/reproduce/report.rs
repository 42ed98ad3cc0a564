//! Results of an article's experiments, and the report of all of them: as text, as a page and as JSON.

use std::fmt::Write as _;

use mayfly_charts::{BarChart, LineChart, Unit, html::Page, svg, terminal};
use serde_json::{Value, json};

use super::published::Article;
use super::timing::Outcome;
use crate::row_sum::RowSum;

const TITLE: &str = "Five articles on temporary tables, measured again";
/// Lines of a line chart in the terminal.
const CHART_HEIGHT: usize = 12;
const SAME: &str = "All results were equal.";
const DIFFERENT: &str = "RESULTS DIFFER.";

/// A picture.
#[derive(Debug)]
pub(super) enum Chart {
    Bars(BarChart),
    Lines(LineChart),
}

impl Chart {
    fn svg(&self) -> String {
        match self {
            Self::Bars(chart) => svg::bar_chart(chart),
            Self::Lines(chart) => svg::line_chart(chart),
        }
    }

    fn text(&self, width: usize) -> String {
        match self {
            Self::Bars(chart) => terminal::bar_chart(chart, width),
            Self::Lines(chart) => terminal::line_chart(chart, width, CHART_HEIGHT),
        }
    }
}

/// A table of published and measured figures.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) title: String,
    /// The statement that was measured, if it is one.
    pub(super) statement: Option<String>,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) chart: Option<Chart>,
    /// The figures of the table as numbers.
    pub(super) figures: Vec<Value>,
}

/// Results that must be equal.
#[derive(Debug)]
pub(super) struct Check {
    /// The compared results.
    pub(super) what: String,
    /// Each source with its result.
    pub(super) answers: Vec<(String, RowSum)>,
}

impl Check {
    fn is_equal(&self) -> bool {
        self.answers.windows(2).all(|pair| pair[0].1 == pair[1].1)
    }

    /// The check as a sentence.
    fn text(&self) -> String {
        let rows = |sum: &RowSum| match sum.rows {
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        match self.answers.first() {
            Some((_, first)) if self.is_equal() => format!(
                "{}: {} equal results of {}",
                self.what,
                self.answers.len(),
                rows(first)
            ),
            _ => {
                let answers = self.answers.iter();
                let all: Vec<String> = answers
                    .map(|(who, sum)| format!("{who} {} ({sum:?})", rows(sum)))
                    .collect();
                format!("{}: RESULTS DIFFER: {}", self.what, all.join(", "))
            }
        }
    }
}

/// An article with the results of its experiments.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) article: &'static Article,
    /// Size of the experiments, compared with the article's.
    pub(super) size: String,
    pub(super) tables: Vec<Table>,
    pub(super) notes: Vec<String>,
    pub(super) checks: Vec<Check>,
    /// Errors of Mayfly, of which there should be none.
    pub(super) failures: Vec<String>,
}

impl Told {
    /// An article without results yet.
    pub(super) fn new(article: &'static Article, size: String) -> Self {
        Self {
            article,
            size,
            tables: Vec::new(),
            notes: Vec::new(),
            checks: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds a result to a set of results that must be equal.
    pub(super) fn check(&mut self, what: &str, who: &str, rows: RowSum) {
        let answer = (who.to_owned(), rows);
        match self.checks.iter_mut().find(|check| check.what == what) {
            Some(check) => check.answers.push(answer),
            None => self.checks.push(Check {
                what: what.to_owned(),
                answers: vec![answer],
            }),
        }
    }

    /// Adds the outcome of a measurement: its rows are compared, its error is reported.
    pub(super) fn take(&mut self, what: &str, who: &str, is_mayfly: bool, outcome: &Outcome) {
        match outcome {
            Outcome::Ran { rows, .. } => self.check(what, who, *rows),
            Outcome::Failed(error) if is_mayfly => {
                self.failures.push(format!("{what}: {who}: {error}"));
            }
            Outcome::Failed(error) => self.notes.push(format!("{what}: {who}: {error}")),
            Outcome::TooLong(_) | Outcome::Cannot => {}
        }
    }

    fn is_right(&self) -> bool {
        self.failures.is_empty() && self.checks.iter().all(Check::is_equal)
    }

    fn heading(&self) -> String {
        let Article {
            number,
            title,
            year,
            ..
        } = self.article;
        format!("Article {number}: \"{title}\" ({year})")
    }

    fn text(&self, width: usize) -> String {
        let mut out = format!(
            "{}\nPublished: {}. {}\n",
            self.heading(),
            self.article.subject,
            self.size
        );
        for table in &self.tables {
            let _ = write!(out, "\n{}\n", table.title);
            if let Some(statement) = &table.statement {
                let _ = writeln!(out, "  {statement}");
            }
            out += &aligned(&table.head, &table.rows);
            if let Some(chart) = &table.chart {
                let _ = write!(out, "\n{}", chart.text(width));
            }
        }
        out += "\n";
        for line in self.notes.iter().chain(&self.failures) {
            let _ = writeln!(out, "{line}");
        }
        for check in &self.checks {
            let _ = writeln!(out, "{}", check.text());
        }
        out
    }

    fn page(&self, page: &mut Page) {
        page.heading(&self.heading());
        page.paragraph(&format!(
            "Published: {}. {}",
            self.article.subject, self.size
        ));
        for table in &self.tables {
            if let Some(statement) = &table.statement {
                page.preformatted(statement);
            }
            let head: Vec<&str> = table.head.iter().map(String::as_str).collect();
            page.table(&table.title, &head, &table.rows, |_| false);
            if let Some(chart) = &table.chart {
                page.figure(&chart.svg());
            }
        }
        for line in self.notes.iter().chain(&self.failures) {
            page.paragraph(line);
        }
        for check in &self.checks {
            page.paragraph(&check.text());
        }
    }

    fn json(&self) -> Value {
        let tables = self.tables.iter().map(|table| {
            json!({
                "title": table.title, "statement": table.statement,
                "head": table.head, "rows": table.rows, "figures": table.figures,
            })
        });
        let checks = self.checks.iter().map(|check| {
            let who: Vec<&String> = check.answers.iter().map(|(who, _)| who).collect();
            let rows = check.answers.first().map(|(_, sum)| sum.rows);
            json!({"what": check.what, "of": who, "rows": rows, "equal": check.is_equal()})
        });
        json!({
            "number": self.article.number,
            "title": self.article.title,
            "year": self.article.year,
            "published_of": self.article.subject,
            "size": self.size,
            "tables": tables.collect::<Vec<_>>(),
            "notes": self.notes,
            "failures": self.failures,
            "checks": checks.collect::<Vec<_>>(),
        })
    }
}

/// Results of all experiments.
#[derive(Debug)]
pub(super) struct Report {
    /// Facts about the run: program, machine and servers.
    pub(super) facts: Vec<String>,
    pub(super) articles: Vec<Told>,
    /// Total time in seconds.
    pub(super) seconds: f64,
}

impl Report {
    /// Whether nothing failed and all results were equal.
    pub(super) fn is_right(&self) -> bool {
        self.articles.iter().all(Told::is_right)
    }

    fn verdict(&self) -> &'static str {
        match (
            self.is_right(),
            self.articles.iter().all(|told| told.failures.is_empty()),
        ) {
            (true, _) => SAME,
            (false, true) => DIFFERENT,
            (false, false) => "STATEMENTS FAILED OR RESULTS DIFFER.",
        }
    }

    /// The duration, as the last line of the report.
    fn duration(&self) -> String {
        format!("It took {}.", Unit::Seconds.write(self.seconds))
    }

    /// The report for a terminal with `width` columns.
    pub(super) fn text(&self, width: usize) -> String {
        let mut out = format!("{TITLE}\n{}\n\n", self.facts.join("; "));
        for told in &self.articles {
            out += &told.text(width);
            out += "\n";
        }
        let _ = writeln!(out, "{} {}", self.verdict(), self.duration());
        out
    }

    /// The report as a self-contained page.
    pub(super) fn html(&self) -> String {
        let mut page = Page::new(TITLE);
        page.paragraph(&self.facts.join("; "));
        page.paragraph(&format!("{} {}", self.verdict(), self.duration()));
        for told in &self.articles {
            told.page(&mut page);
        }
        page.finish()
    }

    /// The report as JSON.
    pub(super) fn json(&self) -> String {
        let articles: Vec<Value> = self.articles.iter().map(Told::json).collect();
        let report = json!({
            "facts": self.facts,
            "seconds": self.seconds,
            "all_equal": self.is_right(),
            "articles": articles,
        });
        format!("{report:#}\n")
    }
}

/// A table for the terminal: the first column left-aligned, the others right-aligned.
fn aligned(head: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .chain([&head.to_vec()])
            .filter_map(|row| row.get(column).map(|cell| cell.chars().count()))
            .collect::<Vec<_>>();
        cells.into_iter().max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let mut line = String::from(" ");
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let _ = if column == 0 {
                write!(line, " {cell:<width$}")
            } else {
                write!(line, "  {cell:>width$}")
            };
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut out = line(head);
    for row in rows {
        out += &line(row);
    }
    out
}

/// Seconds, or the reason why there are none.
pub(super) fn time_cell(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ran { seconds, .. } => Unit::Seconds.write(*seconds),
        Outcome::TooLong(seconds) => format!("> {seconds} s"),
        Outcome::Cannot => "–".to_owned(),
        Outcome::Failed(_) => "error".to_owned(),
    }
}

/// The ratio of a figure to another one.
pub(super) fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    let ratio = value? / base?;
    ratio.is_finite().then_some(ratio)
}

/// A ratio, or nothing.
pub(super) fn ratio_cell(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| Unit::Times.write(ratio))
}

/// A gain: 0.5 is 50 % more.
pub(super) fn gain_cell(gain: Option<f64>) -> String {
    gain.map_or_else(String::new, |gain| format!("{:+.1} %", gain * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::published::ARTICLES;

    fn report(sums: [&str; 2]) -> Report {
        let mut told = Told::new(&ARTICLES[1], "Small.".to_owned());
        told.tables.push(Table {
            title: "Times".to_owned(),
            head: vec!["case".to_owned(), "<time>".to_owned()],
            rows: vec![vec!["a".to_owned(), "1 s".to_owned()]],
            ..Table::default()
        });
        for (who, value) in ["one", "other"].iter().zip(sums) {
            let mut sum = RowSum::default();
            sum.add(&[Some(value)]);
            told.check("rows", who, sum);
        }
        Report {
            facts: vec!["two processors".to_owned()],
            articles: vec![told],
            seconds: 2.0,
        }
    }

    #[test]
    fn equal_results_are_said_to_be_equal() {
        let report = report(["x", "x"]);
        assert!(report.is_right());
        assert_eq!(
            report.text(80),
            "Five articles on temporary tables, measured again\n\
             two processors\n\n\
             Article 1: \"Back on disk temporary tables\" (2011)\n\
             Published: MariaDB 5.3. Small.\n\n\
             Times\n  case  <time>\n  a        1 s\n\n\
             rows: 2 equal results of 1 row\n\n\
             All results were equal. It took 2 s.\n"
        );
        let page = report.html();
        assert!(
            page.contains("&lt;time&gt;") && page.contains(SAME),
            "{page}"
        );
        let json: Value = serde_json::from_str(&report.json()).unwrap_or_default();
        assert_eq!(json["all_equal"], true);
        assert_eq!(json["articles"][0]["tables"][0]["rows"][0][1], "1 s");
    }

    #[test]
    fn other_results_are_an_error() {
        let report = report(["x", "y"]);
        assert!(!report.is_right());
        assert!(report.text(80).contains("rows: RESULTS DIFFER: one 1 row"));
        assert!(report.html().contains(DIFFERENT));
    }

    #[test]
    fn ratios_need_both_figures() {
        assert_eq!(ratio_cell(ratio(Some(3.0), Some(2.0))), "1.5 ×");
        assert_eq!(ratio_cell(ratio(Some(3.0), None)), "");
        assert_eq!(ratio(Some(1.0), Some(0.0)), None);
    }
}

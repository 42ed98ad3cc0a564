//! The figures of a case, as rows of a table and as a chart, for the terminal, the page and the pictures.

use mayfly_charts::{Axis, LineChart, Point, Scale, Series, Unit};
use mayfly_tuning::{CaseReport, MOST_DIFFERENCE, Report, published, size_text};

use crate::units;

/// One line of a case's table.
pub(crate) struct Row {
    pub(crate) size: String,
    pub(crate) median: String,
    pub(crate) spread: String,
    pub(crate) rate: String,
    /// Excess over the best time.
    pub(crate) excess: String,
    /// The article's excess over its best time.
    pub(crate) article: String,
    /// Result of the rule of choice for the size.
    pub(crate) verdict: &'static str,
    /// The median as a share of the greatest median of the case.
    pub(crate) share: f64,
    pub(crate) is_chosen: bool,
}

/// The names of the columns of [`Row::cells`].
pub(crate) fn columns(case: &CaseReport) -> [&'static str; 7] {
    let variable = case.case.variable();
    [
        variable,
        "median",
        "spread",
        "MB/s",
        "to the best",
        "article",
        "",
    ]
}

impl Row {
    pub(crate) fn cells(&self) -> [&str; 7] {
        let Self {
            size,
            median,
            spread,
            rate,
            excess,
            article,
            verdict,
            ..
        } = self;
        [size, median, spread, rate, excess, article, verdict]
    }
}

/// The lines of a case; none if it was not measured.
pub(crate) fn rows(report: &Report, case: &CaseReport) -> Vec<Row> {
    let Some((measured, choice)) = case.measured() else {
        return Vec::new();
    };
    let summaries: Vec<_> = (0..report.sizes.len())
        .map(|size| measured.summary(size))
        .collect();
    let slowest = summaries
        .iter()
        .flatten()
        .map(|summary| summary.median)
        .fold(0.0, f64::max);
    let article = published(&case.case);
    let sizes = report.sizes.iter().zip(summaries).enumerate();
    let row = |(index, (size, summary)): (usize, (&u64, Option<mayfly_tuning::Summary>))| {
        let summary = summary?;
        let relative = choice.relative[index]?;
        let verdict = match index {
            _ if index == choice.chosen && index == choice.best => "best, chosen",
            _ if index == choice.best => "best",
            _ if index == choice.chosen => "as good, chosen",
            _ if choice.is_as_good[index] => "as good",
            _ => "",
        };
        let spread = if relative.count < 2 {
            String::new()
        } else {
            format!("± {:.1} %", summary.spread() * 100.0)
        };
        Some(Row {
            size: size_text(*size),
            median: format!("{:.1} ms", summary.median * 1e3),
            spread,
            rate: format!(
                "{:.0}",
                measured.bytes as f64 / summary.median.max(1e-9) / 1e6
            ),
            excess: percent(relative.median - 1.0),
            article: article
                .and_then(|table| table.excess(*size))
                .map_or(String::new(), percent),
            verdict,
            share: summary.median / slowest.max(f64::MIN_POSITIVE),
            is_chosen: index == choice.chosen,
        })
    };
    sizes.filter_map(row).collect()
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// The scanned rows, in a line.
pub(crate) fn extent(case: &CaseReport) -> Option<String> {
    let (measured, _) = case.measured()?;
    let complete = measured
        .rounds
        .iter()
        .filter(|round| round.iter().all(Option::is_some))
        .count();
    let bytes = units::bytes(measured.bytes);
    let rounds = if complete == 1 { "round" } else { "rounds" };
    Some(format!("{bytes} a scan, {complete} complete {rounds}"))
}

/// A warning where the noise is larger than the differences that the rule trusts.
pub(crate) fn warning(case: &CaseReport) -> Option<String> {
    let (_, choice) = case.measured()?;
    match choice.noise {
        Some(noise) if noise <= MOST_DIFFERENCE => None,
        Some(noise) => Some(format!(
            "restless machine: differences below {:.0} % may be chance; measure again when nothing else runs",
            noise * 100.0
        )),
        None => {
            Some("too few rounds to tell chance from difference; give it more --seconds".to_owned())
        }
    }
}

/// The chart of a case: the excess of each size over the best, with the article's line beside it.
pub(crate) fn chart(report: &Report, case: &CaseReport) -> Option<LineChart> {
    let (_, choice) = case.measured()?;
    let points = report.sizes.iter().zip(&choice.relative);
    let points = points.filter_map(|(size, relative)| {
        let relative = relative.as_ref()?;
        Some(Point {
            x: *size as f64,
            y: relative.median - 1.0,
            range: (relative.count > 1)
                .then_some((relative.low_quartile - 1.0, relative.high_quartile - 1.0)),
        })
    });
    let mut series = vec![Series {
        name: "this machine".to_owned(),
        points: points.collect(),
        is_reference: false,
    }];
    if let Some(table) = published(&case.case) {
        let points = table.seconds.iter().filter_map(|(size, _)| {
            let y = table.excess(*size)?;
            Some(Point {
                x: *size as f64,
                y,
                range: None,
            })
        });
        series.push(Series {
            name: table.name.to_owned(),
            points: points.collect(),
            is_reference: true,
        });
    }
    let variable = case.case.variable();
    let size = |index: usize| size_text(report.sizes[index]);
    Some(LineChart {
        title: capitalized(&case.case.title),
        description: format!(
            "Time of a scan at each {variable}, beyond that of the best. Best: {}; the smallest that is as good: {}.",
            size(choice.best),
            size(choice.chosen)
        ),
        x: Axis {
            label: variable.to_owned(),
            scale: Scale::Log2,
            unit: Unit::Bytes,
        },
        y: Axis {
            label: "longer than the best size".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Percent,
        },
        series,
    })
}

/// A text with a capital at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

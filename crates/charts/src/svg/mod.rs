//! Charts as self-contained SVG, as a file or inside a page.
//!
//! Every colour is a CSS class, so that `prefers-color-scheme` switches a picture to dark. Series differ also in the
//! shape of their markers, for readers who do not distinguish the colours. All text passes through [`escape`].

mod bars;
mod lines;
mod style;

use std::fmt::Write;

use crate::html::escape;
use crate::{BarChart, LineChart};

/// Pixels of a chart's width.
const WIDTH: f64 = 720.0;
/// Pixels between charts of one picture.
const GAP: f64 = 20.0;
/// Pixels of a character's width, about: 13 px of a proportional font.
const CHARACTER: f64 = 7.0;
/// Pixels of a line of the legend.
const LEGEND_LINE: f64 = 20.0;

/// A line chart.
pub fn line_chart(chart: &LineChart) -> String {
    document(&chart.title, &chart.description, &[lines::draw(chart)], 1)
}

/// Several line charts in one picture, `columns` per row.
pub fn line_charts(title: &str, description: &str, charts: &[LineChart], columns: usize) -> String {
    let drawn: Vec<Drawing> = charts.iter().map(lines::draw).collect();
    document(title, description, &drawn, columns)
}

/// A bar chart.
pub fn bar_chart(chart: &BarChart) -> String {
    document(&chart.title, &chart.description, &[bars::draw(chart)], 1)
}

/// A drawing of a chart in its own coordinates.
struct Drawing {
    content: String,
    height: f64,
}

/// A picture of drawings in rows.
fn document(title: &str, description: &str, drawings: &[Drawing], columns: usize) -> String {
    let columns = columns.clamp(1, drawings.len().max(1));
    let mut content = String::new();
    let mut top = 0.0;
    for row in drawings.chunks(columns) {
        for (column, drawing) in row.iter().enumerate() {
            let left = column as f64 * (WIDTH + GAP);
            let _ = write!(
                content,
                r#"<g transform="translate({left} {top:.1})">{}</g>"#,
                drawing.content
            );
        }
        let height = row.iter().map(|drawing| drawing.height);
        top += height.fold(0.0, f64::max) + GAP;
    }
    let width = columns as f64 * (WIDTH + GAP) - GAP;
    let height = (top - GAP).max(GAP);
    let id = identifier(title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="mayfly-chart" viewBox="0 0 {width} {height:.1}" width="{width}" height="{height:.1}" role="img" aria-labelledby="{id}-title {id}-description"><title id="{id}-title">{}</title><desc id="{id}-description">{}</desc><style>{}</style><rect class="ground" width="{width}" height="{height:.1}"/>{content}</svg>
"#,
        escape(title),
        escape(description),
        style::CSS,
    )
}

/// An element identifier derived from the title, valid in an attribute.
fn identifier(title: &str) -> String {
    let name: String = title
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    format!("chart-{name}")
}

/// Appends a text at a position; `anchor` is `start`, `middle` or `end`.
fn text(out: &mut String, class: &str, anchor: &str, (x, y): (f64, f64), text: &str) {
    let _ = write!(
        out,
        r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{}</text>"#,
        escape(text)
    );
}

/// A straight line.
fn line(out: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = write!(
        out,
        r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

/// Appends the legend from a position on, in lines no longer than `width`; returns its height. Empty for a single
/// series, which the title names.
fn legend(
    out: &mut String,
    names: &[&str],
    (left, top): (f64, f64),
    width: f64,
    sign: impl Fn(&mut String, usize, (f64, f64)),
) -> f64 {
    if names.len() < 2 {
        return 0.0;
    }
    let (mut x, mut y) = (left, top + LEGEND_LINE / 2.0);
    for (index, name) in names.iter().enumerate() {
        let length = 30.0 + CHARACTER * name.chars().count() as f64 + 14.0;
        if x > left && x + length > left + width {
            (x, y) = (left, y + LEGEND_LINE);
        }
        sign(out, index, (x, y));
        text(out, "label", "start", (x + 30.0, y + 4.5), name);
        x += length;
    }
    y - top + LEGEND_LINE / 2.0
}

/// A text that fits into `pixels` pixels, cut with an ellipsis if necessary.
fn fitting(text: &str, pixels: f64) -> String {
    let most = (pixels / CHARACTER).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

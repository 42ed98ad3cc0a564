//! A line chart as SVG.

use std::fmt::Write;

use super::style::COLOURS;
use super::{CHARACTER, Drawing, WIDTH, fitting, legend, line, text};
use crate::html::escape;
use crate::scale::Projection;
use crate::{LineChart, Point, Series};

/// Height in pixels of the plot area.
const AREA_HEIGHT: f64 = 280.0;
const TITLE_HEIGHT: f64 = 34.0;
/// Height in pixels below the plot area: ticks and the label of the axis.
const BELOW: f64 = 52.0;
const RIGHT: f64 = 20.0;
/// Half the width of a marker.
const DOT: f64 = 4.5;

/// The plot area of a chart, with the projection of values into it.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    x: Projection,
    y: Projection,
}

impl Area {
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place(x)?, self.y.place(y)?);
        Some((
            self.left + x * self.width,
            self.top + (1.0 - y) * AREA_HEIGHT,
        ))
    }
}

pub(super) fn draw(chart: &LineChart) -> Drawing {
    let mut out = String::new();
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let ends = |point: &Point| {
        let (low, high) = point.range.unwrap_or((point.y, point.y));
        [point.y, low, high]
    };
    let x = Projection::tight(chart.x.scale, points().map(|point| point.x));
    let y = Projection::round(chart.y.scale, points().flat_map(ends), true);
    let marks: Vec<(f64, String)> = y
        .marks(6)
        .into_iter()
        .map(|mark| (mark, chart.y.unit.write(mark)))
        .collect();
    let longest = marks.iter().map(|(_, text)| text.chars().count()).max();
    let left = (22.0 + CHARACTER * longest.unwrap_or(0) as f64 + 10.0).min(WIDTH * 0.4);
    let width = WIDTH - left - RIGHT;
    text(
        &mut out,
        "title",
        "start",
        (8.0, 22.0),
        &fitting(&chart.title, (WIDTH - 16.0) * 0.8),
    );
    let names: Vec<&str> = chart
        .series
        .iter()
        .map(|series| series.name.as_str())
        .collect();
    let sign = |out: &mut String, index: usize, (x, y): (f64, f64)| {
        let series = &chart.series[index];
        let _ = write!(out, r#"<g class="s{}">"#, index % COLOURS);
        line(out, path_class(series), (x, y), (x + 24.0, y));
        dot(out, index, (x + 12.0, y), "");
        out.push_str("</g>");
    };
    let top =
        TITLE_HEIGHT + legend(&mut out, &names, (8.0, TITLE_HEIGHT), WIDTH - 16.0, sign) + 10.0;
    let area = Area {
        left,
        top,
        width,
        x,
        y,
    };
    let bottom = top + AREA_HEIGHT;
    for (mark, written) in &marks {
        let place = bottom - area.y.place(*mark).unwrap_or_default() * AREA_HEIGHT;
        line(&mut out, "grid", (left, place), (left + width, place));
        text(&mut out, "mark", "end", (left - 8.0, place + 4.5), written);
    }
    for mark in area.x.marks((width / 52.0) as usize) {
        let place = left + area.x.place(mark).unwrap_or_default() * width;
        line(&mut out, "axis", (place, bottom), (place, bottom + 5.0));
        text(
            &mut out,
            "mark",
            "middle",
            (place, bottom + 19.0),
            &chart.x.unit.write(mark),
        );
    }
    line(&mut out, "axis", (left, bottom), (left + width, bottom));
    text(
        &mut out,
        "label",
        "middle",
        (left + width / 2.0, bottom + 41.0),
        &fitting(&chart.x.label, width),
    );
    let middle = top + AREA_HEIGHT / 2.0;
    let _ = write!(
        out,
        r#"<text class="label" text-anchor="middle" transform="translate(14 {middle:.1}) rotate(-90)">{}</text>"#,
        escape(&fitting(&chart.y.label, AREA_HEIGHT))
    );
    for (index, series) in chart.series.iter().enumerate() {
        draw_series(&mut out, chart, &area, index, series);
    }
    Drawing {
        content: out,
        height: bottom + BELOW,
    }
}

fn path_class(series: &Series) -> &'static str {
    if series.is_reference {
        "path reference"
    } else {
        "path"
    }
}

fn draw_series(out: &mut String, chart: &LineChart, area: &Area, index: usize, series: &Series) {
    let _ = write!(out, r#"<g class="s{}">"#, index % COLOURS);
    let places: Vec<(&Point, (f64, f64))> = series
        .points
        .iter()
        .filter_map(|point| Some((point, area.at(point.x, point.y)?)))
        .collect();
    for (point, (x, _)) in &places {
        let Some((low, high)) = point.range else {
            continue;
        };
        if let (Some((_, low)), Some((_, high))) = (area.at(point.x, low), area.at(point.x, high)) {
            line(out, "spread", (*x, low), (*x, high));
            line(out, "spread", (x - 4.0, low), (x + 4.0, low));
            line(out, "spread", (x - 4.0, high), (x + 4.0, high));
        }
    }
    if places.len() > 1 {
        let corners: Vec<String> = places
            .iter()
            .map(|(_, (x, y))| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = write!(
            out,
            r#"<polyline class="{}" points="{}"/>"#,
            path_class(series),
            corners.join(" ")
        );
    }
    for (point, place) in places {
        let mut told = format!(
            "{}, {}: {}",
            series.name,
            chart.x.unit.write(point.x),
            chart.y.unit.write(point.y)
        );
        if let Some((low, high)) = point.range {
            let (low, high) = (chart.y.unit.write(low), chart.y.unit.write(high));
            let _ = write!(told, " ({low} to {high})");
        }
        dot(out, index, place, &told);
    }
    out.push_str("</g>");
}

/// Draws the marker of a series at a point: each series has its own shape.
fn dot(out: &mut String, index: usize, (x, y): (f64, f64), told: &str) {
    let corners: &[(f64, f64)] = match index % 4 {
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        _ => &[],
    };
    let title = if told.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escape(told))
    };
    if corners.is_empty() {
        let _ = write!(
            out,
            r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="{DOT}">{title}</circle>"#
        );
        return;
    }
    let corners: Vec<String> = corners
        .iter()
        .map(|(right, down)| format!("{:.1},{:.1}", x + right * DOT, y + down * DOT))
        .collect();
    let _ = write!(
        out,
        r#"<polygon class="dot" points="{}">{title}</polygon>"#,
        corners.join(" ")
    );
}

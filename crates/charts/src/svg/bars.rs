//! A bar chart as SVG.

use std::fmt::Write;

use super::style::COLOURS;
use super::{Drawing, WIDTH, fitting, legend, line, text};
use crate::html::escape;
use crate::scale::Projection;
use crate::{Bar, BarChart};

const TITLE_HEIGHT: f64 = 34.0;
const BAR_HEIGHT: f64 = 16.0;
const GROUP_GAP: f64 = 12.0;
/// Pixels of a character of a label, which may be a capital.
const LABEL_CHARACTER: f64 = 8.0;
const BELOW: f64 = 52.0;
/// Pixels of the longest value text behind a bar.
const VALUE_WIDTH: f64 = 70.0;

pub(super) fn draw(chart: &BarChart) -> Drawing {
    let mut out = String::new();
    text(
        &mut out,
        "title",
        "start",
        (8.0, 22.0),
        &fitting(&chart.title, (WIDTH - 16.0) * 0.8),
    );
    let names: Vec<&str> = chart.series.iter().map(String::as_str).collect();
    let sign = |out: &mut String, index: usize, (x, y): (f64, f64)| {
        let y = y - 6.0;
        let _ = write!(
            out,
            r#"<g class="s{}"><rect class="bar" x="{x:.1}" y="{y:.1}" width="24" height="12"/></g>"#,
            index % COLOURS
        );
    };
    let top =
        TITLE_HEIGHT + legend(&mut out, &names, (8.0, TITLE_HEIGHT), WIDTH - 16.0, sign) + 10.0;
    let longest = chart
        .groups
        .iter()
        .map(|group| group.label.chars().count())
        .max();
    let left = (LABEL_CHARACTER * longest.unwrap_or(0) as f64 + 20.0).min(WIDTH * 0.5);
    let width = WIDTH - left - VALUE_WIDTH;
    let bars = || {
        chart
            .groups
            .iter()
            .flat_map(|group| group.bars.iter().flatten())
    };
    let ends = |bar: &Bar| {
        let (low, high) = bar.range.unwrap_or((bar.value, bar.value));
        [bar.value, low, high]
    };
    let axis = Projection::round(chart.value.scale, bars().flat_map(ends), true);
    let place = |value: f64| axis.place(value).map(|place| left + place * width);
    let heights = chart
        .groups
        .iter()
        .map(|group| group.bars.len().max(1) as f64 * BAR_HEIGHT + GROUP_GAP);
    let bottom = top + heights.sum::<f64>();
    for mark in axis.marks(6) {
        let x = place(mark).unwrap_or(left);
        line(&mut out, "grid", (x, top), (x, bottom));
        text(
            &mut out,
            "mark",
            "middle",
            (x, bottom + 17.0),
            &chart.value.unit.write(mark),
        );
    }
    let mut y = top + GROUP_GAP / 2.0;
    for group in &chart.groups {
        let count = group.bars.len().max(1) as f64;
        let middle = y + count * BAR_HEIGHT / 2.0 + 4.5;
        text(
            &mut out,
            "label",
            "end",
            (left - 8.0, middle),
            &fitting(&group.label, left - 12.0),
        );
        for (index, bar) in group.bars.iter().enumerate() {
            let Some((bar, end)) = bar.and_then(|bar| Some((bar, place(bar.value)?))) else {
                continue;
            };
            let series = chart.series.get(index).map_or("", String::as_str);
            let written = chart.value.unit.write(bar.value);
            let top = y + index as f64 * BAR_HEIGHT + 1.0;
            let _ = write!(
                out,
                r#"<g class="s{}"><rect class="bar" x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}"><title>{}</title></rect></g>"#,
                index % COLOURS,
                end - left,
                BAR_HEIGHT - 2.0,
                escape(&format!("{}, {series}: {written}", group.label)),
            );
            let mut behind = end;
            if let Some((low, high)) = bar.range
                && let (Some(low), Some(high)) = (place(low), place(high))
            {
                let middle = top + BAR_HEIGHT / 2.0 - 1.0;
                line(&mut out, "whisker", (low, middle), (high, middle));
                behind = end.max(high);
            }
            text(
                &mut out,
                "mark",
                "start",
                (behind + 6.0, top + 11.5),
                &written,
            );
        }
        y += count * BAR_HEIGHT + GROUP_GAP;
    }
    line(&mut out, "axis", (left, top), (left, bottom));
    text(
        &mut out,
        "label",
        "middle",
        (left + width / 2.0, bottom + 39.0),
        &fitting(&chart.value.label, width),
    );
    Drawing {
        content: out,
        height: bottom + BELOW,
    }
}

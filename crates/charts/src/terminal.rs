//! Charts in characters: bars of block elements, lines of braille dots. They need no colour; each series has its own
//! marker.

use crate::scale::Projection;
use crate::{BarChart, LineChart, Scale};

const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// The markers of the series, in order.
const SIGNS: [char; 8] = ['●', '□', '▲', '◇', '○', '■', '△', '◆'];
/// Least width of a chart in characters.
const WIDTH_MIN: usize = 24;

/// A bar for a share of the whole, padded with spaces to `width` characters.
pub fn bar(share: f64, width: usize) -> String {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    let space = width.saturating_sub(bar.chars().count());
    bar + &" ".repeat(space)
}

/// A bar chart in lines of at most `width` characters.
pub fn bar_chart(chart: &BarChart, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let bars = || {
        chart
            .groups
            .iter()
            .flat_map(|group| group.bars.iter().flatten())
    };
    let axis = Projection::round(chart.value.scale, bars().map(|bar| bar.value), true);
    // Bars of an axis from zero are in proportion to the longest one.
    let longest = bars()
        .map(|bar| bar.value)
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let share = |value: f64| match chart.value.scale {
        Scale::Linear if longest > 0.0 => value / longest,
        Scale::Linear => 0.0,
        Scale::Log2 | Scale::Log10 => axis.place(value).unwrap_or(0.0),
    };
    let value_width = bars()
        .map(|bar| chart.value.unit.write(bar.value).chars().count())
        .max()
        .unwrap_or(0);
    let labels = chart.groups.iter().map(|group| group.label.chars().count());
    let names = chart.series.iter().map(|name| name.chars().count() + 2);
    let named = chart.series.len() > 1;
    let label_width = labels
        .chain(names.filter(|_| named))
        .max()
        .unwrap_or(0)
        .min(width / 2);
    let bar_width = width.saturating_sub(label_width + value_width + 2);
    let mut out = cut(&chart.title, width) + "\n";
    for group in &chart.groups {
        if named {
            out += &(cut(&group.label, width) + "\n");
        }
        for (index, bar) in group.bars.iter().enumerate() {
            let name = match chart.series.get(index) {
                Some(series) if named => format!("  {series}"),
                _ => group.label.clone(),
            };
            let name = cut(&name, label_width);
            let line = bar.map_or_else(String::new, |it| {
                let written = chart.value.unit.write(it.value);
                format!(
                    "{} {written:>value_width$}",
                    self::bar(share(it.value), bar_width)
                )
            });
            let line = format!("{name:label_width$} {line}");
            out += &(cut(line.trim_end(), width) + "\n");
        }
    }
    out
}

/// A canvas of braille characters, each two dots wide and four high.
struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<u8>,
    signs: Vec<Option<char>>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            dots: vec![0; width * height],
            signs: vec![None; width * height],
        }
    }

    /// The dot at a point of the unit square; the first row is the top one.
    fn dot(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let (columns, rows) = (self.width * 2 - 1, self.height * 4 - 1);
        (
            (x * columns as f64).round() as usize,
            ((1.0 - y) * rows as f64).round() as usize,
        )
    }

    fn set(&mut self, column: usize, row: usize) {
        // Braille patterns number the dots down the left column, then the right one, the lowest two last.
        const BITS: [[u8; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];
        let cell = row / 4 * self.width + column / 2;
        if let Some(dots) = self.dots.get_mut(cell) {
            *dots |= 1 << BITS[column % 2][row % 4];
        }
    }

    fn line(&mut self, from: (usize, usize), to: (usize, usize)) {
        let (columns, rows) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        let steps = columns.max(rows).max(1);
        let between = |from: usize, to: usize, step: usize| {
            let share = step as f64 / steps as f64;
            (from as f64 + (to as f64 - from as f64) * share).round() as usize
        };
        for step in 0..=steps {
            self.set(between(from.0, to.0, step), between(from.1, to.1, step));
        }
    }

    fn sign(&mut self, (column, row): (usize, usize), sign: char) {
        if let Some(cell) = self.signs.get_mut(row / 4 * self.width + column / 2) {
            *cell = Some(sign);
        }
    }

    fn row(&self, row: usize) -> String {
        let cells = row * self.width..(row + 1) * self.width;
        let letter = |cell: usize| match (self.signs[cell], self.dots[cell]) {
            (Some(sign), _) => sign,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        cells.map(letter).collect()
    }
}

/// A line chart in lines of at most `width` characters, with `height` lines for the lines themselves.
pub fn line_chart(chart: &LineChart, width: usize, height: usize) -> String {
    let (width, height) = (width.max(WIDTH_MIN), height.clamp(3, 200));
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = Projection::tight(chart.x.scale, points().map(|point| point.x));
    let y = Projection::round(chart.y.scale, points().map(|point| point.y), false);
    let marks = y.marks(height / 3 + 1);
    let written: Vec<String> = marks.iter().map(|mark| chart.y.unit.write(*mark)).collect();
    let left = written
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .min(width / 3);
    let mut canvas = Canvas::new(width - left - 2, height);
    for series in &chart.series {
        let places = series
            .points
            .iter()
            .filter_map(|point| Some((x.place(point.x)?, y.place(point.y)?)));
        let dots: Vec<(usize, usize)> = places.map(|place| canvas.dot(place)).collect();
        for pair in dots.windows(2) {
            canvas.line(pair[0], pair[1]);
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            if let (Some(x), Some(y)) = (x.place(point.x), y.place(point.y)) {
                canvas.sign(canvas.dot((x, y)), SIGNS[index % SIGNS.len()]);
            }
        }
    }
    let mut names = vec![String::new(); height];
    for (mark, text) in marks.iter().zip(written) {
        let row = canvas.dot((0.0, y.place(*mark).unwrap_or_default())).1 / 4;
        names[row.min(height - 1)] = cut(&text, left);
    }
    let mut out = cut(&chart.title, width) + "\n" + &cut(&chart.y.label, width) + "\n";
    for (row, name) in names.iter().enumerate() {
        let edge = if name.is_empty() { '│' } else { '┤' };
        let line = format!("{name:>left$} {edge}{}", canvas.row(row));
        out += line.trim_end();
        out.push('\n');
    }
    out += &format!("{:left$} └{}\n", "", "─".repeat(canvas.width));
    out += &axis_line(chart, &x, left + 2, canvas.width);
    out += &(cut(&format!("{:left$}  {}", "", chart.x.label), width) + "\n");
    if chart.series.len() > 1 {
        for (index, series) in chart.series.iter().enumerate() {
            out += &(cut(
                &format!("  {} {}", SIGNS[index % SIGNS.len()], series.name),
                width,
            ) + "\n");
        }
    }
    out
}

/// The line of tick labels below the axis, without overlaps.
fn axis_line(chart: &LineChart, x: &Projection, left: usize, width: usize) -> String {
    let mut line: Vec<char> = vec![' '; left + width];
    let mut free_from = 0;
    for mark in x.marks(width / 6) {
        let text: Vec<char> = chart.x.unit.write(mark).chars().collect();
        let middle =
            left + (x.place(mark).unwrap_or_default() * (width - 1) as f64).round() as usize;
        let start = middle
            .saturating_sub(text.len() / 2)
            .min(line.len().saturating_sub(text.len()));
        if start < free_from || start + text.len() > line.len() {
            continue;
        }
        line[start..start + text.len()].copy_from_slice(&text);
        free_from = start + text.len() + 1;
    }
    let line: String = line.into_iter().collect();
    line.trim_end().to_owned() + "\n"
}

/// A text without control characters, cut to `width` characters.
fn cut(text: &str, width: usize) -> String {
    let text = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let letters: Vec<char> = text.collect();
    if letters.len() <= width {
        return letters.into_iter().collect();
    }
    let mut cut: String = letters[..width.saturating_sub(1)].iter().collect();
    if width > 0 {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Bar, BarGroup, Point, Series, Unit};

    #[test]
    fn bars_are_in_proportion_and_of_one_width() {
        for share in [
            0.0,
            0.001,
            0.5,
            0.999,
            1.0,
            7.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
        ] {
            assert_eq!(bar(share, 40).chars().count(), 40, "{share}");
        }
        assert_eq!(bar(1.0, 40), "█".repeat(40));
        assert_eq!(bar(0.5, 40).trim_end(), "█".repeat(20));
        assert_eq!(bar(3.0 / 16.0, 4), "▊   ");
        assert_eq!(bar(f64::NAN, 4), "    ");
    }

    fn axis(label: &str, scale: Scale, unit: Unit) -> Axis {
        Axis {
            label: label.into(),
            scale,
            unit,
        }
    }

    #[test]
    fn a_bar_chart_names_its_groups_and_values() {
        let bars = |a, b| {
            [a, b]
                .map(|value| Some(Bar { value, range: None }))
                .to_vec()
        };
        let chart = BarChart {
            title: "Times".into(),
            description: String::new(),
            value: axis("time", Scale::Linear, Unit::Seconds),
            series: vec!["memory".into(), "disk".into()],
            groups: vec![BarGroup {
                label: "GROUP BY".into(),
                bars: bars(1.0, 4.0),
            }],
        };
        assert_eq!(
            bar_chart(&chart, 30),
            "Times\n\
             GROUP BY\n  memory ████              1 s\n  disk   ████████████████  4 s\n"
                .replace("████████████████  4", "████████████████▉ 4")
                .replace("████              1", &format!("{} 1", bar(0.25, 17)))
                .replace("████████████████▉ 4", &format!("{} 4", bar(1.0, 17)))
        );
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let points = [(1.0, 0.0), (4.0, 10.0)].map(|(x, y)| Point { x, y, range: None });
        let chart = LineChart {
            title: "T".into(),
            description: String::new(),
            x: axis("size", Scale::Linear, Unit::Number),
            y: axis("time", Scale::Linear, Unit::Number),
            series: vec![Series {
                name: "a".into(),
                points: points.to_vec(),
                is_reference: false,
            }],
        };
        let drawn = line_chart(&chart, 30, 4);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[..2], ["T", "time"]);
        assert!(
            lines[2].starts_with("10 ┤") && lines[2].ends_with('●'),
            "{drawn}"
        );
        assert!(lines[5].starts_with(" 0 ┤●"), "{drawn}");
        assert_eq!(lines[6], format!("   └{}", "─".repeat(26)));
        assert_eq!(lines[8], "    size");
    }
}

//! The last result as a chart of bars (`\plot`): labels from its first column that holds no numbers, and a bar for each
//! column of numbers.

use mayfly_charts::{Axis, BarChart, BarGroup, Scale, Unit, svg, terminal};
use mayfly_engine::ResultColumn;

use crate::output::{Part, is_number, shown};

/// Most rows that are drawn.
const ROWS: usize = 100;

/// What is kept of a result.
#[derive(Debug, Default)]
pub(crate) struct Plot {
    /// The column of labels; the numbers of the rows without one.
    label: Option<usize>,
    /// Places and names of the columns of numbers.
    numbers: Vec<(usize, String)>,
    groups: Vec<BarGroup>,
    row_count: usize,
}

impl Plot {
    /// A result with these columns.
    pub(crate) fn of(columns: &[ResultColumn]) -> Self {
        let label = columns.iter().position(|column| !is_number(column.ty.kind));
        let mut numbers: Vec<(usize, String)> = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| is_number(column.ty.kind))
            .map(|(at, column)| (at, column.name.clone()))
            .collect();
        // Without texts the first of several numbers names the rows.
        let label = match label {
            None if numbers.len() > 1 => Some(numbers.remove(0).0),
            label => label,
        };
        Self {
            label,
            numbers,
            groups: Vec::new(),
            row_count: 0,
        }
    }

    /// Adds rows.
    pub(crate) fn add(&mut self, part: Part<'_>) {
        self.row_count += part.row_count();
        let room = ROWS.saturating_sub(self.groups.len());
        for row in 0..part.row_count().min(room) {
            let values = part.row(row);
            let text = |at: usize| values.get(at).and_then(|value| value.as_deref());
            let number = |at: usize| -> Option<f64> { shown(text(at)).parse().ok() };
            let label = match self.label {
                Some(at) => shown(text(at)),
                None => (self.groups.len() + 1).to_string(),
            };
            let bars = self.numbers.iter().map(|(at, _)| number(*at));
            self.groups.push(BarGroup::of_values(label, bars));
        }
    }

    fn chart(&self) -> Result<BarChart, String> {
        if self.numbers.is_empty() || self.groups.is_empty() {
            return Err("the last statement has no rows with a number to plot".to_owned());
        }
        let names: Vec<String> = self.numbers.iter().map(|(_, name)| name.clone()).collect();
        let title = names.join(", ");
        Ok(BarChart {
            description: match self.row_count - self.groups.len() {
                0 => format!("{title} of {} rows", self.groups.len()),
                left => format!(
                    "{title} of the first {} rows; {left} more are left out",
                    self.groups.len()
                ),
            },
            value: Axis {
                label: title.clone(),
                scale: Scale::Linear,
                unit: Unit::Number,
            },
            title,
            series: names,
            groups: self.groups.clone(),
        })
    }

    /// The chart in characters.
    ///
    /// # Errors
    /// There is nothing to draw.
    pub(crate) fn in_characters(&self, width: usize) -> Result<String, String> {
        self.chart().map(|chart| terminal::bar_chart(&chart, width))
    }

    /// The chart as SVG.
    ///
    /// # Errors
    /// There is nothing to draw.
    pub(crate) fn svg(&self) -> Result<String, String> {
        self.chart().map(|chart| svg::bar_chart(&chart))
    }
}

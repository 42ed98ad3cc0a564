//! Charts of measurements: lines and bars, drawn for a terminal or as SVG, and the page that holds them.
//!
//! A chart is plain data ([`LineChart`], [`BarChart`]). [`svg`] draws it as a picture that stands alone: its style is
//! in it, it follows the reader's choice of light or dark, and a screen reader finds its title, its description and
//! every value. [`terminal`] draws the same chart in characters, without colour and within a width. [`html`] makes one
//! page of pictures, tables and text that needs no other file.
//!
//! Libraries for charts draw either for a terminal or as SVG, in fixed colours and without the values in words; the drawing
//! itself is the small part.
//!
//! What cannot be drawn (a value that is not finite, or not positive on a logarithmic axis) is left out; no chart panics.

pub mod html;
mod scale;
pub mod svg;
pub mod terminal;

pub use scale::{Axis, Scale, Unit};

/// A value at a place, and how far around the value others were measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The place.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The least and the greatest of what the error bar spans.
    pub range: Option<(f64, f64)>,
}

/// The values of one thing, in the order in which the line connects them.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its values.
    pub points: Vec<Point>,
    /// Drawn dashed: what stands beside the measured values for comparison.
    pub is_reference: bool,
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// What it shows, in a few words.
    pub title: String,
    /// What a reader who does not see it should know: the finding in a sentence.
    pub description: String,
    /// The axis of the places.
    pub x: Axis,
    /// The axis of the values.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A bar, and how far around its value others were measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The value.
    pub value: f64,
    /// The least and the greatest of what the error bar spans.
    pub range: Option<(f64, f64)>,
}

/// The bars of one thing: one for each series of the chart, `None` where there is no value.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// What the bars are of.
    pub label: String,
    /// The bars, in the order of [`BarChart::series`].
    pub bars: Vec<Option<Bar>>,
}

impl BarGroup {
    /// Bars of values whose spread is not known.
    pub fn of_values(
        label: impl Into<String>,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        let bar = |value: Option<f64>| value.map(|value| Bar { value, range: None });
        Self {
            label: label.into(),
            bars: values.into_iter().map(bar).collect(),
        }
    }
}

/// Horizontal bars in groups, from zero.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// What it shows, in a few words.
    pub title: String,
    /// What a reader who does not see it should know: the finding in a sentence.
    pub description: String,
    /// The axis of the values. On a logarithmic one, bars begin at the power of ten below the least value.
    pub value: Axis,
    /// What the legend calls the bars of each group.
    pub series: Vec<String>,
    /// The groups, from the top.
    pub groups: Vec<BarGroup>,
}

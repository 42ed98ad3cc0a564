//! Charts of measurements: lines and bars, drawn for a terminal or as SVG, and the page that holds them.
//!
//! A chart is plain data ([`LineChart`], [`BarChart`]). [`svg`] draws it as a self-contained picture: it includes its
//! style, follows the reader's choice of light or dark, and a screen reader finds its title, its description and every
//! value. [`terminal`] draws the same chart in characters, without colour and within a width. [`html`] makes one page
//! of pictures, tables and text that needs no other file.
//!
//! Libraries for charts draw either for a terminal or as SVG, in fixed colours and without the values in words; the
//! drawing
//! itself is the small part.
//!
//! What cannot be drawn (a value that is not finite, or not positive on a logarithmic axis) is left out; no chart
//! panics.

pub mod html;
mod scale;
pub mod svg;
pub mod terminal;

pub use scale::{Axis, Scale, Unit};

/// A value at a position, and the range of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The place.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The least and the greatest value of the error bar.
    pub range: Option<(f64, f64)>,
}

/// A series of values, in the order in which the line connects them.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its values.
    pub points: Vec<Point>,
    /// Whether it is drawn dashed, as a reference for comparison.
    pub is_reference: bool,
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// Description for readers who do not see it: the finding in a sentence.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A bar, and the range of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The value.
    pub value: f64,
    /// The least and the greatest value of the error bar.
    pub range: Option<(f64, f64)>,
}

/// A group of bars: one for each series of the chart, `None` where there is no value.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// Label of the group.
    pub label: String,
    /// The bars, in the order of [`BarChart::series`].
    pub bars: Vec<Option<Bar>>,
}

impl BarGroup {
    /// A group of bars whose spread is not known.
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
    /// Title.
    pub title: String,
    /// Description for readers who do not see it: the finding in a sentence.
    pub description: String,
    /// The axis of the values. On a logarithmic one, bars begin at the power of ten below the least value.
    pub value: Axis,
    /// Names in the legend of the bars of each group.
    pub series: Vec<String>,
    /// The groups, from the top.
    pub groups: Vec<BarGroup>,
}

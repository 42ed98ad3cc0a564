//! Axes: positions of values between the ends of an axis, tick marks, and formatting of values.

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths; ticks at powers of two.
    Log2,
    /// Equal ratios have equal lengths; ticks at powers of ten, and at 2 and 5 times them where few would fit.
    Log10,
}

/// Format of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number.
    Number,
    /// Bytes in the notation of MySQL's option files: `128K`, `2M`, and plain digits for other numbers.
    Bytes,
    /// Seconds, in the largest unit that gives at least 1: `1.2 s`, `340 ms`, `15 µs`.
    Seconds,
    /// A share as a percentage: 0.25 is `25 %`.
    Percent,
    /// A ratio: `1.25 ×`.
    Times,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Label of the axis.
    pub label: String,
    /// Scale of the axis.
    pub scale: Scale,
    /// Format of its values.
    pub unit: Unit,
}

impl Unit {
    /// A value as readable text.
    pub fn write(self, value: f64) -> String {
        match self {
            Self::Number => digits(value),
            Self::Bytes => bytes(value),
            Self::Seconds => {
                let (factor, unit) = match value.abs() {
                    size if size >= 1.0 || size == 0.0 => (1.0, "s"),
                    size if size >= 1e-3 => (1e3, "ms"),
                    size if size >= 1e-6 => (1e6, "µs"),
                    _ => (1e9, "ns"),
                };
                format!("{} {unit}", digits(value * factor))
            }
            Self::Percent => format!("{} %", digits(value * 100.0)),
            Self::Times => format!("{} ×", digits(value)),
        }
    }
}

/// Three significant digits, without trailing zeros behind the point.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 1e12 || (size < 1e-9 && size > 0.0) {
        return format!("{value:.1e}");
    }
    let places = match size {
        _ if !size.is_finite() || size == 0.0 || size >= 100.0 => 0,
        _ => (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return if text == "-0" { "0" } else { text }.to_owned();
    }
    text
}

fn bytes(value: f64) -> String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        let count = value / (1_u64 << shift) as f64;
        if count >= 1.0 && (count * 2.0).fract() == 0.0 && (count < 10.0 || count.fract() == 0.0) {
            return format!("{}{unit}", digits_exact(count));
        }
    }
    digits_exact(value)
}

fn digits_exact(value: f64) -> String {
    if value.abs() >= 1e12 {
        digits(value)
    } else if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// An axis with its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Projection {
    /// An axis that ends at its least and greatest value.
    pub(crate) fn tight(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let drawable = values.filter(|value| is_drawable(scale, *value));
        let ends = drawable.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends.unwrap_or((1.0, 2.0));
        if high > low {
            return Self { scale, low, high };
        }
        // A single value is in the middle.
        let (low, high) = match scale {
            Scale::Linear => (
                low - low.abs().max(1.0) / 2.0,
                low + low.abs().max(1.0) / 2.0,
            ),
            Scale::Log2 | Scale::Log10 => (low / 2.0, high * 2.0),
        };
        Self { scale, low, high }
    }

    /// An axis that ends at ticks around its values; a linear one begins at zero if `from_zero`.
    pub(crate) fn round(scale: Scale, values: impl Iterator<Item = f64>, from_zero: bool) -> Self {
        let zero = (from_zero && scale == Scale::Linear).then_some(0.0);
        let tight = Self::tight(scale, values.chain(zero));
        let (low, high) = (tight.low, tight.high);
        match scale {
            Scale::Linear => {
                let step = nice_step((high - low) / 5.0);
                let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
                Self { scale, low, high }
            }
            Scale::Log2 => Self {
                scale,
                low: low.log2().floor().exp2(),
                high: high.log2().ceil().exp2(),
            },
            Scale::Log10 => Self {
                scale,
                low: 10_f64.powf(low.log10().floor()),
                high: 10_f64.powf(high.log10().ceil()),
            },
        }
    }

    /// Position of a value: 0 at the low end, 1 at the high one. `None` for a value outside the axis' domain.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        if !is_drawable(self.scale, value) {
            return None;
        }
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log2 | Scale::Log10 => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
        };
        place.is_finite().then(|| place.clamp(0.0, 1.0))
    }

    /// The values of the ticks, about `most` at most, in order.
    pub(crate) fn marks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        let slack = 1.0 + 1e-9;
        match self.scale {
            Scale::Linear => {
                let step = nice_step((self.high - self.low) / most as f64);
                let first = (self.low / step - 1e-9).ceil();
                let marks = (0..=4 * most).map(|index| (first + index as f64) * step);
                // A step too small to change the number would repeat the same tick for ever.
                marks
                    .take_while(|mark| *mark <= self.high + step * 1e-9)
                    .collect()
            }
            Scale::Log2 => {
                let (first, last) = (self.low.log2().ceil(), (self.high * slack).log2().floor());
                let step = ((last - first + 1.0) / most as f64).ceil().max(1.0);
                let count = ((last - first) / step).floor().max(0.0) as usize;
                (0..=count)
                    .map(|index| (first + index as f64 * step).exp2())
                    .collect()
            }
            Scale::Log10 => {
                let (first, last) = (
                    self.low.log10().floor(),
                    (self.high * slack).log10().floor(),
                );
                let powers = last - first + 1.0;
                let step = (powers / most as f64).ceil().max(1.0);
                let factors: &[f64] = match powers * 3.0 {
                    marks if marks <= most as f64 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let count = ((last - first) / step).floor().max(0.0) as usize;
                let powers = (0..=count).map(|index| 10_f64.powf(first + index as f64 * step));
                let marks = powers.flat_map(|power| factors.iter().map(move |by| by * power));
                marks
                    .filter(|mark| *mark >= self.low / slack && *mark <= self.high * slack)
                    .collect()
            }
        }
    }
}

fn is_drawable(scale: Scale, value: f64) -> bool {
    // Beyond this the difference of two values is not finite, or a ratio has no logarithm.
    value.abs() < 1e150 && (scale == Scale::Linear || value > 1e-150)
}

/// The least number of the form 1, 2 or 5 times a power of ten that is not below a step.
fn nice_step(step: f64) -> f64 {
    if !step.is_finite() || step <= f64::MIN_POSITIVE {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0].into_iter();
    let steps = factors.map(|factor| factor * power);
    steps
        .into_iter()
        .find(|nice| *nice >= step * (1.0 - 1e-9))
        .unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_people_write_them() {
        for (unit, value, text) in [
            (Unit::Bytes, 8200.0, "8200"),
            (Unit::Bytes, 16384.0, "16K"),
            (Unit::Bytes, 131_072.0, "128K"),
            (Unit::Bytes, 1_572_864.0, "1.5M"),
            (Unit::Bytes, 33_554_432.0, "32M"),
            (Unit::Bytes, 100.0, "100"),
            (Unit::Seconds, 0.0, "0 s"),
            (Unit::Seconds, 66.8, "66.8 s"),
            (Unit::Seconds, 0.34, "340 ms"),
            (Unit::Seconds, 0.000_015, "15 µs"),
            (Unit::Seconds, 2e-9, "2 ns"),
            (Unit::Percent, 0.25, "25 %"),
            (Unit::Percent, -0.005, "-0.5 %"),
            (Unit::Times, 1.25, "1.25 ×"),
            (Unit::Number, 1234.5, "1234"),
            (Unit::Number, 1e105, "1.0e105"),
            (Unit::Number, 0.0, "0"),
        ] {
            assert_eq!(unit.write(value), text, "{unit:?} {value}");
        }
    }

    fn marks(scale: Scale, values: [f64; 2], most: usize) -> Vec<f64> {
        Projection::tight(scale, values.into_iter()).marks(most)
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(
            marks(Scale::Linear, [0.0, 10.0], 5),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(marks(Scale::Linear, [-3.0, 11.0], 3), [0.0, 5.0, 10.0]);
        assert_eq!(
            marks(Scale::Log2, [8192.0, 65536.0], 8),
            [8192.0, 16384.0, 32768.0, 65536.0]
        );
        assert_eq!(
            marks(Scale::Log2, [8200.0, 65536.0], 8),
            [16384.0, 32768.0, 65536.0]
        );
        assert_eq!(marks(Scale::Log2, [1.0, 64.0], 4), [1.0, 4.0, 16.0, 64.0]);
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
            }
        };
        close(
            marks(Scale::Log10, [1.0, 1000.0], 4),
            &[1.0, 10.0, 100.0, 1000.0],
        );
        close(marks(Scale::Log10, [1.0, 10.0], 6), &[1.0, 2.0, 5.0, 10.0]);
    }

    #[test]
    fn round_ends_hold_all_values() {
        let linear = Projection::round(Scale::Linear, [3.0, 47.0].into_iter(), true);
        assert_eq!((linear.low, linear.high), (0.0, 50.0));
        assert_eq!(linear.place(25.0), Some(0.5));
        let log = Projection::round(Scale::Log10, [3.0, 47.0].into_iter(), true);
        assert!((log.low - 1.0).abs() < 1e-9 && (log.high - 100.0).abs() < 1e-9);
        assert!((log.place(10.0).expect("it is positive") - 0.5).abs() < 1e-9);
        assert_eq!(log.place(0.0), None);
        assert_eq!(log.place(f64::NAN), None);
    }

    #[test]
    fn one_value_stands_in_the_middle() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            let only = Projection::tight(scale, [7.0].into_iter());
            let place = only.place(7.0).expect("it is on the axis");
            assert!((place - 0.5).abs() < 1e-9, "{scale:?} {place}");
        }
    }
}

//! Medians and their spread.

/// Summary of a few samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The lower quartile.
    pub low_quartile: f64,
    /// The upper quartile.
    pub high_quartile: f64,
    /// The least.
    pub least: f64,
    /// Number of samples.
    pub count: usize,
}

impl Summary {
    /// The summary of samples without NaN; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            low_quartile: quantile(&sorted, 0.25)?,
            high_quartile: quantile(&sorted, 0.75)?,
            least: *sorted.first()?,
            count: sorted.len(),
        })
    }

    /// Half the interquartile range as a share of the median.
    pub fn spread(&self) -> f64 {
        if self.median > 0.0 {
            (self.high_quartile - self.low_quartile) / 2.0 / self.median
        } else {
            0.0
        }
    }
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A quantile, interpolated between two samples (Hyndman and Fan's definition 7).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[below] + (sorted[above] - sorted[below]) * place.fract())
}

/// The median: the value in the middle, or the mean of the two in the middle.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(&sorted(samples), 0.5)
}

/// The standard error of a median, estimated from the median absolute deviation as for a normal distribution: outliers
/// count little. `None` with fewer than three samples.
pub(crate) fn error_of_median(samples: &[f64]) -> Option<f64> {
    if samples.len() < 3 {
        return None;
    }
    let middle = median(samples)?;
    let deviations: Vec<f64> = samples
        .iter()
        .map(|sample| (sample - middle).abs())
        .collect();
    // 1.4826: ratio of the standard deviation to this deviation. 1.2533: ratio of a median's error to that of a mean.
    Some(1.4826 * 1.2533 * median(&deviations)? / (samples.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_those_of_the_definition() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).expect("there is a sample");
        assert_eq!(
            (one.median, one.low_quartile, one.high_quartile, one.count),
            (3.0, 3.0, 3.0, 1)
        );
        assert_eq!(one.spread(), 0.0);
        // By hand: 1 2 4 8 16; quartiles at indexes 1 and 3.
        let five = Summary::of(&[8.0, 1.0, 16.0, 2.0, 4.0]).expect("there are samples");
        assert_eq!(
            (five.median, five.low_quartile, five.high_quartile),
            (4.0, 2.0, 8.0)
        );
        assert_eq!((five.least, five.spread()), (1.0, 0.75));
        // Index 0.75 of 1 2 3 4 is 1.75.
        let four = Summary::of(&[1.0, 2.0, 3.0, 4.0]).expect("there are samples");
        assert_eq!(
            (four.low_quartile, four.median, four.high_quartile),
            (1.75, 2.5, 3.25)
        );
    }

    #[test]
    fn one_outlier_hardly_moves_the_error() {
        let calm = error_of_median(&[1.00, 1.01, 0.99, 1.02, 0.98]).expect("there are enough");
        let wild = error_of_median(&[1.00, 1.01, 0.99, 9.00, 0.98]).expect("there are enough");
        assert!(calm > 0.0 && wild <= 2.0 * calm, "{calm} {wild}");
        assert_eq!(error_of_median(&[1.0, 2.0]), None);
    }
}

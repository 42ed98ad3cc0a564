//! History of the measurements: a bounded ring of samples, an hour in seconds and a day in minutes.

use std::collections::VecDeque;

/// Number of seconds that are kept one by one.
const SECONDS: usize = 3_600;
/// Number of minutes that are kept.
const MINUTES: usize = 1_440;
const MINUTE: u64 = 60_000;

/// Aggregation of several samples to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The maximum.
    Most,
    /// The mean, for rates.
    Mean,
}

/// The series, in the order of a sample's values. The names are those in JSON.
pub(crate) const SERIES: [(&str, Fold); 8] = [
    ("memory", Fold::Most),
    ("disk", Fold::Most),
    ("tables", Fold::Most),
    ("sessions", Fold::Most),
    ("running", Fold::Most),
    ("statements", Fold::Mean),
    ("temporary_tables", Fold::Mean),
    ("disk_tables", Fold::Mean),
];

/// One value per series; `None` where the source does not have it.
pub(crate) type Values = [Option<f64>; SERIES.len()];

/// The values at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) values: Values,
}

/// Samples of the last hour in seconds and the last day in minutes. Counters of the source (statements, tables) are
/// kept as rates per second.
#[derive(Debug, Default)]
pub(crate) struct History {
    seconds: VecDeque<Sample>,
    minutes: VecDeque<Sample>,
    /// Samples of the current minute.
    minute: Vec<Sample>,
    last: Option<Sample>,
}

impl History {
    /// Adds the values read at a time: gauges, and for the series of rates the counters.
    pub(crate) fn record(&mut self, at: u64, read: Values) {
        let last = self.last.replace(Sample { at, values: read });
        let mut values = read;
        for (index, (_, fold)) in SERIES.iter().enumerate() {
            if *fold == Fold::Mean {
                let before = last.and_then(|last| Some((last.at, last.values[index]?)));
                values[index] = before.zip(read[index]).map(|((then, count), now)| {
                    let seconds = at.saturating_sub(then).max(1) as f64 / 1e3;
                    // Counters that were reset begin anew.
                    (now - count).max(0.0) / seconds
                });
            }
        }
        let sample = Sample { at, values };
        let is_over = |first: &Sample| at / MINUTE != first.at / MINUTE;
        if self.minute.first().is_some_and(is_over) {
            push(&mut self.minutes, MINUTES, folded(&self.minute));
            self.minute.clear();
        }
        // A clock that was set back may give one minute many samples.
        if self.minute.len() < SECONDS {
            self.minute.push(sample);
        }
        push(&mut self.seconds, SECONDS, sample);
    }

    /// The newest sample.
    pub(crate) fn latest(&self) -> Option<&Sample> {
        self.seconds.back()
    }

    /// The samples of the last `seconds` seconds, folded to at most `points`.
    pub(crate) fn last(&self, seconds: u64, points: usize) -> Vec<Sample> {
        let Some(latest) = self.latest() else {
            return Vec::new();
        };
        let since = latest.at.saturating_sub(seconds.saturating_mul(1_000));
        let of_ring: Vec<Sample> = if seconds as usize <= SECONDS {
            self.seconds.iter().copied().collect()
        } else {
            let running = (!self.minute.is_empty()).then(|| folded(&self.minute));
            self.minutes.iter().copied().chain(running).collect()
        };
        let wanted: Vec<Sample> = of_ring.into_iter().filter(|it| it.at > since).collect();
        let size = wanted.len().div_ceil(points.max(1)).max(1);
        wanted.chunks(size).map(folded).collect()
    }
}

fn push(ring: &mut VecDeque<Sample>, most: usize, sample: Sample) {
    if ring.len() == most {
        ring.pop_front();
    }
    ring.push_back(sample);
}

/// Several samples as one, at the time of the last.
fn folded(samples: &[Sample]) -> Sample {
    let mut values = [None; SERIES.len()];
    for (index, (_, fold)) in SERIES.iter().enumerate() {
        let known = samples.iter().filter_map(|sample| sample.values[index]);
        values[index] = match fold {
            Fold::Most => known.reduce(f64::max),
            Fold::Mean => {
                let (sum, count) = known.fold((0.0, 0), |(sum, n), it| (sum + it, n + 1));
                (count > 0).then(|| sum / f64::from(count))
            }
        };
    }
    let at = samples.last().map_or(0, |sample| sample.at);
    Sample { at, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(memory: f64, statements: f64) -> Values {
        let mut values = [None; SERIES.len()];
        values[0] = Some(memory);
        values[5] = Some(statements);
        values
    }

    #[test]
    fn counters_become_rates_and_gauges_keep_their_peak() {
        let mut history = History::default();
        history.record(1_000, read(1.0, 100.0));
        history.record(2_000, read(9.0, 110.0));
        history.record(4_000, read(2.0, 150.0));
        history.record(5_000, read(2.0, 3.0));
        let rates: Vec<_> = history
            .last(60, 100)
            .iter()
            .map(|it| it.values[5])
            .collect();
        assert_eq!(rates, [None, Some(10.0), Some(20.0), Some(0.0)]);
        let one = history.last(60, 1);
        assert_eq!(one.len(), 1);
        assert_eq!(
            (one[0].at, one[0].values[0], one[0].values[5]),
            (5_000, Some(9.0), Some(10.0))
        );
        assert_eq!(one[0].values[1], None, "what is not known stays so");
    }

    #[test]
    fn an_hour_in_seconds_and_a_day_in_minutes() {
        let mut history = History::default();
        for second in 0..2 * 86_400_u64 {
            history.record(second * 1_000, read((second % 60) as f64, second as f64));
        }
        assert_eq!(
            (history.seconds.len(), history.minutes.len()),
            (SECONDS, MINUTES)
        );
        assert_eq!(history.last(300, 300).len(), 300);
        assert_eq!(history.last(3_600, 360).len(), 360);
        let day = history.last(86_400, 10_000);
        assert_eq!(day.len(), MINUTES);
        assert!(
            day.iter()
                .all(|it| it.values[0] == Some(59.0) && it.values[5] == Some(1.0))
        );
    }

    proptest! {
        #[test]
        fn no_clock_makes_it_grow_or_fail(times in prop::collection::vec(any::<u64>(), 0..200), seconds: u64, points: usize) {
            let mut history = History::default();
            for at in &times {
                history.record(*at, read(1.0, *at as f64));
            }
            let found = history.last(seconds, points);
            prop_assert!(found.len() <= points.max(1));
            let rates = found.iter().filter_map(|it| it.values[5]);
            prop_assert!(rates.into_iter().all(|rate| rate >= 0.0 && rate.is_finite()));
        }
    }
}

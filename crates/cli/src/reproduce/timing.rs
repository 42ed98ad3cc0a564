//! Times of statements: one after the other, or of several concurrent clients.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::client::{Client, Place, Trouble};
use crate::row_sum::RowSum;

/// Number of runs of a statement, unless they take too long together.
const RUNS: usize = 3;
const LONG: Duration = Duration::from_secs(4);

/// Outcome of a measurement.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// Seconds, and the sum of the rows.
    Ran { seconds: f64, rows: RowSum },
    /// (seconds): the time limit that was exceeded.
    TooLong(u64),
    /// Not possible on the subject.
    Cannot,
    /// An error.
    Failed(String),
}

impl Outcome {
    /// The outcome of a run that may fail.
    pub(super) fn of(result: Result<(f64, RowSum), Trouble>, limit: u64) -> Self {
        match result {
            Ok((seconds, rows)) => Self::Ran { seconds, rows },
            Err(Trouble::TooLong) => Self::TooLong(limit),
            Err(Trouble::Failed(error)) => Self::Failed(error),
        }
    }

    /// The median of several outcomes, which must have the same rows; an outcome without a time, if there is one.
    pub(super) fn median(outcomes: Vec<Self>) -> Self {
        let mut times = Vec::with_capacity(outcomes.len());
        let mut all = None;
        for outcome in outcomes {
            let Self::Ran { seconds, rows } = outcome else {
                return outcome;
            };
            if *all.get_or_insert(rows) != rows {
                return Self::Failed("two runs gave other rows".to_owned());
            }
            times.push(seconds);
        }
        match (mayfly_tuning::median(&times), all) {
            (Some(seconds), Some(rows)) => Self::Ran { seconds, rows },
            _ => Self::Cannot,
        }
    }

    /// The seconds, if it ran.
    pub(super) fn seconds(&self) -> Option<f64> {
        match self {
            Self::Ran { seconds, .. } => Some(*seconds),
            _ => None,
        }
    }
}

/// The median of several runs, each of which returns its seconds and the sum of its rows.
pub(super) fn repeated(
    mut run: impl FnMut() -> Result<(f64, RowSum), Trouble>,
) -> Result<(f64, RowSum), Trouble> {
    let begin = Instant::now();
    let mut times = Vec::with_capacity(RUNS);
    let mut rows = None;
    while times.len() < RUNS && (times.is_empty() || begin.elapsed() < LONG) {
        let (seconds, sum) = run()?;
        times.push(seconds);
        if *rows.get_or_insert(sum) != sum {
            return Err(Trouble::Failed("two runs gave other rows".to_owned()));
        }
    }
    let median = mayfly_tuning::median(&times).unwrap_or(0.0);
    Ok((median, rows.unwrap_or_default()))
}

/// The median of some runs of a statement.
pub(super) fn statement(client: &mut dyn Client, sql: &str) -> Result<(f64, RowSum), Trouble> {
    repeated(|| {
        let begin = Instant::now();
        let rows = client.sum(sql)?;
        Ok((begin.elapsed().as_secs_f64(), rows))
    })
}

/// The total seconds of several statements without results.
pub(super) fn all(
    client: &mut dyn Client,
    statements: impl Iterator<Item = String>,
) -> Result<f64, Trouble> {
    let begin = Instant::now();
    for sql in statements {
        client.run(&sql)?;
    }
    Ok(begin.elapsed().as_secs_f64())
}

/// Work of several concurrent clients.
pub(super) struct Load<'l> {
    pub(super) place: &'l Place,
    /// Statements that each of them runs first; they are not counted.
    pub(super) settings: &'l [String],
    pub(super) clients: usize,
    /// Number of events of all clients together.
    pub(super) events: usize,
    /// The time limit of a statement.
    pub(super) seconds: u64,
}

impl Load<'_> {
    /// Runs `event` with numbers from 0 on, divided equally among the clients. Returns the seconds, and the sum of the
    /// events' results.
    pub(super) fn run(
        &self,
        event: &(dyn Fn(usize, &mut dyn Client) -> Result<RowSum, Trouble> + Sync),
    ) -> Result<(f64, RowSum), Trouble> {
        let ready = Barrier::new(self.clients);
        let part = |number: usize| {
            let client = self.place.connect(self.seconds).and_then(|mut client| {
                for sql in self.settings {
                    client.run(sql)?;
                }
                Ok(client)
            });
            ready.wait();
            let mut client = client?;
            let begin = Instant::now();
            let mut sum = RowSum::default();
            for index in (number..self.events).step_by(self.clients) {
                sum.merge(event(index, client.as_mut())?);
            }
            Ok((begin, Instant::now(), sum))
        };
        let parts: Result<Vec<_>, Trouble> = std::thread::scope(|scope| {
            let part = &part;
            let threads: Vec<_> = (0..self.clients)
                .map(|number| scope.spawn(move || part(number)))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                let panicked = Trouble::Failed("a client panicked".to_owned());
                thread.join().unwrap_or(Err(panicked))
            };
            threads.into_iter().map(join).collect()
        });
        // A client may have begun, or even ended, before others were scheduled.
        let parts = parts?;
        let begin = parts.iter().map(|part| part.0).min();
        let end = parts.iter().map(|part| part.1).max();
        let elapsed = begin.zip(end).map(|(begin, end)| end - begin);
        let mut sum = RowSum::default();
        parts.iter().for_each(|part| sum.merge(part.2));
        Ok((elapsed.unwrap_or_default().as_secs_f64(), sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(seconds: f64, rows: &[&str]) -> Outcome {
        let mut sum = RowSum::default();
        rows.iter().for_each(|row| sum.add(&[Some(row)]));
        Outcome::Ran { seconds, rows: sum }
    }

    #[test]
    fn a_median_needs_equal_rows() {
        let median = |outcomes: Vec<Outcome>| Outcome::median(outcomes);
        let found = median(vec![ran(3.0, &["a"]), ran(1.0, &["a"]), ran(2.0, &["a"])]);
        assert_eq!(found.seconds(), Some(2.0));
        let found = median(vec![ran(3.0, &["a"]), ran(1.0, &["b"])]);
        assert!(matches!(found, Outcome::Failed(_)), "{found:?}");
        let found = median(vec![ran(3.0, &["a"]), Outcome::TooLong(9)]);
        assert!(matches!(found, Outcome::TooLong(9)), "{found:?}");
        assert!(matches!(median(Vec::new()), Outcome::Cannot));
    }
}

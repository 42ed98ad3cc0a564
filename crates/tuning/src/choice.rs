//! The choice among sizes: the best, those that cannot be distinguished from it, and the smallest of them.
//!
//! Sizes are compared within rounds, because what slows a round slows all its sizes. The best has the least median of
//! its times, each as a share of the median time of its round. Another size is as good if the median of its times, each
//! as a multiple of the best one's in the same round, exceeds 1 by at most two standard errors of that median. A
//! difference of less than 1 % never justifies a setting, and one of more than 5 % is never called noise: the tolerance
//! is limited to this range, however calm or restless the machine is. With fewer than three rounds the error is not
//! known, and the tolerance is 5 %.

use crate::statistics::{Summary, error_of_median, median};

/// Least relative difference that counts.
pub const LEAST_DIFFERENCE: f64 = 0.01;
/// Relative difference that counts whatever the noise.
pub const MOST_DIFFERENCE: f64 = 0.05;

/// Evaluation of the times of a case's sizes. Sizes are given by their index.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The size with the least time.
    pub best: usize,
    /// The smallest size that is as good.
    pub chosen: usize,
    /// For each size its times as multiples of the best one's in the same rounds; `None` for a size without a time.
    pub relative: Vec<Option<Summary>>,
    /// For each size whether it cannot be distinguished from the best.
    pub is_as_good: Vec<bool>,
    /// Two standard errors of such a multiple, the median over the sizes: differences up to it may be chance. `None`
    /// with fewer than three rounds. Above [`MOST_DIFFERENCE`] the machine was too restless for a sure choice.
    pub noise: Option<f64>,
}

impl Choice {
    /// The choice from rounds, each with the seconds of every size, from the smallest size on; `None` for a size
    /// without a time. Rounds that lack a size count only if none is complete. `None` if nothing was measured.
    pub fn of(rounds: &[Vec<Option<f64>>]) -> Option<Self> {
        let sizes = rounds.iter().map(Vec::len).max()?;
        let is_complete =
            |round: &&Vec<Option<f64>>| round.len() == sizes && round.iter().all(Option::is_some);
        let mut used: Vec<&Vec<Option<f64>>> = rounds.iter().filter(is_complete).collect();
        if used.is_empty() {
            used = rounds.iter().collect();
        }
        let time = |round: &Vec<Option<f64>>, size: usize| round.get(size).copied().flatten();
        let shares = |size: usize| {
            let shares = used.iter().filter_map(|round| {
                let times: Vec<f64> = round.iter().copied().flatten().collect();
                ratio(time(round, size)?, median(&times)?)
            });
            shares.collect::<Vec<f64>>()
        };
        let middles = (0..sizes).filter_map(|size| Some((size, median(&shares(size))?)));
        // Of equal sizes, the smaller one.
        let best = middles.min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let mut relative = Vec::with_capacity(sizes);
        let mut is_as_good = Vec::with_capacity(sizes);
        let mut errors = Vec::new();
        for size in 0..sizes {
            let ratios = used
                .iter()
                .filter_map(|round| ratio(time(round, size)?, time(round, best)?));
            let ratios: Vec<f64> = ratios.collect();
            let error = error_of_median(&ratios).map(|error| 2.0 * error);
            errors.extend(error.filter(|_| size != best));
            let error = error.unwrap_or(MOST_DIFFERENCE);
            let allowed = error.clamp(LEAST_DIFFERENCE, MOST_DIFFERENCE);
            let summary = Summary::of(&ratios);
            let is_near = summary.is_some_and(|it| it.median <= 1.0 + allowed);
            is_as_good.push(size == best || is_near);
            relative.push(summary);
        }
        let chosen = is_as_good.iter().position(|good| *good)?;
        Some(Self {
            best,
            chosen,
            relative,
            is_as_good,
            noise: median(&errors),
        })
    }

    /// By which share a size takes longer than the best; `None` for a size without a time.
    pub fn excess(&self, size: usize) -> Option<f64> {
        Some(self.relative.get(size)?.as_ref()?.median - 1.0)
    }
}

/// A ratio of times; `None` where a time is too short for the clock.
fn ratio(time: f64, of: f64) -> Option<f64> {
    let ratio = time / of;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn rounds<const SIZES: usize>(times: &[[f64; SIZES]]) -> Vec<Vec<Option<f64>>> {
        times
            .iter()
            .map(|round| round.iter().map(|time| Some(*time)).collect())
            .collect()
    }

    #[test]
    fn the_smallest_of_equals_is_chosen() {
        let choice = Choice::of(&rounds(&[[2.0, 1.0, 1.0, 1.5]; 5])).expect("it is measured");
        assert_eq!((choice.best, choice.chosen), (1, 1));
        assert_eq!(choice.is_as_good, [false, true, true, false]);
        assert_eq!(choice.noise, Some(0.0));
        let excess: Vec<_> = (0..5).map(|size| choice.excess(size)).collect();
        assert_eq!(excess, [Some(1.0), Some(0.0), Some(0.0), Some(0.5), None]);
    }

    #[test]
    fn a_hundredth_is_no_difference_and_a_twentieth_is_one() {
        let choice = Choice::of(&rounds(&[[1.009, 1.0, 1.011]; 9])).expect("it is measured");
        assert_eq!((choice.best, choice.chosen), (1, 0));
        assert_eq!(choice.is_as_good, [true, true, false]);
        // Noise of a tenth hides differences, but none above 5 %.
        let noisy = rounds(&[
            [1.0, 1.0, 1.1],
            [0.9, 1.0, 1.2],
            [1.1, 1.0, 1.0],
            [1.04, 1.0, 1.08],
        ]);
        let choice = Choice::of(&noisy).expect("it is measured");
        assert_eq!(choice.is_as_good, [true, true, false]);
        assert!(
            choice.noise.is_some_and(|noise| noise > MOST_DIFFERENCE),
            "{choice:?}"
        );
    }

    #[test]
    fn one_round_is_taken_for_rough() {
        let choice = Choice::of(&rounds(&[[1.04, 1.0, 1.06]])).expect("it is measured");
        assert_eq!(choice.noise, None);
        assert_eq!((choice.best, choice.chosen), (1, 0));
        assert_eq!(choice.is_as_good, [true, true, false]);
    }

    #[test]
    fn rounds_that_are_not_complete_count_only_alone() {
        let complete = vec![Some(1.0), Some(2.0)];
        let partial = vec![None, Some(0.1)];
        let choice = Choice::of(&[complete, partial.clone()]).expect("it is measured");
        assert_eq!(choice.best, 0);
        let choice = Choice::of(&[partial]).expect("it is measured");
        assert_eq!((choice.best, choice.chosen, choice.excess(0)), (1, 1, None));
        assert_eq!(Choice::of(&[]), None);
        assert_eq!(Choice::of(&[vec![None, None]]), None);
        assert_eq!(Choice::of(&[vec![Some(0.0), Some(0.0)]]), None);
    }

    #[test]
    fn what_slows_a_round_slows_no_size() {
        // The second size is always 10 % faster, the rounds differ by a factor of 50, and the first size is measured once more
        // in a fast round than in slow ones.
        let factors = [1.0, 50.0, 2.0, 7.0, 30.0];
        let times: Vec<Vec<Option<f64>>> = factors
            .iter()
            .map(|by| vec![Some(1.0 * by), Some(0.9 * by)])
            .collect();
        let choice = Choice::of(&times).expect("it is measured");
        assert_eq!((choice.best, choice.chosen), (1, 1));
        assert!((choice.excess(0).expect("it is measured") - 1.0 / 9.0).abs() < 1e-9);
    }

    /// A size that is better by 15 % is found below noise of 5 % and outliers, whichever it is.
    #[test]
    fn a_planted_best_size_is_found() {
        let mut random = Random::new(11);
        for case in 0..200 {
            let best = random.below(13) as usize;
            let rounds: Vec<Vec<Option<f64>>> = (0..9)
                .map(|_| {
                    let slow = 1.0 + random.below(100) as f64 / 50.0;
                    let mut time = |size: usize| {
                        let noise = 1.0 + random.below(1000) as f64 / 20_000.0;
                        let outlier = if random.below(20) == 0 { 3.0 } else { 1.0 };
                        let planted = if size == best { 1.0 } else { 1.15 };
                        Some(planted * slow * noise * outlier)
                    };
                    (0..13).map(&mut time).collect()
                })
                .collect();
            let choice = Choice::of(&rounds).expect("it is measured");
            assert_eq!(
                (choice.best, choice.chosen),
                (best, best),
                "case {case}: {rounds:?}"
            );
        }
    }
}

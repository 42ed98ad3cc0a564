//! Seeds and time of the random tests, from one place.
//!
//! A random test takes its seeds from [`Trials`]: the first from the environment or from the clock, then consecutive
//! ones, until the test's share of the time budget is used. A test over all positions of a fault, or over all
//! configurations, takes a fifth of them ([`Draw`]): five consecutive seeds take all. Every seed is printed, and is in
//! the message of a failure.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `MAYFLY_SEED` | first seed of every random test |
//! | `MAYFLY_RANDOM_SECONDS` | budget of all random tests together ([`BUDGET_SECONDS`]) |
//! | `MAYFLY_TESTS=all` | no drawing: every configuration, every place of a fault |

mod random;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use random::Random;

/// Budget in seconds of all random tests together, where the environment sets none.
pub const BUDGET_SECONDS: u64 = 60;

/// Random tests, each with its share of the budget in thousandths.
const SHARES: [(&str, u64); 23] = [
    ("broken_statements", 80),
    ("crash", 80),
    ("damaged_files", 20),
    ("histories, LockingReads", 23),
    ("histories, ReadCommitted", 23),
    ("histories, ReadUncommitted", 23),
    ("histories, RepeatableRead", 23),
    ("histories, Serializable", 23),
    ("index_access", 50),
    ("last_log", 30),
    ("long_keys", 90),
    ("model", 50),
    ("model_cuts", 40),
    ("model_kills", 40),
    ("multi_valued", 20),
    ("new_directory", 30),
    ("people", 40),
    ("power_cuts", 90),
    ("provided_scans", 20),
    ("queries", 125),
    ("temporary_tables", 20),
    ("user_tables", 40),
    ("written_files", 20),
];

/// Number of parts of which a draw of configurations or fault positions takes one.
const PARTS: u64 = 5;

/// The number in a variable of the environment.
#[must_use]
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// First seed of a random test: `MAYFLY_SEED`, or a number that no other run has. It is printed, so that the run can be
/// repeated.
#[must_use]
pub fn first_seed(test: &str) -> u64 {
    let seed = number("MAYFLY_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.as_nanos() as u64);
        Random(nanos ^ u64::from(std::process::id()) << 32).below_u64(1_000_000_000)
    });
    eprintln!("{test}: MAYFLY_SEED={seed}");
    seed
}

/// Seeds of a random test: at least one, then further ones as long as its share of the budget lasts.
#[derive(Debug)]
pub struct Trials {
    first: u64,
    next: u64,
    end: Instant,
}

impl Trials {
    /// Trials of the random test with this name, from now on.
    ///
    /// # Panics
    /// Where the table of shares does not have the name.
    #[must_use]
    pub fn of(test: &str) -> Self {
        let share = SHARES.iter().find(|(name, _)| *name == test);
        let (_, share) = share.unwrap_or_else(|| panic!("{test} has no share of the budget"));
        let seconds = number("MAYFLY_RANDOM_SECONDS").unwrap_or(BUDGET_SECONDS);
        let first = first_seed(test);
        Self {
            first,
            next: first,
            end: Instant::now() + Duration::from_millis(seconds.saturating_mul(*share)),
        }
    }

    /// The first seed.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number of trials begun.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.next - self.first
    }

    /// Whether the time is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl Iterator for Trials {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.begun() > 0 && self.is_over() {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

/// A fifth of numbered cases, or all of them.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// The seed; `None`: all cases are drawn.
    seed: Option<u64>,
}

impl Draw {
    /// The cases of a test that the seed draws; all of them with `MAYFLY_TESTS=all`.
    #[must_use]
    pub fn of(test: &str) -> Self {
        Self::by(|| first_seed(test))
    }

    /// The cases drawn by a seed that the test has already; all of them with `MAYFLY_TESTS=all`.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self::by(|| seed)
    }

    fn by(seed: impl FnOnce() -> u64) -> Self {
        let is_all = std::env::var("MAYFLY_TESTS").is_ok_and(|which| which == "all");
        Self {
            seed: (!is_all).then(seed),
        }
    }

    /// All cases.
    #[must_use]
    pub const fn all() -> Self {
        Self { seed: None }
    }

    /// Whether the case with this number is drawn.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.seed
            .is_none_or(|seed| seed.wrapping_add(number).is_multiple_of(PARTS))
    }

    /// The drawn numbers from `first` on, without an end.
    pub fn numbers_from(self, first: u64) -> impl Iterator<Item = u64> {
        (first..).filter(move |number| self.has(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_whole_budget() {
        let sum: u64 = SHARES.iter().map(|(_, share)| share).sum();
        assert_eq!(sum, 1000);
        assert!(SHARES.is_sorted_by(|one, next| one.0 < next.0));
    }

    #[test]
    fn five_seeds_in_a_row_draw_each_case_once() {
        for number in 0..20 {
            let draws = (7..12).filter(|seed| Draw { seed: Some(*seed) }.has(number));
            assert_eq!(draws.count(), 1, "{number}");
        }
        assert!((0..20).all(|number| Draw::all().has(number)));
    }

    #[test]
    fn a_test_has_one_trial_at_least() {
        let mut trials = Trials {
            first: 4,
            next: 4,
            end: Instant::now(),
        };
        assert_eq!(trials.next(), Some(4));
        assert_eq!(trials.next(), None);
        assert_eq!(trials.begun(), 1);
    }
}

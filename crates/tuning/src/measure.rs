//! The order of measurements: cases one after the other, each with an equal share of the time that is left, in rounds that have
//! each size once.

use std::time::Duration;

use crate::Clock;
use crate::case::{Access, Case};
use crate::choice::Choice;
use crate::random::Random;
use crate::scan::{Failure, Scan, Scans, TableShape, Window};
use crate::statistics::Summary;

/// Number of rounds that should fit into a case's time: enough for a median with an error.
const ROUNDS_WANTED: u32 = 7;
/// Bytes of the first scan, which shows the speed of a case, and the minimum of all scans: several reads of the largest
/// size.
const FIRST_BYTES: u64 = 64 << 20;
/// The size of the first scan.
const FIRST_SIZE: u64 = 128 << 10;

/// Parameters of a measurement.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The kinds of scans.
    pub cases: Vec<Case>,
    /// The sizes, from the smallest on.
    pub sizes: Vec<u64>,
    /// The time for all cases together.
    pub time: Duration,
    /// Greatest number of rounds of a case.
    pub rounds: usize,
    /// Bytes of the table that is to fit into the page cache.
    pub cached_bytes: u64,
    /// Seed of the order of sizes in each round.
    pub seed: u64,
}

/// Result of a measurement.
#[derive(Debug)]
pub struct Report {
    /// The sizes, as in the plan.
    pub sizes: Vec<u64>,
    /// The result of each case that was begun.
    pub cases: Vec<CaseReport>,
    /// Whether it was stopped before its end.
    pub was_stopped: bool,
}

/// The result of a case.
#[derive(Debug)]
pub struct CaseReport {
    /// The case.
    pub case: Case,
    /// Its times, or the reason why there are none.
    pub outcome: Outcome,
}

/// Times, or the reason why there are none.
#[derive(Debug)]
pub enum Outcome {
    /// The times.
    Measured(Measured),
    /// The reason why there are none.
    Skipped(String),
}

/// The times of a case.
#[derive(Debug)]
pub struct Measured {
    /// Bytes of the rows that the scanners of a scan read together.
    pub bytes: u64,
    /// The seconds of each size in each round; `None` where it was not reached.
    pub rounds: Vec<Vec<Option<f64>>>,
    /// The evaluation of the times.
    pub choice: Choice,
}

impl Measured {
    /// The seconds of a size, given by its index.
    pub fn summary(&self, size: usize) -> Option<Summary> {
        let times = self
            .rounds
            .iter()
            .filter_map(|round| round.get(size).copied().flatten());
        Summary::of(&times.collect::<Vec<f64>>())
    }
}

impl CaseReport {
    /// The times, if there are any.
    pub fn measured(&self) -> Option<(&Measured, &Choice)> {
        match &self.outcome {
            Outcome::Measured(measured) => Some((measured, &measured.choice)),
            Outcome::Skipped(_) => None,
        }
    }
}

/// Measures all cases. `stop` is called often, and ends the measurement with the results so far; `begin` is called with
/// each case.
///
/// # Errors
/// [`Failure::Io`] and [`Failure::Differs`]: a file that cannot be read or changes cannot be measured.
pub fn measure(
    plan: &Plan,
    shape: TableShape,
    scans: &mut dyn Scans,
    clock: &dyn Clock,
    stop: &dyn Fn() -> bool,
    begin: &mut dyn FnMut(&Case),
) -> Result<Report, Failure> {
    let mut report = Report {
        sizes: plan.sizes.clone(),
        cases: Vec::new(),
        was_stopped: false,
    };
    let end = clock.now() + plan.time;
    for (index, case) in plan.cases.iter().enumerate() {
        let left = end.saturating_sub(clock.now());
        let share = left / (plan.cases.len() - index) as u32;
        let mut run = CaseRun {
            plan,
            shape,
            scans,
            clock,
            stop,
            case,
            random: Random::new(plan.seed.wrapping_add(index as u64)),
            longest: Duration::ZERO,
            bytes: 0,
        };
        begin(case);
        let mut rounds = Vec::new();
        let outcome = run.window(share).and_then(|window| {
            let ends = (clock.now() + share.saturating_sub(run.longest)).min(end);
            run.rounds(window, ends, end, &mut rounds)
        });
        let bytes = run.bytes;
        let outcome = match outcome {
            Ok(()) => None,
            Err(Failure::Skipped(why)) => Some(Outcome::Skipped(why)),
            Err(Failure::Stopped) => {
                report.was_stopped = true;
                None
            }
            Err(failure) => return Err(failure),
        };
        let outcome = outcome.unwrap_or_else(|| match Choice::of(&rounds) {
            Some(choice) => Outcome::Measured(Measured {
                bytes,
                rounds,
                choice,
            }),
            None if report.was_stopped => Outcome::Skipped("it was interrupted before".into()),
            None => Outcome::Skipped("there was no time left".into()),
        });
        report.cases.push(CaseReport {
            case: case.clone(),
            outcome,
        });
        if report.was_stopped {
            break;
        }
    }
    Ok(report)
}

/// The measurement of a case.
struct CaseRun<'a> {
    plan: &'a Plan,
    shape: TableShape,
    scans: &'a mut dyn Scans,
    clock: &'a dyn Clock,
    stop: &'a dyn Fn() -> bool,
    case: &'a Case,
    random: Random,
    /// The longest scan so far, including its preparation.
    longest: Duration,
    /// Bytes of the rows of the last scan.
    bytes: u64,
}

impl CaseRun<'_> {
    /// Number of rows in `bytes` bytes, at least one.
    fn rows(&self, bytes: u64) -> u64 {
        (bytes / self.shape.row_bytes.max(1) as u64).max(1)
    }

    /// Number of rows that scans of the case may read.
    fn table_rows(&self) -> u64 {
        match self.case.access {
            Access::Cached => self.rows(self.plan.cached_bytes).min(self.shape.rows),
            Access::Disk | Access::Direct => self.shape.rows,
        }
    }

    /// The window of rows with which the rounds fit into the time, found by a first scan.
    fn window(&mut self, time: Duration) -> Result<Window, Failure> {
        let table_rows = self.table_rows();
        let first = Window {
            first_row: 0,
            rows: self.rows(FIRST_BYTES).min(table_rows),
        };
        if first.rows == 0 {
            return Err(Failure::Skipped("the file holds no row".into()));
        }
        self.scans.prepare(self.case, first)?;
        if time.is_zero() {
            return Ok(first);
        }
        // The very first scan may have to wake up a device or a CPU.
        self.timed(first, FIRST_SIZE)?;
        self.longest = Duration::ZERO;
        self.timed(first, FIRST_SIZE)?;
        let scans = self.plan.sizes.len() as u32 * ROUNDS_WANTED;
        let scan_time = time.as_secs_f64() / f64::from(scans.max(1));
        let rows = first.rows as f64 * scan_time / self.longest.as_secs_f64().max(1e-9);
        let window = Window {
            first_row: 0,
            rows: (rows as u64).clamp(first.rows, table_rows),
        };
        self.scans.prepare(self.case, window)?;
        let grown = window.rows as f64 / first.rows as f64;
        self.longest = self.longest.mul_f64(grown);
        Ok(window)
    }

    /// Runs a scan; notes its duration with all preparation.
    fn timed(&mut self, window: Window, size: u64) -> Result<Scan, Failure> {
        if (self.stop)() {
            return Err(Failure::Stopped);
        }
        let start = self.clock.now();
        let scan = self.scans.scan(self.case, window, size)?;
        self.longest = self.longest.max(self.clock.now().saturating_sub(start));
        self.bytes = scan.rows * self.shape.row_bytes as u64;
        Ok(scan)
    }

    /// Measures in rounds. A scan that might end after `ends` is not begun; only the first round may continue until
    /// `last`.
    fn rounds(
        &mut self,
        window: Window,
        ends: Duration,
        last: Duration,
        rounds: &mut Vec<Vec<Option<f64>>>,
    ) -> Result<(), Failure> {
        let mut order: Vec<usize> = (0..self.plan.sizes.len()).collect();
        for round in 0..self.plan.rounds {
            self.random.shuffle(&mut order);
            rounds.push(vec![None; order.len()]);
            let ends = if round == 0 { last } else { ends };
            let window = self.moved(window, round as u64);
            let mut digest = None;
            for size in &order {
                if self.clock.now() + self.longest > ends {
                    return Ok(());
                }
                let scan = self.timed(window, self.plan.sizes[*size])?;
                let found = (scan.rows, scan.digest);
                if *digest.get_or_insert(found) != found {
                    return Err(Failure::Differs);
                }
                rounds[round][*size] = Some(scan.elapsed.as_secs_f64());
            }
        }
        Ok(())
    }

    /// The window of a round. Rounds from disk move through the table, so that no cache of the device holds all of it.
    fn moved(&self, window: Window, round: u64) -> Window {
        let places = self.table_rows() - window.rows + 1;
        let first_row = match self.case.access {
            Access::Cached => 0,
            Access::Disk | Access::Direct => round.wrapping_mul(window.rows) % places,
        };
        Window {
            first_row,
            ..window
        }
    }
}

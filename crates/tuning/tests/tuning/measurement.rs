//! The order of measurements on a simulated machine: planted times, and a clock that only scans advance.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly_tuning::{
    Advice, Case, Clock, Failure, Outcome, Plan, Report, SIZES, Scan, Scans, TableShape, Window,
    measure, size_text,
};
use proptest::prelude::*;

#[derive(Default)]
struct Hands(AtomicU64);

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Hands {
    fn move_on(&self, seconds: f64) {
        self.0.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }
}

/// A simulated machine: seconds of a scan by case, size, bytes, and the number of the scan.
struct Machine<'a, F> {
    clock: &'a Hands,
    seconds: F,
    scans: RefCell<Vec<(&'static str, Window, u64)>>,
    /// Cases that it cannot run.
    impossible: &'static [&'static str],
    /// The scan from which on rows differ.
    changes_at: usize,
}

impl<F: Fn(&Case, u64, f64, usize) -> f64> Scans for Machine<'_, F> {
    fn prepare(&mut self, case: &Case, _: Window) -> Result<(), Failure> {
        if self.impossible.contains(&case.name) {
            return Err(Failure::Skipped("it cannot".into()));
        }
        Ok(())
    }

    fn scan(&mut self, case: &Case, window: Window, size: u64) -> Result<Scan, Failure> {
        let number = self.scans.borrow().len();
        self.scans.borrow_mut().push((case.name, window, size));
        let seconds = (self.seconds)(case, size, window.rows as f64 * ROW, number);
        // The preparation of the scan is not in its time.
        self.clock.move_on(seconds * 1.1);
        let digest = window.first_row + u64::from(number >= self.changes_at) * 1_000_000_007;
        Ok(Scan {
            elapsed: Duration::from_secs_f64(seconds),
            rows: window.rows,
            digest,
        })
    }
}

const ROW: f64 = 55.0;
const SHAPE: TableShape = TableShape {
    row_bytes: 55,
    rows: 20_000_000,
};

fn plan(names: &[&str], seconds: f64) -> Plan {
    let mut cases = Case::all(4);
    cases.retain(|case| names.contains(&case.name));
    Plan {
        cases,
        sizes: SIZES.to_vec(),
        time: Duration::from_secs_f64(seconds),
        rounds: 20,
        cached_bytes: 256 << 20,
        seed: 5,
    }
}

fn machine<F: Fn(&Case, u64, f64, usize) -> f64>(clock: &Hands, seconds: F) -> Machine<'_, F> {
    Machine {
        clock,
        seconds,
        scans: RefCell::default(),
        impossible: &[],
        changes_at: usize::MAX,
    }
}

fn run<F: Fn(&Case, u64, f64, usize) -> f64>(
    plan: &Plan,
    machine: &mut Machine<'_, F>,
    stop: &dyn Fn() -> bool,
) -> Result<Report, Failure> {
    let clock = machine.clock;
    measure(plan, SHAPE, machine, clock, stop, &mut |_| {})
}

/// A gigabyte a second, and half more for buffers from 256K on, as in the article.
fn as_in_the_article(_: &Case, size: u64, bytes: f64, _: usize) -> f64 {
    bytes / 1e9
        * if size > 128 << 10 {
            1.5
        } else {
            1.0 + 8192.0 / size as f64 * 0.1
        }
}

#[test]
fn the_planted_best_size_is_advised() {
    let clock = Hands::default();
    let mut machine = machine(&clock, as_in_the_article);
    let report = run(&plan(&["cached", "disk"], 30.0), &mut machine, &|| false).expect("it runs");
    assert!(!report.was_stopped);
    for case in &report.cases {
        let (measured, choice) = case.measured().expect("it is measured");
        assert!(measured.rounds.len() >= 5, "{}", measured.rounds.len());
        assert_eq!(size_text(SIZES[choice.best]), "128K");
        // By the planted times, at 64K 0.6 % more than at 128K, at 32K 1.9 %.
        assert_eq!(size_text(SIZES[choice.chosen]), "64K");
        let good = choice.is_as_good.iter().filter(|good| **good).count();
        assert_eq!(good, 2);
    }
    let advice = Advice::of(&report);
    assert_eq!(advice.option_file(), "[mysqld]\nread_buffer_size = 64K\n");
    assert!(
        advice
            .read_buffer_size
            .expect("it is measured")
            .is_default_as_good()
    );
}

#[test]
fn a_round_has_each_size_once_in_an_order_of_its_own_over_the_same_rows() {
    let clock = Hands::default();
    let mut machine = machine(&clock, as_in_the_article);
    run(&plan(&["disk"], 20.0), &mut machine, &|| false).expect("it runs");
    let scans = machine.scans.borrow();
    // The first two determine the speed of the machine.
    let rounds: Vec<_> = scans[2..].chunks_exact(SIZES.len()).collect();
    assert!(rounds.len() >= 3);
    for round in &rounds {
        let mut sizes: Vec<u64> = round.iter().map(|scan| scan.2).collect();
        assert!(round.iter().all(|scan| scan.1 == round[0].1));
        sizes.sort_unstable();
        assert_eq!(sizes, SIZES);
    }
    let order = |round: &[(&str, Window, u64)]| round.iter().map(|scan| scan.2).collect::<Vec<_>>();
    assert_ne!(order(rounds[0]), order(rounds[1]));
    assert_ne!(rounds[0][0].1, rounds[1][0].1, "rounds from disk move on");
}

#[test]
fn cases_that_cannot_be_done_leave_their_time_to_others() {
    let clock = Hands::default();
    let mut machine = machine(&clock, as_in_the_article);
    machine.impossible = &["direct", "disk"];
    let report = run(
        &plan(&["cached", "disk", "direct"], 9.0),
        &mut machine,
        &|| false,
    );
    let report = report.expect("it runs");
    let skipped = |index: usize| matches!(&report.cases[index].outcome, Outcome::Skipped(why) if why == "it cannot");
    assert!(report.cases[0].measured().is_some() && skipped(1) && skipped(2));
}

#[test]
fn what_was_measured_before_an_interrupt_is_reported() {
    for stop_at in [0, 1, 2, 3, 8, 16, 40, 100] {
        let clock = Hands::default();
        let mut machine = machine(&clock, as_in_the_article);
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > stop_at
        };
        let report = run(&plan(&["cached", "disk"], 30.0), &mut machine, &stop).expect("it runs");
        assert!(report.was_stopped);
        let measured: usize = report
            .cases
            .iter()
            .filter_map(|case| case.measured())
            .map(|(measured, _)| measured.rounds.iter().flatten().flatten().count())
            .sum();
        // Two scans of each case determine its speed.
        let all = machine.scans.borrow().len();
        assert_eq!(
            measured,
            all.saturating_sub(2 * report.cases.len()),
            "{stop_at}"
        );
        assert_eq!(all, stop_at);
    }
}

#[test]
fn a_file_that_changes_is_an_error() {
    let clock = Hands::default();
    let mut machine = machine(&clock, as_in_the_article);
    machine.changes_at = 20;
    let report = run(&plan(&["cached"], 30.0), &mut machine, &|| false);
    assert!(matches!(report, Err(Failure::Differs)), "{report:?}");
}

proptest! {
    /// However fast the machine is and however its speed changes, the time is kept except for the scans that determine
    /// the speed of a case, and no size is advised that is 6 % worse than another everywhere.
    #[test]
    fn the_time_is_kept(
        speed in 1e7..2e10_f64,
        seconds in 0.0..100.0_f64,
        jitter in 0..40_u64,
        best in 0..SIZES.len(),
    ) {
        let clock = Hands::default();
        let times = |_: &Case, size: u64, bytes: f64, number: usize| {
            let noise = 1.0 + ((number as u64 * 7919) % (jitter + 1)) as f64 / 100.0;
            let planted = if size == SIZES[best] { 1.0 } else { 1.5 };
            bytes / speed * planted * noise
        };
        let mut machine = machine(&clock, times);
        let plan = plan(&["cached", "disk", "direct", "positions"], seconds);
        let report = run(&plan, &mut machine, &|| false);
        let report = report.map_err(|failure| TestCaseError::fail(failure.to_string()))?;
        let first_scans = 4.0 * 2.0 * (64 << 20) as f64 / speed * 1.5 * 1.4 * 1.1;
        prop_assert!(clock.now().as_secs_f64() <= seconds + first_scans + 1e-6);
        for case in &report.cases {
            if let Some((measured, choice)) = case.measured()
                && measured.rounds[0].iter().all(Option::is_some)
                && jitter < 3
            {
                prop_assert_eq!(choice.chosen, best);
            }
        }
    }
}

//! Fault injection into temporary files, each kind of work with a fifth of the faults by seed: whichever call fails,
//! the statement ends with an error that says what and where, or with the right result; nothing is left behind, and
//! the next statement works.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use crate::common::work::{TYPES, WORKS, Work};
use crate::common::{Fixture, random_batches};
use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_storage::TempTableOptions;
use mayfly_trials::{Draw, Random};
use mayfly_types::Batch;

fn options() -> TempTableOptions {
    TempTableOptions {
        batch_rows: 500,
        threads: 2,
        tmp_table_size: 128 << 10,
        force_overflow: true,
        ..TempTableOptions::default()
    }
}

fn batches() -> Vec<Batch> {
    random_batches(&mut Random(21), &TYPES, 9000, 3000, 60)
}

fn check(name: &str, work: Work, faults: &[Fault]) {
    let batches = batches();
    let expected = {
        let fixture = Fixture::new(&format!("faults-none-{name}"));
        let context = fixture.context(options());
        let expected = work(&fixture, &context, &batches).unwrap();
        drop(context);
        assert!(
            fixture.resources.temp_space.counters().writes() > 3,
            "{name} overflows"
        );
        fixture.assert_clean();
        expected
    };
    for &fault in faults {
        let mut fail_at = 1;
        let mut failures = 0;
        loop {
            let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, fail_at));
            let label = format!("faults-{name}-{fault:?}-{fail_at}");
            let fixture = Fixture::with_io(&label, Arc::clone(&io) as Arc<dyn IoBackend>);
            let context = fixture.context(options());
            let result = work(&fixture, &context, &batches);
            let calls = io.calls();
            match result {
                Ok(found) => assert_eq!(found, expected, "{label}"),
                Err(error) => {
                    failures += 1;
                    crate::common::file_errors::assert_is_of(&error, fault, &label);
                    assert!(
                        error.message().contains("mayfly-"),
                        "the path is named: {error:?}"
                    );
                    assert!(
                        error.message().contains(" bytes"),
                        "the bytes are named: {error:?}"
                    );
                }
            }
            // After a single failure the next attempt succeeds.
            if fault != Fault::ShortWrite && calls >= fail_at {
                let again = work(&fixture, &context, &batches).unwrap();
                assert_eq!(again, expected, "{label} again");
            }
            drop(context);
            fixture.assert_clean();
            if fail_at > calls {
                break;
            }
            // Each of the first calls, then fewer and fewer.
            fail_at += 1 + fail_at / 5;
        }
        let least = if fault.is_harmless() { 0 } else { 3 };
        assert!(failures >= least, "{name} {fault:?}: {failures} failures");
    }
}

fn check_those(wanted: impl Fn(&str) -> bool) {
    let mut works = WORKS.iter().filter(|(name, _)| wanted(name)).peekable();
    assert!(works.peek().is_some());
    let draw = Draw::of("faults");
    for (number, (name, work)) in (0..).zip(works) {
        let faults = (number..).zip(Fault::ALL);
        let faults = faults.filter(|(number, _)| draw.has(*number));
        let faults: Vec<Fault> = faults.map(|(_, fault)| fault).collect();
        check(name, *work, &faults);
    }
}

#[test]
fn joins_survive_any_failing_call() {
    check_those(|name| name.starts_with("join"));
}

#[test]
fn sorts_survive_any_failing_call() {
    check_those(|name| name.starts_with("sort"));
}

#[test]
fn other_work_survives_any_failing_call() {
    check_those(|name| !name.starts_with("join") && !name.starts_with("sort"));
}

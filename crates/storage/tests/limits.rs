//! Limits: any limit of memory gives the same result, a limit of temporary space is named in the
//! error.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::work::{TYPES, WORKS};
use common::{Fixture, Random, random_batches};
use mayfly_storage::{HashFunction, TempTableOptions};
use mayfly_types::error::codes;

fn options(tmp_table_size: u64, hash: HashFunction) -> TempTableOptions {
    TempTableOptions {
        batch_rows: 2000,
        threads: 2,
        tmp_table_size,
        hash,
        ..TempTableOptions::default()
    }
}

#[test]
fn one_mebibyte_a_table_and_eight_in_all_are_enough() {
    let batches = random_batches(&mut Random(31), &TYPES, 120_000, 40_000, 90);
    for (name, work) in WORKS {
        let expected = {
            let fixture = Fixture::new(&format!("limit-none-{name}"));
            let context = fixture.context(options(u64::MAX, HashFunction::Standard));
            work(&fixture, &context, &batches).unwrap()
        };
        let fixture = Fixture::new(&format!("limit-{name}"));
        fixture.memory.set_limit(8 << 20);
        let context = fixture.context(options(1 << 20, HashFunction::Standard));
        let found = work(&fixture, &context, &batches).unwrap();
        assert!(found == expected, "{name}");
        let peak = fixture.memory.peak();
        assert!(peak <= 8 << 20, "{name}: {peak} bytes at most");
        assert!(fixture.temp_space.peak() > 0, "{name} overflows");
        drop(context);
        fixture.assert_clean();
    }
}

#[test]
fn a_hash_that_always_collides_ends_under_a_limit_too() {
    let batches = random_batches(&mut Random(32), &TYPES, 6000, 700, 90);
    for (name, work) in WORKS {
        let run = |label: &str, options: TempTableOptions| {
            let fixture = Fixture::new(&format!("collide-{label}-{name}"));
            let context = fixture.context(options);
            let found = work(&fixture, &context, &batches).unwrap();
            drop(context);
            fixture.assert_clean();
            found
        };
        let expected = run("none", options(u64::MAX, HashFunction::Standard));
        let found = run("limit", options(256 << 10, HashFunction::Colliding));
        assert!(found == expected, "{name}");
    }
}

#[test]
fn a_limit_of_temporary_space_is_named() {
    let batches = random_batches(&mut Random(33), &TYPES, 60_000, 40_000, 90);
    for (name, work) in WORKS {
        let fixture = Fixture::new(&format!("space-{name}"));
        fixture.temp_space.set_limit(300_000);
        let context = fixture.context(options(512 << 10, HashFunction::Standard));
        let error = work(&fixture, &context, &batches).unwrap_err();
        assert!(
            error.is(&codes::ER_RECORD_FILE_FULL_LIMIT),
            "{name}: {error:?}"
        );
        assert_eq!((error.errno(), error.sqlstate()), (1114, "HY000"));
        for part in [
            "is full",
            "max_tmp_total_space_usage = 300000 bytes",
            "raise",
        ] {
            assert!(
                error.message().contains(part),
                "{name}: {}",
                error.message()
            );
        }
        drop(context);
        fixture.assert_clean();
    }
}

//! Fault injection: whichever file call fails, there is a clear error or the right rows, and nothing is left behind.

use std::sync::Arc;

use mayfly_legacy::{DiskEngine, LegacyColumn};
use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_storage::{InternalTable, KeyMode};
use mayfly_types::{Result, Value};

use crate::file_errors;
use crate::fixture::{Fixture, Setting, batch, scanned};

/// Rows that do not fit into memory, are changed, grow, and are read.
fn work(fixture: &Fixture, columns: &[LegacyColumn], has_key: bool) -> Result<Vec<Vec<Value>>> {
    let types: Vec<_> = columns.iter().map(|column| column.ty).collect();
    let key = &[KeyMode::Binary][..usize::from(has_key)];
    let mut table = fixture.table(columns, key)?;
    let (mut positions, mut is_new) = (Vec::new(), Vec::new());
    for round in 0..4_usize {
        let row = |n: usize| {
            let text = format!("{:0width$}", n * 7919 % 300, width = 4 + n % 20);
            vec![Value::Bytes(text.into_bytes()), Value::Bytes(vec![b'v'; 8])]
        };
        let rows: Vec<_> = (round * 60..round * 60 + 100).map(row).collect();
        let rows = batch(&types, &rows);
        if !has_key {
            table.append(&rows)?;
            continue;
        }
        table.find_or_insert(&rows, &mut positions, &mut is_new)?;
        positions.sort_unstable();
        positions.dedup();
        let changed: Vec<_> = positions
            .iter()
            .enumerate()
            .map(|(n, _)| vec![Value::Bytes(vec![b'w'; 8 + n * round * 3])])
            .collect();
        table.modify(&positions, &mut |_| Ok(batch(&types[1..], &changed)))?;
    }
    scanned(&table)
}

fn check(name: &str, setting: &Setting, columns: &[LegacyColumn], has_key: bool) {
    let expected = {
        let fixture = Fixture::new(setting);
        let expected = work(&fixture, columns, has_key).unwrap();
        fixture.assert_clean();
        expected
    };
    assert!(expected.len() >= 200);
    for fault in Fault::ALL {
        let (mut fail_at, mut failures, mut is_struck) = (1, 0, false);
        loop {
            let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, fail_at));
            let label = format!("{name} {fault:?} {fail_at}");
            let fixture = Fixture::with_io(setting, Arc::clone(&io) as Arc<dyn IoBackend>);
            let result = work(&fixture, columns, has_key);
            let calls = io.calls();
            is_struck |= calls > 0 && !fault.is_harmless();
            match result {
                Ok(found) => assert_eq!(found, expected, "{label}"),
                Err(error) => {
                    failures += 1;
                    file_errors::assert_is_of(&error, fault, &label);
                    let path = fixture.directory().to_string_lossy();
                    assert!(error.message().contains(&*path), "{label}: {error:?}");
                }
            }
            fixture.assert_clean();
            if calls < fail_at {
                break;
            }
            // Every call at first, then some of the many similar ones.
            fail_at += 1 + fail_at / 8;
        }
        assert_eq!(failures > 0, is_struck, "{name} {fault:?}");
    }
}

fn text(form: LegacyColumn) -> [LegacyColumn; 2] {
    [form, LegacyColumn::blob()]
}

#[test]
fn rows_of_my_isam() {
    let mut setting = Setting::new(DiskEngine::MyIsam, 10_000);
    // Eight blocks, so that most are read repeatedly.
    setting.key_buffer_size = 9_000;
    setting.options.read_buffer_size = 8192;
    check(
        "DYNAMIC",
        &setting,
        &text(LegacyColumn::varying(30, 1)),
        true,
    );
    setting.key_buffer_size = 0;
    check(
        "DYNAMIC, hashes",
        &setting,
        &text(LegacyColumn::blob()),
        true,
    );
    let fixed = [LegacyColumn::fixed_text(30), LegacyColumn::fixed_text(2000)];
    check("FIXED after MEMORY", &setting, &fixed, true);
    check(
        "appended",
        &setting,
        &text(LegacyColumn::varying(30, 1)),
        false,
    );
}

#[test]
fn rows_of_inno_db() {
    let mut setting = Setting::new(DiskEngine::InnoDb, 10_000);
    setting.buffer_pool_size = 0;
    check("keys", &setting, &text(LegacyColumn::varying(30, 1)), true);
    check("hashes", &setting, &text(LegacyColumn::blob()), true);
    let fixed = [LegacyColumn::fixed_text(30), LegacyColumn::fixed_text(2000)];
    check("after MEMORY", &setting, &fixed, true);
    check(
        "appended",
        &setting,
        &text(LegacyColumn::varying(30, 1)),
        false,
    );
}

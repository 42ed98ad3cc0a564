//! The files of temporary tables: created and limited by `innodb_temp_data_file_path`, and released as statements and
//! tables end.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{Fixture, SessionExt, variables};

fn fixture(files: &str) -> Fixture {
    Fixture::open(|options| {
        options.variables = variables(&[
            ("innodb_temp_data_file_path", files),
            ("tmp_table_size", "65536"),
            ("temptable_max_ram", "2097152"),
        ]);
    })
}

/// Bytes on disk of the files whose names begin with `ibtmp1`.
fn bytes_on_disk(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| {
        let path = entry.path();
        let name = entry.file_name();
        match path.is_dir() {
            true => bytes_on_disk(&path),
            false if name.to_string_lossy().starts_with("ibtmp1") => {
                entry.metadata().map_or(0, |file| file.blocks() * 512)
            }
            false => 0,
        }
    });
    bytes.sum()
}

const ROWS: &str = "WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) \
     SELECT a.i * 1000 + b.i n, CONCAT(REPEAT('x', 400), a.i, ' ', b.i) v FROM r a, r b WHERE b.i <= ";

#[test]
fn a_statement_that_needs_more_than_the_files_may_take_fails_and_the_next_one_has_all_of_it() {
    let fixture = fixture("ibtmp1:1M:autoextend:max:4M");
    let mut session = fixture.session();
    session.must("SET cte_max_recursion_depth = 100000");
    assert_eq!(bytes_on_disk(fixture.tmpdir()), 0);
    for round in 0..3 {
        let table = format!("CREATE TEMPORARY TABLE t (n INT PRIMARY KEY, v TEXT) {ROWS}");
        let error = session.execute(&format!("{table} 50")).unwrap_err();
        assert_eq!(error.errno(), 1114, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("innodb_temp_data_file_path = 4194304 bytes"),
            "{text}"
        );
        assert!(bytes_on_disk(fixture.tmpdir()) <= 4 << 20);
        // A size that fits, fits again and again.
        session.must(&format!("{table} 6"));
        assert_eq!(session.must("SELECT COUNT(*) FROM t")[0], "6000");
        let shown = "SELECT TOTAL_EXTENTS > 0, INITIAL_SIZE, MAXIMUM_SIZE FROM \
             information_schema.FILES WHERE TABLESPACE_NAME = 'innodb_temporary'";
        assert_eq!(session.must(shown)[0], "1\t1048576\t4194304", "{round}");
        session.must("DROP TEMPORARY TABLE t");
        assert_eq!(fixture.database.temp_space_used(), 0);
    }
    drop(session);
    fixture.database.trim();
    assert_eq!(bytes_on_disk(fixture.tmpdir()), 0);
}

#[test]
fn files_are_made_with_their_size_and_do_not_grow_from_round_to_round() {
    let fixture = fixture("ibtmp1:12M:autoextend");
    let mut session = fixture.session();
    let mut most = 0;
    for round in 0..6 {
        let table = format!("CREATE TEMPORARY TABLE t (n INT PRIMARY KEY, v TEXT) {ROWS} 6");
        session.must(&table);
        session.must("UPDATE t SET v = REVERSE(v) WHERE n % 2");
        session.must("DELETE FROM t WHERE n % 3 = 0");
        let taken = bytes_on_disk(fixture.tmpdir());
        assert!(taken >= 6 << 20, "{taken}");
        if round == 0 {
            most = taken;
        }
        assert!(taken <= most.max(13 << 20), "{taken} after {most}");
        session.must("DROP TEMPORARY TABLE t");
    }
}

#[test]
fn what_is_no_list_of_files_is_refused_at_the_start() {
    let mut options = DatabaseOptions::new();
    options.variables = variables(&[("innodb_temp_data_file_path", "ibtmp1")]);
    let error = Database::open(options).unwrap_err();
    assert_eq!(error.errno(), 1231, "{error}");
}

//! `tmp_debug`: who may set it, and the error of each of its faults. That no fault changes a result is tested with the
//! golden files (`golden/faults.rs`).

use mayfly_testkit::fixture::{Errno, Fixture, SessionExt, log_in};

/// A grouping of 2000 rows, which every fault strikes once it overflows.
const QUERY: &str =
    "SELECT COUNT(*), SUM(n) FROM (SELECT v, COUNT(*) n FROM t GROUP BY v ORDER BY v) g";

fn fixture() -> Fixture {
    Fixture::open(|options| {
        options.allow_tmp_debug = true;
        options.threads = 1;
    })
}

fn fill(session: &mut mayfly_engine::Session) {
    session.must("CREATE DATABASE d; USE d; CREATE TABLE t (v VARCHAR(100)); SET cte_max_recursion_depth = 10000");
    session.must(
        "INSERT INTO t WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n LIMIT 2000)
         SELECT CONCAT(SHA1(i), SHA1(-i)) FROM n",
    );
}

#[test]
fn each_fault_has_the_error_of_a_device() {
    let fixture = fixture();
    let mut session = fixture.session();
    fill(&mut session);
    let expected = ["2000\t2000"];
    for (faults, errno) in [
        ("", 0),
        ("spill_after_rows=0", 0),
        ("spill_after_rows=1999|slow_io=1", 0),
        ("full_disk", 0),
        ("spill_after_rows=0, full_disk", 1021),
        ("spill_after_rows=0, fail_after_bytes=1000", 1021),
        ("spill_after_rows=0, fail_after_bytes=100000000", 0),
        ("spill_after_rows=0, fail_on_write=1", 1026),
        ("spill_after_rows=0, fail_on_write=100000", 0),
        ("spill_after_rows=0, corrupt_block=1", 1024),
    ] {
        session.must(&format!("SET SESSION tmp_debug = '{faults}'"));
        // Counts begin anew with each statement.
        for _ in 0..2 {
            match session.rows(QUERY) {
                Ok(rows) => assert_eq!(
                    (rows, errno),
                    (expected.map(str::to_owned).to_vec(), 0),
                    "{faults}"
                ),
                Err(error) => {
                    assert_eq!(error.errno(), errno, "{faults}: {error}");
                    assert!(error.message().contains(" bytes"), "{faults}: {error}");
                }
            }
            assert_eq!(fixture.database.temp_space_used(), 0, "{faults}");
        }
        // Other sessions have no faults.
        let mut other = fixture.session();
        other.must("USE d; SET big_tables = ON");
        assert_eq!(other.must(QUERY), expected, "{faults}");
    }
}

#[test]
fn rows_in_memory_are_counted() {
    let fixture = fixture();
    let mut session = fixture.session();
    fill(&mut session);
    let sort = "SELECT COUNT(*) FROM (SELECT v FROM t ORDER BY v LIMIT 100) s";
    let disk_tables = |session: &mut mayfly_engine::Session, rows: u64| {
        session.must(&format!(
            "SET SESSION tmp_debug = 'spill_after_rows={rows}'; FLUSH STATUS"
        ));
        assert_eq!(session.must(QUERY), ["2000\t2000"]);
        assert_eq!(session.must(sort), ["100"]);
        let status = session.value("SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'");
        status
            .split_once('\t')
            .is_some_and(|(_, value)| value != "0")
    };
    assert!(disk_tables(&mut session, 0));
    assert!(!disk_tables(&mut session, 2000));
}

#[test]
fn a_full_disk_strikes_a_table_of_the_session() {
    let fixture = fixture();
    let mut session = fixture.session();
    fill(&mut session);
    session.must("CREATE TEMPORARY TABLE u LIKE t; SET tmp_table_size = 16384");
    session.must("SET tmp_debug = 'spill_after_rows=10, full_disk'");
    let many = "INSERT INTO u SELECT a.v FROM t a JOIN t b LIMIT 100000";
    assert_eq!(session.errno(many), 1021);
    assert_eq!(session.must("SELECT COUNT(*) FROM u"), ["0"]);
    session.must("SET tmp_debug = DEFAULT");
    session.must(many);
    assert_eq!(session.must("SELECT COUNT(*) FROM u"), ["100000"]);
    session.must("DROP TEMPORARY TABLE u");
}

#[test]
fn faults_need_a_privilege_and_a_server_that_allows_them() {
    let fixture = fixture();
    let mut session = fixture.session();
    session.must("CREATE USER ann@localhost, bob@localhost; GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO bob@localhost");
    let set = "SET SESSION tmp_debug = 'full_disk'";
    for (user, errno) in [("ann", 1227), ("bob", 0)] {
        let mut other = log_in(&fixture.database, user).expect("the account has no password");
        assert_eq!(other.errno(set), errno, "{user}");
    }
    for wrong in ["x", "fail_on_write=0", "slow_io=1001", "full_disk=1"] {
        assert_eq!(
            session.errno(&format!("SET tmp_debug = '{wrong}'")),
            1231,
            "{wrong}"
        );
    }
    assert_eq!(session.errno("SET tmp_debug = 1"), 1232);
    drop(session);
    let plain = Fixture::open(|_| {});
    let mut session = plain.session();
    assert_eq!(session.errno(set), 1290);
    assert_eq!(session.errno("SET GLOBAL tmp_debug = 'full_disk'"), 1290);
    session.must("SET tmp_debug = ''");
}

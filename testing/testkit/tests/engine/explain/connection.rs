//! EXPLAIN FOR CONNECTION.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mayfly_testkit::fixture::{Fixture, SessionExt, log_in};

use crate::explain::text_of;

/// Runs a statement in another session until `look` has seen it.
fn while_running(fixture: &Fixture, sql: &str, look: impl FnOnce(u64)) {
    let mut other = fixture.session();
    let id: u64 = other.must("SELECT CONNECTION_ID()")[0]
        .parse()
        .expect("a number");
    let kill = other.kill_handle();
    let sql = sql.to_owned();
    let (began, begins) = mpsc::channel();
    let runner = thread::spawn(move || {
        began.send(()).expect("somebody waits");
        let _ = other.execute(&sql);
    });
    begins.recv().expect("it begins");
    let mut watcher = fixture.session();
    let state = format!(
        "SELECT COUNT(*) FROM performance_schema.processlist WHERE id = {id} AND command = 'Query'"
    );
    while watcher.must(&state) != ["1"] {
        thread::sleep(Duration::from_millis(1));
    }
    // The statement is planned before it runs.
    thread::sleep(Duration::from_millis(200));
    look(id);
    kill.kill();
    runner.join().expect("the statement ends");
}

fn fixture() -> Fixture {
    let (fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE g (i INT, c CHAR(50))");
    session.must("INSERT INTO g VALUES (1, 'a'), (2, 'b'), (3, 'a')");
    fixture
}

#[test]
fn the_plan_of_a_running_statement_is_shown_in_every_format() {
    let fixture = fixture();
    let query = "SELECT c, SUM(SLEEP(5)) FROM g WHERE i > 0 GROUP BY c";
    while_running(&fixture, query, |id| {
        let mut session = fixture.session();
        let rows = session.must(&format!("EXPLAIN FORMAT=TRADITIONAL FOR CONNECTION {id}"));
        assert_eq!(rows.len(), 1);
        assert!(
            rows[0].ends_with("Using where; Using temporary"),
            "{rows:?}"
        );
        let tree = text_of(
            &mut session,
            &format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}"),
        );
        assert!(tree.contains("-> Filter: (g.i > 0)"), "{tree}");
        for version in [1, 2] {
            session.must(&format!("SET explain_json_format_version = {version}"));
            let json = text_of(
                &mut session,
                &format!("EXPLAIN FORMAT=JSON FOR CONNECTION {id}"),
            );
            assert!(json.contains("\"temporary_table\": {"), "{json}");
        }
        let into = session.execute(&format!("EXPLAIN FORMAT=JSON INTO @j FOR CONNECTION {id}"));
        assert_eq!(into.expect_err("no INTO").errno(), 6009);
        let analyze = session.execute(&format!("EXPLAIN ANALYZE FOR CONNECTION {id}"));
        assert_eq!(analyze.expect_err("no ANALYZE").errno(), 1235);
        assert_eq!(session.must("SHOW WARNINGS").len(), 1, "the error alone");
    });
    let change = "UPDATE g SET c = 'x' WHERE SLEEP(5) = 0";
    while_running(&fixture, change, |id| {
        let mut session = fixture.session();
        let rows = session.must(&format!("EXPLAIN FORMAT=TRADITIONAL FOR CONNECTION {id}"));
        assert!(rows[0].starts_with("1\tUPDATE\tg\t"), "{rows:?}");
    });
}

#[test]
fn what_has_no_plan_is_refused() {
    let fixture = fixture();
    let mut session = fixture.session();
    let unknown = session.execute("EXPLAIN FOR CONNECTION 4294967295");
    let unknown = unknown.expect_err("nobody has it");
    assert_eq!(
        unknown.to_string(),
        "ERROR 1094 (HY000): Unknown thread id: 4294967295"
    );
    while_running(&fixture, "DO SLEEP(5)", |id| {
        let refused = session.execute(&format!("EXPLAIN FOR CONNECTION {id}"));
        assert_eq!(refused.expect_err("DO has no plan").errno(), 3012);
    });
    // A session that waits for its client has no plan.
    let mut idle = fixture.session();
    let id = idle.must("SELECT CONNECTION_ID()").remove(0);
    assert!(
        session
            .must(&format!("EXPLAIN FOR CONNECTION {id}"))
            .is_empty()
    );
}

#[test]
fn another_accounts_statement_wants_process() {
    let fixture = fixture();
    let mut root = fixture.session();
    root.must("CREATE USER ann, bob; GRANT SELECT ON *.* TO ann; GRANT PROCESS ON *.* TO bob");
    let query = "SELECT SUM(SLEEP(5)) FROM g";
    while_running(&fixture, query, |id| {
        let explain = format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}");
        let mut ann = log_in(&fixture.database, "ann").expect("ann logs in");
        assert_eq!(ann.execute(&explain).expect_err("no PROCESS").errno(), 1045);
        let mut bob = log_in(&fixture.database, "bob").expect("bob logs in");
        assert!(bob.execute(&explain).is_ok());
    });
}

//! Tables of engines without transactions, beside a transaction of the same session.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use mayfly_testkit::fixture::{Fixture, must, rows};

/// Less than `innodb_lock_wait_timeout`.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session waits as one, whichever of its two transactions wants a lock or holds it: a circle that
/// goes through both is found.
#[test]
fn a_deadlock_through_both_transactions_of_a_session_is_found() {
    let fixture = Fixture::open(|_| {});
    let mut a = fixture.database.session();
    let mut b = fixture.database.session();
    for (table, engine) in [("i", "InnoDB"), ("m", "MyISAM")] {
        must(
            &mut a,
            &format!("CREATE TABLE {table} (id INT PRIMARY KEY, v INT) ENGINE = {engine}"),
        );
        must(
            &mut a,
            &format!("INSERT INTO {table} VALUES (1, 10), (2, 20)"),
        );
    }
    must(&mut a, "BEGIN");
    must(&mut a, "UPDATE i SET v = 11 WHERE id = 1");
    let waiting = std::thread::spawn(move || {
        // Has the row of m, and waits for that of i.
        must(
            &mut b,
            "UPDATE m, i SET m.v = m.v + 1, i.v = i.v + 1 WHERE m.id = 1 AND i.id = 1",
        );
        b
    });
    // Until b holds it.
    let begun = Instant::now();
    loop {
        let others = "SELECT id FROM m WHERE id = 1 FOR UPDATE SKIP LOCKED";
        if must(&mut a, others).is_empty() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    let error = rows(&mut a, "UPDATE m SET v = 12 WHERE id = 1").unwrap_err();
    assert_eq!(error.errno(), 1213, "{error}");
    assert!(begun.elapsed() < PATIENCE);
    let b = waiting.join().unwrap();
    assert_eq!(must(&mut a, "SELECT v FROM i WHERE id = 1"), ["11"]);
    assert_eq!(must(&mut a, "SELECT v FROM m WHERE id = 1"), ["11"]);
    drop((a, b));
    fixture.finish();
}

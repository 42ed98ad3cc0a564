//! Checks for the end of a statement, which a program may observe.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use mayfly::{Checkpoint, Options};

/// Observer whose first check on another thread than the statement's waits, long after that has done its share of the work,
/// until that has checked again.
#[derive(Debug)]
struct Waiting {
    thread: ThreadId,
    is_active: AtomicBool,
    is_waiting: AtomicBool,
    is_seen: AtomicBool,
    is_seen_in_time: AtomicBool,
}

impl Checkpoint for Waiting {
    fn reached(&self) {
        if std::thread::current().id() == self.thread {
            let is_waiting = self.is_waiting.load(Ordering::Relaxed);
            self.is_seen.fetch_or(is_waiting, Ordering::Relaxed);
        } else if self.is_active.swap(false, Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1500));
            self.is_waiting.store(true, Ordering::Relaxed);
            let begin = Instant::now();
            while !self.is_seen.load(Ordering::Relaxed) && begin.elapsed() < Duration::from_secs(10)
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            let is_seen = self.is_seen.load(Ordering::Relaxed);
            self.is_seen_in_time.store(is_seen, Ordering::Relaxed);
        }
    }
}

/// The package for Python looks for Ctrl-C on the thread that runs the statement, which may have nothing to do while others
/// still compute.
#[test]
fn the_thread_of_a_statement_checks_while_others_compute() {
    let waiting = Arc::new(Waiting {
        thread: std::thread::current().id(),
        is_active: AtomicBool::new(false),
        is_waiting: AtomicBool::new(false),
        is_seen: AtomicBool::new(false),
        is_seen_in_time: AtomicBool::new(false),
    });
    let checkpoint: Arc<dyn Checkpoint> = Arc::clone(&waiting) as _;
    let options = Options::new().threads(2).checkpoint(checkpoint);
    let mut connection = options.open().expect("opens").connect();
    for sql in [
        "CREATE TABLE t (i BIGINT)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         SELECT a.i FROM n a, n b, n c LIMIT 400000",
    ] {
        connection.execute(sql, ()).expect(sql);
    }
    waiting.is_active.store(true, Ordering::Relaxed);
    let sql = "SELECT COUNT(*) FROM t WHERE i % 3 = 1";
    let count: i64 = connection
        .query_row(sql, ())
        .and_then(|row| row.get(0))
        .expect("a number");
    assert!(count > 0, "{count}");
    assert!(
        waiting.is_waiting.load(Ordering::Relaxed),
        "a second thread"
    );
    assert!(waiting.is_seen_in_time.load(Ordering::Relaxed));
}

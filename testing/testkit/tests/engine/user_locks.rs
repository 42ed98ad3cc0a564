//! GET_LOCK() in several sessions, in cases that isolation scripts cannot express: timeouts, KILL, session resets, and
//! unique numbers.

use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mayfly_engine::{Session, SessionOptions};
use mayfly_testkit::fixture::{Fixture, SessionExt};

/// Greatest time of something immediate, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Result of a statement in another thread: its one value, or its error number.
type Answer = Result<String, u16>;

/// A session whose statement runs in another thread.
struct Asking {
    thread: JoinHandle<Session>,
    answer: Receiver<Answer>,
}

impl Asking {
    fn begin(mut session: Session, sql: &'static str) -> Self {
        let (sender, answer) = channel();
        let thread = std::thread::spawn(move || {
            let answer = session.rows(sql).map(|rows| rows.join(" "));
            let answer = answer.map_err(|error| error.errno());
            sender.send(answer).expect("somebody wants to know");
            session
        });
        Self { thread, answer }
    }

    /// [`Self::begin`] that returns once the session waits for a lock.
    fn wait(session: Session, sql: &'static str, watcher: &mut Session) -> Self {
        let seen = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User lock'",
            session.id()
        );
        let asking = Self::begin(session, sql);
        let begun = Instant::now();
        while watcher.must(&seen) != ["1"] {
            assert!(begun.elapsed() < PATIENCE, "{sql} does not wait");
            std::thread::sleep(Duration::from_millis(1));
        }
        asking
    }

    /// The answer, which comes soon.
    fn end(self) -> (Session, Answer) {
        let answer = self.answer.recv_timeout(PATIENCE).expect("an answer");
        (self.thread.join().expect("the session lives on"), answer)
    }
}

fn answer(text: &str) -> Answer {
    Ok(text.to_owned())
}

#[test]
fn a_wait_ends_with_its_time() {
    let fixture = Fixture::open(|_| {});
    let [mut holder, mut other] = [(); 2].map(|()| fixture.session());
    holder.must("SELECT GET_LOCK('a', 0)");
    let begun = Instant::now();
    assert_eq!(other.must("SELECT GET_LOCK('a', 1)"), ["0"]);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(other.must("SELECT GET_LOCK('a', NULL)"), ["0"]);
    other.must("SET max_execution_time = 50");
    let error = other
        .rows("SELECT GET_LOCK('a', -1)")
        .expect_err("its time is over");
    assert_eq!(error.errno(), 3024);
    // The session waits in no queue any more.
    holder.must("SELECT RELEASE_ALL_LOCKS()");
    assert_eq!(holder.must("SELECT IS_FREE_LOCK('a')"), ["1"]);
}

#[test]
fn a_kill_ends_a_wait() {
    let fixture = Fixture::open(|_| {});
    let [mut holder, killed, behind] = [(); 3].map(|()| fixture.session());
    holder.must("SELECT GET_LOCK('a', 0)");
    let kill = format!("KILL QUERY {}", killed.id());
    let killed = Asking::wait(killed, "SELECT GET_LOCK('a', -1)", &mut holder);
    let behind = Asking::wait(behind, "SELECT GET_LOCK('a', -1)", &mut holder);
    holder.must(&kill);
    let (mut killed, got) = killed.end();
    assert_eq!(got, Err(1317));
    assert_eq!(killed.must("SELECT GET_LOCK('b', 0)"), ["1"]);
    holder.must("SELECT RELEASE_LOCK('a')");
    assert_eq!(behind.end().1, answer("1"));
}

#[test]
fn a_session_that_begins_anew_holds_nothing() {
    let fixture = Fixture::open(|_| {});
    let [mut holder, mut other] = [(); 2].map(|()| fixture.session());
    holder.must("SELECT GET_LOCK('a', 0), GET_LOCK('b', 0)");
    holder.reset();
    assert_eq!(other.must("SELECT IS_FREE_LOCK('a')"), ["1"]);
    assert_eq!(holder.must("SELECT RELEASE_ALL_LOCKS()"), ["0"]);
    holder.must("SELECT GET_LOCK('a', 0)");
    holder.change_user(SessionOptions::new());
    assert_eq!(other.must("SELECT IS_FREE_LOCK('a')"), ["1"]);
}

#[test]
fn a_number_is_given_once() {
    let fixture = Fixture::open(|_| {});
    let [mut first, mut second] = [(); 2].map(|()| fixture.session());
    let numbers = "SELECT UUID_SHORT() FROM (SELECT 1 UNION ALL SELECT 2) AS t";
    let mut given: Vec<u64> = Vec::new();
    for round in 0..3 {
        let session = if round == 1 { &mut second } else { &mut first };
        let numbers = session.must(numbers);
        given.extend(numbers.iter().map(|number| {
            let number: u64 = number.parse().expect("a number");
            assert_eq!(number >> 56, 1, "the server's number");
            number
        }));
    }
    assert!(given.is_sorted_by(|a, b| a < b), "{given:?}");
    // The same text again, with the cached plan.
    let again = "SELECT UUID_SHORT(), IS_FREE_LOCK('a'), GET_LOCK('a', 0)";
    let before = first.must(again);
    let after = first.must(again);
    assert_ne!(before, after);
    assert!(before[0].ends_with("1\t1") && after[0].ends_with("0\t1"));
    second.must("CREATE TABLE t (n BIGINT UNSIGNED DEFAULT (UUID_SHORT()), i INT)");
    second.must("INSERT INTO t (i) VALUES (1), (2), (3)");
    assert_eq!(second.must("SELECT COUNT(DISTINCT n) FROM t"), ["3"]);
}

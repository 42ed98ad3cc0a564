//! Processes that are killed while their sessions work. They say on standard output what happens, a line for each
//! event.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::random::Random;

use crate::check::Level;
use crate::events::Event;
use crate::{Work, work};

/// Says to this program that it is such a process, and what it does.
const WORKER: &str = "MAYFLY_HISTORIES_WORKER";
/// What its lines begin with: the harness writes others.
const MARK: &str = "history ";
/// The longest that one works.
const LONGEST_MS: usize = 400;

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(format!("\n{MARK}{text}\n").as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        std::process::abort();
    }
}

/// The process that is killed; nothing where nobody has asked for one.
#[test]
fn worker() {
    let Ok(task) = std::env::var(WORKER) else {
        return;
    };
    let mut words = task.splitn(5, ' ');
    let mut word = || words.next().unwrap_or_default();
    let level = Level::ALL.into_iter().find({
        let name = word().to_owned();
        move |level| format!("{level:?}") == name
    });
    let mut number = || word().parse::<u64>().unwrap();
    let (seed, sessions, first) = (number(), number() as usize, number());
    let of = Work {
        level: level.unwrap(),
        seed,
        sessions,
        // Until it is killed.
        transactions: usize::MAX,
        first,
    };
    let mut options = DatabaseOptions::new();
    options.threads = 2;
    options.datadir = Some(word().into());
    let database = Database::open(options).unwrap();
    say("ready");
    work(&database, of, |number, event: Event| {
        say(&event.line(number));
    });
}

/// Lets a process work for a while and kills it; what it has said.
pub(crate) fn run_and_kill(directory: &Path, of: Work) -> Vec<(u64, Event)> {
    let Work {
        level,
        seed,
        sessions,
        first,
        ..
    } = of;
    let task = format!(
        "{level:?} {seed} {sessions} {first} {}",
        directory.display()
    );
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::worker", "--nocapture"])
        .env(WORKER, task)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ready = |line: &String| line.strip_prefix(MARK) == Some("ready");
    let ready = lines.by_ref().map_while(Result::ok).find(is_ready);
    assert!(ready.is_some(), "the process has not begun: {of:?}");
    let reader = std::thread::spawn(move || {
        let lines = lines.map_while(Result::ok);
        let events = lines.filter_map(|line| Event::of(line.strip_prefix(MARK)?));
        events.collect::<Vec<_>>()
    });
    let moment = Random(seed).below(LONGEST_MS);
    std::thread::sleep(Duration::from_millis(moment as u64));
    let ended = child.try_wait().unwrap();
    assert!(
        ended.is_none(),
        "it has ended before it was killed: {ended:?}, {of:?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

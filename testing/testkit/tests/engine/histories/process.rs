//! Processes that are killed while their sessions work. They report events on standard output, one line each.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::process::{again, report};
use mayfly_trials::Random;

use crate::histories::Work;
use crate::histories::events::Event;

/// Tells this program that it is such a process, and its work.
const WORKER: &str = "MAYFLY_HISTORIES_WORKER";
/// Beginning of its lines: the test harness writes others.
const MARK: &str = "history ";
/// Greatest time in which one works.
const LONGEST_MS: usize = 400;

fn say(text: &str) {
    report(&format!("\n{MARK}{text}"));
}

/// The process to be killed; does nothing unless the environment asks for one.
#[test]
fn worker() {
    let Ok(task) = std::env::var(WORKER) else {
        return;
    };
    let (work, directory): (Work, PathBuf) = serde_json::from_str(&task).unwrap();
    let mut options = DatabaseOptions::new();
    options.threads = 2;
    options.datadir = Some(directory);
    let database = Database::open(options).unwrap();
    say("ready");
    crate::histories::work(&database, work, |number, event: Event| {
        let event = serde_json::to_string(&(number, event));
        say(&event.expect("JSON has a form for it"));
    });
}

/// Lets a process work for a while and kills it; returns its events.
pub(crate) fn run_and_kill(directory: &Path, of: Work) -> Vec<(u64, Event)> {
    let work = Work {
        transactions: usize::MAX,
        ..of
    };
    let task = serde_json::to_string(&(work, directory)).unwrap();
    let mut child = again("histories::process::worker")
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
        // The last line may be incomplete.
        let events = lines.filter_map(|line| serde_json::from_str(line.strip_prefix(MARK)?).ok());
        events.collect()
    });
    let time = Random(work.seed).below(LONGEST_MS);
    std::thread::sleep(Duration::from_millis(time as u64));
    let ended = child.try_wait().unwrap();
    assert!(ended.is_none(), "it has ended by itself: {ended:?}, {of:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

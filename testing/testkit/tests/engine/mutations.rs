//! Mutated statements: those of the golden files with parts of their text deleted, doubled, swapped or replaced.
//! Whatever they mean then, they end soon, in rows or in an error of MySQL's, and nothing is left behind.
//!
//! A failure names both the statement and the seed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use mayfly_engine::{FileAccess, KillHandle, Session};
use mayfly_testkit::corpus;
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_testkit::words::words;
use mayfly_trials::{Random, Trials};
use regex::Regex;

/// Number of mutants of each statement before the next file.
const MUTANTS: usize = 3;
/// Time after which a statement is killed.
const LONG: Duration = Duration::from_secs(2);
/// Time after which it hangs.
const TOO_LONG: Duration = Duration::from_secs(60);

/// The statements of a golden file.
fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("statement ") || line.starts_with("query ") {
            let sql = lines
                .by_ref()
                .take_while(|line| !line.is_empty() && *line != "----");
            statements.push(sql.collect::<Vec<_>>().join("\n"));
        }
    }
    statements
}

/// Words, numbers, strings and single characters, with the spaces behind them.
fn tokens(sql: &str) -> Vec<&str> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?s)(?:[\w@$]+|'[^']*'?|"[^"]*"?|`[^`]*`?|.)\s*"#;
        Regex::new(pattern).expect("the pattern is right")
    });
    TOKEN.find_iter(sql).map(|token| token.as_str()).collect()
}

struct Mutator {
    random: Random,
    words: Vec<String>,
}

impl Mutator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1))
    }

    /// A word with a space behind it, or a single character such as a quote without one.
    fn word(&mut self) -> String {
        let word = &self.words[self.random.below(self.words.len())];
        match word.as_str() {
            "\\" | "\0" | "'" | "\"" | "`" => word.clone(),
            _ => format!("{word} "),
        }
    }

    fn mutate(&mut self, sql: &str, others: &[String]) -> String {
        let mut tokens: Vec<String> = tokens(sql).into_iter().map(str::to_owned).collect();
        for _ in 0..=self.below(3) {
            if tokens.is_empty() {
                break;
            }
            let at = self.below(tokens.len());
            match self.below(9) {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[at].clone()),
                2 => {
                    let other = self.below(tokens.len());
                    tokens.swap(at, other);
                }
                3 => tokens[at] = self.word(),
                4 => tokens.insert(at, self.word()),
                5 => {
                    let end = (at + self.below(8)).min(tokens.len());
                    let part = tokens[at..end].to_vec();
                    let to = self.below(tokens.len());
                    tokens.splice(to..to, part);
                }
                6 => {
                    let other = &others[self.below(others.len())];
                    let of_other = self::tokens(other);
                    if !of_other.is_empty() {
                        let from = self.below(of_other.len());
                        let end = (from + 1 + self.below(6)).min(of_other.len());
                        let part = of_other[from..end].iter().map(|token| (*token).to_owned());
                        tokens.splice(at..at + 1, part);
                    }
                }
                7 => tokens.truncate(at),
                _ => {
                    // A changed byte; invalid UTF-8 is left out.
                    let mut bytes = tokens[at].clone().into_bytes();
                    let place = self.below(bytes.len());
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = self.random.next_number() as u8;
                    }
                    tokens[at] = String::from_utf8_lossy(&bytes).into_owned();
                }
            }
        }
        tokens.concat()
    }
}

/// Kills long statements, and ends the process when that does not help.
struct Guard {
    /// Milliseconds since the start at which the statement began; 0 when none runs.
    began: Arc<AtomicU64>,
    start: Instant,
    current: Arc<std::sync::Mutex<String>>,
}

impl Guard {
    fn new(handle: KillHandle) -> Self {
        let guard = Self {
            began: Arc::default(),
            start: Instant::now(),
            current: Arc::default(),
        };
        let (began, start) = (Arc::downgrade(&guard.began), guard.start);
        let current = Arc::clone(&guard.current);
        std::thread::spawn(move || {
            while let Some(began) = began.upgrade() {
                let at = began.load(Ordering::Relaxed);
                drop(began);
                let running = start.elapsed().saturating_sub(Duration::from_millis(at));
                if at > 0 && running > TOO_LONG {
                    let sql = current.lock().map(|sql| sql.clone()).unwrap_or_default();
                    eprintln!("hangs: {sql}");
                    std::process::abort();
                }
                if at > 0 && running > LONG {
                    handle.kill();
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        guard
    }

    fn run(&self, session: &mut Session, sql: &str) -> Option<String> {
        if let Ok(mut current) = self.current.lock() {
            sql.clone_into(&mut current);
        }
        let now = self.start.elapsed().as_millis().max(1);
        self.began
            .store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
        let outcome = session.execute(sql);
        self.began.store(0, Ordering::Relaxed);
        let error = outcome.err()?.to_string();
        let is_bug = error.to_lowercase().contains("internal error") || error.contains("plan ");
        (is_bug && error.contains("1105")).then(|| format!("{error}\n{sql}"))
    }
}

/// The rows are names, a tab, and values.
const GLOBAL_VARIABLES: &str = "SHOW GLOBAL VARIABLES";

/// Resets global settings: they may refuse every change (`super_read_only`, `transaction_read_only`) or shorten results
/// (`sql_select_limit`), and the fixture drops the objects that the statements have created.
fn reset(fixture: &Fixture, variables: &[String]) {
    let mut session = fixture.session();
    for variable in variables {
        let (name, _) = variable.split_once('\t').expect("a name and a value");
        // Some variables are read-only.
        let _ = session.execute(&format!("SET GLOBAL {name} = DEFAULT"));
    }
}

#[test]
fn what_a_statement_sets_for_all_sessions_does_not_refuse_the_clean_up() {
    for set in [
        "read_only = 1",
        "super_read_only = 1",
        "offline_mode = 1",
        "transaction_read_only = 1",
        "sql_select_limit = 0",
        "max_execution_time = 1",
        "lock_wait_timeout = 1",
    ] {
        let (fixture, mut session) = Fixture::with_session();
        let variables = session.must(GLOBAL_VARIABLES);
        session.must("CREATE DATABASE d; CREATE TABLE d.t (i INT) ENGINE = MEMORY");
        session.must("INSERT INTO d.t VALUES (1)");
        session.must(&format!("SET GLOBAL {set}"));
        drop(session);
        reset(&fixture, &variables);
    }
}

#[test]
fn broken_statements_end_in_an_answer() {
    let mut trials = Trials::of("broken_statements");
    let seed = trials.first();
    let mut mutator = Mutator {
        random: Random(seed),
        words: words(),
    };
    let files: Vec<Vec<String>> = corpus::files("slt", "slt")
        .iter()
        // Large tables make every mutant slow.
        .filter(|path| !path.to_string_lossy().contains("spill"))
        .map(|path| statements(&std::fs::read_to_string(path).expect("readable")))
        .filter(|statements| !statements.is_empty())
        .collect();
    let all: Vec<String> = files.iter().flatten().cloned().collect();
    let mut bugs = Vec::new();
    let mut count = 0;
    while trials.next().is_some() {
        let file = &files[mutator.below(files.len())];
        let fixture = Fixture::open(|options| {
            options.memory_limit = Some(256 << 20);
            options.file_access = FileAccess::Disabled;
            options.local_infile = false;
            options.batch_size = 100;
        });
        let mut session = fixture.session();
        let variables = session.must(GLOBAL_VARIABLES);
        let guard = Guard::new(session.kill_handle());
        for sql in file {
            if trials.is_over() {
                break;
            }
            for _ in 0..MUTANTS {
                let mutant = mutator.mutate(sql, &all);
                bugs.extend(guard.run(&mut session, &mutant));
                count += 1;
            }
            bugs.extend(guard.run(&mut session, sql));
        }
        drop(session);
        reset(&fixture, &variables);
    }
    eprintln!("{count} broken statements, seed {seed}");
    bugs.sort();
    bugs.dedup();
    assert!(
        bugs.is_empty(),
        "seed {seed}: {} bugs\n{}",
        bugs.len(),
        bugs.join("\n\n")
    );
}

//! Every golden file with faults of temporary space (`tmp_debug`): a statement gives the result that the file has, or
//! ends with the error of a device that fails, and then gives the result once the fault is gone. Nothing is left behind.
//!
//! The faults are set for whole sessions, so that they strike every statement; all tables overflow, so that there is
//! something to strike. A fifth of the pairs of file and fault is drawn by the seed; `MAYFLY_TESTS=all` or a filter runs
//! all. The last line that the program prints counts the statements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::client::ServerError;
use mayfly_testkit::column::ColumnKind;
use mayfly_testkit::config::Config;
use mayfly_testkit::corpus;
use mayfly_testkit::embedded::{Embedded, EmbeddedSession};
use mayfly_testkit::runner::{self, Paths, ROOT, Strictness, verdict};
use mayfly_trials::Draw;
use regex::Regex;
use sqllogictest::{DB, DBOutput};

/// Values of `tmp_debug`: each kind of fault, early and late.
const FAULTS: [&str; 10] = [
    "spill_after_rows=0, full_disk",
    "spill_after_rows=0, fail_on_write=1",
    "spill_after_rows=0, fail_on_write=2",
    "spill_after_rows=0, fail_on_write=5",
    "spill_after_rows=0, fail_after_bytes=20000",
    "spill_after_rows=0, corrupt_block=1",
    "spill_after_rows=0, corrupt_block=3",
    "spill_after_rows=0, slow_io=1",
    "spill_after_rows=1",
    "spill_after_rows=7",
];

/// Errors of a device: full, failing reads (also of changed bytes), failing writes.
const DEVICE_ERRORS: [u16; 3] = [1021, 1024, 1026];

/// Golden files, or those of an area, that show what a statement leaves that failed before it succeeded; with the reason.
const LEFT_OUT: [(&str, &str); 14] = [
    ("load/character_sets", OUTFILES),
    ("load/local", OUTFILES),
    ("load/outfile", OUTFILES),
    ("logs/tables", COUNTS),
    ("performance_schema/digests", COUNTS),
    ("performance_schema/handlers", COUNTS),
    ("performance_schema/statements", COUNTS),
    ("select/hints", COUNTS),
    ("show/profile", COUNTS),
    ("temporary_tables/articles", COUNTS),
    ("temporary_tables/counters", COUNTS),
    ("temporary_tables/status", COUNTS),
    (
        "variables/",
        "user variables keep what was assigned before the error; counters are shown",
    ),
    (
        "spill/derived",
        "a user's table that is stored wrong cannot be read again",
    ),
];

const OUTFILES: &str = "the file of SELECT … INTO OUTFILE remains when it fails, as in MySQL";
const COUNTS: &str = "statements and their tables are counted, also of those that fail";

/// Statements about the statement before them, which the SET of a fault would be.
static LOOKS_BACK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?xis) ^\s*show\s.*(warnings|errors|profile|status) | diagnostics | found_rows | row_count
        | warning_count | error_count | performance_schema | sys\. | _status | profiling | last_query_cost | optimizer_trace
        | user_statistics | resignal";
    Regex::new(pattern).expect("the pattern is right")
});

/// Numbers of statements.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    ran: u64,
    /// Statements that ended with an error of the fault, by its number.
    struck: BTreeMap<u16, u64>,
}

static TALLY: Mutex<Tally> = Mutex::new(Tally {
    ran: 0,
    struck: BTreeMap::new(),
});

fn tally() -> std::sync::MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints how many statements ran under faults, and how many of them they struck.
pub(crate) fn print_tally() {
    let tally = tally();
    if tally.ran > 0 {
        let all: u64 = tally.struck.values().sum();
        eprintln!(
            "faults: {} statements ran under faults of temporary space, {all} ended with an error of the device: {:?}",
            tally.ran, tally.struck
        );
    }
}

/// A session with a fault.
#[derive(Debug)]
struct Faulty {
    session: EmbeddedSession,
    fault: &'static str,
    is_set: bool,
    /// Whether the account may set it.
    may_set: bool,
}

impl Faulty {
    fn set(&mut self, fault: &str) -> bool {
        let sql = format!("SET SESSION tmp_debug = '{fault}'");
        self.session.run(&sql).is_ok()
    }
}

impl DB for Faulty {
    type Error = ServerError;
    type ColumnType = ColumnKind;

    fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnKind>, ServerError> {
        if !self.is_set && self.may_set && !LOOKS_BACK.is_match(sql) {
            self.is_set = self.set(self.fault);
        }
        let result = self.session.run(sql);
        let mut tally = tally();
        tally.ran += u64::from(self.is_set);
        let Err(error) = &result else {
            return result;
        };
        let is_of_device = DEVICE_ERRORS.contains(&error.code)
            && error.message.contains("mayfly-temp-space")
            && error.message.contains(" bytes");
        if !self.is_set || !is_of_device {
            return result;
        }
        *tally.struck.entry(error.code).or_default() += 1;
        drop(tally);
        self.is_set = !self.set("");
        self.session.run(sql)
    }

    fn shutdown(&mut self) {
        self.session.shutdown();
    }

    fn engine_name(&self) -> &'static str {
        "mayfly"
    }

    fn error_sql_state(error: &ServerError) -> Option<String> {
        EmbeddedSession::error_sql_state(error)
    }
}

/// A trial for each file and fault: those drawn by the seed, or all.
///
/// # Errors
/// A text that names the unreadable file.
pub(crate) fn trials(all: bool) -> Result<Vec<Trial>, String> {
    let draw = if all { Draw::all() } else { Draw::of("faults") };
    let read = |name: &str| {
        let path = corpus::root().join(format!("tests/configs/{name}.toml"));
        Config::read(&path)
    };
    let mut config = read("default")?;
    // What does not hold where every table overflows.
    config.lacks.extend(read("force_overflow")?.lacks);
    config
        .options
        .insert("allow_tmp_debug".to_owned(), true.into());
    let config = Arc::new(config);
    let mut trials = Vec::new();
    for (file_number, file) in (0..).zip(corpus::files("slt", "slt")) {
        let name = corpus::short_name(&file);
        let needs = corpus::needs(&file).map_err(|error| format!("{name}: {error}"))?;
        let is_left_out = |(known, _): &(&str, &str)| name.starts_with(known);
        if config.for_needs(&needs).is_none() || LEFT_OUT.iter().any(is_left_out) {
            continue;
        }
        for (fault_number, fault) in (0..).zip(FAULTS) {
            if draw.has(file_number + fault_number) {
                let (config, file) = (Arc::clone(&config), file.clone());
                let run = move || run(&config, &file, fault);
                trials.push(Trial::test(name.clone(), run).with_kind(fault));
            }
        }
    }
    Ok(trials)
}

fn run(config: &Config, file: &Path, fault: &'static str) -> Result<(), Failed> {
    let config = config.clone();
    let file: PathBuf = file.to_owned();
    let run = move || run_file(&config, &file, fault);
    let worker = std::thread::Builder::new().stack_size(8 << 20).spawn(run);
    let ended = worker.map_err(|error| error.to_string())?.join();
    ended.unwrap_or_else(|_| Err("panicked; see the message above".into()))
}

fn run_file(config: &Config, file: &Path, fault: &'static str) -> Result<(), Failed> {
    let paths = Paths::new().map_err(|error| error.to_string())?;
    let embedded = Embedded::open(config, paths.clone())?;
    let connect = |user: &str| {
        Ok(Faulty {
            session: embedded.session_of(user)?,
            fault,
            is_set: false,
            may_set: user == ROOT,
        })
    };
    let restart = || Err("a file with restarts needs a data directory".to_owned());
    let report = runner::run_file(file, Strictness::Exact, connect, restart)?;
    let mut problems: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    problems.extend(embedded.leaks());
    problems.extend(embedded.close());
    paths.clean();
    verdict(problems)
}

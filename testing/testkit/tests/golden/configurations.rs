//! Every golden file under the default configuration and those that it is about, and under a fifth of the others that a
//! seed draws: five consecutive seeds run all. A file that needs more than the default has runs under each configuration
//! that has it. A trial lists every record that fails. One that takes too long fails separately, so that
//! a statement that does not end is found and named. A file whose need a configuration does not meet is ignored there,
//! and counted as such.
//!
//! `MAYFLY_TESTS=all` runs all configurations, and so does a filter. `MAYFLY_SEED` repeats a draw.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::config::Config;
use mayfly_testkit::corpus;
use mayfly_testkit::embedded::Embedded;
use mayfly_testkit::runner::{self, Paths, Strictness, verdict};
use mayfly_testkit::wire::Wire;
use mayfly_trials::Draw;

/// Greatest time of a file. The longest takes a few seconds on two cores with other trials beside it.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(300);

const DEFAULT: &str = "default";

/// A trial for each file and configuration: those drawn by the seed, or all.
///
/// # Errors A text that names the unreadable file, or the need that no configuration mentions.
pub(crate) fn trials(all: bool) -> Result<Vec<Trial>, String> {
    let draw = if all { Draw::all() } else { Draw::of("golden") };
    let configs = corpus::files("configs", "toml");
    let mut configs: Vec<_> = configs
        .iter()
        .map(|path| Config::read(path))
        .collect::<Result<_, _>>()?;
    let default = configs.iter().find(|config| config.name == DEFAULT);
    let default = default.ok_or("no default configuration")?.clone();
    let lacks = default.lacks.clone();
    for config in &mut configs {
        config.lacks.extend(lacks.clone());
    }
    let names: Vec<String> = configs.iter().map(|config| config.name.clone()).collect();
    let mut trials = Vec::new();
    for (file_number, file) in (0..).zip(corpus::files("slt", "slt")) {
        let name = corpus::short_name(&file);
        let needs = corpus::needs(&file).map_err(|error| format!("{name}: {error}"))?;
        for need in &needs {
            if need != corpus::OWN_SERVER && !configs.iter().any(|config| config.knows(need)) {
                return Err(format!("{name}: no configuration lacks or changes {need}"));
            }
        }
        let mut always = corpus::always(&file).map_err(|error| format!("{name}: {error}"))?;
        if let Some(unknown) = always.iter().find(|name| !names.contains(*name)) {
            return Err(format!("{name}: no configuration {unknown}"));
        }
        always.push(DEFAULT.to_owned());
        let is_rare = default.for_needs(&needs).is_none();
        for (config_number, config) in (0..).zip(&configs) {
            let kind = config.name.clone();
            let (config, file) = (config.for_needs(&needs), file.clone());
            let skipped = config.is_none();
            let is_drawn = draw.has(file_number + config_number) || is_rare && !skipped;
            if !is_drawn && !always.contains(&kind) {
                continue;
            }
            let run = move || config.map_or(Ok(()), |config| run_in_time(config, file));
            let trial = Trial::test(name.clone(), run).with_kind(kind);
            trials.push(trial.with_ignored_flag(skipped));
        }
    }
    Ok(trials)
}

/// Runs a trial on a thread of its own, which is left behind when it does not end in time.
fn run_in_time(config: Config, file: PathBuf) -> Result<(), Failed> {
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || sender.send(run(&config, &file)));
    if let Err(error) = worker {
        return Err(error.into());
    }
    match receiver.recv_timeout(TRIAL_TIME_MAX) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("did not end within {} s", TRIAL_TIME_MAX.as_secs()).into())
        }
        Err(RecvTimeoutError::Disconnected) => Err("panicked; see the message above".into()),
    }
}

fn run(config: &Config, file: &Path) -> Result<(), Failed> {
    let paths = Paths::new().map_err(|error| error.to_string())?;
    let mut embedded = Embedded::open(config, paths.clone())?;
    let (report, has_ended) = if config.wire {
        let wire = Wire::start(embedded.database(), paths.clone())?;
        let restart = || Err("a server does not restart".to_owned());
        let connect = |user: &str| wire.session_of(user);
        let report = runner::run_file(file, Strictness::Exact, connect, restart)?;
        (report, wire.stop())
    } else {
        let current = RefCell::new(Some(embedded));
        let closed = || "the database is closed".to_owned();
        let connect = |user: &str| {
            let current = current.borrow();
            let open = current
                .as_ref()
                .expect("a restart that fails ends the file");
            open.session_of(user)
        };
        let restart = || {
            let before = current.take().ok_or_else(closed)?;
            current.replace(Some(before.restart()?));
            Ok(())
        };
        let report = runner::run_file(file, Strictness::Exact, connect, restart)?;
        embedded = current.take().ok_or_else(closed)?;
        (report, true)
    };
    let mut problems: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    if !has_ended {
        problems.push("a connection did not end".to_owned());
    }
    problems.extend(embedded.leaks());
    problems.extend(embedded.close());
    paths.clean();
    if report.n_records == 0 {
        problems.push("the file has no record that runs".to_owned());
    }
    if !problems.is_empty() {
        let (failed, all) = (report.failures.len(), report.n_records);
        problems.insert(0, format!("{failed} of {all} records failed"));
    }
    verdict(problems)
}

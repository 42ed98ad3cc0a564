//! Every golden file under every configuration, one trial each.
//!
//! `cargo test -p mayfly-testkit --test golden -- default types/` runs part of it. A trial lists
//! every record that fails; with `MAYFLY_GOLDEN_BRIEF=1`, one line a record.

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use mayfly_testkit::config::Config;
use mayfly_testkit::corpus;
use mayfly_testkit::embedded::Embedded;
use mayfly_testkit::runner::{self, Paths, Strictness};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let files = corpus::files("slt", "slt");
    for path in corpus::files("configs", "toml") {
        let config = match Config::read(&path) {
            Ok(config) => config,
            Err(message) => {
                trials.push(Trial::test(path.display().to_string(), || {
                    Err(message.into())
                }));
                continue;
            }
        };
        for file in &files {
            let name = corpus::short_name(file);
            let skipped = config.skip_reason(&name).is_some();
            let (config, file) = (config.clone(), file.clone());
            trials.push(
                Trial::test(name, move || run(&config, &file))
                    .with_kind(path.file_stem().unwrap_or_default().to_string_lossy())
                    .with_ignored_flag(skipped),
            );
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn run(config: &Config, file: &Path) -> Result<(), Failed> {
    let paths = Paths::new().map_err(|error| error.to_string())?;
    let embedded = Embedded::open(config, paths.clone())?;
    let report = runner::run_file(file, Strictness::Exact, || embedded.session())?;
    let mut problems: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    problems.extend(embedded.leaks());
    problems.extend(embedded.close());
    paths.clean();
    if report.n_records == 0 {
        problems.push("the file has no record that runs".to_owned());
    }
    if problems.is_empty() {
        Ok(())
    } else {
        let n_failed = report.failures.len();
        let head = format!("{n_failed} of {} records failed", report.n_records);
        Err(format!("{head}\n{}", problems.join("\n")).into())
    }
}

//! SQL with expected results in files: golden files under Mayfly's configurations and on MariaDB, and scripts of
//! several sessions. One trial per file and configuration or server.
//!
//! `cargo test -p mayfly-testkit --test golden -- '[default] types/'` runs part of it, `-- '[spill_after_rows=0, full_disk]'`
//! every file with a fault of temporary space.

mod configurations;
mod faults;
mod isolation;
mod mariadb;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = isolation::trials();
    if !isolation::writes() {
        let golden = configurations::trials(arguments.filter.is_some());
        trials.extend(golden.unwrap_or_else(|message| {
            let failed = move || Err(message.into());
            vec![Trial::test("configurations and needs", failed)]
        }));
        let faults = faults::trials(arguments.filter.is_some());
        trials
            .extend(faults.unwrap_or_else(|message| {
                vec![Trial::test("faults", move || Err(message.into()))]
            }));
        trials.extend(mariadb::trials());
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    faults::print_tally();
    conclusion.exit_code()
}

//! Tests of random work that run for their share of the time budget ([`mayfly_trials`]), concurrently: most of them
//! wait for processes and servers.

#[path = "../data_file/calls.rs"]
#[expect(dead_code, reason = "shared with the tests of failing files")]
mod calls;
mod crash;
#[path = "../data_file/disk.rs"]
#[expect(dead_code, reason = "shared with the tests of failing files")]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod disk;
mod model;
mod queries;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    model::work();
    crash::work();
    let arguments = Arguments::from_args();
    let trials = [queries::trials(), crash::trials(), model::trials()];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}

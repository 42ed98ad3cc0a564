//! The program `mayfly-cluster`.

use std::process::ExitCode;

use clap::Parser;
use mayfly_cluster::arguments::Arguments;

fn main() -> ExitCode {
    Arguments::parse().run().unwrap_or_else(|error| {
        eprintln!("mayfly-cluster: {error}");
        ExitCode::FAILURE
    })
}

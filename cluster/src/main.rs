//! The program `mayfly-cluster`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mayfly_cluster::coordinator::{self, CoordinatorOptions};
use mayfly_cluster::demo::{self, DemoOptions};
use mayfly_cluster::executor::{self, ExecutorOptions};
use mayfly_cluster::tls;

/// Reports of Mayfly on several machines.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// A server for clients of MySQL, whose secondary engine is the cluster.
    Coordinator(Box<CoordinatorOptions>),
    /// A process that runs parts of statements.
    Executor(Box<ExecutorOptions>),
    /// Certificates for the processes of a cluster.
    Certificates {
        /// Directory to write to: one directory for each process.
        directory: PathBuf,
        /// Names of the processes.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// A cluster on this machine: loads a table, and runs statements on it and in the server alone.
    Demo(DemoOptions),
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().role {
        Role::Coordinator(options) => coordinator::run(*options),
        Role::Executor(options) => executor::run(*options),
        Role::Certificates { directory, names } => tls::make(&directory, &names).map(|made| {
            for directory in made {
                println!("{}", directory.display());
            }
        }),
        Role::Demo(options) => demo::run(&options),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mayfly-cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

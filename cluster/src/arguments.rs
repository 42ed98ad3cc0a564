//! The command line of `mayfly-cluster`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::coordinator::{self, CoordinatorOptions};
use crate::demo::{self, DemoOptions};
use crate::executor::{self, ExecutorOptions};
use crate::tls;

/// Reports of Mayfly on several machines.
#[derive(Debug, Parser)]
#[command(name = "mayfly-cluster", version)]
pub struct Arguments {
    /// What the process does.
    #[command(subcommand)]
    pub role: Role,
}

/// What a process does.
#[derive(Debug, Subcommand)]
pub enum Role {
    /// A server for clients of MySQL, whose secondary engine is the cluster.
    Coordinator(Box<CoordinatorOptions>),
    /// A process that runs parts of statements.
    Executor(Box<ExecutorOptions>),
    /// Certificates for the processes of a cluster.
    Certificates {
        /// Makes none where all are there already.
        #[arg(long)]
        keep: bool,
        /// Directory to write to: one directory for each process.
        directory: PathBuf,
        /// Names of the processes.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// A cluster on this machine: loads a table, and runs statements on it and in the server alone.
    Demo(DemoOptions),
}

impl Arguments {
    /// Runs what the command line says.
    ///
    /// # Errors
    /// The reason why it could not be done.
    pub fn run(self) -> Result<ExitCode, String> {
        match self.role {
            Role::Coordinator(options) => return coordinator::run(&options),
            Role::Executor(options) => executor::run(*options)?,
            Role::Certificates {
                keep,
                directory,
                names,
            } => {
                if !(keep && tls::are_there(&directory, &names)) {
                    for directory in tls::make(&directory, &names)? {
                        println!("{}", directory.display());
                    }
                }
            }
            Role::Demo(options) => demo::run(&options)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mayfly_engine::DatabaseOptions;

use crate::advise::AdviseOptions;
use crate::output::Format;

/// A MySQL-compatible SQL engine whose temporary tables never fall off a cliff.
#[derive(Debug, Parser)]
#[command(name = "mayfly", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// What to do instead of running statements.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// CSV files to open as tables, scripts to run, or a statement.
    pub(crate) inputs: Vec<String>,
    /// Runs these statements and ends.
    #[arg(short, long, value_name = "SQL")]
    pub(crate) execute: Vec<String>,
    /// How results are shown [default: table on a terminal, tsv otherwise].
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Leaves out the line of column names.
    #[arg(short = 'N', long)]
    pub(crate) skip_column_names: bool,
    /// Goes on after a statement that fails.
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Database to start in (made when missing).
    #[arg(short = 'D', long, value_name = "NAME", default_value = "test")]
    pub(crate) database: String,
    /// How the engine is opened.
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
}

/// How the engine is opened.
#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// Memory for everything: tables and temporary tables, such as 64M.
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory_limit: Option<u64>,
    /// Threads of a large statement [default: all cores].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Where databases and tables are kept; made if it is not there. Without it all of them go with
    /// the process.
    #[arg(long, value_name = "DIRECTORY", global = true)]
    pub(crate) datadir: Option<PathBuf>,
    /// Where temporary tables overflow to [default: the system's].
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) tmpdir: Option<PathBuf>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Finds what makes temporary tables in slow logs or on a server that runs, and what would remove them.
    Advise(AdviseOptions),
    /// Shows what temporary tables cost at three memory limits.
    Demo(DemoOptions),
    /// Copies the data directory of --datadir, with nothing unused in it.
    Backup {
        /// A new or empty directory.
        target: PathBuf,
    },
    /// Reads the whole data directory of --datadir and says whether it is in order.
    Check,
    /// Serves MySQL clients.
    Serve(ServeOptions),
}

/// Options of `mayfly serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Port to listen on; 0 for any free one [default: 3306].
    #[arg(short = 'P', long)]
    pub(crate) port: Option<u16>,
    /// Addresses to listen on, with commas between them [default: all of the machine].
    #[arg(long, value_name = "ADDRESS", alias = "bind-address")]
    pub(crate) bind: Option<String>,
    /// Unix socket to listen on.
    #[arg(short = 'S', long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    /// Keeps nothing: databases, tables and accounts go with the process.
    #[arg(long)]
    pub(crate) ephemeral: bool,
    /// Makes root without a password, and listens on loopback addresses only.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Configuration file, such as my.cnf: its groups [mayfly] and [mysqld].
    #[arg(long, value_name = "FILE", alias = "defaults-file")]
    pub(crate) config: Option<PathBuf>,
    /// Certificate for TLS, PEM [default: one that is made at the first start].
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_cert: Option<PathBuf>,
    /// The certificate's private key, PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_key: Option<PathBuf>,
    /// Certificates of those who sign certificates of clients, PEM: clients are asked for theirs.
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_ca: Option<PathBuf>,
    /// File to write the process' number to.
    #[arg(long, value_name = "FILE")]
    pub(crate) pid_file: Option<PathBuf>,
    /// A system variable's value at the start; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,
    /// What is logged on standard error: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
}

/// Options of `mayfly demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Rows of the table.
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) rows: u64,
}

impl Options {
    /// What to open the engine with.
    pub(crate) fn database_options(&self) -> Result<DatabaseOptions, String> {
        let mut options = DatabaseOptions::new();
        options.memory_limit = self.engine.memory_limit;
        if let Some(threads) = self.engine.threads {
            options.threads = usize::from(threads);
        }
        options.datadir.clone_from(&self.engine.datadir);
        if let Some(tmpdir) = &self.engine.tmpdir {
            if !tmpdir.is_dir() {
                return Err(format!("--tmpdir {}: no such directory", tmpdir.display()));
            }
            options.tmpdir.clone_from(tmpdir);
        }
        Ok(options)
    }
}

/// Bytes of a size such as `64M`, `64MB`, `64MiB`, `1.5G` or `4096`; units are powers of 1024.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit
        .strip_suffix("ib")
        .or_else(|| unit.strip_suffix('b'))
        .unwrap_or(&unit);
    let shift = match unit {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{text}` is not a size; write 64M or 2G")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a size"))?;
    let bytes = number * (1_u64 << shift) as f64;
    if !(1.0..9e18).contains(&bytes) {
        return Err(format!("`{text}` is out of range"));
    }
    Ok(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64M", 64 << 20),
            ("64MB", 64 << 20),
            ("64MiB", 64 << 20),
            ("1.5g", 3 << 29),
            ("1k", 1024),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "64X", "1.2.3M", "0", "99999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }
}

//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mayfly_engine::{DatabaseOptions, Defaults};

use crate::advise::AdviseOptions;
use crate::output::Format;
use crate::reproduce::ReproduceOptions;

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
    /// Where temporary tables overflow to; several directories, with colons between them, are used in
    /// their order [default: the system's].
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) tmpdir: Option<PathBuf>,
    /// Limits as MySQL has them by default: tmp_table_size 16M, temptable_max_ram 1G to 4G,
    /// cte_max_recursion_depth 1000, group_concat_max_len 1024.
    #[arg(long, global = true)]
    pub(crate) mysql_defaults: bool,
    /// A system variable's value at the start; may be given several times.
    #[arg(long = "set", global = true, value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,
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
    /// Runs the experiments of five articles on temporary tables, their published figures beside the measured ones.
    Reproduce(ReproduceOptions),
    /// Serves MySQL clients.
    Serve(ServeOptions),
    /// Measures which read_buffer_size is best on this machine.
    Tune(TuneOptions),
    /// Runs a statement again under other limits and on other engines of temporary tables.
    WhatIf(WhatIfOptions),
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
    /// What is logged on standard error: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
    /// The live page.
    #[command(flatten)]
    pub(crate) page: HttpOptions,
}

/// Options of the live page.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Port of the live page and of /metrics; 0 for any free one [default: none is served].
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
    /// Address that the page listens on.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        requires = "http"
    )]
    pub(crate) http_bind: IpAddr,
    /// File with the page's token, made if it is not there [default: a new token at each start].
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        conflicts_with = "http_without_token"
    )]
    pub(crate) http_token_file: Option<PathBuf>,
    /// Asks for no token: on loopback addresses, or `anywhere`.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "loopback", requires = "http")]
    pub(crate) http_without_token: Option<WithoutToken>,
    /// A name by which browsers reach the page, besides its addresses; may be given several times.
    #[arg(long = "http-name", value_name = "NAME", requires = "http")]
    pub(crate) http_names: Vec<String>,
    /// How many statements /metrics shows by their digest.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100), requires = "http")]
    pub(crate) http_metrics_digests: u16,
}

/// Where the page may be without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WithoutToken {
    /// On loopback addresses.
    Loopback,
    /// On any address.
    Anywhere,
}

/// Options of `mayfly demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Rows of the table.
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) rows: u64,
}

/// Options of `mayfly tune`.
#[derive(Debug, Args)]
pub(crate) struct TuneOptions {
    /// Data file to scan, such as a MyISAM table's .MYD; it is only read [default: one that is made and removed again].
    pub(crate) file: Option<PathBuf>,
    /// Bytes of a row of the data file.
    #[arg(long, value_name = "BYTES", requires = "file", default_value_t = mayfly_tuning::ROW_BYTES as u64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) row_bytes: u64,
    /// Where a data file is made [default: --tmpdir].
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "file")]
    pub(crate) directory: Option<PathBuf>,
    /// Size of the data file that is made [default: 1G, but a quarter of the free space at most].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "file")]
    pub(crate) size: Option<u64>,
    /// Time for all measurements, without that for making the data file [default: 60, or 10 with --quick].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: Option<u64>,
    /// Measures only what says most, in a sixth of the time.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The most rounds of each case.
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) rounds: u16,
    /// Scanners where there are many at once [default: all cores, 2 at least].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub(crate) scanners: Option<u16>,
    /// Measures only these cases, such as cached,disk.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) cases: Vec<String>,
    /// Writes the charts into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Writes a page with tables and charts into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Writes all times into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Options of `mayfly what-if`.
#[derive(Debug, Args)]
pub(crate) struct WhatIfOptions {
    /// CSV files to open as tables, and scripts to run, before the statement.
    pub(crate) inputs: Vec<String>,
    /// Statements to run before it.
    #[arg(short = 'e', long = "execute", value_name = "SQL")]
    pub(crate) setup: Vec<String>,
    /// The statement that is run again and again.
    #[arg(short = 'q', long = "query", value_name = "SQL")]
    pub(crate) statement: String,
    /// Memory of a temporary table, such as 16M,1M [default: 16M, and a tenth of what the statement uses].
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub(crate) limits: Vec<u64>,
    /// Runs of each case; the median counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) runs: u16,
    /// A case that has taken so long is not run again.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Database to start in (made when missing).
    #[arg(short = 'D', long, value_name = "NAME", default_value = "test")]
    pub(crate) database: String,
    /// Writes the chart into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Writes a page with the table and the chart into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Writes all times into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl Options {
    /// What to open the engine with.
    pub(crate) fn database_options(&self) -> Result<DatabaseOptions, String> {
        let mut options = DatabaseOptions::new();
        options.memory_limit = self.engine.memory_limit;
        if let Some(threads) = self.engine.threads {
            options.threads = usize::from(threads);
        }
        if self.engine.mysql_defaults {
            options.defaults = Defaults::MySql;
        }
        options.datadir.clone_from(&self.engine.datadir);
        if let Some(tmpdir) = &self.engine.tmpdir {
            options.tmpdir.clone_from(tmpdir);
        }
        for variable in &self.engine.variables {
            let (name, value) = variable.split_once('=').unwrap_or((variable, "1"));
            let name = name.trim().replace('-', "_");
            options.variables.push((name, value.trim().to_owned()));
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

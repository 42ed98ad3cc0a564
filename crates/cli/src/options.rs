//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use mayfly_engine::{DatabaseOptions, Defaults};

use crate::access::ClientOptions;
use crate::advise::AdviseOptions;
use crate::output::Format;
use crate::reproduce::ReproduceOptions;

/// A MySQL-compatible SQL engine whose temporary tables never fall off a cliff.
#[derive(Debug, Parser)]
#[command(
    name = "mayfly",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_flag = true
)]
pub(crate) struct Options {
    /// Subcommand instead of running statements.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Files, directories and patterns of data to open as tables (`-` for standard input), scripts to run, a statement, or
    /// the URL of a server: mysql://user@host:3306/database.
    pub(crate) inputs: Vec<String>,
    /// Runs these statements and exits.
    #[arg(short, long, value_name = "SQL")]
    pub(crate) execute: Vec<String>,
    /// Output format of results; parquet and arrow are for files [default: table on a terminal, tsv otherwise].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// As `--format table`.
    #[arg(short = 't', long, conflicts_with_all = ["format", "batch", "vertical", "html"])]
    table: bool,
    /// As `--format tsv`.
    #[arg(short = 'B', long, conflicts_with_all = ["format", "vertical", "html"])]
    batch: bool,
    /// As `--format vertical`.
    #[arg(short = 'E', long, conflicts_with_all = ["format", "html"])]
    vertical: bool,
    /// As `--format html`.
    #[arg(short = 'H', long, conflicts_with = "format")]
    html: bool,
    /// Shows the shell's results in a pager [default: $PAGER, or less -SFX].
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true)]
    pub(crate) pager: Option<Option<String>>,
    /// Omits the line of column names.
    #[arg(short = 'N', long)]
    pub(crate) skip_column_names: bool,
    /// Continues after a statement that fails.
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Shows each statement before its result; twice, numbers of rows too; three times, a table and times too.
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Initial database [default: test, which is created if missing; none on a server].
    #[arg(short = 'D', long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// Prints help.
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// The server.
    #[command(flatten)]
    pub(crate) client: ClientOptions,
    /// Options of the engine.
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
}

/// Options of the engine.
#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// Memory limit of the process for tables and temporary tables, such as 64M.
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory_limit: Option<u64>,
    /// Threads of a large statement [default: all cores].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Directory of databases and tables, created if missing. Without it, they are dropped when the process ends.
    #[arg(long, value_name = "DIRECTORY", global = true)]
    pub(crate) datadir: Option<PathBuf>,
    /// Directories for temporary tables that overflow, separated by colons and used in this order [default: the
    /// system's].
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) tmpdir: Option<PathBuf>,
    /// Uses MySQL's default limits: tmp_table_size 16M, temptable_max_ram 1G to 4G, cte_max_recursion_depth 1000,
    /// group_concat_max_len 1024.
    #[arg(long, global = true)]
    pub(crate) mysql_defaults: bool,
    /// Allows sessions to set tmp_debug, with which their temporary files fail on purpose.
    #[arg(long, global = true)]
    pub(crate) allow_tmp_debug: bool,
    /// Initial value of a system variable; may be given several times.
    #[arg(long = "set", global = true, value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Finds the causes of temporary tables in slow logs or on a running server, and changes that would remove them.
    Advise(AdviseOptions),
    /// Shows the cost of temporary tables at three memory limits.
    Demo(DemoOptions),
    /// Copies the data directory of --datadir, without its free space.
    Backup {
        /// A new or empty directory.
        target: PathBuf,
    },
    /// Reads the whole data directory of --datadir and checks it for damage.
    Check,
    /// Prints the completions of the command line for a shell, such as bash.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the manual page (roff): mayfly man | man -l -
    Man,
    /// Runs the experiments of five articles on temporary tables, and prints their published figures beside the
    /// measured ones.
    Reproduce(ReproduceOptions),
    /// Serves MySQL clients.
    Serve(ServeOptions),
    /// Measures the best read_buffer_size on this machine.
    Tune(TuneOptions),
    /// Runs a statement repeatedly under other limits and on other engines of temporary tables.
    WhatIf(WhatIfOptions),
}

/// Options of `mayfly serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Port to listen on; 0 for any free one [default: 3306].
    #[arg(short = 'P', long)]
    pub(crate) port: Option<u16>,
    /// Addresses to listen on, separated by commas [default: all addresses].
    #[arg(long, value_name = "ADDRESS", alias = "bind-address")]
    pub(crate) bind: Option<String>,
    /// Unix socket to listen on.
    #[arg(short = 'S', long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    /// Stores nothing: databases, tables and accounts are dropped when the process ends.
    #[arg(long)]
    pub(crate) ephemeral: bool,
    /// Creates root without a password, and listens on loopback addresses only.
    #[arg(long)]
    pub(crate) insecure: bool,
    #[expect(
        rustdoc::broken_intra_doc_links,
        reason = "the groups of a file in brackets, for the help"
    )]
    /// Configuration file, such as my.cnf: its groups [mayfly] and [mysqld].
    #[arg(long, value_name = "FILE", alias = "defaults-file")]
    pub(crate) config: Option<PathBuf>,
    /// Certificate for TLS, PEM [default: one that is generated when first needed].
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_cert: Option<PathBuf>,
    /// The certificate's private key, PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_key: Option<PathBuf>,
    /// Certificates of the authorities that sign client certificates, PEM; clients are then asked for a certificate.
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_ca: Option<PathBuf>,
    /// File for the process id.
    #[arg(long, value_name = "FILE")]
    pub(crate) pid_file: Option<PathBuf>,
    /// Log level on standard error: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
    /// The live page.
    #[command(flatten)]
    pub(crate) page: HttpOptions,
}

/// Options of the live page.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Port of the live page and of /metrics; 0 for any free one [default: not served].
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
    /// File with the page's token, created if missing [default: a new token at each start].
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        conflicts_with = "http_without_token"
    )]
    pub(crate) http_token_file: Option<PathBuf>,
    /// Requires no token: on loopback addresses, or `anywhere`.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "loopback", requires = "http")]
    pub(crate) http_without_token: Option<WithoutToken>,
    /// A name by which browsers reach the page, besides its addresses; may be given several times.
    #[arg(long = "http-name", value_name = "NAME", requires = "http")]
    pub(crate) http_names: Vec<String>,
    /// Number of statements that /metrics shows by their digest.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100), requires = "http")]
    pub(crate) http_metrics_digests: u16,
}

/// Addresses on which the page may be served without a token.
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
    /// Data file to scan, such as a MyISAM table's .MYD; it is only read [default: one that is created and removed].
    pub(crate) file: Option<PathBuf>,
    /// Bytes of a row of the data file.
    #[arg(long, value_name = "BYTES", requires = "file", default_value_t = mayfly_tuning::ROW_BYTES as u64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) row_bytes: u64,
    /// Directory in which a data file is created [default: --tmpdir].
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "file")]
    pub(crate) directory: Option<PathBuf>,
    /// Size of the created data file [default: 1G, but at most a quarter of the free space].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "file")]
    pub(crate) size: Option<u64>,
    /// Time in seconds of all measurements, without creating the data file [default: 60, or 10 with --quick].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: Option<u64>,
    /// Measures only the most informative cases, in a sixth of the time.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Greatest number of rounds of each case.
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) rounds: u16,
    /// Number of scanners in the concurrent cases [default: all cores, at least 2].
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
    /// Files of data to open as tables, and scripts to run, before the statement.
    pub(crate) inputs: Vec<String>,
    /// Statements to run before it.
    #[arg(short = 'e', long = "execute", value_name = "SQL")]
    pub(crate) setup: Vec<String>,
    /// The statement to run repeatedly.
    #[arg(short = 'q', long = "query", value_name = "SQL")]
    pub(crate) statement: String,
    /// Memory limits of a temporary table, such as 16M,1M [default: 16M, and a tenth of what the statement uses].
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub(crate) limits: Vec<u64>,
    /// Number of runs of each case; the median counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) runs: u16,
    /// Seconds after which a case is not run again.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Initial database (created if missing).
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
    /// The format of results, if it is said.
    pub(crate) fn format(&self) -> Option<Format> {
        let short = [
            (self.table, Format::Table),
            (self.batch, Format::Tsv),
            (self.vertical, Format::Vertical),
            (self.html, Format::Html),
        ];
        let short = short.iter().find(|(is_said, _)| *is_said);
        let verbose = (self.verbose > 2).then_some(Format::Table);
        self.format.or(short.map(|(_, format)| *format)).or(verbose)
    }
}

impl EngineOptions {
    /// The options of the database.
    pub(crate) fn database_options(&self) -> Result<DatabaseOptions, String> {
        let mut options = DatabaseOptions::new();
        options.memory_limit = self.memory_limit;
        if let Some(threads) = self.threads {
            options.threads = usize::from(threads);
        }
        if self.mysql_defaults {
            options.defaults = Defaults::MySql;
        }
        options.allow_tmp_debug = self.allow_tmp_debug;
        options.datadir.clone_from(&self.datadir);
        if let Some(tmpdir) = &self.tmpdir {
            options.tmpdir.clone_from(tmpdir);
        }
        for variable in &self.variables {
            let (name, value) = variable.split_once('=').unwrap_or((variable, "1"));
            let name = name.trim().replace('-', "_");
            options.variables.push((name, value.trim().to_owned()));
        }
        Ok(options)
    }
}

/// The completions of the command line for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "mayfly", &mut text);
    text
}

/// The manual page, with the commands and their options.
pub(crate) fn manual() -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut command = Options::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name().to_uppercase();
        text.extend_from_slice(format!(".SH \"MAYFLY {name}\"\n").as_bytes());
        let manual = clap_mangen::Man::new(subcommand.clone());
        manual.render_description_section(&mut text)?;
        manual.render_options_section(&mut text)?;
    }
    Ok(text)
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
    fn completions_and_manual_name_the_commands() {
        let completions = completions(clap_complete::Shell::Bash);
        let manual = manual().expect("writes to memory");
        for text in [&completions, &manual] {
            let text = String::from_utf8_lossy(text).replace("\\-", "-");
            for word in ["what-if", "backup", "memory"] {
                assert!(text.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }
}

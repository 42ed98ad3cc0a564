//! `mayfly advise`: finds what makes temporary tables on a MySQL or MariaDB server, and what would remove them.
//!
//! This module has the command line, files and the terminal; the `advisor` crate finds the causes. No password is given
//! on the command line, since others could read it in the list of processes.

mod access;

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use mayfly_advisor::{
    Comparison, Digest, Examiner, Explain, Finding, Input, Live, Report, Schema, Server, SlowLog,
    Trial, Workload,
};
use mayfly_client::{Client, Limits};
use mayfly_engine::printable_lines;

use crate::access::TrustOptions;

/// Options of `mayfly advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseOptions {
    /// Slow logs of MySQL, MariaDB or Percona Server, plain or gzip; `-` is standard input.
    pub(crate) files: Vec<PathBuf>,
    /// Server to ask for its schema, EXPLAIN and settings, and for its statements when no file is given. Only reads.
    #[arg(long, value_name = "mysql://[USER@]HOST[:PORT]")]
    pub(crate) connect: Option<String>,
    /// Unix socket of the server to ask.
    #[arg(long, value_name = "FILE", conflicts_with = "connect")]
    pub(crate) socket: Option<PathBuf>,
    /// Account [default: that of the option file, or the system user]. Its password is taken from MYSQL_PWD, from the
    /// option file, or prompted for.
    #[arg(short, long)]
    pub(crate) user: Option<String>,
    /// Prompts for the password.
    #[arg(short, long)]
    pub(crate) password: bool,
    #[expect(
        rustdoc::broken_intra_doc_links,
        reason = "the groups of a file in brackets, for the help"
    )]
    /// Option file with user, password, host, port or socket in its group [client].
    #[arg(long, value_name = "FILE")]
    pub(crate) defaults_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustOptions,
    /// Definitions of the tables, as written by mysqldump --no-data; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Version of the server that wrote the logs, such as 5.7 or 10.6-MariaDB [default: the version in the log].
    #[arg(long, value_name = "VERSION")]
    pub(crate) server: Option<String>,
    /// Database of unqualified names in --schema before the first USE.
    #[arg(long = "schema-database", value_name = "NAME", default_value = "")]
    pub(crate) schema_database: String,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) format: Form,
    /// File to write the report to [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Number of statements to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Ignores runs before this time: 2h, 7d, 2026-11-26, or a date and time (UTC).
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Ignores runs at or after this time, in the form of --since.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Does not try changes. By default, changes are tried on the named server, on copies of its tables, which are
    /// temporary tables of a separate session.
    #[arg(long)]
    pub(crate) no_try: bool,
    /// Slow log of an earlier time to compare with; may be given several times. --since and --until do not apply to it.
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Vec<PathBuf>,
}

/// Forms of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// One page, with charts.
    Html,
}

/// Greatest time of a statement in a trial; the server's own limit is usually reached first.
const TRIAL_TIME: Duration = Duration::from_secs(120);

/// Reads, finds and prints.
pub(crate) fn run(options: &AdviseOptions) -> Result<ExitCode, String> {
    let period = Period::new(options)?;
    let mut workload = Workload::new();
    let mut sources = Vec::new();
    let mut logged = None;
    let mut notes = Vec::new();
    for file in &options.files {
        read_log(file, &period, &mut workload, &mut logged, &mut notes)?;
        sources.push(file.display().to_string());
    }
    let mut earlier = Workload::new();
    for file in &options.compare {
        read_log(
            file,
            &Period::default(),
            &mut earlier,
            &mut None,
            &mut notes,
        )?;
    }
    let (mut live, mut trial) = (None, None);
    if let Some((address, name)) = access::address(options)? {
        let connect = |limits| {
            let client = Client::connect(&address, limits);
            client.map_err(|error| format!("{name}: {error}"))
        };
        let asked = Live::new(Box::new(connect(Limits::default())?))?;
        if !options.no_try {
            let limits = Limits {
                time: TRIAL_TIME,
                ..Limits::default()
            };
            let trying = connect(limits);
            match trying.and_then(|client| Trial::new(Box::new(client), asked.server())) {
                Ok(ready) => trial = Some(ready),
                Err(error) => notes.push(format!("no change was tried: {error}")),
            }
        }
        live = Some(asked);
        sources.push(name);
    }
    if options.files.is_empty() {
        let Some(live) = &mut live else {
            return Err(
                "nothing to read: name a slow log, or a server with --connect or --socket"
                    .to_owned(),
            );
        };
        workload = live.workload()?;
        if options.since.is_some() || options.until.is_some() {
            notes.push("--since and --until hold for logs: the server has sums alone, since it was started or they were truncated".to_owned());
        }
    }
    let mut schema = Schema::new();
    for file in &options.schema {
        let text = read(file)?;
        let failed = schema.read_dump(&String::from_utf8_lossy(&text), &options.schema_database);
        notes.extend(
            failed
                .into_iter()
                .map(|what| format!("{}: not understood: {what}", file.display())),
        );
    }
    if let Some(live) = &mut live {
        live.read_schema(&workload, &mut schema);
        notes.extend_from_slice(live.notes());
    }
    let server = match (&options.server, &live, logged) {
        (Some(version), ..) => Server::of_version(version, true),
        (None, Some(live), _) => live.server().clone(),
        (None, None, logged) => logged.unwrap_or_default(),
    };
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    let mut asked = Asked {
        live,
        trial,
        tried: 0,
    };
    let mut report = Report::new(&input, sources, options.limit, &mut asked);
    report.notes.extend(notes);
    if let Some(trial) = &asked.trial {
        report.notes.extend(trial_notes(trial));
    }
    if !options.compare.is_empty() {
        let sources = options
            .compare
            .iter()
            .map(|file| file.display().to_string());
        let sources = sources.collect();
        let comparison = Comparison::new(&earlier, &workload, sources, options.limit);
        report.comparison = Some(comparison);
    }
    write(options, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The server to ask, where one is named.
struct Asked {
    live: Option<Live>,
    trial: Option<Trial>,
    /// Statements whose changes were tried.
    tried: usize,
}

impl Examiner for Asked {
    fn explain(&mut self, digest: &Digest) -> Option<Explain> {
        self.live.as_mut()?.explain(digest)
    }

    fn examine(&mut self, digest: &Digest, schema: &Schema, findings: &mut Vec<Finding>) {
        let Some(trial) = &mut self.trial else {
            return;
        };
        let stderr = std::io::stderr();
        if stderr.is_terminal() {
            self.tried += 1;
            eprint!("\rmayfly: trying the changes of statement {} …", self.tried);
        }
        trial.examine(digest, schema, findings);
        if stderr.is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Messages on changes that could not be tried: the first few, and the number of others.
fn trial_notes(trial: &Trial) -> Vec<String> {
    const SHOWN: usize = 3;
    let all = trial.notes();
    let mut notes: Vec<String> = all.iter().take(SHOWN).cloned().collect();
    if all.len() > SHOWN {
        notes.push(format!(
            "{} more statements were not tried",
            all.len() - SHOWN
        ));
    }
    if !all.is_empty() {
        notes.push("Changes are tried with the privileges CREATE TEMPORARY TABLES and SELECT on the databases (--no-try tries none).".to_owned());
    }
    notes
}

/// The analyzed period, in microseconds since 1970.
#[derive(Debug, Default)]
struct Period {
    since: Option<i64>,
    until: Option<i64>,
}

impl Period {
    fn new(options: &AdviseOptions) -> Result<Self, String> {
        Ok(Self {
            since: moment("--since", options.since.as_deref())?,
            until: moment("--until", options.until.as_deref())?,
        })
    }

    /// Whether a run is in the period. A run whose time is not known is.
    fn holds(&self, time: Option<i64>) -> bool {
        let Some(time) = time else { return true };
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

fn moment(option: &str, text: Option<&str>) -> Result<Option<i64>, String> {
    let Some(text) = text else {
        return Ok(None);
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    match mayfly_advisor::moment(text, now) {
        Some(time) => Ok(Some(time)),
        None => Err(format!(
            "{option} {text}: write 2h, 7d, 2026-11-26 or 2026-11-26T10:00:00Z"
        )),
    }
}

fn read_log(
    file: &PathBuf,
    period: &Period,
    workload: &mut Workload,
    server: &mut Option<Server>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let reader: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(file).map_err(failed)?)
    };
    let mut log = SlowLog::new(reader).map_err(failed)?;
    let before = workload.runs;
    let mut read = 0_u64;
    while let Some(event) = log.next_event().map_err(failed)? {
        read += 1;
        if period.holds(event.time) {
            workload.add(event);
        }
    }
    if read == 0 {
        return Err(format!(
            "{}: no slow log: it has no statement below a line `# User@Host: …`",
            file.display()
        ));
    }
    if workload.runs == before {
        eprintln!(
            "mayfly: {}: nothing ran in the time that --since and --until name",
            file.display()
        );
    }
    let skipped = log.skipped();
    if skipped.entries + skipped.lines > 0 {
        let counted = |number: u64, one: &str, many: &str| {
            format!("{number} {}", if number == 1 { one } else { many })
        };
        notes.push(format!(
            "{}: left out: {} without a statement, {} of no statement",
            file.display(),
            counted(skipped.entries, "entry", "entries"),
            counted(skipped.lines, "line", "lines")
        ));
    }
    *server = log.server().or_else(|| server.take());
    Ok(())
}

fn read(file: &PathBuf) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn write(options: &AdviseOptions, report: &Report) -> Result<(), String> {
    let text = match options.format {
        Form::Text => printable_lines(&mayfly_advisor::text(report, width(options))).into_owned(),
        Form::Json => mayfly_advisor::json(report),
        Form::Html => mayfly_advisor::html(report),
    };
    match &options.output {
        Some(file) => {
            std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
        }
        None => match std::io::stdout().write_all(text.as_bytes()) {
            // The reader has closed the pipe.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|error| error.to_string()),
        },
    }
}

/// Characters of a line: the terminal's, or 100.
fn width(options: &AdviseOptions) -> usize {
    const ELSEWHERE: usize = 100;
    let stdout = std::io::stdout();
    if options.output.is_some() || !stdout.is_terminal() {
        return ELSEWHERE;
    }
    rustix::termios::tcgetwinsize(stdout).map_or(ELSEWHERE, |size| usize::from(size.ws_col).max(40))
}

//! `mayfly advise`: what makes temporary tables on a MySQL or MariaDB of one's own, and what would remove them.
//!
//! Here are the command line, files and the terminal; what is found is the `advisor` crate's matter. Nothing on the
//! command line is a password: others could read it in the list of processes.

pub(crate) mod access;

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use mayfly_advisor::{Explain, Input, Live, Report, Schema, Server, SlowLog, Workload};
use mayfly_engine::printable_lines;

/// Options of `mayfly advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseOptions {
    /// Slow logs of MySQL, MariaDB or Percona Server, plain or gzip; `-` is standard input.
    pub(crate) files: Vec<PathBuf>,
    /// Server to ask for its schema, EXPLAIN and settings, and for its statements when no file is given. Only reads.
    #[arg(long, value_name = "mysql://[USER@]HOST[:PORT]")]
    pub(crate) connect: Option<String>,
    /// The same through a Unix socket.
    #[arg(long, value_name = "FILE", conflicts_with = "connect")]
    pub(crate) socket: Option<PathBuf>,
    /// Account [default: that of the option file, or of the system]. Its password comes from MYSQL_PWD, from
    /// the option file, or is asked for.
    #[arg(short, long)]
    pub(crate) user: Option<String>,
    /// Asks for the password.
    #[arg(short, long)]
    pub(crate) password: bool,
    /// Option file with user, password, host, port or socket in its group [client].
    #[arg(long, value_name = "FILE")]
    pub(crate) defaults_file: Option<PathBuf>,
    /// Definitions of the tables, such as mysqldump --no-data writes them; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Version of the server that wrote the logs, such as 5.7 or 10.6-MariaDB [default: what the log says].
    #[arg(long, value_name = "VERSION")]
    pub(crate) server: Option<String>,
    /// Database of names in --schema before the first USE.
    #[arg(long = "schema-database", value_name = "NAME", default_value = "")]
    pub(crate) schema_database: String,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) format: Form,
    /// File to write the report to [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Statements that are shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Leaves out what ran before: 2h, 7d, 2026-11-26, or a date and time (UTC).
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
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

/// Reads, finds and prints.
pub(crate) fn run(options: &AdviseOptions) -> Result<ExitCode, String> {
    let since = since(options)?;
    let mut workload = Workload::new();
    let mut sources = Vec::new();
    let mut logged = None;
    for file in &options.files {
        read_log(file, since, &mut workload, &mut logged)?;
        sources.push(file.display().to_string());
    }
    let mut live = match access::address(options)? {
        Some((address, name)) => {
            let connection =
                mayfly_advisor::connect(&address).map_err(|error| format!("{name}: {error}"))?;
            sources.push(name);
            Some(Live::new(connection)?)
        }
        None => None,
    };
    if options.files.is_empty() {
        let Some(live) = &mut live else {
            return Err(
                "nothing to read: name a slow log, or a server with --connect or --socket"
                    .to_owned(),
            );
        };
        workload = live.workload()?;
    }
    let mut schema = Schema::new();
    let mut notes = Vec::new();
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
    let mut explain =
        |digest: &mayfly_advisor::Digest| -> Option<Explain> { live.as_mut()?.explain(digest) };
    let mut report = Report::new(&input, sources, options.limit, &mut explain);
    report.notes.extend(notes);
    write(options, &report)?;
    Ok(ExitCode::SUCCESS)
}

fn since(options: &AdviseOptions) -> Result<Option<i64>, String> {
    let Some(text) = &options.since else {
        return Ok(None);
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    match mayfly_advisor::since(text, now) {
        Some(time) => Ok(Some(time)),
        None => Err(format!(
            "--since {text}: write 2h, 7d, 2026-11-26 or 2026-11-26T10:00:00Z"
        )),
    }
}

fn read_log(
    file: &PathBuf,
    since: Option<i64>,
    workload: &mut Workload,
    server: &mut Option<Server>,
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
        if since.is_none_or(|since| event.time.is_none_or(|time| time >= since)) {
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
            "mayfly: {}: nothing ran since the time that --since names",
            file.display()
        );
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
            // The reader has seen enough.
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

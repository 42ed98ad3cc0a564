//! `mayfly what-if`: runs a statement again under other limits and on other engines of temporary tables, to compare
//! their costs. The results must be the same everywhere.

mod eras;
mod report;
pub(crate) mod settings;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mayfly_engine::{Session, TemporaryTableRecord, printable_lines};

use crate::file_format::{self, FileFormat};
use crate::open::open;
use crate::options::{Options, WhatIfOptions};
use crate::row_sum::RowSum;
use crate::run::{Ended, Runner, Source};
use report::{Report, Verdict};
use settings::{Case, cases};

/// Outcome of a case.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All of its runs.
    Ran {
        /// Time of each run, the shortest first.
        times: Vec<Duration>,
        /// The temporary tables of the last run.
        tables: Vec<TemporaryTableRecord>,
        /// Sum of all rows, independent of their order.
        rows: RowSum,
    },
    /// (limit): the time limit of a case, which was exceeded.
    TooLong(Duration),
    /// Two runs returned different rows.
    Unstable,
    /// (message): the error that ended it.
    Failed(String),
}

/// Runs the statement under all cases, and prints their costs.
pub(crate) fn run(what_if: &WhatIfOptions, options: &Options) -> Result<ExitCode, String> {
    let mut session = open(options, &what_if.database)?;
    load(what_if, options, &mut session)?;
    let is_query = session.is_query(&what_if.statement);
    if !is_query.map_err(|error| error.to_string())? {
        return Err(
            "only a query can be tried: it is run again for each case, and a statement that changes rows would change \
             them each time"
                .to_owned(),
        );
    }
    let text = |error: mayfly_engine::Error| error.to_string();
    // The first runs warm up memory that later ones reuse, and show how much memory the statement uses and whether its
    // rows can be compared at all.
    Case::unlimited().apply(&mut session).map_err(text)?;
    let first = measure(&mut session, &what_if.statement, what_if.seconds, 2);
    let peak = match first {
        Outcome::Ran { tables, .. } => tables.iter().map(|table| table.memory_peak).max(),
        Outcome::Failed(error) => return Err(error),
        Outcome::Unstable => return Err(UNSTABLE.to_owned()),
        Outcome::TooLong(time) => {
            return Err(format!(
                "the statement takes longer than {} seconds in memory: raise --seconds",
                time.as_secs()
            ));
        }
    };
    let cases = cases(peak.unwrap_or(0), &what_if.limits);
    let mut outcomes = Vec::with_capacity(cases.len());
    for case in &cases {
        eprintln!("mayfly: {} …", case.title);
        case.apply(&mut session).map_err(text)?;
        let (sql, seconds) = (&what_if.statement, what_if.seconds);
        outcomes.push(measure(&mut session, sql, seconds, what_if.runs));
    }
    let elsewhere = eras::ask(&mut session, &what_if.statement).map_err(text)?;
    let report = Report {
        elsewhere: &elsewhere,
        statement: &what_if.statement,
        cases: &cases,
        outcomes: &outcomes,
    };
    println!("{}", printable_lines(&report.text()));
    write(what_if.svg.as_deref(), || report.svg())?;
    write(what_if.html.as_deref(), || report.html())?;
    write(what_if.json.as_deref(), || report.json())?;
    if report.is_same_everywhere() {
        return Ok(ExitCode::SUCCESS);
    }
    match report.verdict() {
        Verdict::Different => eprintln!(
            "mayfly: a result differs between cases: this is a defect of Mayfly, please report it"
        ),
        verdict => eprintln!("mayfly: {}", verdict.text()),
    }
    Ok(ExitCode::FAILURE)
}

/// Reason why the rows of cases cannot be compared.
pub(crate) const UNSTABLE: &str = "two runs of the statement gave other rows, in memory and without a limit: it depends on the time, on random \
     numbers or on what others change, so that its rows cannot be compared between cases";

/// Makes the tables that the statement reads.
fn load(what_if: &WhatIfOptions, options: &Options, session: &mut Session) -> Result<(), String> {
    let mut runner = Runner::batch(options);
    for input in &what_if.inputs {
        match file_format::of(input)? {
            Some(FileFormat::Data) => crate::data_file::open(session, input)?,
            None => return Err(format!("{input}: no such file")),
            Some(FileFormat::Script) => {
                if runner.file(session, input)? == Ended::Failed {
                    return Err(format!("{input}: a statement failed"));
                }
            }
        }
    }
    for text in &what_if.setup {
        let ran = runner.script(session, text.as_bytes(), &Source::default());
        if ran.map_err(|error| error.to_string())? == Ended::Failed {
            return Err(format!("a statement failed: {text}"));
        }
    }
    Ok(())
}

/// The requested number of runs of one case, unless they take too long together.
fn measure(session: &mut Session, sql: &str, seconds: u64, runs: u16) -> Outcome {
    let begin = Instant::now();
    let mut outcome = run_once(session, sql, seconds);
    for _ in 1..runs {
        if begin.elapsed().as_secs() >= seconds {
            break;
        }
        let Outcome::Ran { times, rows, .. } = &mut outcome else {
            return outcome;
        };
        match run_once(session, sql, seconds) {
            Outcome::Ran {
                times: mut next,
                rows: same,
                tables,
            } if same == *rows => {
                next.append(times);
                next.sort_unstable();
                outcome = Outcome::Ran {
                    times: next,
                    tables,
                    rows: same,
                };
            }
            Outcome::Ran { .. } => return Outcome::Unstable,
            other => return other,
        }
    }
    outcome
}

/// One run, to its last row.
fn run_once(session: &mut Session, sql: &str, seconds: u64) -> Outcome {
    let failed = |error: mayfly_engine::Error| match error.errno() {
        ER_QUERY_TIMEOUT => Outcome::TooLong(Duration::from_secs(seconds)),
        _ => Outcome::Failed(error.to_string()),
    };
    let begin = Instant::now();
    let mut rows = RowSum::default();
    {
        let mut stream = match session.query(sql) {
            Ok(stream) => stream,
            Err(error) => return failed(error),
        };
        let columns = stream.result().columns.clone();
        loop {
            match stream.next_batch() {
                Ok(Some(batch)) => {
                    let result = mayfly_engine::StatementResult {
                        columns: columns.clone(),
                        batches: vec![batch],
                        ..Default::default()
                    };
                    for row in 0..result.row_count() {
                        rows.add(&result.row_bytes(row));
                    }
                }
                Ok(None) => break,
                Err(error) => return failed(error),
            }
        }
    }
    Outcome::Ran {
        times: vec![begin.elapsed()],
        tables: session.finished_temporary_tables(),
        rows,
    }
}

/// Query execution was interrupted, maximum statement execution time exceeded.
const ER_QUERY_TIMEOUT: u16 = 3024;

fn write(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), String> {
    match path {
        None => Ok(()),
        Some(path) => {
            std::fs::write(path, content()).map_err(|error| format!("{}: {error}", path.display()))
        }
    }
}

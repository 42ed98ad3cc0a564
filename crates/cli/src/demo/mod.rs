//! `mayfly demo`: the experiment of article 0. One table, the grouping that took MySQL 5.0 seconds
//! in memory and half an hour on disk, and related statements, at three memory limits.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mayfly_charts::terminal;
use mayfly_engine::{Database, Error, Session, TemporaryTableRecord};

use crate::options::{DemoOptions, Options};
use crate::{numbers, units};

/// Figures of "How much overhead is caused by on disk temporary tables" (2007), MySQL 5.0.45 on a
/// Pentium 4, for the headline statement.
const ARTICLE: &[(&str, &str)] = &[
    ("1 M rows, MEMORY table", "3.88 s"),
    ("1 M rows, MyISAM on disk, key buffer 128 M", "34.47 s"),
    ("1 M rows, MyISAM on disk, default key buffer", "545.40 s"),
    ("4 M rows, MEMORY table", "16.41 s"),
    ("4 M rows, MyISAM on disk, key buffer 256 M", "1625.51 s"),
];

/// Characters of the longest bar.
const BAR_WIDTH: usize = 40;

/// The article's table, with about its share of duplicates: one value in twenty repeats an earlier
/// one.
const CREATE: &str =
    "CREATE TABLE gtest (i int unsigned NOT NULL, c char(50) NOT NULL) DEFAULT CHARSET=latin1";

/// The timed statements: name and text of each.
fn statements(rows: u64) -> Vec<(&'static str, String)> {
    vec![
        (
            "GROUP BY, first 10 (the article's)",
            "SELECT count(*) cnt, c FROM gtest GROUP BY c ORDER BY NULL LIMIT 10".to_owned(),
        ),
        (
            "GROUP BY, every group",
            "SELECT count(*), sum(cnt) FROM \
             (SELECT count(*) cnt, c FROM gtest GROUP BY c ORDER BY NULL) g"
                .to_owned(),
        ),
        (
            "DISTINCT",
            "SELECT count(*) FROM (SELECT DISTINCT c FROM gtest) d".to_owned(),
        ),
        (
            "COUNT(DISTINCT)",
            "SELECT count(DISTINCT c) FROM gtest".to_owned(),
        ),
        (
            "UNION",
            "SELECT count(*) FROM (SELECT c FROM gtest UNION SELECT c FROM gtest) u".to_owned(),
        ),
        (
            "ORDER BY, page in the middle",
            format!(
                "SELECT c, i FROM gtest ORDER BY c, i LIMIT 10 OFFSET {}",
                rows / 8
            ),
        ),
    ]
}

/// One timed run.
struct Run {
    elapsed: Duration,
    tables: Vec<TemporaryTableRecord>,
    result: Vec<Vec<Option<String>>>,
}

impl Run {
    fn peak_bytes(&self) -> u64 {
        self.tables
            .iter()
            .map(|table| table.memory_peak)
            .max()
            .unwrap_or(0)
    }
}

/// Runs the demonstration and prints it.
pub(crate) fn run(demo: &DemoOptions, options: &Options) -> Result<ExitCode, String> {
    let database_options = options.engine.database_options()?;
    let threads = database_options.threads;
    let database = Database::open(database_options).map_err(|e| e.to_string())?;
    let mut session = database.session();
    print(&format!(
        "Making a table of {} rows: i int unsigned, c char(50) of SHA-1 text …",
        demo.rows
    ))?;
    let seconds = fill(&mut session, demo.rows)
        .map_err(|e| e.to_string())?
        .as_secs_f64();
    print(&format!("made in {seconds:.2} s; {threads} threads\n"))?;

    let mut same = true;
    for (title, sql) in statements(demo.rows) {
        print(&format!("{title}\n  {sql}"))?;
        same &= compare(&mut session, &sql)?;
    }
    print("The article's own figures for its statement (MySQL 5.0.45, Pentium 4, 2007):")?;
    for (what, time) in ARTICLE {
        print(&format!("  {what:46} {time:>10}"))?;
    }
    if same {
        print("\nEvery statement gave the same result at every limit.")?;
        Ok(ExitCode::SUCCESS)
    } else {
        print("\nA result differed between limits: this is a bug, please report it.")?;
        Ok(ExitCode::FAILURE)
    }
}

/// Runs one statement in memory, at a tenth of the memory that it took, and at 1 MiB; returns
/// whether all results were equal.
fn compare(session: &mut Session, sql: &str) -> Result<bool, String> {
    let runs = runs(session, sql).map_err(|error| error.to_string())?;
    let longest = runs
        .iter()
        .map(|(_, run)| run.elapsed)
        .max()
        .unwrap_or_default();
    for (name, run) in &runs {
        print(&format!(
            "  {name:>10}  {}  {:9.1} ms",
            terminal::bar(run.elapsed.div_duration_f64(longest), BAR_WIDTH),
            run.elapsed.as_secs_f64() * 1e3
        ))?;
        for table in &run.tables {
            print(&format!("              {}", describe(table)))?;
        }
    }
    print("")?;
    let first = &runs[0].1.result;
    Ok(runs.iter().all(|(_, run)| run.result == *first))
}

/// The runs of a statement, and the limit of each.
fn runs(session: &mut Session, sql: &str) -> Result<Vec<(String, Run)>, Error> {
    limit(session, None)?;
    // The first run warms up memory that later ones reuse.
    time(session, sql)?;
    let in_memory = time(session, sql)?;
    let tenth = (in_memory.peak_bytes() / 10).max(1 << 20);
    let mut runs = vec![("in memory".to_owned(), in_memory)];
    for bytes in [tenth, 1 << 20] {
        limit(session, Some(bytes))?;
        runs.push((format!("{} MiB", bytes >> 20), time(session, sql)?));
    }
    Ok(runs)
}

/// Prints a line; an error when the output is closed.
fn print(line: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{line}").map_err(|error| error.to_string())
}

fn time(session: &mut Session, sql: &str) -> Result<Run, Error> {
    let start = Instant::now();
    let results = session.execute(sql)?;
    let elapsed = start.elapsed();
    let mut result: Vec<_> = results
        .iter()
        .flat_map(|result| result.rows_text())
        .collect();
    result.sort_unstable();
    Ok(Run {
        elapsed,
        tables: session.finished_temporary_tables(),
        result,
    })
}

/// Limits each temporary table; `None` lifts the limit.
fn limit(session: &mut Session, bytes: Option<u64>) -> Result<(), Error> {
    let bytes = bytes.unwrap_or(1 << 40);
    session.execute(&format!("SET SESSION tmp_table_size = {bytes}"))?;
    session.execute(&format!(
        "SET GLOBAL temptable_max_ram = {}",
        bytes.max(2 << 20)
    ))?;
    Ok(())
}

fn describe(table: &TemporaryTableRecord) -> String {
    let (rows, what) = match table.groups {
        0 => (table.rows, "rows"),
        groups => (groups, "groups"),
    };
    let mut text = format!(
        "{}: {rows} {what}, {} in memory at most",
        table.purpose.name(),
        units::bytes(table.memory_peak)
    );
    if table.disk_peak > 0 {
        text.push_str(&format!(", {} on disk", units::bytes(table.disk_peak)));
    }
    text
}

/// Makes the article's table of numbers counted up by a cross join of digits.
fn fill(session: &mut Session, rows: u64) -> Result<Duration, Error> {
    let start = Instant::now();
    for sql in ["CREATE DATABASE demo", "USE demo", CREATE] {
        session.execute(sql)?;
    }
    session.execute(&format!(
        "INSERT INTO gtest SELECT CRC32(n) % 100000, SHA1(IF(n % 20 = 19, n - 19, n)) \
         FROM {}",
        numbers::subquery(rows)
    ))?;
    Ok(start.elapsed())
}

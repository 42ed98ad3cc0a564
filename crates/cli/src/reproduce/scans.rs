//! Article 4: full table scans at every `read_buffer_size` of the article.

use std::path::Path;
use std::time::{Duration, Instant};

use mayfly_charts::Unit;
use mayfly_tuning::{
    Case, CaseReport, FileScans, Outcome, Plan, ROW_BYTES, Report, SystemClock, SystemIo, measure,
    published, size_text,
};
use serde_json::json;

use super::client::{Client, Trouble};
use super::published::ARTICLES;
use super::report::{Chart, Table, Told, gain_cell};
use super::subject::Subject;
use crate::numbers;
use crate::tune::figures;
use crate::tune::made_file::MadeFile;
use crate::units;

/// The article's sizes.
const SIZES: [u64; 10] = [
    8200,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    2 << 20,
    8 << 20,
    32 << 20,
];
/// Bytes of the file for each row of the first article's table: a gigabyte at its size.
const BYTES_A_ROW: u64 = 1074;
/// Time of all scans, at the article's size and with `--quick`.
const TIME: Duration = Duration::from_secs(60);
const QUICK_TIME: Duration = Duration::from_secs(6);
/// Greatest size of a table that is scanned in the cache.
const CACHED_SIZE: u64 = 256 << 20;
/// Number of scans of a server at each size.
const SERVER_ROUNDS: usize = 5;

/// Runs the experiment on a file in a directory, and on servers in a MyISAM table.
pub(super) fn run(
    subjects: &[Subject],
    directory: &Path,
    rows: u64,
    is_quick: bool,
) -> Result<Told, String> {
    let bytes = (rows * BYTES_A_ROW).max(2 << 20);
    let made = MadeFile::make(directory, Some(bytes), &|| false)?;
    let clock = SystemClock::start();
    let never = || false;
    let mut scans = FileScans::open(&SystemIo, &made.path, ROW_BYTES, &clock, &never)
        .map_err(|error| format!("{}: {error}", made.path.display()))?;
    // The open file remains usable without its name.
    drop(made);
    let shape = scans.shape();
    let mut cases = Case::all(1);
    cases.retain(|case| published(case).is_some());
    let plan = Plan {
        cases,
        sizes: SIZES.to_vec(),
        time: if is_quick { QUICK_TIME } else { TIME },
        rounds: if is_quick { 2 } else { 25 },
        cached_bytes: CACHED_SIZE.min(bytes),
        seed: 1,
    };
    let mut tell = |case: &Case| eprintln!("mayfly: article 4: scanning {} …", case.title);
    let report = measure(&plan, shape, &mut scans, &clock, &never, &mut tell)
        .map_err(|failure| failure.to_string())?;
    let size = format!(
        "Here the file has {} rows of {ROW_BYTES} bytes, {}; the article's had 75 million in 4 GB, twice the memory. Rows are \
         removed from the cache before each scan from disk.",
        shape.rows,
        units::bytes(shape.rows * ROW_BYTES as u64)
    );
    let mut told = Told::new(&ARTICLES[4], size);
    let mut servers = Vec::new();
    for subject in subjects.iter().filter(|subject| !subject.is_mayfly()) {
        eprintln!("mayfly: article 4: scans of {} …", subject.name);
        match scan_server(subject, rows) {
            Ok(seconds) => servers.push((subject, seconds)),
            Err(trouble) => told.notes.push(format!(
                "{} has no scans of a MyISAM table: {}",
                subject.name,
                String::from(trouble)
            )),
        }
    }
    for case in &report.cases {
        told.tables.push(table(&report, case, &servers));
        if let Some(warning) = figures::warning(case) {
            // The advice in the warning applies to another command.
            let warning = warning.split(';').next().unwrap_or_default();
            told.notes.push(format!(
                "{}: {warning}.",
                figures::capitalized(&case.case.title)
            ));
        }
        if let Outcome::Skipped(why) = &case.outcome {
            told.notes.push(format!(
                "{}: not measured: {why}.",
                figures::capitalized(&case.case.title)
            ));
        }
    }
    told.notes
        .push("Every scan of a round gave the same rows.".to_owned());
    Ok(told)
}

/// The median seconds of full scans of a MyISAM table at each size.
fn scan_server(subject: &Subject, rows: u64) -> Result<Vec<f64>, Trouble> {
    let mut client = subject.connect()?;
    client.run("CREATE TABLE scanned (i int unsigned NOT NULL, c char(50) NOT NULL) ENGINE=MyISAM DEFAULT CHARSET=latin1")?;
    let result = scan_table(client.as_mut(), rows);
    client.run("DROP TABLE scanned")?;
    result
}

fn scan_table(client: &mut dyn Client, rows: u64) -> Result<Vec<f64>, Trouble> {
    client.run(&format!(
        "INSERT INTO scanned SELECT n, LEFT(SHA2(n, 256), 40) FROM {}",
        numbers::subquery(rows)
    ))?;
    let mut times = vec![Vec::new(); SIZES.len()];
    for _ in 0..SERVER_ROUNDS {
        for (size, times) in SIZES.iter().zip(&mut times) {
            client.run(&format!("SET SESSION read_buffer_size = {size}"))?;
            let begin = Instant::now();
            client.run("SELECT count(*) FROM scanned WHERE c = 'none'")?;
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    Ok(times
        .iter()
        .filter_map(|times| mayfly_tuning::median(times))
        .collect())
}

/// The published and the measured times, and the ratio of each to the best of its column.
fn table(report: &Report, case: &CaseReport, servers: &[(&Subject, Vec<f64>)]) -> Table {
    let is_cached = case.case.access == mayfly_tuning::Access::Cached;
    let servers = if is_cached { servers } else { &[] };
    let mut table = Table {
        title: match figures::extent(case) {
            Some(extent) => format!("{}: {extent}", figures::capitalized(&case.case.title)),
            None => figures::capitalized(&case.case.title),
        },
        head: [
            "read_buffer_size",
            "article",
            "to its best",
            "here",
            "spread",
            "to the best",
        ]
        .map(str::to_owned)
        .to_vec(),
        chart: figures::chart(report, case).map(Chart::Lines),
        ..Table::default()
    };
    for (subject, _) in servers {
        table
            .head
            .extend([subject.name.clone(), "to its best".to_owned()]);
    }
    let article = published(&case.case);
    let measured = figures::rows(report, case);
    for (index, size) in SIZES.iter().enumerate() {
        let seconds = article.and_then(|it| it.seconds.iter().find(|(known, _)| known == size));
        let excess = article.and_then(|it| it.excess(*size));
        let mut row = vec![
            size_text(*size),
            seconds.map_or_else(String::new, |(_, seconds)| format!("{seconds} s")),
            gain_cell(excess),
        ];
        match measured.iter().find(|row| row.size == size_text(*size)) {
            Some(found) => row.extend([
                found.median.clone(),
                found.spread.clone(),
                found.excess.clone(),
            ]),
            None => row.extend(["–", "", ""].map(str::to_owned)),
        }
        let mut of_servers = Vec::new();
        for (_, times) in servers {
            let best = times.iter().copied().fold(f64::MAX, f64::min);
            let time = times.get(index).copied();
            row.push(time.map_or_else(String::new, |time| Unit::Seconds.write(time)));
            row.push(gain_cell(time.map(|time| time / best - 1.0)));
            of_servers.push(time);
        }
        let median = case
            .measured()
            .and_then(|(measured, _)| measured.summary(index))
            .map(|it| it.median);
        table.figures.push(json!({
            "read_buffer_size": size, "published_seconds": seconds.map(|(_, seconds)| seconds),
            "published_excess": excess, "seconds": median, "seconds_of_servers": of_servers,
        }));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_articles() {
        for case in Case::all(1) {
            if let Some(table) = published(&case) {
                let sizes: Vec<u64> = table.seconds.iter().map(|(size, _)| *size).collect();
                assert_eq!(sizes, SIZES);
            }
        }
    }
}

//! `mayfly reproduce`: the experiments of five articles on temporary tables, on the engines of the articles, on
//! Mayfly's own, and on a server if one is named. Published figures are printed beside the measured ones; results must
//! be equal everywhere.

mod blobs;
mod client;
mod derived;
mod documents;
mod grouping;
mod options;
mod published;
mod report;
mod scans;
mod stages;
mod subject;
mod timing;
mod user_tables;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) use options::ReproduceOptions;

use crate::options::Options;
use crate::tune::machine;
use published::ARTICLES;
use report::{Report, Told};
use subject::Subject;

/// Runs the experiments, and prints the report.
pub(crate) fn run(reproduce: &ReproduceOptions, options: &Options) -> Result<ExitCode, String> {
    if options.engine.datadir.is_some() {
        return Err(
            "reproduce makes its own tables, and keeps none: leave --datadir out".to_owned(),
        );
    }
    let begin = Instant::now();
    let directory = first_directory(options.engine.tmpdir.as_deref());
    let mut subjects = vec![Subject::mayfly(options, None, reproduce.seconds)?];
    if let Some(address) = &reproduce.server {
        let server = Subject::server(address, &reproduce.trust, reproduce.seconds)?;
        subjects.push(server);
    }
    let mut facts: Vec<String> = machine::facts(&directory)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    facts.insert(0, format!("Mayfly {}", env!("CARGO_PKG_VERSION")));
    facts.extend(subjects.iter().skip(1).map(|server| server.name.clone()));
    let rows = reproduce.rows();
    let mut articles = Vec::new();
    for article in ARTICLES
        .iter()
        .filter(|article| reproduce.has(article.number))
    {
        articles.push(match article.number {
            0 => grouping::run(&subjects, rows)?,
            1 => derived::run(&subjects, rows)?,
            2 => user_tables::run(&subjects, options, &directory, rows)?,
            3 => texts_and_documents(&subjects, rows)?,
            _ => scans::run(&subjects, &directory, rows, reproduce.quick)?,
        });
    }
    drop(subjects);
    let report = Report {
        facts,
        articles,
        seconds: begin.elapsed().as_secs_f64(),
    };
    std::io::stdout()
        .write_all(report.text(machine::terminal_width()).as_bytes())
        .map_err(|error| error.to_string())?;
    write(reproduce.html.as_deref(), || report.html())?;
    write(reproduce.json.as_deref(), || report.json())?;
    Ok(if report.is_right() {
        ExitCode::SUCCESS
    } else {
        eprintln!("mayfly: a statement failed, or results differ: see above");
        ExitCode::FAILURE
    })
}

/// Directory for data: the first of the temporary directories.
fn first_directory(tmpdir: Option<&Path>) -> PathBuf {
    let first = tmpdir.and_then(|list| std::env::split_paths(list).next());
    first.unwrap_or_else(std::env::temp_dir)
}

/// Article 3 has two experiments.
fn texts_and_documents(subjects: &[Subject], rows: u64) -> Result<Told, String> {
    let texts = (rows / 4).max(500);
    let size = format!(
        "Here two tables of {texts} texts, and {} JSON documents; the article's had 127 GB.",
        (rows / 50).max(200)
    );
    let mut told = Told::new(&ARTICLES[3], size);
    told.notes.push(
        "The article's tables, queries and scripts are not to be had any more: they are made again from their names.".to_owned(),
    );
    blobs::run(subjects, texts, &mut told)?;
    documents::run(subjects, rows, &mut told)?;
    Ok(told)
}

fn write(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, content()).map_err(|error| format!("{}: {error}", path.display()))
}

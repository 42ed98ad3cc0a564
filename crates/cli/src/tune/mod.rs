//! `mayfly tune`: the experiment of "MySQL: what read_buffer_size value is optimal?" on this machine, and the values to
//! set.

mod conclusion;
pub(crate) mod figures;
pub(crate) mod machine;
pub(crate) mod made_file;
mod report;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mayfly_tuning::{
    Advice, Case, FileScans, Plan, ROW_BYTES, SIZES, SystemClock, SystemIo, measure,
};

use crate::options::{Options, TuneOptions};
use crate::units;
use made_file::MadeFile;
use report::Told;

/// Greatest size of a table that is scanned in the cache.
const CACHED_SIZE: u64 = 256 << 20;

/// Measures and prints.
pub(crate) fn run(tune: &TuneOptions, options: &Options) -> Result<ExitCode, String> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let by_signal = Arc::clone(&interrupted);
    ctrlc::set_handler(move || by_signal.store(true, Ordering::Relaxed))
        .map_err(|error| format!("Ctrl-C: {error}"))?;
    let stop = || interrupted.load(Ordering::Relaxed);

    let cases = cases(tune)?;
    let clock = SystemClock::start();
    let open = |path: &Path, row_bytes: usize| {
        let opened = FileScans::open(&SystemIo, path, row_bytes, &clock, &stop);
        opened.map_err(|error| format!("{}: {error}", path.display()))
    };
    let (mut scans, file, facts) = match &tune.file {
        Some(path) => {
            let row_bytes = usize::try_from(tune.row_bytes).unwrap_or(ROW_BYTES);
            let scans = open(path, row_bytes)?;
            let rows = scans.shape().rows;
            if rows == 0 {
                return Err(format!(
                    "{}: there is no row of {row_bytes} bytes in it",
                    path.display()
                ));
            }
            let size = units::bytes(rows * row_bytes as u64);
            let file = format!(
                "{}: {rows} rows of {row_bytes} bytes, {size}",
                path.display()
            );
            (scans, file, machine::facts(path))
        }
        None => {
            let directory = tune.directory.as_ref().or(options.engine.tmpdir.as_ref());
            let directory = directory.cloned().unwrap_or_else(std::env::temp_dir);
            let made = MadeFile::make(&directory, tune.size, &stop)?;
            let facts = machine::facts(&made.path);
            let scans = open(&made.path, ROW_BYTES)?;
            let rows = scans.shape().rows;
            let size = units::bytes(rows * ROW_BYTES as u64);
            // The open file remains usable; its name is removed now.
            drop(made);
            (
                scans,
                format!("A table of {rows} rows of {ROW_BYTES} bytes, {size}"),
                facts,
            )
        }
    };
    let shape = scans.shape();
    let table_bytes = shape.rows * shape.row_bytes as u64;
    let memory = machine::available_memory().unwrap_or(u64::MAX);
    let seconds = tune.seconds.unwrap_or(if tune.quick { 10 } else { 60 });
    let plan = Plan {
        cases,
        sizes: SIZES.to_vec(),
        time: Duration::from_secs(seconds),
        rounds: usize::from(tune.rounds),
        cached_bytes: CACHED_SIZE.min(table_bytes).min(memory / 4),
        seed: 1,
    };
    let mut tell = |case: &Case| eprintln!("mayfly: scanning {} …", case.title);
    let report = measure(&plan, shape, &mut scans, &clock, &stop, &mut tell)
        .map_err(|failure| failure.to_string())?;
    let advice = Advice::of(&report);
    let told = Told {
        report: &report,
        advice: &advice,
        facts: &facts,
        file: &file,
    };
    let text = told.text(machine::terminal_width());
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| error.to_string())?;
    let json = || format!("{:#}\n", told.json());
    write_file(tune.svg.as_deref(), || told.svg())?;
    write_file(tune.html.as_deref(), || told.html())?;
    write_file(tune.json.as_deref(), json)?;
    let was_measured = advice.read_buffer_size.is_some() || advice.read_rnd_buffer_size.is_some();
    Ok(if was_measured {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The selected cases.
fn cases(tune: &TuneOptions) -> Result<Vec<Case>, String> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let scanners = tune.scanners.map_or(cores, usize::from);
    let all = Case::all(scanners);
    if tune.cases.is_empty() {
        return Ok(if tune.quick {
            Case::quick(scanners)
        } else {
            all
        });
    }
    let known = || {
        all.iter()
            .map(|case| case.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    for name in &tune.cases {
        if !all.iter().any(|case| case.name == name) {
            return Err(format!(
                "--cases: there is no case `{name}`; there are {}",
                known()
            ));
        }
    }
    let mut chosen = all.clone();
    chosen.retain(|case| tune.cases.iter().any(|name| name == case.name));
    Ok(chosen)
}

fn write_file(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, content()).map_err(|error| format!("{}: {error}", path.display()))
}

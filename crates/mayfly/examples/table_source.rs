//! A table source of one's own: a directory of CSV files, one for each day, of which a statement reads those alone whose
//! day its WHERE allows.
//!
//! `cargo run --example table_source`

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mayfly::arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use mayfly::arrow_schema::{DataType, Field, Schema, SchemaRef};
use mayfly::{ColumnCondition, Database, Error, RecordBatches, Request, TableSource};

/// Files `YEAR-MONTH-DAY.csv` with lines `page,visitors`.
#[derive(Debug)]
struct Days {
    directory: PathBuf,
    files_read: Arc<AtomicUsize>,
}

/// Whether rows of a day may be wanted. What is not understood is no reason to leave any out: the statement looks at
/// each row again.
fn allows(condition: &ColumnCondition, day: &str) -> bool {
    match condition {
        ColumnCondition::Equal(value) => day == value.to_string(),
        ColumnCondition::Less(value) => *day < *value.to_string(),
        ColumnCondition::AtMost(value) => *day <= *value.to_string(),
        ColumnCondition::Greater(value) => *day > *value.to_string(),
        ColumnCondition::AtLeast(value) => *day >= *value.to_string(),
        _ => true,
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    mayfly::codes::ER_UNKNOWN_ERROR.with(&[&error])
}

fn read(path: &Path, day: &str) -> mayfly::Result<RecordBatch> {
    let text = fs::read_to_string(path).map_err(failed)?;
    let lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once(','))
        .collect();
    let visitors: Result<Vec<i64>, _> = lines.iter().map(|line| line.1.parse()).collect();
    let pages = lines.iter().map(|line| line.0);
    let columns: [(&str, ArrayRef); 3] = [
        ("day", Arc::new(StringArray::from(vec![day; lines.len()]))),
        ("page", Arc::new(StringArray::from_iter_values(pages))),
        (
            "visitors",
            Arc::new(Int64Array::from(visitors.map_err(failed)?)),
        ),
    ];
    RecordBatch::try_from_iter(columns).map_err(failed)
}

impl TableSource for Days {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("day", DataType::Utf8, false),
            Field::new("page", DataType::Utf8, false),
            Field::new("visitors", DataType::Int64, false),
        ]))
    }

    fn scan(&self, request: &Request) -> mayfly::Result<RecordBatches> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let day = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let mut terms = request.terms.iter().filter(|term| term.column == 0);
            if terms.all(|term| allows(&term.condition, &day)) {
                files.push((path, day));
            }
        }
        self.files_read.fetch_add(files.len(), Ordering::Relaxed);
        let columns = request.columns.clone();
        let batch = move |(path, day): (PathBuf, String)| {
            read(&path, &day)?.project(&columns).map_err(failed)
        };
        Ok(Box::new(files.into_iter().map(batch)))
    }
}

fn main() -> mayfly::Result<()> {
    let directory = std::env::temp_dir().join(format!("mayfly-days-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(failed)?;
    for day in 1..=30 {
        let lines = format!("home,{}\ndocs,{day}\n", day * 10);
        fs::write(directory.join(format!("2026-11-{day:02}.csv")), lines).map_err(failed)?;
    }
    let files_read = Arc::new(AtomicUsize::new(0));
    let database = Database::in_memory()?;
    let days = Days {
        directory: directory.clone(),
        files_read: Arc::clone(&files_read),
    };
    database.register("visits", days)?;
    let mut connection = database.connect();
    let report = "SELECT page, SUM(visitors) FROM visits WHERE day > ? AND day <= '2026-11-28' GROUP BY page";
    let mut rows = connection.query(report, ["2026-11-25"])?;
    while let Some(row) = rows.next()? {
        println!("{}: {}", row.get::<String>(0)?, row.get::<i64>(1)?);
    }
    assert_eq!(files_read.load(Ordering::Relaxed), 3, "of 30 files");
    fs::remove_dir_all(directory).map_err(failed)
}

#[test]
fn runs() {
    main().expect("the example runs");
}

//! A table source of one's own: a directory of files, one for each year, with a number of visitors in each line. It
//! filters by year and gives rows in the order of years itself, so that a statement reads the files alone that it needs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mayfly::arrow_array::{ArrayRef, Int64Array, RecordBatch};
use mayfly::arrow_schema::{DataType, Field, Schema, SchemaRef};
use mayfly::{
    ColumnCondition, Database, Error, Order, RecordBatches, Request, TableSource, TermShape,
    TermSupport, Value,
};

/// The directory, and the number of files read.
#[derive(Debug, Clone)]
struct Years(PathBuf, Arc<AtomicUsize>);

/// Whether a year meets a condition.
fn meets(year: i64, condition: &ColumnCondition) -> bool {
    let is = |holds: fn(&i64, &i64) -> bool, value: &Value<'_>| match value {
        Value::Int(number) => holds(&year, number),
        _ => false,
    };
    match condition {
        ColumnCondition::Equal(value) => is(i64::eq, value),
        ColumnCondition::Less(value) => is(i64::lt, value),
        ColumnCondition::AtMost(value) => is(i64::le, value),
        ColumnCondition::Greater(value) => is(i64::gt, value),
        ColumnCondition::AtLeast(value) => is(i64::ge, value),
        ColumnCondition::Among(values) => values.iter().any(|value| is(i64::eq, value)),
        ColumnCondition::Null => false,
        ColumnCondition::NotNull => true,
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    mayfly::codes::ER_UNKNOWN_ERROR.with(&[&error])
}

impl Years {
    fn read(&self, year: i64) -> mayfly::Result<RecordBatch> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let path = self.0.join(format!("{year}.txt"));
        let text = fs::read_to_string(path).map_err(failed)?;
        let visitors: Result<Vec<i64>, _> = text.lines().map(str::parse).collect();
        let visitors = Int64Array::from(visitors.map_err(failed)?);
        let years: ArrayRef = Arc::new(Int64Array::from(vec![year; visitors.len()]));
        let columns = [("year", years), ("visitors", Arc::new(visitors))];
        RecordBatch::try_from_iter(columns).map_err(failed)
    }
}

impl TableSource for Years {
    fn schema(&self) -> SchemaRef {
        let number = |name| Field::new(name, DataType::Int64, false);
        Arc::new(Schema::new(vec![number("year"), number("visitors")]))
    }

    fn supports(&self, term: &TermShape) -> TermSupport {
        match term.column {
            0 => TermSupport::Exact,
            _ => TermSupport::Unsupported,
        }
    }

    fn orders(&self) -> Vec<Vec<Order>> {
        vec![vec![Order::ascending(0)], vec![Order::descending(0)]]
    }

    fn scan(&self, request: &Request) -> mayfly::Result<RecordBatches> {
        let mut years = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            years.push(name.parse().map_err(failed)?);
        }
        let terms = request.terms.iter();
        years.retain(|year| terms.clone().all(|term| meets(*year, &term.condition)));
        years.sort_unstable();
        if request.order.first().is_some_and(|it| it.descending) {
            years.reverse();
        }
        // A file is read when its rows are asked for: a LIMIT leaves the others unread.
        let (source, columns) = (self.clone(), request.columns.clone());
        let batch = move |year| source.read(year)?.project(&columns).map_err(failed);
        Ok(Box::new(years.into_iter().map(batch)))
    }
}

fn main() -> mayfly::Result<()> {
    let directory = std::env::temp_dir().join(format!("mayfly-years-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(failed)?;
    for year in 1997..=2026 {
        let (path, lines) = (format!("{year}.txt"), format!("{year}\n{}\n", year * 10));
        fs::write(directory.join(path), lines).map_err(failed)?;
    }
    let files_read = Arc::<AtomicUsize>::default();
    let database = Database::in_memory()?;
    database.register("visits", Years(directory.clone(), Arc::clone(&files_read)))?;
    let mut connection = database.connect();
    let of_two = "SELECT year, SUM(visitors) FROM visits WHERE year IN (2020, 2021) GROUP BY year";
    let last = "SELECT year, visitors FROM visits ORDER BY year DESC LIMIT 2";
    for (report, files) in [(of_two, 2), (last, 1)] {
        files_read.store(0, Ordering::Relaxed);
        let mut rows = connection.query(report, ())?;
        while let Some(row) = rows.next()? {
            println!("{}: {}", row.get::<i64>(0)?, row.get::<i64>(1)?);
        }
        assert_eq!(files_read.load(Ordering::Relaxed), files, "{report}");
    }
    fs::remove_dir_all(directory).map_err(failed)
}

#[test]
fn runs() {
    main().expect("the example runs");
}

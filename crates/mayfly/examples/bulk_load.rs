//! Rows that a program has as Arrow's record batches, put into a table at once: the batches are a table themselves, from
//! which INSERT … SELECT takes them.
//!
//! `cargo run --release --example bulk_load`

use std::sync::Arc;

use mayfly::arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use mayfly::arrow_schema::ArrowError;
use mayfly::{Batches, Database, Error};

fn measured(batch: i64) -> Result<RecordBatch, ArrowError> {
    let numbers = batch * 10_000..(batch + 1) * 10_000;
    let names = numbers
        .clone()
        .map(|number| format!("sensor {}", number % 97));
    RecordBatch::try_from_iter([
        (
            "id",
            Arc::new(Int64Array::from_iter_values(numbers.clone())) as Arc<dyn Array>,
        ),
        ("sensor", Arc::new(StringArray::from_iter_values(names))),
        (
            "value",
            Arc::new(Float64Array::from_iter_values(
                numbers.map(|number| number as f64 / 8.0),
            )),
        ),
    ])
}

fn main() -> mayfly::Result<()> {
    let batches: Result<Vec<_>, _> = (0..20).map(measured).collect();
    let batches = batches.map_err(Error::internal)?;
    let database = Database::in_memory()?;
    let mut connection = database.connect();
    connection.execute(
        "CREATE TABLE measures (id BIGINT PRIMARY KEY, sensor VARCHAR(20) NOT NULL, value DOUBLE, KEY (sensor))",
        (),
    )?;

    database.register("incoming", Batches::new(batches[0].schema(), batches))?;
    let done = connection.execute("INSERT INTO measures SELECT * FROM incoming", ())?;
    connection.execute("DROP TABLE incoming", ())?;
    println!("{} rows", done.affected_rows);

    let row = connection.query_row(
        "SELECT COUNT(DISTINCT sensor) AS sensors, MAX(value) AS highest FROM measures",
        (),
    )?;
    println!(
        "{} sensors, at most {}",
        row.get::<i64>("sensors")?,
        row.get::<f64>("highest")?
    );
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}

//! A result as Arrow's record batches, with their schema, for whatever computes on Arrow.
//!
//! `cargo run --example arrow`

use mayfly::Database;
use mayfly::arrow_array::cast::AsArray;
use mayfly::arrow_array::types::{Date32Type, Decimal128Type};

fn main() -> mayfly::Result<()> {
    let mut connection = Database::in_memory()?.connect();
    connection.execute_script(
        "CREATE TABLE orders (id INT PRIMARY KEY, day DATE, amount DECIMAL(10, 2));
         INSERT INTO orders
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
             SELECT i, DATE'2026-01-01' + INTERVAL i MOD 365 DAY, i / 100 FROM n",
    )?;
    let mut rows = connection.query(
        "SELECT day, SUM(amount) AS total FROM orders GROUP BY day",
        (),
    )?;
    println!("{}", rows.schema());
    let (mut days, mut largest, mut on) = (0, 0, 0);
    while let Some(batch) = rows.next_record_batch()? {
        let day = batch.column(0).as_primitive::<Date32Type>();
        let total = batch.column(1).as_primitive::<Decimal128Type>();
        for (day, total) in day.iter().flatten().zip(total.iter().flatten()) {
            days += 1;
            if total > largest {
                (largest, on) = (total, day);
            }
        }
    }
    println!(
        "{days} days; the largest total is {}.{:02}, day {on} since 1970",
        largest / 100,
        largest % 100
    );
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}

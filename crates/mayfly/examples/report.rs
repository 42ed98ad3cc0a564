//! A report under a limit of memory: what its temporary tables take, where they go on, and a statement that another thread
//! watches and could end.
//!
//! `cargo run --release --example report`

use mayfly::Options;

const REPORT: &str =
    "SELECT k MOD 200000 AS customer, COUNT(*) AS visits, COUNT(DISTINCT page) AS pages,
    MAX(CONCAT('page ', page, REPEAT('.', 40))) AS last_page
FROM visits GROUP BY customer ORDER BY visits DESC, customer LIMIT 5";

fn main() -> mayfly::Result<()> {
    let database = Options::new().memory_limit(64 << 20).threads(2).open()?;
    let mut connection = database.connect();
    connection.execute_script(
        "CREATE TABLE visits (k INT, page INT);
         INSERT INTO visits
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
             SELECT i * 7919 MOD 1000003, i MOD 97 FROM n",
    )?;

    let (progress, interrupt) = (connection.progress(), connection.interrupt_handle());
    let report = std::thread::spawn(move || {
        let mut rows = connection.query(REPORT, ())?;
        while let Some(row) = rows.next()? {
            let values: Vec<String> = row.values().map(|value| value.to_string()).collect();
            println!("{}", values.join("  "));
        }
        drop(rows);
        let used = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.session_status
            WHERE VARIABLE_NAME IN ('Created_tmp_tables', 'Created_tmp_disk_tables')";
        let mut rows = connection.query(used, ())?;
        while let Some(row) = rows.next()? {
            println!("{}: {}", row.get::<String>(0)?, row.get::<String>(1)?);
        }
        Ok(())
    });
    let mut most = 0;
    while !report.is_finished() {
        most = most.max(database.memory_used());
        // Whoever has seen enough ends it here, by interrupt.interrupt().
        let _ = (progress.rows_read(), &interrupt);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    println!("at most {} MiB of memory", most >> 20);
    report.join().expect("the report does not panic")
}

#[test]
fn runs() {
    main().expect("the example runs");
}

//! Clusters whose files are objects of a store: copies of tables, and Parquet files without a load.
//!
//! The store speaks S3's protocol (`testing/stores/with` starts it).

use crate::fixture::{Place, Processes, connect, execute, load_big, rows};

/// Statements over the copy of a table, with exchanges, and over the objects that `URL` stands for.
const STATEMENTS: &[&str] = &[
    "SELECT COUNT(*), SUM(n) FROM (SELECT c, COUNT(*) n FROM big GROUP BY c) g",
    "SELECT COUNT(*), SUM(a.i), SUM(LENGTH(b.c)) FROM big a JOIN big b ON a.c = b.c",
    "SELECT COUNT(*), SUM(i), MIN(c), MAX(c) FROM 'URL/big/**/*.parquet'",
    "SELECT k, COUNT(*), COUNT(DISTINCT c) FROM 'URL/big/**/*.parquet' WHERE i > 1000 GROUP BY k",
    "SELECT COUNT(*), SUM(f.i) FROM 'URL/big/**/*.parquet' f JOIN big ON big.c = f.c WHERE f.k = 1",
];

#[test]
#[ignore = "needs a store of objects: cluster/test starts one"]
fn copies_and_files_are_objects() {
    let mut cluster = Processes::start_in_store("cluster", 2);
    let mut client = connect(cluster.port());
    load_big(&mut client);
    let url = Place::url("lake");
    let copy = format!(
        "COPY (SELECT i % 3 k, i, c FROM big) TO '{url}/big' (FORMAT parquet, PARTITION_BY (k), ROW_GROUP_SIZE 5000)"
    );
    execute(&mut client, &[&copy]);
    let statements: Vec<String> = STATEMENTS
        .iter()
        .map(|statement| statement.replace("URL", &url))
        .collect();
    execute(&mut client, &["SET use_secondary_engine = OFF"]);
    let expected: Vec<_> = statements
        .iter()
        .map(|statement| rows(&mut client, statement).expect("rows"))
        .collect();
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    for (statement, expected) in statements.iter().zip(&expected) {
        let found = rows(&mut client, statement);
        assert_eq!(found.as_ref(), Ok(expected), "{statement}");
    }

    // Changed rows come with the next refresh, under names of their own.
    execute(
        &mut client,
        &[
            "INSERT INTO big SELECT i + 1000000, CONCAT(c, 'new') FROM big WHERE i < 500",
            "SET use_secondary_engine = OFF",
        ],
    );
    let changed = rows(&mut client, &statements[0]).expect("rows");
    assert_ne!(changed, expected[0]);
    execute(&mut client, &["SET use_secondary_engine = FORCED"]);
    assert_eq!(rows(&mut client, &statements[0]), Ok(changed));

    // A coordinator that takes the place over deletes the copies of the one before, and loads again.
    crate::fixture::send(cluster.coordinator(), "KILL");
    cluster.restart_coordinator();
    let mut client = connect(cluster.port());
    execute(
        &mut client,
        &["USE faults", "SET use_secondary_engine = FORCED"],
    );
    let begun = std::time::Instant::now();
    while rows(&mut client, &statements[3]).as_ref() != Ok(&expected[3])
        || rows(&mut client, &statements[0]).is_err()
    {
        assert!(
            begun.elapsed().as_secs() < 60,
            "the copy does not come back"
        );
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

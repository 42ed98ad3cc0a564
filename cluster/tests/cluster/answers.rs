//! The cluster's answers, warnings and errors are the server's.

use crate::fixture::{Cluster, execute, rows};

const TABLES: &[&str] = &[
    "CREATE DATABASE answers",
    "USE answers",
    "SET cte_max_recursion_depth = 100000",
    "SET sql_mode = 'ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO'",
    "CREATE TABLE customer (id INT UNSIGNED PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_0900_ai_ci, \
     balance DECIMAL(65,30), born DATE, seen DATETIME(6), kind ENUM('new','old'), data JSON) SECONDARY_ENGINE=CLUSTER",
    "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, customer INT UNSIGNED, price DECIMAL(12,2), amount INT, \
     ordered DATE, at TIMESTAMP NULL, note VARCHAR(100), rate DOUBLE) SECONDARY_ENGINE=CLUSTER",
    "INSERT INTO customer WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500) \
     SELECT n, IF(n % 11 = 0, NULL, CONCAT(ELT(1 + n % 4, 'Ann', 'ANN', 'änn', 'Bob'), n % 30)), \
     IF(n % 7 = 0, NULL, n * 1000000000000000000000000 + n / 7), IF(n % 13 = 0, '0000-00-00', '1990-01-01' + INTERVAL n DAY), \
     '2024-02-29 01:02:03.000004' + INTERVAL n HOUR, ELT(1 + n % 2, 'new', 'old'), JSON_OBJECT('n', n, 'l', JSON_ARRAY(n, NULL)) FROM n",
    "INSERT INTO orders WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 6000) \
     SELECT n + 18446744073709540000, IF(n % 17 = 0, NULL, 1 + n * 7919 % 520), (n * 37 % 10007) / 100, n % 19 - 5, \
     '2024-01-01' + INTERVAL n % 700 DAY, '2024-03-31 00:30:00' + INTERVAL n MINUTE, \
     IF(n % 5 = 0, NULL, CONCAT('n', n % 40, '12')), n / 3 FROM n",
    "ALTER TABLE customer SECONDARY_LOAD",
    "ALTER TABLE orders SECONDARY_LOAD",
];

/// Statements of which the cluster computes at least a part.
const STATEMENTS: &[&str] = &[
    "SELECT COUNT(*) FROM orders",
    "SELECT COUNT(*), COUNT(note), COUNT(DISTINCT note), SUM(price), AVG(price), MIN(ordered), MAX(at) FROM orders",
    "SELECT customer, SUM(price * amount) s FROM orders GROUP BY customer ORDER BY s DESC, customer LIMIT 10",
    "SELECT name, COUNT(*), SUM(balance), MIN(born), MAX(seen) FROM customer GROUP BY name",
    "SELECT DISTINCT name FROM customer WHERE name LIKE 'ann%'",
    "SELECT kind, AVG(balance), MAX(balance), SUM(id) FROM customer GROUP BY kind WITH ROLLUP",
    "SELECT c.name, COUNT(*), SUM(o.price) FROM customer c JOIN orders o ON o.customer = c.id GROUP BY c.name",
    "SELECT c.id, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id AND o.amount > 12 WHERE c.id < 50",
    "SELECT a.name, COUNT(*) FROM customer a JOIN customer b ON a.name = b.name GROUP BY a.name",
    "SELECT id FROM customer WHERE id IN (SELECT customer FROM orders WHERE price > 99)",
    "SELECT id FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "SELECT id, price, RANK() OVER (PARTITION BY customer ORDER BY price DESC) r FROM orders WHERE customer < 30",
    "SELECT YEAR(ordered) y, MONTH(ordered) m, COUNT(*) FROM orders GROUP BY y, m",
    "SELECT id, JSON_EXTRACT(data, '$.n') FROM customer WHERE born = '0000-00-00'",
    "SELECT at, id FROM orders WHERE id % 100 = 7 ORDER BY at, id",
    "SELECT name FROM customer WHERE id < 5 UNION SELECT note FROM orders WHERE amount = 3",
    "SELECT SUM(note + 1), COUNT(*) FROM orders WHERE amount = 3",
    "SELECT amount, SUM(price / amount) FROM orders GROUP BY amount",
    "SELECT SUM(id) FROM orders",
    "SELECT MAX(rate), MIN(-rate), COUNT(rate) FROM orders WHERE rate > 10",
];

/// Statements that end with an error in the fragments of a job.
const ERRORS: &[&str] = &[
    "SELECT SUM(amount - CAST(20 AS UNSIGNED)) FROM orders",
    "SELECT COUNT(*) FROM orders WHERE id + 18446744073709551000 > 0",
];

#[test]
fn answers_are_those_of_the_server() {
    let cluster = Cluster::start();
    let mut client = cluster.client();
    execute(&mut client, TABLES);
    for statement in STATEMENTS.iter().chain(ERRORS) {
        execute(&mut client, &["SET use_secondary_engine = OFF"]);
        let expected = rows(&mut client, statement);
        let warnings = rows(&mut client, "SHOW WARNINGS");
        assert_eq!(
            ERRORS.contains(statement),
            expected.is_err(),
            "{statement}: {expected:?}"
        );
        execute(&mut client, &["SET use_secondary_engine = FORCED"]);
        assert_eq!(rows(&mut client, statement), expected, "{statement}");
        assert_eq!(rows(&mut client, "SHOW WARNINGS"), warnings, "{statement}");
    }
}

#[test]
fn warnings_arrive() {
    let cluster = Cluster::start();
    let mut client = cluster.client();
    execute(&mut client, TABLES);
    let mut warnings = Vec::new();
    for engine in ["OFF", "FORCED"] {
        execute(
            &mut client,
            &[&format!("SET use_secondary_engine = {engine}")],
        );
        rows(
            &mut client,
            "SELECT SUM(price / 0) FROM orders WHERE amount = 3",
        )
        .expect("rows");
        let shown = client
            .query("SHOW COUNT(*) WARNINGS")
            .expect("warnings")
            .rows;
        warnings.push((shown, rows(&mut client, "SHOW WARNINGS").expect("warnings")));
    }
    assert!(!warnings[0].1.is_empty());
    assert_eq!(warnings[1], warnings[0]);
}

/// Statements over Parquet files, one of them with a loaded table.
const OF_FILES: &[&str] = &[
    "SELECT COUNT(*) FROM 'DATA/sales'",
    "SELECT COUNT(*), SUM(price), MIN(note), MAX(at), COUNT(DISTINCT customer) FROM 'DATA/sales'",
    "SELECT year, kind, COUNT(*), SUM(price) FROM 'DATA/sales' GROUP BY year, kind",
    "SELECT year, MAX(price) FROM 'DATA/sales' WHERE year > 2023 GROUP BY year",
    "SELECT DISTINCT note FROM 'DATA/sales/*/*/*.parquet' WHERE note LIKE 'n1%'",
    "SELECT COUNT(*) FROM 'DATA/sales' WHERE id <= 700",
    "SELECT COUNT(*), MIN(id) FROM 'DATA/sales' WHERE price > 50 AND id > 100 AND note IS NOT NULL",
    "SELECT id, customer FROM 'DATA/sales' WHERE customer BETWEEN 3 AND 9 AND price < 60.5",
    "SELECT MAX(price) FROM 'DATA/sales' WHERE note = 'n112' OR id IN (7, 70, 700)",
    "SELECT COUNT(*) FROM 'DATA/sales' WHERE year = 2024 AND kind = 1 AND id < 1000 AND at > '2024-04-01'",
    "SELECT c.id, SUM(s.price) FROM 'DATA/sales' s JOIN customer c ON c.id = s.customer GROUP BY c.id",
    "SELECT a.id, b.at FROM 'DATA/sales' a JOIN read_parquet('DATA/sales') b ON a.id = b.id WHERE a.id % 100 = 5",
    "SELECT id, RANK() OVER (PARTITION BY kind ORDER BY price, id) FROM 'DATA/sales' WHERE id % 10 = 0",
];

#[test]
fn files_are_tables_without_a_load() {
    let cluster = Cluster::start();
    let mut client = cluster.client();
    execute(&mut client, TABLES);
    let data = cluster.data().to_string_lossy().into_owned();
    let outside = tempfile::tempdir().expect("a directory");
    let sales = "SELECT id % 5000 id, YEAR(ordered) year, amount % 2 kind, customer, price, note, at FROM orders";
    execute(
        &mut client,
        &[
            &format!(
                "COPY ({sales}) TO '{data}/sales' (FORMAT parquet, PARTITION_BY (year, kind), ROW_GROUP_SIZE 300)"
            ),
            &format!("COPY ({sales}) TO '{}/a.parquet'", outside.path().display()),
            &format!("COPY ({sales}) TO '{data}/a.csv'"),
        ],
    );
    for zone in ["+00:00", "+05:30"] {
        execute(&mut client, &[&format!("SET time_zone = '{zone}'")]);
        for statement in OF_FILES {
            let statement = statement.replace("DATA", &data);
            execute(&mut client, &["SET use_secondary_engine = OFF"]);
            let expected = rows(&mut client, &statement).expect("rows");
            assert!(!expected.is_empty(), "{statement}");
            execute(&mut client, &["SET use_secondary_engine = FORCED"]);
            assert_eq!(rows(&mut client, &statement), Ok(expected), "{statement}");
        }
    }
    let plan = rows(
        &mut client,
        &format!("EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM '{data}/sales'"),
    );
    let plan = format!("{plan:?}");
    assert!(plan.contains("in secondary engine CLUSTER"), "{plan}");
    for file in [
        format!("{}/a.parquet", outside.path().display()),
        format!("{data}/a.csv"),
    ] {
        let (code, text) =
            rows(&mut client, &format!("SELECT COUNT(*) FROM '{file}'")).expect_err("refused");
        assert_eq!(code, 3889, "{text}");
        assert!(text.contains("do not read the files"), "{text}");
    }
}

//! A source without an engine: a server with a few sessions whose temporary tables grow and overflow to disk, and which
//! accepts every KILL.

mod tables;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mayfly_http::{Facts, Session, Source, SourceError, Table};
use serde_json::{Value, json};

use tables::{digests, events, findings, meanings, memory, plan, status, variables};

/// The session that watches.
pub(crate) const WATCHER: u64 = 3;

/// Simulated source of a server.
#[derive(Debug)]
pub(crate) struct Fake {
    started: Instant,
    /// Every text that was run, with the purpose of its session.
    pub(crate) ran: Mutex<Vec<(Session, String)>>,
    killed: Mutex<HashSet<u64>>,
    /// Relations and columns that this server does not have.
    pub(crate) lacks: Vec<&'static str>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            ran: Mutex::default(),
            killed: Mutex::default(),
            lacks: Vec::new(),
        }
    }
}

/// A session: id, user, host, database, command, state, statement.
const SESSIONS: &[(u64, &str, &str, &str, &str, &str, &str)] = &[
    (
        WATCHER,
        "root",
        "localhost",
        "",
        "Query",
        "executing",
        "SELECT * FROM information_schema.TEMP_TABLES",
    ),
    (
        12,
        "report",
        "10.0.4.17:51992",
        "shop",
        "Query",
        "Creating tmp table",
        "SELECT customer_id, COUNT(*) AS orders, SUM(total) AS revenue, GROUP_CONCAT(note) FROM orders GROUP BY customer_id ORDER BY revenue DESC LIMIT 100",
    ),
    (
        15,
        "report",
        "10.0.4.17:52011",
        "shop",
        "Query",
        "Sorting result",
        "SELECT p.name, d.day, d.sold FROM (SELECT product_id, DATE(created) AS day, SUM(quantity) AS sold FROM order_lines GROUP BY product_id, day) d JOIN products p ON p.id = d.product_id ORDER BY d.sold DESC",
    ),
    (
        21,
        "web",
        "10.0.4.31:40122",
        "shop",
        "Query",
        "executing",
        "SELECT DISTINCT tags FROM articles WHERE body LIKE '%mayfly%'",
    ),
    (22, "web", "10.0.4.31:40130", "shop", "Sleep", "", ""),
    (
        27,
        "etl",
        "10.0.4.8:33910",
        "warehouse",
        "Query",
        "executing",
        "INSERT INTO daily SELECT day, region, SUM(amount) FROM staging GROUP BY day, region WITH ROLLUP",
    ),
    (31, "web", "10.0.4.33:58104", "shop", "Sleep", "", ""),
];

const DIGESTS: [(&str, &str, &str, [u64; 9]); 8] = [
    (
        "9f2c41d7a0",
        "shop",
        "SELECT `customer_id` , COUNT ( * ) AS `orders` , SUM ( `total` ) AS `revenue` , `GROUP_CONCAT` ( `note` ) FROM `orders` GROUP BY `customer_id` ORDER BY `revenue` DESC LIMIT ?",
        [412, 1_648_000, 9_400, 412_000_000, 824, 397, 88, 52, 61],
    ),
    (
        "17be90cc35",
        "shop",
        "SELECT `p` . `name` , `d` . `day` , `d` . `sold` FROM ( SELECT `product_id` , DATE ( `created` ) AS `day` , SUM ( `quantity` ) AS `sold` FROM `order_lines` GROUP BY `product_id` , DAY ) `d` JOIN `products` `p` ON `p` . `id` = `d` . `product_id` ORDER BY `d` . `sold` DESC",
        [188, 902_000, 12_100, 221_000_000, 564, 181, 61, 40, 22],
    ),
    (
        "c60a7752ee",
        "shop",
        "SELECT DISTINCT `tags` FROM `articles` WHERE BODY LIKE ?",
        [9_120, 601_000, 410, 96_000_000, 9_120, 12, 19, 1, 3],
    ),
    (
        "5d01fb83a9",
        "warehouse",
        "INSERT INTO `daily` SELECT DAY , `region` , SUM ( `amount` ) FROM `staging` GROUP BY DAY , `region` WITH ROLLUP",
        [96, 288_000, 5_000, 84_000_000, 96, 96, 44, 44, 96],
    ),
    (
        "e83b2a6f14",
        "shop",
        "SELECT `id` , `name` , `price` FROM `products` WHERE `id` = ?",
        [4_812_300, 221_000, 1, 4_812_300, 0, 0, 0, 0, 0],
    ),
    (
        "02d9c1b7f8",
        "shop",
        "SELECT `c` . `city` , COUNT ( DISTINCT `o` . `customer_id` ) FROM `orders` `o` JOIN `customers` `c` ON `c` . `id` = `o` . `customer_id` GROUP BY `c` . `city`",
        [74, 144_000, 4_100, 61_000_000, 148, 0, 9, 0, 0],
    ),
    (
        "b7714e0d52",
        "shop",
        "UPDATE `carts` SET `updated` = NOW ( ) WHERE `session` = ?",
        [912_400, 88_000, 0, 912_400, 0, 0, 0, 0, 0],
    ),
    (
        "4ac8830e6b",
        "shop",
        "WITH RECURSIVE `tree` AS ( SELECT `id` , `parent` FROM `categories` WHERE `parent` IS NULL UNION ALL SELECT `c` . `id` , `c` . `parent` FROM `categories` `c` JOIN `tree` ON `c` . `parent` = `tree` . `id` ) SELECT * FROM `tree`",
        [31_010, 42_000, 2, 18_000_000, 31_010, 0, 1, 0, 0],
    ),
];

/// A digest in MySQL's form, from its first digits.
pub(crate) fn digest(first: &str) -> String {
    format!("{first:0<64}")
}

fn table(columns: &str, rows: Vec<Vec<Value>>) -> Table {
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    let row = |row: Vec<Value>| row.into_iter().map(text).collect();
    Table {
        columns: columns.split_whitespace().map(str::to_owned).collect(),
        rows: rows.into_iter().map(row).collect(),
    }
}

fn pairs(list: &[(&str, String)]) -> Table {
    let rows = list
        .iter()
        .map(|(name, value)| vec![json!(name), json!(value)]);
    table("VARIABLE_NAME VARIABLE_VALUE", rows.collect())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn error(code: u16, message: impl Into<String>) -> SourceError {
    SourceError {
        code,
        message: message.into(),
    }
}

impl Source for Fake {
    fn run(&self, session: Session, statements: &[&str]) -> Result<Vec<Table>, SourceError> {
        let mut results = Vec::new();
        for sql in statements {
            lock(&self.ran).push((session, (*sql).to_owned()));
            results.push(self.run_one(sql)?);
        }
        Ok(results)
    }

    fn facts(&self) -> Facts {
        Facts {
            version: "8.4.0-mayfly".to_owned(),
            account: "root@localhost".to_owned(),
        }
    }

    fn findings(&self) -> Result<Option<Value>, SourceError> {
        if self.lacks.contains(&"advisor") {
            return Ok(None);
        }
        Ok(Some(findings()))
    }

    fn is_watching(&self, session_id: u64) -> bool {
        session_id == WATCHER
    }
}

impl Fake {
    fn run_one(&self, sql: &str) -> Result<Table, SourceError> {
        if let Some(lacking) = self.lacks.iter().find(|it| sql.contains(**it)) {
            let code = if lacking.contains('.') { 1146 } else { 1054 };
            return Err(error(code, format!("this server has no {lacking}")));
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let has = |text: &str| sql.contains(text);
        Ok(match sql {
            _ if has("information_schema.TEMP_TABLES") => self.tables(seconds),
            _ if has("information_schema.SCHEMATA") => table(
                "SCHEMA_NAME",
                vec![vec![json!("shop")], vec![json!("stock")]],
            ),
            "SHOW CLUSTER" => table(
                "Name Role Address State Slots Tasks Memory_used Memory_limit Disk_used",
                (1..=3)
                    .map(|number| {
                        vec![
                            json!(format!("executor-{number}")),
                            json!("executor"),
                            json!(format!("10.0.4.{}:7401", 60 + number)),
                            json!("AVAILABLE"),
                            json!(2),
                            json!(number % 3),
                            json!((seconds.sin().abs() * 4e8) as u64),
                            json!(1_u64 << 30),
                            json!(number * 1_000_000),
                        ]
                    })
                    .collect(),
            ),
            _ if has("performance_schema.processlist") => self.sessions(seconds),
            _ if has("performance_schema.global_status") => status(seconds),
            _ if has("performance_schema.global_variables") => variables(),
            _ if has("performance_schema.variables_metadata") => meanings(),
            _ if has("events_statements_summary_by_digest") => digests(sql),
            _ if has("events_statements_history") => events(),
            _ if has("memory_summary_global_by_event_name") => memory(seconds),
            _ if sql.starts_with("SET ")
                || sql.starts_with("USE ")
                || sql.starts_with("START ") =>
            {
                Table::default()
            }
            _ if sql.starts_with("KILL ") => {
                let id = sql.rsplit(' ').next().and_then(|id| id.parse::<u64>().ok());
                let known = SESSIONS.iter().any(|session| Some(session.0) == id)
                    || id.is_some_and(|id| (100..200).contains(&id));
                let Some(id) = id.filter(|_| known) else {
                    return Err(error(
                        1094,
                        format!(
                            "Unknown thread id: {}",
                            sql.rsplit(' ').next().unwrap_or("")
                        ),
                    ));
                };
                lock(&self.killed).insert(id);
                Table::default()
            }
            _ if sql.starts_with("EXPLAIN ") && has("SELEC ") => {
                return Err(error(
                    1064,
                    "You have an error in your SQL syntax near 'SELEC'",
                ));
            }
            _ if sql.starts_with("EXPLAIN ANALYZE ") => {
                table("EXPLAIN", vec![vec![json!(plan(true).to_string())]])
            }
            _ if sql.starts_with("EXPLAIN ") => {
                table("EXPLAIN", vec![vec![json!(plan(false).to_string())]])
            }
            _ => return Err(error(1146, format!("the fake does not know {sql}"))),
        })
    }

    fn tables(&self, seconds: f64) -> Table {
        let killed = lock(&self.killed);
        let mib = |value: f64| (value * 1_048_576.0) as u64;
        // Each grows, and overflows to disk where it meets a limit, with its own period.
        let wave = |period: f64, shift: f64| ((seconds / period + shift) % 1.0).powf(0.8);
        let limit = 16.0;
        let mut rows = Vec::new();
        let mut add = |id: u64,
                       session: u64,
                       user: &str,
                       name: &str,
                       purpose: &str,
                       cause: &str,
                       access: &str,
                       size: f64,
                       rows_per_mib: f64,
                       age: f64,
                       digest_index: Option<usize>| {
            if killed.contains(&id) || killed.contains(&session) {
                return;
            }
            let (memory, disk) = (size.min(limit * 0.97), (size - limit * 0.97).max(0.0));
            let statement = digest_index.and_then(|index| DIGESTS.get(index));
            rows.push(vec![
                json!(id),
                json!(session),
                json!(user),
                json!(name),
                json!(purpose),
                json!(cause),
                json!(access),
                json!((size * rows_per_mib) as u64),
                json!(mib(memory)),
                json!(mib(memory)),
                json!(mib(disk)),
                json!(mib(disk)),
                json!(if disk > 0.0 { 64 } else { 1 }),
                json!(age),
                statement.map_or(Value::Null, |it| json!(digest(it.0))),
                statement.map_or(Value::Null, |it| json!(it.2)),
                json!("TempTable"),
                json!(mib(disk)),
                json!(mib(disk / 3.0)),
                if disk > 0.0 {
                    json!("tmp_table_size")
                } else {
                    Value::Null
                },
                // A limit that the session has set.
                json!(mib(limit) * 2),
                Value::Null,
            ]);
        };
        add(
            101,
            12,
            "report@10.0.4.17",
            "(internal)",
            "GROUP BY",
            "Group by customer_id has no index to follow",
            "hash",
            6.0 + 52.0 * wave(40.0, 0.3),
            21_000.0,
            3.0 + seconds % 40.0,
            Some(0),
        );
        add(
            102,
            12,
            "report@10.0.4.17",
            "(internal)",
            "ORDER BY",
            "Order by revenue differs from the groups",
            "scan",
            1.0 + 9.0 * wave(40.0, 0.3),
            9_000.0,
            1.0 + seconds % 40.0,
            Some(0),
        );
        add(
            103,
            15,
            "report@10.0.4.17",
            "(internal)",
            "derived table",
            "Derived table d cannot be merged: it has GROUP BY",
            "hash",
            4.0 + 30.0 * wave(25.0, 0.6),
            33_000.0,
            2.0 + seconds % 25.0,
            Some(1),
        );
        add(
            104,
            21,
            "web@10.0.4.31",
            "(internal)",
            "DISTINCT",
            "Distinct has no index to follow",
            "hash",
            0.4 + 5.0 * wave(6.0, 0.1),
            14_000.0,
            seconds % 6.0,
            Some(2),
        );
        add(
            105,
            27,
            "etl@10.0.4.8",
            "(internal)",
            "GROUP BY",
            "Group by day, region has no index to follow",
            "hash",
            2.0 + 41.0 * wave(60.0, 0.5),
            25_000.0,
            8.0 + seconds % 60.0,
            Some(3),
        );
        add(
            106,
            22,
            "web@10.0.4.31",
            "shop.basket",
            "user",
            "CREATE TEMPORARY TABLE",
            "scan",
            0.8,
            3_000.0,
            340.0 + seconds,
            None,
        );
        add(
            107,
            WATCHER,
            "root@localhost",
            "(internal)",
            "information_schema",
            "The page's own",
            "scan",
            0.1,
            10.0,
            0.0,
            None,
        );
        table(
            "ID SESSION_ID USER NAME PURPOSE CAUSE ACCESS ROWS MEMORY_BYTES MEMORY_PEAK DISK_BYTES DISK_PEAK PARTITIONS AGE STATEMENT_DIGEST STATEMENT_DIGEST_TEXT ENGINE BYTES_WRITTEN BYTES_READ LIMIT_HIT MEMORY_LIMIT DISK_LIMIT",
            rows,
        )
    }

    fn sessions(&self, seconds: f64) -> Table {
        let killed = lock(&self.killed);
        let living = SESSIONS
            .iter()
            .filter(|session| !killed.contains(&session.0));
        let or_null = |text: &str| {
            if text.is_empty() {
                Value::Null
            } else {
                json!(text)
            }
        };
        let row = |(id, user, host, database, command, state, statement): &(
            u64,
            &str,
            &str,
            &str,
            &str,
            &str,
            &str,
        )| {
            let time = (seconds as u64 + id * 7) % if *command == "Sleep" { 400 } else { 40 };
            vec![
                json!(id),
                json!(user),
                json!(host),
                or_null(database),
                json!(command),
                json!(time),
                or_null(state),
                or_null(statement),
                json!("PRIMARY"),
            ]
        };
        table(
            "ID USER HOST DB COMMAND TIME STATE INFO EXECUTION_ENGINE",
            living.map(row).collect(),
        )
    }
}

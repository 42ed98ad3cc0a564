//! `mayfly-cluster demo`: a coordinator and executors on this machine, and the statements of article 0 on both.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use mayfly::Connection;

use crate::coordinator::{ClusterOptions, Coordinator};
use crate::data::DataPlace;
use crate::process::{ProcessOptions, text};

/// Options of `mayfly-cluster demo`.
#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Number of rows.
    #[arg(long, default_value_t = 1_000_000)]
    pub rows: u64,
    /// Number of executors.
    #[arg(long, default_value_t = 3)]
    pub executors: usize,
    /// Bytes of memory of each executor.
    #[arg(long, default_value_t = 512 << 20)]
    pub memory: u64,
}

/// The statements.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "GROUP BY, every group",
        "SELECT COUNT(*), SUM(cnt) FROM (SELECT COUNT(*) cnt, c FROM gtest GROUP BY c) g",
    ),
    (
        "DISTINCT",
        "SELECT COUNT(*) FROM (SELECT DISTINCT c FROM gtest) d",
    ),
    ("COUNT(DISTINCT)", "SELECT COUNT(DISTINCT c) FROM gtest"),
    (
        "a join with itself",
        "SELECT COUNT(*) FROM gtest a JOIN gtest b ON a.c = b.c",
    ),
    (
        "SUM of groups",
        "SELECT i % 10 d, COUNT(*), SUM(i) FROM gtest GROUP BY d ORDER BY d",
    ),
];

/// Executors, which end with the demonstration.
struct Executors(Vec<Child>);

impl Drop for Executors {
    fn drop(&mut self) {
        for executor in &mut self.0 {
            let _ = executor.kill();
            let _ = executor.wait();
        }
    }
}

/// Starts a cluster and runs the statements.
pub fn run(options: &DemoOptions) -> Result<(), String> {
    let directory =
        std::env::temp_dir().join(format!("mayfly-cluster-demo-{}", std::process::id()));
    let ended = run_in(options, &directory);
    let _ = std::fs::remove_dir_all(&directory);
    ended
}

fn run_in(options: &DemoOptions, directory: &std::path::Path) -> Result<(), String> {
    let any = "127.0.0.1:0".parse().map_err(text)?;
    let coordinator = Coordinator::start(&ClusterOptions {
        listen_executors: any,
        process: ProcessOptions {
            data: DataPlace::Directory(directory.join("data")),
            urls: Vec::new(),
            directory: directory.join("coordinator"),
            memory: None,
            temp_space: None,
            tls: None,
        },
        partitions: options.executors,
        patience: 120,
    })?;
    let database = mayfly::Options::new()
        .directory(directory.join("database"))
        .memory_limit(options.memory)
        .open()
        .map_err(text)?;
    let engine = Arc::clone(&coordinator.engine) as _;
    database.set_secondary_engine(Some(engine)).map_err(text)?;
    let program = std::env::current_exe().map_err(text)?;
    let mut executors = Executors(Vec::new());
    for number in 0..options.executors {
        let mut command = Command::new(&program);
        command.args([
            "executor",
            "--tasks",
            "1",
            "--coordinator",
            &coordinator.executors.to_string(),
        ]);
        command.args([
            "--name",
            &format!("executor-{}", number + 1),
            "--memory",
            &options.memory.to_string(),
        ]);
        command.arg("--data").arg(directory.join("data"));
        command
            .arg("--directory")
            .arg(directory.join(format!("executor-{}", number + 1)));
        executors
            .0
            .push(command.stdout(Stdio::null()).spawn().map_err(text)?);
    }
    coordinator.wait_for_executors(options.executors, Duration::from_secs(30))?;
    let mut connection = database.connect();
    println!(
        "{} executors; loading {} rows",
        options.executors, options.rows
    );
    for statement in [
        "CREATE DATABASE demo".to_owned(),
        "USE demo".to_owned(),
        "CREATE TABLE gtest (i INT UNSIGNED NOT NULL, c CHAR(50) NOT NULL) DEFAULT CHARSET=latin1 SECONDARY_ENGINE=CLUSTER".to_owned(),
        format!(
            "INSERT INTO gtest WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < {}) \
             SELECT /*+ SET_VAR(cte_max_recursion_depth=4294967295) */ CRC32(n) % 100000, SHA1(IF(n % 20 = 19, n - 19, n)) FROM n",
            options.rows.saturating_sub(1)
        ),
    ] {
        connection.execute_script(&statement).map_err(text)?;
    }
    let load = Instant::now();
    connection
        .execute_script("ALTER TABLE gtest SECONDARY_LOAD")
        .map_err(text)?;
    println!("SECONDARY_LOAD: {:.2?}", load.elapsed());
    println!(
        "{:<24} {:>12} {:>12}  rows",
        "statement", "server", "cluster"
    );
    for (name, sql) in STATEMENTS {
        let (alone, expected) = time(&mut connection, "OFF", sql)?;
        let (together, result) = time(&mut connection, "FORCED", sql)?;
        if result != expected {
            return Err(format!(
                "{name}: the cluster's rows {result:?} are not the server's {expected:?}"
            ));
        }
        println!(
            "{name:<24} {:>12} {:>12}  {}",
            format!("{alone:.2?}"),
            format!("{together:.2?}"),
            result.len()
        );
    }
    Ok(())
}

/// Runs a statement, and returns its time and rows.
fn time(
    connection: &mut Connection,
    engine: &str,
    sql: &str,
) -> Result<(Duration, Vec<String>), String> {
    connection
        .execute_script(&format!("SET use_secondary_engine = {engine}"))
        .map_err(text)?;
    let start = Instant::now();
    let mut rows = connection.query(sql, ()).map_err(text)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(text)? {
        found.push(format!("{row:?}"));
    }
    Ok((start.elapsed(), found))
}

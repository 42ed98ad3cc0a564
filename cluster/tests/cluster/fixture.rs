//! A cluster for a test: a coordinator in this process, and executors as processes of their own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mayfly_client::{Address, Client, Limits, Rows};
use mayfly_cluster::backend::Kind;
use mayfly_cluster::coordinator::{Coordinator, CoordinatorOptions};

/// A statement that takes seconds in a build for tests, and passes three stages.
pub(crate) const SLOW: &str =
    "SELECT COUNT(*), SUM(a.i), SUM(LENGTH(b.c)) FROM big a JOIN big b ON a.c = b.c";

/// What an executor of a test is given.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) memory: u64,
    pub(crate) temp_space: u64,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            temp_space: 1 << 30,
        }
    }
}

/// A running cluster.
pub(crate) struct Cluster {
    pub(crate) coordinator: Coordinator,
    executors: Vec<(String, Child)>,
    given: Given,
    started: usize,
    // Deleted last.
    directory: tempfile::TempDir,
}

impl Cluster {
    /// A cluster of three executors.
    pub(crate) fn start(kind: Kind) -> Self {
        Self::of(kind, 3, Given::default())
    }

    /// A cluster of `count` executors.
    pub(crate) fn of(kind: Kind, count: usize, given: Given) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let coordinator = Coordinator::start(options(kind, directory.path())).expect("coordinator");
        let mut cluster = Self {
            coordinator,
            executors: Vec::new(),
            given,
            started: 0,
            directory,
        };
        for _ in 0..count {
            cluster.add();
        }
        cluster.wait();
        cluster
    }

    /// Starts one more executor.
    pub(crate) fn add(&mut self) {
        self.started += 1;
        let name = format!("executor-{}", self.started);
        let mut command = Command::new(program());
        command.args([
            "executor",
            "--tasks",
            "1",
            "--coordinator",
            &self.coordinator.executors.to_string(),
        ]);
        command.args(["--name", &name, "--memory", &self.given.memory.to_string()]);
        command.args(["--temp-space", &self.given.temp_space.to_string()]);
        command
            .arg("--data")
            .arg(self.directory.path().join("data"));
        command
            .arg("--directory")
            .arg(self.directory.path().join(&name));
        if let Some(scheduler) = self.coordinator.scheduler {
            // The port after an executor's own is Ballista's too.
            let port = free_ports();
            command.args(["--listen", &format!("127.0.0.1:{port}")]);
            command.args([
                "--backend",
                "ballista",
                "--scheduler",
                &scheduler.to_string(),
            ]);
        }
        let executor = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("executor");
        self.executors.push((name, executor));
    }

    /// Waits until these executors, and no others, are heard.
    pub(crate) fn wait(&self) {
        let mut names: Vec<_> = self
            .executors
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        names.sort();
        let start = Instant::now();
        loop {
            let members = self.coordinator.members.alive();
            let mut heard: Vec<_> = members.into_iter().map(|member| member.name).collect();
            heard.sort();
            if heard == names {
                break;
            }
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{heard:?} are heard, not {names:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.coordinator.scheduler.is_some() {
            // Ballista's registration is not seen from here.
            std::thread::sleep(Duration::from_secs(2));
        }
    }

    /// The number of the process of an executor.
    pub(crate) fn process(&self, executor: usize) -> u32 {
        self.executors[executor].1.id()
    }

    /// Ends an executor, and starts another one in its place.
    pub(crate) fn replace(&mut self, executor: usize) {
        let (_, mut ended) = self.executors.remove(executor);
        let _ = ended.kill();
        let _ = ended.wait();
        self.add();
        self.wait();
    }

    /// A connection of a client.
    pub(crate) fn client(&self) -> Client {
        connect(self.coordinator.server.address().port())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, executor) in &mut self.executors {
            let _ = executor.kill();
            let _ = executor.wait();
        }
    }
}

/// Options of a coordinator below `directory`.
pub(crate) fn options(kind: Kind, directory: &Path) -> CoordinatorOptions {
    let any = "127.0.0.1:0".parse().expect("address");
    CoordinatorOptions {
        listen: any,
        listen_executors: any,
        password: Some(String::new()),
        database: Some(directory.join("database")),
        data: directory.join("data"),
        directory: directory.join("coordinator"),
        memory: 128 << 20,
        temp_space: 1 << 30,
        memory_limit: None,
        partitions: 3,
        patience: 30,
        tls: None,
        backend: kind,
        scheduler: any,
    }
}

/// The program.
pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_mayfly-cluster").into()
}

/// Sends a signal to a process.
pub(crate) fn send(process: u32, signal: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

/// Connects as root.
pub(crate) fn connect(port: u16) -> Client {
    let address = Address {
        port: Some(port),
        user: "root".into(),
        password: Some(String::new()),
        ..Address::default()
    };
    Client::connect(&address, Limits::default()).expect("client")
}

/// Runs statements whose rows do not matter.
pub(crate) fn execute(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        if let Err(error) = client.query(statement) {
            panic!("{statement}: {}", error.message());
        }
    }
}

/// The rows of a statement, sorted, or the number and text of its error.
pub(crate) fn rows(
    client: &mut Client,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, (u16, String)> {
    let found: Result<Rows, _> = client.query(sql);
    let mut rows = found
        .map_err(|error| (error.code(), error.message().to_owned()))?
        .rows;
    rows.sort();
    Ok(rows)
}

/// A table whose statements take time.
pub(crate) fn load_big(client: &mut Client) {
    execute(
        client,
        &[
            "CREATE DATABASE faults",
            "USE faults",
            "CREATE TABLE big (i INT UNSIGNED NOT NULL, c CHAR(50) NOT NULL) DEFAULT CHARSET=latin1 SECONDARY_ENGINE=CLUSTER",
            "SET cte_max_recursion_depth = 1000000",
            "INSERT INTO big WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 119999) \
             SELECT CRC32(n) % 100000, SHA1(IF(n % 20 = 19, n - 19, n)) FROM n",
            "ALTER TABLE big SECONDARY_LOAD",
        ],
    );
}

/// A port that is free, as is the next one.
fn free_ports() -> u16 {
    loop {
        let first = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
        let port = first.local_addr().expect("port").port();
        if port < u16::MAX && std::net::TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
}

//! A cluster for a test: a coordinator in this process, and executors as processes of their own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly::{Database, Server, ServerOptions};
use mayfly_client::{Address, Client, Limits, Rows};
use mayfly_cluster::coordinator::{ClusterOptions, Coordinator};
use mayfly_cluster::data::DataPlace;
use mayfly_cluster::process::ProcessOptions;

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
    server: Server,
    _database: Database,
    pub(crate) coordinator: Coordinator,
    executors: Vec<(String, Child)>,
    given: Given,
    started: usize,
    // Deleted last.
    directory: tempfile::TempDir,
}

impl Cluster {
    /// A cluster of three executors.
    pub(crate) fn start() -> Self {
        Self::of(3, Given::default())
    }

    /// A cluster of `count` executors.
    pub(crate) fn of(count: usize, given: Given) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let coordinator = Coordinator::start(&options(directory.path())).expect("coordinator");
        let (database, server) = serve(&coordinator, directory.path());
        let mut cluster = Self {
            server,
            _database: database,
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

    /// The directory of data.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A connection of a client.
    pub(crate) fn client(&self) -> Client {
        connect(self.server.address().port())
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
pub(crate) fn options(directory: &Path) -> ClusterOptions {
    ClusterOptions {
        listen_executors: "127.0.0.1:0".parse().expect("address"),
        process: ProcessOptions {
            data: DataPlace::Directory(directory.join("data")),
            urls: Vec::new(),
            directory: directory.join("coordinator"),
            memory: Some(128 << 20),
            temp_space: Some(1 << 30),
            tls: None,
        },
        partitions: 3,
        patience: 30,
    }
}

/// A server for clients of a coordinator, with a database below `directory`.
pub(crate) fn serve(coordinator: &Coordinator, directory: &Path) -> (Database, Server) {
    let options = mayfly::Options::new().directory(directory.join("database"));
    let database = options.open().expect("database");
    let engine = Arc::clone(&coordinator.engine) as _;
    database.set_secondary_engine(Some(engine)).expect("engine");
    let any = ServerOptions::new().address([127, 0, 0, 1].into(), 0);
    let server = database.serve(any.password("")).expect("server");
    (database, server)
}

/// The program, of this build unless `MAYFLY_CLUSTER_PROGRAM` names another.
pub(crate) fn program() -> PathBuf {
    let given = std::env::var_os("MAYFLY_CLUSTER_PROGRAM");
    given.map_or_else(
        || env!("CARGO_BIN_EXE_mayfly-cluster").into(),
        PathBuf::from,
    )
}

/// The place of files that all processes of a cluster see.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Directory(PathBuf),
    /// A folder of the bucket of the store of objects that `MAYFLY_S3_ENDPOINT` names (`testing/stores/with`).
    Store(String),
}

impl Place {
    /// The URL of a folder in the bucket.
    pub(crate) fn url(folder: &str) -> String {
        format!("s3://{}/{folder}", variable("MAYFLY_S3_BUCKET"))
    }

    /// Gives a process the place, and the right to read all files of its store.
    fn give_to(&self, command: &mut Command) {
        match self {
            Self::Directory(directory) => {
                command.arg("--data").arg(directory);
            }
            Self::Store(folder) => {
                command.args(["--data", &Self::url(folder), "--urls", &Self::url("")]);
                command.env("AWS_ENDPOINT_URL", variable("MAYFLY_S3_ENDPOINT"));
                command.env("AWS_ALLOW_HTTP", "true");
            }
        }
    }
}

/// A variable of the environment that a test needs.
fn variable(name: &str) -> String {
    let given = std::env::var(name);
    given.unwrap_or_else(|_| panic!("testing/stores/with sets {name}: run cluster/test"))
}

/// A cluster all of whose parts are processes.
pub(crate) struct Processes {
    place: Place,
    coordinator: Child,
    port: u16,
    /// Where the coordinator listens for executors.
    heard_at: String,
    executors: Vec<Child>,
    started: usize,
    // Deleted last.
    directory: tempfile::TempDir,
}

impl Processes {
    /// Starts a coordinator and `count` executors, with a directory of their own for files.
    pub(crate) fn start(count: usize) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let place = Place::Directory(directory.path().join("data"));
        Self::start_in(directory, place, count)
    }

    /// Starts a coordinator and `count` executors whose files are in a store of objects.
    pub(crate) fn start_in_store(folder: &str, count: usize) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let new = Self::start_in(directory, Place::Store(folder.to_owned()), count);
        new.wait();
        new
    }

    fn start_in(directory: tempfile::TempDir, place: Place, count: usize) -> Self {
        let (coordinator, port, heard_at) =
            start_coordinator(directory.path(), &place, "127.0.0.1:0", count);
        let mut new = Self {
            place,
            coordinator,
            port,
            heard_at,
            executors: Vec::new(),
            started: 0,
            directory,
        };
        for _ in 0..count {
            let executor = new.new_executor(false);
            new.executors.push(executor);
        }
        new
    }

    /// The port for clients.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The coordinator's process.
    pub(crate) fn coordinator(&self) -> u32 {
        self.coordinator.id()
    }

    /// The process of an executor.
    pub(crate) fn executor(&self, executor: usize) -> u32 {
        self.executors[executor].id()
    }

    /// Starts an executor, whose disk may be of one mebibyte, and its memory of four.
    fn new_executor(&mut self, is_small: bool) -> Child {
        self.started += 1;
        let name = format!("executor-{}", self.started);
        let directory = self.directory.path().join(&name);
        std::fs::create_dir(&directory).expect("directory");
        let mut command = Command::new(program());
        if is_small && has_namespaces() {
            let mount = "mount -t tmpfs -o size=1m none \"$0\" && exec \"$@\"";
            command = Command::new("unshare");
            command
                .args(["-rm", "sh", "-c", mount])
                .arg(&directory)
                .arg(program());
        }
        command.args([
            "executor",
            "--tasks",
            "1",
            "--coordinator",
            &self.heard_at,
            "--name",
            &name,
        ]);
        if is_small {
            command.args(["--memory", "4194304", "--temp-space"]);
            command.arg(if has_namespaces() {
                "1073741824"
            } else {
                "1048576"
            });
        }
        self.place.give_to(&mut command);
        command.arg("--directory").arg(&directory);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        started.expect("executor")
    }

    fn end_executor(&mut self, executor: usize, next: Child) {
        let mut ended = std::mem::replace(&mut self.executors[executor], next);
        let _ = ended.kill();
        let _ = ended.wait();
    }

    /// Replaces an executor by one whose disk is full soon.
    pub(crate) fn fill_disk(&mut self, executor: usize) {
        let next = self.new_executor(true);
        self.end_executor(executor, next);
        self.wait();
    }

    /// Replaces an executor.
    pub(crate) fn replace(&mut self, executor: usize) {
        let next = self.new_executor(false);
        self.end_executor(executor, next);
        self.wait();
    }

    /// Starts the coordinator again, where the executors look for it.
    pub(crate) fn restart_coordinator(&mut self) {
        let _ = self.coordinator.wait();
        let (coordinator, port, _) = start_coordinator(
            self.directory.path(),
            &self.place,
            &self.heard_at,
            self.executors.len(),
        );
        (self.coordinator, self.port) = (coordinator, port);
        self.wait();
    }

    /// Waits until the executors that run, and no others, are heard.
    fn wait(&self) {
        let mut client = connect(self.port);
        let waited = Instant::now();
        // One that was killed is forgotten after some seconds.
        while rows(&mut client, "SHOW CLUSTER").expect("members").len() != self.executors.len() {
            assert!(
                waited.elapsed() < Duration::from_secs(30),
                "executors are missing"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in self.executors.iter_mut().chain([&mut self.coordinator]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Starts a coordinator that listens for executors at an address, with its database below `directory`. Returns the process,
/// its port for clients, and where executors reach it.
pub(crate) fn start_coordinator(
    directory: &Path,
    place: &Place,
    executors: &str,
    partitions: usize,
) -> (Child, u16, String) {
    let mut command = Command::new(program());
    command.args([
        "coordinator",
        "--port",
        "0",
        "--insecure",
        "--listen-executors",
        executors,
    ]);
    command.args([
        "--partitions",
        &partitions.to_string(),
        "--log-level",
        "error",
    ]);
    place.give_to(&mut command);
    command.arg("--datadir").arg(directory.join("database"));
    command
        .arg("--directory")
        .arg(directory.join("coordinator"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("coordinator");
    let lines = BufReader::new(child.stdout.take().expect("output")).lines();
    let mut said = lines.map_while(Result::ok);
    let address = said.find_map(|line| Some(line.strip_prefix("executors:")?.trim().to_owned()));
    let port = said.find_map(|line| Some(line.split_once(" port: ")?.1.to_owned()));
    let port = port.expect("a port").parse().expect("a port");
    (child, port, address.expect("an address"))
}

/// Whether this user may make file systems of its own.
fn has_namespaces() -> bool {
    let tried = Command::new("unshare").args(["-rm", "true"]).output();
    tried.is_ok_and(|ended| ended.status.success())
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

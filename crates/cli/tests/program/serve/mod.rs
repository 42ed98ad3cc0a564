//! `mayfly serve` as a process: start and end, the low cost of many idle connections, and complete cleanup after closed
//! ones.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mayfly_testkit::client::{Answer, Client};
use tempfile::TempDir;

/// Time after which idle connections are parked, and threads without work have ended.
const PARKED: Duration = Duration::from_millis(500);
const REAPED: Duration = Duration::from_secs(11);

/// `mayfly serve`, as long as this lives.
struct Served {
    process: Child,
    directory: TempDir,
}

impl Served {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_mayfly"))
            .args(["serve", "--ephemeral", "--insecure", "--port", "0"])
            .args(["--set", "max_connections=4000", "--socket", "socket"])
            .args(["--log-level", "error", "--pid-file", "pid"])
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = process.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert!(line.contains("ready for connections"), "{line}");
        Self { process, directory }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file)
    }

    /// A client that has run a statement.
    fn client(&self) -> Client {
        let mut client = Client::connect(&self.path("socket"), "root").unwrap();
        let answer = client.query("SELECT 1").unwrap();
        assert!(matches!(answer, Answer::Rows { rows, .. } if rows.len() == 1));
        client
    }

    /// Resident memory, in bytes.
    fn memory(&self) -> i64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS"))
            .unwrap();
        let kib: i64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib << 10
    }

    /// Number of its descriptors, or of its threads.
    fn count(&self, what: &str) -> usize {
        let path = format!("/proc/{}/{what}", self.process.id());
        fs::read_dir(path).unwrap().count()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Raises the limit of open files of this process to the number of clients.
fn raise_limit_of_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// The only value of the only row.
fn value(answer: Answer) -> String {
    let Answer::Rows { mut rows, .. } = answer else {
        panic!("no rows");
    };
    String::from_utf8(rows.remove(0).remove(0).unwrap()).unwrap()
}

#[test]
fn a_client_shuts_the_server_down() {
    let mut server = Served::start();
    let pid_file = server.path("pid");
    let written = fs::read_to_string(&pid_file).unwrap();
    assert_eq!(written.trim(), server.process.id().to_string());
    let mut client = server.client();
    let shown = value(client.query("SELECT @@pid_file").unwrap());
    assert_eq!(Some(shown.as_str()), pid_file.to_str());
    assert!(matches!(client.query("SHUTDOWN"), Ok(Answer::Done(0))));
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    assert!(!pid_file.exists());
}

/// Whoever may write in the directory of the file could have another file of the server's user replaced.
#[test]
fn the_number_of_the_process_is_not_written_through_a_link() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("other"), "other").unwrap();
    std::os::unix::fs::symlink("other", directory.path().join("pid")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["serve", "--ephemeral", "--insecure", "--port", "0"])
        .args(["--socket", "socket", "--pid-file", "pid"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("pid: "), "{said}");
    let other = fs::read_to_string(directory.path().join("other"));
    assert_eq!(other.unwrap(), "other");
}

#[test]
fn a_signal_opens_the_logs_anew() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let server = Served::start();
    let (log, old) = (server.path("slow.log"), server.path("slow.log.1"));
    let mut client = server.client();
    let mut run = |sql: &str| client.query(sql).unwrap();
    run(&format!(
        "SET GLOBAL slow_query_log_file = '{}'",
        log.display()
    ));
    run("SET GLOBAL slow_query_log = 1, long_query_time = 0");
    run("SET SESSION long_query_time = 0");
    fs::rename(&log, &old).unwrap();
    let process = rustix::process::Pid::from_raw(server.process.id() as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    let begun = std::time::Instant::now();
    while !log.exists() {
        assert!(begun.elapsed() < PATIENCE, "no new file");
        std::thread::sleep(Duration::from_millis(5));
    }
    run("SELECT 'after'");
    assert!(
        fs::read_to_string(&log)
            .unwrap()
            .contains("SELECT 'after';")
    );
    assert!(
        !fs::read_to_string(&old)
            .unwrap()
            .contains("SELECT 'after';")
    );
}

#[test]
fn idle_connections_are_cheap() {
    const CLIENTS: usize = 2000;
    raise_limit_of_files();
    let server = Served::start();
    drop((0..10).map(|_| server.client()).collect::<Vec<_>>());
    std::thread::sleep(PARKED);
    let before = server.memory();
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.client()).collect();
    std::thread::sleep(REAPED);
    let grown = server.memory() - before;
    assert!(grown < 32 << 20, "{CLIENTS} connections took {grown} bytes");
    assert!(
        server.count("task") < 20,
        "idle connections have no threads"
    );
    // They are still served.
    for client in &mut clients {
        client.query("SELECT 1").unwrap();
    }
}

#[test]
fn connections_leave_nothing_behind() {
    const CYCLES: usize = 5000;
    let server = Served::start();
    let cycles = || (0..CYCLES).for_each(|_| drop(server.client()));
    cycles();
    std::thread::sleep(PARKED);
    let (memory, files) = (server.memory(), server.count("fd"));
    cycles();
    std::thread::sleep(PARKED);
    assert_eq!(server.count("fd"), files);
    let grown = server.memory() - memory;
    assert!(grown < 2 << 20, "{CYCLES} connections left {grown} bytes");
}

//! Files that the program writes are private, whatever the umask: data, logs, files of statements, copies, keys,
//! certificates. Existing files with other modes are corrected, with a warning.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs::{Permissions, metadata, set_permissions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mayfly_testkit::client::Client;

/// A command under a umask that removes no permissions.
fn mayfly(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_mayfly"))
        .args(arguments)
        .current_dir(directory);
    command
}

/// Runs it to its end; returns its messages.
fn run(directory: &Path, arguments: &[&str]) -> String {
    let output = mayfly(directory, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

/// A directory and everything below it.
fn all(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(all(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

fn mode(path: &Path) -> u32 {
    metadata(path).unwrap().permissions().mode() & 0o777
}

/// Files that others may do more with than the group may read.
fn open_to_others(path: &Path) -> Vec<String> {
    let open = all(path).into_iter().filter(|path| mode(path) & 0o027 != 0);
    open.map(|path| format!("{} {:o}", path.display(), mode(&path)))
        .collect()
}

struct Served(Child);

impl Served {
    fn start(directory: &Path) -> Self {
        let mut command = mayfly(
            directory,
            &[
                "serve",
                "--datadir",
                "data",
                "--insecure",
                "--port",
                "0",
                "--socket",
                "socket",
                "--pid-file",
                "data/pid",
            ],
        );
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = process.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert!(line.contains("ready for connections"), "{line}");
        Self(process)
    }

    /// Ends it; returns its messages.
    fn stop(mut self) -> String {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        let mut said = String::new();
        let mut errors = self.0.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        said
    }
}

#[test]
fn everything_that_is_written_is_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let data = path.join("data");
    let served = Served::start(path);
    let mut client = Client::connect(&path.join("socket"), "root").unwrap();
    let files = path.display();
    for statement in [
        "CREATE TABLE t (i INT) SELECT 1 AS i".to_owned(),
        format!("SELECT * FROM t INTO OUTFILE '{files}/data-rows'"),
        format!("SELECT * FROM t INTO DUMPFILE '{files}/data-dump'"),
        "SET GLOBAL slow_query_log = ON, general_log = ON, long_query_time = 0".to_owned(),
        "SET PERSIST max_connections = 100".to_owned(),
        "CREATE USER ann@'%' IDENTIFIED BY 'sesame'".to_owned(),
        "SELECT 2".to_owned(),
    ] {
        let sql = statement
            .replace("FROM t", "FROM test.t")
            .replace("TABLE t", "TABLE test.t");
        client.query(&sql).unwrap();
    }
    drop(client);
    let said = served.stop();
    assert!(!said.contains("others could read"), "{said}");
    run(path, &["backup", "copy", "--datadir", "data"]);
    assert_eq!(open_to_others(&data), Vec::<String>::new());
    assert_eq!(open_to_others(&path.join("copy")), Vec::<String>::new());
    for written in ["data-rows", "data-dump"] {
        assert_eq!(mode(&path.join(written)) & 0o027, 0, "{written}");
    }
    // A user who may open the file could hold its lock.
    assert_eq!(mode(&data.join("mayfly.lock")), 0o600);

    // State left by an older version, with a log outside.
    for path in all(&data) {
        let is_directory = path.is_dir();
        set_permissions(
            &path,
            Permissions::from_mode(if is_directory { 0o777 } else { 0o666 }),
        )
        .unwrap();
    }
    let log = path.join("outside.log");
    std::fs::write(&log, "").unwrap();
    set_permissions(&log, Permissions::from_mode(0o644)).unwrap();
    let served = Served::start(path);
    let mut client = Client::connect(&path.join("socket"), "root").unwrap();
    let set =
        format!("SET GLOBAL slow_query_log_file = '{files}/outside.log', slow_query_log = ON");
    client.query(&set).unwrap();
    drop(client);
    let said = served.stop();
    assert!(
        said.contains("others could read or write in the data directory"),
        "{said}"
    );
    assert!(said.contains("outside.log until now"), "{said}");
    assert_eq!(open_to_others(&data), Vec::<String>::new());
    assert_eq!(mode(&log), 0o640);

    // A directory that was made for a copy is made private.
    let copy = path.join("copy-2");
    std::fs::create_dir(&copy).unwrap();
    set_permissions(&copy, Permissions::from_mode(0o777)).unwrap();
    run(path, &["backup", "copy-2", "--datadir", "data"]);
    assert_eq!(open_to_others(&copy), Vec::<String>::new());
}

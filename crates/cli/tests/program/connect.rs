//! `mayfly advise --connect` and a server: conditions under which a password is sent.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use mayfly_testkit::client::Client;

pub(super) struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server, and its port.
pub(super) fn serve(directory: &Path) -> (Served, String) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["serve", "--datadir", "data", "--insecure", "--port", "0"])
        .args(["--socket", "socket", "--log-level", "error"])
        .current_dir(directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = process.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    let port = line.split("port: ").nth(1).unwrap();
    let port = port.split_whitespace().next().unwrap().to_owned();
    (Served(process), port)
}

fn advise(directory: &Path, port: &str, host: &str, more: &[&str]) -> (bool, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["advise", "--connect", &format!("mysql://ann@{host}:{port}")])
        .args(more)
        .env("MYSQL_PWD", "sesame")
        .current_dir(directory)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

#[test]
fn a_server_is_told_a_password_when_it_is_trusted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (_served, port) = serve(path);
    let mut root = Client::connect(&path.join("socket"), "root").unwrap();
    for sql in [
        "CREATE USER ann@'%' IDENTIFIED WITH caching_sha2_password BY 'sesame'",
        "GRANT SELECT ON *.* TO ann@'%'",
        "CREATE TABLE test.t (i INT)",
        "SELECT COUNT(DISTINCT i) FROM test.t",
    ] {
        root.query(sql).unwrap();
    }
    // The server has not cached the password, and its identity is not proved.
    let (done, said) = advise(path, &port, "127.0.0.1", &[]);
    assert!(!done && said.contains("--ssl-ca"), "{said}");
    // Its self-signed certificate is of no authority that the system knows.
    let (done, said) = advise(path, &port, "localhost", &["--ssl-mode", "verify_identity"]);
    assert!(!done && said.contains("TLS: "), "{said}");
    let certificate = ["--ssl-ca", "data/server-cert.pem"];
    for host in ["localhost", "127.0.0.1"] {
        let (done, said) = advise(path, &port, host, &certificate);
        assert!(done, "{host}: {said}");
    }
    for wrong in [
        &["--ssl-ca", "data/no-such-file"][..],
        &["--ssl-ca", "data/redo.log"],
        &["--server-public-key-path", "data/redo.log"],
        &["--ssl-mode", "PREFERRED"],
    ] {
        let (done, said) = advise(path, &port, "127.0.0.1", wrong);
        assert!(!done && !said.contains("panicked"), "{wrong:?}: {said}");
    }
}

//! `mayfly serve` as a process: how it begins and ends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn serve(pid_file: &Path) -> (Child, u16) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["serve", "--ephemeral", "--insecure", "--port", "0"])
        .args(["--log-level", "error", "--pid-file"])
        .arg(pid_file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let (_, port) = line.split_once("port: ").unwrap();
    (child, port.trim().parse().unwrap())
}

/// The next payload that the server sends.
fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).unwrap();
    payload
}

fn send(stream: &mut TcpStream, sequence: u8, payload: &[u8]) {
    let mut packet = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
    packet[3] = sequence;
    packet.extend_from_slice(payload);
    stream.write_all(&packet).unwrap();
}

/// Logs in as root, who has no password.
fn log_in(port: u16) -> TcpStream {
    const PROTOCOL_41: u32 = 1 << 9;
    const SECURE_CONNECTION: u32 = 1 << 15;
    const PLUGIN_AUTH: u32 = 1 << 19;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    read(&mut stream);
    let capabilities = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH;
    let mut response = capabilities.to_le_bytes().to_vec();
    response.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    response.push(45);
    response.extend_from_slice(&[0; 23]);
    response.extend_from_slice(b"root\0\0caching_sha2_password\0");
    send(&mut stream, 1, &response);
    assert_eq!(read(&mut stream)[0], 0);
    stream
}

#[test]
fn a_client_shuts_the_server_down() {
    let directory = tempfile::tempdir().unwrap();
    let pid_file = directory.path().join("pid");
    let (mut child, port) = serve(&pid_file);
    let written = std::fs::read_to_string(&pid_file).unwrap();
    assert_eq!(written.trim(), child.id().to_string());
    let mut stream = log_in(port);
    send(&mut stream, 0, b"\x03SELECT @@pid_file");
    let mut answer = Vec::new();
    while answer.iter().filter(|it: &&Vec<u8>| it[0] == 0xFE).count() < 2 {
        answer.push(read(&mut stream));
    }
    let shown = pid_file.to_string_lossy();
    assert!(answer.iter().any(|it| it[1..] == *shown.as_bytes()));
    send(&mut stream, 0, b"\x03SHUTDOWN");
    assert_eq!(read(&mut stream)[0], 0);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!pid_file.exists());
}

//! Unauthenticated clients: their cost, their greatest time, and the information that they get.

use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::server::raw::{Host, Raw};

const COM_CHANGE_USER: u8 = 0x11;
const ER_ACCESS_DENIED_ERROR: u16 = 1045;
const ER_CON_COUNT_ERROR: u16 = 1040;
/// AuthSwitchRequest
const SWITCH: u8 = 0xFE;

/// Raises the limit of open files: both ends of each connection are in this process.
fn open_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("the limit may be raised");
}

/// The response to the greeting with a proof.
fn response(user: &str, proof: &[u8]) -> Vec<u8> {
    Raw::response_with(user, proof, "caching_sha2_password")
}

#[test]
fn half_open_logins_leave_the_server_answering_others() {
    open_many_files();
    let host = Host::with(&[("max_connections", "20")]);
    let mut root = host.root();
    let mut silent: Vec<Raw> = Vec::new();
    for number in 0..1_000 {
        let mut client = host.greeted();
        if number % 2 == 0 {
            // A client that begins a packet, and stops.
            client.send(b"\x20\0\0\x01abc");
        }
        silent.push(client);
        if number % 100 == 0 {
            assert!(host.root().works());
        }
    }
    assert!(root.works());
    assert!(host.root().works());
    // There are never more: the oldest must be closed.
    for _ in 0..100 {
        silent.push(host.greeted());
    }
    assert_eq!(silent[0].read(), None);
    assert!(host.root().works());
    // Authenticated clients are still counted.
    let users: Vec<Raw> = (0..20).map(|_| host.root()).collect();
    assert_eq!(host.connect().errno(), Some(ER_CON_COUNT_ERROR));
    drop((users, silent));
    host.wait_for_connections(1);
}

#[test]
fn a_login_ends_in_time_however_busy_its_client_is() {
    let host = Host::with(&[("connect_timeout", "2")]);
    let mut client = host.greeted();
    let begun = Instant::now();
    // A complete answer would need this many bytes; each one is a sign of life.
    client.send(b"\xff\0\0\x01");
    client
        .stream
        .set_read_timeout(Some(Duration::from_millis(100)))
        .expect("a socket");
    for _ in 0..200 {
        client.send(b"x");
        let mut byte = [0];
        match std::io::Read::read(&mut client.stream, &mut byte) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            _ => break,
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
    host.wait_for_connections(0);
}

#[test]
fn a_login_comes_in_few_pieces() {
    let host = Host::start();
    let mut client = host.greeted();
    client.send(b"\x60\xea\0\x01");
    let refused = (0..400).position(|_| {
        // Each byte is read before the next one comes.
        std::thread::sleep(Duration::from_millis(4));
        std::io::Write::write(&mut client.stream, b"x").is_err()
    });
    assert!(refused.is_some(), "400 pieces of a login were read");
    host.wait_for_connections(0);
    assert!(host.root().works());
}

#[test]
fn a_refused_client_that_leaves_is_gone() {
    let host = Host::start();
    // Failures delay the answers to later logins.
    let begun = Instant::now();
    for _ in 0..10 {
        let mut client = host.greeted();
        client.packet(&response("nobody", &[7; 32]));
        assert_eq!(client.read().expect("a question")[0], 1);
        client.packet(b"wrong\0");
        drop(client);
    }
    host.wait_for_connections(0);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_change_of_user_begins_with_another_scramble() {
    let host = Host::start();
    let mut root = host.root();
    root.query("CREATE USER ann@localhost IDENTIFIED WITH mysql_native_password");
    // The account's plugin is not the one of the greeting: the client gets another scramble.
    let mut ann = host.connect();
    let greeting = ann.read().expect("a greeting");
    ann.packet(&Raw::response("ann"));
    let switch = ann.read().expect("a question");
    assert_eq!(switch[0], SWITCH);
    ann.packet(b"");
    assert_eq!(ann.errno(), Some(0));
    // The client may remember either of the two.
    let mut seen = vec![switch[switch.len() - 21..].to_vec()];
    for user in [&b"ann"[..], b"root", b"ann"] {
        let content = [user, b"\0\0\0\xff\0mysql_native_password\0"].concat();
        ann.command(COM_CHANGE_USER, &content);
        let question = ann.read().expect("a question");
        assert_eq!(question[0], SWITCH);
        let scramble = question[question.len() - 21..].to_vec();
        assert!(!seen.contains(&scramble));
        assert!(!greeting.windows(8).any(|bytes| *bytes == scramble[..8]));
        seen.push(scramble);
        ann.packet(b"");
        assert_eq!(ann.errno(), Some(0));
        assert!(ann.works());
    }
}

#[test]
fn names_are_not_told() {
    let host = Host::start();
    let mut root = host.root();
    root.query("CREATE USER open@localhost, shut@localhost IDENTIFIED BY 'x'");
    let mut answers = Vec::new();
    for user in ["open", "shut", "nobody", "somebody"] {
        // A successful login ends the growing delays of failed ones.
        drop(host.root());
        let mut client = host.greeted();
        client.packet(&response(user, &[7; 32]));
        let question = client.read().expect("a question");
        client.packet(&[2]);
        let key = client.read().expect("a key");
        client.packet(&[7; 256]);
        answers.push((question, key, client.errno()));
    }
    assert_eq!(answers[0].2, Some(ER_ACCESS_DENIED_ERROR));
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

//! The life of connections: limits, timeouts, kills, shutdown, and complete cleanup.

use std::time::Duration;

use crate::server::raw::{Host, Raw, errno};

const COM_PING: u8 = 14;
const COM_RESET_CONNECTION: u8 = 0x1F;

const ER_CON_COUNT_ERROR: u16 = 1040;
const ER_SERVER_SHUTDOWN: u16 = 1053;
const ER_NO_SUCH_TABLE: u16 = 1146;
const ER_QUERY_INTERRUPTED: u16 = 1317;
const ER_CLIENT_INTERACTION_TIMEOUT: u16 = 4031;

/// Time after which an idle connection is parked.
const PAUSE: Duration = Duration::from_millis(300);

#[test]
fn a_parked_connection_wakes_up() {
    let host = Host::start();
    let mut clients: Vec<Raw> = (0..20).map(|_| host.root()).collect();
    for round in 0..2 {
        for client in &mut clients {
            client.query(&format!("SET @round = {round}"));
        }
        std::thread::sleep(PAUSE);
        for client in &mut clients {
            let answer = client.query("SELECT @round");
            let expected = format!("\u{1}{round}");
            assert!(answer.iter().any(|it| it == expected.as_bytes()));
        }
    }
}

#[test]
fn connections_are_limited() {
    let host = Host::with(&[("max_connections", "2")]);
    let mut root = host.root();
    root.query("CREATE USER ann@localhost");
    let first = host.log_in("ann");
    // Beyond the limit there is one more connection, for an administrator.
    let mut third = host.greeted();
    third.packet(&Raw::response("ann"));
    assert_eq!(third.errno(), Some(ER_CON_COUNT_ERROR));
    assert_eq!(third.read(), None);
    host.wait_for_connections(2);
    let mut admin = host.root();
    assert!(admin.works());
    let mut fourth = host.connect();
    assert_eq!(fourth.errno(), Some(ER_CON_COUNT_ERROR));
    drop(first);
    host.wait_for_connections(2);
    assert!(root.works());
}

#[test]
fn idle_clients_are_sent_away() {
    let host = Host::with(&[("wait_timeout", "1")]);
    let mut client = host.root();
    assert_eq!(client.errno(), Some(ER_CLIENT_INTERACTION_TIMEOUT));
    assert_eq!(client.read(), None);
    host.wait_for_connections(0);
}

#[test]
fn clients_that_never_log_in_are_sent_away() {
    let host = Host::with(&[("connect_timeout", "2")]);
    let mut silent = host.greeted();
    let mut slow = host.greeted();
    slow.send(b"\x20\0\0\x01abc");
    while silent.read().is_some() {}
    while slow.read().is_some() {}
    host.wait_for_connections(0);
}

#[test]
fn a_kill_ends_a_statement_or_the_connection() {
    let host = Host::start();
    let mut killer = host.root();
    let id = |client: &mut Raw| {
        let answer = client.query("SELECT CONNECTION_ID()");
        String::from_utf8_lossy(&answer[3][1..]).into_owned()
    };
    let mut client = host.root();
    let number = id(&mut client);
    client.command(3, b"SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c");
    std::thread::sleep(PAUSE);
    killer.query(&format!("KILL QUERY {number}"));
    let mut last = None;
    while let Some(errno) = client.errno() {
        last = Some(errno);
        if errno != 0 {
            break;
        }
    }
    assert_eq!(last, Some(ER_QUERY_INTERRUPTED));
    assert!(client.works(), "only the statement was killed");
    // Both parked and busy connections.
    std::thread::sleep(PAUSE);
    killer.query(&format!("KILL {number}"));
    while client.read().is_some() {}
    host.wait_for_connections(1);
}

#[test]
fn a_reset_forgets_what_the_session_had() {
    let host = Host::start();
    let mut client = host.root();
    client.query("CREATE TEMPORARY TABLE test.t (i INT)");
    client.query("SET @a = 1, sql_mode = ''");
    client.command(COM_RESET_CONNECTION, b"");
    assert_eq!(client.errno(), Some(0));
    let gone = client.query("SELECT * FROM test.t");
    assert_eq!(errno(&gone), ER_NO_SUCH_TABLE);
    let answer = client.query("SELECT @a IS NULL AND @@sql_mode <> ''");
    assert!(answer.iter().any(|it| it == b"\x011"));
}

#[test]
fn a_shutdown_lets_statements_end() {
    let mut host = Host::start();
    let mut idle = host.root();
    std::thread::sleep(PAUSE);
    let mut busy = host.root();
    busy.command(3, b"SELECT SLEEP(1)");
    std::thread::sleep(PAUSE);
    assert!(host.server.stop(Duration::from_secs(30)));
    assert_eq!(idle.errno(), Some(ER_SERVER_SHUTDOWN));
    assert_eq!(idle.read(), None);
    let mut payloads = Vec::new();
    while let Some(payload) = busy.read() {
        payloads.push(payload);
    }
    assert!(payloads.iter().any(|it| it == b"\x010"), "{payloads:?}");
}

#[test]
fn a_shutdown_kills_what_does_not_end() {
    let mut host = Host::start();
    let mut busy = host.root();
    busy.command(3, b"SELECT SLEEP(1000)");
    std::thread::sleep(PAUSE);
    assert!(host.server.stop(Duration::from_millis(200)));
    while busy.read().is_some() {}
}

#[test]
fn many_clients_leave_nothing() {
    let host = Host::start();
    for _ in 0..20 {
        let mut clients: Vec<Raw> = (0..20).map(|_| host.root()).collect();
        for client in &mut clients {
            client.query("CREATE TEMPORARY TABLE test.t (i INT PRIMARY KEY, s TEXT)");
            client.query("INSERT INTO test.t VALUES (1, REPEAT('x', 100000))");
            client.command(COM_PING, b"");
            assert_eq!(client.errno(), Some(0));
        }
    }
    host.wait_for_connections(0);
    assert_eq!(host.database.memory_used(), 0);
    assert_eq!(host.database.temporary_table_count(), 0);
}

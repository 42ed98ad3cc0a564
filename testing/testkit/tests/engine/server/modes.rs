//! Servers that admit only some clients: in offline mode, and without some compressions.

use std::time::Duration;

use crate::server::raw::{Host, Raw, errno};

const ER_SERVER_OFFLINE_MODE: u16 = 3032;
const ER_QUERY_INTERRUPTED: u16 = 1317;

#[test]
fn an_offline_server_is_for_administrators() {
    let host = Host::start();
    let mut root = host.root();
    for statement in [
        "CREATE USER ann@localhost, admin@localhost",
        "GRANT CONNECTION_ADMIN ON *.* TO admin@localhost",
        "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO ann@localhost",
    ] {
        assert_eq!(errno(&root.query(statement)), 0, "{statement}");
    }
    let [mut idle, mut parked, mut busy] = [(); 3].map(|()| host.log_in("ann"));
    let mut admin = host.log_in("admin");
    assert_eq!(errno(&idle.query("SET GLOBAL offline_mode = ON")), 1227);
    // Long enough to be parked.
    std::thread::sleep(Duration::from_millis(300));
    assert!(idle.works());
    busy.command(3, b"SELECT SLEEP(60)");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(errno(&root.query("SET GLOBAL offline_mode = ON")), 0);
    for client in [&mut idle, &mut parked] {
        assert_eq!(client.errno(), Some(ER_SERVER_OFFLINE_MODE));
        assert_eq!(client.read(), None);
    }
    let mut seen = Vec::new();
    while let Some(errno) = busy.errno() {
        seen.push(errno);
    }
    assert!(
        !seen.contains(&0) || seen.contains(&ER_QUERY_INTERRUPTED),
        "{seen:?}"
    );
    host.wait_for_connections(2);
    let mut late = host.greeted();
    late.packet(&Raw::response("ann"));
    assert_eq!(late.errno(), Some(ER_SERVER_OFFLINE_MODE));
    assert!(admin.works() && root.works());
    assert!(host.log_in("admin").works());
    assert_eq!(errno(&root.query("SET GLOBAL offline_mode = OFF")), 0);
    assert!(host.log_in("ann").works());
}

#[test]
fn compressions_are_offered_that_are_allowed() {
    const COMPRESS: u32 = 1 << 5;
    const ZSTD: u32 = 1 << 26;
    for (allowed, expected) in [
        ("zlib,zstd,uncompressed", COMPRESS | ZSTD),
        ("zlib,uncompressed", COMPRESS),
        ("uncompressed", 0),
    ] {
        let host = Host::with(&[("protocol_compression_algorithms", allowed)]);
        let greeting = host.connect().read().expect("a greeting");
        // Behind the version: the connection id, eight bytes of the scramble, and a zero.
        let version = greeting.iter().position(|byte| *byte == 0);
        let at = version.expect("a version") + 14;
        let low = u16::from_le_bytes([greeting[at], greeting[at + 1]]);
        let high = u16::from_le_bytes([greeting[at + 5], greeting[at + 6]]);
        let capabilities = u32::from(high) << 16 | u32::from(low);
        assert_eq!(capabilities & (COMPRESS | ZSTD), expected, "{allowed}");
    }
}

#[test]
fn init_connect_is_for_ordinary_accounts_and_its_error_answers_their_first_command() {
    const ER_NEW_ABORTING_CONNECTION: u16 = 1184;
    let host = Host::start();
    let mut root = host.root();
    for statement in [
        "CREATE USER ann@localhost, admin@localhost",
        "GRANT CONNECTION_ADMIN ON *.* TO admin@localhost",
        "SET GLOBAL init_connect = 'SET @began = 1; nonsense'",
    ] {
        assert_eq!(errno(&root.query(statement)), 0, "{statement}");
    }
    assert!(host.root().works());
    assert!(host.log_in("admin").works());
    let mut refused = host.log_in("ann");
    refused.command(3, b"SELECT 1");
    assert_eq!(refused.errno(), Some(ER_NEW_ABORTING_CONNECTION));
    assert_eq!(refused.read(), None);
    assert_eq!(errno(&root.query("SET GLOBAL init_connect = ''")), 0);
    assert!(host.log_in("ann").works());
}

#[test]
fn a_statement_ends_whose_client_has_gone() {
    let host = Host::start();
    let mut root = host.root();
    let mut client = host.root();
    client.command(3, b"SELECT SLEEP(600)");
    std::thread::sleep(Duration::from_millis(300));
    drop(client);
    host.wait_for_connections(1);
    assert!(root.works());
}

//! Packets that are truncated, too long, out of order, repeated or random end only their own connection.

use std::io::Write;
use std::net::Shutdown;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::server::raw::{Host, Raw, errno};

const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_RESET: u8 = 0x1A;
const COM_STMT_FETCH: u8 = 0x1C;

const ER_HANDSHAKE_ERROR: u16 = 1043;
const ER_ACCESS_DENIED_ERROR: u16 = 1045;
const ER_UNKNOWN_COM_ERROR: u16 = 1047;
const ER_PARSE_ERROR: u16 = 1064;
const ER_EMPTY_QUERY: u16 = 1065;
const ER_UNKNOWN_ERROR: u16 = 1105;
const ER_NET_PACKET_TOO_LARGE: u16 = 1153;
const ER_NET_PACKETS_OUT_OF_ORDER: u16 = 1156;
const ER_UNKNOWN_STMT_HANDLER: u16 = 1243;
const ER_MALFORMED_PACKET: u16 = 1835;

/// Whatever a test did, other clients are served afterwards.
fn serves_others(host: &Host) {
    assert!(host.root().works());
}

#[test]
fn a_greeting_that_is_cut_off_ends_the_connection() {
    let host = Host::start();
    let whole = Raw::response("root");
    for length in [0, 1, 3, 20, 31, 33] {
        let mut client = host.greeted();
        client.packet(&whole[..length]);
        let answer = client.errno();
        assert_eq!(answer, Some(ER_HANDSHAKE_ERROR), "{length} bytes");
        assert_eq!(client.read(), None);
    }
    serves_others(&host);
}

#[test]
fn a_packet_that_is_cut_off_ends_the_connection() {
    let host = Host::start();
    for bytes in [&b"\x05"[..], b"\x05\0\0", b"\x05\0\0\0\x03SE"] {
        let mut client = host.root();
        client.send(bytes);
        client.stream.shutdown(Shutdown::Write).expect("a socket");
        assert_eq!(client.read(), None);
    }
    host.wait_for_connections(0);
    serves_others(&host);
}

#[test]
fn packets_out_of_order_end_the_connection() {
    let host = Host::start();
    let mut client = host.root();
    client.send(b"\x09\0\0\x05\x03SELECT 1");
    assert_eq!(client.errno(), Some(ER_NET_PACKETS_OUT_OF_ORDER));
    assert_eq!(client.read(), None);
    // In the handshake too.
    let mut client = host.greeted();
    client.sequence = 7;
    client.packet(&Raw::response("root"));
    assert_eq!(client.errno(), Some(ER_NET_PACKETS_OUT_OF_ORDER));
    assert_eq!(client.read(), None);
    serves_others(&host);
}

#[test]
fn a_packet_that_is_too_long_is_refused_before_it_is_kept() {
    let host = Host::with(&[("max_allowed_packet", "1048576")]);
    let mut client = host.root();
    let mut sent = vec![COM_QUERY];
    sent.resize(2 << 20, b' ');
    client.command(COM_QUERY, &sent);
    assert_eq!(client.errno(), Some(ER_NET_PACKET_TOO_LARGE));
    assert_eq!(client.read(), None);
    // One that only claims to be too long.
    let mut client = host.root();
    client.send(b"\xff\xff\xff\0");
    client.stream.shutdown(Shutdown::Write).expect("a socket");
    assert_eq!(client.errno(), Some(ER_NET_PACKET_TOO_LARGE));
    assert_eq!(client.read(), None);
    serves_others(&host);
}

#[test]
fn a_client_that_has_not_logged_in_sends_little() {
    let host = Host::start();
    let mut client = host.greeted();
    client.send(b"\xff\xff\xff\x01");
    client.stream.shutdown(Shutdown::Write).expect("a socket");
    assert_eq!(client.errno(), Some(ER_NET_PACKET_TOO_LARGE));
    assert_eq!(client.read(), None);
}

#[test]
fn a_replayed_login_is_no_command() {
    let host = Host::start();
    let mut client = host.root();
    // Sent again, it is a command with an unknown number.
    client.sequence = 0;
    client.packet(&Raw::response("root"));
    let answer = client.errno();
    assert!(matches!(answer, Some(1..)), "{answer:?}");
    assert!(client.works(), "the login before holds");
}

#[test]
fn nobody_comes_in_by_another_plugin() {
    let host = Host::start();
    let mut root = host.root();
    root.query("CREATE USER ann@localhost IDENTIFIED WITH caching_sha2_password BY 'right'");
    root.query("CREATE USER bob@localhost IDENTIFIED WITH mysql_native_password BY 'right'");
    for user in ["ann", "bob", "nobody", ""] {
        for plugin in [
            "caching_sha2_password",
            "mysql_native_password",
            "mysql_clear_password",
            "sha256_password",
            "",
        ] {
            for proof in [&b""[..], b"\0", b"right\0", &[7; 20], &[7; 32]] {
                // A successful login ends the growing delays of failed ones.
                drop(host.root());
                let mut client = host.greeted();
                client.packet(&Raw::response_with(user, proof, plugin));
                // Every request gets the same answer.
                while let Some(answer) = client.read() {
                    match answer.first() {
                        Some(0xFF) => {
                            let errno = u16::from_le_bytes([answer[1], answer[2]]);
                            assert_eq!(errno, ER_ACCESS_DENIED_ERROR, "{user} {plugin}");
                        }
                        Some(0) => panic!("{user} came in by {plugin} with {proof:?}"),
                        _ => client.packet(proof),
                    }
                }
            }
        }
    }
}

#[test]
fn commands_that_say_nothing_are_errors_and_the_connection_goes_on() {
    let host = Host::start();
    let mut client = host.root();
    // Statements with an unknown id.
    let execute = b"\x07\0\0\0\0\x01\0\0\0";
    let fetch = b"\x07\0\0\0\x01\0\0\0";
    for (code, content, errno) in [
        (COM_STMT_EXECUTE, &b""[..], ER_MALFORMED_PACKET),
        (COM_STMT_EXECUTE, execute, ER_UNKNOWN_STMT_HANDLER),
        (COM_STMT_FETCH, b"\x07\0\0\0", ER_MALFORMED_PACKET),
        (COM_STMT_FETCH, fetch, ER_UNKNOWN_STMT_HANDLER),
        (0xEE, b"", ER_UNKNOWN_COM_ERROR),
        (0x12, b"binlog", ER_UNKNOWN_COM_ERROR),
    ] {
        client.command(code, content);
        assert_eq!(client.errno(), Some(errno), "{code:#x} {content:?}");
        assert!(client.works());
    }
}

#[test]
fn values_that_are_cut_off_are_malformed() {
    let host = Host::start();
    let mut client = host.root();
    client.command(COM_STMT_PREPARE, b"SELECT ?, ?");
    let prepared = client.read().expect("an answer");
    // Two parameters and two columns, each with an end.
    for _ in 0..6 {
        client.read().expect("a description");
    }
    let mut run = prepared[1..5].to_vec();
    run.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1, 8, 0, 253, 0]);
    run.extend_from_slice(&7_u64.to_le_bytes());
    run.extend_from_slice(b"\x03abc");
    for length in 4..run.len() {
        client.command(COM_STMT_EXECUTE, &run[..length]);
        assert_eq!(client.errno(), Some(ER_MALFORMED_PACKET), "{length} bytes");
    }
    client.command(COM_STMT_EXECUTE, &run);
    assert_eq!(client.errno(), Some(0));
}

#[test]
fn a_value_in_pieces_that_is_too_long_runs_nothing() {
    let host = Host::start();
    host.root().query("SET GLOBAL max_allowed_packet = 65536");
    let mut client = host.root();
    client.query("CREATE DATABASE pieces");
    client.query("CREATE TABLE pieces.t (v LONGBLOB)");
    client.command(COM_STMT_PREPARE, b"INSERT INTO pieces.t VALUES (?)");
    let prepared = client.read().expect("an answer");
    // One parameter, with an end.
    for _ in 0..2 {
        client.read().expect("a description");
    }
    let id = &prepared[1..5];
    let piece = [id, &[0, 0], &[b'x'; 30_000]].concat();
    let run = [id, &[0, 1, 0, 0, 0, 0, 1, 0xFC, 0]].concat();
    for _ in 0..2 {
        for _ in 0..3 {
            client.command(COM_STMT_SEND_LONG_DATA, &piece);
        }
        client.command(COM_STMT_EXECUTE, &run);
        assert_eq!(client.errno(), Some(ER_UNKNOWN_ERROR));
    }
    client.command(COM_STMT_RESET, id);
    assert_eq!(client.errno(), Some(0));
    for _ in 0..2 {
        client.command(COM_STMT_SEND_LONG_DATA, &piece);
    }
    client.command(COM_STMT_EXECUTE, &run);
    assert_eq!(client.errno(), Some(0));
    let lengths = client.query("SELECT GROUP_CONCAT(LENGTH(v)) FROM pieces.t");
    assert!(lengths.iter().any(|payload| payload == b"\x0560000"));
}

#[test]
fn random_bytes_end_at_most_their_connection() {
    let host = Host::start();
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let is_logged_in = any::<bool>();
    let ran = runner.run(&(is_logged_in, bytes), |(is_logged_in, bytes)| {
        let mut client = if is_logged_in {
            host.root()
        } else {
            host.connect()
        };
        client.send(&bytes);
        let _ = client.stream.flush();
        let _ = client.stream.shutdown(Shutdown::Write);
        while client.read().is_some() {}
        Ok(())
    });
    ran.expect("nothing fails");
    // Random commands, each in a packet of its own.
    let payload = prop::collection::vec(any::<u8>(), 1..60);
    let ran = runner.run(&payload, |payload| {
        let mut client = host.root();
        client.sequence = 0;
        client.packet(&payload);
        let _ = client.stream.shutdown(Shutdown::Write);
        while client.read().is_some() {}
        Ok(())
    });
    ran.expect("nothing fails");
    host.wait_for_connections(0);
    serves_others(&host);
}

/// Programs in C such as mysqlslap send the NUL of their string, too. MySQL's reader takes one NUL at the end of a text
/// for the end.
#[test]
fn one_nul_ends_a_text() {
    let host = Host::start();
    let mut root = host.root();
    for (text, expected) in [
        ("SELECT 1\0", 0),
        ("CREATE TABLE test.t (a INT)\0", 0),
        ("SELECT '\0'", 0),
        ("SELECT 1\0\0", ER_PARSE_ERROR),
        ("SELECT\0 1", ER_PARSE_ERROR),
        ("SELECT 1;\0", 0),
        ("\0", ER_EMPTY_QUERY),
        (" \0", ER_EMPTY_QUERY),
    ] {
        assert_eq!(errno(&root.query(text)), expected, "{text:?}");
    }
}

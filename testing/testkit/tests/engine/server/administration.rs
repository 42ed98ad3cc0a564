//! Commands of administrators: those of `mariadb-admin` and `mysqladmin`, the list of connections, and counters.

use std::sync::mpsc;
use std::time::Duration;

use crate::server::raw::{Host, Raw, errno};

const COM_REFRESH: u8 = 7;
const COM_SHUTDOWN: u8 = 8;
const COM_STATISTICS: u8 = 9;
const COM_PROCESS_INFO: u8 = 10;
const COM_DEBUG: u8 = 13;
const COM_PING: u8 = 14;

const ER_SPECIFIC_ACCESS_DENIED_ERROR: u16 = 1227;
const ER_NOT_SUPPORTED_YET: u16 = 1235;

const PATIENCE: Duration = Duration::from_secs(60);

/// The bytes of COM_REFRESH that `mariadb-admin reload` and `refresh` send, and one of a host cache.
const REFRESH_GRANT: u8 = 1;
const REFRESH_ALL: u8 = 0x17;
const REFRESH_HOSTS: u8 = 8;

/// The values of the only row of an answer.
fn row(answer: &[Vec<u8>]) -> Vec<String> {
    // The number of columns, the columns, EOF, the row, EOF.
    let mut values = Vec::new();
    let mut rest = answer[answer.len() - 2].as_slice();
    while let Some((&length, after)) = rest.split_first() {
        let length = if length == 0xFB {
            0
        } else {
            usize::from(length)
        };
        let (value, after) = after.split_at(length);
        values.push(String::from_utf8_lossy(value).into_owned());
        rest = after;
    }
    values
}

fn status(client: &mut Raw, name: &str) -> u64 {
    let answer = client.query(&format!("SHOW SESSION STATUS LIKE '{name}'"));
    row(&answer)[1].parse().expect("a number")
}

#[test]
fn a_client_ends_the_server() {
    let host = Host::start();
    let mut root = host.root();
    // No shutdown was configured.
    assert_eq!(errno(&root.query("SHUTDOWN")), ER_NOT_SUPPORTED_YET);
    let (sender, shutdowns) = mpsc::channel();
    host.database.on_shutdown(move || {
        let _ = sender.send(());
    });
    root.query("CREATE USER ann@localhost");
    let mut ann = host.log_in("ann");
    assert_eq!(
        errno(&ann.query("SHUTDOWN")),
        ER_SPECIFIC_ACCESS_DENIED_ERROR
    );
    ann.command(COM_SHUTDOWN, b"\0");
    assert_eq!(ann.errno(), Some(ER_SPECIFIC_ACCESS_DENIED_ERROR));
    assert!(shutdowns.try_recv().is_err());
    root.query("GRANT SHUTDOWN ON *.* TO ann@localhost");
    assert_eq!(errno(&ann.query("SHUTDOWN")), 0);
    shutdowns.recv_timeout(PATIENCE).expect("a word");
    // The kind of shutdown may be left out.
    ann.command(COM_SHUTDOWN, b"");
    assert_eq!(ann.read().expect("an answer")[0], 0xFE);
    shutdowns.recv_timeout(PATIENCE).expect("a word");
    assert_eq!(status(&mut ann, "Com_shutdown"), 4);
}

#[test]
fn caches_are_flushed() {
    let host = Host::start();
    let mut root = host.root();
    for bits in [REFRESH_GRANT, REFRESH_HOSTS, REFRESH_ALL] {
        root.command(COM_REFRESH, &[bits]);
        assert_eq!(root.errno(), Some(0), "{bits}");
    }
    root.query("CREATE USER ann@localhost");
    let mut ann = host.log_in("ann");
    ann.command(COM_REFRESH, &[REFRESH_GRANT]);
    assert_eq!(ann.errno(), Some(ER_SPECIFIC_ACCESS_DENIED_ERROR));
    ann.command(COM_REFRESH, b"");
    assert_ne!(ann.errno(), Some(0));
    assert!(ann.works());
}

#[test]
fn the_log_is_told_how_the_server_is() {
    let host = Host::start();
    let mut root = host.root();
    root.command(COM_DEBUG, b"");
    assert_eq!(root.read().expect("an answer")[0], 0xFE);
    root.query("CREATE USER ann@localhost");
    let mut ann = host.log_in("ann");
    ann.command(COM_DEBUG, b"");
    assert_eq!(ann.errno(), Some(ER_SPECIFIC_ACCESS_DENIED_ERROR));
}

#[test]
fn a_client_is_listed_with_its_port() {
    let host = Host::start();
    let mut root = host.root();
    let port = root.stream.local_addr().expect("an address").port();
    let own = "SELECT host, USER() FROM information_schema.processlist WHERE id = CONNECTION_ID()";
    let seen = row(&root.query(own));
    assert_eq!(
        seen,
        [format!("localhost:{port}"), "root@localhost".to_owned()]
    );
}

#[test]
fn a_client_that_logs_in_is_seen_and_can_be_ended() {
    let host = Host::start();
    let mut root = host.root();
    root.query("CREATE USER ann@localhost");
    let mut ann = host.log_in("ann");
    let mut unknown = host.greeted();
    let list = "SELECT id, user, REGEXP_REPLACE(host, '[0-9]+$', 'port'), db, command, state, info \
                FROM information_schema.processlist WHERE user LIKE 'unauth%'";
    let seen = row(&root.query(list));
    let after = [
        "unauthenticated user",
        "localhost:port",
        "",
        "Connect",
        "Receiving from client",
        "",
    ];
    assert_eq!(&seen[1..], after);
    // Only for accounts that may see all.
    assert!(
        !ann.query("SHOW PROCESSLIST")
            .concat()
            .windows(6)
            .any(|it| it == b"unauth")
    );
    root.command(COM_PROCESS_INFO, b"");
    let mut listed = Vec::new();
    while let Some(payload) = root.read() {
        let is_end = payload[0] == 0xFE;
        listed.extend(payload);
        if is_end && listed.windows(6).any(|it| it == b"unauth") {
            break;
        }
    }
    assert_ne!(errno(&ann.query(&format!("KILL {}", seen[0]))), 0);
    assert_eq!(errno(&root.query(&format!("KILL {}", seen[0]))), 0);
    while unknown.read().is_some() {}
    host.wait_for_connections(2);
}

#[test]
fn commands_are_counted() {
    let host = Host::start();
    let mut root = host.root();
    for statement in [
        "SHOW TABLES FROM test",
        "SHOW CREATE DATABASE test",
        "CREATE ROLE r",
        "GRANT r TO root@localhost",
        "CREATE USER ann@localhost",
        "GRANT SELECT ON *.* TO ann@localhost",
        "DROP ROLE r",
        "SHOW COUNT(*) WARNINGS",
        "DESCRIBE information_schema.tables",
        " -- nothing",
    ] {
        root.query(statement);
    }
    root.command(COM_PING, b"");
    assert_eq!(root.errno(), Some(0));
    root.command(COM_STATISTICS, b"");
    root.read().expect("an answer");
    for (name, count) in [
        ("Com_show_tables", 1),
        ("Com_show_create_db", 1),
        ("Com_create_role", 1),
        ("Com_grant_roles", 1),
        ("Com_create_user", 1),
        ("Com_grant", 1),
        ("Com_drop_role", 1),
        ("Com_select", 1),
        ("Com_show_fields", 1),
        ("Com_empty_query", 1),
        ("Com_admin_commands", 1),
        // COM_STATISTICS, and the commands that the shutdowns above are counted as.
        ("Com_show_status", 13),
        ("Com_xa_start", 0),
    ] {
        assert_eq!(status(&mut root, name), count, "{name}");
    }
}

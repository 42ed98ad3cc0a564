//! Logs of clients: bytes sent and received, and commands other than statements.

use std::path::Path;

use crate::server::raw::{Host, Raw};

const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_PING: u8 = 14;
const COM_RESET_CONNECTION: u8 = 31;

/// A server that logs everything, into tables and into files of a directory.
fn logged(directory: &Path) -> Host {
    let path = |name: &str| directory.join(name).to_string_lossy().into_owned();
    Host::with(&[
        ("slow_query_log_file", &path("slow.log")),
        ("general_log_file", &path("general.log")),
        ("log_output", "TABLE,FILE"),
        ("slow_query_log", "1"),
        ("general_log", "1"),
        ("long_query_time", "0"),
        ("log_slow_extra", "1"),
    ])
}

fn rows(host: &Host, sql: &str) -> Vec<Vec<String>> {
    let mut session = host.database.session();
    session
        .execute("SET sql_log_off = 1, long_query_time = 100")
        .expect("runs");
    let results = session.execute(sql).expect("the tables of logs are there");
    let rows = results[0].rows_text().into_iter();
    rows.map(|row| row.into_iter().flatten().collect())
        .collect()
}

#[test]
fn commands_and_bytes_are_mysqls() {
    let directory = tempfile::tempdir().expect("a directory");
    let host = logged(directory.path());
    let file = |name: &str| std::fs::read_to_string(directory.path().join(name)).expect("a log");
    let mut client = host.root();
    client.query("CREATE DATABASE logs_of_clients");
    client.command(COM_INIT_DB, b"logs_of_clients");
    assert_eq!(client.errno(), Some(0));
    client.command(COM_PING, b"");
    assert_eq!(client.errno(), Some(0));
    client.query("SELECT 1");
    client.query("SELECT * FROM nosuch");
    client.command(COM_RESET_CONNECTION, b"");
    assert_eq!(client.errno(), Some(0));
    client.command(COM_QUIT, b"");
    drop(client);
    host.wait_for_connections(0);
    let mut nobody = host.greeted();
    nobody.packet(&Raw::response("nobody"));
    assert_eq!(nobody.errno(), Some(1045));
    let general = rows(
        &host,
        "SELECT command_type, argument, user_host FROM mysql.general_log \
         WHERE argument NOT LIKE 'SET sql_log_off%' ORDER BY event_time",
    );
    let known = "root[root] @ localhost []";
    let expected = [
        [
            "Connect",
            "root@localhost on  using TCP/IP",
            "[root] @ localhost []",
        ],
        ["Query", "CREATE DATABASE logs_of_clients", known],
        ["Init DB", "logs_of_clients", known],
        ["Query", "SELECT 1", known],
        ["Query", "SELECT * FROM nosuch", known],
        ["Quit", "", known],
        [
            "Connect",
            "nobody@localhost on  using TCP/IP",
            "[nobody] @ localhost []",
        ],
        [
            "Connect",
            "Access denied for user 'nobody'@'localhost' (using password: NO)",
            "[nobody] @ localhost []",
        ],
    ];
    assert_eq!(general, expected.map(|row| row.map(str::to_owned).to_vec()));
    let slow = rows(
        &host,
        "SELECT sql_text FROM mysql.slow_log ORDER BY start_time",
    );
    let slow: Vec<&str> = slow.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        slow,
        [
            "CREATE DATABASE logs_of_clients",
            "Init DB",
            "Ping",
            "SELECT 1",
            "SELECT * FROM nosuch",
            "Reset Connection",
            "Quit"
        ]
    );
    let log = file("slow.log");
    assert!(log.contains("\n# administrator command: Ping;\n"));
    let line_of = |statement: &str| {
        let before = &log[..log.find(&format!("\n{statement};\n")).expect("it is there")];
        before[before.rfind("# Query_time: ").expect("a line")..].to_owned()
    };
    // MySQL 9.7's count for a client with these capabilities: two EOF packets of nine bytes each, where a newer client
    // gets one of eleven bytes.
    let select = line_of("SELECT 1");
    assert!(
        select.contains(" Errno: 0 Killed: 0 Bytes_received: 13 Bytes_sent: 56 "),
        "{select}"
    );
    let error = line_of("SELECT * FROM nosuch");
    assert!(
        error.contains(" Errno: 1146 Killed: 0 Bytes_received: 25 "),
        "{error}"
    );
    let general = file("general.log");
    assert!(general.contains(" Connect\troot@localhost on  using TCP/IP\n"));
    assert!(general.contains(" Quit\t\n"));
}

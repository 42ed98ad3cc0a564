//! Files of a server of HTTP.

use std::io::Write as _;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use flate2::Compression;
use flate2::write::GzEncoder;
use mayfly_engine::FileAccess;

use super::server::{Served, Server};
use crate::support::{Files, login, parquet_bytes};

/// Rows of numbers and texts that do not compress.
fn rows(from: i64, count: i64) -> RecordBatch {
    let numbers: ArrayRef = (from..from + count)
        .map(Some)
        .collect::<Int64Array>()
        .into_array();
    let text = |number: i64| format!("{:x}", (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let texts: ArrayRef = std::sync::Arc::new(StringArray::from_iter_values(
        (from..from + count).map(|number| text(number) + &text(number + 7)),
    ));
    RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).expect("a batch")
}

trait IntoArray {
    fn into_array(self) -> ArrayRef;
}

impl IntoArray for Int64Array {
    fn into_array(self) -> ArrayRef {
        std::sync::Arc::new(self)
    }
}

#[test]
fn files_of_every_format_are_read() {
    let files = Files::new();
    let server = Server::start();
    files.write("f.csv", "a,b\n1,x\n2,y\n");
    for name in [
        "f.parquet",
        "f.arrow",
        "f.arrows",
        "f.json",
        "f.ndjson",
        "f.csv.gz",
        "f.tsv",
    ] {
        files.rows(&format!("COPY (SELECT * FROM '@/f.csv') TO '@/{name}'"));
        let content = std::fs::read(files.path(name)).expect("is there");
        server.put(&format!("year=2026/{name}"), content);
        let url = server.url(&format!("year=2026/{name}"));
        let read = files.rows(&format!("SELECT * FROM '{url}' AS t ORDER BY a"));
        assert_eq!(read, ["1|x|2026", "2|y|2026"], "{name}");
    }
    // The name of the table, the format and the column `filename` do without the query.
    server.put("g.csv", "a\n1\n");
    let url = server.url("g.csv?X-Signature=secret");
    let read = files.rows(&format!(
        "SELECT g.a, filename FROM read_file('{url}', filename => true) g"
    ));
    assert_eq!(read, [format!("1|{}", server.url("g.csv"))]);
    let read = files.rows(&format!("SELECT g.a FROM '{url}'"));
    assert_eq!(read, ["1"]);
    let queries = server
        .requests()
        .into_iter()
        .filter(|it| it.1.starts_with("/g.csv"));
    assert!(
        queries
            .map(|it| it.1)
            .all(|target| target.ends_with("?X-Signature=secret"))
    );
}

#[test]
fn of_parquet_only_what_is_needed_is_read() {
    const ROWS: i64 = 60_000;
    let files = Files::new();
    let server = Server::start();
    let groups: Vec<RecordBatch> = (0..4).map(|at| rows(at * ROWS, ROWS)).collect();
    let content = parquet_bytes(&groups);
    let size = content.len();
    server.put("f.parquet", content);
    let url = server.url("f.parquet");
    let read = |sql: &str| {
        let rows = files.rows(&sql.replace('@', &format!("'{url}'")));
        let requests = server.requests();
        let bytes = requests
            .iter()
            .filter_map(|it| it.2)
            .map(|(from, to)| to - from);
        (rows, requests.len(), bytes.sum::<usize>())
    };
    // The head and the footer.
    let (counted, requests, bytes) = read("SELECT COUNT(*) FROM @");
    assert_eq!(counted, [(4 * ROWS).to_string()]);
    assert!(
        requests <= 2 && bytes <= 64 << 10,
        "{requests} requests, {bytes} bytes"
    );
    // One row group of one column: the head, the footer, the page index, and the column.
    let (found, requests, bytes) = read(&format!(
        "SELECT MIN(n), MAX(n) FROM @ AS f WHERE n >= {}",
        3 * ROWS
    ));
    assert_eq!(found, [format!("{}|{}", 3 * ROWS, 4 * ROWS - 1)]);
    assert!(
        requests <= 4 && bytes < size / 8,
        "{requests} requests, {bytes} of {size} bytes"
    );
    // All of it, in a few requests for each row group.
    let (found, requests, bytes) = read("SELECT COUNT(t), SUM(n) FROM @");
    let sum: i64 = (0..4 * ROWS).sum();
    assert_eq!(found, [format!("{}|{sum}", 4 * ROWS)]);
    assert!(
        requests <= 2 + 4 * 2 && bytes < size * 2,
        "{requests} requests, {bytes} of {size} bytes"
    );
}

/// A server without ranges gives text, and Parquet is refused with the reason.
#[test]
fn a_server_without_ranges_gives_text() {
    let files = Files::new();
    let server = Server::start();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"a\n7\n").expect("compresses");
    for (name, content) in [
        ("f.csv", b"a\n7\n".to_vec()),
        ("f.csv.gz", packed.finish().expect("ends")),
        ("f.json", b"[{\"a\": 7}]".to_vec()),
        ("f.parquet", parquet_bytes(&[rows(0, 10)])),
    ] {
        let served = Served {
            content,
            head_status: Some("403 Forbidden"),
            ..Served::default()
        };
        server.put_with(name, served);
    }
    for name in ["f.csv", "f.csv.gz", "f.json"] {
        assert_eq!(
            files.rows(&format!("SELECT a FROM '{}'", server.url(name))),
            ["7"],
            "{name}"
        );
    }
    let error = files.error(&format!("SELECT * FROM '{}'", server.url("f.parquet")));
    assert!(error.contains("Range"), "{error}");
}

#[test]
fn errors_say_what_the_server_answered_and_no_credential() {
    let files = Files::new();
    let server = Server::start();
    for (name, status) in [
        ("no.csv", "403 Forbidden"),
        ("who.csv", "401 Unauthorized"),
        ("teapot.csv", "418 I'm a teapot"),
    ] {
        let status = Some(status);
        server.put_with(
            name,
            Served {
                status,
                ..Served::default()
            },
        );
    }
    let host = server.url("");
    let error = |path: &str| {
        files
            .error(&format!("SELECT * FROM '{}'", server.url(path)))
            .replace(&host, "http://host/")
    };
    for (path, expected) in [
        (
            "none.csv?sig=secret",
            "1017 Can't find file: 'http://host/none.csv' (errno: 404 - No such object)",
        ),
        (
            "no.csv?sig=secret",
            "1105 file 'http://host/no.csv': HTTP 403 Forbidden; the server wants to know who asks",
        ),
        (
            "who.csv?sig=secret",
            "1105 file 'http://host/who.csv': HTTP 401 Unauthorized; the server wants to know who asks",
        ),
        (
            "teapot.csv?sig=secret",
            "1105 file 'http://host/teapot.csv': HTTP 418 I'm a teapot",
        ),
    ] {
        assert_eq!(error(path), expected);
    }
    let error = files.error("SELECT * FROM 'http://user:secret@127.0.0.1:1/a.csv?sig=secret'");
    assert!(
        error.starts_with("1105 file 'http://127.0.0.1:1/a.csv': ") && !error.contains("secret"),
        "{error}"
    );
    let error = files.error(&format!(
        "COPY (SELECT 1 AS a) TO '{}'",
        server.url("new.csv")
    ));
    assert_eq!(
        error,
        "1235 This version of MySQL doesn't yet support 'writing to an HTTP server'"
    );
}

/// What ends early, or changes between planning and reading, is an error: no rows are lost.
#[test]
fn no_part_of_a_file_is_taken_for_all_of_it() {
    let files = Files::new();
    let server = Server::start();
    let content = "a\n".to_owned() + &"1234567\n".repeat(100_000);
    let cut = Served {
        content: content.clone().into_bytes(),
        ends_after: Some(300_000),
        ..Served::default()
    };
    server.put_with("cut.csv", cut);
    let error = files.error(&format!("SELECT COUNT(*) FROM '{}'", server.url("cut.csv")));
    assert!(error.starts_with("1105 file '"), "{error}");
    // A prepared statement looks at the file anew.
    server.put("f.csv", "a\n1\n");
    let url = server.url("f.csv");
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql).expect("runs");
    run(&format!("PREPARE s FROM \"SELECT * FROM '{url}'\""));
    assert_eq!(run("EXECUTE s"), ["1"]);
    server.put("f.csv", "b,a\n2,22\n");
    assert_eq!(run("EXECUTE s"), ["2|22"]);
}

#[test]
fn a_killed_statement_ends_while_the_server_says_nothing() {
    let files = Files::new();
    let server = Server::start();
    let stalled = Served {
        content: b"a\n1\n".repeat(1000),
        stalls_after: Some(100),
        ..Served::default()
    };
    server.put_with("f.csv", stalled);
    let mut session = files.database.session();
    files
        .run(&mut session, "SET max_execution_time = 300")
        .expect("sets");
    let begin = Instant::now();
    let read = files.run(
        &mut session,
        &format!("SELECT * FROM '{}'", server.url("f.csv")),
    );
    let error = read.expect_err("takes too long");
    assert!(error.starts_with("3024 "), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn urls_need_the_privilege_and_the_setting() {
    let server = Server::start();
    server.put("f.csv", "a\n1\n");
    let read = format!("SELECT * FROM '{}'", server.url("f.csv"));
    let refused = "1290 The MySQL server is running with the --remote-file-access=OFF option so it cannot execute this statement";
    let files = Files::new();
    assert_eq!(files.rows(&read), ["1"]);
    files.rows("CREATE USER u; GRANT SELECT ON test.* TO u");
    let mut user = login(&files, "u");
    let error = files.run(&mut user, &read).expect_err("has no privilege");
    assert_eq!(
        error,
        "1227 Access denied; you need (at least one of) the FILE privilege(s) for this operation"
    );
    let error = files.run(
        &mut user,
        &format!("COPY (SELECT 1) TO '{}'", server.url("g.csv")),
    );
    assert!(error.expect_err("has no privilege").starts_with("1227 "));
    drop(user);
    // A directory of files does not open the network, unless the server's options do.
    let inside = |variables: Vec<(String, String)>| {
        let directory = std::env::temp_dir();
        let files = Files::with(move |options| {
            options.file_access = FileAccess::Directory(directory);
            options.variables = variables;
        });
        (files.rows("SELECT @@remote_file_access"), files)
    };
    let (setting, files) = inside(Vec::new());
    assert_eq!(setting, ["0"]);
    assert_eq!(files.error(&read), refused);
    let (setting, files) = inside(vec![("remote_file_access".to_owned(), "ON".to_owned())]);
    assert_eq!(setting, ["1"]);
    assert_eq!(files.rows(&read), ["1"]);
    let off = vec![("remote_file_access".to_owned(), "OFF".to_owned())];
    let files = Files::with(|options| options.variables = off);
    assert_eq!(files.error(&read), refused);
    assert!(
        files
            .error("SET GLOBAL remote_file_access = ON")
            .starts_with("1238 ")
    );
    let files = Files::with(|options| options.file_access = FileAccess::Disabled);
    assert!(files.error(&read).starts_with("1290 "));
    assert_eq!(
        server.requests().iter().filter(|it| it.0 == "HEAD").count(),
        2
    );
}

#[test]
fn memory_of_reading_is_limited() {
    let server = Server::start();
    let groups: Vec<RecordBatch> = (0..2).map(|at| rows(at * 100_000, 100_000)).collect();
    server.put("f.parquet", parquet_bytes(&groups));
    let files = Files::with(|options| options.memory_limit = Some(1 << 20));
    let error = files.error(&format!("SELECT MAX(t) FROM '{}'", server.url("f.parquet")));
    assert!(error.starts_with("3170 "), "{error}");
    let files = Files::with(|options| options.memory_limit = Some(64 << 20));
    let read = files.rows(&format!(
        "SELECT COUNT(t) FROM '{}'",
        server.url("f.parquet")
    ));
    assert_eq!(read, ["200000"]);
}

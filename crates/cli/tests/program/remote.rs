//! The shell, scripts and `-e` on a server: on the program's own, and on MariaDB where `MAYFLY_MARIADB_SOCKET` names
//! one.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use mayfly_testkit::client::{Answer, Client, Row};

use super::connect::serve;
use super::shell::{Shell, answer};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the program with a standard input.
fn run(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut running = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("MYSQL_PWD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = running.stdin.take().unwrap();
    // A program that reads no input has closed it.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    running.wait_with_output().unwrap()
}

/// The output of the program, which succeeds.
fn output(directory: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(directory, arguments, input);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    text(&output.stdout)
}

/// What a program that fails says.
fn failure(directory: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(directory, arguments, input);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    text(&output.stderr)
}

/// Statements whose results are alike on all servers, and these results as TSV.
const SCRIPT: &str = "DROP DATABASE IF EXISTS shell_on_server;
CREATE DATABASE shell_on_server;
use shell_on_server
CREATE TABLE t (i INT UNSIGNED, d DECIMAL(9,2), s VARCHAR(20), b VARBINARY(4), y YEAR, n DATETIME(3));
INSERT INTO t VALUES (1, 2.5, 'a\\tb', X'00ff', 2024, '2024-02-29 12:00:00.125'), (NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM t;
DELIMITER //
SELECT 'several' d; SELECT 'statements' e//
DELIMITER ;
LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t FIELDS TERMINATED BY ',' (i, s);
SELECT i, s FROM t WHERE i > 1 ORDER BY i;
SELECT 'wörter' w\\G
DROP DATABASE shell_on_server;
";

const RESULT: &[u8] = b"i\td\ts\tb\ty\tn\n\
1\t2.50\ta\\tb\t\\0\xff\t2024\t2024-02-29 12:00:00.125\n\
NULL\tNULL\tNULL\tNULL\tNULL\tNULL\n\
d\nseveral\ne\nstatements\n\
i\ts\n7\tseven\n8\teight\n\
*************************** 1. row ***************************\nw: w\xc3\xb6rter\n";

fn check_script(directory: &Path, arguments: &[&str]) {
    std::fs::write(directory.join("rows.csv"), "7,seven\n8,eight\n").unwrap();
    let output = run(directory, arguments, SCRIPT);
    assert_eq!(text(&output.stderr), "", "{arguments:?}");
    assert_eq!(text(&output.stdout), text(RESULT), "{arguments:?}");
    assert_eq!(output.stdout, RESULT);
    assert!(output.status.success());
}

#[test]
fn scripts_run_on_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (_served, port) = serve(path);
    let mut root = Client::connect(&path.join("socket"), "root").unwrap();
    root.query("SET GLOBAL local_infile = ON").unwrap();
    check_script(path, &["-uroot", "-h", "127.0.0.1", "-P", &port]);
    check_script(path, &["-uroot", "-S", "socket"]);
    check_script(path, &[&format!("mysql://root@127.0.0.1:{port}/test")]);
    // The certificate is made when it is first needed, and signed by itself.
    let tls = format!("mysql://root@127.0.0.1:{port}/?ssl-mode=VERIFY_CA");
    assert!(failure(path, &[&tls], "").contains("--ssl-ca"));
    let tls = format!("{tls}&ssl-ca=data/server-cert.pem");
    check_script(path, &[&tls]);
    let status = output(path, &[&tls, "-e", "\\s"], "");
    assert!(status.contains("encryption: TLSv1.3, "), "{status}");
}

#[test]
fn scripts_run_on_mariadb() {
    let Some(socket) = std::env::var_os("MAYFLY_MARIADB_SOCKET") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let socket = PathBuf::from(socket).display().to_string();
    check_script(directory.path(), &["-uroot", "-S", &socket]);
    let named = ["-uroot", "-S", &socket];
    let wrong = [&named[..], &["-e", "SELECT 1 FROM"]].concat();
    let said = failure(directory.path(), &wrong, "");
    assert!(said.starts_with("ERROR 1064 (42000) at line 1: "), "{said}");
    let procedure = "DROP DATABASE IF EXISTS shell_procedures;
CREATE DATABASE shell_procedures;
USE shell_procedures;
CREATE PROCEDURE p() BEGIN SELECT 'first' a; SELECT 2 b, 3 c; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'third'; END;
CALL p();
";
    let called = run(directory.path(), &named, procedure);
    assert_eq!(text(&called.stdout), "a\nfirst\nb\tc\n2\t3\n");
    let said = text(&called.stderr);
    assert!(
        said.starts_with("ERROR 1644 (45000) at line 5: third"),
        "{said}"
    );
    output(directory.path(), &named, "DROP DATABASE shell_procedures");
}

#[test]
fn options_of_mysql() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (_served, port) = serve(path);
    let at = ["-uroot", "-h127.0.0.1", &format!("-P{port}")];
    let on = |more: &[&str]| output(path, &[&at[..], more].concat(), "");
    assert_eq!(on(&["-N", "-e", "SELECT 1, NULL"]), "1\tNULL\n");
    assert_eq!(
        on(&["-Ntv", "-e", "SELECT 1"]),
        "--------------\nSELECT 1\n--------------\n\n+---+\n| 1 |\n+---+\n"
    );
    assert!(on(&["-vvv", "-e", "SELECT 1"]).contains("| 1 |\n+---+\n1 row in set (0."));
    assert!(on(&["-vv", "-e", "SET @a = 1"]).ends_with("Query OK, 0 rows affected\n"));
    // A word that is no file is the database, as for mysql; there is none without.
    assert_eq!(on(&["-N", "mysql", "-e", "SELECT DATABASE()"]), "mysql\n");
    assert_eq!(on(&["-N", "-Dmysql", "-e", "SELECT DATABASE()"]), "mysql\n");
    assert_eq!(on(&["-N", "-e", "SELECT DATABASE()"]), "NULL\n");
    let set = [
        "--init-command=SET @a = 7",
        "--default-character-set",
        "latin1",
    ];
    let asked = ["-NAB", "-e", "SELECT @a, @@character_set_client"];
    assert_eq!(on(&[&set[..], &asked].concat()), "7\tlatin1\n");
    // In this process too.
    assert_eq!(
        output(path, &["--init-command=SET @a = 7", "-Ne", "SELECT @a"], ""),
        "7\n"
    );
    let json = on(&[
        "--format",
        "json",
        "-e",
        "SELECT 1.50 a, 'x' b, CAST('[1]' AS JSON) c",
    ]);
    assert_eq!(json, "[\n{\"a\": 1.50, \"b\": \"x\", \"c\": [1]}\n]\n");
    // A script goes on after an error with --force.
    let script = "SELECT nosuch;\nSELECT CAST('x' AS SIGNED) c;\n";
    let forced = run(path, &[&at[..], &["--force"]].concat(), script);
    assert_eq!(text(&forced.stdout), "c\n0\n");
    let said = text(&forced.stderr);
    assert!(said.contains("ERROR 1054 (42S22) at line 1: "), "{said}");
    assert!(said.contains("WARNING 1292 at line 2: "), "{said}");
    std::fs::write(
        path.join("my.cnf"),
        format!("[client]\nuser=root\nhost=127.0.0.1\nport={port}\n"),
    )
    .unwrap();
    assert_eq!(
        output(path, &["--defaults-file=my.cnf", "-Ne", "SELECT 5"], ""),
        "5\n"
    );
    std::fs::write(path.join("rows.csv"), "a\n1\n").unwrap();
    let refused = failure(path, &[&at[..], &["rows.csv"]].concat(), "");
    assert!(refused.contains("LOAD DATA LOCAL INFILE"), "{refused}");
    assert!(failure(path, &["-p", "-e", "SELECT 1"], "").contains("for a server"));
    // Nobody is asked without a terminal.
    assert!(failure(path, &[&at[..], &["-p"]].concat(), "").contains("no terminal"));
    assert!(output(path, &["-h"], "").contains("Usage: mayfly"));
}

#[test]
fn passwords() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (_served, port) = serve(path);
    let mut root = Client::connect(&path.join("socket"), "root").unwrap();
    root.query("CREATE USER ann@'%' IDENTIFIED BY 'sesame'")
        .unwrap();
    let tls = "ssl-ca=data/server-cert.pem";
    let first = format!("mysql://root@127.0.0.1:{port}/?ssl-mode=VERIFY_CA");
    failure(path, &[&first], "");
    let url = format!("mysql://ann:sesame@127.0.0.1:{port}/?{tls}");
    assert_eq!(
        output(path, &[&url, "-Ne", "SELECT USER()"], ""),
        "ann@localhost\n"
    );
    let named = ["-uann", "-S", "socket", "-Ne", "SELECT 6"];
    assert_eq!(
        output(path, &[&named[..], &["-psesame"]].concat(), ""),
        "6\n"
    );
    assert_eq!(
        output(path, &[&named[..], &["--password=sesame"]].concat(), ""),
        "6\n"
    );
    for wrong in [&[][..], &["-pnosuch"], &["--password="]] {
        let said = failure(path, &[&named[..], wrong].concat(), "");
        assert!(said.contains("ERROR 1045 (28000): Access denied"), "{said}");
    }
    // The list of processes and the programs that it starts do not have it.
    let mut running = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["-uann", "-S", "socket", "-psesame", &url])
        .current_dir(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(b"SELECT 'ready' r;\n").unwrap();
    let mut first = [0; 8];
    running
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    let line = std::fs::read(format!("/proc/{}/cmdline", running.id())).unwrap();
    assert!(
        text(&line).contains("-uann") && !text(&line).contains("sesame"),
        "{}",
        text(&line)
    );
    drop(input);
    assert!(running.wait().unwrap().success());
}

#[test]
fn servers_that_are_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // It takes connections, and says nothing.
    let at = ["-uroot", "-h127.0.0.1", "-P", &port, "-e", "SELECT 1"];
    let said = failure(path, &[&at[..], &["--connect-timeout=1"]].concat(), "");
    assert!(
        said.contains("ERROR 2013 (HY000): ") && said.contains("1 seconds"),
        "{said}"
    );
    drop(listener);
    let said = failure(path, &at, "");
    assert!(said.contains("ERROR 2003 (HY000): "), "{said}");
    // It is waited for.
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["-uroot", "-S", "socket", "-w", "-Ne", "SELECT 'there'"])
        .current_dir(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let (_served, _) = serve(path);
    let mut said = String::new();
    waiting
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "there\n");
    waiting.wait().unwrap();
}

fn rows(client: &mut Client, sql: &str) -> Vec<Row> {
    match client.query(sql).unwrap() {
        Answer::Rows { rows, .. } => rows,
        Answer::Done(_) => Vec::new(),
    }
}

/// The shell on a terminal: results, completion, an error with its place, Ctrl-C, a connection that is lost, a password.
#[test]
fn a_shell_on_a_server() {
    let home = tempfile::tempdir().unwrap();
    let (_served, port) = serve(home.path());
    let mut root = Client::connect(&home.path().join("socket"), "root").unwrap();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.sales (first_column INT)",
        "CREATE USER ann@'%' IDENTIFIED BY 'sesame'",
        "GRANT ALL ON *.* TO ann@'%'",
    ] {
        root.query(sql).unwrap();
    }
    let mut shell = Shell::start_with(home.path(), &["-uann", "-p", "-S", "socket", "shop"]);
    let shell = &mut shell;
    shell.expect("Password of ann: ");
    shell.send("sesame\n");
    let shown = shell.expect("mayfly> ");
    assert!(!shown.contains("sesame"), "{shown}");
    answer(shell, "SELECT 6 * 7 answer;", "|     42 |");
    answer(shell, "\\d", "| sales");
    answer(
        shell,
        "SELECT CAST('x' AS SIGNED);",
        "1 row in set, 1 warning (",
    );
    answer(shell, "SHOW WARNINGS;", "| Warning | 1292 |");
    answer(
        shell,
        "SELECT frist_column FROM sales;",
        "did you mean first_column?",
    );
    shell.send("SELECT first_c");
    std::thread::sleep(Duration::from_millis(50));
    shell.send("\t");
    shell.expect("first_column ");
    answer(shell, "FROM sales;", "Empty set");
    answer(shell, "\\s", "connection: the server at socket");
    let endless = "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c WHERE CONCAT(a.TABLE_NAME, b.TABLE_NAME, c.TABLE_NAME) = 'x';\r";
    shell.send(endless);
    let wait_until = |root: &mut Client, sql: &str| {
        while rows(root, sql).is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let running =
        "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'ann' AND INFO LIKE '%COUNT%'";
    wait_until(&mut root, running);
    shell.send("\x03");
    shell.expect("ERROR 1317");
    shell.expect("mayfly> ");
    // The server ends the connection; the next statement has another one, with the same database.
    let number = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'ann'";
    let id = text(rows(&mut root, number)[0][0].as_ref().unwrap());
    root.query(&format!("KILL {id}")).unwrap();
    wait_until(
        &mut root,
        &format!(
            "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {id})"
        ),
    );
    shell.send("SELECT CONCAT('in ', DATABASE()) d;\r");
    shell.expect("Connecting again");
    shell.expect("| in shop |");
    shell.expect("mayfly> ");
    answer(shell, "SET PASSWORD = 'sesame';", "Query OK");
    shell.send("exit\r");
    drop(port);
    shell.expect("exit");
    std::thread::sleep(Duration::from_millis(200));
    let history = std::fs::read_to_string(home.path().join(".mayfly_history")).unwrap_or_default();
    assert!(!history.contains("sesame"), "{history}");
}

/// A result as a file of typed columns, from a session of this process and from a server: alike, but for TIMESTAMP.
#[test]
fn results_become_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (_served, port) = serve(path);
    let url = format!("mysql://root@127.0.0.1:{port}/test");
    let script = "CREATE TABLE r (i INT UNSIGNED, d DECIMAL(40,5), s VARCHAR(20), b VARBINARY(4), n DATETIME(3), j JSON, x BIT(9), y YEAR, f DOUBLE);
INSERT INTO r VALUES (4294967295, -1.5, 'wörter', X'00ff', '2024-02-29 12:00:00.125', '[1, 2]', 257, 2024, 0.1), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM r;
";
    let here = run(path, &["--format", "parquet"], script);
    let there = run(path, &[&url, "--format", "parquet"], script);
    for (output, name) in [(here, "here.parquet"), (there, "there.parquet")] {
        assert_eq!(text(&output.stderr), "");
        std::fs::write(path.join(name), output.stdout).unwrap();
    }
    let asked = |name: &str| {
        let types = "CREATE TABLE c AS SELECT * FROM 'FILE'; SHOW CREATE TABLE c;";
        let sql = format!("{types} SELECT *, HEX(b) FROM 'FILE'").replace("FILE", name);
        output(path, &["-e", &sql], "")
    };
    let rows = asked("here.parquet");
    assert!(rows.contains("4294967295\t-1.50000\twörter\t"), "{rows}");
    assert!(
        rows.contains("\t2024-02-29 12:00:00.125000\t[1, 2]\t257\t2024\t0.1\t00FF\n"),
        "{rows}"
    );
    assert_eq!(asked("there.parquet"), rows);
    let arrow = run(path, &[&url, "--format=arrow", "-e", "SELECT * FROM r"], "");
    std::fs::write(path.join("there.arrow"), arrow.stdout).unwrap();
    assert_eq!(
        output(
            path,
            &["-Ne", "SELECT SUM(i), COUNT(*) FROM 'there.arrow'"],
            ""
        ),
        "4294967295\t2\n"
    );
    // One result is one file, and a value that the format has not is an error.
    let said = failure(path, &["--format=parquet", "-e", "SELECT 1; SELECT 2"], "");
    assert!(said.contains("one result"), "{said}");
    let zero = "SET sql_mode = ''; SELECT CAST('0000-00-00' AS DATE) d";
    let said = failure(path, &[&url, "--format=parquet", "-e", zero], "");
    assert!(said.contains("column 'd'"), "{said}");
    let said = failure(
        path,
        &["--format=parquet", "-e", "\\format arrow a.arrow\nSELECT 1"],
        "",
    );
    assert!(said.contains("interactive shell"), "{said}");

    let mut shell = Shell::start_with(path, &[&url]);
    let shell = &mut shell;
    shell.expect("mayfly> ");
    answer(shell, "\\format parquet", "\n");
    answer(shell, "SELECT 1;", "not for a terminal");
    answer(shell, "\\format parquet r.parquet", "\n");
    answer(shell, "SELECT 7 n;", "1 row in set");
    answer(shell, "SELECT 8 n;", "there is a file of that name");
    answer(shell, "\\format table", "\n");
    assert_eq!(
        output(path, &["-Ne", "SELECT n FROM 'r.parquet'"], ""),
        "7\n"
    );
}

//! Each kind of statement × privileges × way to read, allowed as in MySQL. Its answers are in `reading.txt`;
//! `MAYFLY_READING_COMPLETE=1` writes them, from the server of `MAYFLY_MYSQL_SOCKET`.

use std::fmt::Write as _;

use mayfly_engine::RootPassword;
use mayfly_testkit::client::Client;
use mayfly_testkit::fixture::{Errno, Fixture};
use mayfly_testkit::server::{self, Flavour};

use super::{log_in, succeed};

/// Privileges granted on `mr.t (a, b)`. SELECT on the view comes with SELECT on all of the table.
const GRANTS: &[&str] = &[
    "",
    "SELECT",
    "SELECT (a)",
    "SELECT (b)",
    "INSERT",
    "UPDATE",
    "DELETE",
    "INSERT, UPDATE, DELETE",
    "SELECT (a), INSERT, UPDATE, DELETE",
    "SELECT (b), INSERT (a), UPDATE (a)",
    "SELECT (a, b), INSERT (a, b), UPDATE (b)",
    "SELECT, INSERT, UPDATE, DELETE",
];

/// Statements; `{}` is an expression or a condition that reads column `b` in one of these ways.
const READS: &[&str] = &[
    "1",
    "b",
    "t.b + 1",
    "(SELECT t.b)",
    "(SELECT max(x.b) FROM mr.t AS x)",
    "(SELECT max(x.b) FROM (SELECT b FROM mr.t) AS x)",
    "DEFAULT(b)",
    "EXISTS (SELECT 1 FROM mr.t AS x WHERE x.b = 1)",
    "(SELECT count(*) FROM mr.t AS x)",
    "(SELECT max(v.b) FROM mr.v AS v)",
    "(SELECT max(v.b) FROM mr.vi AS v)",
];

const STATEMENTS: &[&str] = &[
    "SELECT {} FROM mr.t",
    "SELECT a FROM mr.t WHERE {} = 1",
    "SELECT a FROM mr.t ORDER BY {}",
    "SELECT count(a) FROM mr.t GROUP BY a HAVING max({}) > 0",
    "SELECT t.a FROM mr.t JOIN mr.s AS y ON {} = y.x",
    "INSERT INTO mr.t (a) VALUES ({})",
    "INSERT INTO mr.t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = {}",
    "INSERT INTO mr.t (a) SELECT {} FROM mr.t",
    "REPLACE INTO mr.t (a) VALUES ({})",
    "UPDATE mr.t SET a = {}",
    "UPDATE mr.t SET b = 1 WHERE {} = 1",
    "UPDATE mr.t SET b = 1 ORDER BY {}",
    "DELETE FROM mr.t WHERE {} = 1",
    "DELETE FROM mr.t ORDER BY {} LIMIT 1",
    "DELETE t FROM mr.t JOIN mr.s AS y ON {} = y.x",
    "CREATE TEMPORARY TABLE mr.made AS SELECT {} AS c FROM mr.t",
];

const WAYS: &[&str] = &["{}", "EXPLAIN {}", "PREPARE s FROM '{}'"];

/// Statements that an administrator runs before a case.
fn preparation(grant: &str) -> Vec<String> {
    let mut statements: Vec<String> = [
        "DROP DATABASE IF EXISTS mr",
        "DROP USER IF EXISTS mr_user@localhost",
        "CREATE USER mr_user@localhost",
        "CREATE DATABASE mr",
        "CREATE TABLE mr.t (a int PRIMARY KEY DEFAULT 7, b int DEFAULT 1)",
        "CREATE TABLE mr.s (x int)",
        "CREATE VIEW mr.v AS SELECT a, b FROM mr.t",
        "CREATE SQL SECURITY INVOKER VIEW mr.vi AS SELECT a, b FROM mr.t",
        "GRANT CREATE TEMPORARY TABLES ON mr.* TO mr_user@localhost",
        "GRANT SELECT ON mr.s TO mr_user@localhost",
    ]
    .map(str::to_owned)
    .to_vec();
    if !grant.is_empty() {
        statements.push(format!("GRANT {grant} ON mr.t TO mr_user@localhost"));
    }
    if grant.starts_with("SELECT") {
        statements.push("GRANT SELECT ON mr.vi TO mr_user@localhost".to_owned());
    }
    if grant.starts_with("SELECT,") {
        statements.push("GRANT SELECT ON mr.v TO mr_user@localhost".to_owned());
    }
    statements
}

const CLEANUP: &[&str] = &["DROP DATABASE mr", "DROP USER mr_user@localhost"];

/// All statements.
fn statements() -> Vec<String> {
    let mut all = Vec::new();
    for statement in STATEMENTS {
        for read in READS {
            for way in WAYS {
                all.push(way.replace("{}", &statement.replace("{}", read)));
            }
        }
    }
    all
}

/// The table of answers: one line per statement, with its result under each of the grants.
fn table(mut errors: impl FnMut(&str, &[String]) -> Vec<String>) -> String {
    let statements = statements();
    let columns: Vec<Vec<String>> = GRANTS
        .iter()
        .map(|grant| errors(grant, &statements))
        .collect();
    let mut text = String::new();
    for (at, statement) in statements.iter().enumerate() {
        let errors: Vec<&str> = columns.iter().map(|column| column[at].as_str()).collect();
        let _ = writeln!(text, "{}\t{statement}", errors.join(" "));
    }
    text
}

/// `0` for a statement that runs, the number of an access error, and `-` for another error: which of several errors is
/// reported first depends on the engine.
fn refusal(errno: u16) -> String {
    match errno {
        0 | 1044 | 1142 | 1143 | 1227 | 1345 | 1356 => errno.to_string(),
        _ => "-".to_owned(),
    }
}

/// Whether an engine may answer differently from MySQL.
fn is_allowed(statement: &str, mysql: &str, found: &str) -> bool {
    let is_refused = |answer: &str| !matches!(answer, "0" | "-");
    match (mysql, found) {
        _ if mysql == found => true,
        // Fails for another reason.
        ("-", _) => true,
        // The source of VALUES rows is not shown.
        ("1345", _) if statement.starts_with("EXPLAIN INSERT") => true,
        ("1345", _) if statement.starts_with("EXPLAIN REPLACE") => true,
        // A view with the invoker's rights requires rights on all of its columns.
        ("0", found) if is_refused(found) => statement.contains("mr.vi"),
        (mysql, found) => is_refused(mysql) == is_refused(found),
    }
}

/// The answers of a server, on which `log_in` opens sessions.
fn answers<S: Errno>(log_in: impl Fn(&str) -> S) -> String {
    let mut root = log_in("root");
    let text = table(|grant, statements| {
        succeed(&mut root, preparation(grant));
        let mut user = log_in("mr_user");
        let errors = statements.iter().map(|statement| {
            succeed(&mut user, ["BEGIN"]);
            let errno_of = refusal(user.errno(statement));
            user.errno("DROP TEMPORARY TABLE IF EXISTS mr.made");
            succeed(&mut user, ["ROLLBACK"]);
            errno_of
        });
        errors.collect()
    });
    succeed(&mut root, CLEANUP);
    text
}

#[test]
fn each_way_to_read_needs_its_privileges() {
    if let Some(socket) = server::socket(Flavour::MySql)
        && std::env::var_os("MAYFLY_READING_COMPLETE").is_some()
    {
        let connect = |user: &str| Client::connect(&socket, user).unwrap();
        std::fs::write("tests/engine/accounts/reading.txt", answers(connect)).unwrap();
    }
    let expected = std::fs::read_to_string("tests/engine/accounts/reading.txt").unwrap();
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    database.set_up_root(RootPassword::Empty).unwrap();
    let found = answers(|user| log_in(database, user));
    let mut wrong = Vec::new();
    for (expected, found) in expected.lines().zip(found.lines()) {
        let (mysql, statement) = expected.split_once('\t').unwrap();
        let (mayfly, same) = found.split_once('\t').unwrap();
        assert_eq!(statement, same);
        let mut answers = mysql.split(' ').zip(mayfly.split(' '));
        if !answers.all(|(mysql, mayfly)| is_allowed(statement, mysql, mayfly)) {
            wrong.push(format!("MySQL  {expected}\nMayfly {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(expected.lines().count(), found.lines().count());
}

/// RETURNING, which MySQL does not have, needs the rights of the statement and those of a SELECT of its list.
#[test]
fn returning_reads() {
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    database.set_up_root(RootPassword::Empty).unwrap();
    let reads = READS.iter().chain(&["*", "t.*", "a, b"]);
    let mut wrong = Vec::new();
    for grant in GRANTS {
        for read in reads.clone() {
            for statement in [
                "DELETE FROM mr.t",
                "INSERT INTO mr.t (a) VALUES (5)",
                "REPLACE INTO mr.t (a) VALUES (5)",
                "INSERT INTO mr.t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 6",
            ] {
                let mut root = database.session();
                succeed(&mut root, preparation(grant));
                root.errno("INSERT INTO mr.t VALUES (1, 1)");
                let mut user = log_in(database, "mr_user");
                let reads_nothing = *read == "1";
                let may_read =
                    reads_nothing || user.errno(&format!("SELECT {read} FROM mr.t AS t")) == 0;
                let returning = format!("{statement} RETURNING {read}");
                let first = user.errno(&returning);
                // The row may exist by then.
                let may_change = matches!(user.errno(statement), 0 | 1062);
                if (first == 0) != (may_read && may_change) && first != 1093 {
                    wrong.push(format!("{grant:?} {returning}: {first}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    succeed(&mut database.session(), CLEANUP);
}

//! Statements that each privilege allows: grants, statements and errors (`privileges.txt`). With `MAYFLY_MYSQL_SOCKET`
//! the same cases run on MySQL.

use mayfly_engine::RootPassword;
use mayfly_testkit::client::Client;
use mayfly_testkit::fixture::{Errno, Fixture};
use mayfly_testkit::server::{self, Flavour};

use super::{log_in, succeed};

/// The objects of the statements, created anew for each case. `ma` has tables and views; `mb` is empty.
const OBJECTS: &[&str] = &[
    "CREATE DATABASE ma",
    "CREATE DATABASE mb",
    "CREATE TABLE ma.t (a int PRIMARY KEY, b int)",
    "CREATE TABLE ma.s (a int, b int)",
    "INSERT INTO ma.t VALUES (1, 1)",
    "INSERT INTO ma.s VALUES (1, 1)",
    "CREATE VIEW ma.v AS SELECT a, b FROM ma.t",
    "CREATE SQL SECURITY INVOKER VIEW ma.vi AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_definer@localhost VIEW ma.vd AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_nobody@localhost VIEW ma.vn AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_definer@localhost VIEW ma.vv AS SELECT a, b FROM ma.v",
    "CREATE SQL SECURITY INVOKER VIEW ma.vvi AS SELECT a, b FROM ma.v",
];

/// Groups of lines: the privileges granted to `ma_user`, and below them the error number (0 for none) of each statement
/// that `ma_user` runs. Statements on one line run up to the first that fails.
const CASES: &str = include_str!("privileges.txt");

const CLEANUP: &[&str] = &[
    "DROP DATABASE IF EXISTS ma",
    "DROP DATABASE IF EXISTS mb",
    "DROP USER IF EXISTS ma_user@localhost, ma_definer@localhost, ma_x@localhost",
    "DROP ROLE IF EXISTS ma_x",
];

/// Runs all cases on a server, whose sessions `log_in` opens; the objects are created anew for each line.
fn check<S: Errno>(log_in: impl Fn(&str) -> S) {
    let mut wrong = Vec::new();
    let mut root = log_in("root");
    for case in CASES.split("\n\n") {
        let lines = case.lines().filter(|line| !line.starts_with('#'));
        let (grants, statements): (Vec<_>, Vec<_>) =
            lines.partition(|line| line.starts_with("GRANT"));
        for line in statements {
            let (expected, statements) = line.trim_start().split_once("  ").unwrap();
            succeed(&mut root, CLEANUP);
            let users = "CREATE USER ma_user@localhost, ma_definer@localhost";
            succeed(&mut root, [users]);
            succeed(&mut root, OBJECTS);
            succeed(&mut root, &grants);
            let mut user = log_in("ma_user");
            let mut errors = statements.split("; ").map(|one| user.errno(one));
            let found = errors.find(|errno| *errno != 0).unwrap_or(0);
            if found.to_string() != expected {
                wrong.push(format!("{grants:?} {statements}: {found}, not {expected}"));
            }
        }
    }
    succeed(&mut root, CLEANUP);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_statement_needs_its_privileges() {
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    // The views belong to root.
    database.set_up_root(RootPassword::Empty).unwrap();
    check(|user| log_in(database, user));
}

#[test]
fn mysql_needs_the_same_privileges() {
    if let Some(socket) = server::socket(Flavour::MySql) {
        check(|user| Client::connect(&socket, user).unwrap());
    }
}

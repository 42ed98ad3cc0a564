//! The process that is killed: several sessions write, and report acknowledged work on standard output, each as a line
//! of JSON.

use std::path::Path;
use std::sync::Arc;

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture::SessionExt;
use mayfly_testkit::process;
use serde::{Deserialize, Serialize};

use crate::crash::definitions::CYCLE;
use crate::crash::model::{JOURNAL_EVERY, JOURNAL_ROWS, Model, WRITERS};

/// Report of acknowledged work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Ready,
    /// A transaction.
    Done {
        writer: u64,
        n: u64,
    },
    /// Rows added outside transactions, and the number of the first one.
    Journal {
        writer: u64,
        n: u64,
        id: u64,
    },
    /// An assigned number.
    Number(u64),
    /// A statement that changes definitions.
    Defined(usize),
    Overflowed,
    /// Shared and global temporary tables were filled.
    Shared,
    BackedUp(u64),
    Wrong(String),
}

fn say(report: &Report) {
    process::report(&serde_json::to_string(report).expect("JSON has a form for it"));
}

fn wrong(text: &str) -> ! {
    say(&Report::Wrong(text.to_owned()));
    std::process::abort()
}

/// Runs a statement; returns whether the transaction must be restarted.
fn run(session: &mut Session, sql: &str) -> bool {
    match session.rows(sql) {
        Ok(_) => false,
        Err(error) if [1205, 1213].contains(&error.errno()) => {
            session.must("ROLLBACK");
            true
        }
        Err(error) => wrong(&format!("{sql}: {error}")),
    }
}

/// Works until it is killed. `place`: index at which the cycle of definitions continues.
pub(crate) fn work(directory: &Path, place: usize, flush: &str) -> ! {
    let mut options = crate::crash::options(directory);
    let variable = "innodb_flush_log_at_trx_commit".to_owned();
    options.variables.push((variable, flush.to_owned()));
    let database = match Database::open(options) {
        Ok(database) => database,
        Err(error) => wrong(&error.to_string()),
    };
    say(&Report::Ready);
    for writer in 1..=WRITERS {
        let database = Arc::clone(&database);
        std::thread::spawn(move || write(&database, writer));
    }
    let (define, overflow, back) = (database.clone(), database.clone(), database.clone());
    std::thread::spawn(move || change_definitions(&define, place));
    std::thread::spawn(move || overflows(&overflow));
    let share = database.clone();
    std::thread::spawn(move || shares(&share));
    let directory = directory.to_owned();
    std::thread::spawn(move || back_up(&back, &directory));
    read(&database)
}

fn write(database: &Arc<Database>, writer: u64) -> ! {
    let mut session = database.session();
    session.must("USE work");
    session.must("SET cte_max_recursion_depth = 10000");
    let progress = session.must(&format!("SELECT n FROM progress WHERE w = {writer}"));
    let last: u64 = progress
        .first()
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| wrong("no progress"));
    let mut model = Model::new(writer);
    while model.n < last {
        model.step();
    }
    loop {
        let transaction = model.step();
        let n = model.n;
        if n.is_multiple_of(JOURNAL_EVERY) {
            journal(&mut session, writer, n);
        }
        if !transaction.undone.is_empty() {
            session.must("BEGIN");
            for statement in &transaction.undone {
                if run(&mut session, statement) {
                    break;
                }
            }
            session.must("ROLLBACK");
        }
        'again: loop {
            session.must("BEGIN");
            for statement in &transaction.statements {
                if run(&mut session, statement) {
                    continue 'again;
                }
            }
            session.must("COMMIT");
            break;
        }
        say(&Report::Done { writer, n });
    }
}

fn last_number(session: &mut Session) -> u64 {
    let id = session.value("SELECT LAST_INSERT_ID()");
    id.parse().expect("a number")
}

fn journal(session: &mut Session, writer: u64, n: u64) {
    let there = format!("SELECT COUNT(*) FROM journal WHERE w = {writer} AND n = {n}");
    if session.must(&there) != ["0"] {
        return;
    }
    let values: Vec<String> = (1..=JOURNAL_ROWS)
        .map(|part| format!("({writer}, {n}, {part})"))
        .collect();
    let insert = format!(
        "INSERT INTO journal (w, n, part) VALUES {}",
        values.join(", ")
    );
    while run(session, &insert) {}
    let id = last_number(session);
    say(&Report::Journal { writer, n, id });
    let insert = format!("INSERT INTO numbers (w) VALUES ({writer})");
    while run(session, &insert) {}
    let id = last_number(session);
    say(&Report::Number(id));
    let delete = format!("DELETE FROM numbers WHERE id = {id}");
    while run(session, &delete) {}
}

fn change_definitions(database: &Arc<Database>, mut place: usize) -> ! {
    let mut session = database.session();
    loop {
        if !run(&mut session, CYCLE[place]) {
            say(&Report::Defined(place));
            place = (place + 1) % CYCLE.len();
        }
    }
}

/// Runs statements with temporary tables in files.
fn overflows(database: &Arc<Database>) -> ! {
    let mut session = database.session();
    session.must("USE work");
    session.must("SET cte_max_recursion_depth = 1000000");
    loop {
        session.must("CREATE TEMPORARY TABLE much (i INT PRIMARY KEY, s VARCHAR(200), KEY (s))");
        session.must("INSERT INTO much WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 20000) \
             SELECT i, REPEAT(CHAR(65 + i % 26), 100 + i % 100) FROM r");
        session.must("SELECT s, COUNT(*) FROM much GROUP BY s ORDER BY 2, 1");
        session.must("DROP TEMPORARY TABLE much");
        say(&Report::Overflowed);
    }
}

/// Fills shared and global temporary tables, and reads kept results.
fn shares(database: &Arc<Database>) -> ! {
    let mut session = database.session();
    session.must("CREATE DATABASE IF NOT EXISTS volatile");
    session.must("USE volatile");
    session.must("SET cte_max_recursion_depth = 1000000");
    session.must("CREATE GLOBAL TEMPORARY TABLE IF NOT EXISTS own (i INT PRIMARY KEY, s TEXT) ON COMMIT PRESERVE ROWS");
    loop {
        session.must("CREATE SHARED TEMPORARY TABLE shared (i INT PRIMARY KEY, s VARCHAR(200), KEY (s)) TTL 1 HOUR");
        for table in ["shared", "own"] {
            session.must(&format!(
                "REPLACE INTO {table} WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5000) \
                 SELECT i, REPEAT(CHAR(65 + i % 26), 100 + i % 100) FROM r"
            ));
        }
        for _ in 0..3 {
            session.must(
                "SELECT /*+ RESULT_CACHE(UNTIL CHANGED) */ s, COUNT(*) FROM shared GROUP BY s",
            );
            session.must("BEGIN");
            session.must("UPDATE shared SET s = 'changed' WHERE i < 50");
            session.must("ROLLBACK");
        }
        session.must("DROP TABLE shared");
        say(&Report::Shared);
    }
}

/// Copies the data directory repeatedly.
fn back_up(database: &Arc<Database>, directory: &Path) -> ! {
    let mut number = 0;
    loop {
        std::thread::sleep(std::time::Duration::from_millis(100));
        number += 1;
        let path = directory.join(format!("backup-{number}"));
        if let Err(error) = database.backup(&path) {
            wrong(&error.to_string());
        }
        say(&Report::BackedUp(number));
        if number > 2 {
            let old = directory.join(format!("backup-{}", number - 2));
            let _ = std::fs::remove_dir_all(old);
        }
    }
}

/// Holds snapshots while others write: each sees whole transactions.
fn read(database: &Arc<Database>) -> ! {
    let mut session = database.session();
    session.must("USE work");
    loop {
        session.must("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        let shared = session.must("SELECT n FROM shared");
        let sum = session.must("SELECT CAST(SUM(n DIV 4) AS UNSIGNED) FROM progress");
        if shared != sum {
            wrong(&format!("{shared:?} were counted, {sum:?} done"));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        if session.must("SELECT n FROM shared") != shared {
            wrong("a snapshot changed");
        }
        session.must("COMMIT");
    }
}

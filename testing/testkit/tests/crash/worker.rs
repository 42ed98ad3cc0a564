//! The process that is killed: several sessions write, and say on standard output what was
//! acknowledged, a line each:
//!
//! ```text
//! ready
//! done <writer> <n>             a transaction
//! journal <writer> <n> <id>     rows added outside transactions, and the first one's number
//! number <id>                   a number that was given
//! defined <place>               a statement that changes definitions
//! overflowed
//! wrong <text>
//! ```

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture::{must, rows};

use crate::definitions::CYCLE;
use crate::model::{JOURNAL_EVERY, JOURNAL_ROWS, Model, WRITERS};

/// Whole lines only, whoever else writes.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(format!("{line}\n").as_bytes())
        .and_then(|()| out.flush());
    if written.is_err() {
        std::process::abort();
    }
}

fn wrong(text: &str) -> ! {
    say(&format!("wrong {}", text.replace('\n', " ")));
    std::process::abort()
}

/// Runs a statement; whether the transaction has to be begun anew.
fn run(session: &mut Session, sql: &str) -> bool {
    match rows(session, sql) {
        Ok(_) => false,
        Err(error) if [1205, 1213].contains(&error.errno()) => {
            must(session, "ROLLBACK");
            true
        }
        Err(error) => wrong(&format!("{sql}: {error}")),
    }
}

/// Works until it is killed. `place` is where the cycle of definitions goes on.
pub(crate) fn work(directory: &Path, place: usize, flush: &str) -> ! {
    let mut options = crate::options(directory);
    let variable = "innodb_flush_log_at_trx_commit".to_owned();
    options.variables.push((variable, flush.to_owned()));
    let database = match Database::open(options) {
        Ok(database) => database,
        Err(error) => wrong(&error.to_string()),
    };
    say("ready");
    for writer in 1..=WRITERS {
        let database = Arc::clone(&database);
        std::thread::spawn(move || write(&database, writer));
    }
    let (define, overflow, back) = (database.clone(), database.clone(), database.clone());
    std::thread::spawn(move || change_definitions(&define, place));
    std::thread::spawn(move || overflows(&overflow));
    let directory = directory.to_owned();
    std::thread::spawn(move || back_up(&back, &directory));
    read(&database)
}

fn write(database: &Arc<Database>, writer: u64) -> ! {
    let mut session = database.session();
    must(&mut session, "USE work");
    must(&mut session, "SET cte_max_recursion_depth = 10000");
    let progress = must(
        &mut session,
        &format!("SELECT n FROM progress WHERE w = {writer}"),
    );
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
            must(&mut session, "BEGIN");
            for statement in &transaction.undone {
                if run(&mut session, statement) {
                    break;
                }
            }
            must(&mut session, "ROLLBACK");
        }
        'again: loop {
            must(&mut session, "BEGIN");
            for statement in &transaction.statements {
                if run(&mut session, statement) {
                    continue 'again;
                }
            }
            must(&mut session, "COMMIT");
            break;
        }
        say(&format!("done {writer} {n}"));
    }
}

fn journal(session: &mut Session, writer: u64, n: u64) {
    let there = format!("SELECT COUNT(*) FROM journal WHERE w = {writer} AND n = {n}");
    if must(session, &there) != ["0"] {
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
    let id = must(session, "SELECT LAST_INSERT_ID()");
    say(&format!("journal {writer} {n} {}", id[0]));
    while run(
        session,
        &format!("INSERT INTO numbers (w) VALUES ({writer})"),
    ) {}
    let id = must(session, "SELECT LAST_INSERT_ID()");
    say(&format!("number {}", id[0]));
    while run(
        session,
        &format!("DELETE FROM numbers WHERE id = {}", id[0]),
    ) {}
}

fn change_definitions(database: &Arc<Database>, mut place: usize) -> ! {
    let mut session = database.session();
    loop {
        if !run(&mut session, CYCLE[place]) {
            say(&format!("defined {place}"));
            place = (place + 1) % CYCLE.len();
        }
    }
}

/// Temporary tables in files.
fn overflows(database: &Arc<Database>) -> ! {
    let mut session = database.session();
    must(&mut session, "USE work");
    must(&mut session, "SET cte_max_recursion_depth = 1000000");
    loop {
        must(
            &mut session,
            "CREATE TEMPORARY TABLE much (i INT PRIMARY KEY, s VARCHAR(200), KEY (s))",
        );
        must(
            &mut session,
            "INSERT INTO much WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 20000) \
             SELECT i, REPEAT(CHAR(65 + i % 26), 100 + i % 100) FROM r",
        );
        must(
            &mut session,
            "SELECT s, COUNT(*) FROM much GROUP BY s ORDER BY 2, 1",
        );
        must(&mut session, "DROP TEMPORARY TABLE much");
        say("overflowed");
    }
}

/// Copies of the data directory, one after the other.
fn back_up(database: &Arc<Database>, directory: &Path) -> ! {
    let mut number = 0;
    loop {
        std::thread::sleep(std::time::Duration::from_millis(100));
        number += 1;
        let path = directory.join(format!("backup-{number}"));
        if let Err(error) = database.backup(&path) {
            wrong(&error.to_string());
        }
        say(&format!("backup {number}"));
        if number > 2 {
            let old = directory.join(format!("backup-{}", number - 2));
            let _ = std::fs::remove_dir_all(old);
        }
    }
}

/// Snapshots that are held while others write: each sees whole transactions.
fn read(database: &Arc<Database>) -> ! {
    let mut session = database.session();
    must(&mut session, "USE work");
    loop {
        must(&mut session, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        let shared = must(&mut session, "SELECT n FROM shared");
        let sum = must(
            &mut session,
            "SELECT CAST(SUM(n DIV 4) AS UNSIGNED) FROM progress",
        );
        if shared != sum {
            wrong(&format!("{shared:?} were counted, {sum:?} done"));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        if must(&mut session, "SELECT n FROM shared") != shared {
            wrong("a snapshot changed");
        }
        must(&mut session, "COMMIT");
    }
}

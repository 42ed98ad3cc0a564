//! The kinds of temporary tables in process: ON COMMIT DELETE ROWS, global, shared and kept results, each beside what a
//! user would have without it. The variants of a comparison alternate in rounds; a figure is the median of the rounds.

use std::sync::Arc;
use std::time::Instant;

use mayfly_engine::{Database, DatabaseOptions, Session};

const ROUNDS: usize = 7;
/// Statements of a round whose statement takes microseconds.
const STATEMENTS: usize = 20_000;
/// Sessions of a round.
const SESSIONS: usize = 2_000;
const COLUMNS: &str = "(id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(64), KEY (a))";
/// Article 2's statement over the table that [`headline`] makes.
const HEADLINE: &str = "s, COUNT(*) FROM headline GROUP BY s ORDER BY 2 DESC, 1 LIMIT 10";

/// Measures all kinds. `rows` is the number of rows of the headline's table; the shared table has a row of 1,000 bytes
/// for each of them.
pub(crate) fn compare(rows: usize) {
    commits();
    first_uses();
    kept_results(rows);
    writes_beside_results();
    readers(rows);
}

fn open() -> (Arc<Database>, Session) {
    let database = Database::open(DatabaseOptions::new()).expect("the database opens");
    let mut session = database.session();
    run(&mut session, "USE test");
    (database, session)
}

fn run(session: &mut Session, sql: &str) {
    session
        .execute(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Microseconds of a call of `work`, of `count` calls.
fn each(count: usize, mut work: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    for number in 0..count {
        work(number);
    }
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Median times of the variants, and the median of the rounds' ratios of the last to the first.
fn turns<const N: usize>(mut time: impl FnMut(usize) -> f64) -> ([f64; N], f64) {
    let rounds: Vec<[f64; N]> = (0..ROUNDS)
        .map(|_| std::array::from_fn(&mut time))
        .collect();
    let times =
        std::array::from_fn(|variant| median(rounds.iter().map(|round| round[variant]).collect()));
    let ratios = rounds.iter().map(|round| round[N - 1] / round[0]).collect();
    (times, median(ratios))
}

/// COMMIT after one row has been inserted into a table that keeps its rows, and into one that does not.
fn commits() {
    let (_database, mut session) = open();
    for kind in ["TEMPORARY", "GLOBAL TEMPORARY"] {
        let tables = ["PRESERVE", "DELETE"].map(|ending| {
            let table = format!("{kind}_{ending}").replace(' ', "_");
            let create = format!("CREATE {kind} TABLE {table} {COLUMNS} ON COMMIT {ending} ROWS");
            run(&mut session, &create);
            table
        });
        let mut id = 0;
        let mut transaction = |session: &mut Session, table: &str| {
            let mut commit = 0.0;
            let whole = each(STATEMENTS, |_| {
                id += 1;
                run(session, "BEGIN");
                run(
                    session,
                    &format!("INSERT INTO {table} VALUES ({id}, {id}, 'row')"),
                );
                let start = Instant::now();
                run(session, "COMMIT");
                commit += start.elapsed().as_secs_f64() * 1e6;
            });
            (whole, commit / STATEMENTS as f64)
        };
        let mut wholes = [Vec::new(), Vec::new()];
        let ([kept, emptied], ratio) = turns(|variant| {
            let (whole, commit) = transaction(&mut session, &tables[variant]);
            wholes[variant].push(whole);
            commit
        });
        let [kept_whole, emptied_whole] = wholes.map(median);
        println!(
            "{kind}: COMMIT with PRESERVE ROWS {kept:.2} us, with DELETE ROWS {emptied:.2} us: {ratio:.2}; \
             whole transactions {kept_whole:.2} us, {emptied_whole:.2} us: {:.2}",
            emptied_whole / kept_whole
        );
    }
}

/// Sessions that make a temporary table, insert a row and end, and sessions that use a global one instead. The times of a
/// session that does nothing and of an INSERT are taken off.
fn first_uses() {
    let (database, mut session) = open();
    run(
        &mut session,
        &format!("CREATE GLOBAL TEMPORARY TABLE of_all {COLUMNS} ON COMMIT PRESERVE ROWS"),
    );
    let create = format!("CREATE TEMPORARY TABLE own {COLUMNS}");
    let insert = "INSERT INTO of_all VALUES (1, 1, 'row')";
    let work: [&[&str]; 4] = [
        &[],
        &[&create, "INSERT INTO own VALUES (1, 1, 'row')"],
        &[insert],
        &[insert, "INSERT INTO of_all VALUES (2, 2, 'row')"],
    ];
    let ([none, own, global, twice], _) = turns(|variant| {
        each(SESSIONS, |_| {
            let mut session = database.session();
            run(&mut session, "USE test");
            for sql in work[variant] {
                run(&mut session, sql);
            }
        })
    });
    let besides = none + (twice - global);
    let (own, global) = (own - besides, global - besides);
    println!(
        "first use and end: CREATE TEMPORARY TABLE {own:.2} us, GLOBAL {global:.2} us: {:.2}",
        global / own
    );
}

/// Makes the headline's table, of `rows` rows.
fn headline(session: &mut Session, rows: usize) {
    run(session, "SET cte_max_recursion_depth = 1000000000");
    run(
        session,
        "CREATE TABLE headline (a INT PRIMARY KEY, s VARCHAR(60))",
    );
    run(
        session,
        &format!(
            "INSERT INTO headline WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < {rows}) \
             SELECT n, CONCAT(MD5(n), 'xxxxxxxx') FROM r"
        ),
    );
}

/// A result that is kept, beside the statement itself and beside a user's temporary table.
fn kept_results(rows: usize) {
    let (_database, mut session) = open();
    headline(&mut session, rows);
    let plain = median(
        (0..3)
            .map(|_| each(1, |_| run(&mut session, &format!("SELECT {HEADLINE}"))))
            .collect(),
    );
    for (name, query, count) in [
        ("the headline", HEADLINE.to_owned(), STATEMENTS / 10),
        (
            "100,000 rows",
            "a, s FROM headline WHERE a <= 100000".to_owned(),
            10,
        ),
    ] {
        let hit = format!("SELECT /*+ RESULT_CACHE(1h) */ {query}");
        run(&mut session, "DROP TEMPORARY TABLE IF EXISTS own");
        run(
            &mut session,
            &format!("CREATE TEMPORARY TABLE own AS SELECT {query}"),
        );
        run(&mut session, &hit);
        let ([read, hit], ratio) = turns(|variant| {
            let sql = if variant == 0 {
                "SELECT * FROM own"
            } else {
                &hit
            };
            each(count, |_| run(&mut session, sql))
        });
        println!("{name}: a temporary table {read:.2} us, a hit {hit:.2} us: {ratio:.2}");
        if query == HEADLINE {
            println!("  itself {plain:.0} us: {:.0} times a hit", plain / hit);
        }
    }
}

/// Writes to a table that no result depends on.
fn writes_beside_results() {
    let (_database, mut session) = open();
    headline(&mut session, 1_000);
    run(
        &mut session,
        "CREATE TABLE written (a INT PRIMARY KEY, b INT)",
    );
    run(&mut session, "INSERT INTO written VALUES (1, 1)");
    let mut value = 0;
    let ([without, with], ratio) = turns(|variant| {
        let size = ["0", "DEFAULT"][variant];
        run(
            &mut session,
            &format!("SET GLOBAL result_cache_size = {size}"),
        );
        let kept = "SELECT /*+ RESULT_CACHE(UNTIL CHANGED) */ COUNT(*) FROM headline";
        run(&mut session, kept);
        each(STATEMENTS, |_| {
            value += 1;
            run(
                &mut session,
                &format!("UPDATE written SET b = {value} WHERE a = 1"),
            );
        })
    });
    println!(
        "a write: no cache {without:.3} us, a result of another table {with:.3} us: {ratio:.3}"
    );
}

/// Readers of a shared table, beside readers of a base table.
fn readers(rows: usize) {
    let (database, mut session) = open();
    headline(&mut session, rows);
    let (columns, fill) = (
        "(a INT PRIMARY KEY, s VARCHAR(1000))",
        "SELECT a, REPEAT(s, 25) FROM headline",
    );
    run(
        &mut session,
        &format!("CREATE SHARED TEMPORARY TABLE shared {columns}"),
    );
    run(&mut session, &format!("INSERT INTO shared {fill}"));
    let read = |table: &str, readers: usize| {
        let sql = format!("SELECT COUNT(*), MAX(s) FROM test.{table} WHERE s > 'a'");
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..readers {
                let mut session = database.session();
                let sql = &sql;
                scope.spawn(move || run(&mut session, sql));
            }
        });
        readers as f64 / start.elapsed().as_secs_f64()
    };
    let memory = |readers| {
        read("shared", readers);
        resident()
    };
    let (one, many) = (memory(1), memory(32));
    println!(
        "a shared table: resident with one reader {one:.0} MiB, with 32 {many:.0} MiB: {:.3}",
        many / one
    );
    run(&mut session, &format!("CREATE TABLE base {columns}"));
    run(&mut session, &format!("INSERT INTO base {fill}"));
    for readers in [1, 32] {
        let ([base, shared], ratio) = turns(|variant| read(["base", "shared"][variant], readers));
        println!(
            "{readers} readers: base {base:.2} a second, shared {shared:.2} a second: {ratio:.2}"
        );
    }
}

/// Resident memory of the process, in MiB; 0 where the system does not tell.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

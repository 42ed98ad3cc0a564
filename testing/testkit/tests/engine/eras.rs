//! `tmp_table_compat` makes the temporary tables of other servers: what EXPLAIN notes, the counters and the fields of
//! the slow log are those that the servers gave (`testing/eras`), except for statements that have a reason.
//!
//! `MAYFLY_ERAS_PRINT=1` prints the statements that differ.

use std::collections::BTreeMap;

use mayfly_engine::Session;
use mayfly_testkit::corpus;
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

/// A statement and what a server did.
struct Answer {
    /// Settings, and the statement.
    text: String,
    /// Notes of EXPLAIN by query block.
    explain: String,
    /// `Created_tmp_tables`, `Created_tmp_disk_tables`, `Created_tmp_files`.
    counters: String,
    /// Fields of the slow log.
    fields: BTreeMap<String, String>,
}

fn file(name: &str) -> String {
    let path = corpus::root().join("testing/eras").join(name);
    std::fs::read_to_string(path).expect("the file is in the repository")
}

fn answers(name: &str) -> Vec<Answer> {
    let text = file(&format!("{name}.answers"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let answer = |pair: &[&str]| {
        let mut parts = pair[1].trim_start_matches('\t').split('\t');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (explain, counters, fields) = (part(), part(), part());
        let fields = fields.split(' ').filter_map(|field| field.split_once('='));
        Answer {
            text: pair[0].to_owned(),
            explain,
            counters,
            fields: fields
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    };
    lines.chunks(2).map(answer).collect()
}

/// Statements that differ from a server for a reason: (server, statement).
fn exceptions() -> Vec<(String, String)> {
    let text = file("exceptions.txt");
    let mut found = Vec::new();
    let mut has_reason = false;
    for line in text.lines() {
        match line.split_once('\t') {
            Some((server, statement)) => {
                assert!(has_reason, "without a reason: {line}");
                found.push((server.to_owned(), statement.to_owned()));
            }
            None => has_reason = !line.is_empty(),
        }
    }
    found
}

/// The notes of EXPLAIN as `testing/eras/make` writes them.
fn notes(session: &mut Session, statement: &str) -> String {
    let rows = session.must(&format!("EXPLAIN FORMAT=TRADITIONAL {statement}"));
    let mut blocks: Vec<(String, String)> = Vec::new();
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let extra = columns.last().copied().unwrap_or_default();
        let mut notes = String::new();
        if extra.contains("Using temporary") {
            notes.push('T');
        }
        if extra.contains("Using filesort") {
            notes.push('F');
        }
        let key = if columns[1].contains("RESULT") {
            "result"
        } else {
            columns[0]
        };
        if !notes.is_empty() {
            blocks.push((key.to_owned(), notes));
        }
    }
    blocks.sort();
    blocks.dedup();
    let blocks: Vec<String> = blocks
        .iter()
        .map(|(key, notes)| format!("{key}:{notes}"))
        .collect();
    if blocks.is_empty() {
        "-".to_owned()
    } else {
        blocks.join(" ")
    }
}

fn sorted(notes: &str) -> String {
    let mut notes: Vec<&str> = notes.split(' ').collect();
    notes.sort_unstable();
    notes.join(" ")
}

fn status(session: &mut Session) -> BTreeMap<String, u64> {
    let rows = session.must(
        "SHOW SESSION STATUS WHERE Variable_name IN ('Created_tmp_tables', 'Created_tmp_disk_tables', \
         'Created_tmp_files', 'Sort_scan', 'Sort_range', 'Sort_merge_passes')",
    );
    let pairs = rows.iter().filter_map(|row| row.split_once('\t'));
    pairs
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap_or(0)))
        .collect()
}

/// The differences of a statement from a server's answer.
fn differences(session: &mut Session, answer: &Answer) -> Vec<String> {
    let (before, statement) = match answer.text.rsplit_once("; ") {
        Some((before, statement)) => (before, statement),
        None => ("", answer.text.as_str()),
    };
    if !before.is_empty() {
        session.must(before);
    }
    let shown = notes(session, statement);
    session.must("BEGIN");
    let first = status(session);
    let errno = session.errno(statement);
    let last = status(session);
    session.must("ROLLBACK");
    if let Some((set, _)) = before.split_once('=') {
        session.must(&format!("{set} = DEFAULT"));
    }
    let mut found = Vec::new();
    if errno != 0 {
        found.push(format!("error {errno}"));
    }
    if sorted(&answer.explain) != shown {
        found.push(format!("EXPLAIN {}, not {}", shown, answer.explain));
    }
    let of = |name: &str| last.get(name).unwrap_or(&0) - first.get(name).unwrap_or(&0);
    let (tables, disk) = (of("Created_tmp_tables"), of("Created_tmp_disk_tables"));
    let counters = format!("{tables} {disk} {}", of("Created_tmp_files"));
    if counters != answer.counters {
        found.push(format!("counters {counters}, not {}", answer.counters));
    }
    let sorts = of("Sort_scan") + of("Sort_range");
    let yes = |holds: bool| if holds { "Yes" } else { "No" }.to_owned();
    for (name, expected) in &answer.fields {
        let own = match name.as_str() {
            "Tmp_tables" | "Created_tmp_tables" => tables.to_string(),
            "Tmp_disk_tables" | "Created_tmp_disk_tables" => disk.to_string(),
            "Tmp_table" => yes(tables > 0),
            "Tmp_table_on_disk" => yes(disk > 0),
            "Filesort" => yes(sorts > 0),
            "Filesort_on_disk" => yes(of("Sort_merge_passes") > 0),
            "Merge_passes" | "Sort_merge_passes" => of("Sort_merge_passes").to_string(),
            "Sort_range_count" => of("Sort_range").to_string(),
            "Sort_scan_count" => of("Sort_scan").to_string(),
            other => panic!("an unknown field {other}"),
        };
        if own != *expected {
            found.push(format!("{name} {own}, not {expected}"));
        }
    }
    found
}

fn open(era: &str) -> (Fixture, Session) {
    let fixture = Fixture::open(|_| {});
    let mut session = fixture.session();
    session.must("CREATE DATABASE d CHARACTER SET utf8mb4; USE d");
    session.must("SET sql_mode = 'STRICT_TRANS_TABLES'");
    for statement in file("setup.sql").lines() {
        session.must(statement);
    }
    session.must(&format!("SET tmp_table_compat = '{era}'"));
    (fixture, session)
}

fn compare(server: &str, era: &str) {
    let (fixture, mut session) = open(era);
    let exceptions = exceptions();
    let answers = answers(server);
    let prints = std::env::var_os("MAYFLY_ERAS_PRINT").is_some();
    let (mut equal, mut unexplained) = (0, Vec::new());
    for answer in &answers {
        let found = differences(&mut session, answer);
        let key = (server.to_owned(), answer.text.clone());
        match (found.is_empty(), exceptions.contains(&key)) {
            (true, true) => unexplained.push(format!("an exception is equal: {}", answer.text)),
            (true, false) => equal += 1,
            (false, is_known) => {
                if prints {
                    println!("{server}\t{}\n    {}", answer.text, found.join("\n    "));
                }
                if !is_known {
                    unexplained.push(format!("{}: {}", answer.text, found.join("; ")));
                }
            }
        }
    }
    println!(
        "{server}: {equal} of {} statements are equal",
        answers.len()
    );
    drop(session);
    drop(fixture);
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    assert!(
        answers.len() >= 300,
        "{server}: {} statements",
        answers.len()
    );
    assert!(equal * 100 >= answers.len() * 98, "{server}: {equal} equal");
}

#[test]
fn temporary_tables_are_those_of_mysql() {
    compare("mysql97", "mysql80");
}

#[test]
fn temporary_tables_are_those_of_mariadb() {
    compare("mariadb1011", "mariadb1011");
}

/// Rules of servers that are not at hand, each with an example from its manual or an article.
#[test]
fn former_eras_follow_their_manuals() {
    let group = "SELECT m, COUNT(*) FROM t1 GROUP BY m";
    let cases: [(&str, &str, &str, &str); 20] = [
        // GROUP BY sorts its groups before 8.0.
        ("mysql57", group, "1:TF", "1 0"),
        ("mysql50", group, "1:TF", "1 0"),
        (
            "mysql57",
            "SELECT m, COUNT(*) FROM t1 GROUP BY m ORDER BY NULL",
            "1:T",
            "1 0",
        ),
        // TEXT and BLOB, and more than 512 characters, begin on disk.
        (
            "mysql57",
            "SELECT tx, COUNT(*) FROM t1 GROUP BY tx",
            "1:TF",
            "1 1",
        ),
        (
            "mysql57",
            "SELECT e, COUNT(*) FROM t1 GROUP BY e",
            "1:TF",
            "1 1",
        ),
        (
            "mysql57",
            "SELECT d, COUNT(*) FROM t1 GROUP BY d",
            "1:TF",
            "1 0",
        ),
        ("mysql57", "SELECT DISTINCT e FROM t1", "1:T", "1 1"),
        (
            "mysql57",
            "SELECT e FROM t1 UNION SELECT e FROM t1",
            "result:T",
            "1 1",
        ),
        (
            "mysql57",
            "SELECT d FROM t1 UNION SELECT d FROM t1",
            "result:T",
            "1 0",
        ),
        // A computed column of more than 512 characters, as in the article of 2011.
        (
            "mysql57",
            "SELECT * FROM (SELECT (SELECT e FROM t1 y WHERE y.id = z.id) m FROM t1 z LIMIT 9) x",
            "-",
            "1 1",
        ),
        (
            "mysql57",
            "SELECT * FROM (SELECT (SELECT d FROM t1 y WHERE y.id = z.id) m FROM t1 z LIMIT 9) x",
            "-",
            "1 0",
        ),
        // UNION ALL has no table since 5.7.3.
        (
            "mysql57",
            "SELECT m FROM t1 UNION ALL SELECT m FROM t1",
            "-",
            "0 0",
        ),
        (
            "mysql50",
            "SELECT m FROM t1 UNION ALL SELECT m FROM t1",
            "-",
            "1 0",
        ),
        // Derived tables are merged since 5.7.
        (
            "mysql57",
            "SELECT * FROM (SELECT id, m FROM t1) x",
            "-",
            "0 0",
        ),
        (
            "mysql50",
            "SELECT * FROM (SELECT id, m FROM t1) x",
            "-",
            "1 0",
        ),
        (
            "mysql50",
            "SELECT * FROM (SELECT id, tx FROM t1) x",
            "-",
            "1 1",
        ),
        // A join is sorted in a table.
        (
            "mysql57",
            "SELECT t1.m FROM t1 JOIN t3 ON t1.m = t3.n ORDER BY t3.s",
            "1:TF",
            "1 0",
        ),
        // IN is evaluated for each row before 5.6.
        (
            "mysql50",
            "SELECT id FROM t1 WHERE m IN (SELECT n FROM t3)",
            "-",
            "0 0",
        ),
        // MEMORY holds BLOBs.
        (
            "mariadb13",
            "SELECT tx, COUNT(*) FROM t1 GROUP BY tx",
            "1:TF",
            "1 0",
        ),
        (
            "mariadb13",
            "SELECT e, COUNT(*) FROM t1 GROUP BY e",
            "1:TF",
            "1 0",
        ),
    ];
    for (era, statement, explain, counters) in cases {
        let (fixture, mut session) = open(era);
        if statement.starts_with("SELECT * FROM (") || !statement.contains("UNION ALL") {
            assert_eq!(
                notes(&mut session, statement),
                explain,
                "{era}: {statement}"
            );
        }
        let first = status(&mut session);
        session.must(statement);
        let last = status(&mut session);
        let of = |name: &str| last[name] - first[name];
        let made = format!(
            "{} {}",
            of("Created_tmp_tables"),
            of("Created_tmp_disk_tables")
        );
        assert_eq!(made, counters, "{era}: {statement}");
        drop(session);
        drop(fixture);
    }
}

#[test]
fn groups_are_in_order_and_a_temporary_table_is_opened_once() {
    let (fixture, mut session) = open("mysql57");
    session.must("CREATE TEMPORARY TABLE u SELECT m FROM t1");
    let group = "SELECT m FROM u GROUP BY m";
    let ordered = session.must("SELECT m FROM u GROUP BY m ORDER BY m");
    let twice = "SELECT COUNT(*) FROM u JOIN u v USING (m)";
    for (era, errno) in [
        ("mysql50", 1137),
        ("mysql57", 1137),
        ("mysql80", 1137),
        ("mariadb1011", 0),
        ("mariadb13", 0),
        ("native", 0),
    ] {
        session.must(&format!("SET tmp_table_compat = {era}"));
        assert_eq!(session.errno(twice), errno, "{era}");
        if !["mysql80", "native"].contains(&era) {
            assert_eq!(session.must(group), ordered, "{era}");
        }
    }
    session.must("DROP TEMPORARY TABLE u");
    drop(session);
    drop(fixture);
}

//! Each piece of advice, applied to the tables and settings of a running server: promised and measured effects. The
//! table is printed; counters of the server must be better afterwards, and times are reported.
//!
//! `MAYFLY_TESTS=all cargo test -p mayfly-testkit --test engine -- advise::measured --nocapture`, with
//! `MAYFLY_MARIADB_SOCKET` and `MAYFLY_MYSQL_SOCKET`, prints the tables of both servers in about ten minutes; without
//! `MAYFLY_TESTS=all`, that of a fifth of the statements.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use mayfly_advisor::{
    Change, ChangeKind, Digest, Event, Examiner, Explain, Finding, Input, Live, Report, Schema,
    Trial, Workload,
};
use mayfly_testkit::client::Row;
use mayfly_testkit::server::Flavour;
use mayfly_trials::Draw;

use super::TURN;
use super::shop::{Shop, rows_of, run, socket, text_of};

/// Settings, with the statements that run under them.
struct Circumstances {
    settings: &'static [(&'static str, &'static str)],
    statements: &'static [&'static str],
}

const COMMON: Circumstances = Circumstances {
    settings: &[],
    statements: &[
        "SELECT status, count(*) FROM purchase GROUP BY status",
        "SELECT channel, status, count(*) FROM purchase GROUP BY channel, status",
        "SELECT city, country, count(*) FROM customer GROUP BY city, country",
        "SELECT page, sum(seconds) FROM visit GROUP BY page",
        "SELECT visitor, max(visited) FROM visit GROUP BY visitor",
        "SELECT visitor, page, count(*) FROM visit GROUP BY visitor, page",
        "SELECT page, max(agent) FROM visit GROUP BY page",
        "SELECT agent, count(*) FROM visit GROUP BY agent",
        "SELECT note, count(*) FROM purchase GROUP BY note",
        "SELECT status, bought, sum(amount) FROM purchase WHERE channel = 'web' GROUP BY status, bought",
        "SELECT status, channel, count(*) FROM purchase GROUP BY status, channel ORDER BY channel, status",
        "SELECT bought, status, count(*) FROM purchase GROUP BY status, bought ORDER BY bought, status",
        "SELECT status, count(*) AS n FROM purchase GROUP BY status ORDER BY n",
        "SELECT customer_id, sum(amount) AS total FROM purchase GROUP BY customer_id ORDER BY total DESC LIMIT 10",
        "SELECT seconds, count(*) FROM visit WHERE visitor = 7 GROUP BY seconds",
        "SELECT referrer, count(*) FROM visit GROUP BY referrer",
        "SELECT page, referrer, count(*) FROM visit GROUP BY page, referrer",
        "SELECT DISTINCT city FROM customer",
        "SELECT DISTINCT channel FROM purchase",
        "SELECT DISTINCT status, channel FROM purchase",
        "SELECT DISTINCT page, referrer FROM visit",
        "SELECT DISTINCT biography FROM customer",
        "SELECT DISTINCT email FROM customer",
        "SELECT DISTINCT customer_id, status FROM purchase WHERE channel = 'web'",
        "SELECT count(DISTINCT channel) FROM purchase",
        "SELECT count(DISTINCT city) FROM customer",
        "SELECT status, count(DISTINCT channel) FROM purchase GROUP BY status",
        "SELECT country, group_concat(DISTINCT city) FROM customer GROUP BY country",
        "SELECT c.id, c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY c.id, c.name",
        "SELECT c.id, c.name, c.email, sum(p.amount) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY c.id, c.name, c.email",
        "SELECT p.customer_id, c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY p.customer_id, c.name",
        "SELECT id, note, count(*) FROM purchase GROUP BY id, note",
        "SELECT p.status, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY p.status",
        "SELECT c.name, p.amount FROM customer c JOIN purchase p ON p.customer_id = c.id WHERE c.country = 'DE' ORDER BY p.amount LIMIT 20",
        "SELECT c.name, c.biography, p.bought FROM customer c JOIN purchase p ON p.customer_id = c.id WHERE c.country = 'DE' ORDER BY p.bought",
        "SELECT count(*) FROM customer a JOIN customer b ON a.city = b.city",
        "SELECT count(*) FROM purchase p JOIN customer c ON p.note = c.name",
        "SELECT count(*) FROM purchase p JOIN visit v ON v.visitor = p.id",
        "SELECT count(*) FROM customer c JOIN visit v ON v.visitor = c.id WHERE c.country = 'DE'",
        "SELECT year(bought), sum(amount) FROM purchase GROUP BY year(bought)",
        "SELECT year(bought), count(*) FROM purchase GROUP BY year(bought)",
        "SELECT left(note, 6), count(*) FROM purchase GROUP BY left(note, 6)",
        "SELECT date_format(visited, '%Y-%m') AS month, count(*) FROM visit GROUP BY month",
        "SELECT concat(page, referrer) AS k, count(*) FROM visit GROUP BY k",
        "SELECT concat(note, status) AS k, count(*) FROM purchase GROUP BY k",
        "SELECT id FROM purchase WHERE status = 'open' UNION SELECT id FROM purchase WHERE status = 'paid'",
        "SELECT 'c' AS kind, id FROM customer UNION SELECT 'p' AS kind, id FROM purchase",
        "SELECT id, note FROM purchase WHERE channel = 'web' UNION SELECT id, note FROM purchase WHERE channel = 'shop'",
        "SELECT id, biography FROM customer WHERE country = 'DE' UNION SELECT id, biography FROM customer WHERE country = 'FR'",
        "SELECT customer_id FROM purchase WHERE status = 'open' UNION SELECT customer_id FROM purchase WHERE status = 'paid'",
        "SELECT biography FROM customer WHERE id < 100 UNION SELECT agent FROM visit WHERE id < 100",
        "SELECT SQL_BUFFER_RESULT name FROM customer WHERE country = 'DE'",
        "SELECT SQL_BUFFER_RESULT id, biography FROM customer WHERE country = 'DE'",
        "SELECT * FROM visit ORDER BY seconds",
        "SELECT * FROM visit ORDER BY seconds LIMIT 10",
        "SELECT * FROM purchase ORDER BY amount",
        "SELECT visitor, seconds FROM visit ORDER BY visitor, seconds",
        "SELECT d.page FROM (SELECT page, referrer, agent FROM visit ORDER BY visited LIMIT 1000) d WHERE d.page LIKE '/page/1%'",
        "SELECT d.page FROM (SELECT DISTINCT page, referrer FROM visit) d WHERE d.page LIKE '/page/1%'",
        "SELECT name FROM customer WHERE id IN (SELECT customer_id FROM purchase WHERE status = 'returned')",
        "SELECT name FROM customer WHERE id IN (SELECT visitor FROM visit WHERE seconds > 590)",
    ],
};

/// Settings under which size and sorts matter on both servers.
const SMALL: Circumstances = Circumstances {
    settings: &[
        ("tmp_table_size", "262144"),
        ("max_heap_table_size", "262144"),
        ("sort_buffer_size", "32768"),
    ],
    statements: &[
        "SELECT page, count(*) FROM visit GROUP BY page",
        "SELECT visitor, count(*) FROM visit GROUP BY visitor",
        "SELECT customer_id, status, count(*) FROM purchase GROUP BY customer_id, status",
        "SELECT DISTINCT page FROM visit",
        "SELECT DISTINCT referrer FROM visit",
        "SELECT v.page, count(*) FROM visit v JOIN customer c ON c.id = v.visitor GROUP BY v.page",
        "SELECT page, seconds FROM visit ORDER BY page, seconds",
        "SELECT visitor FROM visit ORDER BY visitor",
        "SELECT d.page FROM (SELECT page, visited FROM visit LIMIT 30000) d WHERE d.page LIKE '/page/1%'",
    ],
};

const ON_DISK: Circumstances = Circumstances {
    settings: &[("big_tables", "1")],
    statements: &[
        "SELECT channel, count(*) FROM purchase GROUP BY channel",
        "SELECT DISTINCT country, city FROM customer",
    ],
};

const UNMERGED: Circumstances = Circumstances {
    settings: &[("optimizer_switch", "'derived_merge=off'")],
    statements: &[
        "SELECT * FROM (SELECT id, name FROM customer WHERE id < 500) d WHERE d.id > 400",
        "SELECT * FROM (SELECT id, agent FROM visit WHERE id < 500) d WHERE d.id > 400",
    ],
};

/// MySQL with MariaDB's engine.
const MEMORY: Circumstances = Circumstances {
    settings: &[("internal_tmp_mem_storage_engine", "'MEMORY'")],
    statements: &[
        "SELECT agent, max(seconds) FROM visit GROUP BY agent",
        "SELECT biography, count(*) FROM customer GROUP BY biography",
    ],
};

/// Measurements of the runs of a statement.
#[derive(Debug, Clone)]
struct Work {
    /// Seconds of the fastest run.
    seconds: f64,
    /// Counters, in the order of [`NAMES`].
    counted: [u64; 5],
    rows: Vec<Row>,
}

/// Names of the server's counters; lower values are better.
const NAMES: [&str; 5] = ["tables", "on disk", "merges", "full joins", "rows read"];

fn counters(client: &mut mayfly_testkit::client::Client) -> [u64; 5] {
    let mut counted = [0; 5];
    for row in rows_of(client, "SHOW SESSION STATUS") {
        let text = |at: usize| {
            String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).to_lowercase()
        };
        let place = match text(0).as_str() {
            "created_tmp_tables" => 0,
            "created_tmp_disk_tables" => 1,
            "sort_merge_passes" => 2,
            "select_full_join" => 3,
            name if name.starts_with("handler_read_") => 4,
            _ => continue,
        };
        counted[place] += text(1).parse::<u64>().unwrap_or(0);
    }
    counted
}

fn work(shop: &Shop, sql: &str) -> Work {
    let mut session = shop.session();
    let before = counters(&mut session);
    let own = counters(&mut session);
    let begin = Instant::now();
    let mut rows = rows_of(&mut session, sql);
    let mut seconds = begin.elapsed().as_secs_f64();
    let after = counters(&mut session);
    rows.sort();
    for _ in 0..2 {
        // Long runs vary less.
        if seconds > 0.1 {
            break;
        }
        let begin = Instant::now();
        rows_of(&mut session, sql);
        seconds = seconds.min(begin.elapsed().as_secs_f64());
    }
    let counted = [0, 1, 2, 3, 4].map(|at| {
        let asked = own[at].saturating_sub(before[at]);
        after[at].saturating_sub(own[at]).saturating_sub(asked)
    });
    Work {
        seconds,
        counted,
        rows,
    }
}

/// A piece of advice with its measured effect.
struct Piece {
    statement: String,
    change: String,
    promised: String,
    before: Work,
    after: Work,
    /// Whether the rows differ from the promised ones.
    has_other_rows: bool,
}

impl Piece {
    /// Whether it makes a counter of the server worse.
    fn is_harmful(&self) -> bool {
        let worse = |at: usize| self.after.counted[at] > self.before.counted[at];
        worse(1) || worse(2) || worse(3) || self.has_other_rows
    }

    /// Whether it lowers a counter of the server.
    fn is_counted(&self) -> bool {
        let (before, after) = (&self.before.counted, &self.after.counted);
        (0..4).any(|at| after[at] < before[at]) || after[4] * 4 <= before[4] * 3
    }

    fn is_faster(&self) -> bool {
        self.after.seconds <= self.before.seconds * 0.8
    }

    fn line(&self) -> String {
        let mut measured = vec![format!(
            "{:.1} → {:.1} ms",
            self.before.seconds * 1e3,
            self.after.seconds * 1e3
        )];
        for (at, name) in NAMES.iter().enumerate() {
            let (before, after) = (self.before.counted[at], self.after.counted[at]);
            if before != after {
                measured.push(format!("{name} {before} → {after}"));
            }
        }
        let verdict = if self.is_harmful() {
            "HARMFUL"
        } else if self.is_counted() || self.is_faster() {
            "true"
        } else {
            "idle"
        };
        format!(
            "| {} | {} | {} | {} | {verdict} |",
            self.statement,
            self.change,
            self.promised,
            measured.join(", ")
        )
    }
}

/// A server that is asked, and on which changes are tried.
struct Asked {
    live: Live,
    trial: Trial,
}

impl Examiner for Asked {
    fn explain(&mut self, digest: &Digest) -> Option<Explain> {
        self.live.explain(digest)
    }

    fn examine(&mut self, digest: &Digest, schema: &Schema, findings: &mut Vec<Finding>) {
        self.trial.examine(digest, schema, findings);
    }
}

/// The recommendations for statements as they have just run.
fn report(shop: &Shop, statements: &[&str]) -> Report {
    let mut workload = Workload::new();
    for sql in statements {
        let work = work(shop, sql);
        workload.add(Event {
            text: (*sql).to_owned(),
            database: Some(shop.database.clone()),
            query_time: work.seconds,
            rows_sent: work.rows.len() as u64,
            rows_examined: work.counted[4],
            tables: Some(work.counted[0]),
            disk_tables: Some(work.counted[1]),
            merge_passes: Some(work.counted[2]),
            full_join: Some(work.counted[3] > 0),
            ..Event::default()
        });
    }
    let mut asked = Asked {
        live: shop.live(),
        trial: shop.trial(),
    };
    let mut schema = Schema::new();
    asked.live.read_schema(&workload, &mut schema);
    let server = asked.live.server().clone();
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    let mut report = Report::new(&input, Vec::new(), 1000, &mut asked);
    report.notes.extend(asked.trial.notes().to_vec());
    report
}

/// Applies a change, measures the statement, and reverts the change.
fn measure(shop: &mut Shop, change: &Change, sql: &str) -> Work {
    match change.kind {
        ChangeKind::Rewrite => work(shop, &change.sql),
        ChangeKind::Setting => {
            let names: Vec<&str> = change
                .sql
                .split(';')
                .filter_map(|part| part.trim().strip_prefix("SET GLOBAL ")?.split(" =").next())
                .collect();
            let mut root = shop.client(None);
            let before: Vec<String> = names
                .iter()
                .map(|name| text_of(&mut root, &format!("SELECT @@global.{name}")))
                .collect();
            for part in change.sql.split(';').filter(|part| !part.trim().is_empty()) {
                run(&mut root, part.trim());
            }
            let after = work(shop, sql);
            for (name, value) in names.iter().zip(before) {
                let value = if value.parse::<f64>().is_ok() {
                    value
                } else {
                    format!("'{value}'")
                };
                run(&mut root, &format!("SET GLOBAL {name} = {value}"));
            }
            after
        }
        _ => {
            let (definition, statement) = change
                .sql
                .split_once(";\n")
                .unwrap_or((change.sql.as_str(), sql));
            let name = definition
                .split('`')
                .skip_while(|part| *part != shop.database)
                .nth(2);
            let table = name.expect("the change names a table").to_owned();
            let mut root = shop.session();
            for step in [
                format!("CREATE TABLE kept LIKE `{table}`"),
                format!("INSERT INTO kept SELECT * FROM `{table}`"),
                definition.to_owned(),
                format!("ANALYZE TABLE `{table}`"),
            ] {
                let _ = rows_of(&mut root, &step);
            }
            let after = work(shop, statement);
            for step in [
                format!("DROP TABLE `{table}`"),
                format!("RENAME TABLE kept TO `{table}`"),
                format!("ANALYZE TABLE `{table}`"),
            ] {
                let _ = rows_of(&mut root, &step);
            }
            after
        }
    }
}

fn pieces(
    shop: &mut Shop,
    circumstances: &Circumstances,
    is_drawn: &mut dyn FnMut() -> bool,
) -> Vec<Piece> {
    let statements = circumstances.statements.iter().copied();
    let statements: Vec<&str> = statements.filter(|_| is_drawn()).collect();
    for (name, value) in circumstances.settings {
        shop.set(name, value);
    }
    let mut pieces = Vec::new();
    let report = report(shop, &statements);
    for note in &report.notes {
        println!("{note}");
    }
    for statement in &report.statements {
        let before = work(shop, &statement.example);
        let mut seen = BTreeSet::new();
        for finding in &statement.findings {
            for change in &finding.changes {
                if change.kind == ChangeKind::Advice || !seen.insert(&change.sql) {
                    continue;
                }
                if let Some(check) = &change.check
                    && text_of(&mut shop.session(), check) != "1"
                {
                    continue;
                }
                let after = measure(shop, change, &statement.example);
                pieces.push(Piece {
                    statement: statement.example.clone(),
                    change: change.sql.replace('\n', " "),
                    promised: change.does.clone(),
                    has_other_rows: change.kind == ChangeKind::Rewrite && after.rows != before.rows,
                    before: before.clone(),
                    after,
                });
            }
        }
    }
    // The settings listed here are restored at the end.
    for (name, value) in shop.settings.split_off(0) {
        let value = if value.parse::<f64>().is_ok() {
            value
        } else {
            format!("'{value}'")
        };
        run(
            &mut shop.client(None),
            &format!("SET GLOBAL {name} = {value}"),
        );
    }
    pieces
}

fn check(socket: &Path, name: &str, all: &[&Circumstances]) {
    let mut shop = Shop::new(socket.to_path_buf(), name);
    let draw = Draw::of("advice");
    let mut number = 0;
    let mut is_drawn = || {
        number += 1;
        draw.has(number)
    };
    let mut found = Vec::new();
    for circumstances in all {
        found.extend(pieces(&mut shop, circumstances, &mut is_drawn));
    }
    println!("| statement | change | promised | measured | |\n|---|---|---|---|---|");
    for piece in &found {
        println!("{}", piece.line());
    }
    let harmful = found.iter().filter(|piece| piece.is_harmful()).count();
    let counted = found.iter().filter(|piece| piece.is_counted()).count();
    let by_time = found.iter().filter(|piece| !piece.is_counted());
    let by_time = by_time.filter(|piece| piece.is_faster()).count();
    println!(
        "{} pieces: {counted} by what the server counts, {by_time} by time alone, {harmful} harmful",
        found.len()
    );
    assert_eq!(harmful, 0);
    // A difference in time alone varies from run to run.
    let idle = found.len() - counted - by_time;
    assert!(
        idle * 20 <= found.len().max(20),
        "{idle} of {} did nothing",
        found.len()
    );
    let is_all = std::env::var("MAYFLY_TESTS").is_ok_and(|which| which == "all");
    assert!(!is_all || found.len() >= 40, "{} pieces", found.len());
}

#[test]
fn every_piece_of_advice_helps_mariadb() {
    let Some(socket) = socket(Flavour::MariaDb, "MAYFLY_MARIADB_SOCKET") else {
        return;
    };
    let _turn = TURN.lock();
    check(&socket, "measured", &[&COMMON, &SMALL, &ON_DISK, &UNMERGED]);
}

#[test]
fn every_piece_of_advice_helps_mysql() {
    let Some(socket) = socket(Flavour::MySql, "MAYFLY_MYSQL_SOCKET") else {
        return;
    };
    let _turn = TURN.lock();
    check(&socket, "measured", &[&COMMON, &SMALL, &UNMERGED, &MEMORY]);
}

//! `mayfly advise` on running servers: a recommended change, applied to the server, removes the table on disk by the
//! server's counters ([`measured`]: every change that is tried helps); and the statements that it sends only read.
//!
//! Runs where `MAYFLY_MARIADB_SOCKET` (and `MAYFLY_MYSQL_SOCKET`, for the summaries of performance_schema) name a
//! server. Global settings are changed and restored, so that the tests here run one at a time.

use std::path::Path;
use std::sync::Mutex;

use mayfly_advisor::{Cause, Change, ChangeKind, Event, Input, Report, Schema, Workload, findings};
use mayfly_testkit::client::Row;
use mayfly_testkit::server::Flavour;

mod measured;
mod shop;

use shop::{Shop, rows_of, run, socket, text_of};

static TURN: Mutex<()> = Mutex::new(());

/// A statement, the cause to be found, and the kind of change to apply.
struct Case {
    sql: &'static str,
    cause: Cause,
    kind: ChangeKind,
    /// Definition to run before the statement.
    before: &'static str,
    /// Global setting before the statement.
    setting: Option<(&'static str, &'static str)>,
    /// Whether the change keeps the rows as they are.
    same_rows: bool,
}

const CASE: Case = Case {
    sql: "",
    cause: Cause::Unexplained,
    kind: ChangeKind::Advice,
    before: "DO 0",
    setting: None,
    same_rows: true,
};

fn cases() -> Vec<Case> {
    vec![
        Case {
            sql: "SELECT note, count(*) FROM purchase GROUP BY note",
            cause: Cause::LongString,
            kind: ChangeKind::Alter,
            ..CASE
        },
        Case {
            sql: "SELECT agent, count(*) FROM visit GROUP BY agent",
            cause: Cause::BlobColumn,
            kind: ChangeKind::Alter,
            ..CASE
        },
        Case {
            sql: "SELECT DISTINCT biography FROM customer",
            cause: Cause::BlobColumn,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT concat(note, status) AS k, count(*) FROM purchase GROUP BY k",
            cause: Cause::LongString,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT referrer, count(*) FROM visit GROUP BY referrer",
            cause: Cause::SizeLimit,
            kind: ChangeKind::Setting,
            ..CASE
        },
        Case {
            sql: "SELECT referrer, max(seconds) FROM visit GROUP BY referrer",
            cause: Cause::SizeLimit,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT page, referrer, count(*) FROM visit GROUP BY page, referrer",
            cause: Cause::GroupByWithoutIndex,
            kind: ChangeKind::Index,
            ..CASE
        },
        Case {
            sql: "SELECT DISTINCT page, referrer FROM visit",
            cause: Cause::DistinctWithoutIndex,
            kind: ChangeKind::Index,
            ..CASE
        },
        Case {
            sql: "SELECT id, biography FROM customer WHERE country = 'DE' UNION SELECT id, biography FROM customer WHERE country = 'FR'",
            cause: Cause::UnionDistinct,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT d.page FROM (SELECT page, referrer, agent FROM visit ORDER BY visited LIMIT 1000) d WHERE d.page LIKE '/page/1%'",
            cause: Cause::DerivedTable,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT * FROM (SELECT user_id, created, (SELECT user_email FROM login2 b WHERE b.user_id = a.user_id) AS mail \
                  FROM login2 a WHERE a.user_id IN (100, 200, 300, 400)) AS a ORDER BY created",
            cause: Cause::DerivedTable,
            kind: ChangeKind::Setting,
            setting: Some(("optimizer_switch", "'derived_merge=off'")),
            ..CASE
        },
        Case {
            sql: "SELECT agent FROM some_visit WHERE id = 5",
            cause: Cause::DerivedTable,
            kind: ChangeKind::Alter,
            before: "CREATE ALGORITHM=TEMPTABLE VIEW some_visit AS SELECT id, agent FROM visit WHERE id < 100",
            ..CASE
        },
        Case {
            sql: "SELECT SQL_BUFFER_RESULT id, biography FROM customer WHERE country = 'DE'",
            cause: Cause::BufferedResult,
            kind: ChangeKind::Rewrite,
            ..CASE
        },
        Case {
            sql: "SELECT channel, count(*) FROM purchase GROUP BY channel",
            cause: Cause::BigTables,
            kind: ChangeKind::Setting,
            setting: Some(("big_tables", "1")),
            ..CASE
        },
    ]
}

fn check(socket: &Path, case: &Case) {
    let mut shop = Shop::new(socket.to_path_buf(), "change");
    // A setting that a change sets is restored at the end.
    for name in [
        "tmp_table_size",
        "max_heap_table_size",
        "optimizer_switch",
        "big_tables",
    ] {
        let value = text_of(&mut shop.client(None), &format!("SELECT @@global.{name}"));
        shop.settings.push((name.to_owned(), value));
    }
    if let Some((name, value)) = case.setting {
        shop.set(name, value);
    }
    run(&mut shop.session(), case.before);
    let (event, rows) = shop.measure(case.sql);
    assert!(
        event.disk_tables > Some(0),
        "{}: no table on disk",
        case.sql
    );
    let found = shop.findings(event);
    let finding = found.iter().find(|finding| finding.cause == case.cause);
    let finding = finding.unwrap_or_else(|| panic!("{}: {found:#?}", case.sql));
    let change = finding
        .changes
        .iter()
        .find(|change| change.kind == case.kind);
    let change = change.unwrap_or_else(|| panic!("{}: {finding:#?}", case.sql));
    let sql = apply(&shop, change, case.sql);
    let (after, rows_after) = shop.measure(&sql);
    assert_eq!(
        after.disk_tables,
        Some(0),
        "{}\nafter {}",
        case.sql,
        change.sql
    );
    if case.same_rows {
        let sorted = |mut rows: Vec<Row>| {
            rows.sort();
            rows
        };
        assert_eq!(
            sorted(rows_after),
            sorted(rows),
            "{}\nafter {}",
            case.sql,
            change.sql
        );
    }
}

/// Applies a change; returns the statement to run then.
fn apply(shop: &Shop, change: &Change, sql: &str) -> String {
    let mut root = shop.session();
    if let Some(check) = &change.check {
        assert_eq!(text_of(&mut root, check), "1", "{check}");
    }
    if change.kind == ChangeKind::Rewrite {
        return change.sql.clone();
    }
    for statement in change
        .sql
        .split(';')
        .map(str::trim)
        .filter(|one| !one.is_empty())
    {
        run(&mut root, statement);
    }
    sql.to_owned()
}

#[test]
fn each_kind_of_change_removes_the_table_on_disk() {
    let Some(socket) = socket(Flavour::MariaDb, "MAYFLY_MARIADB_SOCKET") else {
        return;
    };
    let _turn = TURN.lock();
    for case in cases() {
        check(&socket, &case);
    }
}

/// The server's general log has only reading statements of the account.
#[test]
fn the_server_is_only_read() {
    let Some(socket) = socket(Flavour::MariaDb, "MAYFLY_MARIADB_SOCKET") else {
        return;
    };
    let _turn = TURN.lock();
    let mut shop = Shop::new(socket, "reader");
    let mut workload = Workload::new();
    for sql in [
        "SELECT agent, count(*) FROM visit GROUP BY agent",
        "SELECT * FROM customer_total",
        "DELETE FROM purchase WHERE id = 5",
        "UPDATE purchase SET note = '' WHERE id IN (SELECT id FROM customer)",
        "INSERT INTO purchase_archive SELECT * FROM purchase_archive",
        "SELECT name INTO OUTFILE '/tmp/never' FROM customer",
        "SELECT a FROM missing",
    ] {
        let event = Event {
            text: sql.to_owned(),
            database: Some(shop.database.clone()),
            tables: Some(1),
            disk_tables: Some(1),
            ..Event::default()
        };
        workload.add(event);
    }
    shop.set("log_output", "'TABLE'");
    run(&mut shop.client(None), "TRUNCATE mysql.general_log");
    shop.set("general_log", "1");
    let mut live = shop.live();
    let _ = live.workload();
    let mut schema = Schema::new();
    live.read_schema(&workload, &mut schema);
    let server = live.server().clone();
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    let report = Report::new(&input, Vec::new(), 20, &mut live);
    assert!(report.statements.len() >= 3, "{report}");
    assert!(schema.table(&shop.database, "visit").is_some());
    let mut root = shop.client(None);
    run(&mut root, "SET GLOBAL general_log = 0");
    let sql = format!(
        "SELECT command_type, argument FROM mysql.general_log WHERE user_host LIKE '{}[%'",
        shop.reader
    );
    let rows = rows_of(&mut root, &sql);
    let text = |value: &Option<Vec<u8>>| {
        String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
    };
    let asked: Vec<(String, String)> = rows
        .iter()
        .map(|row| (text(&row[0]), text(&row[1])))
        .collect();
    assert!(asked.len() > 10, "{asked:?}");
    let reads = [
        "SELECT ",
        "SHOW ",
        "EXPLAIN SELECT ",
        "START TRANSACTION READ ONLY",
        "ROLLBACK",
        "USE ",
        "SET SESSION TRANSACTION READ ONLY",
        "SET SESSION max_statement_time",
    ];
    for (kind, statement) in asked {
        let is_read = reads.iter().any(|read| statement.starts_with(read));
        assert!(
            is_read && !statement.contains("OUTFILE") || kind == "Connect" || kind == "Init DB",
            "{kind}: {statement}"
        );
    }
}

/// MySQL's own digest summaries, with examples as they ran, and its schema.
#[test]
fn performance_schema_of_mysql() {
    let Some(socket) = socket(Flavour::MySql, "MAYFLY_MYSQL_SOCKET") else {
        return;
    };
    let _turn = TURN.lock();
    let shop = Shop::new(socket, "digests");
    for sql in [
        "SELECT settings, count(*) FROM customer GROUP BY settings",
        "SELECT * FROM recent_purchase WHERE customer_id = 7",
    ] {
        rows_of(&mut shop.session(), sql);
    }
    let mut live = shop.live();
    let workload = live.workload().expect("performance_schema is on");
    let mut schema = Schema::new();
    live.read_schema(&workload, &mut schema);
    let server = live.server().clone();
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    for (part, cause) in [
        ("`settings`", Cause::GroupByWithoutIndex),
        ("`recent_purchase`", Cause::DerivedTable),
    ] {
        let digest = workload
            .digests()
            .iter()
            .find(|digest| {
                digest.database.as_deref() == Some(&shop.database)
                    && digest.text.contains(part)
                    && digest.text.starts_with("SELECT")
            })
            .expect("the server has its digest");
        let explain = live.explain(digest);
        let found: Vec<Cause> = findings(&input, digest, explain)
            .iter()
            .map(|finding| finding.cause)
            .collect();
        assert_eq!(found, [cause], "{}", digest.example);
    }
}

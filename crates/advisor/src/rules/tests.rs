//! Recommended changes, and changes that are not recommended, without a server to try them on.

use crate::{Cause, Change, ChangeKind, Event, Finding, Input, Schema, Server, Workload, findings};

const SCHEMA: &str = "\
    CREATE TABLE customer (id int unsigned NOT NULL PRIMARY KEY, name varchar(100) NOT NULL, city varchar(60) NOT NULL, \
    biography text) CHARSET=utf8mb4;\n\
    CREATE TABLE purchase (id int unsigned NOT NULL PRIMARY KEY, customer_id int unsigned NOT NULL, status varchar(20) NOT NULL, \
    amount decimal(10,2) NOT NULL, note varchar(800), KEY (customer_id)) CHARSET=utf8mb4;";

/// A run with two temporary tables, one of them on disk.
fn event(sql: &str) -> Event {
    Event {
        text: sql.to_owned(),
        database: Some("shop".to_owned()),
        query_time: 1.0,
        rows_sent: 100,
        rows_examined: 10_000,
        tables: Some(2),
        disk_tables: Some(1),
        ..Event::default()
    }
}

fn found(server: &str, event: Event) -> Vec<Finding> {
    let mut schema = Schema::new();
    assert_eq!(schema.read_dump(SCHEMA, "shop"), Vec::<String>::new());
    let mut workload = Workload::new();
    workload.add(event);
    let server = Server::of_version(server, true);
    let input = Input {
        workload: &workload,
        schema: &schema,
        server: &server,
    };
    findings(&input, &workload.digests()[0], None)
}

/// The changes of a cause that are statements.
fn changes(server: &str, event: Event, cause: Cause) -> Vec<Change> {
    let findings = found(server, event);
    let finding = findings.iter().find(|finding| finding.cause == cause);
    let finding = finding.unwrap_or_else(|| panic!("{findings:#?}"));
    let changes = finding.changes.iter();
    changes
        .filter(|change| change.kind != ChangeKind::Advice)
        .cloned()
        .collect()
}

fn texts(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|change| change.sql.as_str()).collect()
}

const MARIADB: &str = "10.11.19-MariaDB";
const MYSQL: &str = "9.7.4";

#[test]
fn keys_that_follow_from_others_are_left_out() {
    for (sql, expected) in [
        (
            "SELECT id, note FROM purchase GROUP BY id, note",
            "SELECT id, note FROM purchase GROUP BY id",
        ),
        (
            "SELECT c.id, c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY c.name, c.id",
            "SELECT c.id, c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY c.id",
        ),
        (
            "SELECT c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY p.customer_id, c.name",
            "SELECT c.name, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY p.customer_id",
        ),
    ] {
        let changes = changes(MARIADB, event(sql), Cause::GroupByWithoutIndex);
        assert_eq!(texts(&changes)[0], expected);
        assert!(
            changes[0].does.contains("is the same"),
            "{}",
            changes[0].does
        );
    }
    let other = "SELECT name, city, count(*) FROM customer GROUP BY name, city";
    let changes = changes(MARIADB, event(other), Cause::GroupByWithoutIndex);
    assert!(
        changes
            .iter()
            .all(|change| change.kind == ChangeKind::Index),
        "{changes:#?}"
    );
}

/// MariaDB keeps groups that ORDER BY wants in another order, whatever index there is.
#[test]
fn no_index_is_recommended_for_a_table_that_stays() {
    let sql = "SELECT status, count(*) AS n FROM purchase GROUP BY status ORDER BY n";
    assert_eq!(
        texts(&changes(MARIADB, event(sql), Cause::GroupByWithoutIndex)),
        Vec::<&str>::new()
    );
    let of_mysql = changes(MYSQL, event(sql), Cause::GroupByWithoutIndex);
    assert_eq!(of_mysql[0].kind, ChangeKind::Index);
}

/// An index that does not have all columns is taken where a LIMIT ends the reading, and perhaps elsewhere.
#[test]
fn an_index_that_may_be_left_aside_is_no_statement_to_run() {
    let sorted = |sql: &str| {
        let event = Event {
            merge_passes: Some(3),
            tables: Some(0),
            disk_tables: Some(0),
            ..event(sql)
        };
        changes(MYSQL, event, Cause::SortOnDisk)
    };
    let kinds =
        |changes: &[Change]| -> Vec<ChangeKind> { changes.iter().map(|one| one.kind).collect() };
    assert_eq!(kinds(&sorted("SELECT * FROM purchase ORDER BY amount")), []);
    assert_eq!(
        kinds(&sorted("SELECT * FROM purchase ORDER BY amount LIMIT 10")),
        [ChangeKind::Index]
    );
    assert_eq!(
        kinds(&sorted("SELECT amount FROM purchase ORDER BY amount")),
        [ChangeKind::Index]
    );
    let grouped = changes(
        MARIADB,
        event("SELECT status, max(note) FROM purchase GROUP BY status"),
        Cause::GroupByWithoutIndex,
    );
    assert_eq!(grouped, Vec::new());
}

#[test]
fn an_index_that_competes_with_others_is_no_statement_to_run() {
    for (sql, cause, is_certain) in [
        (
            "SELECT status, count(*) FROM purchase GROUP BY status",
            Cause::GroupByWithoutIndex,
            true,
        ),
        (
            "SELECT status, count(*) FROM purchase WHERE customer_id = 7 GROUP BY status",
            Cause::GroupByWithoutIndex,
            true,
        ),
        (
            "SELECT status, count(*) FROM purchase WHERE customer_id > 7 GROUP BY status",
            Cause::GroupByWithoutIndex,
            false,
        ),
        (
            "SELECT DISTINCT status FROM purchase WHERE amount BETWEEN 5 AND 6",
            Cause::DistinctWithoutIndex,
            false,
        ),
        (
            "SELECT count(DISTINCT status) FROM purchase",
            Cause::DistinctAggregate,
            true,
        ),
        (
            "SELECT count(DISTINCT status), count(DISTINCT amount) FROM purchase",
            Cause::DistinctAggregate,
            false,
        ),
        (
            "SELECT group_concat(DISTINCT status) FROM purchase",
            Cause::DistinctAggregate,
            false,
        ),
    ] {
        let found = changes(MYSQL, event(sql), cause);
        assert_eq!(!found.is_empty(), is_certain, "{sql}: {found:#?}");
    }
}

/// MySQL joins by a hash table where no index finds rows.
#[test]
fn an_index_for_a_join_is_recommended_where_there_is_no_hash_join() {
    let joined = |server: &str| {
        let event = Event {
            full_join: Some(true),
            ..event("SELECT count(*) FROM customer c JOIN purchase p ON p.status = c.city")
        };
        changes(server, event, Cause::JoinWithoutIndex).len()
    };
    assert_eq!(
        (joined(MARIADB), joined(MYSQL), joined("5.7.44")),
        (1, 0, 1)
    );
}

/// In memory MariaDB's rows are as long as they are declared.
#[test]
fn a_shorter_declaration_is_one_with_which_the_rows_fit() {
    let sql = "SELECT biography, count(*) FROM customer GROUP BY biography";
    for (groups, length) in [(100, Some(512)), (10_000, Some(255)), (60_000, None)] {
        let event = Event {
            rows_sent: groups,
            rows_examined: 100_000,
            ..event(sql)
        };
        let changes = changes(MARIADB, event, Cause::BlobColumn);
        let alter = changes
            .iter()
            .find(|change| change.kind == ChangeKind::Alter);
        let expected = length.map(|length| format!("varchar({length})"));
        assert_eq!(
            alter.map(|change| change.sql.contains(&expected.clone().unwrap_or_default())),
            expected.as_ref().map(|_| true),
            "{groups}: {changes:#?}"
        );
    }
}

#[test]
fn a_setting_holds_what_was_measured() {
    let event = Event {
        bytes: Some(256 << 20),
        ..event("SELECT status, count(*) FROM purchase GROUP BY status")
    };
    let changes = changes(MARIADB, event, Cause::SizeLimit);
    let sql = &changes[0].sql;
    let bytes = sql
        .rsplit(' ')
        .next()
        .and_then(|digits| digits.parse::<u64>().ok());
    assert!(bytes >= Some(256 << 20), "{sql}");
}

/// UNION ALL gives other rows than UNION unless no row can be there twice.
#[test]
fn union_all_is_a_statement_to_run_where_the_rows_are_the_same() {
    let same = "SELECT id FROM purchase WHERE status = 'a' UNION SELECT id FROM purchase WHERE status = 'b'";
    let other = "SELECT customer_id FROM purchase WHERE status = 'a' UNION SELECT customer_id FROM purchase WHERE status = 'b'";
    assert_eq!(
        texts(&changes(MYSQL, event(same), Cause::UnionDistinct)),
        [same.replace("UNION", "UNION ALL")]
    );
    assert_eq!(
        changes(MYSQL, event(other), Cause::UnionDistinct),
        Vec::new()
    );
}

#[test]
fn mayfly_has_advice_of_its_own() {
    let of = |bytes: u64| {
        let event = Event {
            bytes: Some(bytes),
            ..event("SELECT status, count(*) FROM purchase GROUP BY status")
        };
        changes("8.4.0-mayfly", event, Cause::SizeLimit)
    };
    let sql = &of(40 << 20)[0].sql;
    assert!(
        sql.starts_with("SET GLOBAL tmp_table_size = ") && !sql.contains("max_heap"),
        "{sql}"
    );
    // Smaller than the global limit: the session has less.
    assert_eq!(of(1 << 20), Vec::new());
}

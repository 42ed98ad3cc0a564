//! The findings of slow logs that were captured from MariaDB 10.11 and MySQL 9.7 (`tests/advise/capture`): each
//! statement of `causes.sql` has exactly the causes in the comment above it, and those of `no_causes.sql` have none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mayfly_advisor::{
    Cause, Confidence, Digest, Input, Schema, Server, SlowLog, Workload, findings,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/advise")
}

fn file(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A statement and the names of its causes on one server.
struct Case {
    sql: String,
    causes: BTreeSet<String>,
}

/// The statements of `causes.sql` with the causes of one server.
fn cases(server: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut causes = BTreeSet::new();
    for line in file("causes.sql").lines() {
        if let Some(list) = line.strip_prefix(&format!("-- {server}: ")) {
            causes = list
                .split(", ")
                .filter(|cause| *cause != "-")
                .map(str::to_owned)
                .collect();
        } else if !line.is_empty() && !line.starts_with("--") {
            let sql = line.trim_end_matches(';').to_owned();
            cases.push(Case {
                sql,
                causes: std::mem::take(&mut causes),
            });
        }
    }
    cases
}

fn statements_without_causes() -> Vec<Case> {
    let text = file("no_causes.sql");
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("--"));
    lines
        .map(|line| Case {
            sql: line.trim_end_matches(';').to_owned(),
            causes: BTreeSet::new(),
        })
        .collect()
}

/// The events of a log, and the server that wrote it.
struct Log {
    workload: Workload,
    schema: Schema,
    server: Server,
}

impl Log {
    fn read(name: &str, with_schema: bool) -> Self {
        let text = file(&format!("logs/{name}.log"));
        let mut log = SlowLog::new(text.as_bytes()).expect("memory can be read");
        let mut workload = Workload::new();
        while let Some(event) = log.next_event().expect("memory can be read") {
            workload.add(event);
        }
        let server = log.server().expect("the log names its server");
        let mut schema = Schema::new();
        if with_schema {
            assert_eq!(
                schema.read_dump(&file("schema.sql"), "shop"),
                Vec::<String>::new()
            );
        }
        Self {
            workload,
            schema,
            server,
        }
    }

    fn digest(&self, sql: &str) -> &Digest {
        let (_, hash) = mayfly_syntax::digest(sql);
        let found = self
            .workload
            .digests()
            .iter()
            .find(|digest| digest.hash == hash);
        found.unwrap_or_else(|| panic!("not in the log: {sql}"))
    }

    fn causes(&self, sql: &str) -> Vec<(Cause, Confidence)> {
        let input = Input {
            workload: &self.workload,
            schema: &self.schema,
            server: &self.server,
        };
        let found = findings(&input, self.digest(sql), None);
        found
            .iter()
            .map(|finding| (finding.cause, finding.confidence))
            .collect()
    }
}

fn names(causes: &[(Cause, Confidence)]) -> BTreeSet<String> {
    causes.iter().map(|(cause, _)| cause.name()).collect()
}

fn check_all(
    log: &Log,
    cases: &[Case],
    is_right: impl Fn(&BTreeSet<String>, &BTreeSet<String>) -> bool,
) {
    let mut problems = Vec::new();
    for case in cases {
        let found = names(&log.causes(&case.sql));
        if !is_right(&found, &case.causes) {
            problems.push(format!(
                "{}\n  expected {:?}\n  found    {found:?}",
                case.sql, case.causes
            ));
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {}:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}

fn check_exactly(log: &str, server: &str) {
    let log = Log::read(log, true);
    let cases = cases(server);
    assert!(cases.iter().filter(|case| !case.causes.is_empty()).count() >= 30);
    check_all(&log, &cases, |found, expected| found == expected);
    let none = statements_without_causes();
    assert!(none.len() >= 30);
    check_all(&log, &none, |found, expected| found == expected);
}

#[test]
fn mariadb_with_explain() {
    check_exactly("mariadb-full", "mariadb");
}

#[test]
fn mariadb_with_query_plan() {
    check_exactly("mariadb-query-plan", "mariadb");
}

#[test]
fn mysql_with_log_slow_extra() {
    check_exactly("mysql-extra", "mysql");
}

/// Without counters a table may be missed and none invented. That a sort or a size needs the disk is in counters alone.
#[test]
fn plain_logs_give_no_false_finding() {
    for (log, server) in [("mariadb-plain", "mariadb"), ("mysql-plain", "mysql")] {
        let log = Log::read(log, true);
        let cases = cases(server);
        check_all(&log, &cases, |found, expected| found.is_subset(expected));
        check_all(&log, &statements_without_causes(), |found, _| {
            found.is_empty()
        });
        let found = cases
            .iter()
            .filter(|case| !log.causes(&case.sql).is_empty())
            .count();
        assert!(found * 3 >= cases.len() * 2, "{found} of {}", cases.len());
        let sure = cases
            .iter()
            .flat_map(|case| log.causes(&case.sql))
            .filter(|(cause, _)| *cause != Cause::JoinWithoutIndex);
        for (cause, confidence) in sure {
            assert!(confidence < Confidence::Certain, "{cause:?}");
        }
    }
}

/// Without a schema, what has no table has no finding either, and nothing is certain but counted sorts.
#[test]
fn logs_without_a_schema() {
    for log in [
        "mariadb-query-plan",
        "mysql-extra",
        "mariadb-plain",
        "mysql-plain",
    ] {
        let log = Log::read(log, false);
        let is_counted = log.workload.digests().iter().any(Digest::is_counted);
        for case in statements_without_causes().iter().filter(|_| is_counted) {
            assert!(log.causes(&case.sql).is_empty(), "{}", case.sql);
        }
        for case in cases("mariadb") {
            for (cause, confidence) in log.causes(&case.sql) {
                let counted = matches!(cause, Cause::SortOnDisk | Cause::SizeLimit);
                assert!(
                    counted || confidence < Confidence::Certain,
                    "{cause:?}: {}",
                    case.sql
                );
            }
        }
    }
}

//! Writes the expected results of a golden file by asking MySQL, and marks the records in which
//! MariaDB differs.
//!
//! The input is either a golden file, whose statements are kept and whose expectations are written
//! again, or a plain script (`.sql`): statements that end in `;` at the end of a line, comments
//! (`#`), and directives that change the next statement: `@rowsort`, `@nosort`, `@error <regex>`,
//! `@differs <slug>`, `@mariadb <reason>`, `connection <name>`. A script gets its own database.
//!
//! A record under a comment `# from mariadb: <reason>` takes its result from MariaDB instead: for
//! features of MySQL 8.4 that the MySQL server used here lacks.
//!
//! A record that MariaDB answers differently is marked `skipif mariadb`, under a comment `# differs
//! <slug>: <MariaDB's result>`; each slug has a row in `COMPAT.md`. The marks are found by running
//! the file until no new record differs, because a record that is left out changes the results of
//! later ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use sqllogictest::{
    ColumnType, Condition, Connection, DB, DBOutput, ExpectedError, QueryExpect, Record, SortMode,
    StatementExpect,
};

use crate::client::ServerError;
use crate::column::ColumnKind;
use crate::corpus;
use crate::runner::{Paths, account_of};
use crate::server::{Flavour, ServerSession};

/// The slug of a difference that nobody has explained yet.
pub const UNEXPLAINED: &str = "unexplained";

/// Beginning of the comment that says why a record's result comes from MariaDB.
const FROM_MARIADB: &str = " from mariadb:";

/// One statement of a file, with its author's directives.
#[derive(Debug, Clone, Default)]
struct Case {
    sql: String,
    connection: Option<String>,
    sort: Option<SortMode>,
    error: Option<String>,
    differs: Option<String>,
    /// Reason why the result comes from MariaDB, when it does.
    from_mariadb: Option<String>,
    other_conditions: Vec<String>,
}

#[derive(Debug, Clone)]
enum Item {
    Comment(Vec<String>),
    Case(Case),
}

/// Answer of a server.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Rows {
        kinds: Vec<ColumnKind>,
        rows: Vec<Vec<String>>,
    },
    Done(u64),
    Error(ServerError),
}

/// Reads `input`, asks the servers, and returns the text of the golden file named `name`.
///
/// # Errors
/// When the input cannot be read, a server cannot be reached, or a result is not repeatable.
pub fn complete(
    input: &Path,
    name: &str,
    mysql: &Path,
    mariadb: Option<&Path>,
) -> Result<String, String> {
    let items = if input.extension().is_some_and(|end| end == "sql") {
        read_script(input, name)?
    } else {
        read_golden(input)?
    };
    let cases: Vec<&Case> = items
        .iter()
        .filter_map(|item| match item {
            Item::Case(case) => Some(case),
            Item::Comment(_) => None,
        })
        .collect();

    let mut expected = run(&cases, mysql, Flavour::MySql, &BTreeSet::new())?;
    let again = run(&cases, mysql, Flavour::MySql, &BTreeSet::new())?;
    for (case, (first, second)) in cases.iter().zip(expected.iter().zip(&again)) {
        if first != second && case.error.is_none() {
            return Err(format!(
                "not repeatable: {}\n{first:?}\n{second:?}",
                case.sql
            ));
        }
    }

    let mut differences: BTreeMap<usize, Option<Outcome>> = BTreeMap::new();
    if let Some(mariadb) = mariadb {
        loop {
            let left_out = differences.keys().copied().collect();
            let actual = run(&cases, mariadb, Flavour::MariaDb, &left_out)?;
            let mut found = false;
            for (index, case) in cases.iter().enumerate() {
                if case.from_mariadb.is_some() && actual[index].is_some() {
                    expected[index].clone_from(&actual[index]);
                }
            }
            for (index, outcome) in actual.into_iter().enumerate() {
                if let Some(outcome) = outcome
                    && let Some(expected) = &expected[index]
                    && !same_family(&cases[index].sql, &outcome, expected)
                {
                    differences.insert(index, Some(outcome));
                    found = true;
                }
            }
            if !found {
                break;
            }
        }
    }
    Ok(write_golden(
        &items,
        &expected,
        &differences,
        mariadb.is_some(),
    ))
}

/// Runs every case except those in `left_out` on a fresh set of connections.
fn run(
    cases: &[&Case],
    socket: &Path,
    flavour: Flavour,
    left_out: &BTreeSet<usize>,
) -> Result<Vec<Option<Outcome>>, String> {
    let paths = Paths::new().map_err(|error| error.to_string())?;
    let mut sessions: BTreeMap<String, ServerSession> = BTreeMap::new();
    let mut outcomes = Vec::with_capacity(cases.len());
    for (index, case) in cases.iter().enumerate() {
        if left_out.contains(&index) {
            outcomes.push(None);
            continue;
        }
        let key = case.connection.clone().unwrap_or_default();
        if !sessions.contains_key(&key) {
            let user = account_of(&key);
            let session = ServerSession::connect_as(user, socket, flavour, paths.clone())
                .map_err(|error| error.to_string())?;
            sessions.insert(key.clone(), session);
        }
        let session = sessions.get_mut(&key).ok_or("the session was just made")?;
        let sort = case.sort.or_else(|| default_sort(&case.sql));
        outcomes.push(Some(ask(session, &case.sql, sort.as_ref())));
    }
    paths.clean();
    Ok(outcomes)
}

fn ask(session: &mut ServerSession, sql: &str, sort: Option<&SortMode>) -> Outcome {
    match session.run(sql) {
        Ok(DBOutput::StatementComplete(count)) => Outcome::Done(count),
        Ok(DBOutput::Rows { types, mut rows }) => {
            if sort == Some(&SortMode::RowSort) {
                rows.sort_unstable();
            }
            Outcome::Rows { kinds: types, rows }
        }
        Ok(_) => Outcome::Done(0),
        Err(error) => Outcome::Error(error),
    }
}

/// Whether two servers agree: values, row counts, error numbers.
fn same_family(sql: &str, a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Rows { rows: a, .. }, Outcome::Rows { rows: b, .. }) => a == b,
        (Outcome::Error(a), Outcome::Error(b)) => a.code == b.code,
        (Outcome::Done(a), Outcome::Done(b)) => a == b || !shows_count(sql, *b),
        _ => false,
    }
}

/// Sort mode of a result: sorted unless the statement fixes the order.
fn default_sort(sql: &str) -> Option<SortMode> {
    let lower = sql.to_ascii_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    let reads_rows =
        ["select", "with", "(select", "table", "values"].contains(&first) || first.starts_with('(');
    (reads_rows && lower.contains("from") && !lower.contains("order by"))
        .then_some(SortMode::RowSort)
}

fn read_script(input: &Path, name: &str) -> Result<Vec<Item>, String> {
    let text = std::fs::read_to_string(input).map_err(|error| error.to_string())?;
    let database = format!("slt_{}", name.replace(['/', '-'], "_"));
    let plain = |sql: String| {
        Item::Case(Case {
            sql,
            ..Case::default()
        })
    };
    let mut items = Vec::new();
    let mut comment = Vec::new();
    let mut next = Case::default();
    let mut in_header = true;
    for line in text.lines() {
        let trimmed = line.trim_end();
        if next.sql.is_empty() {
            if let Some(rest) = trimmed.strip_prefix('#') {
                comment.push(rest.to_owned());
                continue;
            }
            if !comment.is_empty() {
                items.push(Item::Comment(std::mem::take(&mut comment)));
            }
            if in_header {
                items.push(plain(format!("DROP DATABASE IF EXISTS {database}")));
                items.push(plain(format!("CREATE DATABASE {database}")));
                items.push(plain(format!("USE {database}")));
                in_header = false;
            }
            match trimmed.split_once(' ').unwrap_or((trimmed, "")) {
                ("", _) => continue,
                ("@rowsort", _) => next.sort = Some(SortMode::RowSort),
                ("@nosort", _) => next.sort = Some(SortMode::NoSort),
                ("@error", regex) => next.error = Some(regex.to_owned()),
                ("@mariadb", reason) => next.from_mariadb = Some(reason.to_owned()),
                ("@differs", slug) => next.differs = Some(slug.to_owned()),
                ("connection", name) => next.connection = Some(name.to_owned()),
                _ => next.sql = trimmed.to_owned(),
            }
        } else {
            next.sql.push('\n');
            next.sql.push_str(trimmed);
        }
        if let Some(sql) = next.sql.strip_suffix(';') {
            next.sql = sql.trim_end().to_owned();
            items.push(Item::Case(std::mem::take(&mut next)));
        }
    }
    if !next.sql.is_empty() {
        return Err(format!(
            "{}: no ; at the end of: {}",
            input.display(),
            next.sql
        ));
    }
    items.push(plain(format!("DROP DATABASE {database}")));
    Ok(items)
}

fn read_golden(input: &Path) -> Result<Vec<Item>, String> {
    let records = sqllogictest::parse_file::<ColumnKind>(input)
        .map_err(|error| format!("{}: {error}", input.display()))?;
    let mut items = Vec::new();
    let mut differs = None;
    let mut from_mariadb = None;
    for record in records {
        let (sql, connection, conditions, sort, error) = match record {
            Record::Comment(lines) => {
                let (marks, lines): (Vec<_>, Vec<_>) = lines
                    .into_iter()
                    .partition(|line| line.starts_with(" differs "));
                differs = marks.first().and_then(|mark| {
                    let slug = mark.trim_start_matches(" differs ").split(':').next()?;
                    (slug != UNEXPLAINED).then(|| slug.to_owned())
                });
                let (origins, lines): (Vec<_>, Vec<_>) = lines
                    .into_iter()
                    .partition(|line| line.starts_with(FROM_MARIADB));
                from_mariadb = origins
                    .first()
                    .map(|line| line.trim_start_matches(FROM_MARIADB).trim().to_owned());
                if !lines.is_empty() {
                    items.push(Item::Comment(lines));
                }
                continue;
            }
            Record::Statement {
                sql,
                connection,
                conditions,
                expected,
                ..
            } => {
                let error = match expected {
                    StatementExpect::Error(error) => pinned(&error),
                    _ => None,
                };
                (sql, connection, conditions, None, error)
            }
            Record::Query {
                sql,
                connection,
                conditions,
                expected,
                ..
            } => match expected {
                QueryExpect::Results { sort_mode, .. } => {
                    let sort = sort_mode.or(Some(SortMode::NoSort));
                    (sql, connection, conditions, sort, None)
                }
                QueryExpect::Error(error) => (sql, connection, conditions, None, pinned(&error)),
            },
            _ => continue,
        };
        items.push(Item::Case(Case {
            sql,
            connection: named(connection),
            sort,
            error,
            differs: differs.take(),
            from_mariadb: from_mariadb.take(),
            other_conditions: others(&conditions),
        }));
    }
    Ok(items)
}

/// An expectation that an author wrote by hand, recognized by not being anchored at both ends.
fn pinned(error: &ExpectedError) -> Option<String> {
    match error {
        ExpectedError::Inline(regex) if !regex.as_str().ends_with('$') => {
            Some(regex.as_str().to_owned())
        }
        _ => None,
    }
}

fn named(connection: Connection) -> Option<String> {
    match connection {
        Connection::Named(name) => Some(name),
        Connection::Default => None,
    }
}

fn others(conditions: &[Condition]) -> Vec<String> {
    let lines = conditions.iter().map(|condition| match condition {
        Condition::OnlyIf { label } => format!("onlyif {label}"),
        Condition::SkipIf { label } => format!("skipif {label}"),
    });
    lines.filter(|line| line != "skipif mariadb").collect()
}

fn write_golden(
    items: &[Item],
    expected: &[Option<Outcome>],
    differences: &BTreeMap<usize, Option<Outcome>>,
    asked_mariadb: bool,
) -> String {
    let mut out = String::new();
    let mut index = 0;
    for item in items {
        match item {
            Item::Comment(lines) => {
                for line in lines {
                    let _ = writeln!(out, "#{line}");
                }
                out.push('\n');
            }
            Item::Case(case) => {
                if let Some(reason) = &case.from_mariadb {
                    let _ = writeln!(out, "#{FROM_MARIADB} {reason}");
                }
                let difference = differences.get(&index);
                if let Some(Some(outcome)) = difference {
                    let expected = expected[index].as_ref();
                    let slug = case
                        .differs
                        .clone()
                        .unwrap_or_else(|| classify(case, outcome, expected));
                    let _ = writeln!(out, "# differs {slug}: {}", summary(outcome));
                    out.push_str("skipif mariadb\n");
                } else if !asked_mariadb && let Some(slug) = &case.differs {
                    let _ = writeln!(out, "# differs {slug}: see COMPAT.md");
                    out.push_str("skipif mariadb\n");
                }
                for condition in &case.other_conditions {
                    let _ = writeln!(out, "{condition}");
                }
                if let Some(outcome) = &expected[index] {
                    write_case(&mut out, case, outcome);
                }
                index += 1;
            }
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn write_case(out: &mut String, case: &Case, outcome: &Outcome) {
    if let Some(connection) = &case.connection {
        let _ = writeln!(out, "connection {connection}");
    }
    match outcome {
        Outcome::Done(count) if shows_count(&case.sql, *count) => {
            let _ = writeln!(out, "statement count {count}\n{}\n", case.sql);
        }
        Outcome::Done(_) => {
            let _ = writeln!(out, "statement ok\n{}\n", case.sql);
        }
        Outcome::Error(error) => {
            let regex = case
                .error
                .clone()
                .unwrap_or_else(|| anchored(&error.to_string()));
            let kind = if default_sort(&case.sql).is_some() {
                "query"
            } else {
                "statement"
            };
            let _ = writeln!(out, "{kind} error {regex}\n{}\n", case.sql);
        }
        Outcome::Rows { kinds, rows } => {
            let letters: String = kinds.iter().map(ColumnType::to_char).collect();
            let sort = case.sort.or_else(|| default_sort(&case.sql));
            let sort = match sort {
                Some(SortMode::RowSort) if rows.len() > 1 => " rowsort",
                _ => "",
            };
            let _ = writeln!(out, "query {letters}{sort}\n{}\n----", case.sql);
            for row in rows {
                let _ = writeln!(out, "{}", row.join("\t"));
            }
            out.push('\n');
        }
    }
}

fn shows_count(sql: &str, count: u64) -> bool {
    let lower = sql.to_ascii_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    ["insert", "replace", "update", "delete", "load"].contains(&first)
        || lower.contains("into outfile")
        || (first == "create" && count > 0 && !lower.contains("database"))
}

/// A regular expression for exactly this message.
fn anchored(message: &str) -> String {
    let mut regex = String::from("^");
    let mut previous = ' ';
    for character in message.chars() {
        match character {
            '\n' => regex.push_str("\\n"),
            // The format splits the line at spaces, so a run of them would become one.
            ' ' if previous == ' ' => regex.push_str("\\x20"),
            c if "\\.+*?()|[]{}^$".contains(c) => {
                regex.push('\\');
                regex.push(c);
            }
            c => regex.push(c),
        }
        previous = character;
    }
    regex.push('$');
    regex
}

/// The slug of a difference whose kind can be recognized.
fn classify(case: &Case, actual: &Outcome, expected: Option<&Outcome>) -> String {
    let lower = case.sql.to_ascii_lowercase();
    let slug = match (actual, expected) {
        (Outcome::Error(error), _) if [1064, 1305, 1193, 1115, 1273].contains(&error.code) => {
            "absent-in-mariadb"
        }
        (Outcome::Error(_), Some(Outcome::Error(_))) => "error-number",
        _ if lower.starts_with("show warnings") => "warnings",
        _ if lower.starts_with("show create") => "show-create",
        _ if lower.starts_with("explain") => "explain",
        (Outcome::Rows { rows: a, .. }, Some(Outcome::Rows { rows: b, .. })) => {
            if close(a, b) {
                "number-display"
            } else {
                UNEXPLAINED
            }
        }
        _ => UNEXPLAINED,
    };
    slug.to_owned()
}

/// Whether two results are equal except for the last digits of numbers.
fn close(a: &[Vec<String>], b: &[Vec<String>]) -> bool {
    let near = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-3 * a.abs().max(b.abs()),
        _ => a == b,
    };
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b)))
}

fn summary(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Done(count) => format!("succeeds, {count} rows affected"),
        Outcome::Error(error) => error.to_string(),
        Outcome::Rows { rows, .. } => {
            let lines: Vec<String> = rows.iter().take(4).map(|row| row.join(" | ")).collect();
            format!("gives {}", lines.join(" / "))
        }
    };
    let text = text.replace('\n', " ");
    let short: String = text.chars().take(140).collect();
    if short.len() < text.len() {
        format!("{short}…")
    } else {
        short
    }
}

/// The name of the golden file at `path`, an existing or a new one.
#[must_use]
pub fn name_of(path: &Path) -> String {
    let short = corpus::short_name(path);
    let parts: Vec<&str> = short.rsplitn(3, '/').collect();
    match parts.as_slice() {
        [topic, area, ..] => format!("{area}/{topic}"),
        _ => short,
    }
}

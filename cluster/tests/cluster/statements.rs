//! The statements of `tests/statements.sql` give on a cluster the rows, types, warnings and errors of the server.

use std::collections::BTreeSet;

use mayfly_client::{Client, Column, Error, Receiver, ResultEnd, Row};

use crate::fixture::{Cluster, execute, rows};

const FILE: &str = include_str!("../statements.sql");

/// Everything that a client sees of a result.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Name, type, flags, length, decimals and collation of each column.
    columns: Vec<(String, u8, u16, u32, u8, u16)>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
    warnings: u16,
}

impl Receiver for Seen {
    fn columns(&mut self, columns: Vec<Column>) -> Result<(), String> {
        let columns = columns.into_iter();
        let columns = columns.map(|it| {
            (
                it.name,
                it.field_type,
                it.flags,
                it.length,
                it.decimals,
                it.collation,
            )
        });
        self.columns = columns.collect();
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), String> {
        let values = row.values()?.into_iter();
        self.rows
            .push(values.map(|value| value.map(<[u8]>::to_vec)).collect());
        Ok(())
    }

    fn end(&mut self, end: &ResultEnd) -> Result<(), String> {
        self.warnings = end.warnings;
        Ok(())
    }
}

/// The statements between two headings of the file.
fn statements(from: &str, to: &str) -> Vec<String> {
    let (_, rest) = FILE.split_once(from).expect("a heading");
    let text = if to.is_empty() {
        rest
    } else {
        rest.split_once(to).expect("a heading").0
    };
    let lines = text.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let all = text.split(";\n").map(str::trim);
    all.map(|sql| sql.trim_end_matches(';').to_owned())
        .filter(|sql| !sql.is_empty())
        .collect()
}

/// What a statement gives, its rows sorted unless it orders them, and the kinds of its warnings.
fn seen(client: &mut Client, sql: &str) -> (Result<Seen, (u16, String)>, BTreeSet<String>) {
    let mut seen = Seen::default();
    let ended = client.run(sql.as_bytes(), &mut seen);
    let number = |error: Error| (error.code(), error.state().to_owned());
    let ended = ended.map_err(number);
    if !sql.contains(" DESC, id LIMIT ") {
        seen.rows.sort();
    }
    let warnings = rows(client, "SHOW WARNINGS").expect("warnings").into_iter();
    // Of many warnings, each run keeps the first ones that it has.
    let kinds = warnings.map(|row| {
        row.into_iter()
            .take(2)
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    });
    (ended.map(|()| seen), kinds.collect())
}

#[test]
fn statements_of_every_kind_give_what_the_server_gives() {
    let cluster = Cluster::start();
    let mut client = cluster.client();
    for statement in statements("", "-- Statements.") {
        execute(&mut client, &[&statement]);
    }
    let (all, failing) = (
        statements("-- Statements.", "-- Errors."),
        statements("-- Errors.", ""),
    );
    assert_eq!(all.len(), 300);
    let (mut stayed, mut differing) = (Vec::new(), Vec::new());
    for (sql, fails) in all
        .iter()
        .map(|sql| (sql, false))
        .chain(failing.iter().map(|sql| (sql, true)))
    {
        execute(&mut client, &["SET use_secondary_engine = OFF"]);
        let expected = seen(&mut client, sql);
        assert!(expected.0.is_err() || !fails, "{sql}: {expected:?}");
        execute(&mut client, &["SET use_secondary_engine = FORCED"]);
        let found = seen(&mut client, sql);
        match &found.0 {
            Err((3889, _)) => stayed.push(sql.as_str()),
            _ if found != expected => differing.push(format!(
                "{sql}\n  server:  {expected:?}\n  cluster: {found:?}"
            )),
            _ => {}
        }
    }
    println!("{} statements stay in the server", stayed.len());
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing.join("\n")
    );
    assert!(stayed.len() < 10, "{stayed:#?}");
}

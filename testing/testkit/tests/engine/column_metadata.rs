//! Column metadata in the protocol, compared with that of MySQL 9.7 for the same statements.
//!
//! `column_metadata.txt` has the statements that create tables, and behind an empty line queries (`#`) with a line for
//! each of their columns: `database.alias.table.column`, name, type, length, collation, decimals and flags. A query
//! behind `PREPARE`, which is only prepared, has lines for its `?` and then for its columns. A line that begins with
//! `~` is MySQL's metadata where Mayfly's is in the line after it.

use mayfly_engine::{FieldFlags, FieldType, ResultColumn, ResultEncoder, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mysql::consts::{ColumnFlags, ColumnType};

const EXPECTED: &str = include_str!("column_metadata.txt");

/// The name of a type in MySQL's headers.
fn type_name(field_type: FieldType) -> String {
    let known = ColumnType::try_from(field_type as u8).expect("a type of the protocol");
    format!("{known:?}").replace("MYSQL_TYPE_", "")
}

fn flag_names(flags: FieldFlags) -> String {
    let names = ColumnFlags::from_bits_retain(flags.0).iter_names();
    let names = names.map(|(name, _)| name.trim_end_matches("_FLAG").replace("_VALUE", ""));
    names.collect::<Vec<_>>().join(" ")
}

fn line(encoder: ResultEncoder, column: &ResultColumn) -> String {
    let field = encoder.field(column);
    let origin = match &column.origin {
        Some(origin) => format!(
            "{}.{}.{}.{}",
            origin.database, origin.alias, origin.table, origin.column
        ),
        None => "...".to_owned(),
    };
    format!(
        "{origin}\t{}\t{}\t{}\t{}\t{}\t{}",
        column.name,
        type_name(field.field_type),
        field.length,
        field.collation.0,
        field.decimals,
        flag_names(field.flags)
    )
}

fn query_lines(session: &mut Session, sql: &str) -> Vec<String> {
    let stream = session.query(sql);
    let stream = stream.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let encoder = stream.encoder();
    let columns = stream.columns().iter();
    columns.map(|column| line(encoder, column)).collect()
}

fn prepared_lines(session: &mut Session, sql: &str) -> Vec<String> {
    let prepared = session.prepare(sql);
    let prepared = prepared.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let encoder = session.result_encoder();
    let described = prepared
        .placeholders()
        .iter()
        .chain(prepared.columns().iter());
    described.map(|column| line(encoder, column)).collect()
}

#[test]
fn columns_are_described_as_mysql_describes_them() {
    let (_fixture, mut session) = Fixture::with_session();
    let (tables, queries) = EXPECTED.split_once("\n\n").expect("tables and queries");
    session.must_all(tables.lines());
    let mut wrong = Vec::new();
    for query in queries.split("# ").skip(1) {
        let (sql, columns) = query.split_once('\n').expect("a query and its columns");
        let expected: Vec<&str> = columns
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('~'))
            .collect();
        let found = match sql.strip_prefix("PREPARE ") {
            Some(sql) => prepared_lines(&mut session, sql),
            None => query_lines(&mut session, sql),
        };
        assert_eq!(found.len(), expected.len(), "{sql}");
        for (expected, found) in expected.iter().zip(&found) {
            if expected != found {
                wrong.push(format!("{sql}\n  expected {expected}\n  found    {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lengths_and_collations_are_those_of_the_results_character_set() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (c VARCHAR(20), b VARBINARY(20), l TEXT)");
    for (charset, expected) in [
        ("latin1", [(8, 20), (63, 20), (8, 65_535)]),
        ("utf8mb3", [(33, 60), (63, 20), (33, 196_605)]),
        ("NULL", [(255, 80), (63, 20), (255, 65_535)]),
    ] {
        session.must(&format!("SET character_set_results = {charset}"));
        let stream = session.query("SELECT c, b, l FROM t").expect("a query");
        let encoder = stream.encoder();
        let found = stream.columns().iter().map(|column| {
            let field = encoder.field(column);
            (field.collation.0, field.length)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{charset}");
    }
}

#[test]
fn text_has_the_collation_that_results_were_asked_in() {
    let (_fixture, mut session) = Fixture::with_session();
    // Metadata of MySQL 9.7.
    for (statement, expected) in [
        ("SET NAMES utf8mb4", 255),
        ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", 45),
        ("SET NAMES latin1 COLLATE latin1_bin", 47),
        ("SET character_set_results = utf8mb4", 255),
        ("SET character_set_results = 46", 46),
        ("SET collation_connection = utf8mb4_bin", 46),
        ("SET character_set_results = @@character_set_results", 255),
        ("SET character_set_results = latin1", 8),
        ("SET CHARACTER SET utf8mb4", 255),
        ("SET character_set_results = binary", 63),
    ] {
        session.must(statement);
        let stream = session.query("SELECT 'a'").expect("a query");
        let field = stream.encoder().field(&stream.columns()[0]);
        assert_eq!(field.collation.0, expected, "{statement}");
    }
    session.must("SET character_set_results = 45");
    let shown = session.must("SELECT @@character_set_results");
    assert_eq!(shown, ["utf8mb4"]);
}

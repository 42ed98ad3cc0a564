//! Answers to the page's requests, as JSON. One file per request.
//!
//! A list of members and columns describes how the rows of a relation become objects. A relation that the source does
//! not have leaves its member empty and adds a note, so that the page shows the rest.

pub(crate) mod explain;
pub(crate) mod kill;
pub(crate) mod overview;
pub(crate) mod settings;
pub(crate) mod statements;
pub(crate) mod status;

use serde_json::{Map, Value, json};

use crate::response::{Response, Status};
use crate::source::{Row, Session, Source, SourceError, Table};

/// Conversion of a column's text to JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Number,
    /// Picoseconds, the unit of performance_schema; seconds in JSON.
    Picoseconds,
}

/// A member of an object, the column that it comes from, and its kind.
pub(crate) type Member = (&'static str, &'static str, Kind);

/// A row as an object.
pub(crate) fn object(row: &Row<'_>, members: &[Member]) -> Map<String, Value> {
    let value = |(name, column, kind): &Member| ((*name).to_owned(), value(row, column, *kind));
    members.iter().map(value).collect()
}

fn value(row: &Row<'_>, column: &str, kind: Kind) -> Value {
    match kind {
        Kind::Text => row.text(column).map_or(Value::Null, Value::from),
        Kind::Number => match row.whole(column) {
            Some(number) => Value::from(number),
            None => row.number(column).map_or(Value::Null, Value::from),
        },
        Kind::Picoseconds => row
            .number(column)
            .map_or(Value::Null, |it| Value::from(it / 1e12)),
    }
}

/// A limit in JSON. The largest numbers, which no machine can reach, mean no limit.
pub(crate) fn limit(bytes: Option<u64>) -> Value {
    bytes
        .filter(|bytes| *bytes < 1 << 60)
        .map_or(Value::Null, Value::from)
}

/// The result of one statement that the page runs on its own behalf.
pub(crate) fn watch(source: &dyn Source, statement: &str) -> Result<Table, SourceError> {
    let results = source.run(Session::Watching, &[statement])?;
    Ok(results.into_iter().next_back().unwrap_or_default())
}

/// The rows of a statement as objects; a note instead of rows that cannot be read.
pub(crate) fn list(
    source: &dyn Source,
    statement: &str,
    members: &[Member],
    notes: &mut Vec<String>,
) -> Vec<Map<String, Value>> {
    match watch(source, statement) {
        Ok(table) => table.rows().map(|row| object(&row, members)).collect(),
        Err(error) => {
            notes.push(error.to_string());
            Vec::new()
        }
    }
}

/// The answer for a statement that failed.
pub(crate) fn failed(error: &SourceError) -> Response {
    let body = json!({ "error": { "message": error.message, "code": error.code } });
    Response::json(&body).with_status(Status::StatementFailed)
}

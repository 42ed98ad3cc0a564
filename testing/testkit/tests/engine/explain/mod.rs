//! EXPLAIN: in every format for every statement of the golden files, in MySQL's words, and for statements of other
//! connections.

mod connection;
mod corpus;
mod estimates;
mod measured;
mod mysql;

use mayfly_engine::{Error, Session};

/// The one text that a statement returns; `None` where it returns no rows.
fn text(session: &mut Session, sql: &str) -> Result<Option<String>, Error> {
    let results = session.execute(sql)?;
    let rows = results.last().map(|result| result.rows_text());
    let first = rows.unwrap_or_default().into_iter().next();
    Ok(first.and_then(|row| row.into_iter().next().flatten()))
}

/// The text returned by a statement that must succeed.
fn text_of(session: &mut Session, sql: &str) -> String {
    let text = text(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    text.unwrap_or_else(|| panic!("{sql}: no text"))
}

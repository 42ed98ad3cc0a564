//! The plan of a statement, with measurements on request.

use serde_json::{Value, json};

use super::failed;
use crate::response::{Response, Status};
use crate::source::{Session, Source, SourceError, Table};

/// MySQL's error of an unknown variable.
const NO_VARIABLE: u16 = 1193;

/// Settings of a measured statement: it changes nothing, and ends after a time.
const BEFORE_MEASURING: [&str; 2] = [
    "SET SESSION max_execution_time = 60000",
    "START TRANSACTION READ ONLY",
];

/// `POST /api/explain`: `{"sql": …, "database": …, "analyze": …}`
pub(crate) fn explain(source: &dyn Source, body: &[u8]) -> Response {
    let bad = |text| Response::error(Status::BadRequest, text);
    let Ok(asked) = serde_json::from_slice::<Value>(body) else {
        return bad("the body is no JSON");
    };
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    let Some(sql) = text("sql").map(statement) else {
        return bad("`sql` is missing");
    };
    if sql.is_empty() {
        return bad("`sql` is empty");
    }
    let is_measured = asked.get("analyze").and_then(Value::as_bool) == Some(true);
    let database = text("database").filter(|database| !database.is_empty());
    match run(source, sql, database, is_measured) {
        Ok(table) => answer(&table),
        Err(error) => failed(&error),
    }
}

/// A statement without blanks and semicolons around it.
fn statement(text: &str) -> &str {
    text.trim_start()
        .trim_end_matches(|it: char| it == ';' || it.is_whitespace())
}

fn run(
    source: &dyn Source,
    sql: &str,
    database: Option<&str>,
    is_measured: bool,
) -> Result<Table, SourceError> {
    let usage = database.map(|name| format!("USE `{}`", name.replace('`', "``")));
    let explain = if is_measured {
        format!("EXPLAIN ANALYZE FORMAT=JSON {sql}")
    } else {
        format!("EXPLAIN FORMAT=JSON {sql}")
    };
    let run = |version: Option<&'static str>| {
        let mut statements: Vec<&str> = version.into_iter().collect();
        statements.extend(usage.as_deref());
        if is_measured {
            statements.extend(BEFORE_MEASURING);
        }
        statements.push(&explain);
        source.run(Session::Asked, &statements)
    };
    let results = match run(Some("SET SESSION explain_json_format_version = 2")) {
        // A source with only one version of the format.
        Err(error) if error.code == NO_VARIABLE => run(None)?,
        other => other?,
    };
    Ok(results.into_iter().next_back().unwrap_or_default())
}

fn answer(table: &Table) -> Response {
    let value = table.rows.first().and_then(|row| row.first());
    let text = value.and_then(Option::as_deref).unwrap_or_default();
    match serde_json::from_str::<Value>(text) {
        Ok(plan) => Response::json(&json!({ "plan": plan })),
        Err(_) => Response::error(Status::StatementFailed, "EXPLAIN gave no JSON"),
    }
}

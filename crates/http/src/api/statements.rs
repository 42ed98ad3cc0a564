//! Costs of statements, by their digest.

use serde_json::{Map, Value, json};

use super::Kind::{Number, Picoseconds, Text};
use super::{Member, failed, list, object, watch};
use crate::response::{Response, Status};
use crate::source::{Source, SourceError};

const RELATION: &str = "performance_schema.events_statements_summary_by_digest";
/// Greatest number of digests in a list.
const MOST: usize = 100;
/// MySQL's error of an unknown column.
const NO_COLUMN: u16 = 1054;

const STATEMENT: &[Member] = &[
    ("digest", "DIGEST", Text),
    ("database", "SCHEMA_NAME", Text),
    ("statement", "DIGEST_TEXT", Text),
    ("executions", "COUNT_STAR", Number),
    ("seconds", "SUM_TIMER_WAIT", Picoseconds),
    ("seconds_mean", "AVG_TIMER_WAIT", Picoseconds),
    ("seconds_max", "MAX_TIMER_WAIT", Picoseconds),
    ("seconds_95", "QUANTILE_95", Picoseconds),
    ("errors", "SUM_ERRORS", Number),
    ("warnings", "SUM_WARNINGS", Number),
    ("rows_sent", "SUM_ROWS_SENT", Number),
    ("rows_examined", "SUM_ROWS_EXAMINED", Number),
    ("rows_changed", "SUM_ROWS_AFFECTED", Number),
    ("temporary_tables", "SUM_CREATED_TMP_TABLES", Number),
    ("disk_tables", "SUM_CREATED_TMP_DISK_TABLES", Number),
    ("full_joins", "SUM_SELECT_FULL_JOIN", Number),
    ("sort_merge_passes", "SUM_SORT_MERGE_PASSES", Number),
    ("sort_rows", "SUM_SORT_ROWS", Number),
    ("no_index", "SUM_NO_INDEX_USED", Number),
    ("temporary_bytes", "SUM_TMP_BYTES", Number),
    ("temporary_bytes_max", "MAX_TMP_BYTES", Number),
    ("spilled_bytes", "SUM_TMP_DISK_BYTES_WRITTEN", Number),
    ("disk_bytes_max", "MAX_TMP_DISK_BYTES", Number),
    ("hit_tmp_table_size", "SUM_HIT_TMP_TABLE_SIZE", Number),
    ("hit_temptable_max_ram", "SUM_HIT_TEMPTABLE_MAX_RAM", Number),
    ("memory_max", "MAX_TOTAL_MEMORY", Number),
    ("first_seen", "FIRST_SEEN", Text),
    ("last_seen", "LAST_SEEN", Text),
];

/// Orders of a list: members of [`STATEMENT`].
const ORDERS: &[&str] = &[
    "seconds",
    "seconds_mean",
    "executions",
    "rows_examined",
    "temporary_tables",
    "disk_tables",
    "temporary_bytes",
    "spilled_bytes",
];
const DEFAULT_ORDER: &str = "seconds";

fn column_of(order: &str) -> &'static str {
    let is_it = |member: &&Member| member.0 == order && ORDERS.contains(&order);
    let found = STATEMENT.iter().find(is_it);
    found.map_or("SUM_TIMER_WAIT", |member| member.1)
}

/// `GET /api/statements?order=…`
pub(crate) fn statements(source: &dyn Source, order: Option<&str>) -> Value {
    let order = order.filter(|order| ORDERS.contains(order));
    let order = order.unwrap_or(DEFAULT_ORDER);
    let mut notes = Vec::new();
    let (order, list) = match top(source, order, MOST) {
        Ok(list) => (order, list),
        // The source does not have this counter: its digests come in the usual order.
        Err(error) if error.code == NO_COLUMN => {
            notes.push(format!("{order}: {error}"));
            let list = top(source, DEFAULT_ORDER, MOST);
            (DEFAULT_ORDER, list.unwrap_or_default())
        }
        Err(error) => {
            notes.push(error.to_string());
            (order, Vec::new())
        }
    };
    json!({ "order": order, "statements": list, "notes": notes })
}

/// The first statements in an order, without those that have no digest.
pub(crate) fn top(
    source: &dyn Source,
    order: &str,
    most: usize,
) -> Result<Vec<Map<String, Value>>, SourceError> {
    let column = column_of(order);
    let statement = format!(
        "SELECT * FROM {RELATION} WHERE DIGEST IS NOT NULL ORDER BY {column} DESC LIMIT {most}"
    );
    let table = watch(source, &statement)?;
    Ok(table.rows().map(|row| object(&row, STATEMENT)).collect())
}

const EVENTS: &[Member] = &[
    ("session", "THREAD_ID", Number),
    ("statement", "SQL_TEXT", Text),
    ("seconds", "TIMER_WAIT", Picoseconds),
    ("rows_examined", "ROWS_EXAMINED", Number),
    ("rows_sent", "ROWS_SENT", Number),
    ("temporary_tables", "CREATED_TMP_TABLES", Number),
    ("disk_tables", "CREATED_TMP_DISK_TABLES", Number),
    ("error", "MESSAGE_TEXT", Text),
];

/// `GET /api/statement?digest=…`: one digest with a sample of its text, and its last runs.
pub(crate) fn statement(source: &dyn Source, digest: Option<&str>) -> Response {
    let is_hex =
        |digest: &&str| digest.len() <= 64 && digest.bytes().all(|it| it.is_ascii_hexdigit());
    let Some(digest) = digest.filter(is_hex).filter(|digest| !digest.is_empty()) else {
        return Response::error(
            Status::BadRequest,
            "digest is a number in hexadecimal digits",
        );
    };
    let sql =
        format!("SELECT * FROM {RELATION} WHERE DIGEST = '{digest}' ORDER BY SUM_TIMER_WAIT DESC");
    let table = match watch(source, &sql) {
        Ok(table) => table,
        Err(error) => return failed(&error),
    };
    let Some(row) = table.rows().next() else {
        return Response::error(Status::NotFound, "no statement of this digest has run");
    };
    let mut found = object(&row, STATEMENT);
    let sample = row.text("QUERY_SAMPLE_TEXT");
    found.insert("sample".to_owned(), sample.map_or(Value::Null, Value::from));
    let mut notes = Vec::new();
    let history = format!(
        "SELECT * FROM performance_schema.events_statements_history WHERE DIGEST = '{digest}' ORDER BY TIMER_START DESC LIMIT 20"
    );
    let events = list(source, &history, EVENTS, &mut notes);
    Response::json(&json!({ "statement": found, "events": events, "notes": notes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_orders_reach_sql() {
        for order in ORDERS {
            assert!(STATEMENT.iter().any(|(name, ..)| name == order), "{order}");
        }
        assert_eq!(column_of("spilled_bytes"), "SUM_TMP_DISK_BYTES_WRITTEN");
        assert_eq!(column_of("statement"), "SUM_TIMER_WAIT");
        assert_eq!(column_of("1; DROP TABLE t"), "SUM_TIMER_WAIT");
    }
}

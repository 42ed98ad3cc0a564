//! `/metrics`: the page's numbers in the text format of Prometheus.
//!
//! Every family is a row of a table. Labels take few values (purposes, engines, names of limits and relations), so that
//! a server with many statements costs Prometheus no more than one with few; statements by their digest are included
//! only on request, up to a given number.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::api::{overview, statements, status, watch};
use crate::response::Response;
use crate::sampler::TABLES;
use crate::source::{Row, Source};

const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Greatest number of label combinations of a family.
const SERIES_MAX: usize = 64;

/// Status variables that only grow: variable, metric without its prefix, help text.
const COUNTERS: &[(&str, &str, &str)] = &[
    (
        "questions",
        "statements_total",
        "Statements that clients have sent.",
    ),
    (
        "slow_queries",
        "slow_statements_total",
        "Statements that took longer than long_query_time.",
    ),
    (
        "created_tmp_tables",
        "created_temporary_tables_total",
        "Internal temporary tables, in memory or on disk.",
    ),
    (
        "created_tmp_disk_tables",
        "created_disk_temporary_tables_total",
        "Internal temporary tables that went to disk.",
    ),
    (
        "created_tmp_files",
        "created_temporary_files_total",
        "Temporary files.",
    ),
    (
        "tmp_bytes_overflowed",
        "temporary_bytes_spilled_total",
        "Bytes that internal temporary tables wrote to disk.",
    ),
    (
        "count_hit_tmp_table_size",
        "hit_tmp_table_size_total",
        "Internal temporary tables that overflowed at tmp_table_size.",
    ),
    (
        "temptable_count_hit_max_ram",
        "hit_temptable_max_ram_total",
        "Internal temporary tables that overflowed at temptable_max_ram.",
    ),
    (
        "sort_merge_passes",
        "sort_merge_passes_total",
        "Passes that merged runs of sorts.",
    ),
    ("sort_rows", "sorted_rows_total", "Rows sorted."),
    (
        "select_full_join",
        "full_joins_total",
        "Joins that read a table without an index.",
    ),
    (
        "handler_write",
        "rows_written_total",
        "Rows written, those of internal temporary tables too.",
    ),
    (
        "handler_read_rnd_next",
        "rows_scanned_total",
        "Rows read by scans.",
    ),
    (
        "connections",
        "connections_total",
        "Connections that were tried.",
    ),
    (
        "aborted_clients",
        "aborted_clients_total",
        "Clients that went away without saying so.",
    ),
    (
        "aborted_connects",
        "aborted_connections_total",
        "Logins that failed.",
    ),
    (
        "bytes_received",
        "received_bytes_total",
        "Bytes from clients.",
    ),
    ("bytes_sent", "sent_bytes_total", "Bytes to clients."),
];

/// Status variables that go up and down.
const GAUGES: &[(&str, &str, &str)] = &[
    ("uptime", "uptime_seconds", "Seconds since the start."),
    ("threads_connected", "sessions", "Sessions."),
    (
        "threads_running",
        "sessions_running",
        "Sessions that run a statement.",
    ),
];

/// Statements that are counted by their kind.
const COMMANDS: [&str; 12] = [
    "select",
    "insert",
    "insert_select",
    "replace",
    "update",
    "delete",
    "load",
    "create_table",
    "alter_table",
    "create_index",
    "drop_table",
    "truncate",
];

/// Columns of live temporary tables that are summed by purpose and engine.
const TABLE_SUMS: &[(&str, &str, &str)] = &[
    (
        "ROWS",
        "temporary_table_rows",
        "Rows of living temporary tables.",
    ),
    (
        "MEMORY_BYTES",
        "temporary_table_memory_bytes",
        "Memory of living temporary tables.",
    ),
    (
        "DISK_BYTES",
        "temporary_table_disk_bytes",
        "Disk space of living temporary tables.",
    ),
];

/// Members of a statement that are exported by digest.
const DIGEST_COUNTERS: &[(&str, &str, &str)] = &[
    (
        "executions",
        "digest_executions_total",
        "Runs of a statement.",
    ),
    (
        "seconds",
        "digest_seconds_total",
        "Seconds that a statement took in all.",
    ),
    (
        "temporary_tables",
        "digest_temporary_tables_total",
        "Temporary tables of a statement.",
    ),
    (
        "disk_tables",
        "digest_disk_temporary_tables_total",
        "Temporary tables of a statement that went to disk.",
    ),
    (
        "temporary_bytes",
        "digest_temporary_bytes_total",
        "Bytes in the temporary tables of a statement.",
    ),
    (
        "spilled_bytes",
        "digest_spilled_bytes_total",
        "Bytes that the temporary tables of a statement wrote to disk.",
    ),
];

const MEMORY: &str = "SELECT EVENT_NAME, CURRENT_NUMBER_OF_BYTES_USED, HIGH_NUMBER_OF_BYTES_USED \
                      FROM performance_schema.memory_summary_global_by_event_name \
                      WHERE EVENT_NAME LIKE 'memory/temptable/%'";

/// `GET /metrics`
pub(crate) fn response(source: &dyn Source, digests: usize) -> Response {
    Response::new(KIND, text(source, digests).into_bytes())
}

fn text(source: &dyn Source, digests: usize) -> String {
    let mut out = Exposition::default();
    let mut readable: BTreeMap<&str, bool> = BTreeMap::new();
    let version = source.facts().version;
    out.family("build_info", "gauge", "The version that runs; always 1.");
    out.sample("build_info", &[("version", &version)], 1.0);

    let status = status::read(source);
    readable.insert("global_status", status.is_ok());
    write_status(&mut out, &status.unwrap_or_default());

    let tables = watch(source, TABLES);
    readable.insert("temp_tables", tables.is_ok());
    let tables = tables.unwrap_or_default();
    let rows: Vec<Row<'_>> = tables.rows().collect();
    let is_foreign = |row: &&Row<'_>| {
        !row.whole("SESSION_ID")
            .is_some_and(|id| source.is_watching(id))
    };
    write_tables(
        &mut out,
        &rows.iter().filter(is_foreign).copied().collect::<Vec<_>>(),
    );

    let mut notes = Vec::new();
    let limits = overview::limits(source, &mut notes);
    readable.insert("global_variables", notes.is_empty());
    out.family(
        "limit_bytes",
        "gauge",
        "Limits of temporary tables; one that is off is not there.",
    );
    for (name, value) in &limits {
        if let Some(bytes) = value.as_f64() {
            out.sample("limit_bytes", &[("limit", name)], bytes);
        }
    }

    let memory = watch(source, MEMORY);
    readable.insert("memory_summary", memory.is_ok());
    let memory = memory.unwrap_or_default();
    for (name, column, help) in [
        (
            "temptable_bytes",
            "CURRENT_NUMBER_OF_BYTES_USED",
            "What the engine of temporary tables holds.",
        ),
        (
            "temptable_peak_bytes",
            "HIGH_NUMBER_OF_BYTES_USED",
            "The most that the engine of temporary tables has held.",
        ),
    ] {
        out.family(name, "gauge", help);
        for row in memory.rows().take(SERIES_MAX) {
            let place = row.text("EVENT_NAME").and_then(|it| it.rsplit('/').next());
            if let (Some(place), Some(bytes)) = (place, row.number(column)) {
                out.sample(name, &[("place", place)], bytes);
            }
        }
    }

    if digests > 0 {
        let top = statements::top(source, "seconds", digests);
        readable.insert("statements_summary", top.is_ok());
        write_digests(&mut out, &top.unwrap_or_default());
    }
    out.family(
        "relation_readable",
        "gauge",
        "Whether what these metrics are read from could be read.",
    );
    for (relation, is_readable) in readable {
        out.sample(
            "relation_readable",
            &[("relation", relation)],
            f64::from(is_readable),
        );
    }
    out.text
}

fn write_status(out: &mut Exposition, status: &HashMap<String, f64>) {
    for (kind, list) in [("counter", COUNTERS), ("gauge", GAUGES)] {
        for (variable, name, help) in list {
            if let Some(value) = status.get(*variable) {
                out.family(name, kind, help);
                out.sample(name, &[], *value);
            }
        }
    }
    out.family("commands_total", "counter", "Statements by their kind.");
    for command in COMMANDS {
        if let Some(value) = status.get(&format!("com_{command}")) {
            out.sample("commands_total", &[("command", command)], *value);
        }
    }
}

fn write_tables(out: &mut Exposition, rows: &[Row<'_>]) {
    let mut groups: BTreeMap<(&str, &str), Vec<&Row<'_>>> = BTreeMap::new();
    let mut hits: BTreeMap<&str, u32> = BTreeMap::new();
    for row in rows {
        let labels = (
            row.text("PURPOSE").unwrap_or(""),
            row.text("ENGINE").unwrap_or(""),
        );
        groups.entry(labels).or_default().push(row);
        if let Some(limit) = row.text("LIMIT_HIT").filter(|limit| !limit.is_empty()) {
            *hits.entry(limit).or_default() += 1;
        }
    }
    let groups = || {
        let groups = groups.iter().take(SERIES_MAX);
        groups.map(|((purpose, engine), rows)| ([("purpose", *purpose), ("engine", *engine)], rows))
    };
    out.family("temporary_tables", "gauge", "Living temporary tables.");
    for (labels, rows) in groups() {
        out.sample("temporary_tables", &labels, rows.len() as f64);
    }
    for (column, name, help) in TABLE_SUMS {
        out.family(name, "gauge", help);
        for (labels, rows) in groups() {
            let sum = rows.iter().filter_map(|row| row.number(column)).sum();
            out.sample(name, &labels, sum);
        }
    }
    out.family(
        "temporary_tables_at_limit",
        "gauge",
        "Living temporary tables that have hit a limit.",
    );
    for (limit, count) in hits.iter().take(SERIES_MAX) {
        out.sample(
            "temporary_tables_at_limit",
            &[("limit", limit)],
            f64::from(*count),
        );
    }
}

fn write_digests(out: &mut Exposition, statements: &[Map<String, Value>]) {
    // One digest may have run in several databases.
    let mut seen: BTreeMap<(&str, &str), &Map<String, Value>> = BTreeMap::new();
    for statement in statements {
        let text = |name: &str| statement.get(name).and_then(Value::as_str).unwrap_or("");
        seen.entry((text("digest"), text("database")))
            .or_insert(statement);
    }
    for (member, name, help) in DIGEST_COUNTERS {
        out.family(name, "counter", help);
        for ((digest, database), statement) in &seen {
            if let Some(value) = statement.get(*member).and_then(Value::as_f64) {
                out.sample(name, &[("digest", *digest), ("database", *database)], value);
            }
        }
    }
    out.family("digest_info", "gauge", "The text of a statement; always 1.");
    for ((digest, database), statement) in &seen {
        let text = statement
            .get("statement")
            .and_then(Value::as_str)
            .unwrap_or("");
        let text: String = text.chars().take(120).collect();
        let labels = [
            ("digest", *digest),
            ("database", *database),
            ("statement", &*text),
        ];
        out.sample("digest_info", &labels, 1.0);
    }
}

/// A text in Prometheus' format.
#[derive(Default)]
struct Exposition {
    text: String,
}

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(
            self.text,
            "# HELP mayfly_{name} {help}\n# TYPE mayfly_{name} {kind}\n"
        );
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let _ = write!(self.text, "mayfly_{name}");
        for (index, (label, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"");
            for letter in value.chars() {
                match letter {
                    '\\' => self.text.push_str("\\\\"),
                    '"' => self.text.push_str("\\\""),
                    '\n' => self.text.push_str("\\n"),
                    other => self.text.push(other),
                }
            }
            self.text.push('"');
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut out = Exposition::default();
        out.family("x", "gauge", "Some.");
        out.sample("x", &[("a", "q\"b\\s\nn"), ("b", "")], 1.5);
        out.sample("x", &[], 2.0);
        let expected = "# HELP mayfly_x Some.\n# TYPE mayfly_x gauge\nmayfly_x{a=\"q\\\"b\\\\s\\nn\",b=\"\"} 1.5\nmayfly_x 2\n";
        assert_eq!(out.text, expected);
    }
}

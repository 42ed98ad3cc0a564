//! The current state: temporary tables, sessions, and their common limits.

use serde_json::{Map, Value, json};

use super::Kind::{Number, Text};
use super::{Member, limit, list, status, watch};
use crate::history::SERIES;
use crate::sampler::{Sampler, TABLES, now};
use crate::source::Source;

const TABLE: &[Member] = &[
    ("id", "ID", Number),
    ("session", "SESSION_ID", Number),
    ("user", "USER", Text),
    ("name", "NAME", Text),
    ("purpose", "PURPOSE", Text),
    ("cause", "CAUSE", Text),
    ("access", "ACCESS", Text),
    ("engine", "ENGINE", Text),
    ("rows", "ROWS", Number),
    ("memory", "MEMORY_BYTES", Number),
    ("memory_peak", "MEMORY_PEAK", Number),
    ("disk", "DISK_BYTES", Number),
    ("disk_peak", "DISK_PEAK", Number),
    ("memory_limit", "MEMORY_LIMIT", Number),
    ("disk_limit", "DISK_LIMIT", Number),
    ("partitions", "PARTITIONS", Number),
    ("exchanged", "EXCHANGED_BYTES", Number),
    ("executors", "EXECUTORS", Number),
    ("written", "BYTES_WRITTEN", Number),
    ("read", "BYTES_READ", Number),
    ("limit_hit", "LIMIT_HIT", Text),
    ("age", "AGE", Number),
    ("digest", "STATEMENT_DIGEST", Text),
    ("digest_text", "STATEMENT_DIGEST_TEXT", Text),
];

const SESSIONS: &str = "SELECT * FROM performance_schema.processlist";

const SESSION: &[Member] = &[
    ("id", "ID", Number),
    ("user", "USER", Text),
    ("host", "HOST", Text),
    ("database", "DB", Text),
    ("command", "COMMAND", Text),
    ("seconds", "TIME", Number),
    ("state", "STATE", Text),
    ("statement", "INFO", Text),
];

/// The members of the secondary engine.
const CLUSTER: &str = "SHOW CLUSTER";

const MEMBER: &[Member] = &[
    ("name", "Name", Text),
    ("role", "Role", Text),
    ("address", "Address", Text),
    ("state", "State", Text),
    ("slots", "Slots", Number),
    ("tasks", "Tasks", Number),
    ("memory", "Memory_used", Number),
    ("memory_limit", "Memory_limit", Number),
    ("disk", "Disk_used", Number),
];

/// Limits in bytes that the page compares with; the flag: whether 0 means no limit.
pub(crate) const LIMITS: [(&str, bool); 5] = [
    ("tmp_table_size", false),
    ("temptable_max_ram", false),
    ("max_tmp_total_space_usage", true),
    ("max_tmp_session_space_usage", true),
    ("tmp_disk_table_size", true),
];

/// `GET /api/overview`
pub(crate) fn overview(source: &dyn Source, sampler: &Sampler) -> Value {
    let mut notes = Vec::new();
    let mut tables = list(source, TABLES, TABLE, &mut notes);
    let mut sessions = list(source, SESSIONS, SESSION, &mut notes);
    let id_of = |object: &Map<String, Value>, name: &str| object.get(name).and_then(Value::as_u64);
    let is_own = |object: &Map<String, Value>, name: &str| {
        id_of(object, name).is_some_and(|id| source.is_watching(id))
    };
    tables.retain(|table| !is_own(table, "session"));
    sessions.retain(|session| !is_own(session, "id"));
    for table in &mut tables {
        let statement = statement_of(table, &sessions);
        table.insert("statement".to_owned(), statement);
        for name in ["memory_limit", "disk_limit"] {
            let bytes = id_of(table, name);
            table.insert(name.to_owned(), limit(bytes));
        }
    }
    let status = status::read(source).unwrap_or_default();
    let facts = source.facts();
    // A server without a secondary engine may not know the statement; then there is nothing to show.
    let cluster = list(source, CLUSTER, MEMBER, &mut Vec::new());
    json!({
        "at": now(),
        "server": {
            "version": facts.version,
            "account": facts.account,
            "uptime": status.get("uptime"),
        },
        "limits": limits(source, &mut notes),
        "counters": {
            "created_tmp_tables": status.get("created_tmp_tables"),
            "created_tmp_disk_tables": status.get("created_tmp_disk_tables"),
            "hit_tmp_table_size": status.get("count_hit_tmp_table_size"),
            "hit_temptable_max_ram": status.get("temptable_count_hit_max_ram"),
        },
        "tables": tables,
        "sessions": sessions,
        "cluster": cluster,
        "sample": latest(sampler),
        "notes": notes,
    })
}

/// The statement that a temporary table belongs to: the one that its session runs, or else the text of its digest; none
/// for a table of CREATE TEMPORARY TABLE.
fn statement_of(table: &Map<String, Value>, sessions: &[Map<String, Value>]) -> Value {
    let digest_text = table.get("digest_text").cloned().unwrap_or_default();
    if digest_text.is_null() {
        return Value::Null;
    }
    let own = sessions
        .iter()
        .find(|session| session.get("id") == table.get("session"));
    let running = own.and_then(|session| session.get("statement"));
    running
        .filter(|text| text.is_string())
        .cloned()
        .unwrap_or(digest_text)
}

/// The databases, for `GET /api/databases`.
pub(crate) fn databases(source: &dyn Source) -> Value {
    let mut notes = Vec::new();
    let statement = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME";
    let rows = list(
        source,
        statement,
        &[("name", "SCHEMA_NAME", Text)],
        &mut notes,
    );
    let names: Vec<Value> = rows
        .into_iter()
        .filter_map(|mut row| row.remove("name"))
        .collect();
    json!({ "databases": names, "notes": notes })
}

/// The global values of [`LIMITS`]; null for no limit, or for one that the source does not know.
pub(crate) fn limits(source: &dyn Source, notes: &mut Vec<String>) -> Map<String, Value> {
    let names: Vec<String> = LIMITS.iter().map(|(name, _)| format!("'{name}'")).collect();
    let statement = format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME IN ({})",
        names.join(", ")
    );
    let table = watch(source, &statement).unwrap_or_else(|error| {
        notes.push(error.to_string());
        Default::default()
    });
    let value = |(name, is_off_at_zero): (&str, bool)| {
        let is_it = |text: Option<&str>| text.is_some_and(|it| it.eq_ignore_ascii_case(name));
        let row = table.rows().find(|row| is_it(row.text("VARIABLE_NAME")));
        let bytes = row.and_then(|row| row.whole("VARIABLE_VALUE"));
        limit(bytes.filter(|bytes| *bytes > 0 || !is_off_at_zero))
    };
    let pairs = LIMITS.iter();
    pairs
        .map(|limit| (limit.0.to_owned(), value(*limit)))
        .collect()
}

fn latest(sampler: &Sampler) -> Value {
    let history = sampler.history();
    let sample = history.latest();
    sample.map_or(
        Value::Null,
        |it| json!({ "at": it.at, "values": it.values }),
    )
}

/// `GET /api/history`: the samples of the last seconds, one list per series.
pub(crate) fn history(sampler: &Sampler, seconds: u64, points: usize) -> Value {
    let samples = sampler.history().last(seconds, points);
    let series = SERIES.iter().enumerate().map(|(index, (name, _))| {
        let values = samples.iter().map(|sample| sample.values[index]);
        ((*name).to_owned(), values.collect::<Value>())
    });
    json!({
        "at": samples.iter().map(|sample| sample.at).collect::<Vec<_>>(),
        "series": series.collect::<Map<_, _>>(),
    })
}

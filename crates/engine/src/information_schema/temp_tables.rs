//! Temporary tables and their files: `information_schema.TEMP_TABLES`, every living temporary table
//! of every session, internal ones and those of CREATE TEMPORARY TABLE; and what MySQL shows of its
//! own, `INNODB_TEMP_TABLE_INFO` and `FILES`.

use std::sync::Arc;

use mayfly_memory::budget::UNLIMITED;
use mayfly_storage::Purpose;
use mayfly_types::Value;

use super::relation::{IntoValue, Relation, Row, row, text};
use super::standard;
use crate::connections::SessionShared;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("TEMP_TABLES", rows),
    Relation::new("INNODB_TEMP_TABLE_INFO", transactional_tables),
    Relation::new("INNODB_SESSION_TEMP_TABLESPACES", spaces),
    Relation::new("FILES", files),
];

/// The number of the space that MySQL gives to the first session's temporary tables.
const TEMPORARY_SPACE: u64 = 4_243_767_290;
/// Columns that InnoDB adds: the row's number, its transaction, and where it was changed.
const HIDDEN_COLUMNS: u64 = 3;

/// The temporary tables of all sessions that have transactions.
fn transactional_tables(context: &StatementContext<'_>) -> Vec<Row> {
    let process = std::process::id();
    let mut rows = Vec::new();
    for owner in context.privileges().visible_sessions() {
        let tables = owner.temporary_tables.lock();
        rows.extend(tables.iter().map(|(id, columns)| {
            let name = format!("#sql{process:x}_{:x}_{id:x}", owner.id);
            row![*id, name, *columns as u64 + HIDDEN_COLUMNS, TEMPORARY_SPACE]
        }));
    }
    rows
}

/// The temporary space that each session uses.
fn spaces(context: &StatementContext<'_>) -> Vec<Row> {
    let directory = context.database().options.tmpdir.display().to_string();
    let row = |other: &Arc<SessionShared>| {
        let used = other.memory().temp_space.used();
        row![
            other.id,
            TEMPORARY_SPACE,
            &directory,
            used,
            "ACTIVE",
            "INTRINSIC"
        ]
    };
    let sessions = context.privileges().visible_sessions();
    sessions.iter().map(row).collect()
}

const EXTENT: u64 = 1 << 20;

/// The files of temporary tables, all as one: what they take, and what of it is free. Nothing before
/// the first table overflows.
fn files(context: &StatementContext<'_>) -> Vec<Row> {
    let space = &context.database().resources.temp_space;
    let options = space.options();
    let (taken, limit) = space.disk_bytes();
    let free = taken.saturating_sub(space.used_bytes());
    let name = options.names.first().map_or("", |name| name);
    let path = space.directory().unwrap_or_else(|| options.tmpdir.clone());
    let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let limit = (limit != UNLIMITED).then(|| number(limit)).into_value();
    let values = [
        ("FILE_ID", Value::Int(4_294_967_293)),
        ("FILE_NAME", text(path.join(name).to_string_lossy())),
        ("FILE_TYPE", text("TEMPORARY")),
        ("TABLESPACE_NAME", text("innodb_temporary")),
        ("TABLE_CATALOG", text("")),
        ("ENGINE", text("InnoDB")),
        ("FREE_EXTENTS", number(free / EXTENT)),
        ("TOTAL_EXTENTS", number(taken.div_ceil(EXTENT))),
        ("EXTENT_SIZE", number(EXTENT)),
        ("INITIAL_SIZE", number(options.initial)),
        ("MAXIMUM_SIZE", limit),
        ("AUTOEXTEND_SIZE", number(0)),
        ("DATA_FREE", number(free)),
        ("STATUS", text("NORMAL")),
    ];
    let value = |column: &str| {
        let found = values.iter().find(|(name, _)| *name == column);
        found.map_or(Value::Null, |(_, value)| value.clone())
    };
    let row = standard::columns("FILES")
        .iter()
        .map(|column| value(&column.name));
    vec![row.collect()]
}

fn rows(context: &StatementContext<'_>) -> Vec<Row> {
    let internal = context.database().resources.registry.entries().into_iter();
    // Those of users are listed by their names.
    let internal = internal.filter(|entry| entry.purpose != Purpose::UserTable);
    let internal = internal.map(|entry| {
        let (digest_text, digest) = mayfly_syntax::digest(&entry.owner.statement);
        row![
            entry.id,
            entry.owner.session_id,
            &*entry.owner.user,
            "(internal)",
            entry.purpose.name(),
            &*entry.cause,
            entry.access,
            entry.rows,
            entry.memory_bytes,
            entry.memory_peak,
            entry.disk_bytes,
            entry.disk_peak,
            entry.partitions,
            Value::Float(entry.age.as_secs_f64()),
            digest,
            digest_text,
        ]
    });
    let own = context.session.temporary_tables.iter().map(|table| {
        let (definition, statistics) = (&table.definition, table.statistics(context));
        let age = context.now().saturating_sub(definition.created);
        let privileges = context.privileges();
        row![
            table.id.0,
            context.id(),
            format!("{}@{}", privileges.user(), privileges.host()),
            format!("{}.{}", definition.database, definition.name),
            "user",
            "CREATE TEMPORARY TABLE",
            "scan",
            statistics.rows,
            statistics.memory_bytes,
            statistics.memory_bytes,
            statistics.disk_bytes,
            statistics.disk_bytes,
            1,
            Value::Float(age as f64 / 1e6),
            Value::Null,
            Value::Null,
        ]
    });
    internal.chain(own).collect()
}

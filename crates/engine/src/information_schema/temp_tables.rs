//! Temporary tables and their files: `information_schema.TEMP_TABLES`, with all temporary tables of the visible
//! sessions, internal ones and those of CREATE TEMPORARY TABLE; `TEMPORARY_TABLES` and `GLOBAL_TEMPORARY_TABLES`, as
//! in Percona Server; and MySQL's `INNODB_TEMP_TABLE_INFO`, `INNODB_SESSION_TEMP_TABLESPACES` and `FILES`.

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{TempSpaceOptions, TierUsage};
use mayfly_storage::Purpose;
use mayfly_storage::temptable::RegistryEntry;
use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{IntoValue, Row, row, text};
use super::standard;
use crate::catalog::BaseTable;
use crate::connections::{SessionShared, TemporaryTable};
use crate::convert;
use crate::engines::Engine;
use crate::variables::typed;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("TEMP_TABLES", rows),
    Relation::new("TEMPORARY_TABLES", own_tables),
    Relation::new("GLOBAL_TEMPORARY_TABLES", global_tables),
    Relation::new("INNODB_TEMP_TABLE_INFO", transactional_tables).of_process(),
    Relation::new("INNODB_SESSION_TEMP_TABLESPACES", spaces).of_process(),
    Relation::new("FILES", files).of_process(),
];

/// Space id that MySQL gives to the first session's temporary tables.
const TEMPORARY_SPACE: u64 = 4_243_767_290;
/// Hidden columns of InnoDB: row id, transaction id, and roll pointer.
const HIDDEN_COLUMNS: u64 = 3;

/// The transactional temporary tables of all sessions.
fn transactional_tables(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for owner in context.privileges().visible_sessions() {
        let tables = owner.temporary_tables.lock();
        let tables = tables.iter().filter(|table| table.engine == Engine::InnoDb);
        rows.extend(tables.map(|table| {
            row![
                table.id,
                own_name(&owner, table),
                table.columns as u64 + HIDDEN_COLUMNS,
                TEMPORARY_SPACE
            ]
        }));
    }
    rows
}

/// The unique internal name of a table, in MySQL's form.
fn own_name(owner: &SessionShared, table: &TemporaryTable) -> String {
    let process = std::process::id();
    format!("#sql{process:x}_{:x}_{:x}", owner.id, table.id)
}

/// The tables that CREATE TEMPORARY TABLE has made in one's own session.
fn own_tables(context: &RelationContext) -> Vec<Row> {
    named_tables(context, &context.session)
}

/// The tables that CREATE TEMPORARY TABLE has made in all sessions visible to the user.
fn global_tables(context: &RelationContext) -> Vec<Row> {
    let sessions = context.privileges().visible_sessions();
    let rows = sessions
        .iter()
        .flat_map(|owner| named_tables(context, owner));
    rows.collect()
}

/// Sizes do not distinguish indexes from rows: they share pages.
fn named_tables(context: &RelationContext, owner: &Arc<SessionShared>) -> Vec<Row> {
    let zone = &context.options().session.time_zone;
    let session = i64::try_from(owner.id).unwrap_or(i64::MAX);
    let tables = owner.temporary_tables.lock().clone();
    let row = |table: &TemporaryTable| {
        let entry = table.table.entry();
        let bytes = entry.memory_bytes + entry.disk_bytes;
        let (database, name) = &*table.name.lock();
        row![
            Value::Int(session),
            database,
            name,
            table.engine.name(),
            own_name(owner, table),
            entry.rows,
            bytes.checked_div(entry.rows).unwrap_or(0),
            bytes,
            0,
            convert::datetime_of_unix(table.created, zone),
            Value::Null,
        ]
    };
    tables.iter().map(row).collect()
}

/// The temporary tablespaces of each session, one for user-made tables and one for internal ones, once each has
/// something in a file.
fn spaces(context: &RelationContext) -> Vec<Row> {
    let globals = context.database().globals();
    let directory = globals.text(typed::TMPDIR);
    let row = |other: &Arc<SessionShared>| {
        let used = other.memory().temp_space.used();
        let tables = other.temporary_tables.lock().clone();
        let tables = tables.iter().map(|table| table.table.entry().disk_bytes);
        let of_users: u64 = tables.sum();
        let spaces = [
            ("INTRINSIC", used.saturating_sub(of_users)),
            ("USER", of_users),
        ];
        let spaces = spaces.into_iter().filter(|(_, bytes)| *bytes > 0);
        let row = |(purpose, bytes): (&str, u64)| {
            row![
                other.id,
                TEMPORARY_SPACE,
                directory,
                bytes,
                "ACTIVE",
                purpose
            ]
        };
        spaces.map(row).collect::<Vec<Row>>()
    };
    let sessions = context.privileges().visible_sessions();
    sessions.iter().flat_map(row).collect()
}

const EXTENT: u64 = 1 << 20;

/// The files of temporary tables, those of a directory as one: their total and free bytes. Empty before the first
/// overflow into a directory.
fn files(context: &RelationContext) -> Vec<Row> {
    let space = &context.database().resources.temp_space;
    let options = space.options();
    let tiers = space.tiers().into_iter().enumerate();
    let row = tiers.map(|(number, tier)| {
        let initial = if number == 0 { options.initial } else { 0 };
        directory_files(&tier, options, initial)
    });
    row.collect()
}

fn directory_files(tier: &TierUsage, options: &TempSpaceOptions, initial: u64) -> Row {
    let taken = tier.disk_bytes;
    let free = taken.saturating_sub(tier.used_bytes);
    let limit = options.limit.min(tier.options.capacity);
    let name = options.names.first().map_or("", |name| name);
    let path = tier.directory.as_ref().unwrap_or(&tier.options.directory);
    let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let limit = (limit != UNLIMITED).then(|| number(limit)).into_value();
    let values = [
        ("FILE_ID", Value::Int(4_294_967_293)),
        ("FILE_NAME", text(path.join(name).to_string_lossy())),
        ("FILE_TYPE", text("TEMPORARY")),
        ("TABLESPACE_NAME", text("innodb_temporary")),
        ("TABLE_CATALOG", text("")),
        ("ENGINE", text(Engine::InnoDb.name())),
        ("FREE_EXTENTS", number(free / EXTENT)),
        ("TOTAL_EXTENTS", number(taken.div_ceil(EXTENT))),
        ("EXTENT_SIZE", number(EXTENT)),
        ("INITIAL_SIZE", number(initial)),
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
    row.collect()
}

/// The columns after AGE and the digest.
fn work_row(entry: &RegistryEntry) -> Row {
    let is_exchange = entry.purpose == Purpose::Exchange;
    row![
        entry.engine,
        entry.operator.map(u64::from),
        entry.groups,
        entry.bytes_written,
        entry.bytes_read,
        Value::Float(entry.time_writing.as_secs_f64()),
        Value::Float(entry.time_reading.as_secs_f64()),
        entry.limit.map(|limit| limit.setting),
        entry.limit.map(|limit| limit.bytes),
        bounded(entry.memory_limit),
        bounded(entry.disk_limit),
        is_exchange.then_some(entry.bytes_exchanged),
        is_exchange.then_some(entry.executors),
    ]
}

/// A limit in bytes; `None` for no limit.
fn bounded(bytes: u64) -> Option<u64> {
    (bytes < UNLIMITED).then_some(bytes)
}

fn rows(context: &RelationContext) -> Vec<Row> {
    let sessions = context.privileges().visible_sessions();
    let seen: HashMap<u64, &Arc<SessionShared>> = sessions
        .iter()
        .map(|session| (session.id, session))
        .collect();
    let internal = context.database().resources.registry.entries().into_iter();
    // User-made tables are listed by their names.
    let (sees_all, own) = (
        context.privileges().sees_all_sessions(),
        context.privileges().user_text(),
    );
    let internal = internal.filter(|entry| match entry.purpose {
        Purpose::UserTable => false,
        // The session that has computed it may have ended.
        Purpose::KeptResult => sees_all || entry.owner.user == *own,
        _ => seen.contains_key(&entry.owner.session_id),
    });
    let mut rows: Vec<Row> = internal
        .map(|entry| {
            let (digest_text, digest) = mayfly_syntax::digest(&entry.owner.statement);
            let mut row = row![
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
            ];
            row.extend(work_row(&entry));
            row
        })
        .collect();
    for session in &sessions {
        let identity = session.identity();
        let tables = session.temporary_tables.lock().clone();
        rows.extend(tables.iter().map(|table| {
            let entry = table.table.entry();
            let (database, name) = &*table.name.lock();
            let mut row = row![
                // The id among all temporary tables, for KILL TEMPORARY TABLE.
                entry.id,
                session.id,
                format!("{}@{}", identity.user, identity.host),
                format!("{database}.{name}"),
                "user",
                if table.is_global {
                    "CREATE GLOBAL TEMPORARY TABLE"
                } else {
                    "CREATE TEMPORARY TABLE"
                },
                "scan",
                entry.rows,
                entry.memory_bytes,
                entry.memory_peak,
                entry.disk_bytes,
                entry.disk_peak,
                entry.partitions,
                Value::Float(entry.age.as_secs_f64()),
                Value::Null,
                Value::Null,
            ];
            row.extend(work_row(&entry));
            // The engine in the definition.
            row[ENGINE] = text(table.engine.name());
            row
        }));
    }
    rows.extend(shared_tables(context));
    rows
}

/// The shared temporary tables that the user may see. They are no session's, and have no id by which they are ended.
fn shared_tables(context: &RelationContext) -> Vec<Row> {
    let mut tables = context.privileges().visible_tables();
    tables.retain(|table| table.definition.is_shared());
    let now = context.database().options.clock.now_utc_microseconds();
    let row = |table: &Arc<BaseTable>| {
        let definition = &table.definition;
        let statistics = table.statistics(context);
        let age = now.saturating_sub(definition.created) as f64 / 1e6;
        let mut row = row![
            Value::Null,
            Value::Null,
            table.shared_space().map(|space| &*space.owner),
            format!("{}.{}", definition.database, definition.name),
            "user",
            "CREATE SHARED TEMPORARY TABLE",
            "scan",
            statistics.rows,
            0,
            0,
            statistics.disk_bytes,
            Value::Null,
            0,
            Value::Float(age.max(0.0)),
        ];
        row.resize(COLUMNS, Value::Null);
        row[ENGINE] = text(definition.engine.name());
        row
    };
    tables.iter().map(row).collect()
}

/// Number of columns.
const COLUMNS: usize = 29;

/// The position of the column ENGINE.
const ENGINE: usize = 16;

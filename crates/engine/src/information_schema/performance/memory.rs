//! `memory_summary_…`: the bytes of budgets, under MySQL's names where it has one. Budgets count bytes and not
//! allocations, so the columns of counts are 0, and totals of allocated bytes are unknown.

use std::collections::BTreeMap;

use mayfly_types::Value;

use crate::budgets::SessionMemory;
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new(
        "performance_schema.memory_summary_global_by_event_name",
        global,
    ),
    Relation::new(
        "performance_schema.memory_summary_by_thread_by_event_name",
        by_thread,
    ),
    Relation::new(
        "performance_schema.memory_summary_by_account_by_event_name",
        by_account,
    ),
    Relation::new(
        "performance_schema.memory_summary_by_user_by_event_name",
        by_user,
    ),
    Relation::new(
        "performance_schema.memory_summary_by_host_by_event_name",
        by_host,
    ),
];

/// Instrument of temporary tables in memory.
const PHYSICAL_RAM: &str = "memory/temptable/physical_ram";
/// Instrument of temporary tables in files.
const PHYSICAL_DISK: &str = "memory/temptable/physical_disk";

/// (current, peak) bytes.
type Used = (u64, u64);

fn used_row(before: &[Value], name: &str, (used, most): Used) -> Row {
    let bytes = |bytes: u64| Value::Int(i64::try_from(bytes).unwrap_or(i64::MAX));
    let mut row = before.to_vec();
    row.extend(row![name, 0, 0, 0, 0]);
    row.extend([const { Value::Int(0) }; 4]);
    row.extend([bytes(used), bytes(most)]);
    row
}

fn global(context: &RelationContext) -> Vec<Row> {
    let database = context.database();
    let budgets = &database.budgets;
    let cached = database.statement_cache.bytes();
    let digests = database.instrumentation.digests.memory();
    let temporary = &budgets.temporary_tables;
    let (space, base) = (&budgets.temp_space, &budgets.base_tables);
    let written = &budgets.write_buffer;
    let rows = [
        (PHYSICAL_RAM, (temporary.used(), temporary.peak())),
        (PHYSICAL_DISK, (space.used(), space.peak())),
        ("memory/mayfly/base_tables", (base.used(), base.peak())),
        (
            "memory/mayfly/write_buffer",
            (written.used(), written.peak()),
        ),
        ("memory/mayfly/statement_cache", (cached, cached)),
        (
            "memory/performance_schema/events_statements_summary_by_digest",
            (digests.used(), digests.peak()),
        ),
    ];
    let rows = rows.into_iter();
    rows.map(|(name, used)| used_row(&[], name, used)).collect()
}

/// The bytes of a session: in memory, in files, and other than temporary tables.
fn of_session(memory: &SessionMemory) -> [(&'static str, Used); 3] {
    let used = |budget: &mayfly_memory::Budget| (budget.used(), budget.peak());
    [
        (PHYSICAL_RAM, used(&memory.rows)),
        (PHYSICAL_DISK, used(&memory.temp_space)),
        ("memory/mayfly/session", memory.beside_rows()),
    ]
}

fn by_thread(context: &RelationContext) -> Vec<Row> {
    let sessions = context.database().living_sessions();
    let rows = sessions.iter().flat_map(|session| {
        let before = row![session.id];
        of_session(&session.memory()).map(|(name, used)| used_row(&before, name, used))
    });
    rows.collect()
}

/// The bytes of the open sessions of accounts, grouped by the columns that `key` returns.
fn by_key(context: &RelationContext, key: impl Fn(&str, &str) -> Vec<String>) -> Vec<Row> {
    let mut all: BTreeMap<(Vec<String>, &'static str), Used> = BTreeMap::new();
    for session in context.database().living_sessions() {
        let identity = session.identity();
        for (name, (used, most)) in of_session(&session.memory()) {
            let key = (key(&identity.user, &identity.host), name);
            let sum = all.entry(key).or_default();
            *sum = (sum.0 + used, sum.1 + most);
        }
    }
    let rows = all.into_iter().map(|((key, name), used)| {
        let before: Row = key.into_iter().flat_map(|part| row![part]).collect();
        used_row(&before, name, used)
    });
    rows.collect()
}

fn by_account(context: &RelationContext) -> Vec<Row> {
    by_key(context, |user, host| vec![user.to_owned(), host.to_owned()])
}

fn by_user(context: &RelationContext) -> Vec<Row> {
    by_key(context, |user, _| vec![user.to_owned()])
}

fn by_host(context: &RelationContext) -> Vec<Row> {
    by_key(context, |_, host| vec![host.to_owned()])
}

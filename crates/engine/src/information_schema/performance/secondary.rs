//! `rpd_tables`, `rpd_table_id` and `rpd_nodes`: the copies of tables in the secondary engine, and its members. Names and
//! columns are HeatWave's, as far as there is something to show; columns of Mayfly's own stand behind them.

use std::sync::Arc;

use mayfly_types::Value;

use crate::catalog::BaseTable;
use crate::convert::datetime_of_unix;
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};
use crate::secondary::copies::LoadStatus;
use crate::secondary::{Member, MemberState};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.rpd_tables", tables),
    Relation::new("performance_schema.rpd_table_id", names),
    Relation::new("performance_schema.rpd_nodes", nodes),
];

/// HeatWave's words for states of a table.
fn status_name(status: LoadStatus) -> &'static str {
    match status {
        LoadStatus::Absent => "NOLOAD_RPDGSTABSTATE",
        LoadStatus::Loading => "LOADING_RPDGSTABSTATE",
        LoadStatus::Fresh => "AVAIL_RPDGSTABSTATE",
        LoadStatus::Stale => "STALE_RPDGSTABSTATE",
        LoadStatus::Recovering => "INRECOVERY_RPDGSTABSTATE",
    }
}

/// The visible tables that have a copy, or are about to.
fn loaded(context: &RelationContext) -> Vec<Arc<BaseTable>> {
    let mut tables = context.privileges().visible_tables();
    tables.retain(|table| table.copy.is_used());
    tables
}

fn tables(context: &RelationContext) -> Vec<Row> {
    let zone = &context.options().session.time_zone;
    let time = |time: Option<i64>| time.map(|time| datetime_of_unix(time, zone));
    let tables = loaded(context);
    let rows = tables.iter().map(|table| {
        let status = table.copy.status();
        let copy = status.copy.as_ref();
        row![
            table.id.0,
            copy.map(|copy| copy.version),
            copy.map(|copy| copy.version),
            "TRANSACTIONAL",
            "PartitionedByPrimaryKey",
            copy.map_or(0, |copy| copy.rows()),
            status_name(status.status),
            Value::Float(status.progress),
            copy.map_or(0, |copy| copy.bytes()),
            status.queries,
            time(status.queried),
            time(status.began),
            time(copy.map(|copy| copy.ended)),
            copy.map_or(0, |copy| copy.parts.len() as u64),
            status.error,
        ]
    });
    rows.collect()
}

fn names(context: &RelationContext) -> Vec<Row> {
    let tables = loaded(context);
    let rows = tables.iter().map(|table| {
        let (database, name) = (&table.definition.database, &table.definition.name);
        row![table.id.0, format!("{database}.{name}"), database, name]
    });
    rows.collect()
}

fn nodes(context: &RelationContext) -> Vec<Row> {
    let Some(engine) = context.database().any_secondary_engine() else {
        return Vec::new();
    };
    let members = engine.members().unwrap_or_else(|error| {
        context.warn(error);
        Vec::new()
    });
    let row = |(id, member): (u64, Member)| {
        let (host, port) = match member.address.rsplit_once(':') {
            Some((host, port)) => (host.to_owned(), port.parse::<u64>().ok()),
            None => (member.address, None),
        };
        let state = match member.state {
            MemberState::Available => "AVAIL_RNSTATE",
            MemberState::Starting => "NOTAVAIL_RNSTATE",
            MemberState::Down => "DOWN_RNSTATE",
        };
        row![
            id,
            member.slots,
            member.memory_used,
            member.memory_limit,
            state,
            host,
            port,
            member.name,
            member.role,
            member.tasks,
            member.disk_used,
        ]
    };
    (0..).zip(members).map(row).collect()
}

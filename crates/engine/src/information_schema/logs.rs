//! `mysql.general_log` and `mysql.slow_log`: the logs, where `log_output` has TABLE.

use std::time::Duration;

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::convert;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("mysql.general_log", general_log),
    Relation::new("mysql.slow_log", slow_log),
];

fn timestamp(context: &RelationContext, microseconds: i64) -> Value {
    convert::datetime_of_unix(microseconds, &context.options().session.time_zone)
}

fn time(time: Duration) -> Value {
    Value::Int(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}

/// A count for a column of type INT.
fn count(count: u64) -> Value {
    Value::Int(i64::from(i32::try_from(count).unwrap_or(i32::MAX)))
}

fn general_log(context: &RelationContext) -> Vec<Row> {
    let rows = context.database().logs.general_table.rows().into_iter();
    rows.map(|logged| {
        row![
            timestamp(context, logged.event_time),
            &*logged.user_host,
            logged.thread_id,
            logged.server_id,
            &*logged.command,
            &*logged.argument,
        ]
    })
    .collect()
}

fn slow_log(context: &RelationContext) -> Vec<Row> {
    let rows = context.database().logs.slow_table.rows().into_iter();
    rows.map(|logged| {
        row![
            timestamp(context, logged.start_time),
            &*logged.user_host,
            time(logged.query_time),
            time(logged.lock_time),
            count(logged.rows_sent),
            count(logged.rows_examined),
            logged.database.as_deref().unwrap_or_default(),
            Value::Int(0),
            Value::Int(0),
            logged.server_id,
            &*logged.text,
            logged.thread_id,
        ]
    })
    .collect()
}

/// TRUNCATE TABLE of a log; returns whether the table is a log.
pub(crate) fn truncate(context: &StatementContext<'_>, database: &str, name: &str) -> bool {
    let logs = &context.database().logs;
    match (database, name) {
        ("mysql", "general_log") => logs.general_table.clear(),
        ("mysql", "slow_log") => logs.slow_table.clear(),
        _ => return false,
    }
    true
}

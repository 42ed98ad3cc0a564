//! `PROFILING`: stages of the session's last statements.

use std::time::Duration;

use arrow_buffer::i256;
use mayfly_types::Value;
use mayfly_types::error::codes;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("PROFILING", shown),
    // For SHOW PROFILE.
    Relation::new("#profiling", rows),
];

/// MySQL numbers the stages of a statement from 2 on.
const FIRST: i64 = 2;

/// A duration in seconds, to the microsecond.
fn seconds(duration: Duration) -> Value {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    Value::Decimal {
        unscaled: i256::from(microseconds),
        scale: 6,
    }
}

fn number(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn shown(context: &RelationContext) -> Vec<Row> {
    context.warn(
        codes::ER_WARN_DEPRECATED_SYNTAX
            .with(&[&"INFORMATION_SCHEMA.PROFILING", &"Performance Schema"]),
    );
    rows(context)
}

/// The columns for the source location are NULL.
fn rows(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for profile in &context.profiles {
        for (span, position) in profile.stages.iter().zip(FIRST..) {
            let usage = &span.usage;
            rows.push(row![
                number(profile.id),
                Value::Int(position),
                span.stage.name(),
                seconds(span.duration),
                seconds(usage.user),
                seconds(usage.system),
                number(usage.voluntary_switches),
                number(usage.involuntary_switches),
                number(usage.blocks_in),
                number(usage.blocks_out),
                number(usage.messages_sent),
                number(usage.messages_received),
                number(usage.major_faults),
                number(usage.minor_faults),
                number(usage.swaps),
                Value::Null,
                Value::Null,
                Value::Null,
            ]);
        }
    }
    rows
}

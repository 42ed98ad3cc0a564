//! `OPTIMIZER_TRACE`: optimizer traces of the session's last statements.

use std::sync::Arc;

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::session::KeptTrace;

pub(super) const RELATIONS: &[Relation] = &[Relation::new("OPTIMIZER_TRACE", rows)];

fn rows(context: &RelationContext) -> Vec<Row> {
    let row = |trace: &Arc<KeptTrace>| {
        let missing = i64::try_from(trace.missing_bytes).unwrap_or(i64::MAX);
        row![
            trace.query.as_str(),
            trace.trace.as_str(),
            Value::Int(missing),
            Value::Int(i64::from(trace.is_hidden)),
        ]
    };
    context.traces.iter().map(row).collect()
}

//! `OPTIMIZER_TRACE`: optimizer traces of the session's last statements.

use mayfly_types::Value;

use super::relation::{Relation, Row, row};
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[Relation::new("OPTIMIZER_TRACE", rows)];

fn rows(context: &StatementContext<'_>) -> Vec<Row> {
    let shown = context.session.traces.shown(&context.options().trace);
    let row = |trace: &crate::session::KeptTrace| {
        let missing = i64::try_from(trace.missing_bytes).unwrap_or(i64::MAX);
        row![
            trace.query.as_str(),
            trace.trace.as_str(),
            Value::Int(missing),
            Value::Int(i64::from(trace.is_hidden)),
        ]
    };
    shown.map(row).collect()
}

//! Statements with an optimizer trace, and how a trace begins (the manual, "Traceable Statements").

use mayfly_plan::Trace;
use mayfly_syntax::ast::{ExplainTarget, SetItem, SetTarget, Statement};
use mayfly_types::{SqlType, Value};

use super::explain;
use crate::prepared::Prepared;
use crate::session::{StatementContext, StatementTrace};

/// The variables that a SET may change without being traced.
const VARIABLES: &str = "optimizer_trace";

/// Begins a trace if the session has tracing on and the statement is traceable.
#[inline]
pub(super) fn begin(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    parameters: &[(Value, SqlType)],
) {
    if !context.options().trace.is_on || context.trace.is_some() {
        return;
    }
    if !is_traceable(prepared.statement()) {
        return;
    }
    let limits = explain::limits(context).into_iter();
    let limits = limits.map(|limit| (limit.setting, limit.bytes)).collect();
    let trace = Trace::new(context.options().trace.features, limits);
    let text = match parameters {
        [] => prepared.text_handle().clone(),
        values => context.with_values(prepared, values).into(),
    };
    context.trace = Some(Box::new(StatementTrace::new(text, trace)));
}

fn is_traceable(statement: &Statement) -> bool {
    match statement {
        Statement::Query(_)
        | Statement::SelectInto(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Do(_) => true,
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Statement { statement, .. } => is_traceable(statement),
            ExplainTarget::Connection(_) => false,
        },
        Statement::Set(items) => !items.iter().any(|item| match item {
            SetItem::Assign {
                target: SetTarget::System { name, .. },
                ..
            } => name.to_ascii_lowercase().starts_with(VARIABLES),
            _ => false,
        }),
        _ => false,
    }
}

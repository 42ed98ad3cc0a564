//! What the logs show of a statement besides its text: parameter values, and its EXPLAIN.

use std::sync::Arc;

use mayfly_exec::Measures;
use mayfly_plan::explain::{self, ExplainRow, Subject};
use mayfly_syntax::ast::Statement;
use mayfly_types::{SqlType, Value};

use crate::cached_plan::{CachedPlan, ExecutablePlan};
use crate::convert;
use crate::prepared::Prepared;
use crate::session::{ExplainedPlan, StatementContext};

impl StatementContext<'_> {
    /// Records the start of the statement with a text.
    #[inline]
    pub(super) fn log_query(&mut self, prepared: &Prepared) {
        if self.database().logs.any_is_on() {
            self.log_query_now(prepared);
        }
    }

    fn log_query_now(&mut self, prepared: &Prepared) {
        let text = match &**prepared.statement() {
            // A prepared text may contain passwords.
            Statement::Prepare(prepare) => Some(format!("PREPARE {} FROM ...", prepare.name)),
            _ => None,
        };
        let text = text.map(Arc::from);
        if self.database().logs.options().raw {
            // The general log has the original text.
            self.session.log.text = text;
        } else {
            self.log_begin("Query", text);
        }
    }

    /// Records the start of a prepared statement with these values.
    #[inline]
    pub(super) fn log_execute(&mut self, prepared: &Prepared, values: &[(Value, SqlType)]) {
        if self.database().logs.any_is_on() {
            let text = self.with_values(prepared, values);
            self.log_begin("Execute", Some(Arc::from(text)));
        }
    }

    /// The text of a prepared statement with its `?` replaced by values.
    pub(super) fn with_values(&self, prepared: &Prepared, values: &[(Value, SqlType)]) -> String {
        let options = &self.options().parse;
        mayfly_syntax::with_parameters(&prepared.text, options, &mut |index, out| {
            if let Some((value, ty)) = values.get(index) {
                append_literal(value, ty, out);
            }
        })
    }
}

/// A value as MySQL writes it into its logs.
fn append_literal(value: &Value, ty: &SqlType, out: &mut String) {
    if value.is_null() {
        out.push_str("NULL");
        return;
    }
    let bytes = convert::display(value, ty);
    let text = String::from_utf8_lossy(&bytes);
    if matches!(value, Value::Bytes(_)) || ty.is_temporal() {
        out.push('\'');
        for character in text.chars() {
            match character {
                '\0' => out.push_str("\\0"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\u{1a}' => out.push_str("\\Z"),
                '\\' | '\'' | '"' => out.extend(['\\', character]),
                _ => out.push(character),
            }
        }
        out.push('\'');
    } else {
        out.push_str(&text);
    }
}

/// Gives the slow log the plan of the statement with the counters of its operators, as MariaDB's ANALYZE rows: of the
/// query that finds the changed rows, or of the table to which values are added.
pub(super) fn explain(context: &mut StatementContext<'_>, plan: &CachedPlan) {
    let query = match &plan.plan {
        ExecutablePlan::Query(query) => Some(query),
        ExecutablePlan::LockingRead(locking) => Some(&locking.query),
        ExecutablePlan::Insert(insert) => insert.query(),
        ExecutablePlan::Change(change) => Some(&change.change.query),
        ExecutablePlan::Utility => return,
    };
    let rows = match (query, &plan.plan) {
        (Some(query), _) => explain::traditional(&Subject::from(&**query)),
        (None, ExecutablePlan::Insert(insert)) => vec![ExplainRow {
            id: 1,
            select_type: "INSERT",
            table: insert.table().map(|table| table.definition.name.clone()),
            access: Some("ALL"),
            filtered: Some(100.0),
            extra: Some("NULL".to_owned()),
            ..ExplainRow::default()
        }],
        (None, _) => return,
    };
    let operators = query.map_or(0, |query| query.operator_count);
    context.is_explained(ExplainedPlan {
        rows,
        readers: query.map_or_else(Vec::new, |query| explain::table_readers(query)),
        measures: Arc::new(Measures::new(operators)),
    });
}

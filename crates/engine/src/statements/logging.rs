//! What the logs show of a statement besides its text: the values of its `?`, and its EXPLAIN.

use std::sync::Arc;

use mayfly_exec::Measures;
use mayfly_plan::explain::{self, Change, ChangeKind, Subject};
use mayfly_syntax::ast::Statement;
use mayfly_types::{SqlType, Value};

use super::cached_plan::{CachedPlan, ExecutablePlan};
use crate::convert;
use crate::prepared::Prepared;
use crate::session::{ExplainedPlan, StatementContext};

impl StatementContext<'_> {
    /// The statement of a text begins.
    #[inline]
    pub(super) fn log_query(&mut self, prepared: &Prepared) {
        if self.database().logs.any_is_on() {
            self.log_query_now(prepared);
        }
    }

    fn log_query_now(&mut self, prepared: &Prepared) {
        let text = match &**prepared.statement() {
            // What is prepared may have passwords in it.
            Statement::Prepare(prepare) => Some(format!("PREPARE {} FROM ...", prepare.name)),
            _ => None,
        };
        let text = text.map(Arc::from);
        if self.database().logs.options().raw {
            // The general log has it as it came.
            self.session.log.text = text;
        } else {
            self.log_begin("Query", text);
        }
    }

    /// A prepared statement begins to run with these values.
    #[inline]
    pub(super) fn log_execute(&mut self, prepared: &Prepared, values: &[(Value, SqlType)]) {
        if self.database().logs.any_is_on() {
            let text = self.with_values(prepared, values);
            self.log_begin("Execute", Some(Arc::from(text)));
        }
    }

    fn with_values(&self, prepared: &Prepared, values: &[(Value, SqlType)]) -> String {
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

/// The statement runs by a plan, which the slow log shows with what its operators do.
pub(super) fn explain(context: &mut StatementContext<'_>, plan: &CachedPlan) {
    let (query, change) = match (&plan.plan, &*plan.statement) {
        (ExecutablePlan::Query(query), _) => (Some(query), None),
        (ExecutablePlan::LockingRead(locking), _) => (Some(&locking.query), None),
        (ExecutablePlan::Insert(insert), Statement::Insert(statement)) => {
            let kind = match statement.replace {
                true => ChangeKind::Replace,
                false => ChangeKind::Insert,
            };
            let table = insert.table().map(|table| table.definition.name.clone());
            (insert.query(), Some((kind, Vec::from_iter(table))))
        }
        (ExecutablePlan::Change(change), statement) => {
            let kind = match statement {
                Statement::Update(_) => ChangeKind::Update,
                _ => ChangeKind::Delete,
            };
            let targets = change.change.targets.iter();
            let tables = targets.map(|target| target.alias.clone()).collect();
            (Some(&change.change.query), Some((kind, tables)))
        }
        _ => return,
    };
    let subject = Subject {
        query: query.map(|query| &**query),
        change: change.map(|(kind, tables)| Change { kind, tables }),
    };
    let operators = query.map_or(0, |query| query.operator_count);
    context.is_explained(ExplainedPlan {
        rows: explain::traditional(&subject),
        readers: query.map_or_else(Vec::new, |query| explain::table_readers(query)),
        measures: Arc::new(Measures::new(operators)),
    });
}

//! A statement that is planned, and what is known of its plan.

use std::sync::Arc;

use itertools::Itertools;
use mayfly_memory::budget::UNLIMITED;
use mayfly_plan::Explanation;
use mayfly_plan::explain::{Change, ChangeKind, MemoryLimit, Subject, identifier};
use mayfly_syntax::ast::{InsertSource, InsertStatement, Statement};
use mayfly_syntax::encodings::is_default;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::cached_plan::{CachedPlan, ExecutablePlan, InsertPlan};
use crate::catalog::expression_text::value_text;
use crate::connections::{PlanParts, RunningPlan};
use crate::session::StatementContext;
use crate::statements::plan_validity::ReadyPlan;
use crate::statements::planned::Planned;
use crate::statements::select;
use crate::statements::{hints, insert, planning};

/// A planned statement, and what is known of its plan.
pub(super) struct Explained {
    pub(super) query: Option<Planned>,
    change: Option<Change>,
    /// The rewritten statement, for SHOW WARNINGS.
    pub(super) rewritten: Option<String>,
    removals: Vec<Option<String>>,
}

impl Explained {
    /// Plans a statement, under the settings that it would run under.
    pub(super) fn plan(
        context: &mut StatementContext<'_>,
        statement: &Arc<Statement>,
    ) -> Result<Self> {
        let query = match &**statement {
            Statement::Query(query) => Some(query),
            Statement::SelectInto(into) => Some(&into.query),
            _ => None,
        };
        if let Some(query) = query {
            hints::apply(context, query);
            let planned = select::plan(context, query)?;
            let Explanation {
                rewritten,
                removals,
            } = context.explanation.take().unwrap_or_default();
            return Ok(Self {
                query: Some(planned),
                change: None,
                rewritten: Some(rewritten),
                removals,
            });
        }
        let ready = planning::plan(context, statement, None)?;
        Self::of_change(context, &ready)
    }

    /// An INSERT, UPDATE or DELETE that is planned.
    pub(super) fn of_change(context: &StatementContext<'_>, ready: &ReadyPlan) -> Result<Self> {
        let parts = ready.plan.parts();
        let (query, change) = parts
            .ok_or_else(|| codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN of this statement"]))?;
        let Explanation {
            rewritten,
            removals,
        } = context.explanation.take().unwrap_or_default();
        let mut offloaded = None;
        let rewritten = match (&ready.plan.plan, &*ready.plan.statement) {
            (ExecutablePlan::Insert(plan), Statement::Insert(insert)) => {
                if let Some(query) = &query {
                    offloaded = insert::offloaded(context, insert, query)?;
                    // The query is planned a second time.
                    context.explanation.take();
                }
                rewritten_insert(insert, plan, &rewritten)
            }
            _ => Some(rewritten),
        };
        let here = || query.map(|query| Planned::new(&query, &ready.tables));
        Ok(Self {
            query: offloaded.or_else(here),
            change,
            rewritten,
            removals,
        })
    }

    /// The plan by which a session's statement runs; its rewritten text and the removed parts are not kept.
    pub(super) fn running(plan: &dyn RunningPlan) -> Option<Self> {
        let (query, change) = plan.parts()?;
        Some(Self {
            query: query.map(|query| Planned::new(&query, &Arc::default())),
            change,
            rewritten: None,
            removals: Vec::new(),
        })
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            query: self.query.as_ref().map(|planned| match &planned.offloaded {
                Some(offloaded) => &*offloaded.shown,
                None => &*planned.plan,
            }),
            change: self.change.clone(),
            rewritten: self.rewritten.as_deref(),
            removals: &self.removals,
            ..Subject::default()
        }
    }
}

impl RunningPlan for CachedPlan {
    fn parts(&self) -> Option<PlanParts> {
        Some(match (&self.plan, &*self.statement) {
            (ExecutablePlan::Query(query), _) => (Some(Arc::clone(query)), None),
            (ExecutablePlan::LockingRead(plan), _) => (Some(Arc::clone(&plan.query)), None),
            (ExecutablePlan::Insert(plan), Statement::Insert(insert)) => {
                let kind = if insert.replace {
                    ChangeKind::Replace
                } else {
                    ChangeKind::Insert
                };
                let table = plan.table().into_iter();
                let tables = table.map(|table| table.definition.name.clone()).collect();
                (plan.query().cloned(), Some(Change { kind, tables }))
            }
            (ExecutablePlan::Change(plan), statement) => {
                let kind = match statement {
                    Statement::Update(_) => ChangeKind::Update,
                    _ => ChangeKind::Delete,
                };
                let targets = plan.change.targets.iter();
                let tables = targets.map(|target| target.alias.clone()).collect();
                let query = Arc::clone(&plan.change.query);
                (Some(query), Some(Change { kind, tables }))
            }
            _ => return None,
        })
    }
}

/// INSERT and REPLACE as MySQL prints them; `source` is what their query is rewritten to.
fn rewritten_insert(insert: &InsertStatement, plan: &InsertPlan, source: &str) -> Option<String> {
    let table = plan.table()?;
    let definition = &table.definition;
    let full = [&definition.database, &definition.name].map(|name| identifier(name));
    let name = full.join(".");
    let column = |position: &usize| {
        let column = definition.columns.get(*position);
        format!(
            "{name}.{}",
            identifier(column.map_or("", |column| &column.name))
        )
    };
    let verb = if insert.replace { "replace" } else { "insert" };
    let ignore = if insert.ignore { " ignore" } else { "" };
    let columns = match &insert.columns {
        None => String::new(),
        Some(_) => format!(" ({})", plan.positions.iter().map(column).join(",")),
    };
    let source = match &insert.source {
        InsertSource::Query(_) => source.to_owned(),
        InsertSource::Values(rows) => {
            let value = |expr| {
                if is_default(expr) {
                    "default".to_owned()
                } else {
                    value_text(expr)
                }
            };
            let rows = rows.iter();
            let rows = rows.map(|row| format!("({})", row.iter().map(value).join(",")));
            format!("values {}", rows.collect::<Vec<_>>().join(","))
        }
    };
    let mut text = format!("{verb}{ignore} into {name}{columns} {source}");
    let updates = insert.on_duplicate_key_update.iter();
    let updates = updates.map(|set| {
        let column = set.column.last().map_or("", |part| &part.value);
        format!("{name}.{} = {}", identifier(column), value_text(&set.value))
    });
    let updates: Vec<String> = updates.collect();
    if !updates.is_empty() {
        text.push_str(" on duplicate key update ");
        text.push_str(&updates.join(","));
    }
    Some(text)
}

/// The limits on the memory of one of the statement's temporary tables.
pub(in crate::statements) fn limits(context: &StatementContext<'_>) -> Vec<MemoryLimit> {
    let limit = |setting: &str, bytes| MemoryLimit {
        setting: setting.to_owned(),
        bytes,
    };
    let options = context.options();
    let rows = &context.session.memory.rows;
    let table = rows.sharing_child("tmp_table_size", options.tmp_table_size);
    let mut limits = vec![limit(table.setting(), table.limit())];
    if options.big_tables {
        limits.push(limit("big_tables", 0));
    }
    let mut budget = Some(rows);
    while let Some(known) = budget {
        if known.limit() != UNLIMITED {
            let left = known.limit().saturating_sub(known.used());
            limits.push(limit(known.setting(), left));
        }
        budget = known.parent();
    }
    limits
}

//! EXPLAIN, in every format, and EXPLAIN ANALYZE.

use std::sync::Arc;

use mayfly_functions::derive;
use mayfly_plan::explain::{self, Change, ChangeKind, Subject};
use mayfly_plan::{ChangePlan, PlanOptions};
use mayfly_syntax::ast::{
    Explain, ExplainFormat, ExplainTarget, InsertSource, InsertStatement, Statement,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use super::select::{self, Planned, Reading};
use crate::catalog::session_catalog::SessionCatalog;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;

/// Runs the statement.
pub(super) fn run(session: &mut Session, statement: &Explain) -> Result<Outcome> {
    let ExplainTarget::Statement {
        statement: target, ..
    } = &statement.target
    else {
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN FOR CONNECTION"]));
    };
    let format = match &statement.format {
        Some(ExplainFormat::Unknown(name)) => {
            return Err(codes::ER_UNKNOWN_EXPLAIN_FORMAT.with(&[name]));
        }
        Some(format) => format.clone(),
        None if statement.analyze => ExplainFormat::Tree,
        None => match session.options().explain_format {
            2 => ExplainFormat::Json,
            3 => ExplainFormat::Tree,
            _ => ExplainFormat::Traditional,
        },
    };
    session.explains = true;
    let explained = Explained::plan(session, target);
    session.explains = false;
    let explained = explained?;
    let subject = explained.subject();
    if statement.analyze {
        let (Some(planned), None) = (&explained.query, &explained.change) else {
            return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN ANALYZE on this query"]));
        };
        let mut reading = Reading::start_part(session, planned)?;
        let mut rows = 0;
        let outcome = loop {
            match reading.next_batch() {
                Ok(Some(batch)) => rows += batch.row_count(),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        reading.finish(session);
        outcome?;
        let summary = session.last_summary.clone();
        let elapsed = summary
            .begun
            .map_or(0.0, |begun| begun.elapsed().as_secs_f64() * 1e3);
        let text = format!(
            "{}\n-- {rows} rows in {elapsed:.3} ms; {}",
            explain::tree(&subject).trim_end(),
            match summary.temporary_tables {
                0 => "no temporary table".to_owned(),
                _ => summary.to_string(),
            }
        );
        return Ok(document("EXPLAIN", &text));
    }
    Ok(match format {
        ExplainFormat::Tree => document("EXPLAIN", &explain::tree(&subject)),
        ExplainFormat::Json => document("EXPLAIN", &explain::json(&subject)),
        _ => traditional(&subject),
    })
}

/// A statement that is planned, and not run.
struct Explained {
    query: Option<Planned>,
    change: Option<Change>,
}

impl Explained {
    fn plan(session: &mut Session, statement: &Statement) -> Result<Self> {
        match statement {
            Statement::Query(query) => Self::of_query(session, query),
            Statement::SelectInto(into) => Self::of_query(session, &into.query),
            Statement::Update(update) => {
                let plan = |catalog: &SessionCatalog<'_>, options: &PlanOptions| {
                    mayfly_plan::bind_update(update, catalog, options)
                };
                Self::of_change(session, ChangeKind::Update, plan)
            }
            Statement::Delete(delete) => {
                let plan = |catalog: &SessionCatalog<'_>, options: &PlanOptions| {
                    mayfly_plan::bind_delete(delete, catalog, options)
                };
                Self::of_change(session, ChangeKind::Delete, plan)
            }
            Statement::Insert(insert) => Self::of_insert(session, insert),
            _ => Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN of this statement"])),
        }
    }

    fn of_query(session: &mut Session, query: &mayfly_syntax::ast::Query) -> Result<Self> {
        let replaced = super::hints::apply(session, query);
        let planned = select::plan(session, query);
        replaced.restore(session);
        Ok(Self {
            query: Some(planned?),
            change: None,
        })
    }

    fn of_change(
        session: &Session,
        kind: ChangeKind,
        plan: impl FnOnce(&SessionCatalog<'_>, &PlanOptions) -> Result<ChangePlan>,
    ) -> Result<Self> {
        let (types, values) = session.parameter_values();
        let ready = select::plan_or_keep(session, &types, &values, None, plan)?;
        let (plan, tables) = (ready.plan, ready.tables);
        let targets = plan.targets.iter();
        Ok(Self {
            change: Some(Change {
                kind,
                tables: targets.map(|target| target.alias.clone()).collect(),
            }),
            query: Some(Planned {
                plan: Arc::clone(&plan.query),
                tables,
                columns: None,
            }),
        })
    }

    fn of_insert(session: &Session, insert: &InsertStatement) -> Result<Self> {
        let target = super::insert::target(session, insert)?;
        target.columns(insert.columns.as_deref())?;
        let query = match &insert.source {
            InsertSource::Values(_) => {
                // What it names must be there, and allowed, as if it ran.
                super::insert::describe(session, insert)?;
                None
            }
            InsertSource::Query(query) => Some(select::plan(session, query)?),
        };
        Ok(Self {
            query,
            change: Some(Change {
                kind: match insert.replace {
                    true => ChangeKind::Replace,
                    false => ChangeKind::Insert,
                },
                tables: vec![target.table.definition.name.clone()],
            }),
        })
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            query: self.query.as_ref().map(|planned| &*planned.plan),
            change: self.change.clone(),
        }
    }
}

fn document(name: &str, text: &str) -> Outcome {
    let ty = derive::string_type(text.chars().count() as u64, CollationId::default());
    let result = StatementResult::of_rows(&[(name, ty)], &[[Value::from(text)]]);
    result.never_null(|_| true).into()
}

fn traditional(subject: &Subject<'_>) -> Outcome {
    let number = |length| SqlType {
        length,
        ..SqlType::bigint_unsigned()
    };
    let text = |characters| derive::string_type(characters, CollationId::default());
    let percentage = SqlType {
        length: 4,
        decimals: 2,
        ..SqlType::double()
    };
    let columns = [
        ("id", number(4)),
        ("select_type", text(19)),
        ("table", text(64)),
        ("partitions", text(1_579_008)),
        ("type", text(10)),
        ("possible_keys", text(4096)),
        ("key", text(64)),
        ("key_len", text(4096)),
        ("ref", text(1024)),
        ("rows", number(11)),
        ("filtered", percentage),
        ("Extra", text(255)),
    ];
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let row = |row: &explain::ExplainRow| {
        [
            Value::UInt(row.id),
            Value::from(row.select_type),
            text(row.table.as_deref()),
            Value::Null,
            text(row.access),
            text(row.possible_keys.as_deref()),
            text(row.key.as_deref()),
            text(row.key_length.as_deref()),
            text(row.reference.as_deref()),
            row.rows.map_or(Value::Null, Value::UInt),
            row.filtered.map_or(Value::Null, Value::Float),
            text(row.extra.as_deref()),
        ]
    };
    let rows: Vec<[Value; 12]> = explain::traditional(subject).iter().map(row).collect();
    let result = StatementResult::of_rows(&columns, &rows);
    let never_null = |name: &str| ["id", "select_type", "Extra"].contains(&name);
    result.never_null(never_null).into()
}

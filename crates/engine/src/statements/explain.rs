//! EXPLAIN, in every format, and EXPLAIN ANALYZE.

use std::sync::Arc;

use mayfly_functions::derive;
use mayfly_plan::explain::{self, Change, ChangeKind, Subject};
use mayfly_syntax::ast::{Explain, ExplainFormat, ExplainTarget, Statement};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use super::cached_plan::ExecutablePlan;
use super::planning;
use super::select::{self, Planned};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;

/// 6006 and 6007: EXPLAIN … INTO names the format, and it is JSON.
fn check_into(statement: &Explain, format: &ExplainFormat) -> Result<()> {
    let refused = |format: &str| codes::ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED.with(&[&format]);
    Err(match format {
        _ if statement.format.is_none() => {
            codes::ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED.error()
        }
        ExplainFormat::Json if statement.analyze => {
            let what = "EXPLAIN ANALYZE FORMAT=JSON INTO";
            codes::ER_NOT_SUPPORTED_YET.with(&[&what])
        }
        ExplainFormat::Json => return Ok(()),
        ExplainFormat::Tree => refused("TREE"),
        _ => refused("TRADITIONAL"),
    })
}

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &Explain) -> Result<Outcome> {
    let ExplainTarget::Statement {
        statement: target, ..
    } = &statement.target
    else {
        return Err(match statement.into {
            Some(_) => codes::ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED.error(),
            None => codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN FOR CONNECTION"]),
        });
    };
    let format = match &statement.format {
        Some(ExplainFormat::Unknown(name)) => {
            return Err(codes::ER_UNKNOWN_EXPLAIN_FORMAT.with(&[name]));
        }
        Some(format) => format.clone(),
        None if statement.analyze => ExplainFormat::Tree,
        None => match context.options().explain_format {
            2 => ExplainFormat::Json,
            3 => ExplainFormat::Tree,
            _ => ExplainFormat::Traditional,
        },
    };
    if statement.into.is_some() {
        check_into(statement, &format)?;
    }
    context.explains = true;
    let explained = Explained::plan(context, target)?;
    let subject = explained.subject();
    if statement.analyze {
        let (Some(planned), None) = (&explained.query, &explained.change) else {
            return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN ANALYZE on this query"]));
        };
        let mut rows = 0;
        select::read(context, planned, |_, reading| {
            while let Some(batch) = reading.next_batch()? {
                rows += batch.row_count();
            }
            Ok(())
        })?;
        let summary = context.session.diagnostics.summary;
        let elapsed = context.session.shared.activity.duration().as_secs_f64() * 1e3;
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
    if let Some(name) = &statement.into {
        let text = explain::json(&subject);
        let ty = document_type(&text);
        let variables = context.session.settings.user_variables();
        variables.set(name, ty, Value::from(text.as_str()))?;
        context.session.note_state_change();
        return Ok(StatementResult::default().into());
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
    fn plan(context: &mut StatementContext<'_>, statement: &Arc<Statement>) -> Result<Self> {
        let query = match &**statement {
            Statement::Query(query) => Some(query),
            Statement::SelectInto(into) => Some(&into.query),
            _ => None,
        };
        if let Some(query) = query {
            super::hints::apply(context, query);
            return Ok(Self {
                query: Some(select::plan(context, query)?),
                change: None,
            });
        }
        let ready = planning::plan(context, statement, None)?;
        let (query, kind, tables) = match (&ready.plan.plan, &**statement) {
            (ExecutablePlan::Insert(plan), Statement::Insert(insert)) => {
                let kind = if insert.replace {
                    ChangeKind::Replace
                } else {
                    ChangeKind::Insert
                };
                let table = plan.table().into_iter();
                let tables = table.map(|table| table.definition.name.clone()).collect();
                (plan.query(), kind, tables)
            }
            (ExecutablePlan::Change(plan), statement) => {
                let kind = match statement {
                    Statement::Update(_) => ChangeKind::Update,
                    _ => ChangeKind::Delete,
                };
                let targets = plan.change.targets.iter();
                let tables = targets.map(|target| target.alias.clone()).collect();
                (Some(&plan.change.query), kind, tables)
            }
            _ => return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN of this statement"])),
        };
        Ok(Self {
            query: query.map(|query| Planned::new(query, &ready.tables)),
            change: Some(Change { kind, tables }),
        })
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            query: self.query.as_ref().map(|planned| &*planned.plan),
            change: self.change.clone(),
        }
    }
}

fn document_type(text: &str) -> SqlType {
    derive::string_type(text.chars().count() as u64, CollationId::default())
}

fn document(name: &str, text: &str) -> Outcome {
    let columns = [(name, document_type(text))];
    let result = StatementResult::of_rows(&columns, &[[Value::from(text)]]);
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

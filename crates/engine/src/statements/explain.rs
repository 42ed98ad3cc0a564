//! EXPLAIN, in every format, and EXPLAIN ANALYZE.

use mayfly_plan::explain;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::{Explain, ExplainFormat, ExplainTarget, Query, Statement};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::select::{self, Reading};
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
    let query: &Query = match &**target {
        Statement::Query(query) => query,
        Statement::SelectInto(into) => &into.query,
        _ => return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN of this statement"])),
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
    let planned = select::plan(session, query)?;
    if statement.analyze {
        let mut reading = Reading::start(session, &planned, &[])?;
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
            explain::tree(&planned.plan).trim_end(),
            match summary.temporary_tables {
                0 => "no temporary table".to_owned(),
                _ => summary.to_string(),
            }
        );
        return Ok(document("EXPLAIN", &text));
    }
    Ok(match format {
        ExplainFormat::Tree => document("EXPLAIN", &explain::tree(&planned.plan)),
        ExplainFormat::Json => document("EXPLAIN", &explain::json(&planned.plan)),
        _ => traditional(&planned.plan),
    })
}

fn document(name: &str, text: &str) -> Outcome {
    let ty = SqlType::text(TypeKind::LongText, CollationId::default());
    StatementResult::of_rows(&[(name, ty)], &[[Value::from(text)]]).into()
}

fn traditional(plan: &QueryPlan) -> Outcome {
    let number = SqlType::bigint_unsigned;
    let word = || SqlType::varchar(256, CollationId::default());
    let percentage = SqlType {
        length: 5,
        decimals: 2,
        ..SqlType::double()
    };
    let columns = [
        ("id", number()),
        ("select_type", word()),
        ("table", word()),
        ("partitions", word()),
        ("type", word()),
        ("possible_keys", word()),
        ("key", word()),
        ("key_len", word()),
        ("ref", word()),
        ("rows", number()),
        ("filtered", percentage),
        ("Extra", word()),
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
            row.key_length.map_or(Value::Null, |length| {
                Value::from(length.to_string().as_str())
            }),
            text(row.reference.as_deref()),
            row.rows.map_or(Value::Null, Value::UInt),
            row.filtered.map_or(Value::Null, Value::Float),
            text(row.extra.as_deref()),
        ]
    };
    let rows: Vec<[Value; 12]> = explain::traditional(plan).iter().map(row).collect();
    StatementResult::of_rows(&columns, &rows).into()
}

//! EXPLAIN, in every format, and EXPLAIN ANALYZE.

use mayfly_plan::explain;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::{Explain, ExplainFormat, ExplainTarget, Query, Statement};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use super::select::{self, Reading};
use crate::builder::{self, ColumnBuilder};
use crate::result::{Outcome, ResultColumn, StatementResult};
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
    let ty = SqlType::text(mayfly_types::TypeKind::LongText, Default::default());
    let array = builder::constant(&Value::from(text), &ty, 1);
    StatementResult {
        columns: vec![ResultColumn::new(name, ty)],
        batches: vec![mayfly_types::Batch::new(vec![array], 1)],
        ..StatementResult::default()
    }
    .into()
}

/// A column of the traditional format: its name and its type.
type Column = (&'static str, fn() -> SqlType);

/// The columns of the traditional format.
const COLUMNS: &[Column] = &[
    ("id", number),
    ("select_type", word),
    ("table", word),
    ("partitions", word),
    ("type", word),
    ("possible_keys", word),
    ("key", word),
    ("key_len", word),
    ("ref", word),
    ("rows", number),
    ("filtered", percentage),
    ("Extra", word),
];

fn number() -> SqlType {
    SqlType::bigint_unsigned()
}

fn word() -> SqlType {
    SqlType::varchar(256, Default::default())
}

fn percentage() -> SqlType {
    SqlType {
        length: 5,
        decimals: 2,
        ..SqlType::double()
    }
}

fn traditional(plan: &QueryPlan) -> Outcome {
    let types: Vec<SqlType> = COLUMNS.iter().map(|(_, ty)| ty()).collect();
    let mut builders: Vec<ColumnBuilder> = types.iter().map(ColumnBuilder::new).collect();
    let rows = explain::traditional(plan);
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    for row in &rows {
        let values = [
            Value::UInt(row.id),
            Value::from(row.select_type),
            text(row.table.as_deref()),
            Value::Null,
            text(row.access),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            row.rows.map_or(Value::Null, Value::UInt),
            row.filtered.map_or(Value::Null, Value::Float),
            text(row.extra.as_deref()),
        ];
        for (builder, value) in builders.iter_mut().zip(&values) {
            builder.push(value);
        }
    }
    let columns = COLUMNS
        .iter()
        .zip(types)
        .map(|((name, _), ty)| ResultColumn::new(name, ty))
        .collect();
    let arrays = builders.iter_mut().map(ColumnBuilder::finish).collect();
    StatementResult {
        columns,
        batches: vec![mayfly_types::Batch::new(arrays, rows.len())],
        ..StatementResult::default()
    }
    .into()
}

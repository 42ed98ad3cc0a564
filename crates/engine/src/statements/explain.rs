//! EXPLAIN, in every format, and EXPLAIN ANALYZE.

use mayfly_syntax::ast::{Explain, ExplainFormat, ExplainTarget, Query, Statement};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use super::select::{self, Reading};
use crate::builder;
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::Session;

/// Runs the statement.
pub(super) fn run(session: &mut Session, explain: &Explain) -> Result<Outcome> {
    let ExplainTarget::Statement { statement, .. } = &explain.target else {
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN FOR CONNECTION"]));
    };
    let query: &Query = match &**statement {
        Statement::Query(query) => query,
        Statement::SelectInto(into) => &into.query,
        _ => return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN of this statement"])),
    };
    let format = match &explain.format {
        Some(ExplainFormat::Unknown(name)) => {
            return Err(codes::ER_UNKNOWN_EXPLAIN_FORMAT.with(&[name]));
        }
        Some(format) => format.clone(),
        None if explain.analyze => ExplainFormat::Tree,
        None => match session.options().explain_format {
            2 => ExplainFormat::Json,
            3 => ExplainFormat::Tree,
            _ => ExplainFormat::Traditional,
        },
    };
    let planned = select::plan(session, query)?;
    if explain.analyze {
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
            tree(&planned),
            match summary.temporary_tables {
                0 => "no temporary table".to_owned(),
                _ => summary.to_string(),
            }
        );
        return Ok(document("EXPLAIN", &text));
    }
    Ok(match format {
        ExplainFormat::Tree => document("EXPLAIN", &tree(&planned)),
        ExplainFormat::Json => document("EXPLAIN", &tree(&planned)),
        _ => document("EXPLAIN", &tree(&planned)),
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

fn tree(planned: &select::Planned) -> String {
    format!("{:?}", planned.plan)
}

//! EXPLAIN, in every format, EXPLAIN ANALYZE, EXPLAIN FOR CONNECTION, and MariaDB's ANALYZE.
//!
//! EXPLAIN ANALYZE runs the query of a statement that changes rows, and changes nothing, as in MySQL 9;
//! ANALYZE runs the whole statement, as in MariaDB.

mod analyze;
mod explained;
mod rows;

use std::sync::Arc;

use mayfly_exec::TableOpener;
use mayfly_plan::explain::{self, JsonVersion, Subject};
use mayfly_syntax::ast::{Explain, ExplainFormat, ExplainKind, ExplainTarget};
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use self::explained::Explained;
pub(super) use self::explained::limits;
use crate::error::refuse;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::eras;
use crate::statements::planned::Planned;

/// 6006 and 6007: EXPLAIN … INTO names the format, and it is JSON.
fn check_into(statement: &Explain, format: &ExplainFormat) -> Result<()> {
    let refused = |format: &str| codes::ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED.with(&[&format]);
    Err(match format {
        _ if statement.format.is_none() => {
            codes::ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED.error()
        }
        ExplainFormat::Json => return Ok(()),
        ExplainFormat::Tree => refused("TREE"),
        _ => refused("TRADITIONAL"),
    })
}

/// The requested format.
fn format_of(context: &StatementContext<'_>, statement: &Explain) -> Result<ExplainFormat> {
    Ok(match (&statement.format, statement.kind) {
        (Some(ExplainFormat::Unknown(name)), _) => {
            return Err(codes::ER_UNKNOWN_EXPLAIN_FORMAT.with(&[name]));
        }
        (Some(ExplainFormat::Tree), ExplainKind::Run) => {
            return Err(codes::ER_UNKNOWN_EXPLAIN_FORMAT.with(&[&"TREE"]));
        }
        (Some(ExplainFormat::Traditional), ExplainKind::Analyze) => {
            let what = "EXPLAIN ANALYZE with TRADITIONAL format";
            return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]));
        }
        (Some(format), _) => format.clone(),
        (None, ExplainKind::Analyze) => ExplainFormat::Tree,
        (None, ExplainKind::Run) => ExplainFormat::Traditional,
        (None, ExplainKind::Plan) => match context.options().explain_format {
            2 => ExplainFormat::Json,
            3 => ExplainFormat::Tree,
            _ => ExplainFormat::Traditional,
        },
    })
}

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &Explain) -> Result<Outcome> {
    let target = match &statement.target {
        ExplainTarget::Statement { statement, .. } => statement,
        ExplainTarget::Connection(id) => return of_connection(context, statement, *id),
    };
    let format = format_of(context, statement)?;
    if statement.into.is_some() {
        check_into(statement, &format)?;
    }
    let is_json = format == ExplainFormat::Json;
    let version = context.options().explain_json;
    refuse(
        is_json && statement.kind == ExplainKind::Analyze && version != JsonVersion::Steps,
        || codes::ER_EXPLAIN_ANALYZE_JSON_VERSION_NOT_SUPPORTED.error(),
    )?;
    if let Some(database) = &statement.database {
        let is_known = context.catalog().has_database(database);
        refuse(!is_known, || codes::ER_BAD_DB_ERROR.with(&[database]))?;
        context.set_names_database(Some(&Arc::from(database.as_str())));
    }
    context.explains = true;
    if let (Some(traced), ExplainKind::Plan) = (&context.trace, statement.kind) {
        traced.is_only_explained();
    }
    let (explained, measured) = match statement.kind {
        ExplainKind::Plan => (Explained::plan(context, target)?, None),
        ExplainKind::Analyze => {
            let explained = Explained::plan(context, target)?;
            let measured = analyze::query_of(context, &explained)?;
            (explained, Some(measured))
        }
        ExplainKind::Run => {
            let (explained, measured) = analyze::statement(context, target)?;
            (explained, Some(measured))
        }
    };
    let limits = explained::limits(context);
    let subject = Subject {
        limits: &limits,
        measured: measured.as_ref(),
        ..explained.subject()
    };
    if statement.kind == ExplainKind::Run {
        return Ok(match format {
            ExplainFormat::Json => rows::document("ANALYZE", &explain::analyzed(&subject)),
            _ => rows::analyzed(&subject),
        });
    }
    let noted =
        matches!(format, ExplainFormat::Traditional) || (is_json && version != JsonVersion::Steps);
    if matches!(format, ExplainFormat::Traditional) && explain::has_windows(&subject) {
        context.note(codes::ER_WINDOW_EXPLAIN_JSON.error());
    }
    if let (Some(rewritten), true) = (&explained.rewritten, noted) {
        context.note(codes::ER_YES.with(&[rewritten]));
    }
    if let (Some(planned), Some(_)) = (&explained.query, &measured) {
        note_stages(context, planned);
    }
    if let Some(planned) = &explained.query {
        note_kept_results(context, planned)?;
    }
    let prediction = eras::predict(context, target);
    if let Some(prediction) = &prediction {
        for note in eras::notes(context, prediction) {
            context.note(codes::ER_YES.with(&[&note]));
        }
    }
    let outcome = match (&format, prediction) {
        (ExplainFormat::Traditional, Some(prediction)) => {
            rows::traditional(&subject, Some(&prediction))
        }
        _ => shown(&subject, &format, version),
    };
    let Some(name) = &statement.into else {
        return Ok(outcome);
    };
    let text = explain::json(&subject, version);
    let ty = rows::document_type(&text);
    let variables = context.session.settings.user_variables();
    variables.set(name, ty, Value::from(text.as_str()))?;
    context.session.note_state_change();
    Ok(StatementResult::default().into())
}

/// Notes of what the stages of a job have done, once it has run.
fn note_stages(context: &StatementContext<'_>, planned: &Planned) {
    let Some(offloaded) = &planned.offloaded else {
        return;
    };
    for stage in offloaded.job.stages() {
        context.note(codes::ER_YES.with(&[&stage]));
    }
}

/// Notes for each result with the hint RESULT_CACHE whether it would be read now, its age and its bytes.
fn note_kept_results(context: &StatementContext<'_>, planned: &Planned) -> Result<()> {
    for result in &planned.plan.shared {
        let Some(kept) = &result.kept else {
            continue;
        };
        let tables = kept.tables.iter();
        let states = tables.map(|id| Ok(planned.tables.open(*id)?.state()));
        let states: Vec<_> = states.collect::<Result<_>>()?;
        let what = format!("{} of {}", kept.freshness, result.name);
        let text = match context.kept_results().known(kept, &states) {
            None => format!("{what}: not kept"),
            Some((age, bytes)) => {
                format!("{what}: hit, age {:.1} s, {bytes} bytes", age.as_secs_f64())
            }
        };
        context.note(codes::ER_UNKNOWN_ERROR.with(&[&text]));
    }
    Ok(())
}

fn shown(subject: &Subject<'_>, format: &ExplainFormat, version: JsonVersion) -> Outcome {
    match format {
        ExplainFormat::Tree => rows::document("EXPLAIN", &explain::tree(subject)),
        ExplainFormat::Json => rows::document("EXPLAIN", &explain::json(subject, version)),
        _ => rows::traditional(subject, None),
    }
}

/// EXPLAIN FOR CONNECTION: the plan by which another session's statement runs now.
fn of_connection(
    context: &mut StatementContext<'_>,
    statement: &Explain,
    id: u64,
) -> Result<Outcome> {
    refuse(statement.into.is_some(), || {
        codes::ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED.error()
    })?;
    refuse(statement.kind == ExplainKind::Analyze, || {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"EXPLAIN ANALYZE FOR CONNECTION"])
    })?;
    let format = format_of(context, statement)?;
    let living = context.database().living_sessions();
    let other = living.iter().find(|other| other.id == id);
    let other = other.ok_or_else(|| codes::ER_NO_SUCH_THREAD.with(&[&id]))?;
    let privileges = context.privileges();
    let may =
        privileges.sees_all_sessions() || other.identity().account == privileges.identity().account;
    refuse(!may, || privileges.access_denied())?;
    let is_idle = other.activity.work() == crate::connections::Work::Nothing;
    let running = other.running.lock().clone();
    let explained = running.as_deref().and_then(Explained::running);
    let Some(explained) = explained else {
        // A session that waits for its client has no plan to show.
        refuse(!is_idle || id == context.id(), || {
            codes::ER_EXPLAIN_NOT_SUPPORTED.error()
        })?;
        return Ok(StatementResult::default().into());
    };
    let limits = explained::limits(context);
    let subject = Subject {
        limits: &limits,
        ..explained.subject()
    };
    Ok(shown(&subject, &format, context.options().explain_json))
}

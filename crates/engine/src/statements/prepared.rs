//! PREPARE, EXECUTE and DEALLOCATE in SQL, and the same for clients.
//!
//! A prepared statement keeps its tree. Values for its `?` come as parameters of the plan, which is
//! made when the statement runs: their types decide about conversions.

use mayfly_plan::ChangePlan;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::{Execute, Prepare, PrepareSource, Statement};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use crate::result::{Outcome, ResultStream, StatementResult};
use crate::session::Session;
use crate::statements::point;
use crate::statements::select::PlanPlace;
use crate::{error, statements};

use std::sync::Arc;

/// A statement with places for values. Its names are always those of one database.
#[derive(Debug)]
pub struct Prepared {
    statement: Statement,
    parameters: usize,
    text: Arc<str>,
    /// The database of unqualified names when it was prepared.
    database: Option<Arc<str>>,
    plan: PlanPlace<QueryPlan>,
    change: PlanPlace<ChangePlan>,
    insert: PlanPlace<()>,
}

impl Prepared {
    /// How many `?` it has.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn parse(session: &Session, text: &str) -> Result<Prepared> {
    let mut reader = mayfly_syntax::statements(text, &session.options().parse);
    let parsed = match reader.next() {
        Some(Ok(parsed)) => parsed,
        Some(Err(syntax)) => return Err(error::from_syntax(&syntax)),
        None => return Err(codes::ER_EMPTY_QUERY.error()),
    };
    let prepared = Prepared {
        parameters: parsed.parameters as usize,
        text: Arc::from(parsed.text),
        statement: parsed.statement,
        database: session.current_database_handle(),
        plan: PlanPlace::default(),
        change: PlanPlace::default(),
        insert: PlanPlace::default(),
    };
    if let Some(more) = reader.next() {
        // Several statements cannot be prepared together: the second is where the error is.
        let near = more.map_or_else(|error| error.near, |parsed| parsed.text.to_owned());
        return Err(codes::ER_PARSE_ERROR.with(&[&near, &1]));
    }
    if matches!(
        prepared.statement,
        Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::LoadData(_)
    ) {
        return Err(codes::ER_UNSUPPORTED_PS.error());
    }
    Ok(prepared)
}

/// PREPARE
pub(super) fn prepare(session: &mut Session, statement: &Prepare) -> Result<Outcome> {
    let text = match &statement.source {
        PrepareSource::Text(text) => text.clone(),
        PrepareSource::Variable(name) => match session.user_variables().get(name) {
            Some((_, Value::Null)) | None => "NULL".to_owned(),
            Some((_, value)) => crate::variables::check::text_of(&value),
        },
    };
    let name = statement.name.to_lowercase();
    // A statement of the name is gone even when the new one is wrong.
    session.prepared.remove(&name);
    let prepared = parse(session, &text)?;
    validate(session, &prepared)?;
    session.prepared.insert(name, Arc::new(prepared));
    Ok(StatementResult {
        info: "Statement prepared".into(),
        ..StatementResult::default()
    }
    .into())
}

/// Names that do not exist are errors of PREPARE already.
fn validate(session: &Session, prepared: &Prepared) -> Result<()> {
    if let (Statement::Query(query), 0) = (&prepared.statement, prepared.parameters) {
        statements::select::plan(session, query)?;
    }
    Ok(())
}

/// EXECUTE
pub(super) fn execute(session: &mut Session, statement: &Execute) -> Result<Outcome> {
    let name = statement.name.to_lowercase();
    let prepared = session
        .prepared
        .get(&name)
        .cloned()
        .ok_or_else(|| codes::ER_UNKNOWN_STMT_HANDLER.with(&[&statement.name, &"EXECUTE"]))?;
    let variable = |name: &String| {
        session
            .user_variables()
            .get(name)
            .map_or((Value::Null, SqlType::null()), |(ty, value)| (value, ty))
    };
    let values: Vec<(Value, SqlType)> = statement.using.iter().map(variable).collect();
    run(session, &prepared, &values)
}

fn run(session: &mut Session, prepared: &Prepared, values: &[(Value, SqlType)]) -> Result<Outcome> {
    if values.len() != prepared.parameters {
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"]));
    }
    // A kept plan has the tables of its names.
    if let Some(outcome) = run_point(session, prepared, values)? {
        return Ok(outcome);
    }
    session.now();
    let database = session.replace_database(prepared.database.clone());
    let outcome = run_in_place(session, prepared, values);
    session.replace_database(database);
    outcome
}

/// Reads or changes the one row that the statement comes to, if that is known of it.
fn run_point(
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
) -> Result<Option<Outcome>> {
    match &prepared.statement {
        Statement::Query(_) => point::run(session, &prepared.plan, values),
        Statement::Insert(_) => point::run(session, &prepared.insert, values),
        Statement::Update(update) if !update.ignore => {
            point::run(session, &prepared.change, values)
        }
        Statement::Delete(delete)
            if !delete.ignore && delete.targets.is_empty() && delete.returning.is_empty() =>
        {
            point::run(session, &prepared.change, values)
        }
        _ => Ok(None),
    }
}

fn run_in_place(
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
) -> Result<Outcome> {
    match &prepared.statement {
        Statement::Query(query) => {
            statements::select::run(session, query, values, Some(&prepared.plan))
        }
        Statement::Insert(insert) => {
            statements::insert::run(session, insert, values, Some(&prepared.insert))
        }
        Statement::Update(update) => {
            statements::change::update(session, update, values, Some(&prepared.change))
        }
        Statement::Delete(delete) => {
            statements::change::delete(session, delete, values, Some(&prepared.change))
        }
        Statement::SelectInto(into) => statements::select_into::run(session, into, values),
        statement if values.is_empty() => statements::dispatch(session, statement),
        _ => Err(codes::ER_UNSUPPORTED_PS.error()),
    }
}

/// DEALLOCATE PREPARE
pub(super) fn deallocate(session: &mut Session, name: &str) -> Result<Outcome> {
    if session.prepared.remove(&name.to_lowercase()).is_none() {
        let error = codes::ER_UNKNOWN_STMT_HANDLER;
        return Err(error.with(&[&name, &"DEALLOCATE PREPARE"]));
    }
    Ok(StatementResult::default().into())
}

impl Session {
    /// Prepares a statement for a client.
    pub fn prepare(&mut self, sql: &str) -> Result<Arc<Prepared>> {
        let prepared = parse(self, sql)?;
        validate(self, &prepared)?;
        Ok(Arc::new(prepared))
    }

    /// Runs a prepared statement with the values of its `?`.
    pub fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[(Value, SqlType)],
    ) -> Result<ResultStream<'_>> {
        let keeps_diagnostics = statements::keeps_diagnostics(&prepared.statement);
        self.run_statement(&prepared.text, keeps_diagnostics, |session| {
            run(session, prepared, values)
        })
    }
}

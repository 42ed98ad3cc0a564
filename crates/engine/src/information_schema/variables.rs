//! Variables and status as relations: `performance_schema.{session,global}_{variables,status}` and
//! their older twins in `information_schema`.

use mayfly_types::Value;

use super::relation::{Relation, Row, row};
use crate::persisted::PersistedVariable;
use crate::session::{Session, StatementContext, status as session_status};
use crate::variable_checks;
use crate::variables::{self, Scope};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.session_variables", session_variables),
    Relation::new("performance_schema.global_variables", global_variables),
    Relation::new(
        "performance_schema.persisted_variables",
        persisted_variables,
    ),
    Relation::new("performance_schema.session_status", session_status),
    Relation::new("performance_schema.global_status", global_status),
    Relation::new("SESSION_VARIABLES", session_variables),
    Relation::new("GLOBAL_VARIABLES", global_variables),
    Relation::new("SESSION_STATUS", session_status),
    Relation::new("GLOBAL_STATUS", global_status),
    Relation::new(
        "performance_schema.user_variables_by_thread",
        user_variables,
    ),
    Relation::new("performance_schema.variables_metadata", metadata),
];

/// Variables set by SET PERSIST.
fn persisted_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let variables = context.database().persisted.all();
    let row = |(name, variable): (String, PersistedVariable)| row![name, variable.value];
    variables.into_iter().map(row).collect()
}

/// Type, range and description of each variable.
fn metadata(_: &StatementContext<'_>) -> Vec<Row> {
    let row = |variable: &&variables::SystemVariable| {
        let scope = match variable.scope {
            Scope::Global => "GLOBAL",
            Scope::Session => "SESSION_ONLY",
            Scope::Both => "SESSION",
        };
        let (data_type, range) = variable.metadata();
        let (min, max) = range.unwrap_or_default();
        row![
            variable.name,
            scope,
            data_type,
            min,
            max,
            variable.documentation
        ]
    };
    variables::all().iter().map(row).collect()
}

fn session_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let rows = variables::all()
        .iter()
        .zip(0..)
        .map(|(variable, position)| {
            let value = match variable.scope {
                Scope::Global => variable.display(globals.at(position)),
                _ => match context.computed_variable(variable.name) {
                    Some(Value::Float(seconds)) => Some(format!("{seconds:.6}")),
                    Some(value) => Some(variable_checks::text_of(&value)),
                    None => variable.display(context.settings().at(position)),
                },
            };
            row![variable.name, value.unwrap_or_default()]
        });
    rows.collect()
}

fn global_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let all = variables::all().iter().zip(0..);
    let rows = all.filter(|(variable, _)| variable.scope != Scope::Session);
    let rows = rows.map(|(variable, position)| {
        let value = variable.display(globals.at(position)).unwrap_or_default();
        row![variable.name, value]
    });
    rows.collect()
}

/// Status variables of a session, or global ones.
fn status(context: &StatementContext<'_>, session: Option<&Session>) -> Vec<Row> {
    let session = session.map(Session::status);
    let rows = session_status::rows(context.database(), session).into_iter();
    rows.map(|(name, value)| row![name, value]).collect()
}

fn session_status(context: &StatementContext<'_>) -> Vec<Row> {
    status(context, Some(context.session))
}

fn global_status(context: &StatementContext<'_>) -> Vec<Row> {
    status(context, None)
}

fn user_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let variables = context.session.settings.user_variables().all().into_iter();
    let rows = variables.map(|(name, _, value)| {
        let shown = (!value.is_null()).then(|| variable_checks::text_of(&value));
        row![context.id(), name, shown]
    });
    rows.collect()
}

//! Variables and status as relations: `performance_schema.{session,global}_{variables,status}` and
//! their older twins in `information_schema`.

use mayfly_types::Value;

use super::relation::{Relation, Row, text, text_or_null};
use crate::persisted::PersistedVariable;
use crate::session::{StatementContext, status as session_status};
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

/// What SET PERSIST has written.
fn persisted_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let variables = context.database().persisted.all();
    let row =
        |(name, variable): (String, PersistedVariable)| vec![text(&name), text(&variable.value)];
    variables.into_iter().map(row).collect()
}

/// What each variable takes and does.
fn metadata(_: &StatementContext<'_>) -> Vec<Row> {
    let row = |variable: &&variables::SystemVariable| {
        let scope = match variable.scope {
            Scope::Global => "GLOBAL",
            Scope::Session => "SESSION_ONLY",
            Scope::Both => "SESSION",
        };
        let (data_type, range) = variable.metadata();
        let (min, max) = range.unwrap_or_default();
        vec![
            text(variable.name),
            text(scope),
            text(data_type),
            text(min),
            text(max),
            text(variable.documentation),
        ]
    };
    variables::all().iter().map(row).collect()
}

fn session_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let rows = variables::all()
        .iter()
        .enumerate()
        .map(|(position, variable)| {
            let value = match variable.scope {
                Scope::Global => variable.display(globals.at(position)),
                _ => match context.computed_variable(variable.name) {
                    Some(Value::Float(seconds)) => Some(format!("{seconds:.6}")),
                    Some(value) => Some(variable_checks::text_of(&value)),
                    None => variable.display(context.settings().at(position)),
                },
            };
            vec![
                text(variable.name),
                text_or_null(Some(value.unwrap_or_default())),
            ]
        });
    rows.collect()
}

fn global_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let listed = variables::all()
        .iter()
        .enumerate()
        .filter(|(_, v)| v.scope != Scope::Session);
    let rows = listed.map(|(position, variable)| {
        let value = variable.display(globals.at(position)).unwrap_or_default();
        vec![text(variable.name), text(value)]
    });
    rows.collect()
}

fn pairs(rows: Vec<(String, String)>) -> Vec<Row> {
    rows.into_iter()
        .map(|(name, value)| vec![text(name), text(value)])
        .collect()
}

fn session_status(context: &StatementContext<'_>) -> Vec<Row> {
    pairs(session_status::rows(
        context.database(),
        Some(context.session.status()),
    ))
}

fn global_status(context: &StatementContext<'_>) -> Vec<Row> {
    pairs(session_status::rows(context.database(), None))
}

fn user_variables(context: &StatementContext<'_>) -> Vec<Row> {
    let rows = context
        .session
        .settings
        .user_variables()
        .all()
        .into_iter()
        .map(|(name, _, value)| {
            let shown = match value {
                Value::Null => Value::Null,
                value => text(variable_checks::text_of(&value)),
            };
            vec![Value::UInt(context.id()), text(name), shown]
        });
    rows.collect()
}

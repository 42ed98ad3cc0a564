//! Variables and status as relations: `performance_schema.{session,global}_{variables,status}` and
//! their older twins in `information_schema`.

use mayfly_types::Value;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::connections::SessionShared;
use crate::persisted::PersistedVariable;
use crate::session::status as session_status;
use crate::variable_checks;
use crate::variables::{self, Scope, SystemVariable};

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("performance_schema.session_variables", session_variables)
        .with_row_count(count),
    Relation::asked("performance_schema.global_variables", global_variables).with_row_count(count),
    Relation::new(
        "performance_schema.persisted_variables",
        persisted_variables,
    ),
    Relation::new("performance_schema.session_status", session_status),
    Relation::new("performance_schema.global_status", global_status),
    Relation::asked("SESSION_VARIABLES", session_variables).with_row_count(count),
    Relation::asked("GLOBAL_VARIABLES", global_variables).with_row_count(count),
    Relation::new("SESSION_STATUS", session_status),
    Relation::new("GLOBAL_STATUS", global_status),
    Relation::new(
        "performance_schema.user_variables_by_thread",
        user_variables,
    ),
    Relation::new("performance_schema.variables_metadata", metadata),
];

/// Variables set by SET PERSIST.
fn persisted_variables(context: &RelationContext) -> Vec<Row> {
    let variables = context.database().persisted.all();
    let row = |(name, variable): (String, PersistedVariable)| row![name, variable.value];
    variables.into_iter().map(row).collect()
}

/// Type, range and description of each variable.
fn metadata(_: &RelationContext) -> Vec<Row> {
    let row = |variable: &&SystemVariable| {
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

fn count(_: &RelationContext) -> u64 {
    variables::all().len() as u64
}

/// Variables with their positions, as far as they are asked for.
fn wanted(asked: &Asked<'_>) -> Vec<(&'static SystemVariable, usize)> {
    let all = variables::all().iter().copied().zip(0..).collect();
    asked.wanted(&["VARIABLE_NAME"], all, |(variable, _)| row![variable.name])
}

fn session_variables(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let rows = wanted(asked).into_iter().map(|(variable, position)| {
        let value = match variable.scope {
            Scope::Global => variable.display(globals.at(position)),
            _ => match context.computed_variables.get(variable.name) {
                Some(Value::Float(seconds)) => Some(format!("{seconds:.6}")),
                Some(value) => Some(variable_checks::text_of(&value)),
                None => variable.display(context.settings().at(position)),
            },
        };
        row![variable.name, value.unwrap_or_default()]
    });
    rows.collect()
}

fn global_variables(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let globals = context.database().globals.read();
    let rows = wanted(asked).into_iter();
    let rows = rows.filter(|(variable, _)| variable.scope != Scope::Session);
    let rows = rows.map(|(variable, position)| {
        let value = variable.display(globals.at(position)).unwrap_or_default();
        row![variable.name, value]
    });
    rows.collect()
}

/// Status variables of a session, or global ones.
fn status(context: &RelationContext, session: Option<&SessionShared>) -> Vec<Row> {
    let rows = session_status::rows(context.database(), session).into_iter();
    rows.map(|(name, value)| row![name, value]).collect()
}

fn session_status(context: &RelationContext) -> Vec<Row> {
    status(context, Some(&context.session))
}

fn global_status(context: &RelationContext) -> Vec<Row> {
    status(context, None)
}

fn user_variables(context: &RelationContext) -> Vec<Row> {
    let variables = context.user_variables.all().into_iter();
    let rows = variables.map(|(name, _, value)| {
        let shown = (!value.is_null()).then(|| variable_checks::text_of(&value));
        row![context.id(), name, shown]
    });
    rows.collect()
}

//! `setup_…` tables and the settable columns of `threads`: the configuration of instrumentation.

use std::sync::atomic::Ordering;

use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use crate::error::{ensure, refuse};
use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{IntoValue, Row, row, yes_no};
use crate::instrumentation::{Actor, CONSUMERS, Instrument};
use crate::session::StatementContext;
use crate::variable_checks;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.setup_actors", actors),
    Relation::new("performance_schema.setup_consumers", consumers),
    Relation::new("performance_schema.setup_instruments", instruments),
    Relation::new("performance_schema.setup_threads", threads),
    Relation::new("performance_schema.performance_timers", timers),
];

fn actors(context: &RelationContext) -> Vec<Row> {
    let actors = context.database().instrumentation.actors.all().into_iter();
    let row = |actor: Actor| {
        let (enabled, history) = (yes_no(actor.is_enabled), yes_no(actor.has_history));
        row![actor.host, actor.user, "%", enabled, history]
    };
    actors.map(row).collect()
}

fn consumers(context: &RelationContext) -> Vec<Row> {
    let setup = &context.database().instrumentation.setup;
    let rows = CONSUMERS.iter();
    rows.map(|(consumer, name, _)| row![*name, yes_no(setup.consumes(*consumer))])
        .collect()
}

/// Statements and stages can be turned off; memory is always counted.
fn instruments(context: &RelationContext) -> Vec<Row> {
    let setup = &context.database().instrumentation.setup;
    let mut rows: Vec<Row> = Instrument::all()
        .map(|instrument| {
            let is_on = yes_no(setup.instruments(instrument));
            let row = row![instrument.name(), is_on, is_on, "", Value::Null];
            [row, vec![Value::Int(0), Value::Null]].concat()
        })
        .collect();
    for name in [
        "memory/temptable/physical_disk",
        "memory/temptable/physical_ram",
    ] {
        let properties = "controlled_by_default";
        let row = row![name, "YES", Value::Null, properties, "controlled"];
        rows.push([row, vec![Value::Int(0), Value::Null]].concat());
    }
    rows
}

fn threads(_: &RelationContext) -> Vec<Row> {
    let row = row!["thread/sql/one_connection", "YES", "YES", "user"];
    vec![[row, vec![Value::Int(0), Value::Null]].concat()]
}

/// All times come from one clock in nanoseconds.
fn timers(_: &RelationContext) -> Vec<Row> {
    let (frequency, resolution) = (Value::Int(1_000_000_000), Value::Int(1));
    vec![row!["NANOSECOND", frequency, resolution, Value::Null]]
}

/// UPDATE of a relation: the key expression of its rows, and the columns that can be set.
pub(crate) struct Change {
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [&'static str],
    apply: fn(&StatementContext<'_>, &Value, &str, bool) -> Result<()>,
}

/// The possible UPDATE of a table of performance_schema; `None` for most.
pub(crate) fn change(name: &str) -> Option<Change> {
    let change = |key, columns, apply| Change {
        key,
        columns,
        apply,
    };
    Some(match name.to_lowercase().as_str() {
        "setup_actors" => change(ACTOR, &["ENABLED", "HISTORY"], set_actor),
        "setup_consumers" => change("NAME", &["ENABLED"], set_consumer),
        "setup_instruments" => change("NAME", &["ENABLED", "TIMED"], set_instrument),
        "threads" => change("THREAD_ID", &["INSTRUMENTED", "HISTORY"], set_thread),
        _ => return None,
    })
}

impl Change {
    /// Sets a column of the row with a key to YES or NO: 1265 for any other value.
    pub(crate) fn apply(
        &self,
        context: &StatementContext<'_>,
        key: &Value,
        column: &str,
        value: &Value,
    ) -> Result<()> {
        (self.apply)(context, key, column, is_yes(column, value)?)
    }
}

/// The value of a switch: 1048 for NULL, 1265 for anything but YES and NO.
fn is_yes(column: &str, value: &Value) -> Result<bool> {
    refuse(value.is_null(), || {
        codes::ER_BAD_NULL_ERROR.with(&[&column])
    })?;
    let text = variable_checks::text_of(value);
    let is_on = text.eq_ignore_ascii_case("YES") || text == "1";
    let is_switch = is_on || text.eq_ignore_ascii_case("NO") || text == "2";
    ensure(is_switch, || {
        codes::WARN_DATA_TRUNCATED.with(&[&column, &1])
    })?;
    Ok(is_on)
}

/// Key expression of `setup_actors`. Names contain no NUL.
pub(crate) const ACTOR: &str = "CONCAT(USER, '\\0', HOST)";

fn user_and_host(key: &Value) -> (String, String) {
    let text = variable_checks::text_of(key);
    let (user, host) = text.split_once('\0').unwrap_or((&text, ""));
    (user.to_owned(), host.to_owned())
}

fn set_actor(context: &StatementContext<'_>, key: &Value, column: &str, is_on: bool) -> Result<()> {
    let (user, host) = user_and_host(key);
    let actors = &context.database().instrumentation.actors;
    actors.change(&user, &host, |actor| match column {
        "HISTORY" => actor.has_history = is_on,
        _ => actor.is_enabled = is_on,
    });
    Ok(())
}

/// INSERT of a row: a value for each of these columns; 1022 for a duplicate.
pub(crate) fn add_actor(context: &StatementContext<'_>, row: &[(String, Value)]) -> Result<()> {
    let of = |name: &str| {
        let mut row = row.iter();
        let found = row.find(|(column, _)| column.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    };
    let text = |name| of(name).map_or_else(|| "%".to_owned(), variable_checks::text_of);
    let switch = |name| of(name).map_or(Ok(true), |value| is_yes(name, value));
    let actor = Actor {
        host: text("HOST"),
        user: text("USER"),
        is_enabled: switch("ENABLED")?,
        has_history: switch("HISTORY")?,
    };
    let is_new = context.database().instrumentation.actors.add(actor);
    ensure(is_new, || codes::ER_DUP_KEY.with(&[&"setup_actors"]))
}

/// DELETE of the rows with these keys.
pub(crate) fn remove_actors<'k>(
    context: &StatementContext<'_>,
    keys: impl IntoIterator<Item = &'k Value>,
) {
    for key in keys {
        let (user, host) = user_and_host(key);
        context
            .database()
            .instrumentation
            .actors
            .remove(&user, &host);
    }
}

fn set_consumer(context: &StatementContext<'_>, key: &Value, _: &str, is_on: bool) -> Result<()> {
    let setup = &context.database().instrumentation.setup;
    let named = CONSUMERS
        .iter()
        .find(|(_, name, _)| (*name).into_value() == *key);
    if let Some((consumer, ..)) = named {
        setup.set_consumer(*consumer, is_on);
    }
    Ok(())
}

/// Sets an instrument. Enabled implies timed: 1235 for anything else.
fn set_instrument(
    context: &StatementContext<'_>,
    key: &Value,
    column: &str,
    is_on: bool,
) -> Result<()> {
    let setup = &context.database().instrumentation.setup;
    let named = Instrument::all().find(|instrument| instrument.name().into_value() == *key);
    let refused = |what: &str| Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]));
    match (named, column) {
        (Some(instrument), "ENABLED") => setup.set_instrument(instrument, is_on),
        (Some(instrument), _) if setup.instruments(instrument) != is_on => {
            return refused("TIMED other than ENABLED");
        }
        (None, "ENABLED") if !is_on => return refused("budgets that do not count"),
        _ => {}
    }
    Ok(())
}

fn set_thread(
    context: &StatementContext<'_>,
    key: &Value,
    column: &str,
    is_on: bool,
) -> Result<()> {
    let sessions = context.database().living_sessions();
    if let Some(session) = sessions
        .iter()
        .find(|session| Value::UInt(session.id) == *key)
    {
        let flag = match column {
            "HISTORY" => &session.has_history,
            _ => &session.is_instrumented,
        };
        flag.store(is_on, Ordering::Relaxed);
    }
    Ok(())
}

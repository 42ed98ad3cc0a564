//! What is instrumented, and how that is changed: `setup_…`, and the columns of `threads` that may be set.

use std::sync::atomic::Ordering;

use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use crate::error::ensure;
use crate::information_schema::relation::{IntoValue, Relation, Row, row, yes_no};
use crate::instrumentation::{CONSUMERS, Instrument};
use crate::session::StatementContext;
use crate::variable_checks;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("performance_schema.setup_actors", actors),
    Relation::new("performance_schema.setup_consumers", consumers),
    Relation::new("performance_schema.setup_instruments", instruments),
    Relation::new("performance_schema.setup_threads", threads),
    Relation::new("performance_schema.performance_timers", timers),
];

/// Every session is instrumented when it begins.
fn actors(_: &StatementContext<'_>) -> Vec<Row> {
    vec![row!["%", "%", "%", "YES", "YES"]]
}

fn consumers(context: &StatementContext<'_>) -> Vec<Row> {
    let setup = &context.database().instrumentation.setup;
    let rows = CONSUMERS.iter();
    rows.map(|(consumer, name, _)| row![*name, yes_no(setup.consumes(*consumer))])
        .collect()
}

/// Statements and stages may be turned off; budgets always count.
fn instruments(context: &StatementContext<'_>) -> Vec<Row> {
    let setup = &context.database().instrumentation.setup;
    let mut rows: Vec<Row> = Instrument::all()
        .map(|instrument| {
            let is_on = yes_no(setup.instruments(instrument));
            let row = row![instrument.name(), is_on, is_on, "", Value::Null];
            [row, vec![Value::Int(0), Value::Null]].concat()
        })
        .collect();
    for name in ["memory/temptable/physical_disk", "memory/temptable/physical_ram"] {
        let properties = "controlled_by_default";
        let row = row![name, "YES", Value::Null, properties, "controlled"];
        rows.push([row, vec![Value::Int(0), Value::Null]].concat());
    }
    rows
}

fn threads(_: &StatementContext<'_>) -> Vec<Row> {
    let row = row!["thread/sql/one_connection", "YES", "YES", "user"];
    vec![[row, vec![Value::Int(0), Value::Null]].concat()]
}

/// Times are taken of one clock, which counts nanoseconds.
fn timers(_: &StatementContext<'_>) -> Vec<Row> {
    let (frequency, resolution) = (Value::Int(1_000_000_000), Value::Int(1));
    vec![row!["NANOSECOND", frequency, resolution, Value::Null]]
}

/// What UPDATE may change of a relation: the column that tells its rows apart, and those that may be set.
pub(crate) struct Change {
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [&'static str],
    apply: fn(&StatementContext<'_>, &Value, &str, bool) -> Result<()>,
}

/// What may be changed of a table of performance_schema; nothing of most.
pub(crate) fn change(name: &str) -> Option<Change> {
    let change = |key, columns, apply| Change {
        key,
        columns,
        apply,
    };
    Some(match name.to_lowercase().as_str() {
        "setup_consumers" => change("NAME", &["ENABLED"], set_consumer),
        "setup_instruments" => change("NAME", &["ENABLED", "TIMED"], set_instrument),
        "threads" => change("THREAD_ID", &["INSTRUMENTED", "HISTORY"], set_thread),
        _ => return None,
    })
}

impl Change {
    /// Sets a column of the row that has a key to YES or NO: 1644 for anything else.
    pub(crate) fn apply(
        &self,
        context: &StatementContext<'_>,
        key: &Value,
        column: &str,
        value: &Value,
    ) -> Result<()> {
        let text = variable_checks::text_of(value);
        let is_on = text.eq_ignore_ascii_case("YES") || text == "1";
        let is_switch = is_on || text.eq_ignore_ascii_case("NO") || text == "2";
        ensure(is_switch, || codes::WARN_DATA_TRUNCATED.with(&[&column, &1]))?;
        (self.apply)(context, key, column, is_on)
    }
}

fn set_consumer(context: &StatementContext<'_>, key: &Value, _: &str, is_on: bool) -> Result<()> {
    let setup = &context.database().instrumentation.setup;
    let named = CONSUMERS.iter().find(|(_, name, _)| (*name).into_value() == *key);
    if let Some((consumer, ..)) = named {
        setup.set_consumer(*consumer, is_on);
    }
    Ok(())
}

/// What is seen is timed, too: 1235 for anything else.
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
    if let Some(session) = sessions.iter().find(|session| Value::UInt(session.id) == *key) {
        let flag = match column {
            "HISTORY" => &session.has_history,
            _ => &session.is_instrumented,
        };
        flag.store(is_on, Ordering::Relaxed);
    }
    Ok(())
}

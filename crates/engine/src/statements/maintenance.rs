//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE, CACHE INDEX and LOAD INDEX INTO CACHE, with MySQL's result
//! rows for each table. Repair is restoring a backup. No index of a user's table is in a key cache, whatever the
//! table's ENGINE: key caches serve internal temporary tables.

use mayfly_functions::derive;
use mayfly_syntax::ast::{TableMaintenance, TableVerb};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Level, Result, SqlType, Value};

use super::simple::{NAME, text_rows};
use super::{histograms, select};
use crate::catalog::BaseTable;
use crate::convert;
use crate::engines::Engine;
use crate::error::{ensure, parse_own_query};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// Runs the statement.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &TableMaintenance,
) -> Result<Outcome> {
    if statement.verb == TableVerb::Checksum {
        return checksum(context, statement);
    }
    if statement.verb == TableVerb::CacheIndex {
        let name = &statement.options;
        let cache = context.database().legacy_engines.key_caches.get(name);
        ensure(cache.is_some(), || {
            codes::ER_UNKNOWN_KEY_CACHE.with(&[name])
        })?;
    }
    let verb = verb_name(statement.verb);
    let mut rows = Vec::new();
    if let Some(change) = &statement.histogram {
        let messages = histograms::run(context, statement, change)?.into_iter();
        let rows = messages
            .map(|(table, kind, text)| [table, "histogram".to_owned(), kind.to_owned(), text]);
        return Ok(text_rows(COLUMNS, &rows.collect::<Vec<_>>()).into());
    }
    for table in &statement.tables {
        let (database, name) = qualified(context, table)?;
        let full = format!("{database}.{name}");
        let mut push = |kind: &str, text: String| {
            rows.push([full.clone(), verb.to_owned(), kind.to_owned(), text]);
        };
        let table = match context.use_table(&database, &name) {
            Err(error) if is_of_wait(&error) => {
                push("Error", error.message().to_owned());
                push("status", "Operation failed".to_owned());
                continue;
            }
            table => table?,
        };
        if let Some(table) = table {
            if statement.verb == TableVerb::Analyze {
                table.storage(context)?.analyze()?;
                table.column_statistics.forget();
                histograms::update_automatic(context, &table)?;
            }
            if statement.verb == TableVerb::Check
                && let Some(durable) = table.durable()
                && let store = context.database().store_with(&table)?
                && let Err(error) = store.check_table(&durable, context.interrupt())
            {
                context.interrupt().check()?;
                push("error", error.message().to_owned());
                push("error", "Corrupt".to_owned());
                continue;
            }
            for (kind, text) in lines(statement.verb, table.definition.engine) {
                push(kind, text);
            }
            continue;
        }
        let is_view = context.catalog().view(&database, &name).is_some();
        if is_view && statement.verb == TableVerb::Check {
            let text = format!(
                "SELECT * FROM {}.{}",
                quoted_identifier(&database),
                quoted_identifier(&name)
            );
            let query = parse_own_query(&text)?;
            match select::plan_trusted(context, &query) {
                Ok(_) => push("status", "OK".to_owned()),
                Err(error) => {
                    push("Error", error.message().to_owned());
                    push("error", "Corrupt".to_owned());
                }
            }
            continue;
        }
        let error = if is_view {
            format!("'{full}' is not BASE TABLE")
        } else {
            format!("Table '{full}' doesn't exist")
        };
        push("Error", error);
        push("status", "Operation failed".to_owned());
    }
    Ok(text_rows(COLUMNS, &rows).into())
}

/// Whether an error is a lock wait timeout: the other tables of the list go on.
fn is_of_wait(error: &Error) -> bool {
    error.is(&codes::ER_LOCK_WAIT_TIMEOUT) || error.is(&codes::ER_LOCK_DEADLOCK)
}

const COLUMNS: &[(&str, u32); 4] = &[
    ("Table", 2 * NAME),
    ("Op", 10),
    ("Msg_type", 10),
    ("Msg_text", MESSAGE),
];

fn verb_name(verb: TableVerb) -> &'static str {
    match verb {
        TableVerb::Analyze => "analyze",
        TableVerb::CacheIndex => "assign_to_keycache",
        TableVerb::LoadIndex => "preload_keys",
        TableVerb::Check => "check",
        TableVerb::Checksum => "checksum",
        TableVerb::Optimize => "optimize",
        TableVerb::Repair => "repair",
    }
}

/// The messages of MySQL's engines.
fn lines(verb: TableVerb, engine: Engine) -> Vec<(&'static str, String)> {
    let ok = ("status", "OK".to_owned());
    match (verb, engine) {
        (TableVerb::Optimize, Engine::InnoDb) => vec![("note", RECREATED.to_owned()), ok],
        (TableVerb::CacheIndex | TableVerb::LoadIndex, _)
        | (TableVerb::Repair, Engine::InnoDb | Engine::Memory | Engine::Blackhole)
        | (TableVerb::Optimize, Engine::Memory | Engine::Csv | Engine::Blackhole)
        | (
            TableVerb::Analyze,
            Engine::Memory | Engine::Csv | Engine::Blackhole | Engine::Archive,
        )
        | (TableVerb::Check, Engine::Memory | Engine::Blackhole) => {
            let name = verb_name(verb);
            let text = format!("The storage engine for the table doesn't support {name}");
            vec![("note", text)]
        }
        _ => vec![ok],
    }
}

/// InnoDB's message in place of optimizing a table.
const RECREATED: &str = "Table does not support optimize, doing recreate + analyze instead";

/// Width of a message in characters.
const MESSAGE: u32 = 98_304;

/// CHECKSUM TABLE: an order-independent checksum of the rows; NULL for what is no table.
fn checksum(context: &mut StatementContext<'_>, statement: &TableMaintenance) -> Result<Outcome> {
    let mut rows = Vec::new();
    for table in &statement.tables {
        let (database, name) = qualified(context, table)?;
        let found = match context.use_table(&database, &name) {
            Err(error) if is_of_wait(&error) => Err(error),
            found => Ok(found?),
        };
        let sum = match found {
            Err(error) => {
                context.diagnostics().push(Level::Error, error);
                Value::Null
            }
            // No engine maintains a checksum while its table changes.
            Ok(Some(_)) if statement.options.eq_ignore_ascii_case("QUICK") => Value::Null,
            Ok(Some(table)) => Value::UInt(sum_of_rows(context, &table)?),
            Ok(None) => {
                let error = match context.catalog().view(&database, &name) {
                    Some(_) => codes::ER_WRONG_OBJECT.with(&[&database, &name, &"BASE TABLE"]),
                    None => codes::ER_NO_SUCH_TABLE.with(&[&database, &name]),
                };
                context.diagnostics().push(Level::Error, error);
                Value::Null
            }
        };
        rows.push([Value::from(format!("{database}.{name}").as_str()), sum]);
    }
    let name = SqlType::varchar(384, CollationId::UTF8MB4_0900_AI_CI);
    let columns = [("Table", name), ("Checksum", derive::bigint_of_width(22))];
    Ok(StatementResult::of_rows(&columns, &rows).into())
}

fn sum_of_rows(context: &mut StatementContext<'_>, table: &BaseTable) -> Result<u64> {
    let definition = &table.definition;
    let names = definition
        .named_columns()
        .map(|column| quoted_identifier(&column.name));
    let text = format!(
        "SELECT {} FROM {}.{}",
        names.collect::<Vec<_>>().join(", "),
        quoted_identifier(&definition.database),
        quoted_identifier(&definition.name)
    );
    let query = parse_own_query(&text)?;
    let planned = select::plan_trusted(context, &query)?;
    select::read(context, &planned, |context, reading| {
        let mut sum: u32 = 0;
        let mut bytes = Vec::new();
        while let Some(batch) = reading.next_batch(context)? {
            for row in 0..batch.row_count() {
                bytes.clear();
                for (array, column) in batch.columns().iter().zip(&definition.columns) {
                    bytes.push(u8::from(array.is_null(row)));
                    if !array.is_null(row) {
                        let start = bytes.len();
                        convert::display_row(array, row, &column.ty, &mut bytes);
                        let length = u32::try_from(bytes.len() - start).unwrap_or(u32::MAX);
                        bytes.extend(length.to_le_bytes());
                    }
                }
                sum = sum.wrapping_add(hash(&bytes));
            }
        }
        Ok(u64::from(sum))
    })
}

/// FNV-1a, folded to 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    ((hash >> 32) ^ (hash & 0xffff_ffff)) as u32
}

//! ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM, in MySQL's words (the manual, "Histogram Statistics Analysis").
//!
//! The different values of a column are counted by a query, so that a histogram of a large table needs no more memory
//! than any GROUP BY. The histograms are a part of the table's definition, which is replaced.

use std::sync::Arc;

use arrow_array::Array;
use mayfly_syntax::ast::{HistogramChange, HistogramUpdate, TableMaintenance, TableName};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::decimal::Decimal;
use mayfly_types::error::codes;
use mayfly_types::json::Json;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::select;
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefinition, TableDefinition};
use crate::catalog::histogram::{self, Histogram, HistogramSettings, TEXT_CHARACTERS};
use crate::convert;
use crate::error::{parse_own_query, refuse};
use crate::locks::table::TableUse;
use crate::names::same_name;
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// A row of the result: the table, and the kind and text of a message.
pub(super) type Message = (String, &'static str, String);

/// Messages about the columns, in the order of the result.
#[derive(Default)]
struct Outcome {
    messages: Vec<(&'static str, String)>,
}

impl Outcome {
    fn error(&mut self, text: String) {
        self.messages.push(("Error", text));
    }

    fn done(&mut self, what: &str, column: &str) {
        let text = format!("Histogram statistics {what} for column '{column}'.");
        self.messages.push(("status", text));
    }
}

/// Changes histograms; the messages of the result.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &TableMaintenance,
    change: &HistogramChange,
) -> Result<Vec<Message>> {
    let buckets = change.update.as_ref().and_then(|update| update.buckets);
    buckets.map(histogram::check_buckets).transpose()?;
    for (at, column) in change.columns.iter().enumerate() {
        let before = change.columns[..at].iter();
        refuse(
            before.into_iter().any(|other| same_name(other, column)),
            || codes::ER_DUP_FIELDNAME.with(&[column]),
        )?;
    }
    let [table] = statement.tables.as_slice() else {
        let text = "Only one table can be specified while modifying histogram statistics.";
        return Ok(vec![(String::new(), "Error", text.to_owned())]);
    };
    let (database, name) = qualified(context, table)?;
    let full = format!("{database}.{name}");
    let outcome = of_table(context, table, change)?;
    let messages = outcome.messages.into_iter();
    Ok(messages
        .map(|(kind, text)| (full.clone(), kind, text))
        .collect())
}

fn of_table(
    context: &mut StatementContext<'_>,
    table: &TableName,
    change: &HistogramChange,
) -> Result<Outcome> {
    let (database, name) = qualified(context, table)?;
    let mut outcome = Outcome::default();
    if context.temporary_table(&database, &name).is_some() {
        let text = "Cannot create histogram statistics for a temporary table.";
        outcome.error(text.to_owned());
        return Ok(outcome);
    }
    if context.catalog().view(&database, &name).is_some() {
        outcome.error("Cannot create histogram statistics for a view.".to_owned());
        return Ok(outcome);
    }
    let _held = context.hold_table(&database, &name, TableUse::Alone)?;
    let Some(table) = context.use_table(&database, &name)? else {
        outcome.error(format!("Table '{database}.{name}' doesn't exist"));
        return Ok(outcome);
    };
    let mut histograms = table.definition.histograms.clone();
    // MySQL reports the columns in this order.
    let mut columns: Vec<&String> = change.columns.iter().collect();
    columns.sort();
    let mut missing = Vec::new();
    for name in columns {
        let definition = &table.definition;
        let mut named = definition.named_columns();
        let Some(column) = named.find(|column| same_name(&column.name, name)) else {
            missing.push(format!("The column '{name}' does not exist."));
            continue;
        };
        match &change.update {
            None => {
                let before = histograms.len();
                histograms.retain(|histogram| histogram.column != column.name);
                if histograms.len() < before {
                    outcome.done("removed", &column.name);
                } else {
                    missing.push(format!(
                        "No histogram statistics found for column '{name}'."
                    ));
                }
            }
            Some(update) => {
                if let Some(text) = refused(definition, column) {
                    missing.push(text);
                    continue;
                }
                match made(context, &table, column, update)? {
                    Ok(document) => {
                        put(&mut histograms, &column.name, document);
                        outcome.done("created", &column.name);
                    }
                    Err(texts) => {
                        let unable = format!(
                            "Unable to build histogram statistics for column '{}' in table \
                             '{database}'.'{}'",
                            column.name, definition.name
                        );
                        for text in texts {
                            let text = if text.is_empty() {
                                unable.clone()
                            } else {
                                text
                            };
                            missing.push(text);
                        }
                    }
                }
            }
        }
    }
    missing.into_iter().for_each(|text| outcome.error(text));
    if histograms != table.definition.histograms {
        replace(context, &table, histograms)?;
    }
    Ok(outcome)
}

fn put(histograms: &mut Vec<Histogram>, column: &str, document: Json) {
    histograms.retain(|histogram| histogram.column != column);
    histograms.push(Histogram {
        column: column.to_owned(),
        document: Arc::new(document),
    });
    histograms.sort_by(|a, b| a.column.cmp(&b.column));
}

/// Why a column gets no histogram.
fn refused(definition: &TableDefinition, column: &ColumnDefinition) -> Option<String> {
    let name = &column.name;
    if histogram::data_type(&column.ty).is_none() {
        return Some(format!("The column '{name}' has an unsupported data type."));
    }
    let is_unique = definition.unique_keys().any(|key| {
        let columns = key.whole_columns().unwrap_or_default();
        match *columns {
            [only] => definition
                .columns
                .get(only)
                .is_some_and(|column| column.name == *name),
            _ => false,
        }
    });
    is_unique.then(|| format!("The column '{name}' is covered by a single-part unique index."))
}

/// ANALYZE TABLE: rebuilds the histograms with AUTO UPDATE.
pub(super) fn update_automatic(
    context: &mut StatementContext<'_>,
    table: &Arc<BaseTable>,
) -> Result<()> {
    let definition = Arc::clone(&table.definition);
    let mut histograms = definition.histograms.clone();
    for histogram in definition
        .histograms
        .iter()
        .filter(|one| one.is_auto_updated())
    {
        let mut columns = definition.named_columns();
        let Some(column) = columns.find(|column| column.name == histogram.column) else {
            continue;
        };
        let update = HistogramUpdate {
            buckets: Some(histogram.buckets().into()),
            auto_update: true,
            data: None,
        };
        if let Ok(document) = made(context, table, column, &update)? {
            put(&mut histograms, &column.name, document);
        }
    }
    if histograms != definition.histograms {
        let (database, name) = definition.full_name();
        let _held = context.hold_table(&database, &name, TableUse::Alone)?;
        let now = context.use_table(&database, &name)?;
        if let Some(now) = now.filter(|now| now.id == table.id) {
            replace(context, &now, histograms)?;
        }
    }
    Ok(())
}

/// Replaces histograms in the table's definition.
fn replace(
    context: &mut StatementContext<'_>,
    table: &BaseTable,
    histograms: Vec<Histogram>,
) -> Result<()> {
    let definition = TableDefinition {
        histograms,
        ..TableDefinition::clone(&table.definition)
    };
    let id = context.catalog().next_table_id();
    let new = Arc::new(table.redefined(id, definition));
    super::alter_table::replace(context, table, new, &[])
}

/// The histogram of a column, or what is wrong with a given document.
fn made(
    context: &mut StatementContext<'_>,
    table: &BaseTable,
    column: &ColumnDefinition,
    update: &HistogramUpdate,
) -> Result<std::result::Result<Json, Vec<String>>> {
    let now = convert::datetime_of_unix(context.now(), &TimeZone::UTC);
    let now = convert::display(&now, &SqlType::temporal(TypeKind::DateTime, 6));
    let now = String::from_utf8_lossy(&now).into_owned();
    if let Some(data) = &update.data {
        return Ok(histogram::of_text(data, &column.ty, &now));
    }
    let settings = HistogramSettings {
        buckets: match update.buckets {
            Some(buckets) => histogram::check_buckets(buckets)?,
            None => histogram::BUCKETS,
        },
        auto_update: update.auto_update,
        now,
    };
    let (values, nulls) = counted(context, &table.definition, column)?;
    Ok(Ok(histogram::document(
        &column.ty, &values, nulls, &settings,
    )))
}

/// The different values of a column in order, each with the number of its rows, and the number of NULLs.
fn counted(
    context: &mut StatementContext<'_>,
    table: &TableDefinition,
    column: &ColumnDefinition,
) -> Result<(Vec<(Json, u64)>, u64)> {
    let name = quoted_identifier(&column.name);
    let value = match column.ty.kind {
        TypeKind::Enum | TypeKind::Set | TypeKind::Bit | TypeKind::Year => {
            format!("CAST({name} AS UNSIGNED)")
        }
        _ if column.ty.is_string() => format!("LEFT({name}, {TEXT_CHARACTERS})"),
        _ => name,
    };
    let text = format!(
        "SELECT v, COUNT(*) FROM (SELECT {value} AS v FROM {}.{}) d GROUP BY v ORDER BY v",
        quoted_identifier(&table.database),
        quoted_identifier(&table.name)
    );
    let query = parse_own_query(&text)?;
    let planned = select::plan_trusted(context, &query)?;
    // Times with all their fractional digits.
    let shown = match column.ty.kind {
        TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time => {
            SqlType::temporal(column.ty.kind, 6)
        }
        _ => column.ty.clone(),
    };
    select::read(context, &planned, |context, reading| {
        let (mut values, mut nulls) = (Vec::new(), 0);
        while let Some(batch) = reading.next_batch(context)? {
            let (array, counts) = (batch.column(0), batch.column(1));
            for row in 0..batch.row_count() {
                let count = match convert::value_at(counts, row) {
                    Value::Int(count) => count.unsigned_abs(),
                    Value::UInt(count) => count,
                    _ => 0,
                };
                if array.is_null(row) {
                    nulls += count;
                    continue;
                }
                let value = match convert::value_at(array, row) {
                    _ if shown.is_temporal() && shown.kind != TypeKind::Year => {
                        let mut text = Vec::new();
                        convert::display_row(array, row, &shown, &mut text);
                        Json::String(String::from_utf8_lossy(&text).into_owned())
                    }
                    Value::Int(number) => Json::Int(number),
                    Value::UInt(number) => match i64::try_from(number) {
                        Ok(number) => Json::Int(number),
                        Err(_) => Json::UInt(number),
                    },
                    Value::Float(number) => Json::Double(number),
                    Value::Decimal { unscaled, scale } => {
                        Json::Decimal(Decimal::new(unscaled, scale))
                    }
                    Value::Bytes(bytes) => histogram::text(&bytes),
                    Value::Null => continue,
                };
                values.push((value, count));
            }
        }
        Ok((values, nulls))
    })
}

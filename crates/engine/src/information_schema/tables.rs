//! `information_schema.TABLES`

use std::collections::BTreeMap;

use itertools::Itertools;
use mayfly_storage::{DeclaredSize, TableStatistics};
use mayfly_syntax::ast::TableKind;
use mayfly_types::Value;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, text};
use super::source_definition;
use super::view_columns::invalid_view;
use crate::catalog::BaseTable;
use crate::catalog::definition::SECONDARY_ENGINE;
use crate::engines::Engine;
use crate::{character_sets, convert};

pub(super) const RELATIONS: &[Relation] =
    &[Relation::asked("TABLES", rows).with_row_count(RelationContext::table_count)];

pub(super) fn rows(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let zone = &context.options().session.time_zone;
    let opened_at = convert::datetime_of_unix(context.database().opened_at, zone);
    for source in asked.relations(context) {
        let schema = &*source.database;
        let log = source_definition::log(source);
        // Programs that copy a server must not copy the tables about accounts, which only account statements can
        // change.
        if schema == "mysql" && log.is_none() {
            continue;
        }
        let is_view = schema == "information_schema";
        let kind = if is_view { "SYSTEM VIEW" } else { "BASE TABLE" };
        let mut row = row!["def", schema, &source.name, kind];
        row.resize(21, Value::Null);
        row[5] = Value::Int(10);
        row[7..13].fill(Value::UInt(0));
        row[14] = opened_at.clone();
        row[19] = text("");
        row[20] = text("");
        if let Some(log) = log {
            row[4] = text(log.engine.name());
            row[6] = text(log.row_format());
            row[17] = text(character_sets::row(log.collation).name);
            row[20] = text(&log.comment);
        }
        rows.push(row);
    }
    let (tables, views) = (asked.tables(context), asked.views(context));
    let tables = tables.iter().map(|table| {
        let definition = &table.definition;
        let name = (&*definition.database, &*definition.name);
        (name, row(context, asked, table))
    });
    let shows_comment = asked.reads(&["TABLE_COMMENT"]);
    let views = views.iter().map(|view| {
        let (database, name) = (view.database(), view.name());
        let mut row = row!["def", database, name, "VIEW"];
        row.resize(21, Value::Null);
        row[14] = match view.created {
            0 => opened_at.clone(),
            created => convert::datetime_of_unix(created, zone),
        };
        row[20] = text("VIEW");
        if shows_comment && let Some(invalid) = invalid_view(context, view) {
            row[20] = text(invalid.message());
            context.warn(invalid);
        }
        ((database, name), row)
    });
    let by_name: BTreeMap<(&str, &str), Row> = tables.chain(views).collect();
    rows.extend(by_name.into_values());
    rows
}

/// The columns with sizes, for which the table is opened.
const SIZES: [&str; 6] = [
    "TABLE_ROWS",
    "AVG_ROW_LENGTH",
    "DATA_LENGTH",
    "MAX_DATA_LENGTH",
    "INDEX_LENGTH",
    "DATA_FREE",
];

fn row(context: &RelationContext, asked: &Asked<'_>, table: &BaseTable) -> Row {
    let zone = &context.options().session.time_zone;
    let definition = &table.definition;
    let statistics = asked.reads(&SIZES).then(|| table.statistics(context));
    let TableStatistics {
        rows,
        memory_bytes,
        disk_bytes,
        declared,
    } = statistics.unwrap_or_default();
    let bytes = memory_bytes + disk_bytes;
    let size = declared.unwrap_or_else(|| DeclaredSize {
        row_bytes: bytes.checked_div(rows).unwrap_or(0),
        data_bytes: bytes,
        ..DeclaredSize::default()
    });
    // Other engines always report the next number.
    let is_numbered = definition.auto_increment_column().is_some()
        || !matches!(definition.engine, Engine::InnoDb | Engine::Csv);
    row![
        "def",
        &definition.database,
        &definition.name,
        match definition.kind {
            TableKind::GlobalTemporary => "GLOBAL TEMPORARY",
            TableKind::SharedTemporary => "SHARED TEMPORARY",
            TableKind::Base | TableKind::Temporary => "BASE TABLE",
        },
        definition.engine.name(),
        Value::Int(10),
        definition.row_format(),
        rows,
        size.row_bytes,
        size.data_bytes,
        size.max_data_bytes,
        size.index_bytes,
        size.free_bytes,
        is_numbered.then(|| table.numbers(context).next()),
        convert::datetime_of_unix(definition.created, zone),
        Value::Null,
        Value::Null,
        character_sets::row(definition.collation).name,
        Value::Null,
        create_options(table),
        &definition.comment,
    ]
}

/// The options in CREATE_OPTIONS, with its names and in its order.
const CREATE_OPTIONS: &[(&str, &str)] = &[
    ("MAX_ROWS", "max_rows"),
    ("MIN_ROWS", "min_rows"),
    ("AVG_ROW_LENGTH", "avg_row_length"),
    ("ROW_FORMAT", "row_format"),
    ("STATS_SAMPLE_PAGES", "stats_sample_pages"),
    ("STATS_AUTO_RECALC", "stats_auto_recalc"),
    ("KEY_BLOCK_SIZE", "KEY_BLOCK_SIZE"),
    ("COMPRESSION", "COMPRESSION"),
    ("STATS_PERSISTENT", "stats_persistent"),
    ("PACK_KEYS", "pack_keys"),
    ("CHECKSUM", "checksum"),
    ("DELAY_KEY_WRITE", "delay_key_write"),
    ("ENCRYPTION", "ENCRYPTION"),
];

fn create_options(table: &BaseTable) -> String {
    let definition = &table.definition;
    let written = CREATE_OPTIONS.iter().filter_map(|(name, shown)| {
        let mut options = definition.options.iter();
        let (_, value) = options.find(|(known, _)| known == name)?;
        Some(format!("{shown}={}", value.replace('\'', "\"")))
    });
    let secondary = definition.secondary_engine();
    let is_loaded = u8::from(table.copy.is_used());
    let secondary = secondary
        .map(|engine| format!("{SECONDARY_ENGINE}=\"{engine}\" SECONDARY_LOAD=\"{is_loaded}\""));
    let partitioned = definition.partitioning.as_ref();
    let partitioned = partitioned.map(|_| "partitioned".to_owned());
    written.chain(secondary).chain(partitioned).join(" ")
}

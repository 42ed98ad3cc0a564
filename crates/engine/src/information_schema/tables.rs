//! `information_schema.TABLES`

use mayfly_storage::{DeclaredSize, TableStatistics};
use mayfly_types::Value;

use super::relation::{Relation, Row, text};
use crate::catalog::BaseTable;
use crate::session::Session;
use crate::{character_sets, convert, information_schema};

pub(super) const RELATIONS: &[Relation] = &[Relation::standard("TABLES", rows)];

fn rows(session: &Session) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for schema in ["information_schema", "performance_schema"] {
        for source in information_schema::relations(schema) {
            let is_view = schema == "information_schema";
            let mut row = vec![
                text("def"),
                text(schema),
                text(&source.name),
                text(if is_view { "SYSTEM VIEW" } else { "BASE TABLE" }),
            ];
            row.resize(21, Value::Null);
            row[5] = Value::Int(10);
            row[7..13].fill(Value::UInt(0));
            row[19] = text("");
            row[20] = text("");
            rows.push(row);
        }
    }
    rows.extend(
        session
            .database
            .catalog
            .all_tables()
            .iter()
            .map(|table| row(session, table)),
    );
    rows.extend(session.database.catalog.all_views().iter().map(|view| {
        let mut row = vec![
            text("def"),
            text(view.database()),
            text(view.name()),
            text("VIEW"),
        ];
        row.resize(21, Value::Null);
        row[14] = convert::datetime_of_unix(view.created, &session.options().time_zone);
        row[20] = text("VIEW");
        row
    }));
    rows
}

fn row(session: &Session, table: &BaseTable) -> Row {
    let zone = &session.options().time_zone;
    let definition = &table.definition;
    let TableStatistics {
        rows,
        memory_bytes,
        disk_bytes,
        declared,
    } = table.statistics(session);
    let bytes = memory_bytes + disk_bytes;
    let is_fixed = declared.is_some();
    let size = declared.unwrap_or_else(|| DeclaredSize {
        row_bytes: bytes.checked_div(rows).unwrap_or(0),
        data_bytes: bytes,
        ..DeclaredSize::default()
    });
    let numbered = definition.auto_increment_column().is_some();
    let options: Vec<String> = definition
        .options
        .iter()
        .map(|(name, value)| format!("{}={value}", name.to_lowercase()))
        .collect();
    vec![
        text("def"),
        text(&definition.database),
        text(&definition.name),
        text("BASE TABLE"),
        text(&definition.engine),
        Value::Int(10),
        text(if is_fixed { "Fixed" } else { "Dynamic" }),
        Value::UInt(rows),
        Value::UInt(size.row_bytes),
        Value::UInt(size.data_bytes),
        Value::UInt(size.max_data_bytes),
        Value::UInt(size.index_bytes),
        Value::UInt(size.free_bytes),
        if numbered {
            Value::UInt(table.next_auto_increment())
        } else {
            Value::Null
        },
        convert::datetime_of_unix(definition.created, zone),
        Value::Null,
        Value::Null,
        text(character_sets::row(definition.collation).name),
        Value::Null,
        text(options.join(" ")),
        text(&definition.comment),
    ]
}

//! `information_schema.TEMP_TABLES`: every living temporary table of every session, internal ones
//! and those of CREATE TEMPORARY TABLE.

use mayfly_storage::Purpose;
use mayfly_types::Value;

use super::relation::{Kind, Relation, Row, text};
use crate::session::Session;

pub(super) const RELATIONS: &[Relation] = &[Relation {
    schema: "information_schema",
    name: "TEMP_TABLES",
    columns: &[
        ("ID", Kind::UInt),
        ("SESSION_ID", Kind::UInt),
        ("USER", Kind::Text(288)),
        ("NAME", Kind::Text(129)),
        ("PURPOSE", Kind::Text(32)),
        ("CAUSE", Kind::Text(2048)),
        ("ACCESS", Kind::Text(16)),
        ("ROWS", Kind::UInt),
        ("MEMORY_BYTES", Kind::UInt),
        ("MEMORY_PEAK", Kind::UInt),
        ("DISK_BYTES", Kind::UInt),
        ("DISK_PEAK", Kind::UInt),
        ("PARTITIONS", Kind::UInt),
        ("AGE", Kind::Double),
        ("STATEMENT_DIGEST", Kind::Text(64)),
        ("STATEMENT_DIGEST_TEXT", Kind::Text(2048)),
    ],
    rows,
}];

fn rows(session: &Session) -> Vec<Row> {
    let internal = session
        .database
        .resources
        .registry
        .entries()
        .into_iter()
        // Those of users are listed by their names.
        .filter(|entry| entry.purpose != Purpose::UserTable)
        .map(|entry| {
            let (digest_text, digest) = mayfly_syntax::digest(&entry.owner.statement);
            vec![
                Value::UInt(entry.id),
                Value::UInt(entry.owner.session_id),
                text(&*entry.owner.user),
                text("(internal)"),
                text(entry.purpose.name()),
                text(entry.cause),
                text(entry.access),
                Value::UInt(entry.rows),
                Value::UInt(entry.memory_bytes),
                Value::UInt(entry.memory_peak),
                Value::UInt(entry.disk_bytes),
                Value::UInt(entry.disk_peak),
                Value::UInt(entry.partitions),
                Value::Float(entry.age.as_secs_f64()),
                text(digest),
                text(digest_text),
            ]
        });
    let mut rows: Vec<Row> = internal.collect();
    for table in session.temporary_tables() {
        let statistics = table.statistics(session);
        let age = session.now().saturating_sub(table.definition.created);
        rows.push(vec![
            Value::UInt(table.id.0),
            Value::UInt(session.id()),
            text(format!("{}@{}", session.user(), session.host())),
            text(format!(
                "{}.{}",
                table.definition.database, table.definition.name
            )),
            text("user"),
            text("CREATE TEMPORARY TABLE"),
            text("scan"),
            Value::UInt(statistics.rows),
            Value::UInt(statistics.memory_bytes),
            Value::UInt(statistics.memory_bytes),
            Value::UInt(statistics.disk_bytes),
            Value::UInt(statistics.disk_bytes),
            Value::UInt(1),
            Value::Float(age as f64 / 1e6),
            Value::Null,
            Value::Null,
        ]);
    }
    rows
}

//! `metadata_locks`: holders and waiters of table locks.

use mayfly_types::Value;

use crate::information_schema::context::RelationContext;
use crate::information_schema::relation::Relation;
use crate::information_schema::row::{Row, row};
use crate::locks::table::TableUse;

pub(super) const RELATIONS: &[Relation] =
    &[Relation::new("performance_schema.metadata_locks", rows)];

/// MySQL's name of an equivalent lock mode.
fn lock_type(how: TableUse) -> &'static str {
    match how {
        TableUse::Read => "SHARED_READ",
        TableUse::Write => "SHARED_WRITE",
        TableUse::ReadAlone => "SHARED_READ_ONLY",
        TableUse::Alone => "EXCLUSIVE",
    }
}

fn rows(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in context.catalog().all_tables() {
        let definition = &table.definition;
        for (session, how, is_held) in table.lock().users() {
            rows.push(row![
                "TABLE",
                &definition.database,
                &definition.name,
                Value::Null,
                table.id.0,
                lock_type(how),
                "TRANSACTION",
                if is_held { "GRANTED" } else { "PENDING" },
                Value::Null,
                session,
                Value::Null,
            ]);
        }
    }
    rows
}

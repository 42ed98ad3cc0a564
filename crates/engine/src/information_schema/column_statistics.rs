//! `information_schema.COLUMN_STATISTICS`: the histograms of the tables that the session may read.

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};

pub(super) const RELATIONS: &[Relation] = &[Relation::new("COLUMN_STATISTICS", rows)];

fn rows(context: &RelationContext) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in &context.privileges().visible_tables() {
        let definition = &table.definition;
        for histogram in &definition.histograms {
            rows.push(row![
                &definition.database,
                &definition.name,
                &histogram.column,
                Value::Bytes(histogram.document.to_text()),
            ]);
        }
    }
    rows
}

//! Names of columns in a traced statement.

use std::collections::BTreeMap;

use super::tables::blocks;
use crate::explain::names::quoted;
use crate::text::{bounded_text, call_text};
use crate::trace::Trace;
use crate::tree::logical::{Computed, Query, Relation};

/// Maximum bytes of the text of a column.
const NAME_BYTES_MAX: usize = 200;

/// Records the names of columns.
pub(in crate::rules) fn names(query: &mut Query, trace: &Trace) {
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Scan(scan) => {
            let columns = scan.table.columns.iter().enumerate();
            names.extend(columns.map(|(at, column)| {
                let text = [&scan.alias, &column.name].map(|name| quoted(name));
                (scan.first + at, text.join("."))
            }));
        }
        Relation::Block {
            derived: Some(derived),
            ..
        } => {
            for (id, name) in &derived.columns {
                let text = [&derived.alias, name].map(|name| quoted(name)).join(".");
                names.entry(*id).or_insert(text);
            }
        }
        Relation::Extend { columns, .. } | Relation::Project { columns, .. } => {
            add_computed(&mut names, columns);
        }
        Relation::Aggregate(aggregate) => {
            add_computed(&mut names, &aggregate.keys);
            for (id, call) in &aggregate.aggregates {
                let text = call_text(call, &|column: usize| known(&names, column));
                names.entry(*id).or_insert(text);
            }
        }
        _ => {}
    });
    trace.name_columns(names);
    trace.place_tables(blocks(query));
}

fn known(names: &BTreeMap<usize, String>, column: usize) -> String {
    let name = names.get(&column);
    name.map_or_else(|| format!("column_{column}"), String::clone)
}

fn add_computed(names: &mut BTreeMap<usize, String>, columns: &[Computed]) {
    for column in columns {
        if names.contains_key(&column.id) {
            continue;
        }
        let text = |id: usize| known(names, id);
        if let Some(text) = bounded_text(&column.expression, &text, NAME_BYTES_MAX) {
            names.insert(column.id, text);
        }
    }
}

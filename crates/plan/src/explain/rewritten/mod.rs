//! What a statement is rewritten to, as SQL: the note 1003 that SHOW WARNINGS lists behind EXPLAIN, and the
//! member `query` of version 2 of FORMAT=JSON.
//!
//! It is written of the logical plan as the rules leave it that change what is asked and not how it is found:
//! derived tables are merged, subqueries are semijoins, conditions stand where they were moved to, constants
//! are what they come to. Every name says its database and table. The text is for people: it has joins such
//! as `semi join` that no statement has.

mod scope;
mod select;

use self::scope::Scope;
use self::select::Writer;
use super::ChangeKind;
use super::names::quoted;
use crate::change::{ChangeTarget, NewValue};
use crate::options::PlanOptions;
use crate::rules;
use crate::tree::logical::Query;

/// A name in backquotes.
pub fn identifier(name: &str) -> String {
    quoted(name)
}

/// What a bound query is rewritten to.
pub(crate) fn rewritten(bound: &Query, options: &PlanOptions) -> String {
    query_text(&shaped(bound, options))
}

/// A bound query as the rules leave it that change what is asked.
pub(crate) fn shaped(bound: &Query, options: &PlanOptions) -> Query {
    let mut query = bound.clone();
    rules::shape(&mut query, options);
    query
}

/// A query as SQL.
pub(crate) fn query_text(query: &Query) -> String {
    let writer = Writer::new(query);
    let names: Vec<&str> = query
        .output
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    let body = writer.query(&query.relation, &query.columns, Some(&names), 1, None);
    format!("{}{body}", writer.with_clause())
}

/// An UPDATE or DELETE as SQL. `names_targets`: DELETE t FROM …
pub(crate) fn change_text(
    query: &Query,
    targets: &[ChangeTarget],
    kind: ChangeKind,
    names_targets: bool,
) -> String {
    let writer = Writer::new(query);
    let parts = writer.parts(&query.relation, None);
    let from = &parts.from;
    let verb = match kind {
        ChangeKind::Delete if names_targets => {
            let tables = targets.iter().map(|target| {
                let table = &target.table;
                format!("{}.{}", quoted(&table.database), quoted(&table.name))
            });
            format!(
                "delete {} from {from}",
                tables.collect::<Vec<_>>().join(", ")
            )
        }
        ChangeKind::Delete => format!("delete from {from}"),
        _ => {
            let sets = targets.iter().flat_map(|target| {
                target.assignments.iter().map(|assignment| {
                    let column = target.table.columns.get(assignment.column);
                    let column = column.map_or("", |column| &column.name);
                    let name = [&target.table.database, &target.alias, column].map(quoted);
                    let value = new_value(&assignment.value, query, &parts.scope);
                    format!("{} = {value}", name.join("."))
                })
            });
            format!("update {from} set {}", sets.collect::<Vec<_>>().join(","))
        }
    };
    format!("{}{verb}{}", writer.with_clause(), parts.tail())
}

fn new_value(value: &NewValue, query: &Query, scope: &Scope<'_>) -> String {
    match value {
        NewValue::Default => "default".to_owned(),
        NewValue::Column(column) => {
            let id = query.columns.get(*column);
            id.map_or_else(String::new, |id| scope.text_of(*id))
        }
        // Its columns are those of the query.
        NewValue::Computed(value) => crate::text::expression_text(value, &|column: usize| {
            let id = query.columns.get(column);
            id.map_or_else(String::new, |id| scope.text_of(*id))
        }),
    }
}

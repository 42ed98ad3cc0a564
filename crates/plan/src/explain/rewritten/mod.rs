//! The rewritten statement as SQL: the note 1003 that SHOW WARNINGS lists after EXPLAIN, and the member `query` of
//! FORMAT=JSON version 2.
//!
//! It is printed from the logical plan after the rules that transform the statement and before those that choose its
//! execution: derived tables are merged, subqueries are semijoins, conditions are pushed, constants are folded. Names
//! are qualified by database and table. The text is for people: it has joins such as `semi join` that are not valid
//! SQL.

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

/// Text of a rewritten query.
pub(crate) fn rewritten(bound: &Query, options: &PlanOptions) -> String {
    query_text(&shaped(bound, options))
}

/// A bound query after the rules that transform the statement.
pub(crate) fn shaped(bound: &Query, options: &PlanOptions) -> Query {
    let mut query = bound.clone();
    rules::shape(&mut query, options);
    query
}

/// Text of a query as SQL.
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

/// Text of an UPDATE or DELETE as SQL. `names_targets`: DELETE t FROM …
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

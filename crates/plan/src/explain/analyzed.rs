//! MariaDB's ANALYZE FORMAT=JSON: query blocks and tables with their measurements (`r_…`), in the form of MariaDB
//! 10.11. Each temporary table adds a member `r_temporary_table`.

use super::blocks::{Body, Child, Note, Operation, Place, QueryBlock, TableUse, query_blocks};
use super::facts::Facts;
use super::subject::{Change, ChangeKind, Subject};
use super::traditional::{kept_share, percentage, result_table, rows_of_blocks};
use crate::document::{Document, Layout, Members};
use crate::tree::logical::with_stack;
use crate::tree::physical::SetOperationKind;

/// A time in milliseconds, to the nanosecond.
fn milliseconds(time: f64) -> Document {
    Document::from((time * 1e6).round() / 1e6)
}

/// Measurements of a statement as a JSON document.
pub fn analyzed(subject: &Subject<'_>) -> String {
    let planning = subject.measured.map_or(0.0, |measured| measured.planning);
    let planned = vec![("r_total_time_ms", milliseconds(planning))];
    let mut members: Members = vec![("query_optimization", planned.into())];
    let block = subject.query.map(|query| {
        let facts = Facts::of(subject, query);
        let mut block = query_blocks(query, Some(&facts), subject.measured);
        rows_of_blocks(&mut block);
        query_block(block, subject.change.as_ref(), None)
    });
    let block = block.unwrap_or_else(|| {
        let name = subject
            .change
            .as_ref()
            .map(|change| change.tables.join(","));
        let table = vec![("table_name", Document::from(name.unwrap_or_default()))];
        Document::from(vec![
            ("select_id", Document::from(1)),
            ("table", table.into()),
        ])
    });
    members.push(("query_block", block));
    let layout = Layout {
        short_lists: true,
        ..Layout::default()
    };
    Document::from(members).to_text(layout)
}

fn query_block(
    block: QueryBlock,
    change: Option<&Change>,
    operation: Option<&'static str>,
) -> Document {
    with_stack(|| {
        let QueryBlock {
            id, body, children, ..
        } = block;
        let mut members: Members = Vec::new();
        let (tables, operations) = match body {
            Body::Tables { tables, operations } => (tables, operations),
            Body::SetOperation {
                kind,
                arms,
                temporary,
                table,
                filesort,
                ..
            } => {
                let ids = arms.iter().map(|arm| arm.id);
                let mut result: Members = Vec::new();
                if temporary || filesort {
                    result.push(("table_name", result_table(kind, ids).into()));
                    result.push(("access_type", Document::from("ALL")));
                }
                if let Some(actual) = block.actual {
                    result.push(("r_loops", Document::from(actual.loops)));
                    result.push(("r_rows", short(actual.rows_of_loop())));
                }
                if let Some(table) = table {
                    result.push(("r_temporary_table", table.actual_document()));
                }
                let word = match kind {
                    SetOperationKind::Union => "UNION",
                    SetOperationKind::Intersect => "INTERSECT",
                    SetOperationKind::Except => "EXCEPT",
                };
                let arms = arms.into_iter().enumerate().map(|(index, arm)| {
                    let block = query_block(arm, None, (index > 0).then_some(word));
                    Document::from(vec![("query_block", block)])
                });
                result.push(("query_specifications", arms.collect()));
                members.push(("union_result", result.into()));
                return members.into();
            }
        };
        members.push(("select_id", Document::from(id)));
        members.extend(operation.map(|word| ("operation", Document::from(word))));
        if let [only] = tables.as_slice()
            && let [Note::Message(message)] = only.notes.as_slice()
        {
            let message = vec![("message", Document::from(*message))];
            members.push(("table", message.into()));
            push_subqueries(&mut members, children);
            return members.into();
        }
        if let Some(actual) = block.actual {
            members.push(("r_loops", Document::from(actual.loops)));
            members.push(("r_total_time_ms", milliseconds(actual.last_row)));
        }
        let mut of_tables = Vec::new();
        let mut others = Vec::new();
        for child in children {
            match child.place {
                Place::Table(index) => of_tables.push((index, child.block)),
                _ => others.push(child),
            }
        }
        let is_change = change.is_some_and(|change| !change.kind.adds_rows()) && tables.len() == 1;
        let tables = tables.into_iter().enumerate().map(|(index, table)| {
            let at = of_tables.iter().position(|(of, _)| *of == index);
            let made = at.map(|at| of_tables.swap_remove(at).1);
            Document::from(vec![("table", table_document(table, made, change))])
        });
        let tables: Vec<Document> = tables.collect();
        let mut nested: Members = match (is_change, tables) {
            (true, tables) => tables
                .into_iter()
                .flat_map(|table| match table {
                    Document::Object(members) => members,
                    _ => Vec::new(),
                })
                .collect(),
            (false, tables) => vec![("nested_loop", Document::List(tables))],
        };
        for operation in operations.into_iter().rev() {
            nested = operation_members(operation, nested);
        }
        members.extend(nested);
        push_subqueries(&mut members, others);
        members.into()
    })
}

/// A number; integers have no fraction, as in MariaDB.
fn short(value: f64) -> Document {
    if value == value.trunc() && value >= 0.0 {
        Document::from(value as u64)
    } else {
        Document::from(value)
    }
}

fn push_subqueries(members: &mut Members, children: Vec<Child>) {
    if !children.is_empty() {
        let blocks = children.into_iter().map(|child| {
            let block = query_block(child.block, None, None);
            Document::from(vec![("query_block", block)])
        });
        members.push(("subqueries", blocks.collect()));
    }
}

fn operation_members(operation: Operation, inside: Members) -> Members {
    let mut members: Members = Vec::new();
    if operation.filesort {
        members.push(("sort_key", Document::from(operation.sort_key)));
        if let Some(actual) = operation.actual {
            members.push(("r_loops", Document::from(actual.loops)));
            members.push(("r_total_time_ms", milliseconds(actual.last_row)));
            if let Some(limit) = operation.limit {
                members.push(("r_limit", Document::from(limit)));
            }
            let is_queue = operation.limit.is_some();
            members.push(("r_used_priority_queue", Document::from(is_queue)));
            members.push(("r_output_rows", short(actual.rows_of_loop())));
        }
        if let Some(table) = operation.table {
            members.push(("r_temporary_table", table.actual_document()));
        }
        members.extend(inside);
        return vec![("filesort", members.into())];
    }
    if !operation.temporary {
        return inside;
    }
    if let Some(table) = operation.table {
        members.push(("r_temporary_table", table.actual_document()));
    }
    members.extend(inside);
    vec![("temporary_table", members.into())]
}

fn table_document(table: TableUse, made: Option<QueryBlock>, change: Option<&Change>) -> Document {
    let mut members: Members = Vec::new();
    let name = table.name.clone().unwrap_or_default();
    if let Some(change) = change.filter(|change| change.tables.contains(&name)) {
        let verb = match change.kind {
            ChangeKind::Delete => "delete",
            _ => "update",
        };
        members.push((verb, Document::from(1)));
    }
    members.push(("table_name", Document::from(name)));
    members.push(("access_type", Document::from(table.key.access)));
    let list = |texts: Vec<String>| texts.into_iter().collect::<Document>();
    if !table.possible.is_empty() {
        members.push(("possible_keys", list(table.possible)));
    }
    if let Some(key) = table.key.key {
        members.push(("key", Document::from(key)));
    }
    if let Some(length) = table.key.length {
        members.push(("key_length", Document::from(length)));
    }
    if !table.key.parts.is_empty() {
        members.push(("used_key_parts", list(table.key.parts)));
    }
    if let Some(reference) = table.key.reference {
        let references = reference.split(',').map(str::to_owned);
        members.push(("ref", references.collect()));
    }
    if let Some((actual, _)) = table.actual {
        members.push(("r_loops", Document::from(actual.loops)));
    }
    members.push(("rows", Document::from(table.rows.unwrap_or(0))));
    if let Some((actual, _)) = table.actual {
        let (_, time) = (actual.first_row, actual.last_row);
        members.push(("r_rows", short(actual.rows_of_loop())));
        members.push(("r_table_time_ms", milliseconds(time)));
    }
    members.push(("filtered", short(percentage(table.filtered))));
    if let Some((actual, kept)) = table.actual {
        members.push((
            "r_filtered",
            short(percentage(kept_share(actual.rows, kept))),
        ));
    }
    if let Some(hash) = table.hash {
        members.push(("r_temporary_table", hash.actual_document()));
    }
    match table.conditions.as_slice() {
        [] => {}
        conditions => {
            let text = conditions.join(" and ");
            members.push(("attached_condition", Document::from(text)));
        }
    }
    if table.covering {
        members.push(("using_index", Document::from(true)));
    }
    if let Some(block) = made {
        let mut made: Members = Vec::new();
        if let Some(facts) = table.materialized {
            made.push(("r_temporary_table", facts.actual_document()));
        }
        made.push(("query_block", query_block(block, None, None)));
        members.push(("materialized", made.into()));
    }
    members.into()
}

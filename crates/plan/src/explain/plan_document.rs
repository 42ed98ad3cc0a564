//! EXPLAIN FORMAT=JSON, version 2: the tree's steps as nested objects, in the form and with the members of MySQL 9.
//! Each temporary table adds a member `temporary_table`.

use super::outline::{Step, outline};
use super::subject::{ChangeKind, Subject};
use crate::document::{Document, Layout, Members};
use crate::tree::logical::with_stack;

const SCHEMA_VERSION: &str = "2.0";

pub(super) fn json(subject: &Subject<'_>) -> String {
    let query_type = match subject.change.as_ref().map(|change| change.kind) {
        None => "select",
        Some(ChangeKind::Insert) => "insert",
        Some(ChangeKind::Replace) => "replace",
        Some(ChangeKind::Update) => "update",
        Some(ChangeKind::Delete) => "delete",
    };
    let mut members: Members = Vec::new();
    if let Some(rewritten) = subject.rewritten {
        members.push(("query", Document::from(rewritten)));
    }
    members.push(("query_plan", step_document(outline(subject))));
    members.push(("query_type", Document::from(query_type)));
    members.push(("json_schema_version", Document::from(SCHEMA_VERSION)));
    Document::from(members).sorted().to_text(Layout::default())
}

fn step_document(step: Step) -> Document {
    with_stack(|| {
        let mut members: Members = vec![("operation", Document::from(step.text))];
        if let Some(estimate) = step.estimate {
            members.push(("estimated_rows", Document::from(estimate.rows)));
            members.push(("estimated_total_cost", Document::from(estimate.cost)));
            if let Some(first) = estimate.first {
                members.push(("estimated_first_row_cost", Document::from(first)));
            }
        }
        let is_known = |member: &(&str, Document)| member.1 != Document::from("");
        members.extend(step.members.into_iter().filter(is_known));
        if let Some(actual) = step.actual {
            members.push(("actual_loops", Document::from(actual.loops)));
            if actual.loops > 0 {
                let (first, last) = actual.times_of_loop();
                members.push(("actual_rows", Document::from(actual.rows_of_loop())));
                members.push(("actual_first_row_ms", Document::from(first)));
                members.push(("actual_last_row_ms", Document::from(last)));
            }
        }
        let mut table = step.table;
        if let Some(heading) = step.heading {
            members.push(("heading", Document::from(heading.text)));
            members.extend(heading.members);
            table = table.or(heading.table);
        }
        if let Some(table) = table {
            members.push(("temporary_table", table.document()));
        }
        let list = |steps: Vec<Step>| steps.into_iter().map(step_document).collect::<Document>();
        if !step.inputs.is_empty() {
            members.push(("inputs", list(step.inputs)));
        }
        if !step.of_select_list.is_empty() {
            members.push(("inputs_from_select_list", list(step.of_select_list)));
        }
        members.into()
    })
}

//! Conditions in the optimizer trace: as written, as simplified, and where they are attached.

use super::words::{block_of, conjunction};
use crate::document::{Document, Members};
use crate::explain::names::quoted;
use crate::trace::{Step, Trace};
use crate::tree::expression::Expression;
use crate::tree::logical::{Relation, Scan};

fn text_or_null(predicates: &[Expression], trace: &Trace) -> Document {
    let text = conjunction(predicates, trace);
    text.map_or(Document::Null, Document::Text)
}

/// Records that the constant parts of a condition above a relation were removed.
pub(in crate::rules) fn simplified(
    input: &Relation,
    (before, after): (&[Expression], &[Expression]),
    trace: &Trace,
) {
    let clause = match input {
        Relation::Aggregate(_) => "HAVING",
        _ => "WHERE",
    };
    let step: Members = vec![
        (
            "transformation",
            Document::from("trivial_condition_removal"),
        ),
        ("resulting_condition", text_or_null(after, trace)),
    ];
    let members: Members = vec![
        ("condition", Document::from(clause)),
        ("original_condition", text_or_null(before, trace)),
        ("steps", Document::List(vec![step.into()])),
    ];
    trace.note(block_of(input, trace), Step::Conditions, members.into());
}

/// Conditions that each table of a query block checks.
pub(super) fn attached(scans: &[&Scan], trace: &Trace) -> Document {
    let one = |scan: &&Scan| {
        let members: Members = vec![
            ("table", Document::from(quoted(&scan.alias))),
            ("attached", text_or_null(&scan.predicates, trace)),
        ];
        Document::from(members)
    };
    let members: Members = vec![(
        "attached_conditions_summary",
        Document::List(scans.iter().map(one).collect()),
    )];
    members.into()
}

/// Conditions of a table that remain to be checked for the rows of an index.
pub(super) fn finalized(scan: &Scan, trace: &Trace) -> Document {
    let mut covered = scan.access.covered().iter();
    let open: Vec<Expression> = scan
        .predicates
        .iter()
        .filter(|_| !covered.next().copied().unwrap_or(false))
        .cloned()
        .collect();
    let members: Members = vec![
        ("table", Document::from(quoted(&scan.alias))),
        (
            "original_table_condition",
            text_or_null(&scan.predicates, trace),
        ),
        // MySQL's name ends with these spaces.
        ("final_table_condition   ", text_or_null(&open, trace)),
    ];
    members.into()
}

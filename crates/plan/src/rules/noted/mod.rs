//! Optimizer trace of the rules: documents of the alternatives and choices, under MySQL's names for MySQL's decisions.
//! All of it runs only for a statement that is traced.

pub(super) mod access;
pub(super) mod conditions;
pub(super) mod joins;
mod names;
pub(super) mod orders;
mod tables;
pub(super) mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) use self::names::names;
use self::tables::scans;
use super::access_paths::{cost, needed_columns, scan_cost};
use super::planning::{Planning, Rule};
use crate::document::{Document, Members};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::trace::{Step, Trace, object};
use crate::tree::logical::{Query, Relation, Scan};

/// Runs rules; returns the names of those that changed the statement.
pub(super) fn run(
    rules: &[Rule],
    query: &mut Query,
    planning: &Planning<'_>,
    trace: &Trace,
) -> Vec<&'static str> {
    let mut applied = Vec::new();
    for (name, rule) in rules {
        let before = (fingerprint(query), cost_of(query, planning.options));
        rule(query, planning);
        let after = (fingerprint(query), cost_of(query, planning.options));
        if before != after {
            applied.push(*name);
            let members: Members = vec![
                ("rule", Document::from(*name)),
                ("cost_before", Document::from(before.1)),
                ("cost_after", Document::from(after.1)),
            ];
            trace.note(1, Step::Rules, members.into());
        }
    }
    applied
}

/// Hash of a statement's text, which may be long, and of its choices.
fn fingerprint(query: &mut Query) -> u64 {
    struct Hashing(DefaultHasher);
    impl fmt::Write for Hashing {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hashing = Hashing(DefaultHasher::new());
    // Writing to the hasher cannot fail.
    let _ = fmt::Write::write_fmt(&mut hashing, format_args!("{query}"));
    query.for_each_relation_mut(&mut |relation| {
        let chosen = match relation {
            Relation::Scan(scan) => {
                let read = scan.access.indexes().iter();
                read.map(|access| access.index).collect()
            }
            Relation::Join(join) => join.lookup.iter().map(|lookup| lookup.index).collect(),
            Relation::Aggregate(aggregate) => vec![usize::from(aggregate.ordered)],
            _ => Vec::new(),
        };
        chosen.hash(&mut hashing.0);
    });
    hashing.0.finish()
}

fn cost_of(query: &mut Query, options: &PlanOptions) -> f64 {
    let needed = needed_columns(query);
    let estimates = Estimates::of(query);
    let mut all = 0.0;
    query.for_each_tree_mut(&mut |tree| all += cost(tree, &needed, &estimates, options));
    all
}

/// MySQL's name of a rule that transforms the statement, if it has one.
fn transformation(rule: &'static str) -> &'static str {
    match rule {
        "outer_to_inner" => "outer_join_to_inner_join",
        "subqueries_to_joins" => "semijoin",
        other => other,
    }
}

/// Records the statement in the form that can be written as SQL, with the rules that have changed it.
pub(super) fn shaped(query: &mut Query, trace: &Trace, rules: &[&'static str]) {
    if !rules.is_empty() {
        let rules = rules.iter().map(|rule| transformation(rule));
        let members: Members = vec![
            ("transformations", rules.collect()),
            ("expanded_query", Document::from(trace.rewritten_text())),
        ];
        trace.prepared(object("transformations_to_nested_joins", members));
    }
    trace.place_tables(tables::blocks(query));
    for (select_id, dependency) in tables::dependencies(query) {
        trace.note(select_id, Step::TableDependencies, dependency);
    }
}

/// Records the final choices: the access path of a single table, and the place of each condition.
pub(super) fn chosen(query: &mut Query, options: &PlanOptions, trace: &Trace) {
    let needed = needed_columns(query);
    let all = scans(query);
    for scan in &all {
        let select_id = trace.block_of(scan.first);
        let mut others = all.iter().filter(|other| other.first != scan.first);
        let is_alone = others.all(|other| trace.block_of(other.first) != select_id);
        if is_alone && !trace.has(select_id, Step::ExecutionPlans) {
            let plan = access::only_plan(scan, scan_cost(scan, &needed, options));
            trace.note(select_id, Step::ExecutionPlans, plan);
        }
    }
    let mut by_block: BTreeMap<usize, Vec<&Scan>> = BTreeMap::new();
    for scan in &all {
        let block = by_block.entry(trace.block_of(scan.first)).or_default();
        block.push(scan);
    }
    for (select_id, scans) in by_block {
        let attached = conditions::attached(&scans, trace);
        trace.note(select_id, Step::AttachedConditions, attached);
        for scan in scans {
            let last = conditions::finalized(scan, trace);
            trace.note(select_id, Step::FinalConditions, last);
        }
    }
}

//! Causes: each file finds one, or a few that have the same cure, in one statement.
//!
//! A rule sees the temporary tables that the server's rules and its counters agree on ([`crate::temp_tables`]). It
//! makes a finding of each that it knows the cause of, with the change that removes it.

mod aggregate;
mod blob;
mod changes;
mod context;
mod derived;
mod distinct;
mod group_by;
mod join;
mod long_string;
mod metadata;
mod order_by;
mod set_operation;
mod settings;
mod size_limit;
mod sort;
mod subquery;
mod unexplained;
mod window;

pub(crate) use context::{Context, INDEX_SIZE_MAX};

use crate::finding::Finding;
use crate::server::Server;
use crate::workload::Digest;

/// The rules, those that say why a table is there before those that say why it is on disk.
const RULES: &[fn(&Context<'_>, &mut Vec<Finding>)] = &[
    group_by::find,
    distinct::find,
    order_by::find,
    aggregate::find,
    window::find,
    derived::find,
    set_operation::find,
    subquery::find,
    changes::find,
    metadata::find,
    settings::find,
    blob::find,
    long_string::find,
    size_limit::find,
    sort::find,
    join::find,
    unexplained::find,
];

/// The findings of a statement.
pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        rule(context, &mut findings);
    }
    findings
}

#[cfg(test)]
mod tests;

/// The findings of a statement that could not be read: what its counters say.
pub(crate) fn find_unread(digest: &Digest, server: &Server, why: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    unexplained::find_unread(digest, server, why, &mut findings);
    sort::find_counted(digest, server, None, &mut findings);
    findings
}

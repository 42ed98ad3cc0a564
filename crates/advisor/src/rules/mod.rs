//! Rules: each file finds one cause, or a few that have the same remedy, in one statement.
//!
//! A rule sees the temporary tables on which the server's rules and its counters agree ([`crate::temp_tables`]). It
//! makes a finding of each whose cause it knows, with the change that removes it.

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

/// The rules: causes of a table before causes of its being on disk.
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

/// The findings of a statement that could not be analyzed, from its counters.
pub(crate) fn find_unread(digest: &Digest, server: &Server, why: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    unexplained::find_unread(digest, server, why, &mut findings);
    sort::find_counted(digest, server, None, &mut findings);
    findings
}

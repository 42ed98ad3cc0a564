//! Rule for temporary tables that the server counted and that no rule explains: they are reported
//! without a guess.

use super::context::Context;
use crate::finding::{Cause, Change, Confidence, Finding};
use crate::server::Server;
use crate::workload::Digest;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let explained = findings
        .iter()
        .any(|finding| !matches!(finding.cause, Cause::SortOnDisk | Cause::JoinWithoutIndex));
    if explained || context.digest.tables + context.digest.disk_tables == 0 {
        return;
    }
    let why = if context.known {
        "no rule fits"
    } else {
        "its tables are not known; give the schema (--schema or --connect)"
    };
    findings.push(unexplained(context.digest, context.server, why));
}

/// [`find`] for a statement that could not be analyzed.
pub(super) fn find_unread(
    digest: &Digest,
    server: &Server,
    why: &str,
    findings: &mut Vec<Finding>,
) {
    if digest.tables + digest.disk_tables > 0 {
        findings.push(unexplained(digest, server, why));
    }
}

fn unexplained(digest: &Digest, server: &Server, why: &str) -> Finding {
    Finding {
        cause: Cause::Unexplained,
        confidence: Confidence::Possible,
        because: why.to_owned(),
        evidence: format!(
            "{} counted {} temporary tables, {} of them on disk",
            server.name, digest.tables, digest.disk_tables
        ),
        changes: vec![Change::advice(
            "look at EXPLAIN of the example: `Using temporary`, DERIVED, MATERIALIZED and UNION RESULT say where the tables are",
        )],
        gain: String::new(),
    }
}

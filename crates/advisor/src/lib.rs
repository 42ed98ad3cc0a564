//! Reads what a MySQL-family server has run and finds which statements make temporary tables, why, and which changes
//! would remove them.
//!
//! The steps are: events of slow logs ([`SlowLog`]) or a server's own summary ([`Live::workload`]) → digests
//! ([`Workload`]) → each digest's statement analyzed against the [`Schema`] → the temporary tables that follow from the
//! server's rules, as far as they agree with its counters → causes, one rule each → changes, tried on copies of the
//! tables where there is a server ([`Trial`]) → a [`Report`] as text, JSON or HTML.
//!
//! Invariants: nothing here changes a server ([`Live`] sends only statements that read, [`Trial`] changes only
//! temporary tables of its own session); the server's counters take precedence over the rules; an unknown fact lowers
//! the confidence of a finding and never raises it.

mod comparison;
mod connection;
mod distribution;
mod event;
mod explain;
mod finding;
mod groups;
mod index;
mod live;
mod period;
mod quantities;
mod report;
mod rewrite;
mod rules;
mod schema;
mod server;
mod slow_log;
mod sql_text;
mod statement;
mod temp_tables;
mod trial;
mod workload;

pub use comparison::{ComparedStatement, Comparison, Side, Verdict};
pub use connection::{Connection, Rows};
pub use distribution::Percentiles;
pub use event::Event;
pub use explain::{Explain, ExplainRow};
pub use finding::{Cause, Change, ChangeKind, Confidence, Finding, Measured, Tried};
pub use live::Live;
pub use period::moment;
pub use report::{Examiner, Nobody};
pub use report::{
    GroupReport, Groups, MergedChange, Report, StatementReport, Totals, html, json, text,
};
pub use schema::Schema;
pub use server::{Family, Server};
pub use slow_log::{Skipped, SlowLog};
pub use trial::Trial;
pub use workload::{Digest, Workload};

use rules::Context;
use statement::ValueTypes;

/// Facts for the search for findings.
#[derive(Debug)]
pub struct Input<'a> {
    /// The workload of the server.
    pub workload: &'a Workload,
    /// Its tables.
    pub schema: &'a Schema,
    /// The server.
    pub server: &'a Server,
}

/// The findings of one digest. `explain` is the server's output, when it was asked; without it, the one of the slow log
/// is used.
///
/// Changes that the optimizer may not use are given as advice here: a [`Report`] tries them.
pub fn findings(input: &Input<'_>, digest: &Digest, explain: Option<Explain>) -> Vec<Finding> {
    let mut findings = findings_to_try(input, digest, explain);
    settle(&mut findings);
    findings
}

/// Turns untried uncertain changes into advice.
pub(crate) fn settle(findings: &mut [Finding]) {
    for change in findings.iter_mut().flat_map(|finding| &mut finding.changes) {
        if change.is_uncertain && change.tried.is_none() {
            *change = change.as_advice();
        }
    }
}

/// The findings of one digest, with all changes that may help.
pub(crate) fn findings_to_try(
    input: &Input<'_>,
    digest: &Digest,
    explain: Option<Explain>,
) -> Vec<Finding> {
    let database = digest.database.as_deref();
    let statement = match statement::analyze(&digest.example, input.schema, database) {
        Ok(statement) => statement,
        Err(error) => {
            let why = format!("the statement could not be read: {}", error.0);
            return rules::find_unread(digest, input.server, &why);
        }
    };
    let explain = explain.or_else(|| Explain::of_lines(&digest.explain));
    let default = if input.server.family == Family::MariaDb {
        1 << 20
    } else {
        1024
    };
    let length = input
        .server
        .number("group_concat_max_len")
        .unwrap_or(default);
    let types = ValueTypes::new(input.schema, database, length);
    let finder = temp_tables::Finder {
        statement: &statement,
        server: input.server,
        types: &types,
    };
    let tables = temp_tables::agreeing(finder.all(), digest, explain.as_ref());
    let context = Context {
        digest,
        statement: &statement,
        tables: &tables,
        server: input.server,
        schema: input.schema,
        explain: explain.as_ref(),
        known: temp_tables::is_known(&statement, input.schema),
    };
    rules::find(&context)
}

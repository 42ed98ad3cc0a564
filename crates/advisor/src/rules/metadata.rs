//! Rule for SHOW statements and queries of information_schema, whose rows the server generates.

use super::context::Context;
use crate::finding::{Cause, Change, Finding};
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut names: Vec<&str> = Vec::new();
    let mut strength = None;
    for table in context.tables {
        if let Purpose::Metadata(name) = &table.purpose {
            names.push(name);
            strength = Some(table.strength);
        }
    }
    let Some(strength) = strength else { return };
    let evidence = format!(
        "the server makes the rows of {} in a temporary table{}",
        names.join(", "),
        if context.digest.disk_tables > 0 {
            ", on disk because columns of it are BLOBs"
        } else {
            ""
        }
    );
    let mut finding = context.finding(Cause::MetadataQuery, strength, evidence);
    // Costs do not decide about its table.
    finding.confidence = context.confidence(crate::temp_tables::Strength::Always).0;
    finding.changes.push(Change::advice(
        "ask less often: let connection pools and object mappers keep what they know of tables (mysql clients: \
         --skip-auto-rehash), and name the database and table in WHERE",
    ));
    findings.push(finding);
}

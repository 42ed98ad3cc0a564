//! Rule for window functions.

use super::context::Context;
use crate::finding::{Cause, Change, Finding};
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::Window) {
        let evidence = "a window function keeps all rows of its input, or of a partition, with every column of the select list";
        let mut finding = context.finding(Cause::WindowFunction, table.strength, evidence);
        finding.changes.push(Change::advice(
            "compute the window over the primary key and the columns that it needs in a derived table, filter there, and \
             join long columns to what is left",
        ));
        findings.push(finding);
    }
}

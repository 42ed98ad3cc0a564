//! Rule for words of the statement and settings of the server that force a table, or one on disk.

use super::context::Context;
use crate::finding::{Cause, Change, ChangeKind, Finding};
use crate::rewrite;
use crate::temp_tables::{Purpose, Strength};

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::Buffer) {
        let evidence =
            "SQL_BUFFER_RESULT keeps the whole result in a table before the first row is sent";
        let mut finding = context.finding(Cause::BufferedResult, table.strength, evidence);
        if let Some(sql) = context
            .text()
            .and_then(|text| rewrite::without_word(text, "sql_buffer_result"))
        {
            finding.changes.push(
                Change::new(ChangeKind::Rewrite, sql, "rows are sent as they come").at_risk(
                    "the tables' metadata locks are held until the client has read the last row",
                ),
            );
        }
        findings.push(finding);
    }
    let big_tables = context
        .server
        .variable("big_tables")
        .is_some_and(|value| matches!(value, "ON" | "1"));
    if big_tables && context.is_on_disk() == Some(true) {
        let evidence =
            "the setting big_tables is ON, so that every temporary table is made on disk";
        let mut finding = context.finding(Cause::BigTables, Strength::Always, evidence);
        finding.changes.push(
            Change::new(
                ChangeKind::Setting,
                "SET GLOBAL big_tables = OFF",
                "temporary tables begin in memory",
            )
            .at_risk(
                "holds for sessions that begin afterwards; put it into the configuration file too",
            ),
        );
        findings.push(finding);
    }
}

//! Rule for statements that keep the rows that they will write.

use super::context::Context;
use crate::finding::{Cause, Change, Finding};
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables {
        match table.purpose {
            Purpose::InsertFromSameTable => {
                let evidence = "the rows are kept before the first is written, because the query reads the table that is filled";
                let mut finding =
                    context.finding(Cause::InsertFromSameTable, table.strength, evidence);
                finding.changes.push(Change::advice(
                    "write in ranges of the primary key, so that few rows are kept at a time, or go through a table of your own",
                ));
                findings.push(finding);
            }
            Purpose::MultiTableUpdate => {
                let evidence = "UPDATE of several tables keeps the ids and new values of rows that it cannot change while it reads them";
                let mut finding =
                    context.finding(Cause::MultiTableUpdate, table.strength, evidence);
                finding.changes.push(Change::advice(
                    "update one table at a time, with the other table in a subquery of SET and of WHERE; a table that is read \
                     first and of which no column that it is found by changes needs no temporary table",
                ));
                findings.push(finding);
            }
            _ => {}
        }
    }
}

//! Rule for DISTINCT without an index in its order.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change, list_of};
use crate::finding::{Cause, Change, Finding};
use crate::index;
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::Distinct) {
        let Some(block) = context.block(table) else {
            continue;
        };
        let items: Vec<&Expr> = block.items().collect();
        let evidence = format!(
            "DISTINCT compares each row of ({}) with those before it in a table",
            list_of(items.iter().copied())
        );
        let mut finding = context.finding(Cause::DistinctWithoutIndex, table.strength, evidence);
        let keys = index::key_columns(block, &items);
        let own = block.tables.len() == 1;
        if let Some((at, columns)) = keys.filter(|_| own)
            && let Some(advice) = index::advise(block, at, &columns)
        {
            finding.changes.push(index_change(&advice, "DISTINCT"));
        } else if !own {
            finding.changes.push(Change::advice(
                "if DISTINCT only removes what a join has multiplied, ask for the rows with EXISTS or IN instead of the \
                 join, and leave DISTINCT out",
            ));
        } else {
            finding.changes.push(Change::advice(
                "no index can be over these values; take long columns out of DISTINCT and join them afterwards by the primary key",
            ));
        }
        findings.push(finding);
    }
}

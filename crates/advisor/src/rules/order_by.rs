//! Rule for ORDER BY over a join.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change, list_of};
use crate::finding::{Cause, Change, Finding};
use crate::index;
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::OrderByAcrossJoin) {
        let Some(block) = context.block(table) else {
            continue;
        };
        let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
        let evidence = format!(
            "ORDER BY ({}) is not by columns of the table that the join reads first, so that all joined rows are kept and then sorted",
            list_of(order.iter().copied())
        );
        let mut finding = context.finding(Cause::OrderByAcrossJoin, table.strength, evidence);
        if let Some((at, columns)) = index::key_columns(block, &order)
            && let Some(advice) = index::advise(block, at, &columns)
        {
            let name = &block.tables[at].alias;
            let mut change = index_change(&advice, "ORDER BY");
            change.does.push_str(&format!(
                "; for this `{name}` has to be the first table (STRAIGHT_JOIN), which pays with a LIMIT"
            ));
            finding.changes.push(change.uncertain());
        }
        finding.changes.push(Change::advice(
            "sort the ids alone in a derived table and join the other columns to them afterwards, so that the rows that \
             are kept are short",
        ));
        findings.push(finding);
    }
}

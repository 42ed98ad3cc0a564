//! Rule for materialized subqueries.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change, list_of};
use crate::finding::{Cause, Change, Finding};
use crate::index;
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::Materialization) {
        let Some(block) = context.block(table) else {
            continue;
        };
        let items: Vec<&Expr> = block.items().collect();
        let evidence = format!(
            "the rows of the subquery ({}) are kept in a table with a unique index, where each outer row is looked up",
            list_of(items.iter().copied())
        );
        let mut finding = context.finding(Cause::SubqueryMaterialization, table.strength, evidence);
        if let Some((at, columns)) = index::key_columns(block, &items)
            && block.tables.len() == 1
            && let Some(source) = block.tables[at].base()
            && index::ordering_index(block, at, &columns, source)
                .is_none_or(|_| !block.fixed_columns().is_empty())
            && let Some(advice) = index::advise(block, at, &columns)
        {
            let mut change = index_change(&advice, "each look-up");
            change.does.push_str("; the subquery is then a look-up in the index (FirstMatch or LooseScan) where that is cheaper");
            finding.changes.push(change.uncertain());
        }
        finding.changes.push(Change::advice(
            "materialization is often the best plan; it hurts when the subquery gives many or long rows, so select one short column in it",
        ));
        findings.push(finding);
    }
    for table in context.tables_for(|purpose| *purpose == Purpose::SubqueryCache) {
        let evidence = "the results of a correlated subquery are kept by what it reads of the outer row, so that equal rows need it once (subquery_cache)";
        let mut finding = context.finding(Cause::SubqueryCache, table.strength, evidence);
        finding.changes.push(Change::advice(
            "the server gives the table up when it is seldom hit (Subquery_cache_hit and Subquery_cache_miss); where outer rows \
             are all different, a join with the grouped table in place of the subquery needs neither",
        ));
        findings.push(finding);
    }
}

//! Rule for aggregates that keep their values in a table.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change, list_of};
use crate::finding::{Cause, Change, Finding};
use crate::index;
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| matches!(purpose, Purpose::DistinctAggregate(_))) {
        let (Some(block), Purpose::DistinctAggregate(name)) =
            (context.block(table), &table.purpose)
        else {
            continue;
        };
        let arguments: Vec<&Expr> = table.held.iter().map(|held| &held.expr).collect();
        let distinct = table.held.iter().any(|held| held.is_key);
        let evidence = format!(
            "{name}({}{}) keeps the values of each group in a table",
            if distinct { "DISTINCT " } else { "" },
            list_of(arguments.iter().copied())
        );
        let mut finding = context.finding(Cause::DistinctAggregate, table.strength, evidence);
        let keys: Vec<&Expr> = block
            .group_by
            .iter()
            .chain(arguments.iter().copied())
            .collect();
        if distinct
            && block.tables.len() == 1
            && let Some((at, columns)) = index::key_columns(block, &keys)
            && let Some(advice) = index::advise(block, at, &columns)
        {
            let change = index_change(&advice, name);
            // An index has only one order, and GROUP_CONCAT keeps its list even with an index.
            let several = block.aggregates.iter().filter(|one| one.distinct).count() > 1;
            finding.changes.push(if several || name == "GROUP_CONCAT" {
                change.uncertain()
            } else {
                change
            });
        }
        finding.changes.push(Change::advice(if distinct {
            "where the exact number does not matter, count over a sample, or keep the counts in a table of their own"
        } else {
            "the table holds one group at a time and is small unless groups are large"
        }));
        findings.push(finding);
    }
}

//! Text of expressions and tables in the optimizer trace.

use super::tables::{first_scan, tables_of};
use crate::document::Document;
use crate::text::expression_text;
use crate::trace::Trace;
use crate::tree::expression::Expression;
use crate::tree::logical::Relation;

/// Text of an expression of a traced query.
pub(super) fn text(expression: &Expression, trace: &Trace) -> String {
    expression_text(expression, &|column: usize| trace.column_name(column))
}

/// Text of a conjunction of conditions.
pub(super) fn conjunction(predicates: &[Expression], trace: &Trace) -> Option<String> {
    let texts: Vec<String> = predicates.iter().map(|one| text(one, trace)).collect();
    match texts.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => Some(format!("({})", several.join(" and "))),
    }
}

/// `select#` of the query block of a relation's tables.
pub(in crate::rules) fn block_of(relation: &Relation, trace: &Trace) -> usize {
    let first = first_scan(relation);
    first.map_or(1, |scan| trace.block_of(scan.first))
}

/// Names of the tables of a relation, as a list.
pub(in crate::rules) fn table_list(relation: &Relation) -> Document {
    tables_of(relation).into_iter().collect()
}

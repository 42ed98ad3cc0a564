//! Rules: each turns a logical plan into one that gives the same rows at less cost.
//!
//! They run once each, in the order of [`SHAPING`] and [`CHOOSING`]; the order is part of what they do, and the
//! comment at each says why it stands where it does. None is needed for a right answer, and
//! [`PlanOptions::optimizer`] turns all of them off, so that tests can compare.

mod access_paths;
mod combine_distinct;
mod distinct_aggregates;
mod drop_orders;
mod first_groups;
mod generated_columns;
mod index_ends;
mod index_orders;
mod inline_common_tables;
mod join_order;
mod outer_to_inner;
mod push_limits;
mod push_predicates;
mod rule;
mod scan_rows;
mod simplify_predicates;
mod subqueries_to_joins;
#[cfg(test)]
mod tests;

use crate::options::PlanOptions;
use crate::tree::logical::Query;

/// Rewrites a statement.
type Rule = fn(&mut Query, &PlanOptions);

/// Rules after which a statement can still be written as SQL, in the order in which they run.
const SHAPING: &[Rule] = &[
    // What is read once becomes part of its reader before anything else looks at the tree.
    inline_common_tables::apply,
    simplify_predicates::apply,
    // Correlated conditions are found where the user wrote them, not where they are pushed to.
    subqueries_to_joins::apply,
    outer_to_inner::apply,
    push_predicates::apply,
];

/// The rules after these: they choose how the statement runs.
const CHOOSING: &[Rule] = &[
    // Each condition stands where the columns are that it is computed of.
    generated_columns::apply,
    scan_rows::apply,
    // Knows how many rows remain of each table after its own conditions.
    join_order::apply,
    drop_orders::apply,
    combine_distinct::apply,
    distinct_aggregates::apply,
    // Last: a limit binds an operator to what stands above it.
    push_limits::apply,
    first_groups::apply,
    // Nothing moves any more: what each table is asked for is known.
    access_paths::apply,
    index_orders::apply,
    // What is read of a table must be chosen before one row of it is enough.
    index_ends::apply,
];

/// Runs the rules.
pub(crate) fn rewrite(query: &mut Query, options: &PlanOptions) {
    shape(query, options);
    if options.optimizer {
        CHOOSING.iter().for_each(|rule| rule(query, options));
    }
}

/// Runs those of them that leave a statement which can be written as SQL.
pub(crate) fn shape(query: &mut Query, options: &PlanOptions) {
    if options.optimizer {
        SHAPING.iter().for_each(|rule| rule(query, options));
    }
}

//! Rewrite rules: each turns a logical plan into an equivalent one of lower cost.
//!
//! The rules run in the order of [`SHAPING`] and [`CHOOSING`], which matters; the comment at each gives the reason for
//! its place. None is needed for correctness, and [`PlanOptions::optimizer`] turns all of them off, so that tests can
//! compare.

mod access_paths;
mod aggregate_calls;
mod buffered_result;
mod copy;
mod copy_tested_results;
mod derive_filters;
mod distinct_aggregates;
mod drop_orders;
mod eager_aggregation;
mod equality_classes;
mod factor_disjunctions;
mod filter_shared_results;
mod first_groups;
mod generated_columns;
mod index_ends;
mod index_orders;
mod inline_common_tables;
mod join_order;
mod needless_joins;
mod noted;
mod outer_to_inner;
mod planning;
mod propagate_equalities;
mod push_limits;
mod push_predicates;
mod reduce_group_keys;
mod rule;
mod scan_rows;
mod simplify_predicates;
mod single_groups;
mod subqueries_to_joins;
mod sum_reduction;
#[cfg(test)]
mod tests;
mod unique;
mod unnest_subqueries;
mod window_limits;
mod window_sorts;

pub(crate) use self::outer_to_inner::simplify_outer_joins;
pub(crate) use self::planning::Planning;
use self::planning::Rule;
use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::logical::Query;

/// Rules whose result can still be written as SQL, in the order in which they run.
const SHAPING: &[Rule] = &[
    // A result with a single reader is inlined before other rules examine the tree.
    ("inline_common_tables", inline_common_tables::apply),
    ("simplify_predicates", simplify_predicates::apply),
    ("factor_disjunctions", factor_disjunctions::apply),
    // Correlated conditions are expected where the user wrote them, not where they are pushed to.
    ("subqueries_to_joins", subqueries_to_joins::apply),
    ("outer_to_inner", outer_to_inner::apply),
    // The conditions are where the user wrote them, and the kinds of joins are final.
    ("buffered_result", buffered_result::apply),
    // Equal columns are known once it is known which joins are inner ones.
    ("propagate_equalities", propagate_equalities::apply),
    ("push_predicates", push_predicates::apply),
    // The place of each condition determines the number of rows that a subquery would run for.
    ("unnest_subqueries", unnest_subqueries::apply),
];

/// Rules after these: they choose the execution strategy.
const CHOOSING: &[Rule] = &[
    // IN and EXISTS are semijoins.
    ("copy_tested_results", copy_tested_results::apply),
    // Every reader's conditions are at their source, and implied ones are pushed further down.
    ("filter_shared_results", filter_shared_results::apply),
    // Needless joins and columns are removed before they obstruct other rules.
    ("needless_joins", needless_joins::apply),
    // Each condition is at the source of its columns.
    ("generated_columns", generated_columns::apply),
    ("derive_filters", derive_filters::apply),
    ("scan_rows", scan_rows::apply),
    // The cardinality of each table after its own conditions is known.
    ("join_order", join_order::apply),
    ("drop_orders", drop_orders::apply),
    ("window_sorts", window_sorts::apply),
    // Windows are over their shared sort.
    ("window_limits", window_limits::apply),
    // Before the groups that the statement asks for are changed.
    ("single_groups", single_groups::apply),
    // The joins between which rows may be grouped are known.
    ("eager_aggregation", eager_aggregation::apply),
    // Equal columns are known, and no group has a limit yet.
    ("reduce_group_keys", reduce_group_keys::apply),
    // No sum is split any more, and no grouping removed.
    ("sum_reduction", sum_reduction::apply),
    ("distinct_aggregates", distinct_aggregates::apply),
    // Last: a limit binds an operator to those above it.
    ("push_limits", push_limits::apply),
    ("first_groups", first_groups::apply),
    // The tree is final: the conditions on each table are known.
    ("access_paths", access_paths::apply),
    ("index_orders", index_orders::apply),
    // The access path of a table must be chosen before one row of it is enough.
    ("index_ends", index_ends::apply),
];

/// Runs the rules.
pub(crate) fn rewrite(query: &mut Query, planning: &Planning<'_>) {
    if let Some(trace) = planning.trace {
        return rewrite_noting(query, planning, trace);
    }
    if planning.options.optimizer {
        let rules = SHAPING.iter().chain(CHOOSING);
        rules.for_each(|(_, rule)| rule(query, planning));
    } else {
        buffered_result::apply(query, planning);
    }
}

/// Runs the rules whose result can be written as SQL.
pub(crate) fn shape(query: &mut Query, options: &PlanOptions) {
    if options.optimizer {
        let planning = Planning::quiet(options);
        SHAPING.iter().for_each(|(_, rule)| rule(query, &planning));
    }
}

/// Runs the rules and records which of them have changed the statement.
fn rewrite_noting(query: &mut Query, planning: &Planning<'_>, trace: &Trace) {
    noted::names(query, trace);
    if planning.options.optimizer {
        let shaping = noted::run(SHAPING, query, planning, trace);
        noted::shaped(query, trace, &shaping);
        noted::run(CHOOSING, query, planning, trace);
    } else {
        noted::shaped(query, trace, &[]);
        buffered_result::apply(query, planning);
    }
    noted::chosen(query, planning.options, trace);
}

//! Planning options of the session, read from its variables once a statement.

use std::sync::Arc;

use mayfly_types::{CollationId, SessionParameters, SqlType};

/// Settings that a plan depends on. A cached plan is valid only for equal options.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// Settings of the session.
    pub session: Arc<SessionParameters>,
    /// `default_collation_for_utf8mb4`: the collation of `_utf8mb4'…'`.
    pub utf8mb4_collation: CollationId,
    /// `sql_select_limit`: maximum number of rows that a SELECT without LIMIT returns.
    pub sql_select_limit: u64,
    /// `sql_buffer_result`: the outermost SELECT materializes its rows in a temporary table.
    pub sql_buffer_result: bool,
    /// `optimizer_max_subgraph_pairs`: maximum number of pairs of table sets compared before the join order is chosen
    /// greedily.
    pub max_subgraph_pairs: u32,
    /// Whether the statement sets user variables in expressions: its derived tables are then materialized before they
    /// are read, and in their order.
    pub sets_variables: bool,
    /// Types of the values of the `?`, in order.
    pub parameters: Vec<SqlType>,
    /// `optimizer_switch`
    pub switches: OptimizerSwitches,
    /// Whether GROUP BY without ORDER BY gives its groups in order, as before MySQL 8.0.
    pub sorts_groups: bool,
    /// Whether the statement locks the rows that it reads: it should read few others, even where a scan takes less time.
    pub locks_rows: bool,
    /// Off in tests: every rule that is not needed for correctness is skipped.
    pub optimizer: bool,
    /// On in tests: rules that compare costs make every rewrite that is possible.
    pub all_rewrites: bool,
}

/// Flags of `optimizer_switch` that this planner supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimizerSwitches {
    /// `derived_merge`: derived tables and common table expressions are merged into the outer query.
    pub derived_merge: bool,
    /// `derived_condition_pushdown`: conditions move into derived tables that are not merged.
    pub derived_condition_pushdown: bool,
    /// `semijoin`: IN and EXISTS subqueries become joins.
    pub semijoin: bool,
    /// `group_by_limit_pushdown` (Mayfly's own): GROUP BY … LIMIT n without ORDER BY makes no groups after the first n.
    pub group_by_limit_pushdown: bool,
    /// `window_limit_pushdown` (Mayfly's own): of each partition of a window no more rows are sorted than a condition
    /// on ROW_NUMBER(), RANK() or DENSE_RANK() lets through.
    pub window_limit_pushdown: bool,
    /// `index_merge`: several indexes of a table are read and their rows combined.
    pub index_merge: bool,
    /// `index_merge_union`
    pub index_merge_union: bool,
    /// `index_merge_sort_union`
    pub index_merge_sort_union: bool,
    /// `index_merge_intersection`
    pub index_merge_intersection: bool,
    /// `engine_condition_pushdown`: terms are pushed down to tables whose rows are outside of the engine's stores.
    pub engine_condition_pushdown: bool,
    /// `use_invisible_indexes`: invisible indexes are used.
    pub use_invisible_indexes: bool,
    /// `prefer_ordering_index`: an index is read only for its order when a LIMIT ends the reading soon.
    pub prefer_ordering_index: bool,
    /// `subquery_to_derived`: correlated subqueries in expressions become joins with grouped derived tables wherever
    /// possible.
    pub subquery_to_derived: bool,
    /// `subquery_unnesting` (Mayfly's own): [`Self::subquery_to_derived`] where the estimated cost is lower.
    pub subquery_unnesting: bool,
    /// `or_factoring` (Mayfly's own): conditions common to all arms of an OR are factored out, and filters of single
    /// tables are derived from it.
    pub or_factoring: bool,
    /// `equality_propagation` (Mayfly's own): constants and equalities are propagated to all equal columns.
    pub equality_propagation: bool,
    /// `outer_join_simplification` (Mayfly's own): outer joins whose NULL-extended rows a condition rejects become
    /// inner ones.
    pub outer_join_simplification: bool,
    /// `group_key_reduction` (Mayfly's own): group keys that other keys determine are removed.
    pub group_key_reduction: bool,
    /// `sum_reduction` (Mayfly's own): sums of a value with different offsets are computed from one sum and a count.
    pub sum_reduction: bool,
    /// `group_elimination` (Mayfly's own): grouping is removed where no two rows are in one group.
    pub group_elimination: bool,
    /// `join_elimination` (Mayfly's own): outer joins whose added columns are not read are removed.
    pub join_elimination: bool,
    /// `outer_join_to_antijoin` (Mayfly's own): outer joins of which only the rows without a partner are kept become
    /// antijoins.
    pub outer_join_to_antijoin: bool,
    /// `eager_aggregation` (Mayfly's own): rows are grouped before they are joined, where the estimated cost is lower.
    pub eager_aggregation: bool,
}

/// The defaults of MySQL.
impl PlanOptions {
    /// The options for a statement that locks the rows that it reads.
    pub(crate) fn locking_rows(&self) -> Self {
        Self {
            locks_rows: true,
            ..self.clone()
        }
    }
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            session: Arc::default(),
            utf8mb4_collation: CollationId::UTF8MB4_0900_AI_CI,
            sql_select_limit: u64::MAX,
            sql_buffer_result: false,
            max_subgraph_pairs: 100_000,
            sets_variables: false,
            parameters: Vec::new(),
            switches: OptimizerSwitches::default(),
            sorts_groups: false,
            locks_rows: false,
            optimizer: true,
            all_rewrites: false,
        }
    }
}

impl Default for OptimizerSwitches {
    fn default() -> Self {
        Self {
            derived_merge: true,
            derived_condition_pushdown: true,
            semijoin: true,
            group_by_limit_pushdown: true,
            window_limit_pushdown: true,
            index_merge: true,
            index_merge_union: true,
            index_merge_sort_union: true,
            index_merge_intersection: true,
            engine_condition_pushdown: true,
            use_invisible_indexes: false,
            prefer_ordering_index: true,
            subquery_to_derived: false,
            subquery_unnesting: true,
            or_factoring: true,
            equality_propagation: true,
            outer_join_simplification: true,
            group_key_reduction: true,
            sum_reduction: true,
            group_elimination: true,
            join_elimination: true,
            outer_join_to_antijoin: true,
            eager_aggregation: true,
        }
    }
}

//! Costs of a correlated subquery that is run for the outer rows, and as a join.

use crate::access::{lookup, path};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Relation, Scan, produced, with_stack};

use super::taken::Correlation;

/// Cost of starting a plan, whatever it does: about 8 µs.
const RUN_COST: f64 = 30.0;
/// Cost of grouping a row.
const GROUP_COST: f64 = 0.3;
/// Cost below which running a subquery for each row is negligible: a millisecond.
const NEGLIGIBLE: f64 = 4000.0;
/// Minimum cost advantage of running a subquery by index: its cost depends on the estimated number of outer rows, which
/// may be wrong, while that of a join does not.
const RISK: f64 = 3.0;

/// Inputs of the comparison.
pub(super) struct Choice<'a> {
    /// Number of runs of the subquery.
    pub(super) runs: f64,
    /// Number of rows that are joined.
    pub(super) outer_rows: f64,
    /// Rows of the subquery without the correlated parts.
    pub(super) inner: &'a Relation,
    pub(super) equalities: &'a [Correlation],
    /// Columns that the statement reads.
    pub(super) needed: &'a ColumnSet,
    pub(super) estimates: &'a Estimates,
    pub(super) options: &'a PlanOptions,
}

impl Choice<'_> {
    /// (whether the join is estimated to be better, cost of running the subquery, cost of the join).
    pub(super) fn prefers_join(&self) -> (bool, f64, f64) {
        let subquery = self.runs * (RUN_COST + self.run_cost());
        let join = self.join_cost();
        (
            subquery > NEGLIGIBLE && subquery * RISK > join,
            subquery,
            join,
        )
    }

    fn join_cost(&self) -> f64 {
        let rows = self.estimates.relation(self.inner);
        self.read_cost(self.inner)
            + rows * GROUP_COST
            + lookup::hash_cost(rows.min(self.outer_rows), self.outer_rows, self.outer_rows)
    }

    /// Cost of one run: tables that an index leads to by the outer row's values are looked up, and so are those joined
    /// with them.
    fn run_cost(&self) -> f64 {
        let mut cost = 0.0;
        let mut found: f64 = 1.0;
        let mut open = Vec::new();
        for_each_scan(self.inner, &mut |scan| match lookup::best(
            scan,
            &self.conditions_on(scan),
            self.needed,
            self.options,
        ) {
            Some(path) => {
                cost += lookup::cost(1.0, &path);
                found = found.max(path.rows_per_row);
            }
            None => open.push(scan),
        });
        let begins_small = open.len() < count_scans(self.inner);
        for scan in open {
            let all = path::best(scan, self.needed, self.options).0.cost;
            let on = join_conditions(self.inner);
            let followed = lookup::best(scan, &on, self.needed, self.options)
                .filter(|_| begins_small)
                .map(|path| lookup::cost(found, &path));
            cost += followed.map_or(all, |followed| followed.min(all));
        }
        cost
    }

    fn conditions_on(&self, scan: &Scan) -> Vec<Expression> {
        let own: ColumnSet = (scan.first..=scan.position()).collect();
        self.equalities
            .iter()
            .filter(|one| one.inner.columns().is_subset(&own))
            .map(Correlation::condition)
            .collect()
    }

    fn read_cost(&self, relation: &Relation) -> f64 {
        with_stack(|| match relation {
            Relation::Scan(scan) => path::best(scan, self.needed, self.options).0.cost,
            _ => {
                let inputs = relation.inputs().into_iter();
                inputs.map(|input| self.read_cost(input)).sum()
            }
        })
    }
}

fn for_each_scan<'r>(relation: &'r Relation, visit: &mut dyn FnMut(&'r Scan)) {
    with_stack(|| match relation {
        Relation::Scan(scan) => visit(scan),
        _ => {
            let inputs = relation.inputs().into_iter();
            inputs.for_each(|input| for_each_scan(input, visit));
        }
    });
}

fn count_scans(relation: &Relation) -> usize {
    let mut count = 0;
    for_each_scan(relation, &mut |_| count += 1);
    count
}

/// Conditions of the joins of a relation.
fn join_conditions(relation: &Relation) -> Vec<Expression> {
    let mut conditions = Vec::new();
    collect_conditions(relation, &mut conditions);
    conditions
}

fn collect_conditions(relation: &Relation, into: &mut Vec<Expression>) {
    with_stack(|| {
        if let Relation::Join(join) = relation {
            into.extend(join.on.iter().cloned());
        }
        let inputs = relation.inputs().into_iter();
        inputs.for_each(|input| collect_conditions(input, into));
    });
}

/// Maximum number of distinct combinations of some columns in a relation.
pub(super) fn combinations(relation: &Relation, columns: &ColumnSet, estimates: &Estimates) -> f64 {
    let rows = estimates.relation(relation);
    let below = relation.inputs().into_iter();
    let below = below.filter(|input| columns.is_subset(&produced(input)));
    let below = below.map(|input| with_stack(|| combinations(input, columns, estimates)));
    below.fold(rows, f64::min)
}

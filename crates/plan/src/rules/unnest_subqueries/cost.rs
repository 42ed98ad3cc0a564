//! What a correlated subquery costs when it is run for the outer rows, and what as a join.

use crate::access::{lookup, path};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Relation, Scan, produced, with_stack};

use super::taken::Correlation;

/// Beginning a plan anew, whatever it does: some 8 µs.
const RUN_COST: f64 = 30.0;
/// A row that is grouped.
const GROUP_COST: f64 = 0.3;
/// Below this, running a subquery for each row is no loss that anybody sees: a millisecond.
const NEGLIGIBLE: f64 = 4000.0;
/// A subquery that follows an index costs what is thought only if the outer rows are as few as is thought; a join
/// costs what it costs. So the subquery must be this much cheaper.
const RISK: f64 = 3.0;

/// What is compared.
pub(super) struct Choice<'a> {
    /// How often the subquery would run.
    pub(super) runs: f64,
    /// How many rows are joined.
    pub(super) outer_rows: f64,
    /// Its rows without what is correlated.
    pub(super) inner: &'a Relation,
    pub(super) equalities: &'a [Correlation],
    /// The columns that the statement reads.
    pub(super) needed: &'a ColumnSet,
    pub(super) estimates: &'a Estimates,
    pub(super) options: &'a PlanOptions,
}

impl Choice<'_> {
    /// Whether the join is thought to be better, and what both cost.
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
            + lookup::hash_cost(rows.min(self.outer_rows), self.outer_rows)
    }

    /// One run: the tables that an index leads to by the outer row's values are looked up, and what joins them
    /// likewise.
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

/// The conditions of the joins of a relation.
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

/// How many different values of some columns there are at most in a relation.
pub(super) fn combinations(relation: &Relation, columns: &ColumnSet, estimates: &Estimates) -> f64 {
    let rows = estimates.relation(relation);
    let below = relation.inputs().into_iter();
    let below = below.filter(|input| columns.is_subset(&produced(input)));
    let below = below.map(|input| with_stack(|| combinations(input, columns, estimates)));
    below.fold(rows, f64::min)
}

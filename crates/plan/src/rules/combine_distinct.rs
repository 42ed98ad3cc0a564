//! DISTINCT over rows that cannot be equal is left out: they hold a unique key, or the keys of a
//! GROUP BY.

use super::Rule;
use crate::logical::{ColumnSet, Query, Relation};
use crate::options::PlanOptions;
use crate::physical::Purpose;

pub(super) struct CombineDistinct;

impl Rule for CombineDistinct {
    fn name(&self) -> &'static str {
        "combine_distinct"
    }

    fn apply(&self, query: &mut Query, _options: &PlanOptions) {
        query.for_each_relation_mut(&mut |relation| {
            if let Relation::Aggregate(aggregate) = relation
                && aggregate.purpose == Purpose::Distinct
                && is_unique(
                    &aggregate.input,
                    &aggregate.keys.iter().map(|key| key.id).collect(),
                )
            {
                *relation = aggregate.input.take();
            }
        });
    }
}

/// Whether no two rows of a relation agree in all of `columns`.
fn is_unique(relation: &Relation, columns: &ColumnSet) -> bool {
    match relation {
        Relation::Scan(scan) => scan
            .table
            .unique_keys
            .iter()
            .any(|key| key.iter().all(|index| columns.contains(scan.first + index))),
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Block { input, .. } => is_unique(input, columns),
        Relation::Aggregate(aggregate) => {
            aggregate.rollup.is_none() && aggregate.keys.iter().all(|key| columns.contains(key.id))
        }
        Relation::Join(join) if join.kind.is_left_only() => is_unique(&join.left, columns),
        _ => false,
    }
}

//! GROUP BY … LIMIT n without ORDER BY needs any n groups: only the first n seen are made. MySQL returns these too,
//! since its temporary table is read in the order of insertion, so the answer does not depend on memory. DISTINCT is
//! treated likewise.

use super::planning::Planning;
use crate::tree::logical::{Query, Relation};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let options = planning.options;
    if !options.switches.group_by_limit_pushdown {
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Limit {
            input,
            offset,
            count,
        } = relation
            && let Some(wanted) = offset.checked_add(*count)
            && wanted > 0
        {
            ask_for(input, wanted);
        }
    });
}

fn ask_for(relation: &mut Relation, wanted: u64) {
    match relation {
        Relation::Extend { input, .. } => ask_for(input, wanted),
        Relation::Aggregate(aggregate)
            if !aggregate.keys.is_empty() && aggregate.rollup.is_none() =>
        {
            aggregate.first_groups = Some(wanted);
        }
        _ => {}
    }
}

//! Estimates the rows of each table after its conditions, as far as indexes know: computed once, for the rules that
//! compare join orders and access paths.

use super::planning::Planning;
use crate::access::path;
use crate::tree::logical::{Query, Relation};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let options = planning.options;
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Scan(scan) = relation
            && !scan.predicates.is_empty()
        {
            scan.rows = Some(path::estimated_rows(scan, options));
        }
    });
}

//! LIMIT goes to where it saves work: into a sort, which then keeps only those rows; below computed
//! columns, which are then computed for those rows only; into the arms of UNION ALL.

use super::rule::Rule;
use crate::options::PlanOptions;
use crate::tree::logical::{Query, Relation};
use crate::tree::physical::SetOperationKind;

pub(super) struct PushLimits;

impl Rule for PushLimits {
    fn name(&self) -> &'static str {
        "push_limits"
    }

    fn apply(&self, query: &mut Query, _options: &PlanOptions) {
        query.for_each_relation_mut(&mut |relation| {
            if let Relation::Limit {
                input,
                offset,
                count,
            } = relation
            {
                *relation = limited(input.take(), *offset, *count);
            }
        });
    }
}

/// The rows of a relation from `offset` on, at most `count`.
fn limited(relation: Relation, offset: u64, count: u64) -> Relation {
    match relation {
        Relation::Extend { input, columns } => Relation::Extend {
            input: Box::new(limited(*input, offset, count)),
            columns,
        },
        Relation::Block {
            input,
            select_id,
            derived: Some(derived),
        } if derived.materialize.is_none() => Relation::Block {
            input: Box::new(limited(*input, offset, count)),
            select_id,
            derived: Some(derived),
        },
        Relation::Sort {
            input,
            keys,
            limit,
            cause,
        } => Relation::Sort {
            input,
            keys,
            limit: Some(within(limit.unwrap_or((0, u64::MAX)), offset, count)),
            cause,
        },
        Relation::Limit {
            input,
            offset: own_offset,
            count: own_count,
        } => {
            let (offset, count) = within((own_offset, own_count), offset, count);
            limited(*input, offset, count)
        }
        Relation::SetOperation {
            kind: SetOperationKind::Union,
            all: true,
            inputs,
            columns,
            types,
        } => {
            let wanted = offset.saturating_add(count);
            let inputs = inputs
                .into_iter()
                .map(|(input, ids)| (limited_arm(input, wanted), ids))
                .collect();
            Relation::Limit {
                input: Box::new(Relation::SetOperation {
                    kind: SetOperationKind::Union,
                    all: true,
                    inputs,
                    columns,
                    types,
                }),
                offset,
                count,
            }
        }
        other => Relation::Limit {
            input: Box::new(other),
            offset,
            count,
        },
    }
}

/// An arm of a UNION ALL of which so many rows are enough.
fn limited_arm(arm: Relation, wanted: u64) -> Relation {
    match arm {
        Relation::Extend { input, columns } => Relation::Extend {
            input: Box::new(limited_arm(*input, wanted)),
            columns,
        },
        Relation::Block {
            input,
            select_id,
            derived: None,
        } => Relation::Block {
            input: Box::new(limited(*input, 0, wanted)),
            select_id,
            derived: None,
        },
        other => limited(other, 0, wanted),
    }
}

/// A limit inside of another.
fn within((offset, count): (u64, u64), skipped: u64, wanted: u64) -> (u64, u64) {
    (
        offset.saturating_add(skipped),
        count.saturating_sub(skipped).min(wanted),
    )
}

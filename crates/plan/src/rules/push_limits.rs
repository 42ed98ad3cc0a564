//! Pushdown of LIMIT: into a sort, which then keeps only those rows; below computed columns, which are then computed
//! for those rows only; into the arms of UNION ALL.

use super::planning::Planning;
use crate::tree::logical::{Query, Relation};
use crate::tree::physical::SetOperationKind;

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Limit {
            input,
            offset,
            count,
        } = relation
        {
            let (offset, count) = (*offset, *count);
            *relation = input.take();
            limit(relation, offset, count);
        }
    });
}

/// Limits a relation to at most `count` rows from `offset` on.
fn limit(relation: &mut Relation, offset: u64, count: u64) {
    match relation {
        Relation::Extend { input, .. } => return limit(input, offset, count),
        Relation::Block {
            input,
            derived: Some(derived),
            ..
        } if derived.materialize.is_none() => return limit(input, offset, count),
        Relation::Sort { limit, .. } => {
            *limit = Some(within(limit.unwrap_or((0, u64::MAX)), offset, count));
            return;
        }
        Relation::Limit {
            input,
            offset: own_offset,
            count: own_count,
        } => {
            let (offset, count) = within((*own_offset, *own_count), offset, count);
            *relation = input.take();
            return limit(relation, offset, count);
        }
        Relation::SetOperation {
            kind: SetOperationKind::Union,
            all: true,
            inputs,
            ..
        } => {
            let wanted = offset.saturating_add(count);
            for (input, _) in inputs {
                limit_arm(input, wanted);
            }
        }
        _ => {}
    }
    *relation = relation.take().limited(offset, count);
}

/// Limits an arm of a UNION ALL to `wanted` rows.
fn limit_arm(arm: &mut Relation, wanted: u64) {
    match arm {
        Relation::Extend { input, .. } => limit_arm(input, wanted),
        Relation::Block {
            input,
            derived: None,
            ..
        } => limit(input, 0, wanted),
        other => limit(other, 0, wanted),
    }
}

/// Combination of a limit with an inner one.
fn within((offset, count): (u64, u64), skipped: u64, wanted: u64) -> (u64, u64) {
    (
        offset.saturating_add(skipped),
        count.saturating_sub(skipped).min(wanted),
    )
}

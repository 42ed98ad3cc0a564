//! Limits of windows: a condition such as `ROW_NUMBER() OVER (PARTITION BY p ORDER BY k) <= 3` above a window needs
//! only the first rows of each partition: the others need not be sorted.
//!
//! A row that is left out is behind at least as many rows of its partition as are wanted, so that no wanted row has
//! another number or rank without it. The condition stays: kept rows beyond the first may have any number behind those.
//! All windows over the sort must have its partitions and its order, and no function may read rows behind the row and
//! its peers.

use mayfly_types::Value;

use super::planning::Planning;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Query, Relation, Window};
use crate::tree::physical::FirstRows;
use crate::window::{FrameBound, WindowCall, WindowFunction};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.window_limit_pushdown {
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Filter { input, predicates } = relation
            && let Relation::Window(window) = &mut **input
        {
            limit(window, predicates);
        }
    });
}

/// Limits the sort below windows to the rows that the conditions above can let through.
fn limit(window: &mut Window, predicates: &[Expression]) {
    let Some(first) = wanted(window, predicates) else {
        return;
    };
    let mut lowest = window;
    while matches!(&*lowest.input, Relation::Window(_)) {
        let Relation::Window(below) = &mut *lowest.input else {
            return;
        };
        lowest = below;
    }
    if let Relation::Sort {
        for_windows: Some(order),
        ..
    } = &mut *lowest.input
    {
        order.first = Some(first);
    }
}

/// First rows that conditions need, if all windows over the sort have its partitions and its order.
fn wanted(window: &Window, predicates: &[Expression]) -> Option<FirstRows> {
    let mut windows = vec![window];
    let mut lowest = window;
    while let Relation::Window(below) = &*lowest.input {
        windows.push(below);
        lowest = below;
    }
    let Relation::Sort {
        keys,
        for_windows: Some(order),
        limit: None,
        ..
    } = &*lowest.input
    else {
        return None;
    };
    let is_of_sort = |window: &&Window| {
        let has_keys = window.partition.len() == order.partition_keys
            && window.partition.len() + window.order.len() == keys.len();
        has_keys && window.calls.iter().all(|(_, call)| is_settled(call))
    };
    if keys.len() == order.partition_keys || !windows.iter().all(is_of_sort) {
        return None;
    }
    let calls = windows.iter().flat_map(|window| &window.calls);
    let found = calls.filter_map(|(id, call)| {
        let counts_values = match call.function {
            WindowFunction::RowNumber | WindowFunction::Rank => false,
            WindowFunction::DenseRank => true,
            _ => return None,
        };
        let bounds = predicates
            .iter()
            .filter_map(|predicate| bound(predicate, *id));
        Some(FirstRows {
            count: bounds.min()?,
            counts_values,
        })
    });
    found.min_by_key(|first| (first.count, first.counts_values))
}

/// Whether the value of a call depends only on the rows up to the row and its peers.
fn is_settled(call: &WindowCall) -> bool {
    match &call.function {
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::Lag(_) => true,
        WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue(_)
        | WindowFunction::Aggregate(_) => match call.frame.end {
            FrameBound::CurrentRow => true,
            FrameBound::Rows(behind) => behind <= 0,
            FrameBound::Unbounded | FrameBound::Value(_) => false,
        },
        WindowFunction::PercentRank
        | WindowFunction::CumeDist
        | WindowFunction::Ntile(_)
        | WindowFunction::Lead(_) => false,
    }
}

/// Maximum value of a column for which a condition may be true.
fn bound(predicate: &Expression, column: ColumnId) -> Option<u64> {
    match &predicate.kind {
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => {
            let (comparison, value) = if left.as_column() == Some(column) {
                (*comparison, right)
            } else if right.as_column() == Some(column) {
                (comparison.mirrored(), left)
            } else {
                return None;
            };
            let value = whole_number(value.as_literal()?)?;
            match comparison {
                Comparison::Equal | Comparison::NullSafeEqual | Comparison::LessOrEqual => {
                    Some(value)
                }
                Comparison::Less => Some(value.saturating_sub(1)),
                _ => None,
            }
        }
        ExpressionKind::InList {
            operand,
            list,
            negated: false,
        } if operand.as_column() == Some(column) => list
            .iter()
            .map(whole_number)
            .try_fold(0, |most, value| Some(most.max(value?))),
        ExpressionKind::And(operands) => operands
            .iter()
            .filter_map(|operand| bound(operand, column))
            .min(),
        ExpressionKind::Or(operands) => operands
            .iter()
            .map(|operand| bound(operand, column))
            .try_fold(0, |most, bound| Some(most.max(bound?))),
        _ => None,
    }
}

/// Value of an integer; 0 for a negative one.
fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::UInt(number) => Some(*number),
        Value::Int(number) => Some(u64::try_from(*number).unwrap_or(0)),
        _ => None,
    }
}

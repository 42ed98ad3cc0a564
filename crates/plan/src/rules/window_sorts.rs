//! Sharing of sorts: windows that can read their rows in one order share a sort.
//!
//! The windows of a query block are stacked, each over a sort of its own; none reads what another computes, so that
//! they may be in any order. The one with the most keys sorts first; a window follows without a sort if its partition
//! keys are the first keys of that order, in any sequence, and its sort keys are the next ones. Rows of different
//! partitions may be sorted and read in parallel, where all windows over the sort have these partitions.
//!
//! An ORDER BY above the windows that is satisfied by their order is removed.

use super::planning::Planning;
use super::rule::substitute;
use crate::tree::expression::{Expression, same_expression, same_order};
use crate::tree::logical::{Query, Relation, Window};
use crate::tree::physical::SortKey;

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    if !query.holds(|relation| matches!(relation, Relation::Window(_))) {
        return;
    }
    query.for_each_block_mut(&mut share);
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Sort {
            input,
            keys,
            limit: None,
            for_windows: None,
            ..
        } = relation
            && keep_order(input, keys)
        {
            *relation = input.take();
        }
    });
}

/// Makes a relation give its rows in an order, if its windows sort them by that.
fn keep_order(relation: &mut Relation, keys: &[SortKey]) -> bool {
    match relation {
        Relation::Filter { input, .. } => keep_order(input, keys),
        Relation::Extend { input, columns } | Relation::Project { input, columns } => {
            let mut keys = keys.to_vec();
            for key in &mut keys {
                substitute(&mut key.expression, columns);
            }
            keep_order(input, &keys)
        }
        Relation::Window(_) => {
            let mut lowest = relation;
            while let Relation::Window(window) = lowest {
                lowest = &mut *window.input;
            }
            let Relation::Sort {
                keys: sorted,
                limit: None,
                for_windows: Some(order),
                ..
            } = lowest
            else {
                return false;
            };
            let is_in_order = sorted
                .get(..keys.len())
                .is_some_and(|sorted| same_order(sorted, keys));
            order.orders_partitions |= is_in_order;
            is_in_order
        }
        _ => false,
    }
}

/// Arranges a chain of windows, then continues below it.
fn share(relation: &mut Relation) {
    crate::tree::logical::with_stack(|| {
        let mut windows = Vec::new();
        if matches!(relation, Relation::Window(_)) {
            let mut base = take_chain(relation.take(), &mut windows);
            // The first window of the statement is the lowest.
            windows.reverse();
            share(&mut base);
            *relation = arranged(base, windows);
            return;
        }
        relation.for_each_input_mut(&mut |input| share(input));
    });
}

/// Takes windows and their sorts off a relation, the uppermost first; returns the input.
fn take_chain(mut relation: Relation, windows: &mut Vec<Window>) -> Relation {
    while let Relation::Window(mut window) = relation {
        let keys = keys_of(&window);
        let input = std::mem::replace(&mut window.input, Box::new(Relation::one_row()));
        relation = match *input {
            Relation::Sort {
                input,
                keys: sorted,
                limit: None,
                ..
            } if same_order(&sorted, &keys) => *input,
            other => other,
        };
        windows.push(window);
    }
    relation
}

/// The windows over a relation, with as few sorts as possible.
fn arranged(mut relation: Relation, mut windows: Vec<Window>) -> Relation {
    let length = |window: &Window| window.partition.len() + window.order.len();
    while !windows.is_empty() {
        let mut longest = 0;
        for (at, window) in windows.iter().enumerate() {
            if length(window) > length(&windows[longest]) {
                longest = at;
            }
        }
        let first = windows.remove(longest);
        let order = keys_of(&first);
        relation = Window::over(relation, first.partition, first.order, first.calls);
        let followers: Vec<Window> = windows
            .extract_if(.., |window| is_in_order(window, &order))
            .collect();
        if let Relation::Window(lowest) = &mut relation
            && let Relation::Sort {
                for_windows: Some(order),
                ..
            } = &mut *lowest.input
        {
            for window in &followers {
                order.partition_keys = order.partition_keys.min(window.partition.len());
            }
        }
        for window in followers {
            let input = Box::new(relation);
            relation = Relation::Window(Window { input, ..window });
        }
    }
    relation
}

/// Sort keys of a window.
fn keys_of(window: &Window) -> Vec<SortKey> {
    window.keys().sort_keys()
}

/// Whether rows in this order are in that of a window.
fn is_in_order(window: &Window, order: &[SortKey]) -> bool {
    let partition: &[Expression] = &window.partition;
    let Some((first, rest)) = order.split_at_checked(partition.len()) else {
        return false;
    };
    let is_partition = |key: &SortKey| {
        let mut partition = partition.iter();
        partition.any(|known| same_expression(known, &key.expression))
    };
    let is_key = |known: &Expression| {
        let mut first = first.iter();
        first.any(|key| same_expression(known, &key.expression))
    };
    first.iter().all(is_partition)
        && partition.iter().all(is_key)
        && rest
            .get(..window.order.len())
            .is_some_and(|rest| same_order(rest, &window.order))
}

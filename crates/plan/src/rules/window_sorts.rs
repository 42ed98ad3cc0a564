//! Windows that can read their rows in one order share a sort.
//!
//! The windows of a query block stand over each other, each over a sort of its own; none reads what another computes,
//! so that they may stand in any order. The one with the most keys sorts first; a window follows without a sort whose
//! partitions are the first keys of that order, in any sequence, and whose own order are the next ones.

use super::planning::Planning;
use crate::tree::expression::{Expression, same_expression, same_order};
use crate::tree::logical::{Query, Relation, Window};
use crate::tree::physical::SortKey;

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    query.for_each_block_mut(&mut share);
}

/// Arranges the windows of a chain of them; goes on below it.
fn share(relation: &mut Relation) {
    crate::tree::logical::with_stack(|| {
        let mut windows = Vec::new();
        if matches!(relation, Relation::Window(_)) {
            let mut base = take_chain(relation.take(), &mut windows);
            // The first of the statement is the lowest.
            windows.reverse();
            share(&mut base);
            *relation = arranged(base, windows);
            return;
        }
        relation.for_each_input_mut(&mut |input| share(input));
    });
}

/// Takes windows and their sorts off a relation, the uppermost first; gives what is below.
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

/// The windows over a relation, with as few sorts as may be.
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
        for window in windows.extract_if(.., |window| is_in_order(window, &order)) {
            let input = Box::new(relation);
            relation = Relation::Window(Window { input, ..window });
        }
    }
    relation
}

/// What a window sorts its rows by.
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

//! Copies a common table expression into each of its readers where all of them only test for rows: IN and EXISTS.
//!
//! A result with several readers is mostly worth making once. Not so if it is a join that has more rows than its tables,
//! such as all pairs of lines of an order: reading it again takes longer than the join, and a semijoin that knows its
//! keys hands them down to the tables of a copy, as a filter, so that few rows are joined at all.

use super::copy::copy;
use super::inline_common_tables::rename;
use super::planning::Planning;
use super::rule::NewColumns;
use crate::estimate::Estimates;
use crate::tree::logical::{
    ColumnId, Query, Relation, SharedRelation, relation_is_volatile, with_stack,
};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let options = planning.options;
    if !options.switches.derived_merge || options.sets_variables {
        return;
    }
    for index in 0..query.shared.len() {
        let shared = &query.shared[index];
        let Some(SharedRelation::Plain(source)) = &shared.source else {
            continue;
        };
        let Relation::Block { input, .. } = source else {
            continue;
        };
        let is_candidate = shared.readers > 1
            && shared.kept_by.is_none()
            && shared.kept.is_none()
            && shared.mergeable
            && !relation_is_volatile(input);
        let Some(rows) = is_candidate.then(|| joined_rows(input)).flatten() else {
            continue;
        };
        let scans = query.scans_of_shared(index);
        if tested(query, index) == scans && Estimates::of(query).shared(index) > rows {
            copy_into_readers(query, index);
        }
    }
}

/// Number of rows of the tables of a relation that joins, filters and computes columns of stored tables; `None` for any
/// other.
fn joined_rows(relation: &Relation) -> Option<f64> {
    with_stack(|| match relation {
        Relation::Scan(scan) => Some(scan.table.row_count as f64),
        Relation::Filter { input, .. }
        | Relation::Project { input, .. }
        | Relation::Extend { input, .. } => joined_rows(input),
        Relation::Join(join) if join.kind == JoinKind::Inner && !join.lateral => {
            Some(joined_rows(&join.left)? + joined_rows(&join.right)?)
        }
        _ => None,
    })
}

/// Number of scans of a shared result whose rows are only tested for existence.
fn tested(query: &Query, index: usize) -> usize {
    let shared = query
        .shared
        .iter()
        .filter_map(|shared| match &shared.source {
            Some(SharedRelation::Plain(source)) => Some(source),
            _ => None,
        });
    let roots = std::iter::once(&query.relation).chain(shared);
    roots.map(|root| tested_in(root, index, false)).sum()
}

/// Number of scans of a shared result below a relation where `is_test` says whether duplicate rows make no difference.
fn tested_in(relation: &Relation, index: usize, is_test: bool) -> usize {
    with_stack(|| match relation {
        Relation::SharedScan {
            shared,
            outer,
            working: false,
            ..
        } => usize::from(is_test && *shared == index && outer.is_empty()),
        Relation::Join(join) => {
            let is_right_test = is_test
                || matches!(
                    join.kind,
                    JoinKind::Semi | JoinKind::Anti | JoinKind::NullAwareAnti
                );
            tested_in(&join.left, index, is_test) + tested_in(&join.right, index, is_right_test)
        }
        Relation::Filter { input, .. }
        | Relation::Project { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Block { input, .. } => tested_in(input, index, is_test),
        _ => {
            let inputs = relation.inputs().into_iter();
            inputs.map(|input| tested_in(input, index, false)).sum()
        }
    })
}

fn copy_into_readers(query: &mut Query, index: usize) {
    let shared = &mut query.shared[index];
    let Some(SharedRelation::Plain(Relation::Block { input: source, .. })) = shared.source.take()
    else {
        return;
    };
    shared.readers = 0;
    let own = shared.columns.clone();
    let columns = NewColumns::of(query);
    let mut renames: Vec<Option<ColumnId>> = vec![None; query.next_column];
    query.for_each_relation_mut(&mut |relation| {
        let Relation::SharedScan {
            shared,
            columns: read,
            ..
        } = relation
        else {
            return;
        };
        if *shared != index {
            return;
        }
        let (copied, numbers) = copy(&source, &columns);
        for (new, old) in read.iter().zip(&own) {
            if let Some(slot) = renames.get_mut(*new) {
                *slot = Some(numbers.of(*old));
            }
        }
        *relation = copied;
    });
    query.next_column = columns.next();
    rename(query, &renames);
}

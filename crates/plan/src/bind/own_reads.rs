//! Check for subqueries that read a table which the statement changes: MySQL refuses them with error 1093, or with 1443
//! where the table is read or changed through a view.
//!
//! The tables of the statement are recorded as they are bound, those of merged views under the view that the statement
//! names. Reads of a common table expression or a view that is not merged happen before the first change, and are
//! forgotten. MySQL does not merge a derived table in a subquery of UPDATE or DELETE unless a hint says so, merges those
//! of UPDATE's tables, and has every read of ORDER BY of UPDATE and ON DUPLICATE KEY UPDATE count
//! ([`CountedDerived`]).

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::binder::{CountedDerived, NamedTable, TableRead};
use crate::bind::binder::Binder;
use crate::catalog::{TableId, ViewSource};

/// Number of reads recorded before a part of the statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadsMark(usize);

/// State to restore after a view or a derived table.
pub(super) struct OuterReads {
    mark: ReadsMark,
    view: Option<NamedTable>,
    plain_depth: usize,
}

impl Binder<'_> {
    /// Records a table of FROM.
    pub(super) fn note_read(&mut self, table: TableId, alias: &str) {
        let in_subquery = self.scopes.len() > self.own_reads.plain_depth;
        let named = self.own_reads.view.clone().unwrap_or_else(|| NamedTable {
            alias: alias.to_owned(),
            view: None,
        });
        self.own_reads.reads.push(TableRead {
            table,
            named,
            in_subquery,
        });
    }

    /// Mark before a part of the statement.
    pub(super) fn reads_mark(&self) -> ReadsMark {
        ReadsMark(self.own_reads.reads.len())
    }

    /// Forgets the reads since a mark, which happen before the first change.
    pub(super) fn forget_reads(&mut self, since: ReadsMark) {
        self.own_reads.reads.truncate(since.0);
    }

    /// Begins a view's query.
    pub(super) fn begin_view_reads(&mut self, view: &ViewSource, alias: &str) -> OuterReads {
        let outer = OuterReads {
            mark: self.reads_mark(),
            view: self.own_reads.view.clone(),
            plain_depth: self.own_reads.plain_depth,
        };
        if self.scopes.len() == outer.plain_depth {
            self.own_reads.plain_depth += 1;
        }
        self.own_reads.view.get_or_insert_with(|| NamedTable {
            alias: alias.to_owned(),
            view: Some((view.database.clone(), view.name.clone())),
        });
        outer
    }

    /// Begins a derived table's query.
    pub(super) fn begin_derived_reads(&mut self) -> OuterReads {
        let outer = OuterReads {
            mark: self.reads_mark(),
            view: self.own_reads.view.clone(),
            plain_depth: self.own_reads.plain_depth,
        };
        let of_from = self.own_reads.derived == CountedDerived::Merged;
        if of_from && self.scopes.len() == outer.plain_depth {
            self.own_reads.plain_depth += 1;
        }
        outer
    }

    /// Ends a derived table's query, given whether it can be merged, and whether a hint says so.
    pub(super) fn end_derived_reads(
        &mut self,
        outer: &OuterReads,
        mergeable: bool,
        hint: Option<bool>,
    ) {
        self.own_reads.plain_depth = outer.plain_depth;
        let counts = match self.own_reads.derived {
            CountedDerived::All => true,
            CountedDerived::Merged if self.scopes.len() == outer.plain_depth => {
                mergeable && hint.unwrap_or(self.options.switches.derived_merge)
            }
            CountedDerived::Merged | CountedDerived::ByHint => mergeable && hint == Some(true),
        };
        if !counts {
            self.forget_reads(outer.mark);
        }
    }

    /// Forgets what views read.
    pub(super) fn forget_reads_of_views(&mut self) {
        let reads = &mut self.own_reads.reads;
        reads.retain(|read| read.named.view.is_none());
    }

    /// Ends a view's query; returns the tables that its subqueries read, if it is merged.
    pub(super) fn end_view_reads(&mut self, outer: OuterReads, merged: bool) -> Vec<TableId> {
        self.own_reads.view = outer.view;
        self.own_reads.plain_depth = outer.plain_depth;
        if !merged {
            self.forget_reads(outer.mark);
        }
        let own = self.own_reads.reads.get(outer.mark.0..);
        let nested = own
            .into_iter()
            .flatten()
            .filter(|read| read.in_subquery)
            .map(|read| read.table);
        nested.collect()
    }

    /// Records a changed table.
    pub(super) fn note_change(&mut self, table: TableId, named: NamedTable) {
        self.own_reads.changed.push((table, named));
    }

    /// Name that the statement has for a table of FROM.
    pub(super) fn named_table(&mut self, at: usize) -> NamedTable {
        let view = self.view_at(at);
        let view = view.map(|view| (view.database.clone(), view.name.clone()));
        let alias = self.scope().tables.get(at).map(|table| table.alias.clone());
        NamedTable {
            alias: alias.unwrap_or_default(),
            view,
        }
    }

    /// Forgets reads of the changed tables under other names by expressions over a row: the values exist before the row
    /// does.
    pub(super) fn forget_renamed_reads(&mut self) {
        let own = &mut self.own_reads;
        own.reads.retain(|read| {
            let mut changed = own.changed.iter();
            read.named.view.is_some()
                || changed.any(|(table, named)| {
                    *table == read.table
                        && (named.view.is_some() || named.alias == read.named.alias)
                })
        });
    }

    /// Refuses a completely bound statement whose subqueries read a table that it changes.
    pub(super) fn refuse_own_reads(&self, statement: &str) -> Result<()> {
        let own = &self.own_reads;
        for read in own.reads.iter().filter(|read| read.in_subquery) {
            let changed = own.changed.iter().find(|(table, _)| *table == read.table);
            if let Some((_, changed)) = changed {
                return Err(refusal(changed, &read.named, statement));
            }
        }
        Ok(())
    }
}

fn refusal(changed: &NamedTable, read: &NamedTable, statement: &str) -> Error {
    let through_view = match (&changed.view, &read.view) {
        (Some(changed), Some(read)) if changed == read => None,
        (_, Some(_)) => Some(&read.alias),
        (Some(_), None) => Some(&changed.alias),
        (None, None) => None,
    };
    match through_view {
        Some(view) => codes::ER_VIEW_PREVENT_UPDATE.with(&[view, &statement, &changed.alias]),
        None => codes::ER_UPDATE_TABLE_USED.with(&[&changed.alias]),
    }
}

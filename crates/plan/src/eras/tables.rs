//! The tables of FROM: base tables, views, derived tables and common table expressions, merged or not.

use std::sync::Arc;

use mayfly_syntax::ast::{
    JoinConstraint, JoinOperator, ObjectName, Query, SetExpr, SetQuantifier, TableFactor,
    TableWithJoins,
};

use super::columns::{Named, Names, Place, Table, Width};
use super::facts::{Fact, Site};
use super::from::{From, Rows, Use, table_of};
use super::text::{block_of, has_subquery, is_plain};
use super::walk::{CommonTable, Walk};
use crate::catalog::{TableSource, ViewSource};

impl<'q> Walk<'q> {
    /// Adds the tables of FROM.
    pub(super) fn from(&mut self, tables: &'q [TableWithJoins]) -> From {
        let mut from = From::default();
        for item in tables {
            let joined = self.joined(item);
            from.append(joined);
        }
        from
    }

    pub(super) fn joined(&mut self, item: &'q TableWithJoins) -> From {
        let mut from = self.factor(&item.relation);
        for join in &item.joins {
            let right = self.factor(&join.relation);
            let is_outer = matches!(
                join.join_operator,
                JoinOperator::Left(_) | JoinOperator::Right(_)
            );
            if matches!(join.join_operator, JoinOperator::Right(_)) {
                let left = std::mem::replace(&mut from, right);
                from.append(left);
            } else {
                from.append(right);
            }
            from.has_outer_join |= is_outer;
            match join.join_operator.constraint() {
                JoinConstraint::On(condition) => from.note_equalities(condition),
                JoinConstraint::Using(names) => {
                    for name in names {
                        let places = from.names.columns.iter();
                        let places =
                            places.filter(|column| column.name.eq_ignore_ascii_case(&name.value));
                        let places: Vec<Place> =
                            places.filter_map(|column| column.value.place).collect();
                        if let [.., a, b] = places.as_slice() {
                            from.equal.push((*a, *b));
                        }
                    }
                }
                JoinConstraint::Natural | JoinConstraint::None => {}
            }
        }
        from
    }

    pub(super) fn factor(&mut self, factor: &'q TableFactor) -> From {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let own = name.0.last().map_or("", |name| name.value.as_str());
                let alias = alias
                    .as_ref()
                    .map_or(own, |alias| alias.name.value.as_str());
                self.table(name, alias)
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let name = alias.as_ref().map_or("", |alias| alias.name.value.as_str());
                let columns = alias.iter().flat_map(|alias| &alias.columns);
                let columns: Vec<String> = columns.map(|name| name.value.clone()).collect();
                self.derived(subquery, name, &columns, None)
            }
            TableFactor::NestedJoin { table_with_joins } => self.joined(table_with_joins),
            TableFactor::JsonTable { .. } | TableFactor::Function { .. } => {
                self.failed = true;
                From::default()
            }
        }
    }

    pub(super) fn table(&mut self, name: &ObjectName, alias: &str) -> From {
        let (database, table) = match name.0.as_slice() {
            [table] => (None, table.value.as_str()),
            [database, table] => (Some(database.value.as_str()), table.value.as_str()),
            _ => return From::default(),
        };
        if database.is_none() {
            if table.eq_ignore_ascii_case("dual") {
                return From::default();
            }
            let found = self
                .common
                .iter()
                .rposition(|cte| cte.name.eq_ignore_ascii_case(table));
            if let Some(found) = found {
                return self.common_table(found, alias);
            }
        }
        match self.catalog.view(database, table) {
            Ok(Some(view)) => return self.view(&view, alias),
            Ok(None) => {}
            Err(_) => {
                self.failed = true;
                return From::default();
            }
        }
        let Some(source) = self.base_table(database, table) else {
            self.failed = true;
            return From::default();
        };
        let columns = source
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| !column.hidden);
        let columns = columns.map(|(at, column)| {
            Named::of_table(alias, column.name.clone(), at, Width::of(&column.ty))
        });
        From {
            names: Names {
                columns: columns.collect(),
                tables: vec![Table::Base(source.clone())],
            },
            ..From::default()
        }
    }

    /// A base table. It is looked up once: a second reference to a temporary table may be an error.
    pub(super) fn base_table(
        &mut self,
        database: Option<&str>,
        table: &str,
    ) -> Option<Arc<TableSource>> {
        let key = (database.map(str::to_owned), table.to_owned());
        if let Some((_, known)) = self.tables.iter().find(|(known, _)| *known == key) {
            return Some(Arc::clone(known));
        }
        let source = self.catalog.table(database, table).ok()?;
        self.tables.push((key, Arc::clone(&source)));
        Some(source)
    }

    /// A view, whose text is not the statement's: its sites are found by a walk of its own.
    pub(super) fn view(&mut self, view: &ViewSource, alias: &str) -> From {
        let mut inner = Walk {
            next_block: self.next_block,
            sites: std::mem::take(&mut self.sites),
            ..Walk::new(self.catalog, self.options)
        };
        let merges = (!view.materialized).then_some(true);
        let from = match merges {
            Some(_) => inner.derived(&view.query, alias, &view.columns, None),
            None => inner.derived(&view.query, alias, &view.columns, Some(true)),
        };
        self.next_block = inner.next_block;
        self.sites = std::mem::take(&mut inner.sites);
        self.failed |= inner.failed;
        from
    }

    pub(super) fn common_table(&mut self, at: usize, alias: &str) -> From {
        let CommonTable {
            query,
            recursive,
            materialized,
            ..
        } = self.common[at];
        let columns = self.common[at].columns.clone();
        let is_known = self.common[at].known.clone();
        if let Some(known) =
            is_known.filter(|_| recursive || !self.options.era.copies_common_tables())
        {
            return table_of(known, alias);
        }
        // Names behind it are not visible in it, nor it in itself unless it is recursive.
        let behind = self.common.split_off(at + usize::from(recursive));
        let from = if recursive {
            self.recursive(at, query, alias, &columns)
        } else {
            self.derived(query, alias, &columns, materialized)
        };
        self.common.extend(behind);
        let is_table = matches!(from.names.tables.as_slice(), [Table::Rows { .. }]);
        if is_table {
            let columns = from.names.columns.iter();
            let columns = columns.map(|column| (column.name.clone(), column.value.clone()));
            self.common[at].known = Some(Rows {
                columns: columns.collect(),
                one_row: matches!(
                    from.names.tables.as_slice(),
                    [Table::Rows { one_row: true }]
                ),
                rows: 0,
            });
        }
        from
    }

    pub(super) fn recursive(
        &mut self,
        at: usize,
        query: &'q Query,
        alias: &str,
        names: &[String],
    ) -> From {
        let mut all = true;
        let mut seed = &*query.body;
        while let SetExpr::SetOperation {
            set_quantifier,
            left,
            ..
        } = seed
        {
            all &= *set_quantifier == SetQuantifier::All;
            seed = left;
        }
        let mut rows = self.body(seed, (&[], false), Use::default());
        for ((name, _), given) in rows.columns.iter_mut().zip(names) {
            name.clone_from(given);
        }
        (rows.one_row, rows.rows) = (false, 0);
        self.common[at].known = Some(rows.clone());
        let mut site = Site::new(0, &[Fact::Recursive]);
        site.note(Fact::UnionAll, all);
        site.note(
            Fact::HasBlob,
            rows.columns.iter().any(|(_, value)| value.width.blob),
        );
        self.sites.push(site);
        table_of(rows, alias)
    }

    /// A derived table. `materialized` is said by the statement, or by the view.
    pub(super) fn derived(
        &mut self,
        query: &'q Query,
        alias: &str,
        names: &[String],
        materialized: Option<bool>,
    ) -> From {
        let merges_all = self.options.era.merges() && self.options.derived_merge;
        if let Some(select) = block_of(query)
            && materialized != Some(true)
            && merges_all
            && query.with.is_none()
            && is_plain(select, query)
            && (self.options.era.merges_selected_subqueries() || !has_subquery(&select.projection))
        {
            let block = self.new_block();
            let mut from = self.from(&select.from);
            if let Some(condition) = &select.selection {
                self.condition(condition, &mut from, block);
            }
            let mut columns = self.items(select, &from.names, block);
            for ((name, _), given) in columns.iter_mut().zip(names) {
                name.clone_from(given);
            }
            let columns = columns.into_iter().map(|(name, value)| Named {
                table: alias.to_owned(),
                name,
                value,
                is_used: false,
            });
            from.names.columns = columns.collect();
            return from;
        }
        let mut rows = self.query(query, Use::default());
        for ((name, _), given) in rows.columns.iter_mut().zip(names) {
            name.clone_from(given);
        }
        let mut site = Site::new(0, &[Fact::Derived]);
        site.note(
            Fact::HasBlob,
            rows.columns.iter().any(|(_, value)| value.width.blob),
        );
        site.note(
            Fact::WideValue,
            rows.columns.iter().any(|(_, value)| value.is_wide),
        );
        self.sites.push(site);
        table_of(rows, alias)
    }
}

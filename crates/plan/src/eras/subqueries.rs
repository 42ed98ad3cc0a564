//! Subqueries of a query block's expressions, and the values of its select list.

use std::collections::HashSet;
use std::ops::ControlFlow;

use mayfly_syntax::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArguments, Query, Select, SelectItem, UnaryOperator,
    visit_expressions,
};

use super::columns::{Names, Value};
use super::facts::{Fact, Site};
use super::from::{From, Use};
use super::text::{block_of, is_plain, strip};
use super::walk::Walk;
use crate::tree::logical::with_stack;

impl<'q> Walk<'q> {
    /// Notes the equalities of a condition, and its subqueries.
    pub(super) fn condition(&mut self, condition: &'q Expr, from: &mut From, block: u64) {
        from.note_equalities(condition);
        self.subqueries(condition, &from.names, block, true);
    }

    /// Names and values of the select list.
    pub(super) fn items(
        &mut self,
        select: &'q Select,
        names: &Names,
        block: u64,
    ) -> Vec<(String, Value)> {
        let mut items = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::Wildcard => {
                    let columns = names.columns.iter();
                    items.extend(columns.map(|column| (column.name.clone(), column.value.clone())));
                }
                SelectItem::QualifiedWildcard(table) => {
                    let table = table.0.last().map_or("", |name| name.value.as_str());
                    let columns = names.columns.iter();
                    let own = columns.filter(|column| column.table.eq_ignore_ascii_case(table));
                    items.extend(own.map(|column| (column.name.clone(), column.value.clone())));
                }
                SelectItem::UnnamedExpr(expr) => {
                    let name = names.named(expr).map_or("", |column| column.name.as_str());
                    let value = self.item(select, expr, names, block);
                    items.push((name.to_owned(), value));
                }
                SelectItem::ExprWithAlias { expr, alias, .. } => {
                    let value = self.item(select, expr, names, block);
                    items.push((alias.value.clone(), value));
                }
            }
        }
        items
    }

    /// The value of an item of the select list.
    pub(super) fn item(
        &mut self,
        select: &'q Select,
        expr: &'q Expr,
        names: &Names,
        block: u64,
    ) -> Value {
        let mut value = names.value(expr);
        let Expr::Subquery(query) = strip(expr) else {
            self.subqueries(expr, names, block, false);
            return value;
        };
        let uncorrelated = !self.is_correlated(query, names);
        let rows = self.query(query, Use::default());
        if let Some((_, first)) = rows.columns.first() {
            value.width = first.width;
            value.is_wide = first.width.is_wide();
        }
        // The values of a few columns are kept for the groups.
        if !select.group_by.keys.is_empty() && !value.is_wide && !value.width.blob {
            let mut site = Site::new(block, &[Fact::ScalarSubquery]);
            site.note(Fact::Uncorrelated, uncorrelated);
            self.sites.push(site);
        }
        value
    }

    /// Adds the sites of the subqueries of an expression, of which `is_condition` is the top level of a condition.
    pub(super) fn subqueries(
        &mut self,
        expr: &'q Expr,
        outer: &Names,
        block: u64,
        is_condition: bool,
    ) {
        let expr = strip(expr);
        if is_condition {
            if let Expr::BinaryOp {
                left,
                op: BinaryOperator::And,
                right,
            } = expr
            {
                with_stack(|| {
                    self.subqueries(left, outer, block, true);
                    self.subqueries(right, outer, block, true);
                });
                return;
            }
            let (inner, negation) = match expr {
                Expr::UnaryOp {
                    op: UnaryOperator::Not,
                    expr,
                } => (strip(expr), true),
                other => (other, false),
            };
            match inner {
                Expr::InSubquery {
                    subquery, negated, ..
                }
                | Expr::Exists { subquery, negated } => {
                    self.membership(subquery, *negated != negation, outer, block);
                    return;
                }
                _ => {}
            }
        }
        let mut inside: HashSet<*const Expr> = HashSet::new();
        let mut found: Vec<(&'q Query, bool)> = Vec::new();
        let mut collect = |inner: &'q Expr| match inner {
            Expr::Subquery(query) => found.push((query, true)),
            Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => {
                found.push((subquery, false));
            }
            _ => {}
        };
        each_outside_of_subqueries(expr, &mut inside, &mut collect);
        for (query, is_scalar) in found {
            if is_scalar {
                self.scalar(query, outer, block);
            } else {
                self.query(
                    query,
                    Use {
                        unordered: true,
                        ..Use::default()
                    },
                );
            }
        }
    }

    pub(super) fn scalar(&mut self, query: &'q Query, outer: &Names, block: u64) {
        let uncorrelated = !self.is_correlated(query, outer);
        self.query(query, Use::default());
        let mut site = Site::new(block, &[Fact::ScalarSubquery]);
        site.note(Fact::Uncorrelated, uncorrelated);
        self.sites.push(site);
    }

    /// A subquery of IN or EXISTS at the top of a condition.
    pub(super) fn membership(
        &mut self,
        query: &'q Query,
        negated: bool,
        outer: &Names,
        block: u64,
    ) {
        let uncorrelated = !self.is_correlated(query, outer);
        let own = self.next_block;
        let before = self.sites.len();
        self.query(
            query,
            Use {
                unordered: true,
                ..Use::default()
            },
        );
        let kind = match block_of(query) {
            _ if negated => Fact::NotInSubquery,
            None => Fact::UnionInSubquery,
            Some(select) if is_plain(select, query) => {
                // It becomes a join: its own order and duplicates do not matter.
                let mut at = 0;
                self.sites.retain(|site| {
                    at += 1;
                    at <= before || site.block != own || !site.has(Fact::Block)
                });
                Fact::InSubquery
            }
            Some(_) => Fact::GroupedInSubquery,
        };
        let mut site = Site::new(block, &[kind]);
        site.note(Fact::Uncorrelated, uncorrelated);
        site.note(Fact::InDelete, self.in_delete);
        site.note(Fact::InnerIndex, self.reads_by_index(query));
        if let [table] = outer.tables.as_slice() {
            site.note(Fact::OuterCovered, table.is_covered(&outer.used()));
        }
        self.sites.push(site);
    }

    /// The names of a query's FROM, without its sites.
    pub(super) fn names_of(&mut self, query: &'q Query) -> Option<Names> {
        let select = block_of(query)?;
        let (sites, next) = (self.sites.len(), self.next_block);
        let from = self.from(&select.from);
        self.sites.truncate(sites);
        self.next_block = next;
        Some(from.names)
    }

    pub(super) fn is_correlated(&mut self, query: &'q Query, outer: &Names) -> bool {
        let Some(names) = self.names_of(query) else {
            return false;
        };
        let reads_outer = |expr: &Expr| names.named(expr).is_none() && outer.named(expr).is_some();
        visit_expressions(query, |expr| match reads_outer(expr) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
        .is_break()
    }

    /// Whether the column that a subquery compares begins an index.
    pub(super) fn reads_by_index(&mut self, query: &'q Query) -> bool {
        let Some(names) = self.names_of(query) else {
            return false;
        };
        let begins = |expr: &Expr| {
            let place = names.named(expr).and_then(|column| column.value.place);
            place.is_some_and(|(table, column)| {
                let mut indexes = names.tables[table].indexes();
                indexes.any(|index| {
                    index
                        .parts
                        .first()
                        .is_some_and(|part| part.column == column)
                })
            })
        };
        let Some(select) = block_of(query) else {
            return false;
        };
        let is_item = select.projection.iter().any(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => begins(expr),
            _ => false,
        });
        is_item
            || select.selection.as_ref().is_some_and(|condition| {
                visit_expressions(condition, |expr| match begins(expr) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                })
                .is_break()
            })
    }
}

/// Calls a function with the expressions of a tree that are not in its subqueries.
fn each_outside_of_subqueries<'q>(
    expr: &'q Expr,
    inside: &mut HashSet<*const Expr>,
    each: &mut dyn FnMut(&'q Expr),
) {
    // The walk has no way to leave a part out, so what is inside is noted first.
    let _ = visit_expressions(expr, |found| {
        if inside.contains(&std::ptr::from_ref(found)) {
            return ControlFlow::<()>::Continue(());
        }
        let query: Option<&Query> = match found {
            Expr::Subquery(query) => Some(query),
            Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => Some(subquery),
            _ => None,
        };
        if let Some(query) = query {
            let _ = visit_expressions(query, |inner| {
                inside.insert(std::ptr::from_ref(inner));
                ControlFlow::<()>::Continue(())
            });
        }
        ControlFlow::Continue(())
    });
    expr_tree(expr, inside, each);
}

/// Calls a function with the subqueries of a tree, except those in other ones.
fn expr_tree<'q>(expr: &'q Expr, inside: &HashSet<*const Expr>, each: &mut dyn FnMut(&'q Expr)) {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if inside.contains(&std::ptr::from_ref(expr)) {
            continue;
        }
        each(expr);
        match expr {
            Expr::Nested(inner)
            | Expr::UnaryOp { expr: inner, .. }
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::Cast { expr: inner, .. }
            | Expr::Convert { expr: inner, .. }
            | Expr::Collate { expr: inner, .. }
            | Expr::InSubquery { expr: inner, .. } => open.push(inner),
            Expr::BinaryOp { left, right, .. }
            | Expr::AnyOp { left, right, .. }
            | Expr::AllOp { left, right, .. } => open.extend([&**right, &**left]),
            Expr::Between {
                expr, low, high, ..
            } => open.extend([&**high, &**low, &**expr]),
            Expr::InList { expr, list, .. } => {
                open.extend(list);
                open.push(expr);
            }
            Expr::Like { expr, pattern, .. } | Expr::RLike { expr, pattern, .. } => {
                open.extend([&**pattern, &**expr]);
            }
            Expr::Tuple(list) => open.extend(list),
            Expr::Case {
                operand,
                conditions,
                else_result,
            } => {
                open.extend(operand.iter().chain(else_result).map(|expr| &**expr));
                for case in conditions {
                    open.extend([&case.condition, &case.result]);
                }
            }
            Expr::Function(call) => {
                if let FunctionArguments::List(list) = &call.args {
                    open.extend(list.args.iter().filter_map(|argument| match argument {
                        FunctionArg::Expr(expr) => Some(expr),
                        FunctionArg::Wildcard => None,
                    }));
                }
            }
            _ => {}
        }
    }
}

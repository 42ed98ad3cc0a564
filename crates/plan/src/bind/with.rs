//! WITH: common table expressions, including recursive ones.
//!
//! A plain expression is bound once, and its references read the shared result, unless a reference is to be merged: by
//! `AS NOT MATERIALIZED` or the hint `MERGE`, the reference binds the definition again, as a derived table in its place.
//! `AS MATERIALIZED` and the hint `NO_MERGE` keep the shared result even with one reader. The clause prevails over a hint.
//! As in PostgreSQL ("WITH Queries", "Common Table Expression Materialization"), `NOT MATERIALIZED` has no effect on a
//! recursive expression, nor on one whose rows may differ from one evaluation to the next.

use std::sync::Arc;

use mayfly_syntax::ast::{Cte, SetExpr, SetOperator, SetQuantifier, Visit, With};
use mayfly_syntax::chain::set_chain;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use super::binder::{Definition, RecursivePart, VisibleCte};
use super::from::{refuse_same_names, rename_columns};
use super::scope::{Clause, ScopeTable};
use crate::bind::binder::Binder;
use crate::bind::block::Block;
use crate::explain::names::quoted;
use crate::not_supported::not_supported;
use crate::rules::simplify_outer_joins;
use crate::tree::logical::{
    Relation, Shared, SharedRelation, outer_columns, relation_is_volatile, with_stack,
};
use crate::tree::physical::JoinKind;

impl Binder<'_> {
    /// Binds the WITH clause; the names stay visible until [`Binder::leave_with`].
    pub(super) fn enter_with(&mut self, with: Option<&With>) -> Result<usize> {
        let mark = self.ctes.len();
        let Some(with) = with else {
            return Ok(mark);
        };
        let reads = self.reads_mark();
        for cte in &with.cte_tables {
            let name = cte.alias.name.value.as_str();
            if name.is_empty() || name.ends_with(' ') {
                return Err(codes::ER_WRONG_TABLE_NAME.with(&[&name]));
            }
            if self.ctes[mark..].iter().any(|known| known.name == name) {
                return Err(codes::ER_NONUNIQ_TABLE.with(&[&name]));
            }
            if with.recursive && mentions(&cte.query, name) {
                self.bind_recursive_cte(cte)?;
            } else {
                self.bind_plain_cte(cte)?;
            }
            if let Some(declared) = self.ctes.last_mut() {
                let columns = cte.alias.columns.iter().map(|column| &*column.value);
                let columns: Vec<&str> = columns.collect();
                declared.text = format!("{name:?} {columns:?} {}", cte.query);
            }
        }
        self.forget_reads(reads);
        Ok(mark)
    }

    pub(super) fn leave_with(&mut self, mark: usize) {
        self.ctes.truncate(mark);
    }

    fn bind_plain_cte(&mut self, cte: &Cte) -> Result<()> {
        let name = cte.alias.name.value.as_str();
        let (placeholders, select) = (self.placeholders_seen, self.next_select);
        let readers: Vec<usize> = self.shared.iter().map(|known| known.readers).collect();
        let mut block = self.bind_query_expression(&cte.query, false)?;
        rename(&mut block, cte)?;
        let relation = block.relation.take().block_of(block.select_id);
        let outer = outer_columns(&[&relation]);
        let can_merge = !self.options.sets_variables && !relation_is_volatile(&relation);
        let now = self.shared.iter().map(|known| known.readers).enumerate();
        let before = |known: usize| readers.get(known).copied().unwrap_or(0);
        let reads = now.map(|(known, now)| (known, now - before(known)));
        let reads = reads.filter(|(_, count)| *count > 0).collect();
        let shared = self.declare(name, block, None);
        let declared = &mut self.shared[shared];
        declared.source = Some(SharedRelation::Plain(relation));
        declared.reads = reads;
        match cte.materialized {
            Some(true) => declared.kept_by = Some("AS MATERIALIZED"),
            // Every reference binds the definition again, from this number on.
            Some(false) if can_merge => self.next_select = select,
            _ => {}
        }
        if let Some(declared) = self.ctes.last_mut() {
            declared.outer = outer;
            declared.materialized = cte.materialized;
            declared.again = can_merge.then(|| Definition {
                cte: Arc::new(cte.clone()),
                placeholders,
            });
        }
        Ok(())
    }

    /// Declares the name of a common table expression whose relation is set later; returns its index among the shared
    /// results.
    fn declare(
        &mut self,
        name: &str,
        mut block: Block,
        recursive_part: Option<RecursivePart>,
    ) -> usize {
        block.settle_types();
        let shared = self.shared.len();
        let columns = block.columns.iter();
        self.shared.push(Shared {
            name: name.to_owned(),
            names: columns.clone().map(|column| column.name.clone()).collect(),
            columns: columns.clone().map(|column| column.id).collect(),
            types: columns.map(|column| column.ty.clone()).collect(),
            source: None,
            readers: 0,
            reads: Vec::new(),
            mergeable: block.mergeable,
            kept_by: None,
            kept: None,
            select_id: block.select_id,
        });
        self.ctes.push(VisibleCte {
            text: String::new(),
            name: name.to_owned(),
            shared,
            columns: block.columns,
            recursive_part,
            outer: Vec::new(),
            unique_keys: block.unique_keys,
            limit: None,
            depth: self.scopes.len(),
            again: None,
            materialized: None,
        });
        shared
    }

    /// Binds a recursive common table expression; in the recursive part the name refers to the rows of the previous
    /// round.
    fn bind_recursive_cte(&mut self, cte: &Cte) -> Result<()> {
        let name = cte.alias.name.value.as_str();
        let requires_union = || codes::ER_CTE_RECURSIVE_REQUIRES_UNION.with(&[&name]);
        if !cte.query.order_by.is_empty() {
            return Err(not_supported(
                "ORDER BY over UNION in recursive Common Table Expression",
            ));
        }
        let inner_mark = self.enter_with(cte.query.with.as_ref())?;
        let mut arms = Vec::new();
        let distinct = union_arms(&cte.query.body, &mut arms).ok_or_else(requires_union)?;
        let first_recursive = arms
            .iter()
            .position(|arm| mentions(*arm, name))
            .unwrap_or(arms.len());
        let wrong_order = arms[first_recursive..]
            .iter()
            .any(|arm| !mentions(*arm, name));
        if first_recursive == 0 || wrong_order {
            return Err(codes::ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST.with(&[&name]));
        }
        let (seeds, steps) = arms.split_at(first_recursive);
        let mut seed = self.bind_union_of(seeds, distinct)?;
        rename(&mut seed, cte)?;
        // Rows of later rounds may be NULL where those of the first part are not.
        for column in &mut seed.columns {
            column.nullable = true;
            let is_computed = column
                .origin
                .as_ref()
                .is_none_or(|origin| !origin.is_of_table());
            if is_computed && matches!(column.ty.kind, TypeKind::Int | TypeKind::BigInt) {
                // A literal's own length does not bound the numbers that follow.
                column.ty = if column.ty.unsigned {
                    SqlType::bigint_unsigned()
                } else {
                    SqlType::bigint()
                };
            }
            column.origin = None;
        }
        seed.mergeable = false;
        seed.unique_keys.clear();
        let seed_relation = seed.relation.take().block_of(seed.select_id);
        let width = seed.columns.len();
        let shared = self.declare(name, seed, Some(RecursivePart::default()));
        let at = self.ctes.len() - 1;
        let step = self.bind_union_of(steps, distinct)?;
        if step.columns.len() != width {
            return Err(codes::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT.error());
        }
        if has_aggregate(&step.relation) {
            return Err(codes::ER_CTE_RECURSIVE_FORBIDS_AGGREGATION.with(&[&name]));
        }
        if reads_late(&step.relation) {
            return Err(codes::ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER.with(&[&name]));
        }
        let step_select = step.select_id;
        let step_columns = step.columns.iter().map(|column| column.id).collect();
        let limit = self.bind_limit(&cte.query)?;
        let outer = outer_columns(&[&seed_relation, &step.relation]);
        self.shared[shared].source = Some(SharedRelation::Recursive {
            seed: seed_relation,
            step: step.relation.block_of(step_select),
            step_columns,
            distinct,
            enough: limit.map(|(offset, count)| offset.saturating_add(count)),
        });
        // The names of its own WITH go out of scope, but not its own name.
        let mut own = self.ctes.remove(at);
        self.leave_with(inner_mark);
        own.recursive_part = None;
        own.outer = outer;
        own.limit = limit;
        self.ctes.push(own);
        Ok(())
    }

    /// Binds a table name that refers to a common table expression.
    pub(super) fn bind_cte_reference(
        &mut self,
        name: &str,
        alias: &str,
    ) -> Result<Option<Relation>> {
        let Some(at) = self.ctes.iter().rposition(|cte| cte.name == name) else {
            return Ok(None);
        };
        match self.is_merged(at, alias) {
            Some(true) => return self.bind_merged(at, alias).map(Some),
            Some(false) => {
                let shared = self.ctes[at].shared;
                let kept_by = &mut self.shared[shared].kept_by;
                kept_by.get_or_insert("hint NO_MERGE");
            }
            None => {}
        }
        let first = self.new_columns(self.ctes[at].columns.len());
        let innermost = self.scopes.len();
        let reader = self.scopes.last().map(|scope| scope.select_id);
        let cte = &mut self.ctes[at];
        let working = match &mut cte.recursive_part {
            Some(part) => {
                let is_nested = innermost > cte.depth + 1;
                if is_nested || part.reader.replace(reader.unwrap_or(0)) == reader {
                    return Err(codes::ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE.with(&[&name]));
                }
                true
            }
            None => false,
        };
        let mut columns = cte.columns.clone();
        for (index, column) in columns.iter_mut().enumerate() {
            column.id = first + index;
        }
        let limit = cte.limit;
        let shared = cte.shared;
        let unique_keys = cte.unique_keys.clone();
        let outer = cte.outer.clone();
        if !working {
            let definition = &mut self.shared[shared];
            // A reader in a nested query block may run many times.
            let weight = if innermost > cte.depth + 1 { 2 } else { 1 };
            definition.readers += weight;
        }
        let ids = columns.iter().map(|column| column.id).collect();
        let merged = self.shared[shared].mergeable
            && self.shared[shared].kept_by.is_none()
            && self.options.switches.derived_merge;
        self.add_table(ScopeTable {
            unique_keys,
            merged,
            ..ScopeTable::derived(alias.to_owned(), columns)
        })?;
        let scan = Relation::SharedScan {
            shared,
            alias: alias.to_owned(),
            columns: ids,
            outer,
            working,
        };
        Ok(Some(match limit {
            Some((offset, count)) => scan.limited(offset, count),
            None => scan,
        }))
    }
}

/// Methods for references that are merged.
impl Binder<'_> {
    /// Whether the definition or a hint of the reading block merges a reference; `None` if neither says.
    fn is_merged(&mut self, at: usize, alias: &str) -> Option<bool> {
        let hint = self.merge_hint(alias);
        let VisibleCte {
            again,
            materialized,
            ..
        } = &self.ctes[at];
        let written = materialized.map(|materialized| !materialized);
        if let (Some(written), Some(hint)) = (written, hint)
            && written != hint
        {
            let name = if hint { "MERGE" } else { "NO_MERGE" };
            let select = self.scopes.last().map_or(0, |scope| scope.select_id);
            let hint = format!("{name}({}@`select#{select}`)", quoted(alias));
            self.catalog
                .warn(codes::ER_WARN_CONFLICTING_HINT.with(&[&hint]));
        }
        let wanted = written.or(hint)?;
        (!wanted || again.is_some()).then_some(wanted)
    }

    /// Binds a reference as a derived table: the definition is bound again, with the names that it can see.
    fn bind_merged(&mut self, at: usize, alias: &str) -> Result<Relation> {
        let later = self.ctes.split_off(at);
        let relation = self.bind_definition(&later, alias);
        self.ctes.extend(later);
        relation
    }

    fn bind_definition(&mut self, later: &[VisibleCte], alias: &str) -> Result<Relation> {
        let read = later
            .first()
            .and_then(|cte| Some((cte.depth, cte.again.clone()?)));
        let Some((depth, Definition { cte, placeholders })) = read else {
            return Err(codes::ER_NO_SUCH_TABLE.with(&[&"", &alias]));
        };
        let reads = self.reads_mark();
        let outer_clause = std::mem::replace(&mut self.scope().clause, Clause::From);
        let outer_placeholders = std::mem::replace(&mut self.placeholders_seen, placeholders);
        let hidden: Vec<bool> = self.scopes.iter().map(|scope| scope.hidden).collect();
        for scope in self.scopes.iter_mut().skip(depth) {
            scope.hidden = true;
        }
        let block = self.bind_query_expression(&cte.query, false);
        for (scope, hidden) in self.scopes.iter_mut().zip(hidden) {
            scope.hidden = hidden;
        }
        self.placeholders_seen = outer_placeholders;
        self.scope().clause = outer_clause;
        self.forget_reads(reads);
        let mut block = block?;
        rename(&mut block, &cte)?;
        self.add_derived(block, alias, None, Some(true))
    }
}

fn rename(block: &mut Block, cte: &Cte) -> Result<()> {
    rename_columns(block, &cte.alias.columns)?;
    refuse_same_names(&block.columns)
}

/// Arms of a chain of UNIONs, and whether duplicates are removed.
fn union_arms<'q>(body: &'q SetExpr, arms: &mut Vec<&'q SetExpr>) -> Option<bool> {
    let mut rest = body;
    while let SetExpr::Query(query) = rest
        && query.with.is_none()
        && query.order_by.is_empty()
        && query.limit_clause.is_none()
    {
        rest = &query.body;
    }
    let (first, steps) = set_chain(rest);
    let drops = |quantifier: &SetQuantifier| !matches!(quantifier, SetQuantifier::All);
    if steps.iter().all(|(op, _, _)| *op == SetOperator::Union) {
        arms.push(first);
        arms.extend(steps.iter().map(|(_, _, arm)| *arm));
        let is_union = !steps.is_empty();
        return is_union.then(|| steps.iter().any(|(_, quantifier, _)| drops(quantifier)));
    }
    // Other operators before the unions make one arm.
    let mut distinct = None;
    while let SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier,
        left,
        right,
    } = rest
    {
        distinct = Some(distinct.unwrap_or(false) | drops(set_quantifier));
        arms.push(&**right);
        rest = left;
    }
    arms.push(rest);
    arms.reverse();
    distinct
}

/// Whether a part of a query names this table.
fn mentions(node: &dyn Visit, name: &str) -> bool {
    let found = mayfly_syntax::ast::visit_relations(node, |relation| {
        let called = matches!(relation.0.as_slice(), [part] if part.value == name);
        if called {
            std::ops::ControlFlow::Break(())
        } else {
            std::ops::ControlFlow::Continue(())
        }
    });
    found.is_break()
}

/// Whether the recursive part of a common table expression must read another table before the rows of the previous
/// round: these are on the null-extended side of an outer join, or STRAIGHT_JOIN names them later.
fn reads_late(step: &Relation) -> bool {
    fn reads_working(relation: &Relation) -> bool {
        match relation {
            Relation::SharedScan { working, .. } => *working,
            other => with_stack(|| other.inputs().into_iter().any(reads_working)),
        }
    }
    fn is_late(relation: &Relation) -> bool {
        if let Relation::Join(join) = relation
            && (join.kind == JoinKind::Left || join.straight)
            && reads_working(&join.right)
        {
            return true;
        }
        with_stack(|| relation.inputs().into_iter().any(is_late))
    }
    if !is_late(step) {
        return false;
    }
    // A condition that rejects the NULL-extended rows makes the join an inner one.
    let mut step = step.clone();
    simplify_outer_joins(&mut step);
    is_late(&step)
}

/// Whether a query block aggregates or has windows (except in its derived tables).
fn has_aggregate(relation: &Relation) -> bool {
    match relation {
        Relation::Aggregate(aggregate) => {
            aggregate.purpose == crate::tree::physical::Purpose::GroupBy
        }
        Relation::Window(_) => true,
        Relation::Block {
            derived: Some(_), ..
        }
        | Relation::SharedScan { .. } => false,
        other => other.inputs().into_iter().any(has_aggregate),
    }
}

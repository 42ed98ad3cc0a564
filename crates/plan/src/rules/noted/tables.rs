//! Tables of a traced statement: the query block of each, and its dependencies.

use std::collections::BTreeMap;

use crate::document::{Document, Members};
use crate::explain::names::quoted;
use crate::trace::number;
use crate::tree::expression::Expression;
use crate::tree::expression::ExpressionKind;
use crate::tree::logical::{
    ColumnId, Query, Relation, Scan, SharedRelation, visit_expression, with_stack,
};
use crate::tree::physical::JoinKind;

/// All tables of a statement, including those of subqueries.
pub(super) fn scans(query: &mut Query) -> Vec<Scan> {
    let mut all = Vec::new();
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Scan(scan) = relation {
            all.push(scan.clone());
        }
    });
    all
}

/// First table that a relation reads.
pub(super) fn first_scan(relation: &Relation) -> Option<&Scan> {
    with_stack(|| match relation {
        Relation::Scan(scan) => Some(scan),
        other => other.inputs().into_iter().find_map(first_scan),
    })
}

/// Names of the tables that a relation joins.
pub(super) fn tables_of(relation: &Relation) -> Vec<String> {
    with_stack(|| match relation {
        Relation::Scan(scan) => vec![quoted(&scan.alias)],
        Relation::SharedScan { alias, .. } => vec![quoted(alias)],
        Relation::Block {
            derived: Some(derived),
            ..
        } => vec![quoted(&derived.alias)],
        other => other.inputs().into_iter().flat_map(tables_of).collect(),
    })
}

/// `select#` of each table's query block, by the number of the table's first column.
pub(super) fn blocks(query: &Query) -> BTreeMap<ColumnId, usize> {
    let mut blocks = BTreeMap::new();
    each_tree(query, &mut |select_id, tree| {
        place(tree, select_id, &mut blocks);
    });
    blocks
}

fn each_tree(query: &Query, visit: &mut dyn FnMut(usize, &Relation)) {
    visit(1, &query.relation);
    for shared in &query.shared {
        match &shared.source {
            None => {}
            Some(SharedRelation::Plain(relation)) => visit(shared.select_id, relation),
            Some(SharedRelation::Recursive { seed, step, .. }) => {
                visit(shared.select_id, seed);
                visit(shared.select_id, step);
            }
        }
    }
}

fn place(relation: &Relation, select_id: usize, blocks: &mut BTreeMap<ColumnId, usize>) {
    with_stack(|| {
        let below = match relation {
            Relation::Block { select_id, .. } => *select_id,
            _ => select_id,
        };
        if let Relation::Scan(scan) = relation {
            blocks.insert(scan.first, select_id);
        }
        each_subquery(relation, &mut |select_id, tree| {
            place(tree, select_id, blocks);
        });
        for input in relation.inputs() {
            place(input, below, blocks);
        }
    });
}

fn each_subquery(relation: &Relation, visit: &mut dyn FnMut(usize, &Relation)) {
    relation.for_each_expression(&mut |expression: &Expression| {
        visit_expression(expression, &mut |inner| {
            if let ExpressionKind::LogicalSubquery(subquery) = &inner.kind {
                visit(subquery.select_id, &subquery.relation);
            }
            true
        });
    });
}

/// Dependencies found so far between the tables of a query block.
#[derive(Default)]
struct Dependencies {
    /// Number of tables of each query block.
    counts: BTreeMap<usize, usize>,
    found: Vec<(usize, Document)>,
}

/// Entries of `table_dependencies`, and `select#` of each.
pub(super) fn dependencies(query: &Query) -> Vec<(usize, Document)> {
    let mut dependencies = Dependencies::default();
    each_tree(query, &mut |select_id, tree| {
        dependencies.of(tree, select_id, (false, &[]));
    });
    dependencies.found
}

impl Dependencies {
    /// Adds the tables of a relation. `after`: the tables that must be read before; `nullable`: whether a row may be
    /// NULL-extended.
    fn of(&mut self, relation: &Relation, select_id: usize, (nullable, after): (bool, &[usize])) {
        with_stack(|| {
            each_subquery(relation, &mut |select_id, tree| {
                self.of(tree, select_id, (false, &[]));
            });
            match relation {
                Relation::Scan(scan) => self.add(&scan.alias, select_id, (nullable, after)),
                Relation::SharedScan { alias, .. } => {
                    self.add(alias, select_id, (nullable, after));
                }
                Relation::Block {
                    input,
                    select_id: own,
                    derived,
                } => {
                    if let Some(derived) = derived {
                        self.add(&derived.alias, select_id, (nullable, after));
                    }
                    self.of(input, *own, (false, &[]));
                }
                Relation::Join(join) => {
                    let first = self.count(select_id);
                    self.of(&join.left, select_id, (nullable, after));
                    let mut before = after.to_vec();
                    if !join.is_reorderable() {
                        before.extend(first..self.count(select_id));
                    }
                    let nullable = nullable || join.kind == JoinKind::Left;
                    self.of(&join.right, select_id, (nullable, &before));
                }
                other => {
                    for input in other.inputs() {
                        self.of(input, select_id, (nullable, after));
                    }
                }
            }
        });
    }

    fn count(&self, select_id: usize) -> usize {
        self.counts.get(&select_id).copied().unwrap_or(0)
    }

    fn add(&mut self, alias: &str, select_id: usize, (nullable, after): (bool, &[usize])) {
        let bit = self.count(select_id);
        self.counts.insert(select_id, bit + 1);
        let members: Members = vec![
            ("table", Document::from(quoted(alias))),
            ("row_may_be_null", Document::from(nullable)),
            ("map_bit", number(bit)),
            (
                "depends_on_map_bits",
                after.iter().map(|bit| number(*bit)).collect(),
            ),
        ];
        self.found.push((select_id, members.into()));
    }
}

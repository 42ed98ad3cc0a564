//! Columns that a relation produces, and those that it reads from outside.

use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Computed, Relation};
use crate::walk::{visit_expression, with_stack};

/// A set of columns: a bit set, since the numbers of a statement are small and dense.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnSet {
    words: Vec<u64>,
}

impl ColumnSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column; returns whether it is new.
    pub fn insert(&mut self, id: ColumnId) -> bool {
        let word = id / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (id % 64);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Removes a column.
    pub fn remove(&mut self, id: ColumnId) {
        if let Some(word) = self.words.get_mut(id / 64) {
            *word &= !(1 << (id % 64));
        }
    }

    /// Whether the set contains a column.
    pub fn contains(&self, id: ColumnId) -> bool {
        self.words
            .get(id / 64)
            .is_some_and(|word| word & (1 << (id % 64)) != 0)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether the set is a subset of `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words
            .iter()
            .enumerate()
            .all(|(at, word)| word & !other.words.get(at).copied().unwrap_or(0) == 0)
    }

    /// Whether the sets have a common column.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds all columns of `other`.
    pub(crate) fn extend_from(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Adds the columns that expressions read.
    pub(crate) fn add_read_by<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) {
        for expression in expressions {
            expression.collect_columns(self);
        }
    }

    /// The columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = ColumnId> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

impl FromIterator<ColumnId> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = ColumnId>>(columns: I) -> Self {
        let mut set = Self::new();
        set.extend(columns);
        set
    }
}

impl Extend<ColumnId> for ColumnSet {
    fn extend<I: IntoIterator<Item = ColumnId>>(&mut self, columns: I) {
        for id in columns {
            self.insert(id);
        }
    }
}

impl Expression {
    /// Adds the columns that the expression reads, including those that subqueries read from outside.
    pub fn collect_columns(&self, into: &mut ColumnSet) {
        visit_expression(self, &mut |inner| {
            match &inner.kind {
                ExpressionKind::Column(id) => {
                    into.insert(*id);
                }
                ExpressionKind::LogicalSubquery(subquery) => {
                    into.extend_from(&free_columns(&subquery.relation));
                }
                _ => {}
            }
            true
        });
    }

    /// Columns that the expression reads.
    pub fn columns(&self) -> ColumnSet {
        let mut columns = ColumnSet::new();
        self.collect_columns(&mut columns);
        columns
    }
}

/// Adds the columns that a relation produces.
fn collect_produced(relation: &Relation, into: &mut ColumnSet) {
    match relation {
        Relation::Values { columns, .. }
        | Relation::SharedScan { columns, .. }
        | Relation::SetOperation { columns, .. } => into.extend(columns.iter().copied()),
        Relation::Scan(scan) => into.extend(scan.first..=scan.position()),
        Relation::Filter { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Block { input, .. }
        | Relation::Materialize { input, .. } => collect_produced(input, into),
        Relation::Project { columns, .. } => into.extend(columns.iter().map(|column| column.id)),
        Relation::Extend { input, columns } => {
            collect_produced(input, into);
            into.extend(columns.iter().map(|column| column.id));
        }
        Relation::Aggregate(aggregate) => {
            into.extend(aggregate.keys.iter().map(|key| key.id));
            into.extend(aggregate.aggregates.iter().map(|(id, _)| *id));
            into.extend(aggregate.rollup);
        }
        Relation::Window(window) => {
            collect_produced(&window.input, into);
            into.extend(window.calls.iter().map(|(id, _)| *id));
        }
        Relation::Join(join) => {
            collect_produced(&join.left, into);
            if !join.kind.is_left_only() {
                collect_produced(&join.right, into);
            }
        }
    }
}

/// Columns that a relation produces.
pub fn produced(relation: &Relation) -> ColumnSet {
    let mut columns = ColumnSet::new();
    collect_produced(relation, &mut columns);
    columns
}

fn collect_used_and_made(relation: &Relation, used: &mut ColumnSet, made: &mut ColumnSet) {
    with_stack(|| {
        collect_produced(relation, made);
        relation.for_each_expression(&mut |expression| expression.collect_columns(used));
        for input in relation.inputs() {
            collect_used_and_made(input, used, made);
        }
    });
}

/// Columns of outer queries that relations read, as they read them.
pub fn outer_columns(relations: &[&Relation]) -> Vec<Computed> {
    fn collect(relation: &Relation, rest: &mut ColumnSet, found: &mut Vec<Computed>) {
        relation.for_each_expression(&mut |expression| {
            visit_expression(expression, &mut |inner| {
                match &inner.kind {
                    ExpressionKind::Column(id) if rest.contains(*id) => {
                        rest.remove(*id);
                        let (id, expression) = (*id, inner.clone());
                        found.push(Computed { id, expression });
                    }
                    ExpressionKind::LogicalSubquery(subquery) => {
                        with_stack(|| collect(&subquery.relation, rest, found));
                    }
                    _ => {}
                }
                true
            });
        });
        for input in relation.inputs() {
            with_stack(|| collect(input, rest, found));
        }
    }
    let mut found = Vec::new();
    for relation in relations {
        let mut rest = free_columns(relation);
        found
            .iter()
            .for_each(|known: &Computed| rest.remove(known.id));
        if !rest.is_empty() {
            collect(relation, &mut rest, &mut found);
        }
    }
    found
}

/// Columns of outer queries that a relation reads.
pub fn free_columns(relation: &Relation) -> ColumnSet {
    let mut used = ColumnSet::new();
    let mut made = ColumnSet::new();
    collect_used_and_made(relation, &mut used, &mut made);
    for id in made.iter() {
        used.remove(id);
    }
    used
}

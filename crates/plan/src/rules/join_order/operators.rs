//! Joins of a part of a statement as operators that can be reordered, with the conflicts that restrict it.
//!
//! Every table of the part is a bit of a [`Set`]. An operator may join two sets of tables when they contain the tables
//! that it needs on either side, and when its conflict rules hold: a set with a table of the first must have all of the
//! second. The rules are those of algorithm CD-C of Moerkotte, Fender and Eich, "On the Correct and Complete
//! Enumeration of the Core Search Space" (SIGMOD 2013). Each conjunct of an inner join is an operator of its own.

use crate::rules::rule::rejects_nulls;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Join, Relation, with_stack};
use crate::tree::physical::JoinKind;

/// Set of tables, by their numbers.
pub(super) type Set = u64;

/// Maximum number of tables whose order is chosen together.
pub(super) const TABLES_MAX: usize = 64;

/// A join, or a conjunct of an inner one.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) kind: JoinKind,
    pub(super) on: Vec<Expression>,
    pub(super) null_aware: Vec<(Expression, Expression)>,
    /// Tables required on its left side.
    pub(super) left: Set,
    /// Tables required on its right side.
    pub(super) right: Set,
    /// Conflict rules: a set with a table of the first must have all of the second.
    pub(super) rules: Vec<(Set, Set)>,
    /// Whether all of its conditions are on one table, or none.
    pub(super) is_cross: bool,
    /// Equality class: the equalities of a class are equivalent, so that one of them between two sets is enough.
    pub(super) class: Option<usize>,
    /// All tables of either side, where it was written.
    pub(super) written: (Set, Set),
    /// Tables that its conditions read.
    pub(super) reads: Set,
}

impl Operator {
    /// Tables that it requires.
    pub(super) fn needs(&self) -> Set {
        self.left | self.right
    }

    pub(super) fn is_inner(&self) -> bool {
        self.kind == JoinKind::Inner
    }

    /// Moves rules that always apply into the requirements of its sides. A rule alone does not determine the side: `a
    /// LEFT JOIN (b JOIN c)` needs `c` beside `b`, not beside `a`.
    fn take_rules(&mut self, left: Set, right: Set) {
        while let Some(at) = (self.rules.iter()).position(|(if_any, _)| if_any & self.needs() != 0)
        {
            let (_, all) = self.rules.swap_remove(at);
            self.left |= all & left;
            self.right |= all & right;
        }
    }

    /// Whether the operator may join two sets, the first being its left side.
    pub(super) fn may_join(&self, left: Set, right: Set) -> bool {
        let both = left | right;
        let sides = if self.is_inner() {
            // An inner join keeps the same rows wherever it is placed.
            self.needs() & left != 0 && self.needs() & right != 0
        } else {
            is_subset(self.left, left) && is_subset(self.right, right)
        };
        let holds = |(if_any, all): &(Set, Set)| both & if_any == 0 || is_subset(*all, both);
        sides && is_subset(self.needs(), both) && self.rules.iter().all(holds)
    }
}

pub(super) fn is_subset(part: Set, of: Set) -> bool {
    part & !of == 0
}

/// Tables of a set, the first one first.
pub(super) fn each(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            first
        })
    })
}

/// A table, or another input of the joins.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) relation: Relation,
    pub(super) columns: ColumnSet,
}

/// Joins whose order is chosen together.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub(super) leaves: Vec<Leaf>,
    /// Operators; inner ones of a subtree before outer ones.
    pub(super) operators: Vec<Operator>,
}

/// Tables of a subtree, and its operators.
struct Subtree {
    tables: Set,
    operators: std::ops::Range<usize>,
}

/// Whether a join may be reordered.
pub(super) fn is_movable(join: &Join) -> bool {
    let mut conditions = join.on.iter();
    !join.lateral
        && !join.straight
        && join.lookup.is_none()
        && (join.kind == JoinKind::Inner || !(join.on.is_empty() && join.null_aware.is_empty()))
        && conditions.all(crate::rules::rule::is_movable)
}

/// Number of tables below reorderable joins.
pub(super) fn leaf_count(relation: &Relation) -> usize {
    with_stack(|| match relation {
        Relation::Join(join) if is_movable(join) => {
            leaf_count(&join.left) + leaf_count(&join.right)
        }
        _ => 1,
    })
}

impl Region {
    /// Region of a relation.
    pub(super) fn of(relation: Relation) -> Self {
        let mut region = Self::default();
        region.add(relation);
        region.connect();
        region.derive_equalities();
        region
    }

    fn add(&mut self, relation: Relation) -> Subtree {
        with_stack(|| match relation {
            Relation::Join(join) if is_movable(&join) => self.add_join(join),
            other => {
                let number = self.leaves.len();
                self.leaves.push(Leaf {
                    columns: crate::tree::logical::produced(&other),
                    relation: other,
                });
                let end = self.operators.len();
                Subtree {
                    tables: 1 << number,
                    operators: end..end,
                }
            }
        })
    }

    fn add_join(&mut self, join: Join) -> Subtree {
        let left = self.add(*join.left);
        let right = self.add(*join.right);
        let start = left.operators.start;
        let mut groups: Vec<Vec<Expression>> = Vec::new();
        if join.kind == JoinKind::Inner {
            groups.extend(join.on.into_iter().map(|predicate| vec![predicate]));
            let joins = |on: &Vec<Expression>| {
                let reads = self.tables_of(on.iter());
                reads & left.tables != 0 && reads & right.tables != 0
            };
            if !groups.iter().any(joins) {
                groups.push(Vec::new());
            }
        } else {
            groups.push(join.on);
        }
        let mut null_aware = Some(join.null_aware);
        for on in groups {
            let null_aware = null_aware.take().unwrap_or_default();
            let pairs = null_aware.iter().flat_map(|(a, b)| [a, b]);
            let reads = self.tables_of(on.iter().chain(pairs));
            let side = |tables: Set| match reads & tables {
                0 => tables,
                some => some,
            };
            let mut operator = Operator {
                kind: join.kind,
                is_cross: on.is_empty() && null_aware.is_empty(),
                class: None,
                left: side(left.tables),
                right: side(right.tables),
                rules: Vec::new(),
                written: (left.tables, right.tables),
                reads,
                on,
                null_aware,
            };
            operator.rules = self.rules_of(&operator, &left, &right);
            if !operator.is_inner() {
                operator.take_rules(left.tables, right.tables);
            }
            self.operators.push(operator);
        }
        Subtree {
            tables: left.tables | right.tables,
            operators: start..self.operators.len(),
        }
    }

    fn tables_of<'e>(&self, expressions: impl Iterator<Item = &'e Expression>) -> Set {
        let mut read = ColumnSet::new();
        read.add_read_by(expressions);
        let leaves = self.leaves.iter().enumerate();
        leaves
            .filter(|(_, leaf)| leaf.columns.intersects(&read))
            .fold(0, |set, (number, _)| set | 1 << number)
    }

    fn rules_of(&self, operator: &Operator, left: &Subtree, right: &Subtree) -> Vec<(Set, Set)> {
        let mut rules = Vec::new();
        let narrowed = |tables: Set, below: &Operator| match tables & below.reads {
            0 => tables,
            read => read,
        };
        for below in &self.operators[left.operators.clone()] {
            let (left, right) = below.written;
            if !self.is_associative(below, operator) {
                rules.push((right, narrowed(left, below)));
            }
            // For inner, semi, anti and left outer joins (a ∘ b) ∘ c is always equal to (a ∘ c) ∘ b.
        }
        for below in &self.operators[right.operators.clone()] {
            let (left, right) = below.written;
            if !self.is_associative(operator, below) {
                rules.push((left, narrowed(right, below)));
            }
            if !is_right_asscom(operator.kind, below.kind) {
                rules.push((right, narrowed(left, below)));
            }
        }
        rules
    }

    /// Associativity: whether (a ∘ b) ∘ c equals a ∘ (b ∘ c), where `first` stands to the left.
    fn is_associative(&self, first: &Operator, second: &Operator) -> bool {
        match (first.kind, second.kind) {
            (JoinKind::Inner, _) => true,
            // A row of NULLs of the middle table must find no partner.
            (JoinKind::Left, JoinKind::Left) => {
                let mut middle = ColumnSet::new();
                for leaf in each(first.written.1 & second.written.0) {
                    middle.extend_from(&self.leaves[leaf].columns);
                }
                second.reads & second.written.0 & !first.written.1 == 0
                    && second.on.iter().any(|on| rejects_nulls(on, &middle))
            }
            _ => false,
        }
    }

    /// Connects tables without a join condition by cross products.
    fn connect(&mut self) {
        let mut parts: Vec<Set> = (0..self.leaves.len()).map(|leaf| 1 << leaf).collect();
        let mut unite = |set: Set| {
            let (mut all, before) = (0, parts.len());
            parts.retain(|part| {
                let touches = part & set != 0;
                all |= if touches { *part } else { 0 };
                !touches
            });
            parts.push(all);
            parts.len() < before
        };
        for operator in self.operators.iter().filter(|one| !one.is_cross) {
            unite(operator.needs());
        }
        self.operators
            .retain(|operator| !operator.is_cross || unite(operator.needs()));
    }
}

/// Right asscom: whether a ∘ (b ∘ c) equals b ∘ (a ∘ c).
fn is_right_asscom(first: JoinKind, second: JoinKind) -> bool {
    first == JoinKind::Inner && second == JoinKind::Inner
}

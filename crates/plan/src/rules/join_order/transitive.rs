//! Transitive equalities: `a = b AND b = c` implies `a = c`, by which `a` and `c` may be joined first.
//!
//! All equalities of a class of columns are derived, so that each pair of tables has one, and where two sets are joined
//! one of those between them is used ([`super::costs`]). That is sufficient: in a joined set all columns of the class
//! are equal. It requires that no table has two columns of a class, which nothing would compare.

use super::operators::{Operator, Region, Set};
use crate::bind::compare_expression as compare;
use crate::rules::equality_classes::{EqualityClass, EqualityClasses, column_pair};
use crate::tree::expression::{Comparison, Expression};
use crate::tree::physical::JoinKind;

/// Maximum size of a class for derivation: more pairs would be too many orders.
const MEMBERS_MAX: usize = 8;

impl Region {
    /// Adds the equalities implied by those that hold for all rows.
    pub(super) fn derive_equalities(&mut self) {
        // Rows of these tables may be missing, or only their existence matters.
        let beyond = self.operators.iter().filter(|one| !one.is_inner());
        let beyond: Set = beyond.fold(0, |set, one| set | one.written.1);
        let mut classes = EqualityClasses::default();
        let sources: Vec<usize> = (0..self.operators.len())
            .filter(|number| self.operators[*number].equality(beyond).is_some())
            .collect();
        if sources.len() < 2 {
            return;
        }
        for number in &sources {
            classes.learn(&self.operators[*number].on[0]);
        }
        for (number, class) in classes.iter().enumerate() {
            let Some(members) = self.members(class) else {
                continue;
            };
            let own: Vec<usize> = sources
                .iter()
                .copied()
                .filter(|source| classes.number_of(&self.operators[*source].on[0]) == Some(number))
                .collect();
            // An operator that can only be reordered with others is not changed.
            if own
                .iter()
                .all(|source| self.operators[*source].rules.is_empty())
            {
                self.complete(number, &members, &own);
            }
        }
    }

    /// Columns of a class and their tables, if an equality can be derived.
    fn members(&self, class: &EqualityClass) -> Option<Vec<(Set, Expression)>> {
        let mut all: Set = 0;
        let mut members = Vec::new();
        for (id, column) in class.columns() {
            let mut leaves = self.leaves.iter();
            let leaf: Set = 1 << leaves.position(|leaf| leaf.columns.contains(id))?;
            if all & leaf != 0 || members.len() == MEMBERS_MAX {
                return None;
            }
            all |= leaf;
            members.push((leaf, column));
        }
        (members.len() > 2).then_some(members)
    }

    /// Adds an equality for each pair of tables without one.
    fn complete(&mut self, class: usize, members: &[(Set, Expression)], own: &[usize]) {
        for number in own {
            self.operators[*number].class = Some(class);
        }
        for (at, (left, a)) in members.iter().enumerate() {
            for (right, b) in &members[at + 1..] {
                let is_known = |number: &usize| self.operators[*number].needs() == left | right;
                if own.iter().any(is_known) {
                    continue;
                }
                self.operators.push(Operator {
                    kind: JoinKind::Inner,
                    on: vec![compare(Comparison::Equal, a.clone(), b.clone())],
                    null_aware: Vec::new(),
                    left: *left,
                    right: *right,
                    rules: Vec::new(),
                    is_cross: false,
                    class: Some(class),
                    written: (*left, *right),
                    reads: left | right,
                });
            }
        }
    }
}

impl Operator {
    /// The equality of two columns that the operator is, if it holds for all rows.
    fn equality(&self, beyond: Set) -> Option<&Expression> {
        let [on] = self.on.as_slice() else {
            return None;
        };
        let is_plain = self.is_inner() && self.needs() & beyond == 0;
        (is_plain && column_pair(on).is_some()).then_some(on)
    }
}

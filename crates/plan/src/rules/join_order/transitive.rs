//! Equalities that follow from others: of `a = b AND b = c` follows `a = c`, by which `a` and `c` may be joined first.
//!
//! The equalities of a class of columns are all there, each pair of tables has one, and where two sets are joined one of
//! those between them is asked ([`super::costs`]). That is enough: in a set that was joined so, all columns of the
//! class are equal. It holds only where no table has two columns of a class, which nothing would compare.

use super::operators::{Operator, Region, Set};
use crate::bind::compare_expression as compare;
use crate::rules::equality_classes::{EqualityClass, EqualityClasses, column_pair};
use crate::tree::expression::{Comparison, Expression};
use crate::tree::physical::JoinKind;

/// Of larger classes nothing is derived: all pairs would be too many orders to look at.
const MEMBERS_MAX: usize = 8;

impl Region {
    /// Adds the equalities that follow from those which hold of all rows.
    pub(super) fn derive_equalities(&mut self) {
        // Rows of these may be missing, or are only looked for.
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
            // What may change its place only with others is left alone.
            if own
                .iter()
                .all(|source| self.operators[*source].rules.is_empty())
            {
                self.complete(number, &members, &own);
            }
        }
    }

    /// The columns of a class and their tables, if there is anything to derive.
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

    /// Makes an equality of each pair of tables that has none.
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
    /// The equality of two columns that it is, if that holds of all rows.
    fn equality(&self, beyond: Set) -> Option<&Expression> {
        let [on] = self.on.as_slice() else {
            return None;
        };
        let is_plain = self.is_inner() && self.needs() & beyond == 0;
        (is_plain && column_pair(on).is_some()).then_some(on)
    }
}

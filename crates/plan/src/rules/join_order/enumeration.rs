//! Enumeration of all pairs of connected sets of tables that an edge joins, each once and parts before wholes:
//! algorithm DPhyp of Moerkotte and Neumann, "Dynamic Programming Strikes Back" (SIGMOD 2008).

use super::operators::{Set, each, is_subset};

/// A hyperedge between two sets of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge(pub(super) Set, pub(super) Set);

/// Receiver of the pairs, which has a plan for each set that it could join.
pub(super) trait Plans {
    /// Whether there is a plan for a set.
    fn has(&self, set: Set) -> bool;

    /// Receives two sets that an edge joins.
    fn pair(&mut self, first: Set, second: Set);
}

/// Error: the number of pairs exceeds the budget.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

struct Enumeration<'g, P> {
    /// For each table the tables that a simple edge joins with it.
    simple: Vec<Set>,
    /// Hyperedges of more than two tables.
    complex: Vec<Edge>,
    plans: &'g mut P,
    budget: Budget,
}

/// Remaining budget of the enumeration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) sets: usize,
    pub(super) pairs: usize,
}

/// The tables up to `table`.
fn up_to(table: usize) -> Set {
    Set::MAX >> (Set::BITS - 1 - table as u32)
}

/// Lowest bit of a set.
fn first_of(set: Set) -> Set {
    set & set.wrapping_neg()
}

/// Calls `plans` for all pairs, or for some if there are more than `budget`.
pub(super) fn enumerate<P: Plans>(
    tables: usize,
    edges: &[Edge],
    budget: Budget,
    plans: &mut P,
) -> Result<(), TooMany> {
    let mut simple = vec![0; tables];
    let mut complex = Vec::new();
    for edge in edges {
        if edge.0.count_ones() == 1 && edge.1.count_ones() == 1 {
            simple[edge.0.trailing_zeros() as usize] |= edge.1;
            simple[edge.1.trailing_zeros() as usize] |= edge.0;
        } else {
            complex.push(*edge);
        }
    }
    let mut enumeration = Enumeration {
        simple,
        complex,
        plans,
        budget,
    };
    for table in (0..tables).rev() {
        enumeration.emit(1 << table)?;
        enumeration.extend(1 << table, up_to(table))?;
    }
    Ok(())
}

impl<P: Plans> Enumeration<'_, P> {
    fn spend(&mut self) -> Result<(), TooMany> {
        self.budget.sets = self.budget.sets.checked_sub(1).ok_or(TooMany)?;
        Ok(())
    }

    fn pair(&mut self, first: Set, second: Set) -> Result<(), TooMany> {
        self.budget.pairs = self.budget.pairs.checked_sub(1).ok_or(TooMany)?;
        self.plans.pair(first, second);
        Ok(())
    }

    /// Tables by which a set could grow, except those of `without`; the first table of a hyperedge stands for all.
    fn neighbours(&self, set: Set, without: Set) -> Set {
        let without = without | set;
        let mut found = each(set).fold(0, |found, table| found | self.simple[table]) & !without;
        for Edge(a, b) in &self.complex {
            for (near, far) in [(a, b), (b, a)] {
                if is_subset(*near, set) && far & without == 0 && far & found == 0 {
                    found |= first_of(*far);
                }
            }
        }
        found
    }

    fn are_joined(&self, first: Set, second: Set) -> bool {
        if each(first).any(|table| self.simple[table] & second != 0) {
            return true;
        }
        self.complex.iter().any(|Edge(a, b)| {
            is_subset(*a, first) && is_subset(*b, second)
                || is_subset(*b, first) && is_subset(*a, second)
        })
    }

    /// Extends a set in all ways.
    fn extend(&mut self, set: Set, without: Set) -> Result<(), TooMany> {
        let neighbours = self.neighbours(set, without);
        for more in subsets(neighbours) {
            self.spend()?;
            if self.plans.has(set | more) {
                self.emit(set | more)?;
            }
        }
        for more in subsets(neighbours) {
            self.spend()?;
            crate::stack::with_stack(|| self.extend(set | more, without | neighbours))?;
        }
        Ok(())
    }

    /// Finds all sets that a set may be joined with.
    fn emit(&mut self, first: Set) -> Result<(), TooMany> {
        let without = first | up_to(first.trailing_zeros() as usize);
        let neighbours = self.neighbours(first, without);
        let tables: Vec<usize> = each(neighbours).collect();
        for table in tables.into_iter().rev() {
            let second = 1 << table;
            if self.are_joined(first, second) {
                self.spend()?;
                self.pair(first, second)?;
            }
            let before = up_to(table) & neighbours;
            self.extend_second(first, second, without | before)?;
        }
        Ok(())
    }

    fn extend_second(&mut self, first: Set, second: Set, without: Set) -> Result<(), TooMany> {
        let neighbours = self.neighbours(second, without);
        for more in subsets(neighbours) {
            self.spend()?;
            if self.plans.has(second | more) && self.are_joined(first, second | more) {
                self.pair(first, second | more)?;
            }
        }
        for more in subsets(neighbours) {
            self.spend()?;
            let without = without | neighbours;
            crate::stack::with_stack(|| self.extend_second(first, second | more, without))?;
        }
        Ok(())
    }
}

/// All nonempty subsets, smaller ones before those that contain them.
fn subsets(of: Set) -> impl Iterator<Item = Set> {
    let mut last: Set = 0;
    std::iter::from_fn(move || {
        last = last.wrapping_sub(of) & of;
        (last != 0).then_some(last)
    })
}

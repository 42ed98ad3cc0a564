//! Search for the best join order: exhaustive within a budget ([`super::enumeration`]), or else the pair with the
//! fewest rows next ("greedy operator ordering", Fegaras 1998).

use std::collections::HashMap;

use super::costs::{Costs, Joined};
use super::enumeration::{Budget, Edge, Plans, enumerate};
use super::operators::{Set, each, is_subset};

/// Maximum number of sets of tables, whatever `optimizer_max_subgraph_pairs` is: some milliseconds.
const SETS_MAX: usize = 12_000;
/// Maximum cost ratio at which a plan replaces one found before.
const BETTER: f64 = 0.999;

/// Plans for sets of tables.
pub(super) struct Search<'c, 'a> {
    pub(super) costs: &'c Costs<'a>,
    pub(super) plans: HashMap<Set, Joined>,
    /// Number of pairs compared.
    pub(super) pairs: usize,
    /// Whether there were too many pairs to compare all.
    pub(super) is_greedy: bool,
}

/// Join order constraints of hints.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// For each table the tables that precede it.
    pub(super) before: Vec<Set>,
}

impl<'c, 'a> Search<'c, 'a> {
    pub(super) fn new(costs: &'c Costs<'a>) -> Self {
        let tables = 0..costs.region.leaves.len();
        Self {
            plans: tables.map(|leaf| (1 << leaf, costs.table(leaf))).collect(),
            costs,
            pairs: 0,
            is_greedy: false,
        }
    }

    /// Set of all tables.
    pub(super) fn all(&self) -> Set {
        Set::MAX >> (Set::BITS as usize - self.costs.region.leaves.len())
    }

    /// Plan for all tables, if one was found.
    pub(super) fn run(&mut self) -> Option<Joined> {
        let operators = self.costs.region.operators.iter();
        let edges: Vec<Edge> = operators.map(|one| Edge(one.left, one.right)).collect();
        let tables = self.costs.region.leaves.len();
        let budget = Budget {
            sets: SETS_MAX,
            pairs: self.costs.options.max_subgraph_pairs as usize,
        };
        if enumerate(tables, &edges, budget, self).is_err() {
            self.is_greedy = true;
            self.greedy();
        }
        self.plans.get(&self.all()).copied()
    }

    /// Greedily joins the two sets with the fewest joined rows.
    fn greedy(&mut self) {
        self.plans.retain(|set, _| set.count_ones() == 1);
        let mut sets: Vec<Set> = (0..self.costs.region.leaves.len())
            .map(|leaf| 1 << leaf)
            .collect();
        let mut pairs: Vec<(Set, Set, Joined)> = Vec::new();
        for (at, first) in sets.iter().enumerate() {
            let others = sets[at + 1..].iter();
            pairs.extend(others.filter_map(|second| self.best_of(*first, *second)));
        }
        while sets.len() > 1 {
            let order = |a: &&(Set, Set, Joined), b: &&(Set, Set, Joined)| {
                let rows = a.2.rows.total_cmp(&b.2.rows);
                rows.then(a.2.cost.total_cmp(&b.2.cost))
            };
            let Some((first, second, joined)) = pairs.iter().min_by(order).copied() else {
                return;
            };
            let both = first | second;
            self.plans.insert(both, joined);
            sets.retain(|set| set & both == 0);
            pairs.retain(|(a, b, _)| (a | b) & both == 0);
            pairs.extend(sets.iter().filter_map(|set| self.best_of(both, *set)));
            sets.push(both);
        }
    }

    /// A pair of sets, with its best join.
    fn best_of(&mut self, first: Set, second: Set) -> Option<(Set, Set, Joined)> {
        self.pairs += 1;
        let (first, second) = if first.trailing_zeros() < second.trailing_zeros() {
            (first, second)
        } else {
            (second, first)
        };
        let joined = self.joined(first, second)?;
        Some((first, second, joined))
    }

    /// Best join of two sets.
    fn joined(&self, first: Set, second: Set) -> Option<Joined> {
        let (a, b) = (*self.plans.get(&first)?, *self.plans.get(&second)?);
        // All plans of a set have the same cardinality.
        let rows = self.plans.get(&(first | second)).map(|known| known.rows);
        let mut best: Option<Joined> = None;
        for ((x, left), (y, right)) in [((first, a), (second, b)), ((second, b), (first, a))] {
            let Some(operators) = self.costs.operators(x, y) else {
                continue;
            };
            let rows = rows.or(best.map(|best| best.rows));
            let step = self.costs.step(&operators, (x, left), (y, right), rows);
            if best.is_none_or(|best| step.cost < best.cost * BETTER) {
                best = Some(Joined {
                    rows: step.rows,
                    cost: step.cost,
                    parts: Some((x, y)),
                });
            }
        }
        best
    }

    /// Left-deep plan in the order of hints.
    pub(super) fn in_order(&mut self, wanted: &Wanted) -> Option<Joined> {
        let all = self.all();
        let is_next = |leaf: usize, joined: Set| {
            joined & 1 << leaf == 0 && is_subset(wanted.before[leaf], joined)
        };
        let mut best: Option<Joined> = None;
        for first in each(all).filter(|leaf| is_next(*leaf, 0)) {
            let mut joined: Set = 1 << first;
            let mut plans = vec![(joined, self.plans[&joined])];
            let mut current = self.plans[&joined];
            while joined != all {
                let nexts = each(all & !joined).filter(|leaf| is_next(*leaf, joined));
                let steps = nexts.filter_map(|leaf| {
                    let set: Set = 1 << leaf;
                    let operators = self.costs.ordered_operators(joined, set)?;
                    let is_linked = !operators.is_empty();
                    let right = (set, self.plans[&set]);
                    let step = self.costs.step(&operators, (joined, current), right, None);
                    let parts = Some((joined, set));
                    let next = Joined {
                        rows: step.rows,
                        cost: step.cost,
                        parts,
                    };
                    Some((!is_linked, next, set))
                });
                let order = |a: &(bool, Joined, Set), b: &(bool, Joined, Set)| {
                    a.0.cmp(&b.0).then(a.1.cost.total_cmp(&b.1.cost))
                };
                let Some((_, next, set)) = steps.min_by(order) else {
                    break;
                };
                joined |= set;
                current = next;
                plans.push((joined, next));
            }
            if joined == all && best.is_none_or(|best| current.cost < best.cost) {
                best = Some(current);
                self.plans.retain(|set, _| set.count_ones() == 1);
                self.plans.extend(plans);
            }
        }
        best
    }
}

impl Plans for Search<'_, '_> {
    fn has(&self, set: Set) -> bool {
        self.plans.contains_key(&set)
    }

    fn pair(&mut self, first: Set, second: Set) {
        self.pairs += 1;
        // In the order written, if the sets are otherwise equal.
        let (first, second) = if first.trailing_zeros() < second.trailing_zeros() {
            (first, second)
        } else {
            (second, first)
        };
        let Some(joined) = self.joined(first, second) else {
            return;
        };
        let known = self.plans.get(&(first | second));
        if known.is_none_or(|known| joined.cost < known.cost * BETTER) {
            self.plans.insert(first | second, joined);
        }
    }
}

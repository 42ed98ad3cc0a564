//! Checker of a history: violations of its isolation level.
//!
//! The values read show which transaction wrote a version before another (ww), wrote what another read (wr), and read
//! what another overwrote (rw). A cycle has no serial order of the transactions; the possible kinds of cycles
//! distinguish the levels (Adya, "Weak Consistency", 1999).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::histories::record::{End, Operation, Transaction};

/// Isolation level and read mode of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Level {
    /// READ UNCOMMITTED, checked like the next one.
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    /// REPEATABLE READ, with every SELECT locking.
    LockingReads,
    Serializable,
}

impl Level {
    #[cfg(test)]
    const ALL: [Self; 5] = [
        Self::ReadUncommitted,
        Self::ReadCommitted,
        Self::RepeatableRead,
        Self::LockingReads,
        Self::Serializable,
    ];

    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead | Self::LockingReads => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }

    /// Whether each statement has its own snapshot.
    fn is_by_statement(self) -> bool {
        matches!(self, Self::ReadUncommitted | Self::ReadCommitted)
    }

    fn is_serializable(self) -> bool {
        matches!(self, Self::LockingReads | Self::Serializable)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    WriteWrite,
    WriteRead,
    ReadWrite,
}

/// Facts about values.
#[derive(Debug, Default)]
struct Facts {
    /// The transaction that wrote a value.
    writers: HashMap<u64, u64>,
    /// The ends of the transactions.
    ends: HashMap<u64, End>,
    /// The values of each list, the versions of each register, and the members of each set, at the end.
    lists: BTreeMap<usize, Vec<u64>>,
    registers: BTreeMap<usize, BTreeMap<u64, u64>>,
    sets: BTreeMap<usize, BTreeSet<u64>>,
    /// The last value that a transaction gave a list or register.
    last: HashMap<(u64, bool, usize), u64>,
}

/// All violations in a history.
pub(crate) fn problems(level: Level, history: &[Transaction]) -> Vec<String> {
    let mut problems = Vec::new();
    let facts = facts(history, &mut problems);
    let mut edges: BTreeSet<(u64, u64, Kind)> = BTreeSet::new();
    write_orders(&facts, &mut edges);
    for transaction in history {
        read(level, &facts, transaction, &mut edges, &mut problems);
    }
    let committed = |number: &u64| facts.ends.get(number) != Some(&End::RolledBack);
    edges.retain(|(from, to, _)| from != to && committed(from) && committed(to));
    let shown = |edge: &&(u64, u64, Kind)| level.is_serializable() || edge.2 != Kind::ReadWrite;
    let of_level: Vec<_> = edges.iter().filter(shown).copied().collect();
    if let Some(cycle) = cycle(&of_level) {
        problems.push(describe("a cycle", &cycle, history));
    }
    if level == Level::RepeatableRead {
        snapshots(history, &edges, &mut problems);
    }
    problems
}

fn facts(history: &[Transaction], problems: &mut Vec<String>) -> Facts {
    let mut facts = Facts::default();
    for transaction in history {
        facts.ends.insert(transaction.number, transaction.end);
        for (place, operation) in transaction.operations.iter().enumerate() {
            let number = transaction.number;
            match operation {
                Operation::Append(key, value) => {
                    facts.writers.insert(*value, number);
                    facts.last.insert((number, true, *key), *value);
                }
                Operation::Add(_, value) => {
                    facts.writers.insert(*value, number);
                }
                Operation::Write(key, value) => {
                    facts.writers.insert(*value, number);
                    facts.last.insert((number, false, *key), *value);
                    // The following read shows which version it is.
                    if let Some(Operation::Register(_, version, _)) =
                        transaction.operations.get(place + 1)
                        && transaction.is_committed()
                    {
                        let versions = facts.registers.entry(*key).or_default();
                        if let Some(other) = versions.insert(*version, *value) {
                            problems.push(format!(
                                "register {key}: {value} and {other} are both version {version}"
                            ));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let Some(last) = history.last() else {
        return facts;
    };
    for operation in &last.operations {
        match operation {
            Operation::List(key, values) => {
                facts.lists.insert(*key, values.clone());
            }
            Operation::Set(key, values) => {
                facts.sets.insert(*key, values.iter().copied().collect());
            }
            Operation::Register(key, version, value) if *version > 0 => {
                facts
                    .registers
                    .entry(*key)
                    .or_default()
                    .insert(*version, *value);
            }
            _ => {}
        }
    }
    // No committed change is lost, and no rolled back change is there.
    for transaction in history {
        for operation in &transaction.operations {
            let (key, value, found) = match operation {
                Operation::Append(key, value) => (key, value, facts.lists[key].contains(value)),
                Operation::Add(key, value) => (key, value, facts.sets[key].contains(value)),
                _ => continue,
            };
            match (transaction.end, found) {
                (End::Committed, false) => {
                    problems.push(format!("{value} of key {key} was committed and is lost"));
                }
                (End::RolledBack, true) => {
                    problems.push(format!("{value} of key {key} was rolled back and is there"));
                }
                _ => {}
            }
        }
    }
    facts
}

fn write_orders(facts: &Facts, edges: &mut BTreeSet<(u64, u64, Kind)>) {
    let mut order = |values: Vec<u64>| {
        for pair in values.windows(2) {
            if let (Some(from), Some(to)) =
                (facts.writers.get(&pair[0]), facts.writers.get(&pair[1]))
            {
                edges.insert((*from, *to, Kind::WriteWrite));
            }
        }
    };
    for values in facts.lists.values() {
        order(values.clone());
    }
    for versions in facts.registers.values() {
        order(versions.values().copied().collect());
    }
}

/// Facts from a transaction's reads.
fn read(
    level: Level,
    facts: &Facts,
    transaction: &Transaction,
    edges: &mut BTreeSet<(u64, u64, Kind)>,
    problems: &mut Vec<String>,
) {
    let number = transaction.number;
    let is_own = |value: &u64| facts.writers.get(value) == Some(&number);
    let mut own: HashSet<u64> = HashSet::new();
    // Values of keys that the transaction has read and not written since.
    let mut before: HashMap<(u8, usize), Vec<u64>> = HashMap::new();
    let mut seen = |value: u64, list: Option<(bool, usize)>, edges: &mut BTreeSet<_>| {
        let Some(writer) = facts
            .writers
            .get(&value)
            .copied()
            .filter(|it| *it != number)
        else {
            return;
        };
        if facts.ends.get(&writer) == Some(&End::RolledBack) {
            problems.push(format!("{number} has read {value}, which was rolled back"));
        }
        if let Some((is_list, key)) = list
            && facts.last.get(&(writer, is_list, key)) != Some(&value)
        {
            problems.push(format!("{number} has read {value}, which is intermediate"));
        }
        edges.insert((writer, number, Kind::WriteRead));
    };
    let mut wrong = Vec::new();
    for operation in &transaction.operations {
        let repeated = match operation {
            Operation::Append(key, value) => {
                own.insert(*value);
                before.remove(&(0, *key));
                continue;
            }
            Operation::Write(key, value) => {
                own.insert(*value);
                before.remove(&(1, *key));
                continue;
            }
            Operation::Add(_, value) => {
                own.insert(*value);
                continue;
            }
            Operation::List(key, values) => {
                let others: Vec<u64> = values.iter().filter(|it| !is_own(it)).copied().collect();
                let all = facts.lists.get(key).cloned().unwrap_or_default();
                let all: Vec<u64> = all.into_iter().filter(|it| !is_own(it)).collect();
                let mine: Vec<u64> = values.iter().filter(|it| is_own(it)).copied().collect();
                if !all.starts_with(&others) {
                    wrong.push(format!(
                        "{number} has read list {key} as {values:?} of {all:?}"
                    ));
                }
                if let Some(missing) = mine.iter().find(|it| !own.contains(it)) {
                    wrong.push(format!(
                        "{number} has read its {missing} before it wrote it"
                    ));
                }
                if let Some(last) = others.last() {
                    seen(*last, Some((true, *key)), edges);
                }
                let next = all.get(others.len()).and_then(|it| facts.writers.get(it));
                if let Some(next) = next {
                    edges.insert((number, *next, Kind::ReadWrite));
                }
                ((0, *key), values.clone())
            }
            Operation::Register(key, version, value) => {
                if !is_own(value) {
                    seen(*value, Some((false, *key)), edges);
                }
                let versions = facts.registers.get(key);
                let next = versions.and_then(|it| it.range(version + 1..).next());
                if let Some(next) = next.and_then(|(_, value)| facts.writers.get(value)) {
                    edges.insert((number, *next, Kind::ReadWrite));
                }
                ((1, *key), vec![*version, *value])
            }
            Operation::Set(key, values) => {
                for value in values.iter().filter(|it| !is_own(it)) {
                    seen(*value, None, edges);
                }
                let all = facts.sets.get(key).into_iter().flatten();
                for missing in all.filter(|it| !is_own(it) && !values.contains(it)) {
                    if let Some(writer) = facts.writers.get(missing) {
                        edges.insert((number, *writer, Kind::ReadWrite));
                    }
                }
                let mut others: Vec<u64> =
                    values.iter().filter(|it| !is_own(it)).copied().collect();
                others.sort_unstable();
                ((2, *key), others)
            }
        };
        let (place, values) = repeated;
        if !level.is_by_statement()
            && let Some(first) = before.insert(place, values.clone())
            && first != values
        {
            wrong.push(format!(
                "{number} has read {place:?} as {first:?} and then as {values:?}"
            ));
        }
    }
    problems.extend(wrong);
}

/// REPEATABLE READ: the reads of a transaction that changes nothing are of one snapshot. A transaction that overwrote a
/// value it read is later, and so are all that follow that one: it has read none of their values.
fn snapshots(
    history: &[Transaction],
    edges: &BTreeSet<(u64, u64, Kind)>,
    problems: &mut Vec<String>,
) {
    let mut forward: HashMap<u64, Vec<u64>> = HashMap::new();
    for (from, to, kind) in edges {
        if *kind != Kind::ReadWrite {
            forward.entry(*from).or_default().push(*to);
        }
    }
    for transaction in history
        .iter()
        .filter(|it| it.only_reads() && it.is_committed())
    {
        let number = transaction.number;
        let overwriters =
            edges.range((number, 0, Kind::WriteWrite)..(number + 1, 0, Kind::WriteWrite));
        let overwriters = overwriters.filter(|(.., kind)| *kind == Kind::ReadWrite);
        let mut next: Vec<u64> = overwriters.map(|(_, to, _)| *to).collect();
        let mut seen = HashSet::new();
        while let Some(one) = next.pop() {
            if one == number {
                problems.push(format!(
                    "{number} has read more than one snapshot: {transaction:?}"
                ));
                break;
            }
            if seen.insert(one) {
                next.extend(forward.get(&one).into_iter().flatten());
            }
        }
    }
}

/// A short cycle of edges, if there is one.
fn cycle(edges: &[(u64, u64, Kind)]) -> Option<Vec<(u64, u64, Kind)>> {
    let mut forward: BTreeMap<u64, Vec<(u64, Kind)>> = BTreeMap::new();
    for (from, to, kind) in edges {
        forward.entry(*from).or_default().push((*to, *kind));
    }
    let mut shortest: Option<Vec<(u64, u64, Kind)>> = None;
    for start in forward.keys() {
        // The shortest way back.
        let mut came: HashMap<u64, (u64, Kind)> = HashMap::new();
        let mut next = std::collections::VecDeque::from([*start]);
        'search: while let Some(one) = next.pop_front() {
            for (to, kind) in forward.get(&one).into_iter().flatten() {
                if to == start {
                    let mut cycle = vec![(one, *to, *kind)];
                    let mut at = one;
                    while let Some((from, kind)) = came.get(&at).filter(|_| at != *start) {
                        cycle.push((*from, at, *kind));
                        at = *from;
                    }
                    cycle.reverse();
                    if shortest.as_ref().is_none_or(|it| cycle.len() < it.len()) {
                        shortest = Some(cycle);
                    }
                    break 'search;
                }
                if !came.contains_key(to) {
                    came.insert(*to, (one, *kind));
                    next.push_back(*to);
                }
            }
        }
    }
    shortest
}

fn describe(what: &str, cycle: &[(u64, u64, Kind)], history: &[Transaction]) -> String {
    let mut text = what.to_owned();
    for (from, to, kind) in cycle {
        text.push_str(&format!("\n  {from} -> {to}: {kind:?}"));
    }
    for (from, ..) in cycle {
        if let Some(transaction) = history.iter().find(|it| it.number == *from) {
            text.push_str(&format!("\n  {transaction:?}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Level, problems};
    use crate::histories::record::{End, Operation, Transaction};

    fn transaction(number: u64, operations: Vec<Operation>) -> Transaction {
        Transaction {
            number,
            operations,
            end: End::Committed,
        }
    }

    fn rolled_back(number: u64, operations: Vec<Operation>) -> Transaction {
        Transaction {
            end: End::RolledBack,
            ..transaction(number, operations)
        }
    }

    fn set(values: &[u64]) -> Operation {
        Operation::Set(0, values.to_vec())
    }

    fn add(value: u64) -> Operation {
        Operation::Add(0, value)
    }

    fn list(key: usize, values: &[u64]) -> Operation {
        Operation::List(key, values.to_vec())
    }

    fn append(key: usize, value: u64) -> Operation {
        Operation::Append(key, value)
    }

    fn register(version: u64, value: u64) -> Operation {
        Operation::Register(0, version, value)
    }

    fn write(value: u64) -> Operation {
        Operation::Write(0, value)
    }

    /// The levels that a history violates.
    fn found(history: &[Transaction]) -> Vec<Level> {
        let is_wrong = |level: &Level| !problems(*level, history).is_empty();
        Level::ALL.into_iter().filter(is_wrong).collect()
    }

    const SERIALIZABLE: [Level; 2] = [Level::LockingReads, Level::Serializable];
    const REPEATABLE: [Level; 3] = [
        Level::RepeatableRead,
        Level::LockingReads,
        Level::Serializable,
    ];

    /// G0: two transactions overwrite each other's changes, in different orders.
    #[test]
    fn dirty_writes_are_found() {
        let history = [
            transaction(1, vec![append(0, 100), append(1, 101)]),
            transaction(2, vec![append(0, 200), append(1, 201)]),
            transaction(3, vec![list(0, &[100, 200]), list(1, &[201, 101])]),
        ];
        assert_eq!(found(&history), Level::ALL);
        let mut history = history;
        history[2].operations[1] = list(1, &[101, 201]);
        assert_eq!(found(&history), []);
    }

    /// G1a: reads of a rolled back value.
    #[test]
    fn reads_of_what_was_rolled_back_are_found() {
        let history = [
            rolled_back(1, vec![append(0, 100)]),
            transaction(2, vec![list(0, &[100])]),
            transaction(3, vec![list(0, &[])]),
        ];
        assert_eq!(found(&history), Level::ALL);
        let history = [
            rolled_back(1, vec![write(100)]),
            transaction(2, vec![register(1, 100)]),
            transaction(3, vec![register(0, 0)]),
        ];
        assert_eq!(found(&history), Level::ALL);
        let history = [
            rolled_back(1, vec![add(100)]),
            transaction(2, vec![set(&[100])]),
            transaction(3, vec![set(&[])]),
        ];
        assert_eq!(found(&history), Level::ALL);
    }

    /// G1b: reads of an intermediate value.
    #[test]
    fn reads_of_intermediate_values_are_found() {
        let history = [
            transaction(1, vec![append(0, 100), append(0, 101)]),
            transaction(2, vec![list(0, &[100])]),
            transaction(3, vec![list(0, &[100, 101])]),
        ];
        assert_eq!(found(&history), Level::ALL);
        let history = [
            transaction(
                1,
                vec![write(100), register(1, 100), write(101), register(2, 101)],
            ),
            transaction(2, vec![register(1, 100)]),
            transaction(3, vec![register(2, 101)]),
        ];
        assert_eq!(found(&history), Level::ALL);
    }

    /// G1c: each of two transactions has read what the other wrote.
    #[test]
    fn information_that_flows_in_a_cycle_is_found() {
        let history = [
            transaction(1, vec![append(0, 100), list(1, &[200])]),
            transaction(2, vec![append(1, 200), list(0, &[100])]),
            transaction(3, vec![list(0, &[100]), list(1, &[200])]),
        ];
        assert_eq!(found(&history), Level::ALL);
    }

    /// G-single: reads of two points in time.
    #[test]
    fn a_snapshot_of_two_points_in_time_is_found() {
        let history = [
            transaction(1, vec![append(0, 100), add(101)]),
            transaction(2, vec![list(0, &[]), set(&[101])]),
            transaction(3, vec![list(0, &[100]), set(&[101])]),
        ];
        assert_eq!(found(&history), REPEATABLE);
    }

    #[test]
    fn a_read_that_cannot_be_repeated_is_found() {
        let history = [
            transaction(1, vec![list(0, &[]), list(0, &[200])]),
            transaction(2, vec![append(0, 200)]),
            transaction(3, vec![list(0, &[200])]),
        ];
        assert_eq!(found(&history), REPEATABLE);
    }

    /// G2: each has read what the other changed, before the change.
    #[test]
    fn write_skew_is_found_where_it_is_forbidden() {
        let history = [
            transaction(1, vec![set(&[]), add(100)]),
            transaction(2, vec![set(&[]), add(200)]),
            transaction(3, vec![set(&[100, 200])]),
        ];
        assert_eq!(found(&history), SERIALIZABLE);
        assert_eq!(problems(Level::Serializable, &history).len(), 1);
        let history = [
            transaction(1, vec![list(0, &[]), append(1, 100)]),
            transaction(2, vec![list(1, &[]), append(0, 200)]),
            transaction(3, vec![list(0, &[200]), list(1, &[100])]),
        ];
        assert_eq!(found(&history), SERIALIZABLE);
    }

    /// Both have read a version before they wrote the next one.
    #[test]
    fn lost_updates_are_found() {
        let history = |second| {
            [
                transaction(1, vec![register(0, 0), write(100), register(1, 100)]),
                transaction(2, vec![register(0, 0), write(200), register(second, 200)]),
                transaction(3, vec![register(second, 200)]),
            ]
        };
        // MySQL's snapshots do not keep a transaction from changing rows that are newer.
        assert_eq!(found(&history(2)), SERIALIZABLE);
        // Of two changes, one has not seen the other: n = n + 1 did not read what it overwrote.
        assert_eq!(found(&history(1)), Level::ALL);
    }

    #[test]
    fn what_is_lost_or_was_rolled_back_is_found() {
        let mut history = [
            transaction(1, vec![add(100)]),
            transaction(2, vec![list(0, &[])]),
            transaction(3, vec![set(&[])]),
        ];
        assert_eq!(found(&history), Level::ALL);
        history[0].end = End::RolledBack;
        assert_eq!(found(&history), []);
        history[2].operations = vec![set(&[100])];
        assert_eq!(found(&history), Level::ALL);
        // A transaction killed during its commit may be committed or not.
        history[0].end = End::Unknown;
        assert_eq!(found(&history), []);
        history[2].operations = vec![set(&[])];
        assert_eq!(found(&history), []);
    }
}

//! Events of the transactions of sessions, reported as they happen, so that a killed process has reported them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histories::record::{End, Operation, Transaction};

/// Event of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    Begins,
    /// An operation was done.
    Done(Operation),
    /// COMMIT is about to run.
    Commits,
    Ends(End),
}

/// Recorder of the events of a transaction, by its number.
pub(crate) type Record = Box<dyn Fn(u64, Event) + Send>;

/// The transactions of events. One without a recorded end was rolled back by the end of its process, unless it was
/// about to commit.
pub(crate) fn transactions(events: impl IntoIterator<Item = (u64, Event)>) -> Vec<Transaction> {
    let mut all: BTreeMap<u64, Transaction> = BTreeMap::new();
    for (number, event) in events {
        let transaction = all.entry(number).or_insert_with(|| Transaction {
            number,
            operations: Vec::new(),
            end: End::RolledBack,
        });
        match event {
            Event::Begins => {}
            Event::Done(operation) => transaction.operations.push(operation),
            Event::Commits => transaction.end = End::Unknown,
            Event::Ends(end) => transaction.end = end,
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_about_to_commit_may_have_committed() {
        let add = Event::Done(Operation::Add(0, 100));
        let events = [
            (1, Event::Begins),
            (2, Event::Begins),
            (2, add.clone()),
            (1, add),
            (2, Event::Commits),
        ];
        let ends: Vec<End> = transactions(events).iter().map(|it| it.end).collect();
        assert_eq!(ends, [End::RolledBack, End::Unknown]);
    }
}

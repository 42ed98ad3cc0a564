//! What the transactions of sessions come to, as it happens: a process that is killed has reported it before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histories::record::{End, Operation, Transaction};

/// Something that a transaction has come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    Begins,
    /// An operation was done.
    Done(Operation),
    /// COMMIT is about to be said.
    Commits,
    Ends(End),
}

/// Records what the transaction of a number has come to.
pub(crate) type Record = Box<dyn Fn(u64, Event) + Send>;

/// The transactions of events. One whose end is not recorded was rolled back by the end of its
/// process, unless it was about to commit.
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

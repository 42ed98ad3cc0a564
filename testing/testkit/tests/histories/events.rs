//! What sessions say of their transactions, as it happens: a process that is killed has said it before.

use std::collections::BTreeMap;

use crate::record::{End, Operation, Transaction};

/// Something that a transaction has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Begins,
    /// An operation was done.
    Done(Operation),
    /// COMMIT is about to be said.
    Commits,
    Ends(End),
}

/// Hears of what the transaction of a number has come to.
pub(crate) type Tell = Box<dyn Fn(u64, Event) + Send>;

fn list(values: &[u64]) -> String {
    let values: Vec<String> = values.iter().map(u64::to_string).collect();
    format!("[{}]", values.join(","))
}

impl Event {
    /// As a line.
    pub(crate) fn line(&self, number: u64) -> String {
        let rest = match self {
            Self::Begins => "begins".to_owned(),
            Self::Commits => "commits".to_owned(),
            Self::Ends(End::Committed) => "committed".to_owned(),
            Self::Ends(End::RolledBack) => "rolled-back".to_owned(),
            Self::Ends(End::Unknown) => "unknown".to_owned(),
            Self::Done(Operation::Append { key, value }) => format!("append {key} {value}"),
            Self::Done(Operation::List { key, values }) => format!("list {key} {}", list(values)),
            Self::Done(Operation::Write { key, value }) => format!("write {key} {value}"),
            Self::Done(Operation::Register {
                key,
                version,
                value,
            }) => format!("register {key} {version} {value}"),
            Self::Done(Operation::Add { key, value }) => format!("add {key} {value}"),
            Self::Done(Operation::Set { key, values }) => format!("set {key} {}", list(values)),
        };
        format!("{number} {rest}")
    }

    /// Of a line, and the number of the transaction.
    pub(crate) fn of(line: &str) -> Option<(u64, Self)> {
        let mut words = line.split(' ');
        let number: u64 = words.next()?.parse().ok()?;
        let kind = words.next()?;
        let simple = match kind {
            "begins" => Some(Self::Begins),
            "commits" => Some(Self::Commits),
            "committed" => Some(Self::Ends(End::Committed)),
            "rolled-back" => Some(Self::Ends(End::RolledBack)),
            "unknown" => Some(Self::Ends(End::Unknown)),
            _ => None,
        };
        if let Some(event) = simple {
            return Some((number, event));
        }
        let key = words.next()?.parse().ok()?;
        let argument = words.next()?;
        let value = || argument.parse::<u64>().ok();
        let values = || -> Option<Vec<u64>> {
            let values = argument.strip_prefix('[')?.strip_suffix(']')?.split(',');
            let values = values.filter(|value| !value.is_empty());
            values.map(|value| value.parse().ok()).collect()
        };
        let operation = match kind {
            "append" => Operation::Append {
                key,
                value: value()?,
            },
            "list" => Operation::List {
                key,
                values: values()?,
            },
            "write" => Operation::Write {
                key,
                value: value()?,
            },
            "register" => Operation::Register {
                key,
                version: value()?,
                value: words.next()?.parse().ok()?,
            },
            "add" => Operation::Add {
                key,
                value: value()?,
            },
            "set" => Operation::Set {
                key,
                values: values()?,
            },
            _ => return None,
        };
        Some((number, Self::Done(operation)))
    }
}

/// The transactions that events tell of. One that has not said how it ends was rolled back by the end of its
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
    fn events_are_read_as_they_are_written() {
        let values = vec![100, 201];
        let events = [
            Event::Begins,
            Event::Done(Operation::Append { key: 1, value: 2 }),
            Event::Done(Operation::List {
                key: 1,
                values: values.clone(),
            }),
            Event::Done(Operation::Write { key: 0, value: 3 }),
            Event::Done(Operation::Register {
                key: 0,
                version: 4,
                value: 3,
            }),
            Event::Done(Operation::Add { key: 1, value: 2 }),
            Event::Done(Operation::Set { key: 1, values }),
            Event::Done(Operation::Set {
                key: 1,
                values: Vec::new(),
            }),
            Event::Commits,
            Event::Ends(End::Committed),
            Event::Ends(End::RolledBack),
            Event::Ends(End::Unknown),
        ];
        for event in events {
            assert_eq!(Event::of(&event.line(7)), Some((7, event)));
        }
        assert_eq!(Event::of("7 list 1 [100,2"), None);
    }

    #[test]
    fn who_was_about_to_commit_may_have_committed() {
        let add = Event::Done(Operation::Add { key: 0, value: 100 });
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

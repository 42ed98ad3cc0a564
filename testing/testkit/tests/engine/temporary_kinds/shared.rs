//! The model of tables that all sessions see: a base table, and shared temporary tables with and without a time to live.

use std::collections::{BTreeMap, BTreeSet};

/// Rows by their key.
pub(super) type Rows = BTreeMap<u64, u64>;

/// Changes of a transaction, by key; `None` for a removed row.
pub(super) type Changes = BTreeMap<u64, Option<u64>>;

/// A table that all sessions see.
#[derive(Debug, Clone)]
pub(super) struct Common {
    /// The committed rows after each commit, the last ones being those of now.
    pub(super) states: Vec<Rows>,
    /// The session whose transaction has tried to change rows: others would wait for it.
    pub(super) writer: Option<usize>,
    /// Sessions whose transactions use the table.
    pub(super) users: BTreeSet<usize>,
    pub(super) life: Option<Life>,
}

/// Time to live, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    pub(super) after_creation: bool,
    pub(super) length: i64,
    pub(super) created: i64,
    pub(super) used: i64,
}

impl Common {
    pub(super) fn new(life: Option<Life>) -> Self {
        Self {
            states: vec![Rows::new()],
            writer: None,
            users: BTreeSet::new(),
            life,
        }
    }

    /// The committed rows.
    pub(super) fn rows(&self) -> &Rows {
        &self.states[self.states.len() - 1]
    }

    /// Rows of a snapshot, or the newest ones, under the changes of a transaction.
    pub(super) fn seen(&self, snapshot: Option<usize>, own: Option<&Changes>) -> Rows {
        let rows = snapshot.map_or_else(|| self.rows(), |state| &self.states[state]);
        with(rows, own)
    }

    /// Commits changes.
    pub(super) fn commit(&mut self, own: &Changes) {
        if !own.is_empty() {
            let rows = with(self.rows(), Some(own));
            self.states.push(rows);
        }
    }

    /// Whether the time to live is over.
    pub(super) fn is_over(&self, now: i64) -> bool {
        self.life.is_some_and(|life| {
            let since = if life.after_creation {
                life.created
            } else {
                life.used
            };
            since + life.length <= now
        })
    }

    pub(super) fn note_use(&mut self, now: i64) {
        if let Some(life) = &mut self.life {
            life.used = now;
        }
    }
}

fn with(rows: &Rows, own: Option<&Changes>) -> Rows {
    let mut rows = rows.clone();
    for (key, value) in own.into_iter().flatten() {
        match value {
            Some(value) => rows.insert(*key, *value),
            None => rows.remove(key),
        };
    }
    rows
}

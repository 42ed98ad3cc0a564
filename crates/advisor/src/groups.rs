//! Runs by user, by host and by schema.

use std::collections::HashMap;

use crate::distribution::{Distribution, Percentiles};
use crate::event::Event;

/// Greatest number of names kept of each kind.
const NAMES_MAX: usize = 2000;

/// Kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GroupKind {
    /// The user part of an account.
    User,
    /// The host part of an account.
    Host,
    /// The default database.
    Schema,
}

/// Runs of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub(crate) runs: u64,
    pub(crate) seconds: f64,
    pub(crate) tables: u64,
    pub(crate) disk_tables: u64,
    times: Distribution,
}

impl Group {
    /// Percentiles of its run times, where single times are known.
    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        self.times.percentiles()
    }
}

/// All groups of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_name: HashMap<(GroupKind, String), Group>,
}

impl Groups {
    /// Adds one run.
    pub(crate) fn add(&mut self, event: &Event) {
        let (user, host) = event.account.rsplit_once('@').unwrap_or_default();
        let schema = event.database.as_deref().unwrap_or_default();
        for (kind, name) in [
            (GroupKind::User, user),
            (GroupKind::Host, host),
            (GroupKind::Schema, schema),
        ] {
            let Some(group) = self.group(kind, name) else {
                continue;
            };
            group.runs += 1;
            group.seconds += event.query_time;
            group.times.add(event.query_time);
            group.tables = group.tables.saturating_add(event.tables.unwrap_or(0));
            group.disk_tables = group
                .disk_tables
                .saturating_add(event.disk_tables.unwrap_or(0));
        }
    }

    /// Adds a server's own totals of a schema: runs, seconds, temporary tables, and those on disk.
    pub(crate) fn add_sums(&mut self, schema: &str, runs: u64, seconds: f64, tables: [u64; 2]) {
        if let Some(group) = self.group(GroupKind::Schema, schema) {
            group.runs = group.runs.saturating_add(runs);
            group.seconds += seconds;
            group.tables = group.tables.saturating_add(tables[0]);
            group.disk_tables = group.disk_tables.saturating_add(tables[1]);
        }
    }

    fn group(&mut self, kind: GroupKind, name: &str) -> Option<&mut Group> {
        if name.is_empty() {
            return None;
        }
        let key = (kind, name.to_owned());
        if self.by_name.len() >= NAMES_MAX * 3 && !self.by_name.contains_key(&key) {
            return None;
        }
        Some(self.by_name.entry(key).or_default())
    }

    /// The groups of a kind, ordered by time, greatest first.
    pub(crate) fn of(&self, kind: GroupKind) -> Vec<(&str, &Group)> {
        let own = self.by_name.iter().filter(|((own, _), _)| *own == kind);
        let mut list: Vec<(&str, &Group)> = own
            .map(|((_, name), group)| (name.as_str(), group))
            .collect();
        list.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(b.0)));
        list
    }
}

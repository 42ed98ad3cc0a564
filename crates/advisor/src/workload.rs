//! The workload of a server, by statement digest.
//!
//! Events of slow logs are added one at a time; rows of `events_statements_summary_by_digest` are added as totals.
//! Either way a digest keeps one statement as its example, the slowest one.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::distribution::{Distribution, Percentiles};
use crate::event::Event;
use crate::groups::Groups;

/// Greatest number of digests kept; the events of further ones are only counted.
const DIGESTS_MAX: usize = 20_000;
/// Greatest number of bytes kept of an example.
const EXAMPLE_BYTES_MAX: usize = 1 << 16;
/// Greatest number of texts whose digest is cached.
const TEXTS_MAX: usize = 100_000;

/// Totals of the runs of a digest.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// The normalized text.
    pub text: String,
    /// Its hash of 64 hexadecimal digits.
    pub hash: String,
    /// The default database.
    pub database: Option<String>,
    /// The slowest known statement, and its time.
    pub example: String,
    /// Whether the example is a statement as it ran, and not a digest text or the beginning of a statement.
    pub example_is_whole: bool,
    pub(crate) example_time: f64,
    /// The server's EXPLAIN of an example: lines of tab-separated values, names first.
    pub explain: Vec<String>,
    /// The accounts that ran it, at most eight.
    pub accounts: Vec<String>,
    /// Time of the first and of the last run, in microseconds since 1970.
    pub first: Option<i64>,
    /// See `first`.
    pub last: Option<i64>,
    /// Number of runs.
    pub runs: u64,
    /// Seconds in all.
    pub seconds: f64,
    /// The longest run.
    pub seconds_max: f64,
    /// Rows sent and read in all.
    pub rows_sent: u64,
    /// See `rows_sent`.
    pub rows_examined: u64,
    /// Greatest number of rows sent by a run.
    pub rows_sent_max: u64,
    /// Greatest number of rows read by a run.
    pub rows_examined_max: u64,
    /// Runs whose record has the number of temporary tables.
    pub runs_counted: u64,
    /// Temporary tables.
    pub tables: u64,
    /// Temporary tables on disk.
    pub disk_tables: u64,
    /// Runs with a temporary table on disk.
    pub disk_runs: u64,
    /// Greatest number of tables of a run, and of tables on disk.
    pub tables_max: u64,
    /// See `tables_max`.
    pub disk_tables_max: u64,
    /// Bytes of temporary tables, where the record has them.
    pub bytes: Option<u64>,
    /// Greatest number of bytes of a run.
    pub bytes_max: u64,
    /// Tables that outgrew `tmp_table_size`, where the record has them.
    pub size_limit_hits: Option<u64>,
    /// Sort merge passes, where the record has them.
    pub merge_passes: Option<u64>,
    /// Runs whose sort used files, where the record has them.
    pub disk_sorts: Option<u64>,
    /// Runs that joined a table without an index, where the record has them.
    pub full_joins: Option<u64>,
    /// Distribution of the run times, where they are known.
    pub(crate) times: Distribution,
    /// Percentiles that a server has computed itself.
    pub(crate) counted_percentiles: Option<Percentiles>,
}

impl Digest {
    /// Whether the number of its temporary tables is known.
    pub fn is_counted(&self) -> bool {
        self.runs_counted > 0
    }

    /// Percentiles of its run times, where they are known.
    pub fn percentiles(&self) -> Option<Percentiles> {
        self.times.percentiles().or(self.counted_percentiles)
    }

    /// Whether it may have a finding: it made temporary tables, sorted on disk or joined without an index, or this is
    /// not known.
    pub(crate) fn is_of_interest(&self) -> bool {
        let has_tables = !self.is_counted() || self.tables + self.disk_tables > 0;
        let has_sorts = self.merge_passes.unwrap_or(0) + self.disk_sorts.unwrap_or(0) > 0;
        has_tables || has_sorts || self.full_joins != Some(0)
    }

    /// Adds the totals of another digest that has the same text here.
    fn add_sums(&mut self, other: &Self) {
        let sums = [
            (&mut self.runs, other.runs),
            (&mut self.rows_sent, other.rows_sent),
            (&mut self.rows_examined, other.rows_examined),
            (&mut self.runs_counted, other.runs_counted),
            (&mut self.tables, other.tables),
            (&mut self.disk_tables, other.disk_tables),
            (&mut self.disk_runs, other.disk_runs),
        ];
        for (sum, number) in sums {
            *sum = sum.saturating_add(number);
        }
        self.seconds += other.seconds;
        self.seconds_max = self.seconds_max.max(other.seconds_max);
        self.tables_max = self.tables_max.max(other.tables_max);
        self.disk_tables_max = self.disk_tables_max.max(other.disk_tables_max);
        self.rows_sent_max = self.rows_sent_max.max(other.rows_sent_max);
        self.rows_examined_max = self.rows_examined_max.max(other.rows_examined_max);
        self.first = self.first.min(other.first).or(self.first).or(other.first);
        self.last = self.last.max(other.last);
        // Percentiles cannot be added.
        self.counted_percentiles = None;
        Self::add(&mut self.full_joins, other.full_joins);
        Self::add(&mut self.merge_passes, other.merge_passes);
        if other.example_is_whole && !self.example_is_whole {
            self.example.clone_from(&other.example);
            self.example_is_whole = true;
        }
    }

    /// Adds a number to a total that is `None` until something was added.
    fn add(sum: &mut Option<u64>, number: Option<u64>) {
        if let Some(number) = number {
            *sum = Some(sum.unwrap_or(0).saturating_add(number));
        }
    }

    fn add_event(&mut self, event: Event) {
        self.runs += 1;
        self.seconds += event.query_time;
        self.seconds_max = self.seconds_max.max(event.query_time);
        self.times.add(event.query_time);
        self.rows_sent = self.rows_sent.saturating_add(event.rows_sent);
        self.rows_examined = self.rows_examined.saturating_add(event.rows_examined);
        self.rows_sent_max = self.rows_sent_max.max(event.rows_sent);
        self.rows_examined_max = self.rows_examined_max.max(event.rows_examined);
        if let Some(time) = event.time {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
        // MariaDB omits the line of numbers when they are zero; then flags tell.
        if event.tables.is_some() || event.disk_tables.is_some() {
            let tables = event.tables.unwrap_or(0);
            let on_disk = event.disk_tables.unwrap_or(0);
            self.runs_counted += 1;
            self.tables = self.tables.saturating_add(tables);
            self.disk_tables = self.disk_tables.saturating_add(on_disk);
            self.disk_runs += u64::from(on_disk > 0);
            self.tables_max = self.tables_max.max(tables);
            self.disk_tables_max = self.disk_tables_max.max(on_disk);
        }
        Self::add(&mut self.bytes, event.bytes);
        self.bytes_max = self.bytes_max.max(event.bytes.unwrap_or(0));
        Self::add(&mut self.size_limit_hits, event.size_limit_hits);
        Self::add(&mut self.merge_passes, event.merge_passes);
        Self::add(&mut self.disk_sorts, event.sort_on_disk.map(u64::from));
        Self::add(&mut self.full_joins, event.full_join.map(u64::from));
        if !event.explain.is_empty() {
            self.explain = event.explain;
        }
        if self.accounts.len() < 8 && !self.accounts.contains(&event.account) {
            self.accounts.push(event.account);
        }
        let whole = !event.truncated && event.text.len() <= EXAMPLE_BYTES_MAX;
        let is_better = (whole, event.query_time) > (self.example_is_whole, self.example_time);
        if self.example.is_empty() || is_better {
            self.database = event.database;
            self.example_is_whole = whole;
            self.example_time = event.query_time;
            self.example = event.text;
            if let Some((end, _)) = self
                .example
                .char_indices()
                .find(|(at, _)| *at >= EXAMPLE_BYTES_MAX)
            {
                self.example.truncate(end);
            }
        }
    }
}

/// All digests.
#[derive(Debug, Default)]
pub struct Workload {
    digests: Vec<Digest>,
    by_name: HashMap<(String, Option<String>), usize>,
    /// Indexes of the digests of texts, by the hash of the text and its database.
    by_text: HashMap<u64, usize>,
    /// Number of events of digests that were not kept.
    pub left_out: u64,
    /// Seconds of all events.
    pub seconds: f64,
    /// All events.
    pub runs: u64,
    /// Distribution of all run times.
    pub(crate) times: Distribution,
    pub(crate) groups: Groups,
}

impl Workload {
    /// An empty workload.
    pub fn new() -> Self {
        Self::default()
    }

    /// The digests, in the order of their first events.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Percentiles of all run times, where they are known.
    pub fn percentiles(&self) -> Option<Percentiles> {
        self.times.percentiles()
    }

    /// The digest of this workload that equals one of another workload.
    pub(crate) fn same_digest(&self, other: &Digest) -> Option<&Digest> {
        let key = (other.hash.clone(), other.database.clone());
        self.digests.get(*self.by_name.get(&key)?)
    }

    /// Adds one run.
    pub fn add(&mut self, event: Event) {
        self.runs += 1;
        self.seconds += event.query_time;
        self.times.add(event.query_time);
        self.groups.add(&event);
        let mut hasher = DefaultHasher::new();
        (&event.text, &event.database).hash(&mut hasher);
        let text_hash = hasher.finish();
        let known = self.by_text.get(&text_hash).copied();
        let Some(index) = known.or_else(|| self.digest_of(&event)) else {
            self.left_out += 1;
            return;
        };
        if known.is_none() && self.by_text.len() < TEXTS_MAX {
            self.by_text.insert(text_hash, index);
        }
        self.digests[index].add_event(event);
    }

    fn digest_of(&mut self, event: &Event) -> Option<usize> {
        let (text, hash) = mayfly_syntax::digest(&event.text);
        let digest = Digest {
            text,
            hash,
            database: event.database.clone(),
            ..Digest::default()
        };
        self.place(digest).map(|(index, _)| index)
    }

    /// The index of a digest, which is added if it is new and there is room; and whether it was there before.
    fn place(&mut self, digest: Digest) -> Option<(usize, bool)> {
        let key = (digest.hash.clone(), digest.database.clone());
        if let Some(index) = self.by_name.get(&key) {
            return Some((*index, true));
        }
        if self.digests.len() >= DIGESTS_MAX {
            return None;
        }
        self.digests.push(digest);
        self.by_name.insert(key, self.digests.len() - 1);
        Some((self.digests.len() - 1, false))
    }

    /// Adds the totals of a digest that a server keeps itself.
    pub(crate) fn add_summary(&mut self, mut summary: Digest) {
        self.runs = self.runs.saturating_add(summary.runs);
        self.seconds += summary.seconds;
        let schema = summary.database.as_deref().unwrap_or_default();
        let tables = [summary.tables, summary.disk_tables];
        self.groups
            .add_sums(schema, summary.runs, summary.seconds, tables);
        (summary.text, summary.hash) = mayfly_syntax::digest(&summary.example);
        match self.place(summary.clone()) {
            Some((index, true)) => self.digests[index].add_sums(&summary),
            Some((_, false)) => {}
            None => self.left_out = self.left_out.saturating_add(summary.runs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str, seconds: f64, tables: Option<u64>) -> Event {
        Event {
            text: text.to_owned(),
            query_time: seconds,
            tables,
            ..Event::default()
        }
    }

    #[test]
    fn runs_that_differ_in_literals_are_one_digest() {
        let mut workload = Workload::new();
        workload.add(event("SELECT a FROM t WHERE b = 1", 0.5, Some(1)));
        workload.add(event("select a from t where b=2", 1.5, Some(2)));
        workload.add(event("SELECT a FROM u", 1.0, None));
        let [first, second] = workload.digests() else {
            panic!("{:?}", workload.digests());
        };
        assert_eq!((first.runs, first.seconds, first.tables), (2, 2.0, 3));
        assert_eq!(first.example, "select a from t where b=2");
        assert!(first.is_counted());
        assert!(!second.is_counted());
        assert_eq!((workload.runs, workload.seconds), (3, 3.0));
    }

    #[test]
    fn sums_of_the_same_text_are_added_up() {
        let mut workload = Workload::new();
        for (runs, first) in [(2, Some(7)), (3, Some(5))] {
            workload.add_summary(Digest {
                example: "SELECT a FROM t WHERE b = ?".to_owned(),
                runs,
                runs_counted: runs,
                tables: runs,
                first,
                last: first,
                ..Digest::default()
            });
        }
        let [only] = workload.digests() else {
            panic!("{:?}", workload.digests());
        };
        assert_eq!((only.runs, only.tables), (5, 5));
        assert_eq!((only.first, only.last), (Some(5), Some(7)));
    }
}

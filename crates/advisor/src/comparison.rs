//! Comparison of two workloads: which statements are new, gone, slower or faster.

use serde::Serialize;

use crate::workload::{Digest, Workload};

/// Least factor by which an average must change to be reported.
const FACTOR: f64 = 1.1;

/// Differences from an earlier workload.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Sources of the earlier workload.
    pub sources: Vec<String>,
    /// Totals of the earlier workload, and of the later one.
    pub before: Side,
    /// See `before`.
    pub after: Side,
    /// Statements, ordered by the change of their time, greatest first.
    pub statements: Vec<ComparedStatement>,
    /// Number of statements that the limit has left out.
    pub statements_left_out: usize,
}

/// Totals of one of the two workloads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Side {
    /// Number of runs.
    pub runs: u64,
    /// Time of the runs in seconds.
    pub seconds: f64,
    /// 95th percentile of the seconds of the runs; null where it is not known.
    pub p95: Option<f64>,
    /// Temporary tables; null where they are not counted.
    pub temporary_tables: Option<u64>,
    /// Temporary tables on disk.
    pub disk_tables: Option<u64>,
}

/// A statement in both.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedStatement {
    /// The digest's hash.
    pub digest: String,
    /// A statement as it ran.
    pub example: String,
    /// The default database.
    pub database: Option<String>,
    /// Change of the statement.
    pub verdict: Verdict,
    /// Its totals; null where it did not run.
    pub before: Option<Side>,
    /// See `before`.
    pub after: Option<Side>,
}

/// Change of a statement, by the average of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Ran only in the later workload.
    New,
    /// Ran only in the earlier workload.
    Gone,
    /// Its average is at least a tenth longer.
    Slower,
    /// Its average is at least a tenth shorter.
    Faster,
    /// No change of a tenth or more.
    Same,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
        }
    }
}

impl Side {
    fn of_digest(digest: &Digest) -> Self {
        let counted = digest.is_counted();
        Self {
            runs: digest.runs,
            seconds: digest.seconds,
            p95: digest.percentiles().map(|percentiles| percentiles.p95),
            temporary_tables: counted.then_some(digest.tables),
            disk_tables: counted.then_some(digest.disk_tables),
        }
    }

    fn of_workload(workload: &Workload) -> Self {
        let digests = workload.digests();
        let counted = digests.iter().any(Digest::is_counted);
        let sum = |number: fn(&Digest) -> u64| counted.then(|| digests.iter().map(number).sum());
        Self {
            runs: workload.runs,
            seconds: workload.seconds,
            p95: workload.percentiles().map(|percentiles| percentiles.p95),
            temporary_tables: sum(|digest| digest.tables),
            disk_tables: sum(|digest| digest.disk_tables),
        }
    }

    /// Average seconds of a run.
    pub fn average(&self) -> f64 {
        self.seconds / self.runs.max(1) as f64
    }
}

impl Comparison {
    /// Compares an earlier workload with a later one.
    pub fn new(before: &Workload, after: &Workload, sources: Vec<String>, limit: usize) -> Self {
        let mut statements: Vec<ComparedStatement> = Vec::new();
        for digest in after.digests() {
            let earlier = before.same_digest(digest).map(Side::of_digest);
            statements.push(compared(digest, earlier, Some(Side::of_digest(digest))));
        }
        for digest in before.digests() {
            if after.same_digest(digest).is_none() {
                statements.push(compared(digest, Some(Side::of_digest(digest)), None));
            }
        }
        let seconds = |side: &Option<Side>| side.map_or(0.0, |side| side.seconds);
        let moved = |one: &ComparedStatement| (seconds(&one.after) - seconds(&one.before)).abs();
        statements.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
        let all = statements.len();
        statements.truncate(limit);
        Self {
            sources,
            before: Side::of_workload(before),
            after: Side::of_workload(after),
            statements_left_out: all - statements.len(),
            statements,
        }
    }
}

fn compared(digest: &Digest, before: Option<Side>, after: Option<Side>) -> ComparedStatement {
    let verdict = match (&before, &after) {
        (None, _) => Verdict::New,
        (_, None) => Verdict::Gone,
        (Some(before), Some(after)) if after.average() >= before.average() * FACTOR => {
            Verdict::Slower
        }
        (Some(before), Some(after)) if after.average() * FACTOR <= before.average() => {
            Verdict::Faster
        }
        _ => Verdict::Same,
    };
    ComparedStatement {
        digest: digest.hash.clone(),
        example: digest.example.clone(),
        database: digest.database.clone(),
        verdict,
        before,
        after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    fn workload(runs: &[(&str, f64)]) -> Workload {
        let mut workload = Workload::new();
        for (text, seconds) in runs {
            workload.add(Event {
                text: (*text).to_owned(),
                query_time: *seconds,
                tables: Some(1),
                ..Event::default()
            });
        }
        workload
    }

    #[test]
    fn statements_are_new_gone_slower_faster_or_the_same() {
        let before = workload(&[
            ("SELECT a FROM t WHERE b = 1", 1.0),
            ("SELECT 1 FROM u", 4.0),
            ("SELECT 1 FROM v", 3.0),
            ("SELECT 1 FROM w", 1.0),
        ]);
        let after = workload(&[
            ("SELECT a FROM t WHERE b = 2", 3.0),
            ("SELECT a FROM t WHERE b = 3", 5.0),
            ("SELECT 1 FROM v", 1.0),
            ("SELECT 1 FROM w", 1.05),
            ("SELECT 1 FROM x", 0.5),
        ]);
        let found = Comparison::new(&before, &after, Vec::new(), 4);
        let verdicts: Vec<(&str, Verdict)> = found
            .statements
            .iter()
            .map(|one| (one.example.as_str(), one.verdict))
            .collect();
        assert_eq!(
            verdicts,
            [
                ("SELECT a FROM t WHERE b = 3", Verdict::Slower),
                ("SELECT 1 FROM u", Verdict::Gone),
                ("SELECT 1 FROM v", Verdict::Faster),
                ("SELECT 1 FROM x", Verdict::New),
            ]
        );
        assert_eq!(found.statements_left_out, 1);
        assert_eq!((found.before.runs, found.after.runs), (4, 5));
        assert_eq!(found.after.temporary_tables, Some(5));
        let first = &found.statements[0];
        assert_eq!(first.after.map(|side| side.average()), Some(4.0));
        assert_eq!(first.before.map(|side| side.average()), Some(1.0));
    }
}

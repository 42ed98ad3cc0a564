//! The ranked findings of a workload, and the forms of the report.

mod html;
mod json;
mod text;

use serde::Serialize;

use crate::comparison::Comparison;
use crate::distribution::Percentiles;
use crate::explain::Explain;
use crate::finding::{Change, ChangeKind, Finding};
use crate::groups::GroupKind;
use crate::schema::Schema;
use crate::server::Server;
use crate::workload::Digest;
use crate::{Input, findings_to_try, settle};
pub use html::html;
pub use json::json;
pub use text::text;

/// Greatest number of statements that the server is asked to explain.
const EXPLAINED_MAX: usize = 500;
/// Greatest number of users, hosts and schemas in the report.
const GROUPS_MAX: usize = 100;

/// Report on a workload.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of the JSON form: members are only added under the same version.
    pub format: u32,
    /// Its sources: names of files, an address.
    pub sources: Vec<String>,
    /// The server.
    pub server: Server,
    /// Totals of the whole workload.
    pub totals: Totals,
    /// Statements with findings, ordered by the possible gain, greatest first.
    pub statements: Vec<StatementReport>,
    /// Number of statements with findings that the limit has left out.
    pub statements_left_out: usize,
    /// Changes of all findings without repetitions, the best first.
    pub changes: Vec<MergedChange>,
    /// Runs by user, host and schema.
    pub groups: Groups,
    /// Differences from an earlier workload, where one was given.
    pub comparison: Option<Comparison>,
    /// Messages about objects that could not be read, and ways to raise the confidence of findings.
    pub notes: Vec<String>,
}

/// Runs by user, by host and by schema, ordered by time, greatest first, at most a hundred of each.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Groups {
    /// By the user part of the account.
    pub users: Vec<GroupReport>,
    /// By the host part of the account.
    pub hosts: Vec<GroupReport>,
    /// By the default database.
    pub schemas: Vec<GroupReport>,
}

/// Runs of a user, a host or a schema.
#[derive(Debug, Clone, Serialize)]
pub struct GroupReport {
    /// The user, host or schema.
    pub name: String,
    /// Number of runs.
    pub runs: u64,
    /// Time in seconds, and as a share of the workload's.
    pub seconds: f64,
    /// See `seconds`.
    pub seconds_share: f64,
    /// Percentiles of the run times; null where they are not known.
    pub percentiles: Option<Percentiles>,
    /// Temporary tables counted.
    pub temporary_tables: u64,
    /// Temporary tables on disk.
    pub disk_tables: u64,
}

/// Totals of a workload.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Totals {
    /// Number of runs.
    pub runs: u64,
    /// Number of digests.
    pub digests: usize,
    /// Time of the runs in seconds.
    pub seconds: f64,
    /// Percentiles of the run times; null where they are not known.
    pub percentiles: Option<Percentiles>,
    /// Number of runs of statements that could not be analyzed, and number of these statements.
    pub unread_runs: u64,
    /// See `unread_runs`.
    pub unread_digests: usize,
    /// Time of the first and of the last run, in microseconds since 1970.
    pub first: Option<i64>,
    /// See `first`.
    pub last: Option<i64>,
    /// Whether the source counts temporary tables.
    pub counted: bool,
    /// Temporary tables.
    pub temporary_tables: u64,
    /// Temporary tables on disk.
    pub disk_tables: u64,
    /// Bytes of temporary tables, where the source has them.
    pub bytes: Option<u64>,
    /// Number of known tables and views.
    pub schema_tables: usize,
    /// See `schema_tables`.
    pub schema_views: usize,
}

/// A statement with findings.
#[derive(Debug, Clone, Serialize)]
pub struct StatementReport {
    /// Its place, from 1.
    pub rank: usize,
    /// The digest's hash.
    pub digest: String,
    /// The normalized text.
    pub text: String,
    /// A statement as it ran.
    pub example: String,
    /// The default database.
    pub database: Option<String>,
    /// The accounts that ran it, at most eight.
    pub accounts: Vec<String>,
    /// Number of runs.
    pub runs: u64,
    /// Seconds in all, as a share of the workload's, and of the longest run.
    pub seconds: f64,
    /// See `seconds`.
    pub seconds_share: f64,
    /// See `seconds`.
    pub seconds_max: f64,
    /// Percentiles of the run times; null where they are not known.
    pub percentiles: Option<Percentiles>,
    /// Rows sent and read.
    pub rows_sent: u64,
    /// See `rows_sent`.
    pub rows_examined: u64,
    /// Temporary tables; null where the source does not count them.
    pub temporary_tables: Option<u64>,
    /// Temporary tables on disk.
    pub disk_tables: Option<u64>,
    /// Their bytes; null where the source has none.
    pub bytes: Option<u64>,
    /// Sort merge passes; null where the source does not count them.
    pub sort_merge_passes: Option<u64>,
    /// The findings, with their changes.
    pub findings: Vec<Finding>,
}

/// A change with the statements that it helps.
#[derive(Debug, Clone, Serialize)]
pub struct MergedChange {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Ranks of the statements that it helps.
    pub statements: Vec<usize>,
    /// Time of these statements in seconds.
    pub seconds: f64,
    /// Temporary tables on disk of these statements.
    pub disk_tables: u64,
}

/// A running server that can examine statements more closely than a log.
pub trait Examiner {
    /// The server's EXPLAIN of a digest's example.
    fn explain(&mut self, digest: &Digest) -> Option<Explain>;

    /// Tries the changes of a digest's findings, and removes those that do not help.
    fn examine(&mut self, digest: &Digest, schema: &Schema, findings: &mut Vec<Finding>);
}

/// Examiner without a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Examiner for Nobody {
    fn explain(&mut self, _: &Digest) -> Option<Explain> {
        None
    }

    fn examine(&mut self, _: &Digest, _: &Schema, _: &mut Vec<Finding>) {}
}

impl Report {
    /// Finds, ranks and tries.
    pub fn new(
        input: &Input<'_>,
        sources: Vec<String>,
        limit: usize,
        examiner: &mut dyn Examiner,
    ) -> Self {
        let mut totals = totals(input);
        let digests = input.workload.digests().iter();
        let mut digests: Vec<&Digest> = digests.filter(|digest| digest.is_of_interest()).collect();
        digests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let mut found: Vec<(f64, &Digest, Vec<Finding>)> = Vec::new();
        for (number, digest) in digests.into_iter().enumerate() {
            // Statements that would hardly be shown are not sent to the server.
            let plan = if number < EXPLAINED_MAX {
                examiner.explain(digest)
            } else {
                None
            };
            let findings = findings_to_try(input, digest, plan);
            if !findings.is_empty() {
                found.push((score(digest, &findings), digest, findings));
            }
        }
        found.sort_by(|a, b| {
            b.0.total_cmp(&a.0)
                .then_with(|| b.1.disk_tables.cmp(&a.1.disk_tables))
        });
        let all = found.len();
        found.truncate(limit);
        for (_, digest, findings) in &mut found {
            examiner.examine(digest, input.schema, findings);
            settle(findings);
        }
        let seconds = input.workload.seconds.max(f64::MIN_POSITIVE);
        let statements: Vec<StatementReport> = found
            .into_iter()
            .enumerate()
            .map(|(at, (_, digest, findings))| statement(at + 1, digest, findings, seconds))
            .collect();
        let mut notes = notes(input, &totals);
        notes.extend(count_unread(input, &mut totals));
        totals.counted |= statements
            .iter()
            .any(|statement| statement.temporary_tables.is_some());
        if input.workload.left_out > 0 {
            notes.push(format!(
                "{} runs of rare statements were counted and not looked at",
                input.workload.left_out
            ));
        }
        Self {
            format: 1,
            sources,
            server: input.server.clone(),
            changes: merged(&statements),
            statements_left_out: all - statements.len(),
            statements,
            groups: groups(input),
            comparison: None,
            totals,
            notes,
        }
    }
}

fn groups(input: &Input<'_>) -> Groups {
    let all = input.workload.seconds.max(f64::MIN_POSITIVE);
    let of = |kind| {
        let list = input.workload.groups.of(kind).into_iter();
        list.take(GROUPS_MAX)
            .map(|(name, group)| GroupReport {
                name: name.to_owned(),
                runs: group.runs,
                seconds: group.seconds,
                seconds_share: group.seconds / all,
                percentiles: group.percentiles(),
                temporary_tables: group.tables,
                disk_tables: group.disk_tables,
            })
            .collect()
    };
    Groups {
        users: of(GroupKind::User),
        hosts: of(GroupKind::Host),
        schemas: of(GroupKind::Schema),
    }
}

/// Counts the statements that could not be analyzed; returns a note about them, if there are any.
fn count_unread(input: &Input<'_>, totals: &mut Totals) -> Option<String> {
    let mut first = None;
    for digest in input.workload.digests() {
        // The beginning of a statement is counted like a whole one.
        if !digest.example_is_whole && digest.example.len() >= 1000 {
            continue;
        }
        if let Err(error) = crate::statement::check(&digest.example) {
            totals.unread_digests += 1;
            totals.unread_runs = totals.unread_runs.saturating_add(digest.runs);
            first.get_or_insert_with(|| (crate::sql_text::one_line(&digest.example, 80), error.0));
        }
    }
    let (text, error) = first?;
    Some(format!(
        "{} of {} could not be read, and only what was counted of them is known. The first is `{text}`: {}",
        crate::quantities::runs(totals.unread_runs),
        crate::quantities::counted(totals.unread_digests as u64, "statement"),
        crate::sql_text::one_line(&error, 160)
    ))
}

fn totals(input: &Input<'_>) -> Totals {
    let digests = input.workload.digests();
    let (schema_tables, schema_views) = input.schema.counts();
    let bytes: Vec<u64> = digests.iter().filter_map(|digest| digest.bytes).collect();
    Totals {
        runs: input.workload.runs,
        digests: digests.len(),
        seconds: input.workload.seconds,
        percentiles: input.workload.percentiles(),
        unread_runs: 0,
        unread_digests: 0,
        first: digests.iter().filter_map(|digest| digest.first).min(),
        last: digests.iter().filter_map(|digest| digest.last).max(),
        counted: digests.iter().any(Digest::is_counted),
        temporary_tables: digests.iter().map(|digest| digest.tables).sum(),
        disk_tables: digests.iter().map(|digest| digest.disk_tables).sum(),
        bytes: (!bytes.is_empty()).then(|| bytes.iter().sum()),
        schema_tables,
        schema_views,
    }
}

fn notes(input: &Input<'_>, totals: &Totals) -> Vec<String> {
    let mut notes = Vec::new();
    if !totals.counted {
        let how = match input.server.family {
            crate::Family::MariaDb => "SET GLOBAL log_slow_verbosity = 'query_plan,explain'",
            crate::Family::Mayfly => "SET GLOBAL log_slow_verbosity = 'query_plan'",
            crate::Family::MySql => {
                "SET GLOBAL log_slow_extra = ON (MySQL 8.0.14 or later), or log_slow_verbosity = 'full' (Percona Server)"
            }
        };
        notes.push(format!("The log does not count temporary tables, so that findings rest on the statements alone. Have the server count them: {how}."));
    }
    if input.schema.is_empty() {
        notes.push("The schema is not known, so that no column or index can be named: give --schema dump.sql (mysqldump --no-data) or --connect.".to_owned());
    }
    if !input.server.known {
        notes.push(format!("The log does not say which server wrote it; the rules of {} are assumed (--server to change it).", input.server.name));
    }
    notes
}

/// The possible gain: seconds, weighted by the cost of the worst finding, and halved for guesses.
fn score(digest: &Digest, findings: &[Finding]) -> f64 {
    let weight = |finding: &Finding| {
        let cost = match (finding.cause.is_of_disk(), digest.disk_tables > 0) {
            (true, _) => 1.0,
            (false, true) => 0.9,
            (false, false) => 0.3,
        };
        let sure = match finding.confidence {
            crate::Confidence::Certain => 1.0,
            crate::Confidence::Likely => 0.8,
            crate::Confidence::Possible => 0.4,
        };
        cost * sure
    };
    findings.iter().map(weight).fold(0.0, f64::max) * digest.seconds
}

fn statement(
    rank: usize,
    digest: &Digest,
    findings: Vec<Finding>,
    all_seconds: f64,
) -> StatementReport {
    let counted = digest.is_counted();
    StatementReport {
        rank,
        digest: digest.hash.clone(),
        text: digest.text.clone(),
        example: digest.example.clone(),
        database: digest.database.clone(),
        accounts: digest.accounts.clone(),
        runs: digest.runs,
        seconds: digest.seconds,
        seconds_share: digest.seconds / all_seconds,
        seconds_max: digest.seconds_max,
        percentiles: digest.percentiles(),
        rows_sent: digest.rows_sent,
        rows_examined: digest.rows_examined,
        temporary_tables: counted.then_some(digest.tables),
        disk_tables: counted.then_some(digest.disk_tables),
        bytes: digest.bytes,
        sort_merge_passes: digest.merge_passes,
        findings,
    }
}

/// The first change of each finding, where it changes the server: without repetitions, and of a setting the largest
/// value.
fn merged(statements: &[StatementReport]) -> Vec<MergedChange> {
    let mut changes: Vec<MergedChange> = Vec::new();
    for statement in statements {
        for finding in &statement.findings {
            let Some(change) = finding.changes.first() else {
                continue;
            };
            if !matches!(
                change.kind,
                ChangeKind::Index | ChangeKind::Alter | ChangeKind::Setting
            ) {
                continue;
            }
            let known = changes
                .iter_mut()
                .find(|known| is_same(&known.change, change));
            let merged = match known {
                Some(known) => {
                    if value_of(&change.sql) > value_of(&known.change.sql) {
                        known.change = change.clone();
                    }
                    known
                }
                None => {
                    changes.push(MergedChange {
                        change: change.clone(),
                        statements: Vec::new(),
                        seconds: 0.0,
                        disk_tables: 0,
                    });
                    match changes.last_mut() {
                        Some(last) => last,
                        None => continue,
                    }
                }
            };
            if !merged.statements.contains(&statement.rank) {
                merged.statements.push(statement.rank);
                merged.seconds += statement.seconds;
                merged.disk_tables += statement.disk_tables.unwrap_or(0);
            }
        }
    }
    changes.sort_by(|a, b| {
        b.disk_tables
            .min(1)
            .cmp(&a.disk_tables.min(1))
            .then(b.seconds.total_cmp(&a.seconds))
    });
    changes
}

/// Whether two changes have the same text, or the same settings with other values.
fn is_same(a: &Change, b: &Change) -> bool {
    let names = |sql: &str| {
        sql.split(|c: char| c.is_ascii_digit())
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    a.sql == b.sql
        || a.kind == ChangeKind::Setting
            && b.kind == ChangeKind::Setting
            && names(&a.sql) == names(&b.sql)
}

fn value_of(sql: &str) -> u64 {
    let digits = sql
        .rsplit(|c: char| !c.is_ascii_digit())
        .find(|part| !part.is_empty());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// A time for people.
fn time_text(microseconds: Option<i64>) -> String {
    let time = microseconds.and_then(|time| jiff::Timestamp::from_microsecond(time).ok());
    time.map_or_else(
        || "?".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

#[cfg(test)]
mod tests;

//! Trials of changes on copies of tables, before the changes are recommended.
//!
//! The copies are temporary tables with the names of their original tables, in a separate session: the statement runs
//! on them unchanged, and no other session sees them. A copy of a large table has only its first rows, and limits of
//! memory are reduced in proportion.
//!
//! Invariant: only temporary tables are changed. Before a definition is changed, the server is asked whether the name
//! is that of a temporary table; statements of the workload run in READ ONLY transactions.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::explain::Explain;
use crate::finding::{Cause, Change, ChangeKind, Finding, Measured, Tried};
use crate::index::{record_bytes, table_name};
use crate::live::{is_plain_select, tables_of};
use crate::rules::INDEX_SIZE_MAX;
use crate::schema::{Schema, Table};
use crate::server::{Family, Server};
use crate::sql_text::quoted;
use crate::statement::Value;
use crate::workload::Digest;

/// Greatest number of rows, and of bytes, of a copy.
const COPY_ROWS_MAX: u64 = 100_000;
const COPY_BYTES_MAX: u64 = 64 << 20;
/// Greatest time of all trials together: none is begun after it.
const TRIALS_TIME: Duration = Duration::from_secs(300);
/// Greatest time of a statement in the workload; slower ones are not tried.
const SECONDS_MAX: f64 = 60.0;
/// Greatest number of runs of a measurement, and the total time up to which a statement is run again.
const RUNS: usize = 3;
const RUNS_TIME: Duration = Duration::from_secs(2);
/// Factor by which a change may slow a statement down before it is rejected: the variation of runs.
const SLOWER: f64 = 1.25;
const SLOWER_SECONDS: f64 = 0.003;
/// Factor that a change which removes no table must reach.
const FASTER: f64 = 0.75;
/// Factor that a larger buffer must reach.
const BUFFER_FASTER: f64 = 0.9;
/// Name of a copy until it gets the name of its table.
const COPY: &str = "mayfly_advise_copy";
/// Settings that are reduced in proportion to the copies, and the least value that servers accept.
const LIMITS: [(&str, u64); 3] = [
    ("tmp_table_size", 1024),
    ("max_heap_table_size", 16_384),
    ("sort_buffer_size", 32_768),
];

/// A session in which changes are tried.
pub struct Trial {
    connection: Box<dyn Connection>,
    server: Server,
    notes: Vec<String>,
    began: Instant,
    /// Databases in which the account may not create temporary tables: they are asked only once.
    denied: BTreeSet<String>,
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial").finish_non_exhaustive()
    }
}

/// The copies of the tables that a statement reads.
struct Copies {
    tables: Vec<Arc<Table>>,
    /// Number of rows of the largest copy.
    rows: u64,
    /// The least share of a table that its copy holds.
    share: f64,
}

/// Counters: temporary tables, those on disk, sort merge passes, joins without an index, rows read.
type Counters = [u64; 5];

/// A run, and an order-independent sum of its rows.
struct Run {
    measured: Measured,
    rows: u64,
}

impl Trial {
    /// Prepares a session for trials.
    ///
    /// # Errors
    /// The connection is lost, or temporary tables would be written to a binary log.
    pub fn new(mut connection: Box<dyn Connection>, server: &Server) -> Result<Self, String> {
        if connection.query("SET SESSION sql_log_bin = 0").is_err()
            && first(&mut *connection, "SELECT @@log_bin")? != "0"
            && first(&mut *connection, "SELECT @@binlog_format")?.eq_ignore_ascii_case("STATEMENT")
        {
            return Err(
                "temporary tables would be written to the binary log, whose format is STATEMENT"
                    .to_owned(),
            );
        }
        // Copying then locks no rows of the tables.
        connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        connection.query("SET SESSION autocommit = 1")?;
        let limit = match server.family {
            Family::MariaDb => "SET SESSION max_statement_time = 60",
            _ => "SET SESSION max_execution_time = 60000",
        };
        // Older servers have no time limit.
        let _ = connection.query(limit);
        Ok(Self {
            connection,
            server: server.clone(),
            notes: Vec::new(),
            began: Instant::now(),
            denied: BTreeSet::new(),
        })
    }

    /// Messages about changes that could not be tried.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Tries the changes of a statement's findings. Those without effect, or with a bad one, are replaced by a line
    /// that says so; those that helped get their measurements.
    pub fn examine(&mut self, digest: &Digest, schema: &Schema, findings: &mut [Finding]) {
        let has_changes = findings
            .iter()
            .flat_map(|finding| &finding.changes)
            .any(|change| change.kind != ChangeKind::Advice);
        if !has_changes || !digest.example_is_whole || !is_plain_select(&digest.example) {
            return;
        }
        let Some(tables) = tables_to_copy(digest, schema, self.server.family) else {
            return;
        };
        let is_denied = tables
            .iter()
            .any(|table| self.denied.contains(&table.database));
        if is_denied || digest.seconds_max > SECONDS_MAX {
            return;
        }
        if self.began.elapsed() > TRIALS_TIME {
            let minutes = TRIALS_TIME.as_secs() / 60;
            let statement = crate::sql_text::one_line(&digest.example, 60);
            self.notes.push(format!(
                "not tried: `{statement}`: trying the others took {minutes} minutes"
            ));
            return;
        }
        let outcome = self
            .copy(&tables)
            .and_then(|copies| self.examine_on(digest, &copies, findings));
        for table in &tables {
            let drop = format!("DROP TEMPORARY TABLE IF EXISTS {}", table_name(table));
            let _ = self.connection.query(&drop);
        }
        if let Err(error) = outcome {
            if error.contains("Access denied") {
                let databases = tables.iter().map(|table| table.database.clone());
                self.denied.extend(databases);
            }
            let statement = crate::sql_text::one_line(&digest.example, 60);
            self.notes
                .push(format!("not tried: `{statement}`: {error}"));
        }
    }

    /// Makes the copies.
    fn copy(&mut self, tables: &[Arc<Table>]) -> Result<Copies, String> {
        let mut copies = Copies {
            tables: tables.to_vec(),
            rows: 0,
            share: 1.0,
        };
        for table in tables {
            let copied = self.copy_one(table)?;
            copies.rows = copies.rows.max(copied);
            let limit = rows_max(table);
            if copied >= limit {
                let all = table.rows.unwrap_or(copied).max(copied);
                copies.share = copies.share.min(copied as f64 / all as f64);
            }
        }
        Ok(copies)
    }

    fn copy_one(&mut self, table: &Table) -> Result<u64, String> {
        let name = table_name(table);
        let copy = format!("{}.{}", quoted(&table.database), quoted(COPY));
        let columns: Vec<String> = table
            .columns
            .iter()
            .filter(|column| !column.generated)
            .map(|column| quoted(&column.name))
            .collect();
        let columns = columns.join(", ");
        let limit = rows_max(table);
        for sql in [
            format!("USE {}", quoted(&table.database)),
            format!("DROP TEMPORARY TABLE IF EXISTS {copy}"),
            format!("DROP TEMPORARY TABLE IF EXISTS {name}"),
            "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'".to_owned(),
            format!("CREATE TEMPORARY TABLE {copy} LIKE {name}"),
        ] {
            self.connection.query(&sql)?;
        }
        self.assert_temporary(&copy)?;
        for sql in [
            format!("INSERT INTO {copy} ({columns}) SELECT {columns} FROM {name} LIMIT {limit}"),
            format!("ALTER TABLE {copy} RENAME TO {name}"),
            "SET SESSION sql_mode = DEFAULT".to_owned(),
        ] {
            self.connection.query(&sql)?;
        }
        self.assert_temporary(&name)?;
        // A server without statistics of temporary tables estimates by their number of rows.
        let _ = self.connection.query(&format!("ANALYZE TABLE {name}"));
        let rows = first(
            &mut *self.connection,
            &format!("SELECT COUNT(*) FROM {name}"),
        )?;
        rows.parse().map_err(|_| format!("COUNT(*) gave {rows}"))
    }

    /// An error unless a name is that of a temporary table.
    fn assert_temporary(&mut self, name: &str) -> Result<(), String> {
        let rows = self
            .connection
            .query(&format!("SHOW CREATE TABLE {name}"))?;
        let text = rows
            .rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().nth(1).flatten());
        if text.is_some_and(|text| text.starts_with("CREATE TEMPORARY TABLE")) {
            Ok(())
        } else {
            Err(format!("{name} is no temporary table"))
        }
    }

    fn examine_on(
        &mut self,
        digest: &Digest,
        copies: &Copies,
        findings: &mut [Finding],
    ) -> Result<(), String> {
        if let Some(database) = &digest.database {
            self.connection
                .query(&format!("USE {}", quoted(database)))?;
        }
        self.set_limits(copies.share)?;
        let mut before = self.measure(&digest.example)?;
        let mut known: HashMap<String, Result<Run, String>> = HashMap::new();
        for finding in findings {
            let mut dropped = Vec::new();
            for mut change in std::mem::take(&mut finding.changes) {
                if change.kind == ChangeKind::Advice || is_of_view(&change) {
                    finding.changes.push(change);
                    continue;
                }
                let run = match known.remove(&change.sql) {
                    Some(run) => run,
                    None => self.try_one(&change, digest, copies)?,
                };
                let mut judged = verdict(&before, &run, &change);
                // A finding about a temporary table promises that its change removes the table.
                let is_of_table =
                    !finding.cause.is_of_disk() && finding.cause != Cause::JoinWithoutIndex;
                if judged.as_ref().is_ok_and(|judged| judged.by_time) && is_of_table {
                    judged = Err("the table stays".to_owned());
                } else if judged.as_ref().is_ok_and(|judged| judged.by_time) {
                    // The server may have been busy: the state before the change is measured again.
                    let again = self.measure(&digest.example)?.measured.seconds;
                    before.measured.seconds = before.measured.seconds.min(again);
                    judged = verdict(&before, &run, &change);
                }
                match judged {
                    Ok(Judged { after, .. }) => {
                        if let Some(bytes) = self.index_bytes(&change, copies)? {
                            change.risk = with_index_size(&change.risk, bytes);
                        }
                        change.tried = Some(Tried {
                            rows: copies.rows,
                            whole: copies.share >= 1.0,
                            before: before.measured,
                            after,
                        });
                        finding.changes.push(change.clone());
                    }
                    Err(why) => dropped.push((change.clone(), why)),
                }
                known.insert(change.sql, run);
            }
            let is_empty = finding.changes.is_empty();
            let dropped = dropped.iter().map(|(change, why)| left_out(change, why));
            if is_empty {
                finding.changes.extend(dropped);
                finding.gain.clear();
            } else {
                finding.changes.extend(dropped);
            }
        }
        Ok(())
    }

    /// Applies a change, measures the statement, and reverts the change. The inner error is the server's error on the
    /// change.
    fn try_one(
        &mut self,
        change: &Change,
        digest: &Digest,
        copies: &Copies,
    ) -> Result<Result<Run, String>, String> {
        if let Some(check) = &change.check
            && first(&mut *self.connection, check)? != "1"
        {
            return Ok(Err("its check does not give 1".to_owned()));
        }
        match change.kind {
            ChangeKind::Rewrite => {
                let run = self.measure(&scaled(&change.sql, copies.share));
                Ok(run.map_err(|error| refused(&error)))
            }
            ChangeKind::Setting => {
                let parts = change.sql.split(';').map(str::trim);
                for part in parts.filter(|part| !part.is_empty()) {
                    let own = part.replacen("SET GLOBAL", "SET SESSION", 1);
                    if let Err(error) = self.connection.query(&scaled(&own, copies.share)) {
                        return Ok(Err(refused(&error)));
                    }
                }
                let run = self.measure(&digest.example);
                for part in change.sql.split(';') {
                    let name = part
                        .trim()
                        .strip_prefix("SET GLOBAL ")
                        .and_then(|rest| rest.split(" =").next());
                    if let Some(name) = name {
                        self.connection
                            .query(&format!("SET SESSION {name} = DEFAULT"))?;
                    }
                }
                self.set_limits(copies.share)?;
                Ok(run)
            }
            ChangeKind::Index | ChangeKind::Alter => {
                for table in &copies.tables {
                    self.assert_temporary(&table_name(table))?;
                }
                let (definition, statement) = match change.sql.split_once(";\n") {
                    Some((definition, statement)) => (definition, statement),
                    None => (change.sql.as_str(), digest.example.as_str()),
                };
                let index = definition
                    .strip_prefix("CREATE INDEX ")
                    .and_then(|rest| rest.split(" (").next());
                let name = index.and_then(|index| index.split(" ON ").next());
                let run = match self.connection.query(definition) {
                    Ok(_) if name.is_some_and(|name| !self.uses_index(statement, name)) => {
                        Err("the optimizer does not use it".to_owned())
                    }
                    Ok(_) => self.measure(statement).map_err(|error| refused(&error)),
                    Err(error) => return Ok(Err(refused(&error))),
                };
                match index {
                    Some(index) => {
                        self.connection.query(&format!("DROP INDEX {index}"))?;
                    }
                    None => {
                        self.copy(&copies.tables)?;
                    }
                }
                if let Some(database) = &digest.database {
                    self.connection
                        .query(&format!("USE {}", quoted(database)))?;
                }
                Ok(run)
            }
            ChangeKind::Advice => Ok(Err(String::new())),
        }
    }

    /// Bytes of the index that a change creates, from the values in the copy and the number of rows of the table.
    fn index_bytes(&mut self, change: &Change, copies: &Copies) -> Result<Option<u64>, String> {
        let definition = change.sql.lines().next().unwrap_or_default();
        let columns_of = |table: &Table| -> Option<Vec<usize>> {
            let place = format!(" ON {} (", table_name(table));
            let (_, list) = definition
                .strip_prefix("CREATE INDEX ")?
                .split_once(&place)?;
            let list = list.trim_end_matches([';', ')']);
            let names = list
                .split(", ")
                .map(|name| name.trim_matches('`').replace("``", "`"));
            names.map(|name| table.column(&name)).collect()
        };
        let mut found = copies
            .tables
            .iter()
            .filter_map(|table| Some((table, columns_of(table)?)));
        let Some((table, columns)) = found.next() else {
            return Ok(None);
        };
        let mut fixed = 0;
        let mut strings = vec!["0".to_owned()];
        for column in columns.iter().map(|column| &table.columns[*column]) {
            match Value::of(&column.ty) {
                Value::Fixed(bytes) => fixed += bytes,
                _ => strings.push(format!("COALESCE(LENGTH({}), 0)", quoted(&column.name))),
            }
        }
        let sql = format!(
            "SELECT CAST(COALESCE(AVG({}), 0) AS SIGNED), COUNT(*) FROM {}",
            strings.join(" + "),
            table_name(table)
        );
        let row = self
            .connection
            .query(&sql)?
            .rows
            .into_iter()
            .next()
            .unwrap_or_default();
        let number = |at: usize| row.get(at)?.as_ref()?.parse::<u64>().ok();
        let (Some(length), Some(copied)) = (number(0), number(1)) else {
            return Ok(None);
        };
        // Statistics are estimates; a complete copy is exact.
        let rows = if copies.share >= 1.0 {
            copied
        } else {
            table.rows.unwrap_or(copied).max(copied)
        };
        Ok(Some(record_bytes(rows, fixed + length, columns.len())))
    }

    /// Whether EXPLAIN of a statement uses an index, whose name is quoted.
    fn uses_index(&mut self, statement: &str, name: &str) -> bool {
        let form = match self.server.family {
            Family::MySql => "FORMAT=TRADITIONAL ",
            _ => "",
        };
        let rows = self.connection.query(&format!("EXPLAIN {form}{statement}"));
        let Ok(rows) = rows else { return false };
        let name = name.trim_matches('`').replace("``", "`");
        let explain = Explain::of_rows(&rows.names, &rows.rows);
        // An index merge names several indexes.
        explain.rows.iter().any(|row| {
            row.key
                .split(',')
                .any(|key| key.eq_ignore_ascii_case(&name))
        })
    }

    /// Reduces limits of memory in proportion to the copies.
    fn set_limits(&mut self, share: f64) -> Result<(), String> {
        if share >= 1.0 {
            return Ok(());
        }
        for (name, least) in LIMITS {
            let value = first(&mut *self.connection, &format!("SELECT @@global.{name}"))?;
            let Ok(value) = value.parse::<u64>() else {
                continue;
            };
            let value = ((value as f64 * share) as u64).max(least);
            self.connection
                .query(&format!("SET SESSION {name} = {value}"))?;
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, String> {
        let rows = self.connection.query("SHOW SESSION STATUS")?.rows;
        let mut counters = Counters::default();
        for row in &rows {
            let [Some(name), Some(value)] = row.as_slice() else {
                continue;
            };
            let name = name.to_ascii_lowercase();
            let place = match name.as_str() {
                "created_tmp_tables" => 0,
                "created_tmp_disk_tables" => 1,
                "sort_merge_passes" => 2,
                "select_full_join" => 3,
                _ if name.starts_with("handler_read_") => 4,
                _ => continue,
            };
            counters[place] += value.parse::<u64>().unwrap_or(0);
        }
        Ok(counters)
    }

    /// Runs a statement several times.
    fn measure(&mut self, sql: &str) -> Result<Run, String> {
        let before = self.counters()?;
        let own = self.counters()?;
        self.connection.query("START TRANSACTION READ ONLY")?;
        let run = self.measure_inside(sql);
        self.connection.query("ROLLBACK")?;
        let (mut seconds, rows) = run?;
        let after = self.counters()?;
        // Reading the counters creates tables too.
        let made = |at: usize| {
            let asked = own[at].saturating_sub(before[at]);
            after[at].saturating_sub(own[at]).saturating_sub(asked)
        };
        let begin = Instant::now();
        for _ in 1..RUNS {
            if begin.elapsed() + Duration::from_secs_f64(seconds) > RUNS_TIME {
                break;
            }
            self.connection.query("START TRANSACTION READ ONLY")?;
            let run = self.measure_inside(sql);
            self.connection.query("ROLLBACK")?;
            seconds = seconds.min(run?.0);
        }
        Ok(Run {
            measured: Measured {
                seconds,
                temporary_tables: made(0),
                disk_tables: made(1),
                sort_merge_passes: made(2),
                full_joins: made(3),
                rows_read: made(4),
            },
            rows,
        })
    }

    fn measure_inside(&mut self, sql: &str) -> Result<(f64, u64), String> {
        let begin = Instant::now();
        let result = self.connection.query(sql)?;
        let seconds = begin.elapsed().as_secs_f64();
        let rows = result.rows.iter().map(|row| {
            let mut hasher = DefaultHasher::new();
            row.hash(&mut hasher);
            hasher.finish()
        });
        Ok((seconds, rows.fold(0, u64::wrapping_add)))
    }
}

/// The first value of a result.
fn first(connection: &mut dyn Connection, sql: &str) -> Result<String, String> {
    let rows = connection.query(sql)?.rows;
    Ok(rows
        .into_iter()
        .flatten()
        .flatten()
        .next()
        .unwrap_or_default())
}

/// The tables that a statement reads; an error if one of them cannot be copied: a view does not see temporary tables,
/// and MySQL can refer to one only once in a statement.
fn tables_to_copy(digest: &Digest, schema: &Schema, family: Family) -> Option<Vec<Arc<Table>>> {
    let mut tables: Vec<Arc<Table>> = Vec::new();
    for (database, name) in tables_of(&digest.example, digest.database.as_deref()) {
        let table = schema.table(&database, &name)?;
        let is_known = tables.iter().any(|other| Arc::ptr_eq(other, table));
        if is_known && family == Family::MySql {
            return None;
        }
        if !is_known {
            tables.push(Arc::clone(table));
        }
    }
    (!tables.is_empty()).then_some(tables)
}

/// Number of rows of a table's copy.
fn rows_max(table: &Table) -> u64 {
    let by_bytes = table.row_bytes.map(|bytes| COPY_BYTES_MAX / bytes.max(1));
    by_bytes.unwrap_or(COPY_ROWS_MAX).clamp(1000, COPY_ROWS_MAX)
}

/// A statement with its limits reduced in proportion to the copies.
fn scaled(sql: &str, share: f64) -> String {
    if share >= 1.0 {
        return sql.to_owned();
    }
    let mut text = sql.to_owned();
    for (name, least) in LIMITS {
        let Some(at) = text.find(name) else { continue };
        let behind = at + name.len();
        let digits = |c: char| c.is_ascii_digit();
        let Some(start) = text[behind..].find(digits).map(|start| behind + start) else {
            continue;
        };
        // Only ` = ` and `=` may be between.
        if text[behind..start].trim() != "=" {
            continue;
        }
        let end = text[start..]
            .find(|c| !digits(c))
            .map_or(text.len(), |end| start + end);
        if let Ok(value) = text[start..end].parse::<u64>() {
            let value = ((value as f64 * share) as u64).max(least);
            text.replace_range(start..end, &value.to_string());
        }
    }
    text
}

/// The risk of a change, with the measured size of its index.
fn with_index_size(risk: &str, bytes: u64) -> String {
    let size = crate::quantities::size(bytes);
    let Some((before, behind)) = risk.split_once(INDEX_SIZE_MAX) else {
        return risk.to_owned();
    };
    let rest = behind
        .split_once(';')
        .map_or(String::new(), |(_, rest)| format!(";{rest}"));
    format!("{before}, of about {size}{rest}")
}

fn is_of_view(change: &Change) -> bool {
    change.kind == ChangeKind::Alter && change.sql.contains(" VIEW ")
}

fn refused(error: &str) -> String {
    format!("the server refuses it: {error}")
}

/// A change that helps.
struct Judged {
    after: Measured,
    /// Whether only its time shows the gain.
    by_time: bool,
}

/// The effect of a change on the statement, or the reason why it is not recommended.
fn verdict(before: &Run, run: &Result<Run, String>, change: &Change) -> Result<Judged, String> {
    let after = run.as_ref().map_err(Clone::clone)?;
    // With an index or a setting, the order within a list may differ, as from run to run.
    if change.kind == ChangeKind::Rewrite && before.rows != after.rows {
        return Err("it gives other rows".to_owned());
    }
    let (old, new) = (before.measured, after.measured);
    if new.seconds > old.seconds * SLOWER + SLOWER_SECONDS {
        return Err(format!(
            "it makes the statement slower ({} → {})",
            crate::quantities::seconds(old.seconds),
            crate::quantities::seconds(new.seconds)
        ));
    }
    if new.disk_tables > old.disk_tables {
        return Err("it sends a table to disk".to_owned());
    }
    if new.sort_merge_passes > old.sort_merge_passes {
        return Err("it sends a sort to disk".to_owned());
    }
    if new.full_joins > old.full_joins {
        return Err("it makes a join without an index".to_owned());
    }
    // A larger buffer is itself a cost: fewer merge passes in the same time are not a gain.
    if change.sql.contains("sort_buffer_size") && new.seconds > old.seconds * BUFFER_FASTER {
        return Err("it saves no time".to_owned());
    }
    let helps = new.temporary_tables < old.temporary_tables
        || new.disk_tables < old.disk_tables
        || new.sort_merge_passes < old.sort_merge_passes
        || new.full_joins < old.full_joins
        || (new.rows_read as f64) < old.rows_read as f64 * FASTER;
    let is_faster = new.seconds < old.seconds * FASTER;
    if helps || is_faster {
        Ok(Judged {
            after: new,
            by_time: !helps,
        })
    } else {
        Err("it does nothing".to_owned())
    }
}

fn left_out(change: &Change, why: &str) -> Change {
    let sql = crate::sql_text::one_line(&change.sql, 120);
    Change::advice(format!("not `{sql}`: tried on a copy, {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_as_much_smaller_as_copies() {
        for (sql, expected) in [
            (
                "SET SESSION tmp_table_size = 1048576",
                "SET SESSION tmp_table_size = 524288",
            ),
            (
                "SET SESSION sort_buffer_size = 40000",
                "SET SESSION sort_buffer_size = 32768",
            ),
            (
                "SELECT /*+ SET_VAR(tmp_table_size=4096) */ tmp_table_size FROM t WHERE a = 5",
                "SELECT /*+ SET_VAR(tmp_table_size=2048) */ tmp_table_size FROM t WHERE a = 5",
            ),
            (
                "SELECT max_heap_table_size FROM t LIMIT 5",
                "SELECT max_heap_table_size FROM t LIMIT 5",
            ),
        ] {
            assert_eq!(scaled(sql, 0.5), expected);
            assert_eq!(scaled(sql, 1.0), sql);
        }
    }

    #[test]
    fn the_size_of_an_index_is_the_measured_one() {
        // Measured on MySQL 9.7 and MariaDB 10.11: 60,000 rows of 10.8 and of 325 bytes.
        for (values, mebibytes) in [(11, 1.52), (325, 22.94)] {
            let bytes = record_bytes(60_000, values, 1) as f64 / 1_048_576.0;
            assert!(
                (bytes / mebibytes - 1.0_f64).abs() < 0.15,
                "{bytes} for {mebibytes}"
            );
        }
        assert_eq!(
            with_index_size(
                "one more index, of at most 9.0 MiB; the index `a` is then superfluous",
                1 << 20
            ),
            "one more index, of about 1.0 MiB; the index `a` is then superfluous"
        );
        assert_eq!(with_index_size("one more index", 1), "one more index");
    }

    #[test]
    fn a_change_has_to_help_and_not_to_harm() {
        let run = |seconds: f64, tables: u64, disk: u64, rows: u64| Run {
            measured: Measured {
                seconds,
                temporary_tables: tables,
                disk_tables: disk,
                ..Measured::default()
            },
            rows,
        };
        let before = run(1.0, 1, 1, 7);
        let plain = Change::new(ChangeKind::Rewrite, "SELECT 1", "helps");
        let risky = plain.clone().at_risk("other rows");
        let index = Change::new(ChangeKind::Index, "CREATE INDEX", "helps");
        let buffer = Change::new(
            ChangeKind::Setting,
            "SET GLOBAL sort_buffer_size = 1",
            "helps",
        );
        for (after, change, is_kept) in [
            (run(1.0, 0, 0, 7), &plain, true),
            (run(1.1, 1, 0, 7), &plain, true),
            (run(0.5, 1, 1, 7), &plain, true),
            (run(1.0, 1, 1, 7), &plain, false),
            (run(2.0, 0, 0, 7), &plain, false),
            (run(0.5, 2, 2, 7), &plain, false),
            (run(0.5, 0, 0, 8), &plain, false),
            (run(0.5, 0, 0, 8), &risky, false),
            (run(0.5, 0, 0, 8), &index, true),
            (run(0.95, 0, 0, 7), &buffer, false),
            (run(0.8, 1, 1, 7), &buffer, false),
            (run(0.6, 1, 1, 7), &buffer, true),
        ] {
            let measured = after.measured;
            assert_eq!(
                verdict(&before, &Ok(after), change).is_ok(),
                is_kept,
                "{measured:?}"
            );
        }
        assert!(verdict(&before, &Err("no".to_owned()), &plain).is_err());
    }
}

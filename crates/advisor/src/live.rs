//! A running server, through an ordinary connection that only reads.
//!
//! Invariant: every statement that [`Live`] sends is one of the few in this file, or EXPLAIN of a SELECT, in a READ
//! ONLY transaction. No statement of the workload is run.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use mayfly_syntax::ast::{self, TableName, Visit as _};
use mayfly_syntax::{ParseOptions, parse_one};

use crate::connection::Connection;
use crate::distribution::Percentiles;
use crate::explain::Explain;
use crate::finding::Finding;
use crate::report::Examiner;
use crate::schema::Schema;
use crate::server::{Family, Server};
use crate::sql_text::{quoted, tokens};
use crate::workload::{Digest, Workload};

/// A running server with its connection.
pub struct Live {
    connection: Box<dyn Connection>,
    server: Server,
    /// Messages about objects that could not be read.
    notes: Vec<String>,
    /// Tables whose definition was refused, and why.
    unread: Vec<(String, String)>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// Settings that affect temporary tables.
const SETTINGS: &str = "'tmp_table_size','max_heap_table_size','temptable_max_ram','temptable_max_mmap','internal_tmp_mem_storage_engine',\
    'optimizer_switch','sort_buffer_size','join_buffer_size','big_tables','group_concat_max_len','sql_mode','performance_schema','version_comment'";

/// The columns of a digest summary that servers of all versions have.
const SUMS: &str = "SCHEMA_NAME, DIGEST, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, MAX_TIMER_WAIT, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, \
    SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SELECT_FULL_JOIN, SUM_SORT_MERGE_PASSES, \
    UNIX_TIMESTAMP(FIRST_SEEN), UNIX_TIMESTAMP(LAST_SEEN)";

impl Live {
    /// Reads the server's version and settings.
    ///
    /// # Errors
    /// The connection is lost or refuses to be READ ONLY.
    pub fn new(mut connection: Box<dyn Connection>) -> Result<Self, String> {
        let version = connection.query("SELECT VERSION()")?;
        let version = version
            .rows
            .into_iter()
            .flatten()
            .flatten()
            .next()
            .unwrap_or_default();
        let mut server = Server::of_version(&version, true);
        // Prevents writes by statements and by functions that EXPLAIN evaluates.
        connection.query("SET SESSION TRANSACTION READ ONLY")?;
        let limit = match server.family {
            Family::MariaDb => "SET SESSION max_statement_time = 20",
            _ => "SET SESSION max_execution_time = 20000",
        };
        // Older servers have no time limit.
        let _ = connection.query(limit);
        let settings = connection.query(&format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({SETTINGS})"
        ))?;
        for row in settings.rows {
            if let [Some(name), Some(value)] = row.as_slice() {
                server.variables.insert(name.to_lowercase(), value.clone());
            }
        }
        if server
            .variable("version_comment")
            .is_some_and(|comment| comment.contains("Percona"))
        {
            server.name = server.name.replace("MySQL", "Percona Server");
        }
        Ok(Self {
            connection,
            server,
            notes: Vec::new(),
            unread: Vec::new(),
        })
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Messages about objects that could not be read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The server's digests, from performance_schema.
    ///
    /// # Errors
    /// The server has none; the message says how to enable them.
    pub fn workload(&mut self) -> Result<Workload, String> {
        let from = "FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT IS NOT NULL \
                    AND (SCHEMA_NAME IS NULL OR SCHEMA_NAME NOT IN ('mysql', 'performance_schema', 'sys', 'information_schema')) \
                    ORDER BY SUM_CREATED_TMP_DISK_TABLES DESC, SUM_TIMER_WAIT DESC LIMIT 5000";
        let with_sample = self.connection.query(&format!(
            "SELECT {SUMS}, QUERY_SAMPLE_TEXT, QUANTILE_95, QUANTILE_99 {from}"
        ));
        let rows = match with_sample {
            Ok(rows) => rows,
            Err(_) => self.connection.query(&format!("SELECT {SUMS} {from}"))?,
        };
        if rows.rows.is_empty() {
            return Err("the server has no statement digests: performance_schema is off, or has not seen a statement yet; \
                        give a slow log beside the connection"
                .to_owned());
        }
        let samples = self.samples();
        let mut workload = Workload::new();
        for row in rows.rows {
            workload.add_summary(summary(&row, &samples));
        }
        Ok(workload)
    }

    /// Statements as they ran, by digest, where the server keeps a history of them.
    fn samples(&mut self) -> std::collections::HashMap<String, String> {
        let mut samples = std::collections::HashMap::new();
        for table in [
            "events_statements_history_long",
            "events_statements_history",
        ] {
            let sql = format!(
                "SELECT DIGEST, SQL_TEXT FROM performance_schema.{table} WHERE DIGEST IS NOT NULL AND SQL_TEXT IS NOT NULL LIMIT 20000"
            );
            for row in self.connection.query(&sql).unwrap_or_default().rows {
                if let [Some(digest), Some(text)] = row.as_slice() {
                    samples.insert(digest.clone(), text.clone());
                }
            }
        }
        samples
    }

    /// Reads the definitions of all tables that a workload's statements name.
    pub fn read_schema(&mut self, workload: &Workload, schema: &mut Schema) {
        let mut open: BTreeSet<(String, String)> = BTreeSet::new();
        let digests = workload.digests().iter();
        for digest in digests.filter(|digest| digest.is_of_interest()) {
            open.extend(tables_of(&digest.example, digest.database.as_deref()));
        }
        let mut seen = BTreeSet::new();
        while let Some((database, name)) = open.pop_first() {
            if !seen.insert((database.clone(), name.clone())) || seen.len() > 5000 {
                continue;
            }
            if let Some(text) = self.definition(&database, &name) {
                let failed = schema.read_dump(&text, &database);
                self.notes
                    .extend(failed.iter().map(|what| format!("not understood: {what}")));
                if let Some(view) = schema.view(&database, &name) {
                    open.extend(tables_of(&view.text, Some(&database)));
                }
            }
        }
        if let Some((_, why)) = self.unread.first() {
            let names: Vec<&str> = self.unread.iter().map(|(name, _)| name.as_str()).collect();
            let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            self.notes.push(format!(
                "{} tables could not be read ({shown}{}): {why}",
                names.len(),
                if names.len() > 5 { ", …" } else { "" }
            ));
        }
        let databases: BTreeSet<&String> = seen.iter().map(|(database, _)| database).collect();
        for database in databases {
            let names: Vec<&str> = seen
                .iter()
                .filter(|(own, _)| own == database)
                .map(|(_, name)| name.as_str())
                .collect();
            self.read_statistics(database, &names, schema);
        }
    }

    fn definition(&mut self, database: &str, name: &str) -> Option<String> {
        let full = format!("{}.{}", quoted(database), quoted(name));
        match self.connection.query(&format!("SHOW CREATE TABLE {full}")) {
            // The result has two columns for a table, four for a view.
            Ok(rows) => rows.rows.into_iter().next()?.into_iter().nth(1)?,
            Err(error) => {
                self.unread.push((format!("{database}.{name}"), error));
                None
            }
        }
    }

    fn read_statistics(&mut self, database: &str, names: &[&str], schema: &mut Schema) {
        let text = |text: &str| mayfly_syntax::printer::quoted_string(text);
        for names in names.chunks(200) {
            let list = names
                .iter()
                .map(|name| text(name))
                .collect::<Vec<_>>()
                .join(", ");
            let of = format!(
                "WHERE TABLE_SCHEMA = {} AND TABLE_NAME IN ({list})",
                text(database)
            );
            let sizes = format!(
                "SELECT TABLE_NAME, TABLE_ROWS, AVG_ROW_LENGTH FROM information_schema.TABLES {of}"
            );
            for row in self.connection.query(&sizes).unwrap_or_default().rows {
                if let [Some(name), rows, bytes] = row.as_slice() {
                    let number = |value: &Option<String>| value.as_ref()?.parse().ok();
                    schema.set_statistics(database, name, number(rows), number(bytes));
                }
            }
        }
    }

    /// The server's EXPLAIN of a digest's example, if that is a SELECT as it ran.
    pub fn explain(&mut self, digest: &Digest) -> Option<Explain> {
        if !digest.example_is_whole || !is_plain_select(&digest.example) {
            return None;
        }
        let sql = match self.server.family {
            // A setting may select another format.
            Family::MySql if self.server.version >= (5, 6, 0) => {
                format!("EXPLAIN FORMAT=TRADITIONAL {}", digest.example)
            }
            _ => format!("EXPLAIN {}", digest.example),
        };
        if let Some(database) = &digest.database {
            self.connection
                .query(&format!("USE {}", quoted(database)))
                .ok()?;
        }
        self.connection.query("START TRANSACTION READ ONLY").ok()?;
        let rows = self.connection.query(&sql);
        let _ = self.connection.query("ROLLBACK");
        let rows = rows.ok()?;
        Some(Explain::of_rows(&rows.names, &rows.rows))
    }
}

impl Examiner for Live {
    fn explain(&mut self, digest: &Digest) -> Option<Explain> {
        Self::explain(self, digest)
    }

    fn examine(&mut self, _: &Digest, _: &Schema, _: &mut Vec<Finding>) {}
}

/// Whether a text is one SELECT that writes nowhere.
pub(crate) fn is_plain_select(sql: &str) -> bool {
    let mut list = tokens(sql);
    let begins = list.next().is_some_and(|first| {
        first.is(sql, "select") || first.is(sql, "with") || first.is_symbol(sql, '(')
    });
    begins && !list.any(|token| token.is_symbol(sql, ';') || token.is(sql, "into"))
}

fn summary(row: &[Option<String>], samples: &std::collections::HashMap<String, String>) -> Digest {
    let text = |at: usize| row.get(at).cloned().flatten();
    let number = |at: usize| {
        text(at)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
            .max(0.0) as u64
    };
    // performance_schema counts picoseconds.
    let seconds = |at: usize| {
        text(at)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
            / 1e12
    };
    let time = |at: usize| {
        text(at)
            .and_then(|text| text.parse::<f64>().ok())
            .map(|seconds| (seconds * 1e6) as i64)
    };
    let sample = text(14)
        .filter(|text| !text.is_empty())
        .or_else(|| text(1).and_then(|digest| samples.get(&digest).cloned()));
    // Both are cut at a length, with or without a mark at the end.
    let whole = sample
        .as_ref()
        .is_some_and(|sample| !sample.ends_with("...") && sample.len() < 1000);
    let runs = number(3);
    let per_run = |sum: u64| sum.div_ceil(runs.max(1));
    let (tables, disk) = (number(8), number(9));
    let (sent, examined) = (number(6), number(7));
    Digest {
        database: text(0),
        example: sample.or_else(|| text(2)).unwrap_or_default(),
        example_is_whole: whole,
        first: time(12),
        last: time(13),
        runs,
        seconds: seconds(4),
        seconds_max: seconds(5),
        rows_sent: sent,
        rows_examined: examined,
        rows_sent_max: per_run(sent),
        rows_examined_max: per_run(examined),
        runs_counted: runs,
        tables,
        disk_tables: disk,
        disk_runs: disk.min(runs),
        tables_max: per_run(tables),
        disk_tables_max: per_run(disk),
        full_joins: Some(number(10)),
        merge_passes: Some(number(11)),
        counted_percentiles: (row.len() > 16).then(|| Percentiles {
            median: None,
            p95: seconds(15),
            p99: seconds(16),
        }),
        ..Digest::default()
    }
}

/// The tables that a statement names, with their databases.
pub(crate) fn tables_of(sql: &str, database: Option<&str>) -> Vec<(String, String)> {
    let options = ParseOptions {
        ignore_space: true,
        ..ParseOptions::MYSQL_DEFAULT
    };
    let readable = sql.replace("(...)", "(?)").replace("?, ...", "?");
    let Ok(parsed) = parse_one(&readable, &options) else {
        return Vec::new();
    };
    let mut names: Vec<TableName> = Vec::new();
    let mut add = |name: &ast::ObjectName| -> ControlFlow<()> {
        names.extend(TableName::from_object_name(name));
        ControlFlow::Continue(())
    };
    mayfly_syntax::with_stack(parsed.height, || {
        if let Some(query) = crate::statement::query_of(&parsed.statement) {
            let _ = ast::visit_relations(query, &mut add);
        }
        let from = match &parsed.statement {
            ast::Statement::Update(update) => &update.tables,
            ast::Statement::Delete(delete) => &delete.from,
            _ => &Vec::new(),
        };
        let _ = ast::visit_relations(from, &mut add);
    });
    let mut common = Vec::new();
    let mut add = |query: &ast::Query| -> ControlFlow<()> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        common.extend(tables.map(|table| table.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    };
    if let Some(query) = crate::statement::query_of(&parsed.statement) {
        mayfly_syntax::with_stack(parsed.height, || {
            let _ = query.visit(&mut Queries(&mut add));
        });
    }
    names.retain(|name| name.database.is_some() || !common.contains(&name.name.to_lowercase()));
    let system = ["information_schema", "performance_schema", "sys", "mysql"];
    names
        .into_iter()
        .filter_map(|name| {
            Some((
                name.database.or_else(|| database.map(str::to_owned))?,
                name.name,
            ))
        })
        .filter(|(database, _)| !system.contains(&database.to_lowercase().as_str()))
        .collect()
}

/// Visitor that calls a function on every query of a tree.
struct Queries<'f>(&'f mut dyn FnMut(&ast::Query) -> ControlFlow<()>);

impl ast::Visitor for Queries<'_> {
    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
        (self.0)(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_selects_that_write_nowhere_are_explained() {
        assert!(is_plain_select("SELECT a FROM t"));
        assert!(is_plain_select("WITH w AS (SELECT 1) SELECT * FROM w"));
        for sql in [
            "DELETE FROM t",
            "SELECT a INTO OUTFILE '/tmp/x' FROM t",
            "SELECT 1; DROP TABLE t",
            "ANALYZE SELECT 1",
            "",
        ] {
            assert!(!is_plain_select(sql), "{sql}");
        }
    }

    #[test]
    fn tables_are_found_with_their_databases() {
        let with = "WITH w AS (SELECT a FROM t) SELECT * FROM w";
        assert_eq!(
            tables_of(with, Some("d")),
            [("d".to_owned(), "t".to_owned())]
        );
        assert_eq!(
            tables_of(
                "SELECT a FROM t JOIN o.u USING (a) WHERE b IN (...)",
                Some("d")
            ),
            [
                ("d".to_owned(), "t".to_owned()),
                ("o".to_owned(), "u".to_owned())
            ]
        );
    }
}

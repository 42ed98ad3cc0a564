//! The format of the slow log, as in MySQL, MariaDB and Percona Server.
//!
//! Two fields are added to these servers' formats, at the end of the line about temporary tables: `Tmp_disk_bytes_written`,
//! where a statement wrote some, and `Exchanged_bytes`, where a secondary engine computed rows of it. Parsers of slow logs
//! accept unknown fields.

use std::fmt::{self, Write};
use std::time::Duration;

use mayfly_types::{Level, printable};

use super::entry::{ExplainLine, SlowEntry};
use super::filter::{has_filesort, has_filesort_on_disk};
use super::log_file::Written;
use super::log_options::{Format, LogOptions};
use super::time_text;
use crate::result::StatementSummary;
use crate::variables::logs::RATE_OF_QUERIES;

/// Appends an entry.
pub(super) fn write(
    entry: &SlowEntry,
    options: &LogOptions,
    written: &mut Written,
    out: &mut String,
) {
    let format = options.format(&entry.verbosity);
    // Writing to a string cannot fail.
    let _ = match format {
        Format::MySql => mysql(entry, options, out),
        Format::MariaDb | Format::MariaDb53 => mariadb(entry, format, written, out),
        Format::Percona => percona(entry, options, out),
    };
    let _ = statement(entry, format, written, out);
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.0;
        write!(f, "{}.{:06}", time.as_secs(), time.subsec_micros())
    }
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "Yes" } else { "No" }
}

/// The added fields.
struct Spilled<'a>(&'a SlowEntry);

impl fmt::Display for Spilled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.0.summary;
        if summary.bytes_overflowed > 0 {
            let bytes = summary.bytes_overflowed;
            write!(f, "  Tmp_disk_bytes_written: {bytes}")?;
        }
        if summary.on_secondary {
            let bytes = summary.bytes_exchanged;
            write!(f, "  Exchanged_bytes: {bytes}")?;
        }
        Ok(())
    }
}

fn time_and_user(entry: &SlowEntry, options: &LogOptions, out: &mut String) -> fmt::Result {
    out.push_str("# Time: ");
    time_text::write_iso(entry.ended_at, options.system_time, out);
    writeln!(
        out,
        "\n# User@Host: {}  Id: {:5}",
        entry.user_host, entry.session_id
    )
}

fn mysql(entry: &SlowEntry, options: &LogOptions, out: &mut String) -> fmt::Result {
    let summary = &entry.summary;
    time_and_user(entry, options, out)?;
    write!(
        out,
        "# Query_time: {}  Lock_time: {} Rows_sent: {}  Rows_examined: {}",
        Seconds(summary.elapsed),
        Seconds(summary.lock_time),
        summary.rows_sent,
        summary.rows_examined
    )?;
    if let Some(counts) = &entry.counts {
        write!(
            out,
            " Thread_id: {} Errno: {} Killed: {} Bytes_received: {} Bytes_sent: {}",
            entry.session_id,
            entry.errno,
            entry.killed(),
            entry.bytes_received,
            entry.bytes_sent
        )?;
        for (name, count) in counts.named() {
            write!(out, " {name}: {count}")?;
        }
        out.push_str("  Start: ");
        time_text::write_iso(entry.began_at(), options.system_time, out);
        out.push_str(" End: ");
        time_text::write_iso(entry.ended_at, options.system_time, out);
        write!(out, "{}", Spilled(entry))?;
    }
    out.push('\n');
    kept_results(summary, out)
}

/// The line about kept results, if the statement has asked for some: whether all of them were read, the age of the oldest,
/// and their bytes.
fn kept_results(summary: &StatementSummary, out: &mut String) -> fmt::Result {
    let used = &summary.results;
    if used.hits + used.misses == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "# Result_cache: {}  Result_cache_age: {}  Result_cache_bytes: {}",
        if used.misses == 0 { "hit" } else { "miss" },
        Seconds(used.age),
        used.bytes
    )
}

fn mariadb(
    entry: &SlowEntry,
    format: Format,
    written: &mut Written,
    out: &mut String,
) -> fmt::Result {
    let (summary, verbosity) = (&entry.summary, &entry.verbosity);
    let second = entry.ended_at.div_euclid(1_000_000);
    if written.second.replace(second) != Some(second) {
        out.push_str("# Time: ");
        time_text::write_short(entry.ended_at, out);
        out.push('\n');
    }
    writeln!(out, "# User@Host: {}", entry.user_host)?;
    writeln!(
        out,
        "# Thread_id: {}  Schema: {}  QC_hit: No",
        entry.session_id,
        printable(entry.database.as_deref().unwrap_or_default())
    )?;
    writeln!(
        out,
        "# Query_time: {}  Lock_time: {}  Rows_sent: {}  Rows_examined: {}",
        Seconds(summary.elapsed),
        Seconds(summary.lock_time),
        summary.rows_sent,
        summary.rows_examined
    )?;
    kept_results(summary, out)?;
    let is_old = format == Format::MariaDb53;
    if !is_old {
        writeln!(
            out,
            "# Rows_affected: {}  Bytes_sent: {}",
            summary.rows_affected, entry.bytes_sent
        )?;
        if verbosity.engine && summary.rows_examined + summary.rows_affected > 0 {
            // There are no page reads, and single calls are not timed.
            out.push_str(
                "# Pages_accessed: 0  Pages_read: 0  Pages_prefetched: 0  Pages_updated: 0  \
                 Old_rows_read: 0\n\
                 # Pages_read_time: 0.0000  Engine_time: 0.0000\n",
            );
        }
        if verbosity.query_plan && summary.temporary_tables > 0 {
            writeln!(
                out,
                "# Tmp_tables: {}  Tmp_disk_tables: {}  Tmp_table_sizes: {}{}",
                summary.temporary_tables,
                summary.disk_tables,
                entry.tmp_table_sizes,
                Spilled(entry)
            )?;
        }
    }
    if verbosity.query_plan && (is_old || has_plan_flags(entry)) {
        write!(
            out,
            "# Full_scan: {}  Full_join: {}  Tmp_table: {}  Tmp_table_on_disk: {}",
            yes(summary.select_scan > 0),
            yes(summary.select_full_join > 0),
            yes(summary.temporary_tables > 0),
            yes(summary.disk_tables > 0)
        )?;
        if is_old || summary.temporary_tables == 0 {
            write!(out, "{}", Spilled(entry))?;
        }
        write!(
            out,
            "\n# Filesort: {}  Filesort_on_disk: {}  Merge_passes: {}",
            yes(has_filesort(summary)),
            yes(has_filesort_on_disk(summary)),
            summary.sort_merge_passes
        )?;
        if !is_old {
            write!(
                out,
                "  Priority_queue: {}",
                yes(summary.sort_priority_queue > 0)
            )?;
        }
        out.push('\n');
    }
    if is_old {
        return Ok(());
    }
    explain(&entry.explain, out)?;
    if verbosity.warnings && !entry.warnings.is_empty() {
        out.push_str("# Warnings\n");
        for warning in &entry.warnings {
            let level = match warning.level {
                Level::Note => "Note",
                Level::Warning => "Warning",
                Level::Error => "Error",
            };
            let (code, message) = (warning.code, one_line(&warning.message));
            writeln!(out, "# {level} {code} {message}")?;
        }
    }
    Ok(())
}

/// A text for a comment of the log, on one line: a second line would be read as a statement.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn has_plan_flags(entry: &SlowEntry) -> bool {
    let summary = &entry.summary;
    summary.select_scan + summary.select_full_join + summary.temporary_tables > 0
        || has_filesort(summary)
}

fn explain(lines: &[ExplainLine], out: &mut String) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    out.push_str(
        "#\n# explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\t\
         filtered\tr_filtered\tExtra\n",
    );
    for line in lines {
        let row = &line.row;
        let is_result = row.select_type.ends_with(" RESULT");
        out.push_str("# explain: ");
        match is_result {
            // MariaDB numbers query blocks only.
            true => out.push_str("NULL"),
            false => write!(out, "{}", row.id)?,
        }
        write!(out, "\t{}", row.select_type)?;
        let texts = [
            row.table.as_deref(),
            row.access,
            row.possible_keys.as_deref(),
            row.key.as_deref(),
            row.key_length.as_deref(),
            row.reference.as_deref(),
        ];
        for text in texts {
            out.push('\t');
            out.push_str(&one_line(text.unwrap_or("NULL")));
        }
        let rows = row.rows.map(|rows| rows as f64);
        let numbers = [
            (rows, 0),
            (line.rows_read, 2),
            (row.filtered, 2),
            (line.filtered, 2),
        ];
        for (number, digits) in numbers {
            match number {
                Some(number) => write!(out, "\t{number:.digits$}")?,
                None => out.push_str("\tNULL"),
            }
        }
        writeln!(
            out,
            "\t{}",
            one_line(row.extra.as_deref().unwrap_or_default())
        )?;
    }
    out.push_str("#\n");
    Ok(())
}

fn percona(entry: &SlowEntry, options: &LogOptions, out: &mut String) -> fmt::Result {
    let (summary, verbosity) = (&entry.summary, &entry.verbosity);
    time_and_user(entry, options, out)?;
    writeln!(
        out,
        "# Schema: {}  Last_errno: {}  Killed: {}",
        printable(entry.database.as_deref().unwrap_or_default()),
        entry.errno,
        entry.killed()
    )?;
    write!(
        out,
        "# Query_time: {}  Lock_time: {}  Rows_sent: {}  Rows_examined: {}  Rows_affected: {}\n\
         # Bytes_sent: {}",
        Seconds(summary.elapsed),
        Seconds(summary.lock_time),
        summary.rows_sent,
        summary.rows_examined,
        summary.rows_affected,
        entry.bytes_sent
    )?;
    if verbosity.query_plan {
        write!(
            out,
            "  Tmp_tables: {}  Tmp_disk_tables: {}  Tmp_table_sizes: {}{}",
            summary.temporary_tables,
            summary.disk_tables,
            entry.tmp_table_sizes,
            Spilled(entry)
        )?;
    }
    out.push('\n');
    kept_results(summary, out)?;
    if verbosity.query_plan {
        writeln!(
            out,
            "# Full_scan: {}  Full_join: {}  Tmp_table: {}  Tmp_table_on_disk: {}\n\
             # Filesort: {}  Filesort_on_disk: {}  Merge_passes: {}",
            yes(summary.select_scan > 0),
            yes(summary.select_full_join > 0),
            yes(summary.temporary_tables > 0),
            yes(summary.disk_tables > 0),
            yes(has_filesort(summary)),
            yes(has_filesort_on_disk(summary)),
            summary.sort_merge_passes
        )?;
    }
    if verbosity.engine {
        out.push_str("# No InnoDB statistics available for this query\n");
    }
    if entry.rate_limit > 1 {
        let by = if options.rate_type == RATE_OF_QUERIES {
            "query"
        } else {
            "session"
        };
        writeln!(
            out,
            "# Log_slow_rate_type: {by}  Log_slow_rate_limit: {}",
            entry.rate_limit
        )?;
    }
    Ok(())
}

fn statement(
    entry: &SlowEntry,
    format: Format,
    written: &mut Written,
    out: &mut String,
) -> fmt::Result {
    if let Some(database) = &entry.database
        && **database != *written.database
    {
        let shown = printable(database);
        match format {
            Format::MariaDb => writeln!(out, "use `{}`;", shown.replace('`', "``"))?,
            _ => writeln!(out, "use {shown};")?,
        }
        written.database.clear();
        written.database.push_str(database);
    }
    writeln!(out, "SET timestamp={};", entry.timestamp)?;
    if entry.is_command {
        out.push_str("# administrator command: ");
    }
    writeln!(out, "{};", entry.text)
}

#[cfg(test)]
mod tests;

//! Rule for tables that outgrow `tmp_table_size`.

use super::context::Context;
use crate::finding::{Cause, Change, ChangeKind, Confidence, Finding};
use crate::quantities::size;
use crate::server::{Family, Server};
use crate::statement::Value;
use crate::temp_tables::{Held, Purpose, Strength, TemporaryTable};

/// Greatest value of a setting that is recommended.
const RECOMMENDED_MAX: u64 = 2 << 30;
/// Greatest ratio of a join table's size in memory to its size on disk; beyond it the table is better left on disk.
const BLOAT_MAX: u64 = 8;
/// Lengths of strings that are recommended, in characters.
const LENGTHS: [u64; 4] = [512, 255, 128, 64];

/// The longest string, of at most `longest` characters, with which a table fits into memory; `longest` where rows are
/// packed or their number is not known.
pub(super) fn characters_that_fit(
    context: &Context<'_>,
    table: &TemporaryTable,
    held: &Held,
    most: u64,
    bytes_per_character: u64,
) -> Option<u64> {
    let rows = match row_count(context, table) {
        Some(rows) if context.server.blobs_on_disk() => rows.max(1),
        _ => return Some(most),
    };
    let others = table.held.iter().filter(|other| other.expr != held.expr);
    let others: u64 = others
        .filter_map(|other| other.value.declared_bytes())
        .sum();
    // Pointers of the hash index and the delete link.
    let room = (context.server.size_limit() / rows).checked_sub(others + 34)?;
    let room = room / bytes_per_character.max(1);
    if room >= most {
        return Some(most);
    }
    LENGTHS
        .into_iter()
        .find(|length| *length <= room && *length < most)
}

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let digest = context.digest;
    if digest.disk_tables == 0
        || findings
            .iter()
            .any(|finding| finding.cause == Cause::BigTables)
    {
        return;
    }
    let hit = digest.size_limit_hits.unwrap_or(0) > 0;
    let has_other_cause = findings.iter().any(|finding| {
        matches!(
            finding.cause,
            Cause::BlobColumn | Cause::LongString | Cause::MetadataQuery
        )
    });
    if has_other_cause && !hit || context.tables.is_empty() {
        return;
    }
    let limit = context.server.size_limit();
    let settings = context.server.size_settings();
    let all_known = context
        .tables
        .iter()
        .flat_map(|table| &table.held)
        .all(|held| held.value != Value::Unknown);
    let evidence = format!(
        "the table grows beyond {} ({}), and {}{}",
        size(limit),
        settings.join(" and "),
        if context.server.family == Family::Mayfly {
            "what does not fit is written to disk"
        } else {
            "is then written to disk row by row"
        },
        if digest.bytes_max > 0 {
            format!("; a run had {} of temporary tables", size(digest.bytes_max))
        } else {
            String::new()
        }
    );
    let mut finding = context.finding(Cause::SizeLimit, Strength::Always, evidence);
    // A server that keeps BLOBs on disk, and values of unknown types.
    let may_be_blob = context.server.blobs_on_disk() && (!all_known || !context.known);
    if hit {
        finding.confidence = Confidence::Certain;
        finding.because = "the server counted that the limit was hit".to_owned();
    } else if digest.bytes_max > 0 && digest.bytes_max < limit && may_be_blob {
        finding.cause = Cause::BlobColumn;
        finding.confidence = Confidence::Likely;
        finding.because = "the tables are on disk and smaller than the limit; the types of their columns are not known".to_owned();
        finding.evidence = format!(
            "the tables of a run have {} at most, less than the limit of {}: a BLOB, TEXT or JSON column, or a string of more than 512 characters, has put them on disk",
            size(digest.bytes_max),
            size(limit)
        );
        finding.changes.push(Change::advice(
            "give the schema too (--schema or --connect), and the column is named",
        ));
        findings.push(finding);
        return;
    } else if may_be_blob {
        finding.confidence = Confidence::Possible;
        finding.because = "a table is on disk; whether by its size or by a BLOB column is not known without the schema".to_owned();
    }
    // With packed rows, a table smaller than the limit did not hit it.
    let measured = digest.bytes_max;
    if measured > 0 && measured < limit && !context.server.blobs_on_disk() {
        finding.evidence = format!(
            "a run had {} of temporary tables, less than the limit of {} ({}), and some of them on disk",
            size(measured),
            size(limit),
            settings.join(" and ")
        );
        finding.changes.push(Change::advice(format!(
            "see what {} is in the session that runs it, which has set less for itself; or whether all sessions together \
             have reached temptable_max_ram",
            settings.join(" and ")
        )));
        findings.push(finding);
        return;
    }
    finding.changes.extend(setting(context, limit, settings));
    findings.push(finding);
}

fn setting(context: &Context<'_>, limit: u64, settings: &[&str]) -> Vec<Change> {
    let needed = context
        .tables
        .iter()
        .filter_map(|table| needed_bytes(context, table))
        .max();
    // The measured size fits into the setting, whatever the estimate.
    let measured = context.digest.bytes_max;
    let known = needed.unwrap_or(measured.max(limit) * 4).max(measured);
    // A quarter more, rounded up to 16 MiB.
    let step = 16 << 20;
    let wanted = (known + known / 4).div_ceil(step) * step;
    let wanted = wanted.max(limit * 2);
    if wanted > RECOMMENDED_MAX {
        return vec![Change::advice(format!(
            "the table needs about {}, which is too much for a setting: fewer or shorter rows are the cure, by the other changes",
            size(wanted)
        ))];
    }
    let is_join = context
        .tables
        .iter()
        .filter_map(|table| context.block(table))
        .any(|block| block.tables.len() > 1);
    if context.server.blobs_on_disk() && is_join && measured > 0 && wanted / BLOAT_MAX > measured {
        return vec![Change::advice(format!(
            "in memory, where rows are as long as they are declared, the table needs about {}, on disk {}: a setting that \
             keeps it in memory does not pay; shorter declarations or fewer columns do",
            size(wanted),
            size(measured)
        ))];
    }
    let sets: Vec<String> = settings
        .iter()
        .map(|name| format!("SET GLOBAL {name} = {wanted}"))
        .collect();
    let assignments: Vec<String> = settings
        .iter()
        .map(|name| format!("{name} = {wanted}"))
        .collect();
    let memory = match context.server.family {
        Family::MySql | Family::Mayfly if context.server.has_temp_table_engine() => {
            "all sessions together keep to temptable_max_ram"
        }
        _ => "each session may take as much for each of its tables",
    };
    let mut changes = vec![
        Change::new(ChangeKind::Setting, sets.join("; "), "the table stays in memory")
            .at_risk(format!("holds for sessions that begin afterwards, and has to go into the configuration file too; {memory}")),
    ];
    if let Some(text) = context.text() {
        let alone = for_statement_alone(context.server, text, &assignments);
        changes.extend(alone.map(|sql| {
            Change::new(
                ChangeKind::Rewrite,
                sql,
                "the same for this statement alone",
            )
        }));
    }
    changes
}

/// The statement with its own settings, where the server has a syntax for that.
pub(super) fn for_statement_alone(
    server: &Server,
    text: &str,
    assignments: &[String],
) -> Option<String> {
    match server.family {
        Family::MariaDb => Some(format!(
            "SET STATEMENT {} FOR {text}",
            assignments.join(", ")
        )),
        Family::MySql if server.version >= (8, 0, 3) => with_hint(text, assignments),
        Family::MySql => None,
        Family::Mayfly => with_hint(text, assignments),
    }
}

/// MySQL's hint SET_VAR behind the first SELECT.
fn with_hint(text: &str, assignments: &[String]) -> Option<String> {
    let select = crate::sql_text::tokens(text).find(|token| token.is(text, "select"))?;
    let hints: Vec<String> = assignments
        .iter()
        .map(|one| format!("SET_VAR({})", one.replace(" = ", "=")))
        .collect();
    Some(format!(
        "{} /*+ {} */{}",
        text.get(..select.end)?,
        hints.join(" "),
        text.get(select.end..)?
    ))
}

/// Bytes of a table in memory: its rows times their width.
fn needed_bytes(context: &Context<'_>, table: &TemporaryTable) -> Option<u64> {
    let rows = row_count(context, table)?;
    let fixed = !context.server.has_temp_table_engine();
    let widths: Option<Vec<u64>> = table
        .held
        .iter()
        .map(|held| width(context, table, held, fixed))
        .collect();
    let widths = widths.filter(|widths| !widths.is_empty())?;
    // Pointers of the hash index and the delete link, or cells of 16 bytes.
    let overhead = if fixed {
        32
    } else {
        32 + 16 * widths.len() as u64
    };
    Some(rows.saturating_mul(widths.iter().sum::<u64>() + overhead))
}

fn width(context: &Context<'_>, table: &TemporaryTable, held: &Held, fixed: bool) -> Option<u64> {
    let declared = match held.value {
        Value::Blob => return row_bytes(context, table),
        value => value.declared_bytes()?,
    };
    // Packed rows are at most as long as those of their source tables, except for computed values.
    match row_bytes(context, table).filter(|_| !fixed) {
        Some(bytes) if matches!(held.value, Value::Text { .. }) => {
            Some(declared.min(bytes.max(64)))
        }
        _ => Some(declared),
    }
}

fn row_bytes(context: &Context<'_>, table: &TemporaryTable) -> Option<u64> {
    let bases = context
        .block(table)?
        .tables
        .iter()
        .map(|table| table.base()?.row_bytes);
    bases.sum()
}

/// Number of rows of a table: at most the rows sent, when each is sent; at most the rows read.
fn row_count(context: &Context<'_>, table: &TemporaryTable) -> Option<u64> {
    let digest = context.digest;
    let block = context.block(table);
    let sends_all = block.is_some_and(|block| {
        block.number == 0
            && context.statement.blocks.len() == 1
            && !block.has_limit
            && block.select.having.is_none()
    });
    let groups = matches!(
        table.purpose,
        Purpose::GroupBy | Purpose::Distinct | Purpose::OrderDiffersFromGroup
    );
    if sends_all && groups && digest.rows_sent_max > 0 {
        return Some(digest.rows_sent_max);
    }
    let largest = block.and_then(|block| {
        block
            .tables
            .iter()
            .filter_map(|table| table.base()?.rows)
            .max()
    });
    match (largest, digest.rows_examined_max) {
        (Some(rows), 0) => Some(rows),
        (Some(rows), examined) => Some(rows.min(examined)),
        (None, 0) => None,
        (None, examined) => Some(examined),
    }
}

//! Rule for sorts that use files.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change};
use super::size_limit::for_statement_alone;
use crate::finding::{Cause, Change, ChangeKind, Confidence, Finding};
use crate::index;
use crate::quantities::{counted, runs, seconds, size};
use crate::server::{Family, Server};
use crate::statement::Block;
use crate::workload::Digest;

/// Greatest recommended `sort_buffer_size`: it is allocated for each sort, so that larger values do
/// harm.
const SORT_BUFFER_MAX: u64 = 32 << 20;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let sorting = context
        .statement
        .blocks
        .iter()
        .find(|block| !block.order_by.is_empty())
        .or_else(|| {
            context
                .statement
                .blocks
                .iter()
                .find(|block| !block.group_by.is_empty() || block.has_windows)
        });
    let index = sorting.and_then(index_for);
    find_counted(context.digest, context.server, index, findings);
}

fn index_for(block: &Block) -> Option<Change> {
    if block.has_windows {
        return None;
    }
    let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
    let keys = if order.is_empty() {
        block.group_by.iter().collect()
    } else {
        order
    };
    let descending = block
        .order_by
        .iter()
        .filter(|key| matches!(key.sort, Some(mayfly_syntax::ast::OrderBySort::Desc)))
        .count();
    if descending > 0 && descending < block.order_by.len() {
        return None;
    }
    let (table, columns) = index::key_columns(block, &keys)?;
    if columns.is_empty() || block.tables.len() > 1 {
        return None;
    }
    Some(index_change(
        &index::advise(block, table, &columns)?,
        "the order",
    ))
}

/// Findings from the counters of sorts.
pub(super) fn find_counted(
    digest: &Digest,
    server: &Server,
    index: Option<Change>,
    findings: &mut Vec<Finding>,
) {
    let passes = digest.merge_passes.unwrap_or(0);
    let sorts = digest.disk_sorts.unwrap_or(0);
    if passes == 0 && sorts == 0 {
        return;
    }
    let default = if server.family == Family::MariaDb {
        2 << 20
    } else {
        256 << 10
    };
    let buffer = server.number("sort_buffer_size").unwrap_or(default);
    let evidence = format!(
        "rows to sort do not fit sort_buffer_size ({}): sorted parts were written to files and merged{}",
        size(buffer),
        if passes > 0 {
            format!(
                ", in {} over {}",
                counted(passes, "round"),
                runs(digest.runs)
            )
        } else {
            String::new()
        }
    );
    let mut changes: Vec<Change> = index.into_iter().collect();
    // A merge pass merges several parts: the data are several times the buffer.
    let rounds = (passes / digest.runs.max(1)).saturating_add(1);
    let wanted = (buffer.saturating_mul(rounds.saturating_mul(8)))
        .next_power_of_two()
        .max(buffer * 4)
        .min(SORT_BUFFER_MAX);
    if wanted > buffer {
        // Every sort of every session may allocate the buffer: it is set only for the statement
        // that needs it.
        let text = digest.example_is_whole.then_some(digest.example.as_str());
        let setting = [format!("sort_buffer_size = {wanted}")];
        let alone = text.and_then(|text| for_statement_alone(server, text, &setting));
        let does = "more rows are sorted at once, by this statement alone";
        changes.push(match alone {
            Some(sql) => Change::new(ChangeKind::Rewrite, sql, does).uncertain(),
            None => Change::advice(format!(
                "`SET SESSION sort_buffer_size = {wanted}` before the statement sorts more rows at once; whether that is \
                 faster has to be measured"
            )),
        });
    }
    findings.push(Finding {
        cause: Cause::SortOnDisk,
        confidence: Confidence::Certain,
        because: "the server counted the merges".to_owned(),
        evidence,
        changes,
        gain: format!(
            "no files in {}, which took {}",
            runs(digest.runs),
            seconds(digest.seconds)
        ),
    });
}

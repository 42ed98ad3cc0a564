//! Execution part of the optimizer trace: each temporary table that was created, as of its end.

use super::facts::actual_members;
use super::measured::MeasuredTable;
use crate::document::{Document, Members};
use crate::trace::{Trace, object};

/// A temporary table that a statement has created.
#[derive(Debug, Clone)]
pub struct ExecutedTable {
    /// Purpose, as in SHOW TEMPORARY TABLES.
    pub purpose: &'static str,
    /// Cause of the table.
    pub cause: String,
    /// Its measurements.
    pub measured: MeasuredTable,
}

/// Records that the statement has run, and created these tables; or that it was explained and has not run.
pub fn note_executed(trace: &Trace, has_run: bool, tables: &[ExecutedTable]) {
    let steps = tables.iter().map(step).collect();
    let name = if has_run {
        "join_execution"
    } else {
        "join_explain"
    };
    trace.executed(name, steps);
}

fn step(table: &ExecutedTable) -> Document {
    let is_sort = table.purpose == "ORDER BY";
    let measured = &table.measured;
    if is_sort {
        let mut summary: Members = vec![
            ("num_rows_found", Document::from(measured.rows)),
            (
                "num_initial_chunks_spilled_to_disk",
                Document::from(match measured.overflowed {
                    0 => 0,
                    _ => measured.partitions,
                }),
            ),
            ("peak_memory_used", Document::from(measured.memory_peak)),
        ];
        summary.extend(actual_members(measured));
        let members: Members = vec![
            ("cause", Document::from(table.cause.as_str())),
            ("filesort_summary", summary.into()),
        ];
        return object("sorting_table", members);
    }
    let on_disk = measured.overflowed > 0;
    let location = if on_disk { "disk" } else { measured.engine };
    let mut info: Members = vec![
        ("table", Document::from("intermediate_tmp_table")),
        ("purpose", Document::from(table.purpose)),
        ("cause", Document::from(table.cause.as_str())),
        ("location", Document::from(location)),
    ];
    info.extend(actual_members(measured));
    object(
        "creating_tmp_table",
        vec![("tmp_table_info", info.into())] as Members,
    )
}

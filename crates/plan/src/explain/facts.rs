//! Mayfly's additions to EXPLAIN: for each temporary table its purpose, cause, estimated size, whether it fits in
//! memory and under which limit, and how to avoid it.

use super::measured::{MeasuredTable, MemoryLimit};
use super::number::number;
use super::subject::Subject;
use crate::document::{Document, Members};
use crate::table_size::table_bytes;
use crate::tree::expression::ExpressionKind;
use crate::tree::logical::with_stack;
use crate::tree::physical::{
    Operator, Plan, QueryPlan, SetOperationKind, SharedSource, TemporaryTable,
};
use crate::window::WindowCall;
use mayfly_types::SqlType;

/// Number of rows beyond its limit that a sort with a limit may hold.
const UNWANTED_ROWS: f64 = 4096.0;

/// A temporary table of a plan.
#[derive(Debug, Clone)]
pub(crate) struct PlannedTable<'p> {
    pub(crate) temporary: &'p TemporaryTable,
    /// Operator that creates it; `None` for a shared result.
    pub(crate) plan: Option<&'p Plan>,
    /// Estimated number of rows.
    pub(crate) rows: f64,
    /// Estimated bytes in memory.
    pub(crate) bytes: u64,
    /// `select#` of its query block.
    pub(crate) select_id: usize,
}

/// All temporary tables of a plan, including those of subqueries, in a fixed order.
pub(crate) fn temporary_tables(query: &QueryPlan) -> Vec<PlannedTable<'_>> {
    let mut found = Vec::new();
    for shared in &query.shared {
        let mut rows = 0.0;
        match &shared.source {
            SharedSource::Plan(source) => {
                rows += source.estimated_rows;
                collect(source, shared.select_id, &mut found);
            }
            SharedSource::Recursive { seed, step, .. } => {
                for part in [seed, step] {
                    rows += part.estimated_rows;
                    collect(part, shared.select_id, &mut found);
                }
            }
        }
        found.push(PlannedTable {
            temporary: &shared.temporary,
            plan: None,
            rows,
            bytes: table_bytes(&shared.output, shared.temporary.text_bytes, rows, false),
            select_id: shared.select_id,
        });
    }
    collect(&query.root, 1, &mut found);
    found
}

fn collect<'p>(plan: &'p Plan, select_id: usize, found: &mut Vec<PlannedTable<'p>>) {
    visit_plans(plan, select_id, &mut |plan, select_id| {
        found.extend(own_table(plan, select_id));
    });
}

/// Calls `visit` on a plan, its inputs and the plans of its subqueries, each with `select#` of its query block.
fn visit_plans<'p>(plan: &'p Plan, select_id: usize, visit: &mut dyn FnMut(&'p Plan, usize)) {
    with_stack(|| {
        visit(plan, select_id);
        let below = match &plan.operator {
            Operator::Block { select_id, .. } => *select_id,
            _ => select_id,
        };
        plan.for_each_input(&mut |input| visit_plans(input, below, visit));
        plan.for_each_expression(&mut |expression| {
            let mut stack = vec![expression];
            while let Some(expression) = stack.pop() {
                if let ExpressionKind::Subquery(subquery) = &expression.kind {
                    visit_plans(&subquery.plan, subquery.select_id, visit);
                }
                crate::walk::push_children(expression, &mut stack);
            }
        });
    });
}

/// Calls `visit` on all operators of a query, each with `select#` of its query block.
fn visit_query<'p>(query: &'p QueryPlan, visit: &mut dyn FnMut(&'p Plan, usize)) {
    visit_plans(&query.root, 1, visit);
    for shared in &query.shared {
        let mut look = |plan| visit_plans(plan, shared.select_id, visit);
        match &shared.source {
            SharedSource::Plan(source) => look(source),
            SharedSource::Recursive { seed, step, .. } => {
                [seed, step].into_iter().for_each(&mut look)
            }
        }
    }
}

/// Whether a statement has window functions.
pub fn has_windows(subject: &Subject<'_>) -> bool {
    let mut found = false;
    if let Some(query) = subject.query {
        visit_query(query, &mut |plan, _| {
            found |= matches!(plan.operator, Operator::Window { .. });
        });
    }
    found
}

/// Hash tables that joins make where more rows come than were estimated.
fn adaptive_tables(query: &QueryPlan) -> Vec<PlannedTable<'_>> {
    let mut found = Vec::new();
    visit_query(query, &mut |plan, select_id| {
        if let Operator::IndexLookupJoin(join) = &plan.operator
            && let Some(hash) = &join.hash
        {
            let text_bytes = hash.temporary.text_bytes;
            let types = join
                .columns
                .iter()
                .filter_map(|column| join.table.columns.get(*column));
            let types: Vec<SqlType> = types.map(|column| column.ty.clone()).collect();
            found.push(PlannedTable {
                temporary: &hash.temporary,
                plan: Some(plan),
                rows: hash.rows,
                bytes: table_bytes(&types, text_bytes, hash.rows, true),
                select_id,
            });
        }
    });
    found
}

/// The temporary table that an operator creates.
fn own_table(plan: &Plan, select_id: usize) -> Option<PlannedTable<'_>> {
    let (temporary, rows, columns, is_keyed) = match &plan.operator {
        Operator::Aggregate { grouping, .. } => (
            grouping.temporary.as_ref()?,
            plan.estimated_rows,
            &plan.output,
            true,
        ),
        Operator::Sort {
            input,
            limit,
            temporary,
            ..
        } => {
            // A sort drops unwanted rows when there are many of them.
            let kept = limit.map_or(f64::INFINITY, |(offset, count)| {
                let wanted = offset.saturating_add(count) as f64;
                (wanted * 2.0).max(wanted + UNWANTED_ROWS)
            });
            (
                temporary,
                input.estimated_rows.min(kept),
                &input.output,
                false,
            )
        }
        Operator::SetOperation {
            kind,
            inputs,
            temporary,
            ..
        } => {
            let inputs = inputs.iter().map(|input| input.estimated_rows);
            let rows = match kind {
                SetOperationKind::Union => plan.estimated_rows,
                _ => inputs.sum(),
            };
            (temporary.as_ref()?, rows, &plan.output, true)
        }
        Operator::HashJoin {
            left,
            right,
            build_left,
            temporary,
            ..
        } => {
            let built = if *build_left { left } else { right };
            (temporary, built.estimated_rows, &built.output, true)
        }
        Operator::NestedLoopJoin {
            right, temporary, ..
        } => (temporary, right.estimated_rows, &right.output, false),
        Operator::Materialize { input, temporary } => {
            (temporary, input.estimated_rows, &input.output, false)
        }
        Operator::Window {
            input,
            calls,
            temporary,
            ..
        } if !calls.iter().all(WindowCall::is_streamed) => {
            (temporary, input.estimated_rows, &input.output, false)
        }
        _ => return None,
    };
    Some(PlannedTable {
        temporary,
        plan: Some(plan),
        rows,
        bytes: table_bytes(columns, temporary.text_bytes, rows, is_keyed)
            .saturating_add(temporary.work_bytes),
        select_id,
    })
}

/// Description of a temporary table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableFacts {
    purpose: &'static str,
    cause: String,
    rows: f64,
    bytes: u64,
    limit: Option<MemoryLimit>,
    removed_by: Option<String>,
    actual: Option<MeasuredTable>,
}

/// Descriptions of a plan's temporary tables.
pub(super) struct Facts<'p> {
    tables: Vec<(&'p TemporaryTable, TableFacts)>,
}

impl<'p> Facts<'p> {
    pub(super) fn of(subject: &Subject<'_>, query: &'p QueryPlan) -> Self {
        let (removals, measured) = (subject.removals, subject.measured);
        let limit = subject.limits.iter().min_by_key(|limit| limit.bytes);
        let made = |table: &PlannedTable<'_>| {
            measured.is_some_and(|measured| measured.table(table.temporary).is_some())
        };
        let adaptive = adaptive_tables(query).into_iter().filter(made);
        let tables = temporary_tables(query).into_iter().chain(adaptive);
        let tables = tables.enumerate();
        let facts = |(index, table): (usize, PlannedTable<'p>)| {
            let facts = TableFacts {
                purpose: table.temporary.purpose.name(),
                cause: table.temporary.cause.to_string(),
                rows: table.rows,
                bytes: table.bytes,
                limit: limit.cloned(),
                removed_by: removals.get(index).cloned().flatten(),
                actual: measured.and_then(|measured| measured.table(table.temporary).cloned()),
            };
            (table.temporary, facts)
        };
        Self {
            tables: tables.map(facts).collect(),
        }
    }

    /// Description of a table of the plan.
    pub(super) fn about(&self, temporary: &TemporaryTable) -> Option<TableFacts> {
        let mut tables = self.tables.iter();
        let found = tables.find(|(known, _)| std::ptr::eq(*known, temporary))?;
        Some(found.1.clone())
    }
}

impl TableFacts {
    fn fits(&self) -> Option<bool> {
        let limit = self.limit.as_ref()?;
        Some(self.bytes <= limit.bytes)
    }

    /// Text in brackets behind a line of the tree.
    pub(super) fn text(&self) -> String {
        let rows = number(self.rows);
        let mut text = format!("{}: {rows} rows, {}", self.cause, bytes_text(self.bytes));
        if let (Some(limit), Some(fits)) = (&self.limit, self.fits()) {
            let word = if fits { "fits in" } else { "exceeds" };
            let most = bytes_text(limit.bytes);
            text.push_str(&format!(", {word} {}={most}", limit.setting));
        }
        if let Some(actual) = &self.actual {
            text.push_str(&format!("; actual {}", actual_text(actual)));
        }
        if let Some(removed_by) = &self.removed_by {
            text.push_str(&format!("; {removed_by} would remove it"));
        }
        text
    }

    /// Member `temporary_table`.
    pub(super) fn document(&self) -> Document {
        let mut members = vec![
            ("purpose", Document::from(self.purpose)),
            ("cause", Document::from(self.cause.as_str())),
            ("estimated_rows", Document::from(self.rows)),
            ("estimated_bytes", Document::from(self.bytes)),
        ];
        if let (Some(limit), Some(fits)) = (&self.limit, self.fits()) {
            let limit = vec![
                ("name", Document::from(limit.setting.as_str())),
                ("bytes", Document::from(limit.bytes)),
            ];
            members.push(("limit", limit.into()));
            members.push(("fits", Document::from(fits)));
        }
        if let Some(removed_by) = &self.removed_by {
            members.push(("removed_by", Document::from(removed_by.as_str())));
        }
        if let Some(actual) = &self.actual {
            members.extend(actual_members(actual));
        }
        members.into()
    }

    /// Members of the measurements.
    pub(super) fn actual_document(&self) -> Document {
        let actual = self.actual.as_ref();
        actual.map_or_else(Vec::new, actual_members).into()
    }
}

/// `7 rows, 12 KiB in memory, 30 MiB in files of 16 partitions at tmp_table_size=1 KiB, …`
fn actual_text(actual: &MeasuredTable) -> String {
    let rows = number(actual.rows as f64);
    if let Some((bytes, executors)) = actual.exchanged {
        let bytes = bytes_text(bytes);
        return format!("{rows} rows, {bytes} exchanged by {executors} executors");
    }
    let mut text = format!("{rows} rows, {} in memory", bytes_text(actual.memory_peak));
    if actual.tables > 1 {
        text.push_str(&format!(", {} tables", actual.tables));
    }
    if actual.overflowed > 0 {
        text.push_str(&format!(", {} on disk", bytes_text(actual.disk_peak)));
        if actual.partitions > 1 {
            text.push_str(&format!(" in {} parts", actual.partitions));
        }
        if let Some(limit) = &actual.limit {
            text.push_str(&format!(
                " because of {}={}",
                limit.setting,
                bytes_text(limit.bytes)
            ));
        }
        text.push_str(&format!(
            ", {} written in {} ms, {} read in {} ms",
            bytes_text(actual.bytes_written),
            number(actual.writing),
            bytes_text(actual.bytes_read),
            number(actual.reading)
        ));
    }
    text
}

pub(super) fn actual_members(actual: &MeasuredTable) -> Members {
    if let Some((bytes, executors)) = actual.exchanged {
        return vec![
            ("actual_engine", Document::from(actual.engine)),
            ("actual_rows", Document::from(actual.rows)),
            ("actual_exchanged_bytes", Document::from(bytes)),
            ("actual_executors", Document::from(executors)),
        ];
    }
    let mut members = vec![
        ("actual_engine", Document::from(actual.engine)),
        ("actual_tables", Document::from(actual.tables)),
        ("actual_rows", Document::from(actual.rows)),
        ("actual_memory_bytes", Document::from(actual.memory_peak)),
        ("actual_disk_bytes", Document::from(actual.disk_peak)),
        ("actual_disk_tables", Document::from(actual.overflowed)),
    ];
    if actual.overflowed > 0 {
        members.push(("actual_partitions", Document::from(actual.partitions)));
        members.push(("actual_bytes_written", Document::from(actual.bytes_written)));
        members.push(("actual_bytes_read", Document::from(actual.bytes_read)));
        members.push(("actual_writing_ms", Document::from(actual.writing)));
        members.push(("actual_reading_ms", Document::from(actual.reading)));
        if let Some(limit) = &actual.limit {
            let limit = vec![
                ("name", Document::from(limit.setting.as_str())),
                ("bytes", Document::from(limit.bytes)),
            ];
            members.push(("actual_limit", limit.into()));
        }
    }
    members
}

/// (`select#`, description) of each temporary table of a plan.
pub(crate) fn planned_tables(subject: &Subject<'_>, query: &QueryPlan) -> Vec<(usize, Document)> {
    let facts = Facts::of(subject, query);
    let blocks = temporary_tables(query).into_iter();
    let blocks = blocks.map(|table| table.select_id);
    let tables = facts.tables.iter();
    blocks
        .zip(tables.map(|(_, facts)| facts.document()))
        .collect()
}

/// Text of a number of bytes.
pub(super) fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10) as usize;
    let amount = bytes as f64 / (1_u64 << (10 * power)) as f64;
    let text = format!("{amount:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} {}", UNITS[power - 1])
}

#[cfg(test)]
mod tests {
    use super::{MemoryLimit, TableFacts, bytes_text};

    #[test]
    fn bytes_are_read_at_a_glance() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (16 << 20, "16 MiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(bytes_text(bytes), text);
        }
    }

    #[test]
    fn a_table_fits_up_to_its_limit() {
        let facts = |bytes| TableFacts {
            purpose: "GROUP BY",
            cause: "GROUP BY has no index to follow".to_owned(),
            rows: 50.0,
            bytes,
            limit: Some(MemoryLimit {
                setting: "tmp_table_size".to_owned(),
                bytes: 4096,
            }),
            removed_by: Some("index (c) on g".to_owned()),
            actual: None,
        };
        assert_eq!(
            facts(4096).text(),
            "GROUP BY has no index to follow: 50 rows, 4 KiB, fits in tmp_table_size=4 KiB; index (c) on g would remove it"
        );
        assert!(facts(4097).text().contains("exceeds tmp_table_size=4 KiB"));
    }
}

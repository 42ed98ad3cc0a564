//! EXPLAIN in the traditional format: a row for each table, query block by query block (the manual,
//! "EXPLAIN Output Format").

use std::collections::{BTreeSet, VecDeque};

use super::blocks::{Body, Note, Operation, QueryBlock, TableUse, query_blocks};
use super::measured::Measurements;
use super::subject::Subject;
use crate::eras::{Notes, Prediction};
use crate::tree::logical::with_stack;
use crate::tree::physical::{QueryPlan, SetOperationKind};

/// A row of the traditional format. `None` is shown as NULL.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExplainRow {
    /// Number of the query block.
    pub id: u64,
    /// Kind of query block.
    pub select_type: &'static str,
    /// Table: an alias, `<derivedN>` or `<unionN,M>`.
    pub table: Option<String>,
    /// Access type.
    pub access: Option<&'static str>,
    /// Indexes that its conditions could use.
    pub possible_keys: Option<String>,
    /// Index that is read.
    pub key: Option<String>,
    /// Number of key bytes used.
    pub key_length: Option<String>,
    /// Values that the key is compared with.
    pub reference: Option<String>,
    /// Estimated number of rows.
    pub rows: Option<u64>,
    /// Estimated percentage of the rows that its conditions leave.
    pub filtered: Option<f64>,
    /// Further information.
    pub extra: Option<String>,
    /// (rows per read, percentage that its conditions left), as measured.
    pub actual: Option<(f64, f64)>,
}

/// Rows of the traditional format.
pub fn traditional(subject: &Subject<'_>) -> Vec<ExplainRow> {
    let rows = subject.query.map(|query| rows_of(query, subject.measured));
    let mut rows = rows.unwrap_or_default();
    let Some(change) = &subject.change else {
        return rows;
    };
    let select_type = change.kind.select_type();
    if change.kind.adds_rows() {
        let target = ExplainRow {
            id: 1,
            select_type,
            table: change.tables.first().cloned(),
            access: Some("ALL"),
            ..ExplainRow::default()
        };
        rows.insert(0, target);
        return rows;
    }
    for row in &mut rows {
        let is_target = |name: &String| change.tables.contains(name);
        let several = change.tables.len() > 1;
        if matches!(row.select_type, "SIMPLE" | "PRIMARY")
            && (row.table.as_ref().is_some_and(is_target) || (row.table.is_none() && !several))
        {
            row.select_type = select_type;
            // A changed row is read, whatever led to it.
            let notes = row.extra.iter().flat_map(|extra| extra.split("; "));
            let notes: Vec<&str> = notes.filter(|note| *note != "Using index").collect();
            row.extra = (!notes.is_empty()).then(|| notes.join("; "));
        }
    }
    rows
}

/// Replaces the notes on temporary tables and sorts by those of another server.
pub fn note_prediction(rows: &mut [ExplainRow], prediction: &Prediction) {
    let mut noted = BTreeSet::new();
    let mut results = prediction.results.iter();
    for row in rows {
        let notes = if row.select_type.ends_with("RESULT") {
            results.next().copied().unwrap_or_default()
        } else if noted.insert(row.id) {
            prediction.notes.get(&row.id).copied().unwrap_or_default()
        } else {
            Notes::default()
        };
        let own = row.extra.iter().flat_map(|extra| extra.split("; "));
        let own = own.filter(|note| !["Using temporary", "Using filesort"].contains(note));
        let (mut before, behind): (Vec<&str>, Vec<&str>) =
            own.partition(|note| !note.starts_with("Using join buffer"));
        before.extend(notes.temporary.then_some("Using temporary"));
        before.extend(notes.filesort.then_some("Using filesort"));
        before.extend(behind);
        row.extra = (!before.is_empty()).then(|| before.join("; "));
    }
}

fn rows_of(plan: &QueryPlan, measured: Option<&Measurements>) -> Vec<ExplainRow> {
    let mut block = query_blocks(plan, None, measured);
    rows_of_blocks(&mut block)
}

/// Rows of query blocks. Each set operation gets the number of its own row.
pub(super) fn rows_of_blocks(block: &mut QueryBlock) -> Vec<ExplainRow> {
    let mut lister = Lister {
        rows: Vec::new(),
        waiting: VecDeque::new(),
    };
    lister.waiting.push_back(block);
    while let Some(block) = lister.waiting.pop_front() {
        lister.block(block);
    }
    let mut rows = lister.rows;
    let first = rows.first().map(|row| row.id);
    if rows.iter().all(|row| Some(row.id) == first) {
        for row in &mut rows {
            if row.select_type == "PRIMARY" {
                row.select_type = "SIMPLE";
            }
        }
    }
    rows
}

struct Lister<'b> {
    rows: Vec<ExplainRow>,
    /// Query blocks that follow the current one.
    waiting: VecDeque<&'b mut QueryBlock>,
}

/// (select type, table prefix) of the result of a set operation.
pub(super) fn result_names(kind: SetOperationKind) -> (&'static str, &'static str) {
    match kind {
        SetOperationKind::Union => ("UNION RESULT", "union"),
        SetOperationKind::Intersect => ("INTERSECT RESULT", "intersect"),
        SetOperationKind::Except => ("EXCEPT RESULT", "except"),
    }
}

/// Table name of a result: `<union1,2>`.
pub(super) fn result_table(kind: SetOperationKind, ids: impl Iterator<Item = u64>) -> String {
    let (_, word) = result_names(kind);
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    format!("<{word}{}>", ids.join(","))
}

impl<'b> Lister<'b> {
    fn block(&mut self, block: &'b mut QueryBlock) {
        let QueryBlock {
            id,
            select_type,
            body,
            children,
            ..
        } = block;
        let children = children.iter_mut().map(|child| &mut child.block);
        self.waiting.extend(children);
        match body {
            Body::Tables { tables, operations } => {
                self.tables(*id, select_type, tables, operations);
            }
            Body::SetOperation {
                kind,
                arms,
                temporary,
                filesort,
                result_id,
                ..
            } => {
                let table = result_table(*kind, arms.iter().map(|arm| arm.id));
                with_stack(|| arms.iter_mut().for_each(|arm| self.block(arm)));
                if !*temporary && !*filesort {
                    return;
                }
                let last = self.rows.iter().map(|row| row.id).max().unwrap_or(0);
                *result_id = last + 1;
                let mut extra = "Using temporary".to_owned();
                if *filesort {
                    extra.push_str("; Using filesort");
                }
                self.rows.push(ExplainRow {
                    id: *result_id,
                    select_type: result_names(*kind).0,
                    table: Some(table),
                    access: Some("ALL"),
                    extra: Some(extra),
                    ..ExplainRow::default()
                });
            }
        }
    }

    fn tables(
        &mut self,
        id: u64,
        select_type: &'static str,
        tables: &[TableUse],
        operations: &[Operation],
    ) {
        let several = tables.len() > 1;
        let filesort = operations.iter().any(|operation| operation.filesort);
        // The rows of a join are sorted after all are joined.
        let temporary =
            operations.iter().any(|operation| operation.temporary) || (filesort && several);
        for (index, table) in tables.iter().enumerate() {
            let is_first = index == 0;
            let notes = notes_of(table, is_first && temporary, is_first && filesort);
            let is_table = table.name.is_some();
            let possible = (!table.possible.is_empty()).then(|| table.possible.join(","));
            self.rows.push(ExplainRow {
                id,
                select_type,
                access: is_table.then_some(table.key.access),
                possible_keys: possible,
                key: table.key.key.clone(),
                key_length: table.key.length.clone(),
                reference: table.key.reference.clone(),
                table: table.name.clone(),
                rows: table.rows,
                filtered: is_table.then_some(percentage(table.filtered)),
                extra: (!notes.is_empty()).then(|| notes.join("; ")),
                actual: table
                    .actual
                    .filter(|(read, _)| read.loops > 0)
                    .map(|(read, kept)| {
                        let share = kept_share(read.rows, kept);
                        (read.rows_of_loop(), percentage(share))
                    }),
            });
        }
    }
}

/// Fraction of the rows read that was kept.
pub(super) fn kept_share(read: u64, kept: u64) -> f64 {
    if read == 0 {
        return 1.0;
    }
    (kept as f64 / read as f64).min(1.0)
}

/// A percentage with two decimals.
pub(super) fn percentage(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}

/// Notes of the column Extra, in MySQL's order.
fn notes_of(table: &TableUse, temporary: bool, filesort: bool) -> Vec<String> {
    let (mut notes, mut behind) = (Vec::new(), Vec::new());
    for note in &table.notes {
        match note {
            Note::Merge(_) => notes.insert(0, note.text()),
            Note::GroupsByIndex => {}
            _ => behind.push(note.text()),
        }
    }
    if table.has_conditions {
        notes.push("Using where".to_owned());
    }
    if table.notes.contains(&Note::GroupsByIndex) {
        notes.push(Note::GroupsByIndex.text());
    }
    if table.reverse {
        notes.push("Backward index scan".to_owned());
    }
    if table.covering {
        notes.push("Using index".to_owned());
    }
    if temporary {
        notes.push("Using temporary".to_owned());
    }
    if filesort {
        notes.push("Using filesort".to_owned());
    }
    notes.extend(behind);
    notes
}

//! Probe of the hash index by the rows of the probe side.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use mayfly_plan::physical::JoinKind;
use mayfly_storage::{BuildRow, JoinIndex, JoinMatches, JoinProbe};
use mayfly_types::{Batch, PhysicalType, Result};

use super::join::HashJoin;
use super::marks::Marks;
use super::source::{Probed, Source};
use crate::context::{Cursor, RunContext};
use crate::expression::{Program, Selection, selected};
use crate::rows::rows_where;

pub(super) struct JoinCursor {
    node: Arc<HashJoin>,
    probe_keys: Vec<usize>,
    /// Columns of the build side that are materialized.
    build_columns: Vec<usize>,
    source: Source,
    /// Hashes of the keys of the probe rows, if known.
    hashes: Vec<u64>,
    probing: Option<Probing>,
    matches: JoinMatches,
    /// Marks of the rows of the build side that have a partner, if they are needed.
    marks: Option<Arc<Marks>>,
    blanks: RefCell<Blanks>,
}

/// Columns of NULLs for columns that nothing reads.
#[derive(Default)]
struct Blanks(Vec<(PhysicalType, ArrayRef)>);

impl Blanks {
    fn get(&mut self, physical: PhysicalType, rows: usize) -> ArrayRef {
        let fits =
            |(other, array): &&(PhysicalType, ArrayRef)| *other == physical && array.len() >= rows;
        if let Some((_, array)) = self.0.iter().find(fits) {
            return array.slice(0, rows);
        }
        let array = new_null_array(&physical.arrow(), rows);
        self.0.push((physical, Arc::clone(&array)));
        array
    }
}

/// A batch of probe rows that is being joined.
struct Probing {
    batch: Batch,
    index: Arc<JoinIndex>,
    probe: JoinProbe,
    /// Outer joins: row from which on matches are only marked, and decided later.
    marked_from: Option<usize>,
    /// Outer joins: rows before this one are decided.
    decided: u32,
    /// Whether the row at `decided` has matched already.
    decided_matched: bool,
}

impl Cursor for JoinCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(mut probing) = self.probing.take()
                && let Some(batch) = self.advance(&mut probing, run)?
            {
                self.probing = Some(probing);
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let node = Arc::clone(&self.node);
            let Some(probed) = self.source.next(&node, &mut self.hashes, run)? else {
                return Ok(None);
            };
            let with_pairs = matches!(node.kind, JoinKind::Inner | JoinKind::Left);
            let batch = match probed {
                Probed::Whole(batch, index) if with_pairs => {
                    self.start(batch, index, None)?;
                    continue;
                }
                Probed::Piece(batch, index, first) if with_pairs => {
                    self.start(batch, index, Some(first))?;
                    continue;
                }
                Probed::Marked(batch, first) if with_pairs => self.unmarked(&batch, first)?,
                Probed::Whole(batch, index) => {
                    let found = self.find(&batch, &index, run)?;
                    self.decide(&batch, |row| found[row])
                }
                Probed::Piece(batch, index, first) => {
                    let found = self.find(&batch, &index, run)?;
                    for (row, _) in found.iter().enumerate().filter(|(_, found)| **found) {
                        self.source.mark(first + row);
                    }
                    continue;
                }
                Probed::Marked(batch, first) => {
                    self.decide(&batch, |row| self.source.is_marked(first + row))
                }
            };
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }
}

impl JoinCursor {
    pub(super) fn new(node: Arc<HashJoin>, source: Source) -> Self {
        Self {
            probe_keys: node.probe.key_columns(),
            build_columns: (0..node.build.layout.row_columns)
                .filter(|column| node.made.0[*column])
                .collect(),
            node,
            source,
            hashes: Vec::new(),
            probing: None,
            matches: JoinMatches::default(),
            marks: None,
            blanks: RefCell::default(),
        }
    }

    /// This cursor, marking the rows of the build side that have a partner.
    pub(super) fn marking(mut self, marks: &Arc<Marks>) -> Self {
        self.marks = Some(Arc::clone(marks));
        self
    }

    pub(super) fn residual(&self) -> Option<&Program> {
        self.node.residual.as_ref()
    }

    /// Probe rows with their computed keys.
    pub(super) fn extended(&self, batch: Batch, run: &RunContext) -> Result<Batch> {
        self.node.probe.layout.extend(batch, run)
    }

    /// Rows of the build side beside NULLs, for those without a partner.
    pub(super) fn built_alone(
        &self,
        index: &JoinIndex,
        build_rows: &[BuildRow],
        beside_nulls: bool,
    ) -> Result<Batch> {
        let rows = build_rows.len();
        let node = &self.node;
        let mut blanks = self.blanks.borrow_mut();
        let mut made = index.gather(&self.build_columns, build_rows)?.into_iter();
        let mut columns: Vec<ArrayRef> = (0..node.build.layout.row_columns)
            .map(|column| {
                let made = node.made.0[column].then(|| made.next()).flatten();
                made.unwrap_or_else(|| blanks.get(node.build.layout.columns[column], rows))
            })
            .collect();
        if beside_nulls {
            let others = &node.probe.layout.columns[..node.probe.layout.row_columns];
            columns.extend(others.iter().map(|physical| blanks.get(*physical, rows)));
        }
        Ok(Batch::new(columns, rows))
    }

    /// Starts the pairs of a batch.
    fn start(
        &mut self,
        batch: Batch,
        index: Arc<JoinIndex>,
        marked_from: Option<usize>,
    ) -> Result<()> {
        self.probing = Some(Probing {
            probe: self.probe(&batch, &index)?,
            batch,
            index,
            marked_from,
            decided: 0,
            decided_matched: false,
        });
        Ok(())
    }

    fn keys(&self, batch: &Batch) -> Vec<ArrayRef> {
        self.probe_keys
            .iter()
            .map(|column| Arc::clone(batch.column(*column)))
            .collect()
    }

    pub(super) fn probe(&self, batch: &Batch, index: &JoinIndex) -> Result<JoinProbe> {
        let keys = self.keys(batch);
        if self.hashes.is_empty() {
            index.probe(&keys, batch.row_count())
        } else {
            index.probe_hashed(&keys, &self.hashes)
        }
    }

    /// Output rows of matching pairs.
    pub(super) fn pairs(
        &self,
        batch: &Batch,
        index: &JoinIndex,
        probe_rows: &[u32],
        build_rows: &[BuildRow],
    ) -> Result<Batch> {
        let gathered = index.gather(&self.build_columns, build_rows)?;
        self.beside(batch, probe_rows, gathered)
    }

    /// Output of probe rows that have no partner.
    fn alone(&self, batch: &Batch, probe_rows: &[u32]) -> Result<Batch> {
        self.beside(batch, probe_rows, Vec::new())
    }

    /// Probe rows beside the materialized columns of the build side, or NULLs.
    fn beside(&self, batch: &Batch, probe_rows: &[u32], made: Vec<ArrayRef>) -> Result<Batch> {
        let rows = probe_rows.len();
        let node = &self.node;
        let mut blanks = self.blanks.borrow_mut();
        let indices = UInt32Array::from(probe_rows.to_vec());
        let probed = (0..node.probe.layout.row_columns)
            .map(|column| {
                if node.made.1[column] {
                    arrow_select::take::take(batch.column(column), &indices, None)
                        .map_err(crate::error::arrow)
                } else {
                    Ok(blanks.get(node.probe.layout.columns[column], rows))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        let mut made = made.into_iter();
        let built = (0..node.build.layout.row_columns)
            .map(|column| {
                let made = node.made.0[column].then(|| made.next()).flatten();
                made.unwrap_or_else(|| blanks.get(node.build.layout.columns[column], rows))
            })
            .collect::<Vec<_>>();
        let (mut columns, rest) = if node.build_first {
            (built, probed)
        } else {
            (probed, built)
        };
        columns.extend(rest);
        Ok(Batch::new(columns, rows))
    }

    /// Rows of a batch that found no match in any piece.
    fn unmarked(&self, batch: &Batch, first: usize) -> Result<Batch> {
        let alone: Vec<u32> = (0..batch.row_count())
            .filter(|row| !self.source.is_marked(first + row))
            .map(|row| row as u32)
            .collect();
        self.alone(batch, &alone)
    }

    /// The next pairs of a batch of an inner or left join; `None` at its end.
    fn advance(&mut self, probing: &mut Probing, run: &RunContext) -> Result<Option<Batch>> {
        let outer = self.node.kind == JoinKind::Left && probing.marked_from.is_none();
        let limit = run.statement.options.batch_rows;
        let rows = probing.batch.row_count() as u32;
        loop {
            let more = probing
                .index
                .next_matches(&mut probing.probe, limit, &mut self.matches);
            if !more {
                if !outer || probing.decided >= rows {
                    return Ok(None);
                }
                // The remaining rows have no partner.
                let first = probing.decided + u32::from(probing.decided_matched);
                probing.decided = rows;
                probing.decided_matched = false;
                let alone: Vec<u32> = (first..rows).collect();
                if alone.is_empty() {
                    return Ok(None);
                }
                return self.alone(&probing.batch, &alone).map(Some);
            }
            run.statement.check_interrupt()?;
            let all = self.pairs(
                &probing.batch,
                &probing.index,
                &self.matches.probe_rows,
                &self.matches.build_rows,
            )?;
            let selection = selected(self.node.residual.as_ref(), &all, run)?;
            if let Some(marks) = &self.marks {
                for (pair, row) in self.matches.build_rows.iter().enumerate() {
                    if selection.contains(pair) {
                        marks.mark(probing.index.ordinal(*row));
                    }
                }
            }
            if let Some(first) = probing.marked_from {
                for (pair, row) in self.matches.probe_rows.iter().enumerate() {
                    if selection.contains(pair) {
                        self.source.mark(first + *row as usize);
                    }
                }
            }
            let batch = if outer {
                self.with_lonely_rows(probing, all, &selection)?
            } else {
                selection.rows_of(all)
            };
            if batch.as_ref().is_some_and(|batch| !batch.is_empty()) {
                return Ok(batch);
            }
        }
    }

    /// The selected pairs and, in their places, the probe rows that are now known to have no partner. The last row of
    /// the pairs may still match in the next ones.
    fn with_lonely_rows(
        &mut self,
        probing: &mut Probing,
        all: Batch,
        selection: &Selection,
    ) -> Result<Option<Batch>> {
        let JoinMatches {
            probe_rows,
            build_rows,
        } = &self.matches;
        let (mut probe, mut build) = (Vec::new(), Vec::new());
        let mut lonely = false;
        for (pair, (row, built)) in probe_rows.iter().zip(build_rows).enumerate() {
            while probing.decided < *row {
                if !probing.decided_matched {
                    probe.push(probing.decided);
                    build.push(BuildRow::NONE);
                    lonely = true;
                }
                probing.decided += 1;
                probing.decided_matched = false;
            }
            if selection.contains(pair) {
                probing.decided_matched = true;
                probe.push(*row);
                build.push(*built);
            }
        }
        if !lonely {
            return Ok(selection.rows_of(all));
        }
        self.pairs(&probing.batch, &probing.index, &probe, &build)
            .map(Some)
    }

    /// Semi and anti joins: whether each probe row has a match in the index.
    fn find(&mut self, batch: &Batch, index: &JoinIndex, run: &RunContext) -> Result<Vec<bool>> {
        let rows = batch.row_count();
        let mut found = Vec::new();
        match &self.node.residual {
            None if self.hashes.is_empty() => {
                index.exists(&self.keys(batch), rows, &mut found)?;
            }
            None => index.exists_hashed(&self.keys(batch), &self.hashes, &mut found)?,
            Some(residual) => {
                found.resize(rows, false);
                let mut probe = self.probe(batch, index)?;
                let limit = run.statement.options.batch_rows;
                while index.next_matches(&mut probe, limit, &mut self.matches) {
                    run.statement.check_interrupt()?;
                    let pairs = self.pairs(
                        batch,
                        index,
                        &self.matches.probe_rows,
                        &self.matches.build_rows,
                    )?;
                    let selection = residual.select(&pairs, run)?;
                    for (pair, row) in self.matches.probe_rows.iter().enumerate() {
                        found[*row as usize] |= selection.contains(pair);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Semi and anti joins: the probe rows that come out.
    fn decide(&self, batch: &Batch, found: impl Fn(usize) -> bool) -> Batch {
        let wanted = self.node.kind == JoinKind::Semi;
        let null_aware = self.node.kind == JoinKind::NullAwareAnti;
        let keys = self.keys(batch);
        let rows = rows_where(batch, |row| {
            found(row) == wanted && !(null_aware && keys.iter().any(|key| key.is_null(row)))
        });
        self.node.probe.layout.strip(rows)
    }
}

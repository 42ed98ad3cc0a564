//! Joins by equality.
//!
//! The build side goes into a temporary table with hash access; while that fits in memory, the
//! other side streams past its index. When it does not fit, the other side goes into a table too,
//! and the two are joined partition by partition: rows that may match lie in the same pair.
//! The probed side is the preserved one, so that every kind of join is decided row by row of it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::BooleanBuffer;
use mayfly_plan::logical::visit_expression_mut;
use mayfly_plan::physical::{JoinKey, JoinKind, TemporaryTable};
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_storage::{
    Access, BuildRow, JoinIndex, JoinMatches, JoinProbe, KeyColumn, Partition, PartitionQueue,
    TempTable, TempTableSpec, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::keys::{Layout, key_mode, storage_purpose};
use super::wanted::Wanted;
use super::{Cursor, Node};
use crate::context::RunContext;
use crate::driver::{Sink, drain_from};
use crate::expression::{Program, Selection, filter_batch};
use crate::state::lock;

/// A hash join as the plan has it.
pub(super) struct Specification<'a> {
    pub(super) kind: JoinKind,
    pub(super) left: &'a [SqlType],
    pub(super) right: &'a [SqlType],
    pub(super) keys: &'a [JoinKey],
    pub(super) residual: Option<&'a Expression>,
    pub(super) build_left: bool,
    pub(super) temporary: &'a TemporaryTable,
    pub(super) wanted: Wanted<'a>,
}

struct HashJoin {
    kind: JoinKind,
    build: Side,
    probe: Side,
    /// The build side is the left one: its columns come first.
    build_first: bool,
    residual: Option<Program>,
    temporary: TemporaryTable,
    /// For each column of the rows of either side whether it must be made.
    made: (Vec<bool>, Vec<bool>),
    state: Mutex<State>,
}

struct Side {
    input: Arc<dyn Node>,
    layout: Layout,
    keys: Vec<KeyColumn>,
}

impl Side {
    fn key_columns(&self) -> Vec<usize> {
        self.keys.iter().map(|key| key.column).collect()
    }

    /// Drains the side, which is prepared, into a table with hash access.
    fn fill(&self, temporary: &TemporaryTable, run: &RunContext) -> Result<Built> {
        let table = TempTable::create(
            &run.statement.temp,
            TempTableSpec {
                purpose: storage_purpose(temporary.purpose),
                cause: temporary.cause.clone(),
                columns: self.layout.columns.clone(),
                access: Access::Hash(self.keys.clone()),
            },
        )?;
        let sinks = drain_from(&self.input, None, run, usize::MAX, || {
            Ok(SideSink {
                side: self,
                writer: table.writer(),
                has_null_key: false,
            })
        })?;
        let mut has_null_key = false;
        for sink in sinks {
            has_null_key |= sink.has_null_key;
            sink.writer.finish()?;
        }
        Ok(Built {
            rows: table.row_count(),
            table,
            has_null_key,
        })
    }
}

struct Built {
    table: TempTable,
    rows: u64,
    has_null_key: bool,
}

struct SideSink<'a> {
    side: &'a Side,
    writer: TempTableWriter,
    has_null_key: bool,
}

impl Sink for SideSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let batch = self.side.layout.extend(batch, run)?;
        self.has_null_key |= self
            .side
            .keys
            .iter()
            .any(|key| !key.null_safe && batch.column(key.column).null_count() > 0);
        self.writer.append(&batch)
    }
}

enum State {
    New,
    /// No probed row can come out.
    Nothing,
    /// Every probed row comes out: NOT IN over no rows.
    Everything,
    Streaming {
        index: Arc<JoinIndex>,
        _table: TempTable,
    },
    Partitioned {
        queue: PartitionQueue,
        rows: u64,
        _tables: (TempTable, TempTable),
    },
}

pub(super) fn build(
    specification: Specification<'_>,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
) -> Arc<dyn Node> {
    if specification.kind == JoinKind::NullAwareAnti
        && (specification.keys.len() > 1 || specification.residual.is_some())
    {
        return null_aware_by_nested_loop(&specification, left, right);
    }
    let side = |input, row: &[SqlType], pick: fn(&JoinKey) -> &Expression| {
        let mut layout = Layout::new(row);
        let keys = specification
            .keys
            .iter()
            .map(|key| KeyColumn {
                column: layout.place(pick(key)),
                mode: key_mode(&pick(key).ty),
                null_safe: key.null_safe,
            })
            .collect();
        Side {
            input,
            layout,
            keys,
        }
    };
    let left = side(left, specification.left, |key| &key.left);
    let right = side(right, specification.right, |key| &key.right);
    let build_left = specification.build_left && specification.kind == JoinKind::Inner;
    let residual = specification.residual.map(Program::compile);
    let columns = specification.left.len() + specification.right.len();
    let mut made = vec![specification.wanted.is_none(); columns];
    let read = residual.iter().flat_map(Program::columns);
    for column in specification
        .wanted
        .into_iter()
        .flatten()
        .copied()
        .chain(read)
    {
        if let Some(made) = made.get_mut(column) {
            *made = true;
        }
    }
    let right_made = made.split_off(specification.left.len());
    let (build, probe, made) = if build_left {
        (left, right, (made, right_made))
    } else {
        (right, left, (right_made, made))
    };
    Arc::new(HashJoin {
        kind: specification.kind,
        build,
        probe,
        build_first: build_left,
        residual,
        temporary: specification.temporary.clone(),
        made,
        state: Mutex::new(State::New),
    })
}

/// `(a, b) NOT IN (SELECT c, d …)` of several columns: a row with a NULL in one column may still
/// differ for sure in another, which one look by hash cannot tell. A left row comes out when no
/// right row's comparison is true or unknown.
fn null_aware_by_nested_loop(
    specification: &Specification<'_>,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
) -> Arc<dyn Node> {
    let boolean = |kind| Expression {
        kind,
        ty: SqlType::boolean(),
        nullable: true,
    };
    let offset = specification.left.len();
    let equal = specification.keys.iter().map(|key| {
        boolean(ExpressionKind::Compare {
            comparison: if key.null_safe {
                Comparison::NullSafeEqual
            } else {
                Comparison::Equal
            },
            left: Box::new(key.left.clone()),
            right: Box::new(shifted(&key.right, offset)),
        })
    });
    let all_equal = boolean(ExpressionKind::And(equal.collect()));
    let is_false = boolean(ExpressionKind::IsTruth(Box::new(all_equal), Some(false)));
    let not_false = boolean(ExpressionKind::Not(Box::new(is_false)));
    let mut terms: Vec<_> = specification.residual.cloned().into_iter().collect();
    terms.push(not_false);
    super::nested_loop::build(
        JoinKind::Anti,
        left,
        right,
        specification.right,
        Some(&boolean(ExpressionKind::And(terms))),
        specification.temporary,
    )
}

/// The expression over rows that have `offset` more columns before its own.
fn shifted(expression: &Expression, offset: usize) -> Expression {
    let mut expression = expression.clone();
    shift(&mut expression, offset);
    expression
}

fn shift(expression: &mut Expression, offset: usize) {
    visit_expression_mut(expression, &mut |inner| {
        match &mut inner.kind {
            ExpressionKind::Column(column) => *column += offset,
            // Shared, and so not walked into.
            ExpressionKind::Subquery(subquery) => {
                let subquery = Arc::make_mut(subquery);
                for (_, expression) in &mut subquery.parameters {
                    shift(expression, offset);
                }
                use mayfly_plan::expression::SubqueryKind;
                if let SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } =
                    &mut subquery.kind
                {
                    left.iter_mut().for_each(|e| shift(e, offset));
                }
            }
            _ => {}
        }
        true
    });
}

impl Node for HashJoin {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.build.input.prepare(run)?;
        let built = self.build.fill(&self.temporary, run)?;
        let state = if built.rows == 0 {
            match self.kind {
                JoinKind::Inner | JoinKind::Semi => State::Nothing,
                JoinKind::Anti | JoinKind::NullAwareAnti => {
                    self.probe.input.prepare(run)?;
                    State::Everything
                }
                JoinKind::Left => self.streaming_or_partitioned(built, run)?,
            }
        } else if self.kind == JoinKind::NullAwareAnti && built.has_null_key {
            State::Nothing
        } else {
            self.streaming_or_partitioned(built, run)?
        };
        *lock(&self.state) = state;
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match &*lock(&self.state) {
            State::New | State::Nothing => 0,
            State::Everything | State::Streaming { .. } => self.probe.input.rows_hint(),
            State::Partitioned { rows, .. } => *rows,
        }
    }

    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let source = match &*lock(&self.state) {
            State::New | State::Nothing => Source::Nothing,
            State::Everything => {
                return Arc::clone(&self.probe.input).open(run);
            }
            State::Streaming { index, .. } => Source::Streaming {
                index: Arc::clone(index),
                input: Arc::clone(&self.probe.input).open(run)?,
            },
            State::Partitioned { queue, .. } => Source::Partitioned {
                queue: queue.clone(),
                current: None,
            },
        };
        Ok(Box::new(JoinCursor {
            probe_keys: self.probe.key_columns(),
            build_columns: (0..self.build.layout.row_columns)
                .filter(|column| self.made.0[*column])
                .collect(),
            node: self,
            source,
            hashes: Vec::new(),
            probing: None,
            matches: JoinMatches::default(),
            blanks: RefCell::default(),
        }))
    }
}

impl HashJoin {
    fn streaming_or_partitioned(&self, built: Built, run: &RunContext) -> Result<State> {
        self.probe.input.prepare(run)?;
        let index = if self.prefers_partitions(&built, run) {
            None
        } else {
            built.table.join_index()?
        };
        Ok(match index {
            Some(index) => State::Streaming {
                index: Arc::new(index),
                _table: built.table,
            },
            None => {
                let probe = self.probe.fill(&self.temporary, run)?;
                State::Partitioned {
                    queue: PartitionQueue::pairs(&built.table, &probe.table),
                    rows: probe.rows,
                    _tables: (built.table, probe.table),
                }
            }
        })
    }

    /// Whether partitioning the probed side too costs less than the cache misses of looking its
    /// rows up in an index that is larger than the caches. It must fit in memory beside the other.
    fn prefers_partitions(&self, built: &Built, run: &RunContext) -> bool {
        let temp = &run.statement.temp;
        let probed = self.probe.input.rows_hint();
        let row_bytes = built.table.record().memory_bytes / built.rows.max(1);
        let available = temp.memory().available().min(temp.options().tmp_table_size);
        built.rows >= run.statement.options.partitioned_join_rows_min
            && probed >= built.rows / 4
            && row_bytes.saturating_mul(probed) <= available / 2
    }
}

enum Source {
    Nothing,
    Streaming {
        index: Arc<JoinIndex>,
        input: Box<dyn Cursor>,
    },
    Partitioned {
        queue: PartitionQueue,
        current: Option<(Arc<JoinIndex>, Partition)>,
    },
}

impl Source {
    /// The next probed rows, with their computed keys, and the index that they are looked up in.
    /// Puts the hashes of their keys into `hashes` when they are known, else nothing.
    fn next(
        &mut self,
        side: &Side,
        hashes: &mut Vec<u64>,
        run: &RunContext,
    ) -> Result<Option<(Batch, Arc<JoinIndex>)>> {
        hashes.clear();
        match self {
            Self::Nothing => Ok(None),
            Self::Streaming { index, input } => match input.next(run)? {
                None => Ok(None),
                Some(batch) => {
                    let batch = side.layout.extend(batch, run)?;
                    Ok(Some((batch, Arc::clone(index))))
                }
            },
            Self::Partitioned { queue, current } => loop {
                if let Some((index, partition)) = current {
                    if let Some(batch) = partition.read_next_hashed(hashes)? {
                        return Ok(Some((batch, Arc::clone(index))));
                    }
                    *current = None;
                }
                match queue.next_pair()? {
                    None => return Ok(None),
                    Some((build, probe)) => {
                        *current = Some((Arc::new(build.into_join_index()?), probe));
                    }
                }
            },
        }
    }
}

struct JoinCursor {
    node: Arc<HashJoin>,
    probe_keys: Vec<usize>,
    /// The columns of the build side that are made.
    build_columns: Vec<usize>,
    source: Source,
    /// Hashes of the keys of the probed rows, when they are known.
    hashes: Vec<u64>,
    probing: Option<Probing>,
    matches: JoinMatches,
    blanks: RefCell<Blanks>,
}

/// Columns of NULLs that stand where nobody looks.
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

/// A batch of probed rows on its way through the index.
struct Probing {
    batch: Batch,
    index: Arc<JoinIndex>,
    probe: JoinProbe,
    /// Outer joins: rows before this one are decided.
    decided: u32,
    /// Whether the row at `decided` has matched already.
    decided_matched: bool,
}

impl Cursor for JoinCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(mut probing) = self.probing.take()
                && let Some(batch) = self.advance(&mut probing, run)?
            {
                self.probing = Some(probing);
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let node = Arc::clone(&self.node);
            let Some((batch, index)) = self.source.next(&node.probe, &mut self.hashes, run)? else {
                return Ok(None);
            };
            if batch.is_empty() {
                continue;
            }
            match node.kind {
                JoinKind::Inner | JoinKind::Left => {
                    let probe = self.probe(&batch, &index);
                    self.probing = Some(Probing {
                        batch,
                        index,
                        probe,
                        decided: 0,
                        decided_matched: false,
                    });
                }
                JoinKind::Semi | JoinKind::Anti | JoinKind::NullAwareAnti => {
                    let batch = self.decide(batch, &index, run)?;
                    if !batch.is_empty() {
                        return Ok(Some(batch));
                    }
                }
            }
        }
    }
}

impl JoinCursor {
    fn keys(&self, batch: &Batch) -> Vec<ArrayRef> {
        self.probe_keys
            .iter()
            .map(|column| Arc::clone(batch.column(*column)))
            .collect()
    }

    fn probe(&self, batch: &Batch, index: &JoinIndex) -> JoinProbe {
        let keys = self.keys(batch);
        if self.hashes.is_empty() {
            index.probe(&keys, batch.row_count())
        } else {
            index.probe_hashed(&keys, &self.hashes)
        }
    }

    /// Pairs of rows as the join gives them.
    fn pairs(
        &self,
        batch: &Batch,
        index: &JoinIndex,
        probe_rows: &[u32],
        build_rows: &[BuildRow],
    ) -> Result<Batch> {
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
        let mut gathered = index.gather(&self.build_columns, build_rows)?.into_iter();
        let built = (0..node.build.layout.row_columns)
            .map(|column| {
                let made = node.made.0[column].then(|| gathered.next()).flatten();
                made.unwrap_or_else(|| blanks.get(node.build.layout.columns[column], rows))
            })
            .collect::<Vec<_>>();
        let (mut columns, rest) = if self.node.build_first {
            (built, probed)
        } else {
            (probed, built)
        };
        columns.extend(rest);
        Ok(Batch::new(columns, probe_rows.len()))
    }

    /// The next pairs of a batch of an inner or left join; `None` when it is through.
    fn advance(&mut self, probing: &mut Probing, run: &RunContext) -> Result<Option<Batch>> {
        let outer = self.node.kind == JoinKind::Left;
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
                // What is left has no partner.
                let first = probing.decided + u32::from(probing.decided_matched);
                probing.decided = rows;
                probing.decided_matched = false;
                let alone: Vec<u32> = (first..rows).collect();
                if alone.is_empty() {
                    return Ok(None);
                }
                let nobody = vec![BuildRow::NONE; alone.len()];
                return self
                    .pairs(&probing.batch, &probing.index, &alone, &nobody)
                    .map(Some);
            }
            run.statement.check_interrupt()?;
            let all = self.pairs(
                &probing.batch,
                &probing.index,
                &self.matches.probe_rows,
                &self.matches.build_rows,
            )?;
            let selection = match &self.node.residual {
                None => Selection::All,
                Some(residual) => residual.select(&all, run)?,
            };
            let batch = if outer {
                self.with_lonely_rows(probing, all, selection)?
            } else {
                match selection {
                    Selection::All => all,
                    Selection::None => continue,
                    Selection::Some(selection, count) => filter_batch(&all, &selection, count),
                }
            };
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    /// The selected pairs with, in their places, the probed rows that are now known to have no
    /// partner. The last row of the pairs may find more of them in the next ones.
    fn with_lonely_rows(
        &mut self,
        probing: &mut Probing,
        all: Batch,
        selection: Selection,
    ) -> Result<Batch> {
        let selected = |pair: usize| match &selection {
            Selection::All => true,
            Selection::None => false,
            Selection::Some(selection, _) => selection.value(pair),
        };
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
            if selected(pair) {
                probing.decided_matched = true;
                probe.push(*row);
                build.push(*built);
            }
        }
        if !lonely {
            return Ok(match selection {
                Selection::All => all,
                Selection::None => all.slice(0, 0),
                Selection::Some(selection, count) => filter_batch(&all, &selection, count),
            });
        }
        self.pairs(&probing.batch, &probing.index, &probe, &build)
    }

    /// Semi and anti joins: the probed rows that come out.
    fn decide(&mut self, batch: Batch, index: &JoinIndex, run: &RunContext) -> Result<Batch> {
        let rows = batch.row_count();
        let keys = self.keys(&batch);
        let mut found = Vec::new();
        match &self.node.residual {
            None if self.hashes.is_empty() => index.exists(&keys, rows, &mut found),
            None => index.exists_hashed(&keys, &self.hashes, &mut found),
            Some(residual) => {
                found.resize(rows, false);
                let mut probe = self.probe(&batch, index);
                let limit = run.statement.options.batch_rows;
                while index.next_matches(&mut probe, limit, &mut self.matches) {
                    run.statement.check_interrupt()?;
                    let pairs = self.pairs(
                        &batch,
                        index,
                        &self.matches.probe_rows,
                        &self.matches.build_rows,
                    )?;
                    let selection = residual.select(&pairs, run)?;
                    for (pair, row) in self.matches.probe_rows.iter().enumerate() {
                        found[*row as usize] |= match &selection {
                            Selection::All => true,
                            Selection::None => false,
                            Selection::Some(selection, _) => selection.value(pair),
                        };
                    }
                }
            }
        }
        let wanted = self.node.kind == JoinKind::Semi;
        let null_aware = self.node.kind == JoinKind::NullAwareAnti;
        let selection = BooleanBuffer::collect_bool(rows, |row| {
            found[row] == wanted && !(null_aware && keys.iter().any(|key| key.is_null(row)))
        });
        let count = selection.count_set_bits();
        Ok(self
            .node
            .probe
            .layout
            .strip(filter_batch(&batch, &selection, count)))
    }
}

//! Loading of a table into a secondary engine: the rows of one snapshot, part by part, in the order of the tree of
//! rows, which is that of the primary key.
//!
//! A refresh reads again only the ranges of keys in which rows have changed: the store counts the commits that change
//! rows of each part ([`WatchedRanges`]), before their changes are visible. A part whose count is still that of its load
//! once the snapshot of the refresh is taken has the rows of that snapshot, and is kept.
//!
//! A load reads the store directly, as a statement of its own that locks nothing: it needs no session, so the statement
//! ALTER TABLE … SECONDARY_LOAD and the background refresh load alike.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow_array::cast::AsArray;
use mayfly_storage::{
    ByteRange, ChangeStorage, ColumnId, DurableStore, DurableTable, ReadLock, ReadView,
    StatementOptions, Table, TableDefinition, TableScan, TableState, WatchedRanges,
};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Interrupt, Result};

use super::copies::{CopyPlace, LoadProgress, LoadedCopy, Part, RunningLoad};
use super::{LoadedColumn, PartToLoad, Rows, SecondaryEngine, TablePart};
use crate::kept_results::{AsOf, add};
use crate::options::Clock;

/// The next number of a part.
static NEXT_PART: AtomicU64 = AtomicU64::new(1);

/// Counters for the status variables.
#[derive(Debug, Default)]
pub(crate) struct LoadCounters {
    pub(crate) loads: AtomicU64,
    pub(crate) refreshes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// Why a load is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadCause {
    /// ALTER TABLE … SECONDARY_LOAD.
    Statement,
    /// The table has changed since it was loaded, or was loaded when the process ended.
    Refresh,
}

/// Loads a table into the place of its copy: a refresh leaves a fresh copy. `None` if the table has changed its
/// definition meanwhile.
///
/// # Errors
/// Any error of reading and of the engine, which leave the place as it was; 1317 for a killed statement.
pub(crate) fn load_into(
    place: &Arc<CopyPlace>,
    source: &Source,
    engine: &Arc<dyn SecondaryEngine>,
    interrupt: &Interrupt,
    (clock, counters): (&Arc<dyn Clock>, &LoadCounters),
    cause: LoadCause,
) -> Result<Option<Arc<LoadedCopy>>> {
    let running = place.begin(interrupt, clock.now_utc_microseconds())?;
    if cause == LoadCause::Refresh
        && let Some(fresh) = running.previous.as_ref().filter(|copy| copy.is_fresh())
    {
        return Ok(Some(Arc::clone(fresh)));
    }
    let previous = running.previous.clone();
    let previous =
        previous.filter(|copy| cause == LoadCause::Refresh && copy.columns == source.columns);
    let loaded = source.load(engine, &running, previous.as_deref(), interrupt, clock);
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            add(&counters.failures, 1);
            running.fail(&error);
            return Err(error);
        }
    };
    let count = match cause {
        LoadCause::Statement => &counters.loads,
        LoadCause::Refresh => &counters.refreshes,
    };
    add(count, 1);
    add(&counters.rows, loaded.rows);
    add(&counters.bytes, loaded.bytes);
    Ok(running.finish(loaded.copy))
}

/// A table that is loaded.
pub(crate) struct Source {
    pub(crate) store: DurableStore,
    pub(crate) storage: ChangeStorage,
    pub(crate) definition: Arc<TableDefinition>,
    pub(crate) database: String,
    pub(crate) table: String,
    /// The loaded columns, by their positions in the table, and what the engine learns of them.
    pub(crate) columns: Vec<usize>,
    pub(crate) described: Vec<LoadedColumn>,
    pub(crate) batch_rows: usize,
}

impl Source {
    /// Makes a copy of the newest rows: of `previous` it keeps the parts whose rows are unchanged.
    fn load(
        &self,
        engine: &Arc<dyn SecondaryEngine>,
        running: &RunningLoad,
        previous: Option<&LoadedCopy>,
        interrupt: &Interrupt,
        clock: &Arc<dyn Clock>,
    ) -> Result<Loaded> {
        let transaction = self.store.session(self.storage.clone());
        let open = || {
            let statement = transaction.statement(StatementOptions {
                view: ReadView::Statement,
                lock_wait: Duration::ZERO,
                interrupt: interrupt.clone(),
                batch_rows: self.batch_rows,
                read_lock: ReadLock::None,
            });
            statement.table(&self.definition)
        };
        // The version is known before the snapshot is taken: else a commit to another table between the two would count
        // as a change of this one.
        let _known = open()?.state();
        // The snapshot has the changes that are counted before it, unless a commit is under way; and none but those that
        // are counted after it.
        let before = previous.map(|copy| copy.ranges.changes());
        let table = open()?;
        let state = table.state();
        let TableState::Committed { version, snapshot } = &state else {
            return Err(Error::internal("a table that is loaded has no versions"));
        };
        let (version, snapshot) = (Arc::clone(version), *snapshot);
        let is_watched = |copy: &&LoadedCopy| {
            let watched = version.watched();
            watched.is_some_and(|watched| Arc::ptr_eq(&watched, &copy.ranges))
        };
        let previous = previous.filter(is_watched);
        let is_exact = version.get() <= snapshot;
        let pieces = match previous {
            Some(copy) => pieces(copy, engine.part_rows()),
            None => vec![Piece::Read(ByteRange::ALL)],
        };
        let progress = &running.progress;
        progress.check()?;
        let rows = match previous {
            None => table.statistics().rows,
            Some(copy) => copy.rows() - pieces.iter().map(Piece::kept_rows).sum::<u64>(),
        };
        progress.expected.store(rows, Ordering::Relaxed);
        let (mut parts, mut starts) = (Vec::new(), Vec::new());
        let (mut rows_read, mut bytes_read) = (0, 0);
        for piece in pieces {
            let range = match piece {
                Piece::Keep(part, start) => {
                    parts.push(part);
                    starts.push(start);
                    continue;
                }
                Piece::Read(range) => range,
            };
            let mut start = range.start.clone();
            let mut scan = Scan::new(&table, range, &self.columns, progress)?;
            // A range without rows belongs to the part before it, and a table without rows has one part.
            while !scan.is_at_end()? || (parts.is_empty() && scan.is_last) {
                let part = self.load_part(engine, &mut scan, snapshot, interrupt)?;
                rows_read += part.stored.rows;
                bytes_read += part.stored.bytes;
                parts.push(part);
                starts.push(std::mem::take(&mut start));
                match scan.position()? {
                    Some(position) => start = position,
                    None => break,
                }
            }
        }
        let ranges = Arc::new(WatchedRanges::new(starts));
        let mut changes = Vec::new();
        self.store.watch(&version, || {
            // Changes since the snapshot are counted in the ranges before, if at all.
            let is_unchanged = version.get() <= snapshot;
            let quiet = previous.zip(before.as_ref()).map(|(copy, before)| {
                let now = copy.ranges.changes();
                let of_old = (0..now.len()).map(|old| {
                    // A commit that was under way when the snapshot was taken is counted, and not in the snapshot.
                    let is_seen = is_exact || copy.changes[old] == Some(before[old]);
                    is_seen && now[old] == before[old]
                });
                (copy, of_old.collect::<Vec<bool>>())
            });
            let has_all = (0..parts.len()).map(|part| {
                let is_quiet = |(copy, quiet): &(&LoadedCopy, Vec<bool>)| {
                    overlapped(&copy.ranges, &ranges, part).all(|old| quiet[old])
                };
                is_unchanged || quiet.as_ref().is_some_and(is_quiet)
            });
            changes.extend(has_all.map(|has_all| has_all.then_some(0)));
            Arc::clone(&ranges)
        });
        let as_of = AsOf::after(&state);
        let copy = LoadedCopy {
            columns: self.columns.clone(),
            parts,
            ranges,
            changes,
            as_of: as_of.ok_or_else(|| Error::internal("a snapshot is of no version"))?,
            version: snapshot,
            began: running.began,
            ended: clock.now_utc_microseconds(),
        };
        Ok(Loaded {
            copy,
            rows: rows_read,
            bytes: bytes_read,
        })
    }

    fn load_part(
        &self,
        engine: &Arc<dyn SecondaryEngine>,
        scan: &mut Scan,
        version: u64,
        interrupt: &Interrupt,
    ) -> Result<Arc<Part>> {
        interrupt.check()?;
        let part = PartToLoad {
            database: &self.database,
            table: &self.table,
            columns: &self.described,
            number: NEXT_PART.fetch_add(1, Ordering::Relaxed),
            version,
            interrupt,
        };
        let mut rows = PartRows {
            scan,
            given: 0,
            most: engine.part_rows(),
            is_read: false,
            interrupt,
        };
        let stored = engine.load(&part, &mut rows)?;
        let (given, is_read) = (rows.given, rows.is_read);
        let part = Part::new(engine, stored);
        let TablePart { rows, .. } = part.stored;
        if !is_read || rows != given {
            let reason = format!("The engine has kept {rows} of {given} rows or more.");
            return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
        }
        Ok(part)
    }
}

/// A copy that has been made, and what was read for it.
struct Loaded {
    copy: LoadedCopy,
    rows: u64,
    bytes: u64,
}

/// A piece of a refreshed copy.
enum Piece {
    /// A part of the copy before, with the start of its range.
    Keep(Arc<Part>, Vec<u8>),
    /// Rows of a range, which are read anew.
    Read(ByteRange),
}

impl Piece {
    fn kept_rows(&self) -> u64 {
        match self {
            Self::Keep(part, _) => part.stored.rows,
            Self::Read(_) => 0,
        }
    }
}

/// The pieces of a refreshed copy, in the order of the rows: neighbours that have changed are read together, and so are
/// small parts behind them, so that parts do not become ever smaller.
fn pieces(copy: &LoadedCopy, part_rows: u64) -> Vec<Piece> {
    let (starts, changes) = (copy.ranges.starts(), copy.ranges.changes());
    let mut pieces: Vec<Piece> = Vec::new();
    for (number, part) in copy.parts.iter().enumerate() {
        let is_changed = copy.changes[number] != Some(changes[number]);
        let is_small = part.stored.rows < part_rows / 4;
        let end = starts.get(number + 1).cloned();
        match pieces.last_mut() {
            Some(Piece::Read(range)) if is_changed || is_small => range.end = end,
            _ if is_changed => pieces.push(Piece::Read(ByteRange {
                start: starts[number].clone(),
                end,
            })),
            _ => pieces.push(Piece::Keep(Arc::clone(part), starts[number].clone())),
        }
    }
    pieces
}

/// The old ranges that a new range overlaps.
fn overlapped(old: &WatchedRanges, new: &WatchedRanges, number: usize) -> Range<usize> {
    let first = old.range_of(&new.starts()[number]);
    let end = new.starts().get(number + 1);
    let after = end.map_or(old.starts().len(), |end| {
        old.starts().partition_point(|start| start < end)
    });
    first..after.max(first + 1)
}

/// The scan of a range, which knows the position of its next row.
struct Scan {
    scan: Box<dyn TableScan>,
    /// Whether it ends behind all rows of the table.
    is_last: bool,
    /// The next rows, with their positions behind their columns.
    next: Option<Batch>,
    progress: Arc<LoadProgress>,
}

impl Scan {
    fn new(
        table: &DurableTable,
        range: ByteRange,
        columns: &[usize],
        progress: &Arc<LoadProgress>,
    ) -> Result<Self> {
        let columns = columns.iter().map(|column| ColumnId(*column));
        let columns: Vec<ColumnId> = columns.chain([ColumnId::POSITION]).collect();
        Ok(Self {
            is_last: range.end.is_none(),
            scan: table.scan_range(range, &columns)?,
            next: None,
            progress: Arc::clone(progress),
        })
    }

    fn is_at_end(&mut self) -> Result<bool> {
        if self.next.is_none() {
            self.next = self.scan.next_batch()?;
        }
        Ok(self.next.is_none())
    }

    /// The position of the next row; `None` at the end.
    fn position(&mut self) -> Result<Option<Vec<u8>>> {
        if self.is_at_end()? {
            return Ok(None);
        }
        let positions = self.next.as_ref().and_then(|batch| batch.columns().last());
        Ok(positions.map(|positions| positions.as_binary_view().value(0).to_vec()))
    }

    /// The next rows, without their positions.
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.is_at_end()? {
            return Ok(None);
        }
        Ok(self.next.take().map(|batch| {
            let rows = batch.row_count();
            self.progress.rows.fetch_add(rows as u64, Ordering::Relaxed);
            let mut columns = batch.into_columns();
            columns.pop();
            Batch::new(columns, rows)
        }))
    }
}

/// The rows of a part.
struct PartRows<'s> {
    scan: &'s mut Scan,
    given: u64,
    most: u64,
    /// Whether the engine has read them to the end.
    is_read: bool,
    interrupt: &'s Interrupt,
}

impl Rows for PartRows<'_> {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.interrupt.check()?;
        self.scan.progress.check()?;
        let batch = if self.given < self.most {
            self.scan.next_batch()?
        } else {
            None
        };
        match &batch {
            Some(batch) => self.given += batch.row_count() as u64,
            None => self.is_read = true,
        }
        Ok(batch)
    }
}

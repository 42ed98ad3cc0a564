//! Window functions over rows that come partition by partition, in the order of the window.
//!
//! Rows are numbered as they come, and all positions are these numbers: the bounds of partitions and peer groups, the
//! ends of frames, the rows that may be dropped. The rows that a function must have seen before it gives the value of a
//! row (the row itself, some rows behind it, its peers, the whole partition) decide how many rows are kept; those of a
//! partition that is too large for memory wait in a temporary table (see [`rows`]). A row is read once for each
//! function that reads it and given once, in the batch in which it came.
//!
//! Where the sort below gives partitions to several workers, each evaluates the window for its own; so do the windows
//! above that share the sort. Otherwise one thread evaluates a window; its sort may use several.

mod chunk;
mod frames;
mod functions;
mod rows;

use std::sync::{Arc, Mutex};

use mayfly_memory::Reservation;
use mayfly_plan::Expression;
use mayfly_plan::physical::{Operator, Plan, SortKey, TemporaryTable};
use mayfly_plan::window::WindowCall;
use mayfly_storage::{Access, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use self::chunk::{Boundaries, Chunk, Spans};
use self::frames::Lookahead;
use self::functions::Function;
use self::rows::{Reader, Rows};
use super::keys::{Layout, key_mode};
use super::one_cursor::OneCursor;
use super::tables;
use crate::context::{Cursor, Node, RunContext};
use crate::state::lock;

/// Specification of a window in the plan.
#[derive(Clone)]
pub(super) struct Specification {
    /// Types of the input's columns.
    pub(super) row: Vec<SqlType>,
    pub(super) partition: Vec<Expression>,
    pub(super) order: Vec<SortKey>,
    pub(super) calls: Vec<WindowCall>,
    pub(super) temporary: TemporaryTable,
}

/// Columns and functions of one run over the rows.
struct Parts {
    layout: Layout,
    partitions: Boundaries,
    peers: Boundaries,
    functions: Vec<Function>,
}

impl Specification {
    fn parts(&self) -> Result<Parts> {
        let mut layout = Layout::new(&self.row);
        let mut key = |key: &Expression| (layout.column_of(key), key_mode(&key.ty));
        let partition: Vec<_> = self.partition.iter().map(&mut key).collect();
        let order = self.order.iter().map(|by| key(&by.expression));
        let peers: Vec<_> = partition.iter().copied().chain(order).collect();
        let calls = self.calls.iter();
        let functions = calls.map(|call| Function::new(call, &mut layout));
        Ok(Parts {
            functions: functions.collect::<Result<_>>()?,
            layout,
            partitions: Boundaries::new(partition),
            peers: Boundaries::new(peers),
        })
    }
}

struct Window {
    input: Arc<dyn Node>,
    specification: Specification,
    /// The one cursor that reads all rows, where the input does not give whole partitions to each.
    reader: Option<OneCursor>,
    /// Template of the tables of waiting rows. It stays empty: each cursor has a table beside it.
    waiting: Mutex<Option<TempTable>>,
}

/// Builds a window. `reads_partitions`: the input gives whole partitions to each of its cursors.
pub(super) fn build(
    specification: Specification,
    input: Arc<dyn Node>,
    reads_partitions: bool,
) -> Result<Arc<dyn Node>> {
    let parts = specification.parts()?;
    Ok(Arc::new(Window {
        input: parts.layout.slices(input),
        specification,
        reader: (!reads_partitions).then(OneCursor::default),
        waiting: Mutex::default(),
    }))
}

/// Whether the cursors of a window's input give whole partitions each: a sort for windows does, and so do operators
/// that pass its batches on.
pub(super) fn gives_partitions(mut input: &Plan) -> bool {
    loop {
        input = match &input.operator {
            Operator::Sort { for_windows, .. } => return for_windows.is_some(),
            Operator::Window { input, .. } | Operator::Project { input, .. } => input,
            _ => return false,
        }
    }
}

impl Window {
    /// Creates a table for the waiting rows of a cursor.
    fn waiting_rows(&self, columns: &[PhysicalType], run: &RunContext) -> Result<TempTable> {
        let mut waiting = lock(&self.waiting);
        let first = match &*waiting {
            Some(first) => first,
            None => {
                let temporary = &self.specification.temporary;
                let first = tables::create(temporary, columns.to_vec(), Access::Plain, run)?;
                waiting.insert(first)
            }
        };
        Ok(first.beside(columns.to_vec(), Access::Plain))
    }
}

impl Node for Window {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        if let Some(reader) = &self.reader {
            reader.prepare();
        }
        *lock(&self.waiting) = None;
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        if self.is_unordered() {
            self.input.rows_hint()
        } else {
            0
        }
    }

    fn is_unordered(&self) -> bool {
        self.reader.is_none() && self.input.is_unordered()
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = match &self.reader {
            Some(reader) => reader.open(&self.input, run)?,
            None => Some(Arc::clone(&self.input).open(run)?),
        };
        let parts = self.specification.parts()?;
        let lookaheads = parts.functions.iter().map(Function::lookahead);
        let lookahead = lookaheads.clone().max().unwrap_or(Lookahead::Rows(0));
        let behind = lookaheads.filter_map(|lookahead| match lookahead {
            Lookahead::Rows(behind) => Some(behind),
            Lookahead::Peers | Lookahead::Partition => None,
        });
        let behind = behind.max().unwrap_or(0);
        Ok(Box::new(WindowCursor {
            input,
            rows: Rows::default(),
            buffers: lookahead != Lookahead::Rows(0),
            reads_peers: parts.functions.iter().any(Function::reads_peers),
            parts,
            lookahead,
            behind,
            next: 0,
            given: Reader::default(),
            ordered: Reader::default(),
            memory: None,
            window: self,
        }))
    }
}

struct WindowCursor {
    /// Cursor of the input; `None` at its end.
    input: Option<Box<dyn Cursor>>,
    parts: Parts,
    rows: Rows,
    /// Whether rows may have to wait for others.
    buffers: bool,
    /// Maximum lookahead of the functions.
    lookahead: Lookahead,
    /// Maximum number of rows behind a row that a function reads, as LEAD does.
    behind: u64,
    reads_peers: bool,
    /// Number of the next row of output.
    next: u64,
    /// Reader of the rows for output.
    given: Reader,
    /// Reader of the rows whose peers are sought.
    ordered: Reader,
    /// Reservation of the functions' state.
    memory: Option<Reservation>,
    window: Arc<Window>,
}

impl Cursor for WindowCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            run.statement.check_interrupt()?;
            let ready = self.ready();
            if self.next < ready {
                self.rows.end_storing()?;
                return self.give(ready, run).map(Some);
            }
            let Some(input) = &mut self.input else {
                return Ok(None);
            };
            match input.next(run)? {
                Some(batch) if batch.is_empty() => {}
                Some(batch) => self.read(batch, run)?,
                None => self.input = None,
            }
        }
    }
}

impl WindowCursor {
    /// Row up to which the values of all functions are known.
    fn ready(&self) -> u64 {
        let end = self.rows.end();
        let partition = self.parts.partitions.last_start();
        // A function reads no rows behind its partition.
        let by_rows = partition.max(end.saturating_sub(self.behind));
        match self.lookahead {
            _ if self.input.is_none() => end,
            Lookahead::Rows(_) => by_rows,
            Lookahead::Peers => self.parts.peers.last_start().min(by_rows),
            Lookahead::Partition => partition,
        }
    }

    /// Adds rows of the input.
    fn read(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let batch = self.parts.layout.extend(batch, run)?;
        self.parts.partitions.read(&batch, 0);
        if self.lookahead == Lookahead::Peers {
            self.parts.peers.read(&batch, 0);
        }
        let waits = self.next >= self.ready();
        if !self.rows.have_space() {
            let columns = &self.parts.layout.columns;
            let table = if self.buffers {
                Some(self.window.waiting_rows(columns, run)?)
            } else {
                None
            };
            self.rows.give_space(table, run);
        }
        self.rows.push(batch, waits, run)
    }

    /// Reads rows until the peers of a row are known.
    fn read_peers_of(&mut self, row: u64) -> Result<()> {
        let peers = &mut self.parts.peers;
        while peers.end() < self.rows.end() && peers.last_start() <= row {
            let (first, batch) = self.rows.block(&mut self.ordered, peers.end())?;
            peers.read(batch, (peers.end() - first) as usize);
        }
        Ok(())
    }

    /// Gives rows up to `ready` with the values of the functions.
    fn give(&mut self, ready: u64, run: &RunContext) -> Result<Batch> {
        let first = self.next;
        let (block_first, block) = self.rows.block(&mut self.given, first)?;
        let offset = (first - block_first) as usize;
        let rows = block.row_count() - offset;
        let count = rows.min(usize::try_from(ready - first).unwrap_or(usize::MAX));
        let batch = block.slice(offset, count);
        let is_complete = self.input.is_none();
        let partitions = self.parts.partitions.spans(first, count, is_complete);
        let peers = if self.reads_peers {
            self.read_peers_of(first + count as u64 - 1)?;
            let peers = &mut self.parts.peers;
            let is_complete = is_complete && peers.end() == self.rows.end();
            peers.spans(first, count, is_complete)
        } else {
            Spans::default()
        };
        let chunk = Chunk {
            first,
            batch: &batch,
            partitions,
            peers,
        };
        let functions = self.parts.functions.iter_mut();
        let values = functions
            .map(|function| function.values(&chunk, &self.rows, run))
            .collect::<Result<Vec<_>>>()?;
        self.next += count as u64;
        let mut low = self.next;
        for function in &self.parts.functions {
            low = low.min(function.low(self.next));
        }
        if self.reads_peers && self.lookahead != Lookahead::Peers {
            low = low.min(self.parts.peers.end());
        }
        self.rows.forget_before(low);
        self.charge(run)?;
        let mut columns = self.parts.layout.strip(batch).into_columns();
        columns.extend(values);
        Ok(Batch::new(columns, count))
    }

    /// Charges the bytes of the functions' state.
    fn charge(&mut self, run: &RunContext) -> Result<()> {
        let functions = self.parts.functions.iter();
        let bytes = functions.map(Function::memory_bytes).sum();
        let temp = &run.statement.temp;
        let memory = &mut self.memory;
        let memory = memory.get_or_insert_with(|| temp.memory().reservation());
        temp.resize_working_set(memory, bytes)
    }
}

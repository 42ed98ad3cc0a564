//! Base tables: durable ones in a file of blocks of rows, and those that live as long as the process.
//!
//! # Durable tables
//!
//! A [`DurableStore`] is a data directory: one LMDB file ([`environment`]) whose records are blocks of
//! rows ([`block`]). A session has one [`DurableTransaction`] for all of its transactions, one after the
//! other; what it has changed is an overlay in memory ([`overlay`]) that only its own reads see
//! ([`view`]), until the one writer commits it, with others that wait ([`commit`]). A [`Statement`] opens
//! tables at one moment; reads take a snapshot ([`snapshot`]), changes take locks ([`locks`]) and look at
//! the newest rows ([`writer`]). A statement that fills an empty table makes full blocks at once
//! ([`bulk`]).
//!
//! ```text
//! let store = DurableStore::open(&StoreOptions { directory, ephemeral: false, stable })?;
//! let session = store.session(&memory);
//! let definition = Arc::new(TableDefinition::new(columns, indexes, session.new_tree(), trees));
//! session.set_record(b"table:t", Some(&description))?;        // committed with the rows
//! let statement = session.statement(StatementOptions { view: ReadView::Statement, .. });
//! let table = statement.table(&definition)?;                  // a `Table`
//! let mut writer = table.writer()?;
//! writer.insert(&batch)?;
//! writer.finish()?;
//! session.commit()?;                                          // or through `session.participant()`
//! ```
//!
//! # Tables of the process
//!
//! They are chunks of columns, stored narrow (see [`chunk`]).
//!
//! A table holds as many chunks in memory as its budget allows; what comes after goes to a temporary
//! file at once, and what is in memory follows when temporary tables need it. A scan reads such
//! pieces back one at a time, into memory that it uses again for the next. Which chunks are in memory
//! does not change from scan to scan unless the limits do: a scan from first to last gains nothing
//! from keeping the pieces it has just read.
//!
//! Few rows at a time give small chunks, and a small chunk is merged with its neighbour as in a
//! binary counter, so that a table of single-row inserts has few of them.

mod backup;
mod block;
mod block_sizes;
mod bulk;
mod check;
mod chunk;
mod commit;
mod cursor;
mod definition;
mod encode;
mod environment;
mod fill;
mod gather;
mod load;
mod locks;
mod overlay;
mod piece;
mod row;
mod rows;
mod scan;
mod snapshot;
mod statistics;
mod store;
mod table;
mod transaction;
mod tree;
mod view;
mod writer;

pub use commit::Durability;
pub use definition::TableDefinition;
pub use environment::TreeId;
pub use store::{DurableStore, StoreOptions, SyncThread};
pub use table::DurableTable;
pub use transaction::{DurableTransaction, ReadView, Statement, StatementOptions};

use std::sync::{Arc, Mutex, PoisonError};

use mayfly_memory::{Budget, Reservation, TempFile};
use mayfly_types::{Batch, PhysicalType, Result};

use crate::error::user_error;
use crate::table::{ColumnId, Table, TableScan, TableStatistics, TableWriter};
use crate::temptable::Resources;
use crate::temptable::reclaim::{Rank, Reclaim};
use chunk::{CHUNK_ROWS, Chunk};
use scan::ColumnarScan;

/// A chunk is also full with so many bytes of strings in a column, or with fewer when memory is
/// limited.
const CHUNK_BYTES: usize = 16 << 20;

/// What the user calls a table whose name is not known here.
const TABLE_NAME: &str = "(base table)";

/// Where a base table takes its memory and temporary space from.
#[derive(Debug, Clone)]
pub struct BaseTableContext {
    /// What the database shares.
    pub resources: Resources,
    /// Memory of base tables. Give base tables a node with a limit below the global one, so that
    /// statements find memory beside them; chunks beyond it go to temporary files.
    pub memory: Budget,
    /// Temporary space of base tables.
    pub temp_space: Budget,
    /// Rows in the batches that scans give out.
    pub batch_rows: usize,
}

/// The chunks that a scan sees.
type Snapshot = Arc<Vec<Arc<Chunk>>>;

#[derive(Debug)]
struct Inner {
    columns: Vec<PhysicalType>,
    context: BaseTableContext,
    chunks: Mutex<Snapshot>,
    file: TempFile,
}

/// A base table in columns.
#[derive(Debug)]
pub struct ColumnarTable(Arc<Inner>);

impl ColumnarTable {
    /// An empty table.
    pub fn new(context: BaseTableContext, columns: Vec<PhysicalType>) -> Self {
        let inner = Arc::new(Inner {
            columns,
            chunks: Mutex::default(),
            file: context.resources.temp_space.file(&context.temp_space),
            context,
        });
        let holder: Arc<dyn Reclaim> = inner.clone();
        let holders = &inner.context.resources.registry.holders;
        holders.add(Arc::downgrade(&holder));
        Self(inner)
    }
}

impl Inner {
    fn snapshot(&self) -> Snapshot {
        Arc::clone(&self.chunks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes of strings in a column with which a chunk is full.
    fn chunk_bytes(&self) -> usize {
        let sixteenth = self.context.memory.share() / 16;
        usize::try_from(sixteenth).map_or(CHUNK_BYTES, |bytes| bytes.clamp(64 << 10, CHUNK_BYTES))
    }

    fn encode(&self, batches: &[Batch]) -> Result<Arc<Chunk>> {
        let chunk = encode::encode(&self.context, &self.file, &self.columns, batches);
        let chunk = chunk.map_err(|error| user_error(&error, TABLE_NAME))?;
        Ok(Arc::new(chunk))
    }

    /// All rows of two chunks as one, or `None` when they stay two.
    fn merge(
        self: &Arc<Self>,
        first: &Arc<Chunk>,
        second: &Arc<Chunk>,
    ) -> Result<Option<Arc<Chunk>>> {
        let bytes = |chunk: &Chunk| -> u64 {
            chunk
                .pieces()
                .map(|piece| piece.usage())
                .map(|(memory, file)| memory.max(file))
                .sum()
        };
        let small = first.rows + second.rows <= CHUNK_ROWS
            && bytes(first) + bytes(second) <= self.chunk_bytes() as u64;
        // A chunk grows at least by half each time that it is copied.
        if !small || first.rows / 2 > second.rows {
            return Ok(None);
        }
        let chunks = Arc::new(vec![Arc::clone(first), Arc::clone(second)]);
        let columns: Vec<ColumnId> = (0..self.columns.len()).map(ColumnId).collect();
        let mut scan = ColumnarScan::new(self, chunks, &columns);
        let mut batches = Vec::new();
        while let Some(batch) = scan.next_batch()? {
            batches.push(batch);
        }
        self.encode(&batches).map(Some)
    }
}

impl Reclaim for Inner {
    fn rank(&self) -> Rank {
        Rank::BaseTable
    }

    fn memory(&self) -> &Budget {
        &self.context.memory
    }

    fn reclaim(&self, wanted: u64) -> u64 {
        let Ok(chunks) = self.chunks.try_lock().map(|chunks| Arc::clone(&chunks)) else {
            return 0;
        };
        let mut freed = 0;
        // The last first: the first chunks are read first by the next scan.
        let pieces = chunks.iter().rev().flat_map(|chunk| chunk.pieces());
        for piece in pieces {
            if freed >= wanted {
                break;
            }
            match piece.send_away(&self.file) {
                Ok(bytes) => freed += bytes,
                Err(_) => break,
            }
        }
        freed
    }
}

impl Table for ColumnarTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.0.columns
    }

    fn statistics(&self) -> TableStatistics {
        let mut statistics = TableStatistics::default();
        for chunk in self.0.snapshot().iter() {
            statistics.rows += chunk.rows as u64;
            for piece in chunk.pieces() {
                let (memory, file) = piece.usage();
                statistics.memory_bytes += memory;
                statistics.disk_bytes += file;
            }
        }
        statistics
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        let snapshot = self.0.snapshot();
        Ok(Box::new(ColumnarScan::new(&self.0, snapshot, columns)))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(ColumnarWriter {
            table: Arc::clone(&self.0),
            chunks: Vec::new(),
            pending: Vec::new(),
            rows: 0,
            bytes: 0,
            reservation: self.0.context.memory.reservation(),
        }))
    }

    fn truncate(&self) -> Result<()> {
        let chunks = &self.0.chunks;
        let old = std::mem::take(&mut *chunks.lock().unwrap_or_else(PoisonError::into_inner));
        drop(old);
        Ok(())
    }
}

struct ColumnarWriter {
    table: Arc<Inner>,
    /// Full chunks.
    chunks: Vec<Arc<Chunk>>,
    /// Rows of the next one.
    pending: Vec<Batch>,
    rows: usize,
    bytes: usize,
    /// For the pending rows.
    reservation: Reservation,
}

impl ColumnarWriter {
    /// Reserves the bytes of more pending rows. They may come from anywhere: of some the memory is
    /// charged already, which is not known here.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let context = &self.table.context;
        context.resources.make_room(bytes as u64, &context.memory);
        let grown = self.reservation.grow_forced(bytes as u64);
        grown.map_err(|error| user_error(&error.into(), TABLE_NAME))
    }

    fn seal(&mut self) -> Result<()> {
        if self.rows > 0 {
            self.chunks.push(self.table.encode(&self.pending)?);
            self.pending.clear();
            (self.rows, self.bytes) = (0, 0);
            self.reservation.free();
        }
        Ok(())
    }
}

/// The bytes of the longest column of strings, and of everything.
fn column_bytes(batch: &Batch) -> (usize, usize) {
    use arrow_array::cast::AsArray;
    let of = |array: &arrow_array::ArrayRef| {
        let strings = array.as_binary_view_opt()?;
        let lengths = strings.views().iter().map(|view| *view as u32 as usize);
        Some(lengths.sum::<usize>())
    };
    let strings = || batch.columns().iter().filter_map(of);
    let fixed = 16 * batch.columns().len() * batch.row_count();
    (
        strings().max().unwrap_or(0),
        strings().sum::<usize>() + fixed,
    )
}

impl TableWriter for ColumnarWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        let mut start = 0;
        while start < batch.row_count() {
            let mut count = (CHUNK_ROWS - self.rows).min(batch.row_count() - start);
            let mut part = batch.slice(start, count);
            let chunk_bytes = self.table.chunk_bytes();
            let (mut bytes, mut all) = column_bytes(&part);
            while count > 1 && (bytes > chunk_bytes || all > 4 * chunk_bytes) {
                count /= 2;
                part = part.slice(0, count);
                (bytes, all) = column_bytes(&part);
            }
            self.reserve(all)?;
            self.rows += count;
            self.bytes += bytes;
            self.pending.push(part);
            let full =
                self.bytes >= chunk_bytes || self.reservation.bytes() >= 4 * chunk_bytes as u64;
            if self.rows == CHUNK_ROWS || full {
                self.seal()?;
            }
            start += count;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.seal()?;
        let table = &self.table;
        let mut chunks = table.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = chunks.to_vec();
        for mut chunk in self.chunks {
            while let Some(last) = all.last() {
                let Some(merged) = table.merge(last, &chunk)? else {
                    break;
                };
                all.pop();
                chunk = merged;
            }
            all.push(chunk);
        }
        *chunks = Arc::new(all);
        Ok(())
    }
}

//! Scans of all rows, page by page, and of index ranges.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_types::{Batch, Result};

use super::content::Content;
use super::pages::PageView;
use super::piece::Piece;
use super::table_core::Core;
use super::tree::Cursor;
use crate::key_encoding::ByteRange;
use crate::scan_request::ColumnId;
use crate::table::TableScan;
use crate::temptable::context::TempTableContext;
use crate::temptable::rows::Gather;

/// Number of rows in the first batch of an index scan, which may be all that is wanted.
const FIRST_ROWS: usize = 64;
/// Maximum number of pages that are read from a file for one batch.
const COPIES_MAX: usize = 32;

/// Reader of a snapshot.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) core: Arc<Core>,
    pub(super) statement: TempTableContext,
    pub(super) content: Arc<Content>,
    pub(super) columns: Vec<ColumnId>,
}

impl Reader {
    fn piece(&self) -> Piece<'_> {
        Piece::new(&self.core, &self.content, &self.columns)
    }

    /// Maximum number of rows in a batch.
    fn batch_rows(&self) -> usize {
        self.statement.options().batch_rows.max(1)
    }
}

/// Scan of all rows; its workers share the pages between them.
pub(super) struct HeapScan {
    reader: Reader,
    next_page: Arc<AtomicUsize>,
    /// The current page, and the next slot in it.
    current: Option<(usize, u16)>,
    gather: Gather,
}

impl HeapScan {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            next_page: Arc::default(),
            current: None,
            gather: Gather::default(),
        }
    }

    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    fn read(
        reader: &Reader,
        next_page: &AtomicUsize,
        current: &mut Option<(usize, u16)>,
        gather: &mut Gather,
    ) -> mayfly_memory::Result<Option<Batch>> {
        let (core, heap, most) = (&reader.core, &reader.content.heap, reader.batch_rows());
        let width = core.shape.layout.width;
        // The rows are in these pages.
        let mut views: Vec<PageView<'_>> = Vec::new();
        let mut piece = reader.piece();
        let mut copies = 0;
        while piece.len() < most && copies < COPIES_MAX && !(piece.len() > 0 && piece.is_enough()) {
            let (page, slot) = match current.take() {
                Some(current) => current,
                None => (next_page.fetch_add(1, Ordering::Relaxed), 0),
            };
            if page >= heap.page_numbers() {
                break;
            }
            let Some(view) = heap.view(&core.pager, page)? else {
                continue;
            };
            copies += usize::from(matches!(view, PageView::Copy(_)));
            let room = most - piece.len();
            if let Some(rows) = piece.addresses()
                && let Some(left) = heap.whole_rows_of(view.bytes(), slot, room, rows)
            {
                *current = left.map(|slot| (page, slot));
                views.push(view);
                continue;
            }
            let mut added = Ok(());
            let left = heap.rows_of(page, view.bytes(), slot, |id, row| {
                // SAFETY: the row is one of the page's.
                let row = unsafe { std::slice::from_raw_parts(row, width) };
                added = piece.add_row(id, row);
                added.is_ok() && piece.len() < most && !piece.is_enough()
            });
            added?;
            *current = left.map(|slot| (page, slot));
            views.push(view);
        }
        if piece.len() == 0 {
            return Ok(None);
        }
        // The rows' pages are in `views`.
        let batch = piece.gather(gather);
        drop(views);
        Ok(Some(batch))
    }
}

impl TableScan for HeapScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Self {
            reader,
            next_page,
            current,
            gather,
        } = self;
        reader.statement.shared().interrupt.check()?;
        loop {
            let core = &reader.core;
            let batch = core.see(|_| Self::read(reader, next_page, current, gather))?;
            // Pages without rows do not end the scan.
            let pages = reader.content.heap.page_numbers();
            if batch.is_some() || next_page.load(Ordering::Relaxed) >= pages {
                return Ok(batch);
            }
        }
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            next_page: Arc::clone(&self.next_page),
            ..Self::new(self.reader.clone())
        })
    }
}

/// Progress of an index scan.
#[derive(Debug)]
struct Progress {
    range: usize,
    cursor: Cursor,
    /// Number of rows of the next batch.
    rows: usize,
}

/// Scan of index ranges; its workers take turns in reading the index.
pub(super) struct IndexScan {
    reader: Reader,
    index: usize,
    /// The ranges in the order in which they are read.
    ranges: Arc<[ByteRange]>,
    reverse: bool,
    progress: Arc<Mutex<Progress>>,
    /// Rows that were found in the index and are still to be read.
    pending: VecDeque<u64>,
    gather: Gather,
}

impl IndexScan {
    pub(super) fn new(reader: Reader, index: usize, ranges: Vec<ByteRange>, reverse: bool) -> Self {
        Self {
            reader,
            index,
            ranges: ranges.into(),
            reverse,
            progress: Arc::new(Mutex::new(Progress {
                range: 0,
                cursor: Cursor::Start,
                rows: FIRST_ROWS,
            })),
            pending: VecDeque::new(),
            gather: Gather::default(),
        }
    }

    /// Takes the row numbers of the next batch.
    fn take(&self) -> mayfly_memory::Result<Vec<u64>> {
        let mut progress = lock(&self.progress);
        let progress = &mut *progress;
        let most = progress.rows.min(self.reader.batch_rows());
        progress.rows = progress.rows.saturating_mul(4);
        let mut ids = Vec::new();
        let pager = &self.reader.core.pager;
        let forced = pager.times_forced();
        while ids.len() < most
            && (ids.is_empty() || !pager.has_read_enough(forced))
            && let Some(range) = self.ranges.get(progress.range)
        {
            let room = most - ids.len();
            let room = if pager.has_overflowed() {
                room.min(FIRST_ROWS)
            } else {
                room
            };
            let cursor = &mut progress.cursor;
            let tree = &self.reader.content.trees[self.index];
            tree.read_range(pager, range, self.reverse, cursor, room, &mut ids)?;
            if matches!(cursor, Cursor::End) {
                *cursor = Cursor::Start;
                progress.range += 1;
            }
        }
        Ok(ids)
    }

    fn read(&mut self) -> mayfly_memory::Result<Option<Batch>> {
        if self.pending.is_empty() {
            self.pending = self.take()?.into();
        }
        let mut piece = self.reader.piece();
        while (piece.len() == 0 || !piece.is_enough())
            && let Some(id) = self.pending.pop_front()
        {
            piece.add(id)?;
        }
        Ok((piece.len() > 0).then(|| piece.gather(&mut self.gather)))
    }
}

impl TableScan for IndexScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.reader.statement.shared().interrupt.check()?;
        let core = Arc::clone(&self.reader.core);
        core.see(|_| self.read())
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            reader: self.reader.clone(),
            index: self.index,
            ranges: Arc::clone(&self.ranges),
            reverse: self.reverse,
            progress: Arc::clone(&self.progress),
            pending: VecDeque::new(),
            gather: Gather::default(),
        })
    }
}

//! Parallel merge of sorted rows: threads merge and read ranges of the order.
//!
//! The reader of the rows and the workers take ranges from the scan, one after the other, and read them side by side;
//! the reader gives them out in their order. A worker that is [`RANGES_AHEAD`] ranges ahead waits for the reader, and
//! makes room for other workers of the database there. Rows that lie in files cannot be divided, and are read by one
//! thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use mayfly_storage::{SortedScan, Worker};
use mayfly_types::{Batch, Result};

use super::Sort;
use crate::context::{Cursor, RunContext};
use crate::driver::INTERRUPT_INTERVAL;
use crate::error::contain;
use crate::state::lock;

/// Number of batches of a range.
const RANGE_BATCHES: usize = 4;
/// Maximum number of ranges for each thread that are taken before the one that is given out.
const RANGES_AHEAD: u64 = 2;

/// State of the ranges of a scan.
struct Ranges {
    state: Mutex<State>,
    changed: Condvar,
    rows: usize,
    ahead: u64,
}

struct State {
    /// The scan, until its last row is taken, or the reader is gone.
    scan: Option<Box<SortedScan>>,
    /// Number of the next range to take.
    next: u64,
    /// Number of the next range to give out.
    wanted: u64,
    /// Ranges that workers have read, by number.
    read: BTreeMap<u64, Result<Vec<Batch>>>,
    stop: bool,
}

impl State {
    /// Takes the next range, with its number; `None` at the end.
    fn take(&mut self, rows: usize) -> Result<Option<(u64, SortedScan)>> {
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let range = scan.split_off(rows);
        if !matches!(range, Ok(Some(_))) {
            self.scan = None;
        }
        let range = range?.map(|range| (self.next, range));
        self.next += u64::from(range.is_some());
        Ok(range)
    }
}

/// Cursor over the rows of a sort in order, whose ranges several threads read.
pub(super) struct RangesCursor {
    /// The range that is given out, if the reader reads it itself.
    own: Option<SortedScan>,
    batches: std::vec::IntoIter<Batch>,
    ranges: Arc<Ranges>,
    workers: Vec<JoinHandle<()>>,
    workers_max: usize,
    sort: Arc<Sort>,
}

impl RangesCursor {
    pub(super) fn new(sort: Arc<Sort>, scan: Box<SortedScan>, run: &RunContext) -> Self {
        let options = &run.statement.options;
        let ranges = Ranges {
            state: Mutex::new(State {
                scan: Some(scan),
                next: 0,
                wanted: 0,
                read: BTreeMap::new(),
                stop: false,
            }),
            changed: Condvar::new(),
            rows: options.batch_rows.saturating_mul(RANGE_BATCHES).max(1),
            ahead: RANGES_AHEAD * options.threads as u64,
        };
        let mut cursor = Self {
            own: None,
            batches: Vec::new().into_iter(),
            ranges: Arc::new(ranges),
            workers: Vec::new(),
            workers_max: options.threads.saturating_sub(1),
            sort,
        };
        if !cursor.start_workers(run) {
            run.statement.temp.resources().workers.count_refusal();
        }
        cursor
    }

    /// Starts remaining workers, as far as the pool admits them; whether all are started.
    fn start_workers(&mut self, run: &RunContext) -> bool {
        while self.workers.len() < self.workers_max {
            let workers = &run.statement.temp.resources().workers;
            let (ranges, run) = (Arc::clone(&self.ranges), run.clone());
            let work = move |worker: &Worker| work(&ranges, &run, worker);
            let Some(thread) = workers.spawn(work) else {
                return false;
            };
            self.workers.push(thread);
        }
        true
    }
}

impl Cursor for RangesCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(own) = &mut self.own {
                if let Some(batch) = own.next_batch()? {
                    return Ok(Some(self.sort.layout.strip(batch)));
                }
                self.own = None;
            }
            if let Some(batch) = self.batches.next() {
                return Ok(Some(self.sort.layout.strip(batch)));
            }
            run.statement.check_interrupt()?;
            self.start_workers(run);
            let ranges = Arc::clone(&self.ranges);
            let mut state = lock(&ranges.state);
            let wanted = state.wanted;
            if let Some(batches) = state.read.remove(&wanted) {
                state.wanted += 1;
                ranges.changed.notify_all();
                self.batches = batches?.into_iter();
            } else if state.next < wanted + ranges.ahead
                && let Some((number, mut range)) = state.take(ranges.rows)?
            {
                if number == wanted {
                    // No worker needs to wait for the last row of the range.
                    state.wanted += 1;
                    self.own = Some(range);
                } else {
                    drop(state);
                    let batches = read(&mut range, run);
                    lock(&ranges.state).read.insert(number, batches);
                }
            } else if wanted >= state.next {
                return Ok(None);
            } else {
                let waited = ranges.changed.wait_timeout(state, INTERRUPT_INTERVAL);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

impl Drop for RangesCursor {
    fn drop(&mut self) {
        lock(&self.ranges.state).stop = true;
        self.ranges.changed.notify_all();
        for worker in self.workers.drain(..) {
            // A panic of the worker was contained.
            let _ = worker.join();
        }
    }
}

/// Reads ranges until none is left, or the reader is gone.
fn work(ranges: &Ranges, run: &RunContext, worker: &Worker) {
    loop {
        let mut state = lock(&ranges.state);
        if !state.stop && state.next >= state.wanted + ranges.ahead {
            let is_far_ahead =
                |state: &mut State| !state.stop && state.next >= state.wanted + ranges.ahead;
            let waited = worker.waiting(|| ranges.changed.wait_while(state, is_far_ahead));
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if state.stop {
            return;
        }
        let number = state.next;
        let (number, batches) = match contain(|| state.take(ranges.rows)) {
            Ok(None) => return,
            Ok(Some((number, mut range))) => {
                drop(state);
                (number, contain(|| read(&mut range, run)))
            }
            Err(error) => {
                drop(state);
                (number, Err(error))
            }
        };
        lock(&ranges.state).read.insert(number, batches);
        ranges.changed.notify_all();
    }
}

fn read(range: &mut SortedScan, run: &RunContext) -> Result<Vec<Batch>> {
    let mut batches = Vec::with_capacity(RANGE_BATCHES);
    while let Some(batch) = range.next_batch()? {
        run.statement.check_interrupt()?;
        batches.push(batch);
    }
    Ok(batches)
}

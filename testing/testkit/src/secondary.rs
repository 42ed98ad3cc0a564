//! A secondary engine in this process, which keeps the parts of tables as batches in memory.
//!
//! A test holds it before a part, fails it, and reads what it keeps. What it keeps at its end is a leak: the engine has
//! not unloaded it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mayfly_offload::{Job, JobObserver};
use mayfly_types::Interrupt;

use crate::cluster::LocalCluster;
use mayfly_engine::{
    Batch, Error, LoadedColumn, Member, MemberState, PartToLoad, Result, Rows, SecondaryEngine,
    TableCall, TablePart, codes, value_at,
};

/// A part of a table.
#[derive(Debug, Clone)]
pub struct KeptPart {
    /// Database and name of the table.
    pub table: String,
    /// Its columns.
    pub columns: Vec<LoadedColumn>,
    /// The version of the snapshot that its rows are from.
    pub version: u64,
    /// Its rows.
    pub batches: Vec<Batch>,
}

impl KeptPart {
    /// Its rows as text: the values of a row between tabs.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        let row = |batch: &Batch, row: usize| {
            let values = self.columns.iter().zip(batch.columns());
            let values = values.map(|(column, array)| {
                let value = value_at(array, row);
                let text = mayfly_engine::format_value(&value, &column.ty);
                text.map_or_else(
                    || "NULL".to_owned(),
                    |text| String::from_utf8_lossy(&text).into_owned(),
                )
            });
            values.collect::<Vec<_>>().join("\t")
        };
        let batches = self.batches.iter();
        let rows = batches.flat_map(|batch| (0..batch.row_count()).map(move |at| row(batch, at)));
        rows.collect()
    }
}

#[derive(Debug, Default)]
struct State {
    parts: BTreeMap<String, KeptPart>,
    is_held: bool,
    waiting: usize,
    /// Number of rows after which a load fails.
    fails_after: Option<u64>,
    loaded: Vec<(String, u64)>,
}

/// A secondary engine of the name CLUSTER in this process.
#[derive(Debug)]
pub struct MemoryEngine {
    part_rows: u64,
    state: Mutex<State>,
    changed: Condvar,
    /// Its workers.
    pub cluster: LocalCluster,
}

impl MemoryEngine {
    /// An engine with parts of about `part_rows` rows.
    #[must_use]
    pub fn new(part_rows: u64) -> Arc<Self> {
        Arc::new(Self {
            part_rows,
            state: Mutex::default(),
            changed: Condvar::new(),
            cluster: LocalCluster::new(3, 64 << 20, &std::env::temp_dir()),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parts that it keeps, in the order of their loads.
    #[must_use]
    pub fn parts(&self) -> Vec<KeptPart> {
        let mut parts: Vec<_> = self.state().parts.clone().into_iter().collect();
        parts.sort_by_key(|(location, _)| location.parse::<u64>().unwrap_or(u64::MAX));
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The rows of all parts that it keeps of a table, as text.
    #[must_use]
    pub fn rows(&self, table: &str) -> Vec<String> {
        let mut parts = self.parts();
        parts.retain(|part| part.table == table);
        parts.iter().flat_map(KeptPart::rows).collect()
    }

    /// Makes loads wait before they take rows, or lets them go on.
    pub fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
        self.changed.notify_all();
    }

    /// Waits until a load waits.
    ///
    /// # Panics
    /// When none does within ten seconds.
    pub fn wait_for_load(&self) {
        let state = self.state();
        let waited = self
            .changed
            .wait_timeout_while(state, Duration::from_secs(10), |state| state.waiting == 0);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(state.waiting > 0, "no load has begun");
    }

    /// Makes each load of a part fail after some rows.
    pub fn fail_after(&self, rows: Option<u64>) {
        self.state().fails_after = rows;
    }

    /// The table and the number of rows of each part that was loaded since the last call.
    #[must_use]
    pub fn take_loaded(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.state().loaded)
    }

    fn failure(given: u64) -> Error {
        codes::ER_SECONDARY_ENGINE.with(&[&format!("The memory is full after {given} rows.")])
    }
}

impl SecondaryEngine for MemoryEngine {
    fn name(&self) -> &'static str {
        "CLUSTER"
    }

    fn part_rows(&self) -> u64 {
        self.part_rows
    }

    fn call(&self, call: TableCall) -> Option<TableCall> {
        Some(call)
    }

    fn partitions(&self) -> usize {
        self.cluster.partitions()
    }

    fn run(
        &self,
        job: &Arc<Job>,
        interrupt: &Interrupt,
        observer: &Arc<dyn JobObserver>,
    ) -> Result<Box<dyn Rows>> {
        let parts = |location: &str| {
            let part = self.state().parts.get(location).cloned();
            part.map_or(Vec::new(), |part| part.batches)
        };
        self.cluster.rows(job, &parts, interrupt, observer)
    }

    fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        let mut state = self.state();
        state.waiting += 1;
        self.changed.notify_all();
        while state.is_held {
            let waited = self.changed.wait_timeout(state, Duration::from_millis(5));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if let Err(killed) = part.interrupt.check() {
                state.waiting -= 1;
                return Err(killed);
            }
        }
        state.waiting -= 1;
        let fails_after = state.fails_after;
        drop(state);
        let (mut batches, mut given) = (Vec::new(), 0);
        while let Some(batch) = rows.next_batch()? {
            given += batch.row_count() as u64;
            batches.push(batch.with_own_strings());
            if fails_after.is_some_and(|rows| given > rows) {
                return Err(Self::failure(given));
            }
        }
        let location = part.number.to_string();
        let table = format!("{}.{}", part.database, part.table);
        let mut state = self.state();
        state.loaded.push((table.clone(), given));
        let kept = KeptPart {
            table,
            columns: part.columns.to_vec(),
            version: part.version,
            batches,
        };
        state.parts.insert(location.clone(), kept);
        Ok(TablePart {
            location,
            rows: given,
            bytes: 8 * given,
        })
    }

    fn unload(&self, part: &TablePart) -> Result<()> {
        self.state().parts.remove(&part.location);
        Ok(())
    }

    fn members(&self) -> Result<Vec<Member>> {
        Ok(vec![Member {
            name: "memory".to_owned(),
            role: "executor".to_owned(),
            address: "127.0.0.1:1".to_owned(),
            state: MemberState::Available,
            slots: 2,
            tasks: 0,
            memory_used: 0,
            memory_limit: 1 << 20,
            disk_used: 0,
        }])
    }
}

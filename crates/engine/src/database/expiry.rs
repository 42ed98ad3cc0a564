//! The end of shared temporary tables whose time to live is over, and of kept results that nobody can read any more.
//!
//! Before each statement, and once a second while there are such tables, the tables that are due are dropped. A table
//! whose lock some session holds is in use: it lives on until a transaction that uses it has ended. The check
//! before a statement costs one read of a number until some table is due, and no session sees a table that is over.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mayfly_types::Result;
use parking_lot::Mutex;

use super::Database;
use super::background::BackgroundThread;
use crate::catalog::BaseTable;
use crate::locks::table::{TableUse, try_take};

/// How often the thread looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// What ends by itself in a database, and when.
#[derive(Debug)]
pub(crate) struct Expiry {
    /// Nothing is due before: microseconds since 1970 UTC.
    next: Arc<AtomicI64>,
    /// Held while `next` changes, and until what is due has ended.
    changing: Mutex<()>,
    thread: Mutex<Option<BackgroundThread>>,
}

impl Default for Expiry {
    fn default() -> Self {
        Self {
            next: Arc::new(AtomicI64::new(i64::MAX)),
            changing: Mutex::default(),
            thread: Mutex::default(),
        }
    }
}

/// A thread that ends what is due.
fn expiry_thread(database: &Arc<Database>) -> Result<BackgroundThread> {
    let next = Arc::clone(&database.expiry.next);
    let clock = Arc::clone(&database.options.clock);
    let database: Weak<Database> = Arc::downgrade(database);
    BackgroundThread::start("expiry", INTERVAL, move |_| {
        // The database is held only while something is done for it.
        if next.load(Ordering::Relaxed) <= clock.now_utc_microseconds()
            && let Some(database) = database.upgrade()
        {
            database.end_all_due();
        }
        INTERVAL
    })
}

impl Database {
    /// Notes that something is due at a time.
    pub(crate) fn note_expiry(self: &Arc<Self>, at: i64) -> Result<()> {
        let mut thread = self.expiry.thread.lock();
        if thread.is_none() {
            *thread = Some(expiry_thread(self)?);
        }
        let _alone = self.expiry.changing.lock();
        self.expiry.next.fetch_min(at, Ordering::SeqCst);
        Ok(())
    }

    /// Ends what is due.
    #[inline]
    pub(crate) fn end_due(&self) {
        let next = self.expiry.next.load(Ordering::Relaxed);
        if next != i64::MAX && next <= self.options.clock.now_utc_microseconds() {
            self.end_all_due();
        }
    }

    #[cold]
    fn end_all_due(&self) {
        // A statement that finds something due waits for the one that ends it.
        let _alone = self.expiry.changing.lock();
        let now = self.options.clock.now_utc_microseconds();
        if self.expiry.next.load(Ordering::SeqCst) > now {
            return;
        }
        let mut tables = self.catalog.all_tables();
        tables.retain(|table| table.expiry().is_some());
        let is_due = |table: &&Arc<BaseTable>| table.expiry().is_some_and(|expiry| expiry <= now);
        for table in tables.iter().filter(is_due) {
            if !self.end_table(table) {
                // It is in use, or could not be dropped.
                table.note_use(now);
            }
        }
        // A table without a further use is due at its expiry, one in use as soon as that has ended.
        let left = tables.iter().filter(|table| {
            let definition = &table.definition;
            let known = self.catalog.table(&definition.database, &definition.name);
            known.is_some_and(|known| Arc::ptr_eq(&known, table))
        });
        let next = left.filter_map(|table| table.expiry());
        let soon = now.saturating_add(1_000_000);
        let next = next.map(|expiry| expiry.max(soon));
        let next = next.chain(self.results.end_due(now)).min();
        let next = next.unwrap_or(i64::MAX);
        self.expiry.next.store(next, Ordering::SeqCst);
    }

    /// Drops a table unless somebody uses it; returns whether it is gone.
    fn end_table(&self, table: &Arc<BaseTable>) -> bool {
        let Some(_definitions) = try_take(&self.definitions, TableUse::Write) else {
            return false;
        };
        let Some(_table) = try_take(table.lock(), TableUse::Alone) else {
            return false;
        };
        let dropped = self.volatile_store().and_then(|store| {
            let transaction = store.session(self.change_storage());
            self.catalog.drop_volatile(table, &transaction)
        });
        dropped.is_ok()
    }
}

//! Temporary tablespaces: files `temp_<n>.ibt` in the directory `#innodb_temp`.
//!
//! As in MySQL 8, a session takes one from a pool with its first table on disk and returns it when it ends, whereupon
//! it is truncated. Pages of dropped tables are reused by the session's next ones. Free pages are charged to the
//! session, used ones to their tables: a file's length is always charged to somebody.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_memory::io::IoBackend;
use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, IoFailure, MemoryError, Reservation, Result};

use super::buffer_pool::{BufferPool, PageId, State};
use super::page::{self, PAGE_BYTES};
use crate::file::TableFile;

const DIRECTORY: &str = "#innodb_temp";

/// Unused files of a pool.
#[derive(Debug, Default)]
struct Idle {
    files: Vec<(u64, Arc<TableFile>)>,
    next: u64,
    is_made: bool,
}

#[derive(Debug)]
struct Shared {
    io: Arc<dyn IoBackend>,
    directory: PathBuf,
    idle: Mutex<Idle>,
}

/// Next number of a tablespace in buffer pools; numbers are never reused.
static NEXT_SPACE: AtomicU64 = AtomicU64::new(0);

/// Pool of a database's tablespaces. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct TemporaryTablespaces(Arc<Shared>);

impl TemporaryTablespaces {
    /// A pool whose files are in a directory `#innodb_temp`, which is created in `parent` with the first one.
    pub fn new(io: Arc<dyn IoBackend>, parent: &Path) -> Self {
        Self(Arc::new(Shared {
            io,
            directory: parent.join(DIRECTORY),
            idle: Mutex::default(),
        }))
    }

    /// Takes a tablespace for a session. `session` is charged for the pages that no table uses.
    pub fn take(&self, session: &Budget) -> Result<SessionTablespace> {
        let mut idle = lock(&self.0.idle);
        let (number, file) = match idle.files.pop() {
            Some(file) => file,
            None => {
                self.make_directory(&mut idle)?;
                let number = idle.next + 1;
                let path = self.0.directory.join(format!("temp_{number}.ibt"));
                let file = TableFile::make(&self.0.io, path)?;
                idle.next = number;
                (number, Arc::new(file))
            }
        };
        Ok(SessionTablespace {
            pool: self.clone(),
            number,
            space: NEXT_SPACE.fetch_add(1, Ordering::Relaxed),
            file,
            pages: Mutex::new(Pages {
                free: Vec::new(),
                end: 0,
                idle: session.reservation(),
            }),
        })
    }

    fn make_directory(&self, idle: &mut Idle) -> Result<()> {
        if idle.is_made {
            return Ok(());
        }
        let made = self.0.io.create_dir(&self.0.directory);
        made.map_err(|source| {
            MemoryError::from(IoFailure {
                operation: "create",
                path: self.0.directory.clone(),
                offset: 0,
                bytes: 0,
                source,
            })
        })?;
        idle.is_made = true;
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let idle = self.idle.get_mut();
        let idle = idle.unwrap_or_else(std::sync::PoisonError::into_inner);
        idle.files.clear();
        if idle.is_made {
            let _ = self.io.remove_dir(&self.directory);
        }
    }
}

#[derive(Debug)]
struct Pages {
    free: Vec<u32>,
    end: u32,
    /// Reservation for the free pages.
    idle: Reservation,
}

/// Tablespace of a session. When the session and its tables have dropped it, it is truncated and returns to the pool.
#[derive(Debug)]
pub struct SessionTablespace {
    pool: TemporaryTablespaces,
    number: u64,
    space: u64,
    file: Arc<TableFile>,
    pages: Mutex<Pages>,
}

impl SessionTablespace {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Number in the file's name.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the file, and of its pages that no table uses.
    pub fn bytes(&self) -> (u64, u64) {
        let pages = lock(&self.pages);
        let bytes = |pages: u64| pages * PAGE_BYTES as u64;
        (bytes(u64::from(pages.end)), bytes(pages.free.len() as u64))
    }

    /// Truncates the file when no table uses any of it; MySQL does so only when the session ends.
    pub fn trim(&self) {
        let mut pages = lock(&self.pages);
        if pages.free.len() == pages.end as usize && self.file.set_len(0).is_ok() {
            pages.free.clear();
            pages.end = 0;
            pages.idle.free();
        }
    }

    fn take_page(&self, table: &mut Reservation) -> Result<u32> {
        let bytes = PAGE_BYTES as u64;
        let mut pages = lock(&self.pages);
        let Some(page) = pages.free.pop() else {
            let page = pages.end;
            if page == page::NO_PAGE {
                return Err(self.file.corrupt(0, PAGE_BYTES));
            }
            table.try_grow(bytes)?;
            pages.end += 1;
            return Ok(page);
        };
        pages.idle.shrink(bytes);
        if let Err(error) = table.try_grow(bytes) {
            pages.free.push(page);
            // The bytes were charged a moment ago; if another table has taken the room, the page is charged when it is
            // used.
            let _ = pages.idle.try_grow(bytes);
            return Err(error.into());
        }
        Ok(page)
    }

    fn give_pages(&self, freed: impl Iterator<Item = u32>, table: &mut Reservation) {
        let bytes = PAGE_BYTES as u64;
        let mut pages = lock(&self.pages);
        for page in freed {
            table.shrink(bytes);
            let _ = pages.idle.try_grow(bytes);
            pages.free.push(page);
        }
    }
}

impl Drop for SessionTablespace {
    fn drop(&mut self) {
        // A file that cannot be truncated is removed rather than reused.
        if self.file.set_len(0).is_ok() {
            let mut idle = lock(&self.pool.0.idle);
            idle.files.push((self.number, Arc::clone(&self.file)));
        }
    }
}

/// Pages of one table, freed when it is dropped.
#[derive(Debug)]
pub(super) struct TablePages {
    pool: BufferPool,
    tablespace: Arc<SessionTablespace>,
    reservation: Reservation,
    used: HashSet<u32>,
}

impl TablePages {
    pub(super) fn new(
        pool: &BufferPool,
        tablespace: &Arc<SessionTablespace>,
        budget: &Budget,
    ) -> Self {
        Self {
            pool: pool.clone(),
            tablespace: Arc::clone(tablespace),
            reservation: budget.reservation(),
            used: HashSet::new(),
        }
    }

    /// The locked pool.
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.pool.lock()
    }

    /// The identity of a page in the pool.
    #[inline]
    pub(super) fn id(&self, page: u32) -> PageId<'_> {
        PageId {
            file: &self.tablespace.file,
            space: self.tablespace.space,
            page,
        }
    }

    /// Allocates a page.
    pub(super) fn take(&mut self) -> Result<u32> {
        let page = self.tablespace.take_page(&mut self.reservation)?;
        self.used.insert(page);
        Ok(page)
    }

    /// Frees a page, which must not be used again.
    pub(super) fn give(&mut self, page: u32) {
        if self.used.remove(&page) {
            self.lock().forget(self.tablespace.space, page);
            let freed = std::iter::once(page);
            self.tablespace.give_pages(freed, &mut self.reservation);
        }
    }

    pub(super) fn corrupt(&self, page: u32, bytes: usize) -> MemoryError {
        let offset = u64::from(page) * PAGE_BYTES as u64;
        self.tablespace.file.corrupt(offset, bytes)
    }
}

impl Drop for TablePages {
    fn drop(&mut self) {
        let mut pool = self.pool.lock();
        for page in &self.used {
            pool.forget(self.tablespace.space, *page);
        }
        drop(pool);
        let used = std::mem::take(&mut self.used);
        let used = used.into_iter();
        self.tablespace.give_pages(used, &mut self.reservation);
    }
}

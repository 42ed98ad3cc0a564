//! Key cache: blocks of index files in memory, shared by all MyISAM-style tables that use it.
//!
//! It works as described in the manual's "The MyISAM Key Cache". A block that is read goes to the end of the warm
//! list; after three hits it goes to the end of the hot list, as long as the warm one keeps `key_cache_division_limit`
//! per cent of all blocks. A block at the beginning of the hot list that was not hit during the last `blocks ×
//! key_cache_age_threshold / 100` hits goes to the beginning of the warm list, where blocks are evicted. With a
//! division limit of 100, the default, there is no hot list, and the cache is a plain LRU. A changed block is written
//! when it is evicted, when the cache is resized, or by a flush: tables are private, so nothing asks for it sooner
//! (`delay_key_write`).
//!
//! One lock guards everything, as `cache_lock` does in MySQL; here it is also held while a block is read or written.
//! With less than 8 blocks the cache is off, and every access goes to the file.

mod caches;
mod state;

use std::sync::Arc;
use std::sync::Mutex;

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, Result};

use self::state::State;
use super::file::TableFile;

pub use caches::KeyCaches;

/// Settings of a key cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCacheOptions {
    /// `key_buffer_size`: bytes of all blocks and their overhead; 0 for no cache.
    pub key_buffer_size: u64,
    /// `key_cache_block_size`: 512 to 16384, a multiple of 512.
    pub block_size: u32,
    /// `key_cache_division_limit`: percentage of the blocks that the warm list keeps, 1 to 100.
    pub division_limit: u32,
    /// `key_cache_age_threshold`: number of hits, as a percentage of the blocks, after which a hot block is warm
    /// again.
    pub age_threshold: u32,
}

impl Default for KeyCacheOptions {
    fn default() -> Self {
        Self {
            key_buffer_size: 8 << 20,
            block_size: 1024,
            division_limit: 100,
            age_threshold: 300,
        }
    }
}

/// Counters of one cache, as SHOW STATUS shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyCacheCounters {
    /// `Key_blocks_not_flushed`: changed blocks that are not written yet.
    pub blocks_not_flushed: u64,
    /// `Key_blocks_unused`: empty blocks.
    pub blocks_unused: u64,
    /// `Key_blocks_used`: peak of the blocks in use.
    pub blocks_used: u64,
    /// `Key_read_requests`: requests to read a block.
    pub read_requests: u64,
    /// `Key_reads`: blocks read from their file.
    pub reads: u64,
    /// `Key_write_requests`: requests to write a block.
    pub write_requests: u64,
    /// `Key_writes`: blocks written to their file.
    pub writes: u64,
}

impl std::ops::AddAssign for KeyCacheCounters {
    fn add_assign(&mut self, other: Self) {
        self.blocks_not_flushed += other.blocks_not_flushed;
        self.blocks_unused += other.blocks_unused;
        self.blocks_used += other.blocks_used;
        self.read_requests += other.read_requests;
        self.reads += other.reads;
        self.write_requests += other.write_requests;
        self.writes += other.writes;
    }
}

/// Key cache. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct KeyCache(Arc<Mutex<State>>);

impl KeyCache {
    /// A cache whose blocks are charged to `memory` as they come into use.
    pub fn new(options: KeyCacheOptions, memory: &Budget) -> Self {
        Self(Arc::new(Mutex::new(State::new(options, memory))))
    }

    /// The settings.
    pub fn options(&self) -> KeyCacheOptions {
        lock(&self.0).options()
    }

    /// Changes the settings while tables use the cache. When the number or the size of its blocks changes, changed
    /// blocks are written, and the cache is emptied.
    pub fn set_options(&self, options: KeyCacheOptions) -> Result<()> {
        lock(&self.0).set_options(options)
    }

    /// The counters.
    pub fn counters(&self) -> KeyCacheCounters {
        lock(&self.0).counters()
    }

    /// Resets the counters of requests (FLUSH STATUS).
    pub fn reset_counters(&self) {
        lock(&self.0).reset_counters();
    }

    /// Writes all changed blocks.
    pub fn flush(&self) -> Result<()> {
        lock(&self.0).flush()
    }

    /// Opens a file through the cache.
    pub(super) fn open(&self, file: Arc<TableFile>) -> CachedFile {
        let number = lock(&self.0).add_file(Arc::clone(&file));
        CachedFile {
            cache: self.clone(),
            file,
            number,
        }
    }
}

/// File that is read and written through a key cache. When this is dropped, its blocks leave the cache unwritten.
#[derive(Debug)]
pub(super) struct CachedFile {
    cache: KeyCache,
    file: Arc<TableFile>,
    number: u64,
}

impl CachedFile {
    pub(super) fn file(&self) -> &TableFile {
        &self.file
    }

    /// Reads `bytes` at an offset; returns whether any of them came from the file itself.
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<bool> {
        lock(&self.cache.0).read(self.number, &self.file, bytes, offset)
    }

    /// Writes `bytes` at an offset.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        lock(&self.cache.0).write(self.number, &self.file, bytes, offset)
    }
}

impl Drop for CachedFile {
    fn drop(&mut self) {
        lock(&self.cache.0).forget(self.number);
    }
}

#[cfg(test)]
mod tests;

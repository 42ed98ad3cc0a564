//! The engines of internal temporary tables before TempTable: their shared state, and the variables that configure
//! it. Nothing is created before a statement uses one of them.

use std::sync::Arc;

use mayfly_legacy::{
    BufferPool, KeyCacheCounters, KeyCacheOptions, KeyCaches, LegacyDirectory, LegacyEnvironment,
    LegacyOptions, LegacyTables, SessionDisk, TemporaryTablespaces,
};
use mayfly_memory::io::IoBackend;
use mayfly_memory::{Budget, BudgetKind, TempDirectory, TempSpace};
use mayfly_storage::InternalTableEngine;
use mayfly_types::Result;
use parking_lot::Mutex;

use crate::budgets::{part, part_limit};
use crate::options::DatabaseOptions;
use crate::statement_options::StatementOptions;
use crate::variables::structured::{Component, StructuredName};
use crate::variables::{Settings, typed};

/// Shared state of the engines that held internal temporary tables before TempTable.
#[derive(Debug)]
pub(crate) struct LegacyEngines {
    io: Arc<dyn IoBackend>,
    space: TempSpace,
    pub(crate) key_caches: KeyCaches,
    buffer_pool: BufferPool,
    opened: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    environment: LegacyEnvironment,
    // Dropped after the files in it.
    _directory: TempDirectory,
}

impl LegacyEngines {
    /// Empty caches of the variables' sizes. They persist between statements, and have limits of their own.
    pub(crate) fn new(options: &DatabaseOptions, globals: &Settings, space: &TempSpace) -> Self {
        // Each cache observes its own size, which may change.
        let limit = part(options, u64::MAX).saturating_mul(2);
        let root = |setting| Budget::root(BudgetKind::Memory, setting, limit);
        let keys = root("key_buffer_size");
        let pages = root("innodb_buffer_pool_size");
        let pool_bytes = part_limit(options, globals, typed::INNODB_BUFFER_POOL_SIZE);
        Self {
            io: Arc::clone(&options.temp_io),
            space: space.clone(),
            key_caches: KeyCaches::new(key_cache(options, globals), &keys),
            buffer_pool: BufferPool::new(pool_bytes, &pages),
            opened: Mutex::new(None),
        }
    }

    /// Applies the variables' cache sizes.
    pub(crate) fn set(&self, options: &DatabaseOptions, globals: &Settings) {
        // A failed write is reported by the statement that owns the pages.
        let _ = self
            .key_caches
            .set_options(KeyCaches::DEFAULT, key_cache(options, globals));
        let bytes = part_limit(options, globals, typed::INNODB_BUFFER_POOL_SIZE);
        let _ = self.buffer_pool.set_bytes(bytes);
    }

    /// Changes a setting of a named key cache, which is created if needed.
    pub(crate) fn set_key_cache(
        &self,
        options: &DatabaseOptions,
        name: &StructuredName,
        value: u64,
    ) {
        let mut settings = self.key_caches.options(&name.instance);
        let value = match name.component {
            Component::BufferSize => part(options, value),
            _ => value,
        };
        name.component.set(&mut settings, value);
        // A failed write is reported by the statement that owns the blocks.
        let _ = self.key_caches.set_options(&name.instance, settings);
    }

    fn environment(&self) -> Result<LegacyEnvironment> {
        let mut opened = self.opened.lock();
        if let Some(opened) = &*opened {
            return Ok(opened.environment.clone());
        }
        let directory = self.space.make_directory();
        let directory =
            directory.map_err(|error| mayfly_storage::user_error(&error, "(temporary)"))?;
        let (io, path) = (&self.io, directory.path());
        let process = std::process::id();
        let environment = LegacyEnvironment {
            directory: Arc::new(LegacyDirectory::new(Arc::clone(io), path.into(), process)),
            tablespaces: TemporaryTablespaces::new(Arc::clone(io), path),
            buffer_pool: self.buffer_pool.clone(),
        };
        *opened = Some(Opened {
            environment: environment.clone(),
            _directory: directory,
        });
        Ok(environment)
    }

    /// The initial state of a session's temporary tables.
    pub(crate) fn session_disk(&self, session: &Budget) -> SessionDisk {
        SessionDisk::new(self.key_caches.default_cache().clone(), session)
    }

    /// The engine of a statement's internal temporary tables, if its settings select one of these.
    pub(crate) fn tables(
        &self,
        options: &StatementOptions,
        disk: impl FnOnce() -> SessionDisk,
    ) -> Option<Arc<dyn InternalTableEngine>> {
        let disk_engine = options.legacy_engine?;
        Some(Arc::new(LegacyTables {
            environment: self.environment(),
            disk: disk(),
            options: LegacyOptions {
                tmp_table_size: options.tmp_table_size,
                max_heap_table_size: options.max_heap_table_size,
                tmp_disk_table_size: options.tmp_disk_table_size,
                big_tables: options.big_tables,
                read_buffer_size: options.read_buffer_size,
                disk_engine,
            },
        }))
    }

    /// `Key_…` of SHOW STATUS.
    pub(crate) fn status(&self) -> [(&'static str, u64); 7] {
        let KeyCacheCounters {
            blocks_not_flushed,
            blocks_unused,
            blocks_used,
            read_requests,
            reads,
            write_requests,
            writes,
        } = self.key_caches.default_cache().counters();
        [
            ("Key_blocks_not_flushed", blocks_not_flushed),
            ("Key_blocks_unused", blocks_unused),
            ("Key_blocks_used", blocks_used),
            ("Key_read_requests", read_requests),
            ("Key_reads", reads),
            ("Key_write_requests", write_requests),
            ("Key_writes", writes),
        ]
    }

    /// FLUSH STATUS
    pub(crate) fn flush_status(&self) {
        for (_, cache) in self.key_caches.all() {
            cache.reset_counters();
        }
    }
}

fn key_cache(options: &DatabaseOptions, globals: &Settings) -> KeyCacheOptions {
    let small = |variable| u32::try_from(globals.get(variable)).unwrap_or(u32::MAX);
    KeyCacheOptions {
        key_buffer_size: part_limit(options, globals, typed::KEY_BUFFER_SIZE),
        block_size: small(typed::KEY_CACHE_BLOCK_SIZE),
        division_limit: small(typed::KEY_CACHE_DIVISION_LIMIT),
        age_threshold: small(typed::KEY_CACHE_AGE_THRESHOLD),
    }
}

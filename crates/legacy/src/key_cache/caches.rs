//! Key caches of a database: the default one and named ones.
//!
//! `SET GLOBAL hot.key_buffer_size = 1048576` creates a cache named `hot`; setting its size to 0 drops it, and the
//! default one is used again. The default one cannot be dropped. Tables keep the cache that they were created with. A
//! cache may get its other settings before its size; until then it holds nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, Result};

use super::{KeyCache, KeyCacheCounters, KeyCacheOptions};

/// Set of key caches. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct KeyCaches {
    default: KeyCache,
    named: Arc<Mutex<BTreeMap<String, KeyCache>>>,
    memory: Budget,
}

impl KeyCaches {
    /// Name of the cache that always exists.
    pub const DEFAULT: &'static str = "default";

    /// The default cache alone. The blocks of all caches are charged to `memory`.
    pub fn new(options: KeyCacheOptions, memory: &Budget) -> Self {
        Self {
            default: KeyCache::new(options, memory),
            named: Arc::default(),
            memory: memory.clone(),
        }
    }

    /// The default cache.
    pub fn default_cache(&self) -> &KeyCache {
        &self.default
    }

    /// The cache of a name, compared case-insensitively.
    pub fn get(&self, name: &str) -> Option<KeyCache> {
        let name = name.to_lowercase();
        if name == Self::DEFAULT || name.is_empty() {
            return Some(self.default.clone());
        }
        lock(&self.named).get(&name).cloned()
    }

    /// The settings of a cache; for one that does not exist the defaults, without a size.
    pub fn options(&self, name: &str) -> KeyCacheOptions {
        let missing = KeyCacheOptions {
            key_buffer_size: 0,
            ..KeyCacheOptions::default()
        };
        self.get(name).map_or(missing, |cache| cache.options())
    }

    /// Changes the settings of a cache, which is created if it does not exist. The size 0 drops a named one that had a
    /// size.
    pub fn set_options(&self, name: &str, options: KeyCacheOptions) -> Result<()> {
        match self.get(name) {
            Some(cache) => {
                let had_size = cache.options().key_buffer_size > 0;
                cache.set_options(options)?;
                if had_size && options.key_buffer_size == 0 {
                    lock(&self.named).remove(&name.to_lowercase());
                }
            }
            None => {
                let cache = KeyCache::new(options, &self.memory);
                lock(&self.named).insert(name.to_lowercase(), cache);
            }
        }
        Ok(())
    }

    /// The caches with their names, the default one first.
    pub fn all(&self) -> Vec<(String, KeyCache)> {
        let mut all = vec![(Self::DEFAULT.to_owned(), self.default.clone())];
        let named = lock(&self.named);
        all.extend(
            named
                .iter()
                .map(|(name, cache)| (name.clone(), cache.clone())),
        );
        all
    }

    /// Sums of all caches' counters.
    pub fn total(&self) -> KeyCacheCounters {
        let mut total = KeyCacheCounters::default();
        for (_, cache) in self.all() {
            total += cache.counters();
        }
        total
    }
}

//! Tests of small caches, with lists and counters computed by hand.

use std::sync::Arc;

use mayfly_memory::io::{IoBackend, SystemIo};
use mayfly_memory::{Budget, BudgetKind};

use super::*;

const SIZE: usize = 1024;

struct Fixture {
    _directory: tempfile::TempDir,
    cache: KeyCache,
    file: CachedFile,
    memory: Budget,
}

fn options(blocks: usize, division_limit: u32, age_threshold: u32) -> KeyCacheOptions {
    KeyCacheOptions {
        key_buffer_size: State::bytes_of(blocks, SIZE),
        block_size: SIZE as u32,
        division_limit,
        age_threshold,
    }
}

/// A cache over a file of 32 blocks, each filled with its number.
fn fixture(options: KeyCacheOptions) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let io: Arc<dyn IoBackend> = Arc::new(SystemIo);
    let file = TableFile::make(&io, directory.path().join("#sql_1_0.MYI")).unwrap();
    for block in 0..32 {
        file.write_at(&[block as u8; SIZE], block * SIZE as u64)
            .unwrap();
    }
    let memory = Budget::unlimited(BudgetKind::Memory);
    let cache = KeyCache::new(options, &memory);
    let file = cache.open(Arc::new(file));
    Fixture {
        _directory: directory,
        cache,
        file,
        memory,
    }
}

impl Fixture {
    fn read(&self, block: u64) -> bool {
        let mut bytes = [0; SIZE];
        let is_from_file = self.file.read(&mut bytes, block * SIZE as u64).unwrap();
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        is_from_file
    }

    fn write(&self, block: u64, byte: u8) {
        self.file.write(&[byte; SIZE], block * SIZE as u64).unwrap();
    }

    fn lists(&self) -> (Vec<u64>, Vec<u64>) {
        lock(&self.cache.0).lists()
    }

    fn byte_in_file(&self, block: u64) -> u8 {
        let mut byte = [0];
        let file = self.file.file();
        file.read_exact_at(&mut byte, block * SIZE as u64).unwrap();
        byte[0]
    }
}

#[test]
fn the_least_recently_used_block_goes_first() {
    let cache = fixture(options(8, 100, 300));
    for block in 0..8 {
        assert!(cache.read(block));
    }
    assert!(!cache.read(0));
    assert!(cache.read(8));
    // Block 1 was evicted for block 8.
    assert_eq!(cache.lists(), (vec![2, 3, 4, 5, 6, 7, 0, 8], vec![]));
    let expected = KeyCacheCounters {
        blocks_not_flushed: 0,
        blocks_unused: 0,
        blocks_used: 8,
        read_requests: 10,
        reads: 9,
        write_requests: 0,
        writes: 0,
    };
    assert_eq!(cache.cache.counters(), expected);
}

#[test]
fn changed_blocks_are_written_when_their_place_is_needed() {
    let cache = fixture(options(8, 100, 300));
    for block in 0..8 {
        cache.write(block, 100);
    }
    // Blocks that are written as a whole are not read before.
    let counters = cache.cache.counters();
    assert_eq!((counters.write_requests, counters.reads), (8, 0));
    assert_eq!((counters.blocks_not_flushed, counters.writes), (8, 0));
    assert_eq!(cache.byte_in_file(0), 0);
    cache.read(20);
    let counters = cache.cache.counters();
    assert_eq!((counters.blocks_not_flushed, counters.writes), (7, 1));
    assert_eq!((cache.byte_in_file(0), cache.byte_in_file(1)), (100, 1));
    cache.cache.flush().unwrap();
    let counters = cache.cache.counters();
    assert_eq!((counters.blocks_not_flushed, counters.writes), (0, 8));
    assert_eq!(cache.byte_in_file(7), 100);
    // A block of which a part is written is read before, if it is not in the cache.
    cache.file.write(&[7; 512], 9 * SIZE as u64).unwrap();
    let mut bytes = [0; SIZE];
    cache.file.read(&mut bytes, 9 * SIZE as u64).unwrap();
    assert_eq!((bytes[0], bytes[511], bytes[512]), (7, 7, 9));
    assert_eq!(cache.cache.counters().reads, 2);
}

#[test]
fn hot_blocks_stay_and_become_warm_again() {
    // At least 4 + 1 of 10 blocks are warm, and a hot block is warm again after 10 hits.
    let cache = fixture(options(10, 40, 100));
    for block in 0..10 {
        cache.read(block);
    }
    // The third hit makes a block hot: hits 11 and 12.
    cache.read(3);
    assert_eq!(cache.lists().1, [] as [u64; 0]);
    cache.read(3);
    assert_eq!(cache.lists().1, [3]);
    // A scan of other blocks does not evict it: hits 13 to 21.
    for block in 10..19 {
        cache.read(block);
    }
    assert_eq!(cache.lists(), ((10..19).collect(), vec![3]));
    // Hit 22 is 10 after its last one, hit 23 is 11 after: it is the first to be evicted.
    cache.read(18);
    assert_eq!(cache.lists().1, [3]);
    cache.read(18);
    assert_eq!(cache.lists().0[0], 3);
    cache.read(20);
    assert!(!cache.lists().0.contains(&3));
    // 18 has had three hits since, and is hot.
    assert_eq!(cache.lists().1, [18]);
}

#[test]
fn warm_blocks_do_not_get_fewer_than_their_share() {
    let cache = fixture(options(10, 90, 300));
    for block in 0..10 {
        cache.read(block);
    }
    // 9 + 1 blocks must stay warm: there is no room for a hot one.
    for _ in 0..5 {
        cache.read(2);
    }
    assert_eq!(cache.lists().1, [] as [u64; 0]);
}

#[test]
fn without_memory_every_access_goes_to_the_file() {
    let cache = fixture(options(7, 100, 300));
    assert!(cache.read(4) && cache.read(4));
    cache.write(4, 99);
    assert_eq!(cache.byte_in_file(4), 99);
    let expected = KeyCacheCounters {
        read_requests: 2,
        reads: 2,
        write_requests: 1,
        writes: 1,
        ..KeyCacheCounters::default()
    };
    assert_eq!(cache.cache.counters(), expected);
    assert_eq!(cache.memory.used(), 0);
}

#[test]
fn a_cache_is_resized_while_it_is_used() {
    let cache = fixture(options(8, 100, 300));
    cache.write(1, 50);
    let other = KeyCacheOptions {
        key_buffer_size: State::bytes_of(20, 4096),
        block_size: 4096,
        ..options(0, 100, 300)
    };
    cache.cache.set_options(other).unwrap();
    assert_eq!(cache.byte_in_file(1), 50);
    assert_eq!(cache.cache.counters().blocks_unused, 20);
    let mut byte = [0];
    cache.file.read(&mut byte, SIZE as u64).unwrap();
    assert_eq!(byte, [50]);
    // One request of six blocks of the file: two of the cache, of which the first is present.
    let mut bytes = [0; 6 * SIZE];
    cache.file.read(&mut bytes, 2 * SIZE as u64).unwrap();
    assert_eq!(
        bytes.chunks(SIZE).map(|block| block[0]).collect::<Vec<_>>(),
        [2, 3, 4, 5, 6, 7]
    );
    let counters = cache.cache.counters();
    assert_eq!((counters.read_requests, counters.reads), (3, 2));
    let off = KeyCacheOptions {
        key_buffer_size: 0,
        ..other
    };
    cache.cache.set_options(off).unwrap();
    assert_eq!(cache.memory.used(), 0);
    assert!(cache.read(3));
}

#[test]
fn blocks_of_a_dropped_file_are_free_and_not_written() {
    let cache = fixture(options(8, 100, 300));
    cache.write(1, 50);
    cache.read(2);
    let Fixture {
        cache,
        file,
        _directory,
        memory,
    } = cache;
    drop(file);
    let counters = cache.counters();
    assert_eq!((counters.blocks_unused, counters.writes), (8, 0));
    assert_eq!((counters.blocks_used, counters.blocks_not_flushed), (2, 0));
    assert!(memory.used() > 0);
    drop(cache);
    assert_eq!(memory.used(), 0);
}

#[test]
fn named_caches_are_made_by_a_size_and_dropped_by_0() {
    let memory = Budget::unlimited(BudgetKind::Memory);
    let caches = KeyCaches::new(options(8, 100, 300), &memory);
    assert!(caches.get("hot").is_none());
    assert_eq!(caches.options("hot").key_buffer_size, 0);
    caches.set_options("Hot", options(9, 100, 300)).unwrap();
    assert_eq!(caches.get("hot").unwrap().counters().blocks_unused, 9);
    let names = |caches: &KeyCaches| caches.all().into_iter().map(|(name, _)| name);
    assert!(names(&caches).eq(["default", "hot"]));
    assert_eq!(caches.total().blocks_unused, 17);
    caches.set_options("HOT", options(0, 100, 300)).unwrap();
    assert!(names(&caches).eq(["default"]));
    caches.set_options("cold", options(0, 50, 300)).unwrap();
    assert_eq!(caches.options("Cold").division_limit, 50);
    caches.set_options("cold", options(9, 50, 300)).unwrap();
    assert_eq!(caches.total().blocks_unused, 17);
    caches.set_options("cold", options(0, 50, 300)).unwrap();
    assert!(caches.get("cold").is_none());
    caches.set_options("default", options(0, 100, 300)).unwrap();
    assert_eq!(caches.total().blocks_unused, 0);
    assert!(caches.get("default").is_some());
}

#[test]
fn memory_that_is_refused_makes_the_cache_smaller() {
    let cache = fixture(options(8, 100, 300));
    drop(cache);
    let directory = tempfile::tempdir().unwrap();
    let io: Arc<dyn IoBackend> = Arc::new(SystemIo);
    let file = TableFile::make(&io, directory.path().join("#sql_1_0.MYI")).unwrap();
    file.write_at(&[5; 4 * SIZE], 0).unwrap();
    let memory = Budget::root(BudgetKind::Memory, "memory_limit", 1000);
    let cache = KeyCache::new(options(1000, 100, 300), &memory);
    let file = cache.open(Arc::new(file));
    let mut bytes = [0; SIZE];
    assert!(file.read(&mut bytes, 0).unwrap() && file.read(&mut bytes, 0).unwrap());
    file.write(&[6; SIZE], 0).unwrap();
    assert!(file.read(&mut bytes, 0).unwrap());
    assert_eq!((bytes[0], cache.counters().blocks_not_flushed), (6, 0));
}

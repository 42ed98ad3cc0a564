//! Model tests of the tree and the rows, and of their requests to the key cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_memory::io::{IoBackend, SystemIo};
use mayfly_memory::{Budget, BudgetKind};

use super::*;
use crate::file::TableFile;
use crate::key_cache::{CachedFile, KeyCacheOptions};
use crate::refusal::Refusal;

fn cached_file(key_buffer_size: u64) -> (CachedFile, KeyCache, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let io: Arc<dyn IoBackend> = Arc::new(SystemIo);
    let file = TableFile::make(&io, directory.path().join("#sql_1_0.MYI")).unwrap();
    let options = KeyCacheOptions {
        key_buffer_size,
        ..KeyCacheOptions::default()
    };
    let cache = KeyCache::new(options, &Budget::unlimited(BudgetKind::Memory));
    (cache.open(Arc::new(file)), cache, directory)
}

fn tree(key_max: usize, key_buffer_size: u64) -> (KeyTree, KeyCache, tempfile::TempDir) {
    let (file, cache, directory) = cached_file(key_buffer_size);
    let space = Budget::unlimited(BudgetKind::TempSpace);
    (KeyTree::new(file, key_max, &space), cache, directory)
}

fn key(n: u64, length: usize) -> Vec<u8> {
    let mut key = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes().to_vec();
    key.resize(length, b'x');
    key
}

#[test]
fn keys_are_found_with_every_cache() {
    for bytes in [0, 12_000, 1 << 20] {
        for length in [8, 40, 300, 1000] {
            let (mut tree, ..) = tree(length, bytes);
            let mut expected = BTreeMap::new();
            for n in 0..2000 {
                let key = key(n % 1500, length - (n as usize % 1500) % 8);
                let found = tree.insert(&key, n).unwrap();
                assert_eq!(found, expected.get(&key).copied());
                expected.entry(key).or_insert(n);
            }
            for (key, position) in &expected {
                assert_eq!(tree.insert(key, u64::MAX >> 16).unwrap(), Some(*position));
            }
        }
    }
}

#[test]
fn ascending_keys_fill_their_pages() {
    let (mut tree, ..) = tree(8, 1 << 20);
    for n in 0_u64..6700 {
        tree.insert(&n.to_be_bytes(), n).unwrap();
    }
    // (1024 - 2 - 4) / 15 = 67 entries on a leaf: 100 leaves and a few pages above.
    assert!((100..112).contains(&tree.pages()), "{}", tree.pages());
}

#[test]
fn requests_are_one_for_each_level() {
    let (mut tree, cache, _directory) = tree(8, 1 << 20);
    // The first 67 keys: the root is read once for each but the first, and written for each.
    for n in 0_u64..67 {
        tree.insert(&n.to_be_bytes(), n).unwrap();
    }
    let counters = cache.counters();
    assert_eq!((counters.read_requests, counters.write_requests), (66, 67));
    assert_eq!((counters.reads, counters.writes), (0, 0));
    assert_eq!(counters.blocks_not_flushed, 1);
    // The 68th splits it: one page is read, and three are written.
    tree.insert(&67_u64.to_be_bytes(), 67).unwrap();
    let counters = cache.counters();
    assert_eq!((counters.read_requests, counters.write_requests), (67, 70));
    assert_eq!(counters.blocks_not_flushed, 3);
    // Two levels now, and a key that is found is not written.
    assert_eq!(tree.insert(&9_u64.to_be_bytes(), 0).unwrap(), Some(9));
    let counters = cache.counters();
    assert_eq!((counters.read_requests, counters.write_requests), (69, 70));
    assert_eq!(counters.reads, 0);
}

#[test]
fn entries_of_one_hash_are_all_visited() {
    let (file, _, _directory) = cached_file(20_000);
    let space = Budget::unlimited(BudgetKind::TempSpace);
    let mut tree = KeyTree::of_hashes(file, &space);
    for n in 0_u64..3000 {
        tree.insert(&((n % 7) as u32).to_be_bytes(), n).unwrap();
    }
    for hash in 0..8_u32 {
        let mut found = Vec::new();
        let visit = |position| {
            found.push(position);
            Ok(false)
        };
        tree.visit(&hash.to_be_bytes(), visit).unwrap();
        let expected: Vec<u64> = (0..3000).filter(|n| n % 7 == u64::from(hash)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let (mut tree, ..) = tree(40, 1 << 20);
    let refused = tree.insert(&[1; 41], 0).unwrap_err();
    assert!(matches!(refused, Refusal::LongKey));
}

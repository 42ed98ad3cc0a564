//! Model tests of trees, in pools from one page on; tests of overflow pages and tablespaces.

use std::collections::BTreeMap;

use mayfly_memory::BudgetKind;
use mayfly_memory::io::SystemIo;

use super::*;

struct Fixture {
    directory: tempfile::TempDir,
    tablespaces: TemporaryTablespaces,
    pool: BufferPool,
    memory: Budget,
    space: Budget,
}

fn fixture(pool_bytes: u64) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let memory = Budget::unlimited(BudgetKind::Memory);
    Fixture {
        tablespaces: TemporaryTablespaces::new(Arc::new(SystemIo), directory.path()),
        directory,
        pool: BufferPool::new(pool_bytes, &memory),
        memory,
        space: Budget::unlimited(BudgetKind::TempSpace),
    }
}

impl Fixture {
    fn pages(&self) -> TablePages {
        let tablespace = Arc::new(self.tablespaces.take(&self.space).unwrap());
        TablePages::new(&self.pool, &tablespace, &self.space)
    }
}

fn key(n: u64, length: usize) -> Vec<u8> {
    let mut key = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes().to_vec();
    key.resize(length, b'x');
    key
}

#[test]
fn a_tree_is_a_map_in_pools_of_every_size() {
    for pool_bytes in [0, 200_000, 16 << 20] {
        let fixture = fixture(pool_bytes);
        let mut pages = fixture.pages();
        let mut tree = Tree::create(&mut pages).unwrap();
        let mut model = BTreeMap::new();
        for n in 0..3000_u64 {
            let key = key(n % 2000, 8 + (n % 2000) as usize % 300);
            // Up to half a page, the largest row.
            let length = (n as usize * 7919) % if n % 50 == 0 { ROW_MAX } else { 90 };
            let value = vec![n as u8; length];
            tree.insert(&mut pages, &key, &value).unwrap();
            model.insert(key, value);
        }
        let mut cursor = LeafCursor::default();
        for (key, value) in &model {
            let (found, stored) = tree.next(&pages, &mut cursor).unwrap().unwrap();
            assert_eq!((found, stored), (&key[..], &value[..]));
            let mut got = Vec::new();
            assert!(tree.get(&pages, key, &mut got).unwrap());
            assert_eq!(got, *value);
        }
        assert!(tree.next(&pages, &mut cursor).unwrap().is_none());
        let mut found = Vec::new();
        assert!(!tree.get(&pages, &key(5000, 9), &mut found).unwrap());
        for n in 0..200 {
            let from = key(n * 31, 9);
            let expected = model
                .range(from.clone()..)
                .next()
                .map(|(key, _)| key.clone());
            let is_found = tree.first_from(&pages, &from, &mut found).unwrap();
            assert_eq!(is_found.then_some(&found), expected.as_ref());
        }
        let counters = fixture.pool.counters();
        assert_eq!(counters.writes > 0, pool_bytes < 16 << 20, "{counters:?}");
        drop(pages);
        assert_eq!(fixture.space.used(), 0);
        assert_eq!(fixture.pool.counters().pages, 0);
    }
}

#[test]
fn ascending_row_ids_fill_their_pages() {
    let fixture = fixture(1 << 20);
    let mut pages = fixture.pages();
    let mut tree = Tree::create(&mut pages).unwrap();
    for n in 0..10_000_u64 {
        tree.insert(&mut pages, &row_key(n), &[7; 88]).unwrap();
    }
    // An entry takes 4 + 6 + 88 + 2 = 100 bytes, 163 on a page: 62 leaves, and a root.
    let bytes = fixture.space.used();
    assert_eq!(bytes, 63 * PAGE_BYTES as u64);
}

#[test]
fn long_values_go_to_pages_of_their_own_and_back() {
    let fixture = fixture(100_000);
    let mut pages = fixture.pages();
    let mut values = Vec::new();
    for n in 0..20_usize {
        let value = vec![n as u8; n * 5000];
        values.push((write_value(&mut pages, &value).unwrap(), value));
    }
    for (external, value) in &values {
        let mut read = Vec::new();
        read_value(&pages, *external, &mut read).unwrap();
        assert_eq!(read, *value);
    }
    for (external, value) in values {
        let before = fixture.space.used();
        overflow::free_value(&mut pages, external).unwrap();
        // Free pages are charged to the session now.
        assert_eq!(fixture.space.used(), before);
        assert_eq!(external.length, value.len() as u64);
    }
}

#[test]
fn a_tablespace_goes_back_to_the_pool_and_is_truncated() {
    let fixture = fixture(0);
    let path = fixture.directory.path().join("#innodb_temp");
    assert!(!path.exists());
    let session = fixture.space.child("session", u64::MAX);
    let table = fixture.space.child("table", u64::MAX);
    let first = Arc::new(fixture.tablespaces.take(&session).unwrap());
    let second = fixture.tablespaces.take(&session).unwrap();
    assert_eq!(first.path(), path.join("temp_1.ibt"));
    assert_eq!(second.path(), path.join("temp_2.ibt"));
    let mut pages = TablePages::new(&fixture.pool, &first, &table);
    let mut tree = Tree::create(&mut pages).unwrap();
    for n in 0..2000 {
        tree.insert(&mut pages, &row_key(n), &[1; 200]).unwrap();
    }
    let (bytes, free) = first.bytes();
    assert_eq!((table.used(), session.used(), free), (bytes, 0, 0));
    assert!(std::fs::metadata(first.path()).unwrap().len() > 0);
    first.trim();
    assert_eq!(first.bytes(), (bytes, 0));
    drop((tree, pages));
    assert_eq!(first.bytes(), (bytes, bytes));
    assert_eq!((table.used(), session.used()), (0, bytes));
    // The next table uses these pages again.
    let mut pages = TablePages::new(&fixture.pool, &first, &table);
    Tree::create(&mut pages).unwrap();
    assert_eq!(fixture.space.used(), bytes);
    drop(pages);
    first.trim();
    assert_eq!((first.bytes(), session.used()), ((0, 0), 0));
    let file = first.path().to_owned();
    drop(first);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
    let again = fixture.tablespaces.take(&session).unwrap();
    assert_eq!(again.path(), file);
    drop((again, second));
    drop(fixture.tablespaces);
    assert!(!path.exists());
}

#[test]
fn the_pool_keeps_to_its_size_and_is_charged() {
    let fixture = fixture(40 * PAGE_BYTES as u64);
    let mut pages = fixture.pages();
    let mut tree = Tree::create(&mut pages).unwrap();
    for n in 0..5000 {
        tree.insert(&mut pages, &row_key(n), &[1; 300]).unwrap();
    }
    let counters = fixture.pool.counters();
    assert!((38..=40).contains(&counters.pages), "{counters:?}");
    let charged = fixture.memory.used();
    assert!(charged <= 40 * PAGE_BYTES as u64 && charged >= 38 * PAGE_BYTES as u64);
    fixture.pool.set_bytes(0).unwrap();
    let mut row = Vec::new();
    assert!(tree.get(&pages, &row_key(4000), &mut row).unwrap());
    assert_eq!((row.len(), fixture.pool.counters().pages), (300, 1));
    drop(pages);
    drop(fixture.pool);
    assert_eq!(fixture.memory.used(), 0);
}

//! Model tests of trees against ordered sets, with every kind of key.

use std::collections::BTreeSet;

use mayfly_memory::{Budget, BudgetKind};

use super::*;
use crate::key_encoding::ByteRange;
use crate::temptable::context::Resources;

fn pager(limit: u64) -> Pager {
    Pager::new(
        Resources::with_defaults(std::env::temp_dir(), 1),
        Budget::unlimited(BudgetKind::Memory).child("tmp_table_size", limit),
        Budget::unlimited(BudgetKind::TempSpace),
        true,
    )
}

fn entry(key: &[u8], id: u64) -> Vec<u8> {
    let mut entry = key.to_vec();
    push_id(&mut entry, id);
    entry
}

fn read(tree: &Tree, pager: &Pager, range: &ByteRange, reverse: bool, most: usize) -> Vec<u64> {
    let (mut cursor, mut rows) = (Cursor::Start, Vec::new());
    while !matches!(cursor, Cursor::End) {
        tree.read_range(pager, range, reverse, &mut cursor, most, &mut rows)
            .unwrap();
    }
    rows
}

/// A small deterministic generator.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
}

/// Compares a tree with a set while keys are added and removed.
fn compare_with_set(limit: u64, key: impl Fn(u64) -> Vec<u8>) {
    let pager = pager(limit);
    let (mut tree, mut set, mut scratch) = (Tree::new(), BTreeSet::new(), Vec::new());
    let mut state = 88_172_645_463_325_252;
    let mut snapshot = None;
    for step in 0..30_000_u64 {
        let number = random(&mut state);
        let grows = (step / 7_000).is_multiple_of(2);
        let id = number % 50_000;
        let new = entry(&key(id), id);
        if number % 16 < if grows { 13 } else { 2 } {
            if set.insert(new.clone()) {
                tree.insert(&pager, &new, Position::UNKNOWN, &mut scratch)
                    .unwrap();
            }
        } else {
            let near = set.range(new..).next().or(set.first()).cloned();
            if let Some(entry) = near {
                set.remove(&entry);
                assert!(tree.remove(&pager, &entry, Position::UNKNOWN).unwrap());
                assert!(!tree.remove(&pager, &entry, Position::UNKNOWN).unwrap());
            }
        }
        if step % 5_000 == 2_500 {
            snapshot = Some((tree.clone(), set.clone()));
        }
        if step % 5_000 == 4_999 {
            check(&tree, &pager, &set);
            if let Some((tree, set)) = &snapshot {
                check(tree, &pager, set);
            }
            snapshot = None;
        }
        if pager.excess().is_some() {
            pager.evict_old(u64::MAX).unwrap();
            tree.pages_mut().evict(&pager, 64 << 10, true).unwrap();
        }
    }
    for entry in &set {
        assert!(tree.remove(&pager, entry, Position::UNKNOWN).unwrap());
    }
    assert_eq!((tree.len(), tree.pages.page_count()), (0, 1));
    drop(tree);
    assert_eq!(pager.memory.used(), 0);
}

fn check(tree: &Tree, pager: &Pager, set: &BTreeSet<Vec<u8>>) {
    assert_eq!(tree.len(), set.len() as u64);
    let id = |entry: &Vec<u8>| {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(&entry[entry.len() - 6..]);
        u64::from_be_bytes(bytes)
    };
    let mut expected: Vec<u64> = set.iter().map(id).collect();
    assert_eq!(read(tree, pager, &ByteRange::ALL, false, 1000), expected);
    let middle = set.iter().nth(set.len() / 3).cloned().unwrap_or_default();
    let end = set.iter().nth(set.len() / 2).cloned();
    let range = ByteRange {
        start: middle.clone(),
        end: end.clone(),
    };
    let of_range: Vec<u64> = match end {
        Some(end) => set.range(middle..end).map(id).collect(),
        None => expected.clone(),
    };
    assert_eq!(read(tree, pager, &range, false, 7), of_range);
    let backwards: Vec<u64> = of_range.iter().rev().copied().collect();
    assert_eq!(read(tree, pager, &range, true, 11), backwards);
    let estimate = tree.estimate(pager, &range).unwrap();
    let exact = of_range.len() as u64;
    assert!(
        estimate <= exact * 2 + 500 && estimate * 2 + 500 >= exact,
        "{estimate} {exact}"
    );
    expected.reverse();
    assert_eq!(read(tree, pager, &ByteRange::ALL, true, 1000), expected);
}

#[test]
fn numbers() {
    let key = |id: u64| {
        id.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .to_be_bytes()
            .to_vec()
    };
    compare_with_set(u64::MAX, key);
    compare_with_set(256 << 10, key);
}

#[test]
fn few_keys_of_many_rows() {
    compare_with_set(u64::MAX, |id| vec![1, (id % 3) as u8]);
    compare_with_set(u64::MAX, |_| vec![0]);
}

#[test]
fn strings_with_long_common_beginnings() {
    let key = |id: u64| {
        let mut key = vec![b'a' + (id % 3) as u8; (id % 5 * 150) as usize];
        key.extend_from_slice(format!("{:x}", id * 7919).as_bytes());
        key.push(0);
        key
    };
    compare_with_set(u64::MAX, key);
    compare_with_set(512 << 10, key);
}

#[test]
fn long_keys_enlarge_the_pages() {
    compare_with_set(u64::MAX, |id| {
        let mut key = id.wrapping_mul(0x9E37_79B9).to_be_bytes().to_vec();
        if id % 1000 == 7 {
            key.resize(3000, b'x');
        }
        key.push(0);
        key
    });
    let mut key = vec![7; 100_000];
    shorten_key(&mut key);
    let mut other = vec![7; 100_001];
    shorten_key(&mut other);
    assert!(key != other && key.len() == other.len());
}

#[test]
fn keys_in_order_fill_pages() {
    let pager = pager(u64::MAX);
    for descending in [false, true] {
        let (mut tree, mut scratch) = (Tree::new(), Vec::new());
        for number in 0..100_000_u64 {
            let key = if descending { 100_000 - number } else { number };
            tree.insert(
                &pager,
                &entry(&key.to_be_bytes(), number),
                Position::UNKNOWN,
                &mut scratch,
            )
            .unwrap();
        }
        let bytes = tree.pages.page_count() * SMALL_PAGE;
        assert!(bytes < 100_000 * 16, "{bytes}");
        let wanted = ByteRange {
            start: 500_u64.to_be_bytes().to_vec(),
            end: None,
        };
        assert_eq!(
            read(&tree, &pager, &wanted, false, 9999).len(),
            100_000 - 500 + usize::from(descending)
        );
        let distinct = tree.distinct(&pager, |key| key.len()).unwrap();
        assert!(distinct > 99_000);
    }
}

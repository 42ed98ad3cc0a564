//! Page of a tree: entries behind a header, and a directory of their offsets, in key order, from the end of the page
//! downwards.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | a checksum of the rest |
//! | 8 | 4 | the page's number |
//! | 12 | 2 | its level: 0 for leaves |
//! | 14 | 2 | number of entries |
//! | 16 | 2 | offset of the free space |
//! | 18 | 2 | bytes of removed entries |
//! | 20 | 4 | the next page of the level, or of a chain of overflow pages |
//! | 24 | 4 | unused |
//!
//! An entry is the lengths of its key and of its value, two bytes each, the key, and the value: a row, a row id, or
//! the number of the child whose keys begin with this one. InnoDB finds entries through a list with a sparse
//! directory; this directory has all of them.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a page (`innodb_page_size`).
pub const PAGE_BYTES: usize = 16 << 10;
/// Offset of the entries.
pub(super) const HEADER: usize = 28;
const SLOT: usize = 2;
const LENGTHS: usize = 4;

const NUMBER: usize = 8;
const LEVEL: usize = 12;
const COUNT: usize = 14;
const FREE: usize = 16;
const GARBAGE: usize = 18;
const NEXT: usize = 20;

/// Mark for no page.
pub(super) const NO_PAGE: u32 = u32::MAX;

fn short(page: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([page[at], page[at + 1]]))
}

fn set_short(page: &mut [u8], at: usize, value: usize) {
    page[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
}

fn long(page: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
}

/// Empties a page.
pub(super) fn clear(page: &mut [u8], level: usize) {
    page[..HEADER].fill(0);
    set_short(page, LEVEL, level);
    set_short(page, FREE, HEADER);
    set_next(page, NO_PAGE);
}

/// Puts number and checksum into a page before it is written.
pub(super) fn seal(page: &mut [u8], number: u32) {
    page[NUMBER..NUMBER + 4].copy_from_slice(&number.to_le_bytes());
    let sum = xxh3_64(&page[NUMBER..]);
    page[..NUMBER].copy_from_slice(&sum.to_le_bytes());
}

/// Whether a page that was read has the right number and checksum.
pub(super) fn is_intact(page: &[u8], number: u32) -> bool {
    page[..NUMBER] == xxh3_64(&page[NUMBER..]).to_le_bytes() && long(page, NUMBER) == number
}

pub(super) fn level(page: &[u8]) -> usize {
    short(page, LEVEL)
}

pub(super) fn count(page: &[u8]) -> usize {
    short(page, COUNT)
}

pub(super) fn next(page: &[u8]) -> u32 {
    long(page, NEXT)
}

pub(super) fn set_next(page: &mut [u8], next: u32) {
    page[NEXT..NEXT + 4].copy_from_slice(&next.to_le_bytes());
}

fn slot(index: usize) -> usize {
    PAGE_BYTES - SLOT * (index + 1)
}

/// Bytes of an entry with its directory slot.
pub(super) fn entry_bytes(key: &[u8], value: &[u8]) -> usize {
    LENGTHS + key.len() + value.len() + SLOT
}

fn entry_range(page: &[u8], index: usize) -> (usize, usize, usize) {
    let at = short(page, slot(index));
    let key = short(page, at);
    (at, key, short(page, at + 2))
}

pub(super) fn key(page: &[u8], index: usize) -> &[u8] {
    let (at, key, _) = entry_range(page, index);
    &page[at + LENGTHS..at + LENGTHS + key]
}

pub(super) fn value(page: &[u8], index: usize) -> &[u8] {
    let (at, key, value) = entry_range(page, index);
    &page[at + LENGTHS + key..at + LENGTHS + key + value]
}

/// The child of an entry of an inner page.
pub(super) fn child(page: &[u8], index: usize) -> u32 {
    value(page, index)
        .try_into()
        .map_or(NO_PAGE, u32::from_le_bytes)
}

/// `Ok` with the entry of a key, or `Err` with the entry before which it belongs.
pub(super) fn search(page: &[u8], wanted: &[u8]) -> Result<usize, usize> {
    let (mut low, mut high) = (0, count(page));
    while low < high {
        let middle = (low + high) / 2;
        match key(page, middle).cmp(wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// The entry of an inner page whose child covers a key.
pub(super) fn search_child(page: &[u8], wanted: &[u8]) -> usize {
    match search(page, wanted) {
        Ok(index) => index,
        Err(index) => index.saturating_sub(1),
    }
}

fn contiguous(page: &[u8]) -> usize {
    (PAGE_BYTES - SLOT * count(page)).saturating_sub(short(page, FREE))
}

/// Whether an entry of `bytes` bytes fits.
pub(super) fn has_room(page: &[u8], bytes: usize) -> bool {
    bytes <= contiguous(page) + short(page, GARBAGE)
}

/// Inserts an entry before another one; there must be room.
pub(super) fn insert(page: &mut [u8], index: usize, key: &[u8], value: &[u8]) {
    if contiguous(page) < entry_bytes(key, value) {
        compact(page);
    }
    let (at, entries) = (short(page, FREE), count(page));
    set_short(page, at, key.len());
    set_short(page, at + 2, value.len());
    let start = at + LENGTHS;
    page[start..start + key.len()].copy_from_slice(key);
    let end = start + key.len() + value.len();
    page[start + key.len()..end].copy_from_slice(value);
    set_short(page, FREE, end);
    if index < entries {
        page.copy_within(slot(entries - 1)..slot(index) + SLOT, slot(entries));
    }
    set_short(page, slot(index), at);
    set_short(page, COUNT, entries + 1);
}

/// Removes an entry.
pub(super) fn remove(page: &mut [u8], index: usize) {
    let (_, key, value) = entry_range(page, index);
    let entries = count(page);
    page.copy_within(slot(entries - 1)..slot(index), slot(entries - 1) + SLOT);
    set_short(page, COUNT, entries - 1);
    let garbage = short(page, GARBAGE) + LENGTHS + key + value;
    set_short(page, GARBAGE, garbage);
}

/// Replaces an entry's value by one of equal length; false if the lengths differ.
pub(super) fn overwrite(page: &mut [u8], index: usize, value: &[u8]) -> bool {
    let (at, key, length) = entry_range(page, index);
    if length != value.len() {
        return false;
    }
    let start = at + LENGTHS + key;
    page[start..start + length].copy_from_slice(value);
    true
}

/// Closes the gaps of removed entries.
fn compact(page: &mut [u8]) {
    let old = page.to_vec();
    let mut at = HEADER;
    for index in 0..count(&old) {
        let (from, key, value) = entry_range(&old, index);
        let length = LENGTHS + key + value;
        page[at..at + length].copy_from_slice(&old[from..from + length]);
        set_short(page, slot(index), at);
        at += length;
    }
    set_short(page, FREE, at);
    set_short(page, GARBAGE, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_page_is_a_sorted_map_until_it_is_full() {
        let mut page = vec![0; PAGE_BYTES];
        clear(&mut page, 0);
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut random = 7_u64;
        for step in 0..20_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step);
            let key = ((random >> 40) % 200).to_string().into_bytes();
            let value = vec![step as u8; (random >> 20) as usize % 150];
            match search(&page, &key) {
                Ok(index) if random.is_multiple_of(3) => {
                    remove(&mut page, index);
                    model.remove(&key);
                }
                Ok(index) => {
                    if overwrite(&mut page, index, &value) {
                        model.insert(key, value);
                    }
                }
                Err(index) if has_room(&page, entry_bytes(&key, &value)) => {
                    insert(&mut page, index, &key, &value);
                    model.insert(key, value);
                }
                // The page is full of other entries.
                Err(index) => {
                    let gone = index.min(count(&page) - 1);
                    model.remove(super::key(&page, gone));
                    remove(&mut page, gone);
                }
            }
            assert_eq!(count(&page), model.len());
        }
        for (index, (expected, text)) in model.iter().enumerate() {
            assert_eq!(
                (key(&page, index), value(&page, index)),
                (&expected[..], &text[..])
            );
        }
        seal(&mut page, 9);
        assert!(is_intact(&page, 9) && !is_intact(&page, 8));
        page[5000] ^= 1;
        assert!(!is_intact(&page, 9));
    }
}

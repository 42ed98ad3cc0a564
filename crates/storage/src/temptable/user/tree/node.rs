//! Page of a tree: sorted entries, with their common prefix stored once.
//!
//! ```text
//!   0         HEADER                                            top                   length
//!   +---------+--------+--------+--------+---+------------------+--------+--------+---+
//!   | header  | prefix | slot 0 | slot 1 |   |  free            | tail n | tail m |   |
//!   +---------+--------+--------+--------+---+------------------+--------+--------+---+
//!   slot: first 4 bytes of the entry after the prefix, offset of its tail, its length after the prefix
//! ```
//!
//! An entry's *tail* is what follows those 4 bytes and, in inner nodes, the number of the child for entries from this
//! one on. Most searches read slots alone, which lie together. The prefix grows when the page is full, before it is
//! split, and shrinks when an entry comes that does not have it.

use std::cmp::Ordering;
use std::ops::Range;

/// Mark for no page.
pub(in super::super) const NONE: u32 = u32::MAX;

const KIND: usize = 0;
const COUNT: usize = 2;
const PREFIX: usize = 4;
const TOP: usize = 6;
const GARBAGE: usize = 8;
const NEXT: usize = 12;
const PREVIOUS: usize = 16;
const FIRST_CHILD: usize = 20;
const HEADER: usize = 24;
const SLOT: usize = 8;
/// Numbers of entries at which a page looks for a longer prefix; it also does when it is full.
const PREFIX_AT: [usize; 3] = [4, 16, 64];
/// Size within which most pages of small entries have their slots.
pub(super) const SLOTS_BYTES: usize = 2304;
/// Bytes of an entry that are in its slot.
const HEAD: usize = 4;
const CHILD: usize = 4;

/// Slot as a number: head, offset of the tail, length.
#[derive(Clone, Copy)]
struct Slot(u64);

impl Slot {
    fn new(head: u32, offset: usize, length: usize) -> Self {
        Self(u64::from(head) << 32 | (offset as u64) << 16 | length as u64)
    }

    #[inline(always)]
    fn head(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    fn offset(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    /// Length of the entry after the prefix.
    #[inline(always)]
    fn length(self) -> usize {
        usize::from(self.0 as u16)
    }

    /// Length of the entry's bytes in the tail.
    #[inline(always)]
    fn tail(self) -> usize {
        self.length().saturating_sub(HEAD)
    }
}

/// The first four bytes, padded with zeros.
#[inline(always)]
fn head(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<HEAD>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; HEAD];
            bytes[..suffix.len()].copy_from_slice(suffix);
            u32::from_be_bytes(bytes)
        }
    }
}

#[inline(always)]
fn get16(page: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([page[at], page[at + 1]]))
}

#[inline(always)]
fn get32(page: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
}

#[inline(always)]
fn set16(page: &mut [u8], at: usize, value: usize) {
    page[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
}

#[inline(always)]
fn set32(page: &mut [u8], at: usize, value: u32) {
    page[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Longest entry for pages of a length: four of them fit in one.
pub(super) fn longest_entry(page_length: usize) -> usize {
    (page_length - HEADER) / 4 - SLOT - CHILD
}

/// Empties a page.
pub(super) fn clear(page: &mut [u8], is_leaf: bool) {
    page[..HEADER].fill(0);
    page[KIND] = u8::from(!is_leaf);
    let length = page.len();
    set16(page, TOP, length);
    set32(page, NEXT, NONE);
    set32(page, PREVIOUS, NONE);
    set32(page, FIRST_CHILD, NONE);
}

#[inline(always)]
pub(super) fn is_leaf(page: &[u8]) -> bool {
    page[KIND] == 0
}

#[inline(always)]
pub(super) fn count(page: &[u8]) -> usize {
    get16(page, COUNT)
}

/// The leaf after this one, or [`NONE`].
#[inline(always)]
pub(super) fn next(page: &[u8]) -> u32 {
    get32(page, NEXT)
}

/// The leaf before this one, or [`NONE`].
#[inline(always)]
pub(super) fn previous(page: &[u8]) -> u32 {
    get32(page, PREVIOUS)
}

pub(super) fn set_next(page: &mut [u8], next: u32) {
    set32(page, NEXT, next);
}

pub(super) fn set_previous(page: &mut [u8], previous: u32) {
    set32(page, PREVIOUS, previous);
}

pub(super) fn set_first_child(page: &mut [u8], child: u32) {
    set32(page, FIRST_CHILD, child);
}

#[inline(always)]
fn prefix(page: &[u8]) -> &[u8] {
    &page[HEADER..HEADER + get16(page, PREFIX)]
}

/// An entry without the page's prefix; `None` if it does not begin with that.
#[inline(always)]
fn without_prefix<'e>(page: &[u8], entry: &'e [u8]) -> Option<&'e [u8]> {
    let prefix = prefix(page);
    let (beginning, suffix) = entry.split_at_checked(prefix.len())?;
    is_same(beginning, prefix).then_some(suffix)
}

/// Whether two slices of equal length are equal. They are short: a call costs more than the comparison.
#[inline(always)]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let (words, rest) = a.as_chunks::<8>();
    let (other_words, other_rest) = b.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    let mut pairs = words.iter().zip(other_words);
    pairs.all(|(a, b)| word(a) == word(b)) && rest.iter().zip(other_rest).all(|(a, b)| a == b)
}

/// Offset of the first slot.
#[inline(always)]
fn first_slot(page: &[u8]) -> usize {
    HEADER + get16(page, PREFIX)
}

#[inline(always)]
fn slots(page: &[u8]) -> &[[u8; SLOT]] {
    let first = first_slot(page);
    page[first..first + SLOT * count(page)].as_chunks().0
}

#[inline(always)]
fn slot(page: &[u8], index: usize) -> Slot {
    Slot(u64::from_le_bytes(slots(page)[index]))
}

/// Child at a position: the leftmost for 0, otherwise that of entry `position - 1`.
#[inline(always)]
pub(super) fn child(page: &[u8], position: usize) -> u32 {
    match position.checked_sub(1) {
        None => get32(page, FIRST_CHILD),
        Some(index) => {
            let slot = slot(page, index);
            get32(page, slot.offset() + slot.tail())
        }
    }
}

/// Order of an entry with its slot relative to another one, both without the prefix.
#[inline(always)]
fn compare(page: &[u8], slot: Slot, other: &[u8], other_head: u32) -> Ordering {
    slot.head().cmp(&other_head).then_with(|| {
        let tail = &page[slot.offset()..slot.offset() + slot.tail()];
        tail.cmp(other.get(HEAD..).unwrap_or(&[]))
            .then(slot.length().cmp(&other.len()))
    })
}

/// Number of entries that are smaller than `entry`.
#[inline]
pub(super) fn search(page: &[u8], entry: &[u8]) -> usize {
    search_by::<false>(page, entry)
}

/// The position, for [`child`], of the child for `entry`: a child has entries from its separator on.
#[inline]
pub(super) fn search_child(page: &[u8], entry: &[u8]) -> usize {
    search_by::<true>(page, entry)
}

/// Number of entries that are smaller than `entry`, or equal if `EQUAL`.
#[inline(always)]
fn search_by<const EQUAL: bool>(page: &[u8], entry: &[u8]) -> usize {
    let Some(suffix) = without_prefix(page, entry) else {
        let prefix = prefix(page);
        // A proper prefix of the page's prefix is smaller than all, too.
        return if entry < prefix { 0 } else { count(page) };
    };
    let suffix_head = head(suffix);
    let slots = slots(page);
    let (mut low, mut length) = (0, slots.len());
    while length > 0 {
        let half = length / 2;
        let slot = Slot(u64::from_le_bytes(slots[low + half]));
        let is_before = match slot.head().cmp(&suffix_head) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => match compare(page, slot, suffix, suffix_head) {
                Ordering::Less => true,
                Ordering::Equal => EQUAL,
                Ordering::Greater => false,
            },
        };
        if is_before {
            low += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    low
}

/// Whether an entry begins with `key`.
#[inline]
pub(super) fn begins_with(page: &[u8], index: usize, key: &[u8]) -> bool {
    let Some(rest) = without_prefix(page, key) else {
        return prefix(page).starts_with(key);
    };
    let slot = slot(page, index);
    if slot.length() < rest.len() {
        return false;
    }
    if rest.len() < HEAD {
        return slot.head().to_be_bytes()[..rest.len()] == *rest;
    }
    let rest_tail = &rest[HEAD..];
    slot.head() == head(rest)
        && is_same(
            &page[slot.offset()..slot.offset() + rest_tail.len()],
            rest_tail,
        )
}

/// Whether a page is the leaf for `entry`, existing or not; false if it is smaller than the first entry or larger than
/// the last, since it may belong to a neighbour.
#[inline]
pub(super) fn covers(page: &[u8], entry: &[u8]) -> bool {
    let count = count(page);
    if count == 0 || !is_leaf(page) {
        return false;
    }
    let side = match without_prefix(page, entry) {
        None if entry < prefix(page) => Ordering::Less,
        None => Ordering::Greater,
        Some(suffix) => {
            let head = head(suffix);
            let first = compare(page, slot(page, 0), suffix, head);
            let last = || compare(page, slot(page, count - 1), suffix, head);
            match first {
                Ordering::Greater => Ordering::Less,
                _ if last() == Ordering::Less => Ordering::Greater,
                _ => Ordering::Equal,
            }
        }
    };
    match side {
        Ordering::Less => previous(page) == NONE,
        Ordering::Equal => true,
        Ordering::Greater => next(page) == NONE,
    }
}

/// Whether there are entries, all smaller than `entry`.
#[inline]
pub(super) fn last_is_less(page: &[u8], entry: &[u8]) -> bool {
    let count = count(page);
    if count == 0 {
        return false;
    }
    let prefix = prefix(page);
    match entry.strip_prefix(prefix) {
        Some(suffix) => {
            compare(page, slot(page, count - 1), suffix, head(suffix)) == Ordering::Less
        }
        None => prefix < entry,
    }
}

/// Appends an entry's bytes.
pub(super) fn append_entry(page: &[u8], index: usize, entry: &mut Vec<u8>) {
    entry.extend_from_slice(prefix(page));
    append_suffix(page, slot(page, index), entry);
}

fn append_suffix(page: &[u8], slot: Slot, entry: &mut Vec<u8>) {
    let in_head = slot.length().min(HEAD);
    entry.extend_from_slice(&slot.head().to_be_bytes()[..in_head]);
    entry.extend_from_slice(&page[slot.offset()..slot.offset() + slot.tail()]);
}

/// The row number: the last six bytes of an entry.
#[inline]
pub(super) fn row_id(page: &[u8], index: usize) -> u64 {
    const BYTES: usize = super::ID_BYTES;
    let slot = slot(page, index);
    let end = slot.offset() + slot.tail();
    let mut bytes = [0; 8];
    if slot.tail() >= BYTES {
        bytes[8 - BYTES..].copy_from_slice(&page[end - BYTES..end]);
        return u64::from_be_bytes(bytes);
    }
    if slot.length() >= BYTES {
        // The number's beginning is the end of the head.
        let tail = &page[slot.offset()..end];
        let number = tail.iter().fold(u64::from(slot.head()), |number, byte| {
            number << 8 | u64::from(*byte)
        });
        return number & ((1 << (8 * BYTES)) - 1);
    }
    // Parts of the number are in the slot, and in the prefix.
    let mut free = 8;
    let mut fill = |part: &[u8]| {
        let taken = part.len().min(free - (8 - BYTES));
        bytes[free - taken..free].copy_from_slice(&part[part.len() - taken..]);
        free -= taken;
    };
    fill(&page[slot.offset()..end]);
    fill(&slot.head().to_be_bytes()[..slot.length().min(HEAD)]);
    fill(prefix(page));
    u64::from_be_bytes(bytes)
}

/// Whether an entry begins with the page's prefix.
pub(super) fn has_prefix(page: &[u8], entry: &[u8]) -> bool {
    entry.starts_with(prefix(page))
}

/// Inserts an entry, with its child in an inner node; false when there is no room.
pub(super) fn insert(
    page: &mut [u8],
    position: usize,
    entry: &[u8],
    child: u32,
    scratch: &mut Vec<u8>,
) -> bool {
    let shared = get16(page, PREFIX);
    if shared > 0 && !entry.starts_with(prefix(page)) {
        let common = common_length(prefix(page), entry);
        if !rebuild(page, common, scratch) {
            return false;
        }
    }
    if try_insert(page, position, entry, child) {
        // Searches read slots alone if these tell entries apart.
        if PREFIX_AT.contains(&count(page)) {
            let common = common_prefix(page, entry);
            if common > get16(page, PREFIX) {
                rebuild(page, common, scratch);
            }
        }
        return true;
    }
    // Reclaims the bytes of deleted entries, and lengthens the prefix.
    let common = common_prefix(page, entry);
    let has_garbage = get16(page, GARBAGE) > 0;
    if !has_garbage && common <= get16(page, PREFIX) {
        return false;
    }
    rebuild(page, common, scratch) && try_insert(page, position, entry, child)
}

#[inline]
fn try_insert(page: &mut [u8], position: usize, entry: &[u8], child: u32) -> bool {
    let suffix = &entry[get16(page, PREFIX)..];
    let is_inner = !is_leaf(page);
    let tail = suffix.get(HEAD..).unwrap_or(&[]);
    let bytes = tail.len() + if is_inner { CHILD } else { 0 };
    let count = count(page);
    let first = first_slot(page);
    let end = first + SLOT * count;
    let top = get16(page, TOP);
    if top < end + SLOT + bytes {
        return false;
    }
    let offset = top - bytes;
    page[offset..offset + tail.len()].copy_from_slice(tail);
    if is_inner {
        set32(page, offset + tail.len(), child);
    }
    let at = first + SLOT * position;
    page.copy_within(at..end, at + SLOT);
    let slot = Slot::new(head(suffix), offset, suffix.len());
    page[at..at + SLOT].copy_from_slice(&slot.0.to_le_bytes());
    set16(page, COUNT, count + 1);
    set16(page, TOP, offset);
    true
}

/// Removes an entry; its bytes become free when the page is rebuilt.
pub(super) fn remove(page: &mut [u8], index: usize) {
    let removed = slot(page, index);
    let bytes = removed.tail() + if is_leaf(page) { 0 } else { CHILD };
    let count = count(page);
    let first = first_slot(page);
    let at = first + SLOT * index;
    page.copy_within(at + SLOT..first + SLOT * count, at);
    set16(page, COUNT, count - 1);
    if removed.offset() == get16(page, TOP) {
        set16(page, TOP, removed.offset() + bytes);
    } else {
        let garbage = get16(page, GARBAGE) + bytes;
        set16(page, GARBAGE, garbage);
    }
}

/// Removes the child at a position for [`child`]; false when it was the only one.
pub(super) fn remove_child(page: &mut [u8], position: usize) -> bool {
    match position.checked_sub(1) {
        Some(index) => remove(page, index),
        None if count(page) == 0 => {
            set32(page, FIRST_CHILD, NONE);
            return false;
        }
        None => {
            let first = child(page, 1);
            set32(page, FIRST_CHILD, first);
            remove(page, 0);
        }
    }
    true
}

/// Length of the common prefix of `a` and `b`.
pub(super) fn common_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Length of the longest possible prefix with a new entry.
fn common_prefix(page: &[u8], entry: &[u8]) -> usize {
    let count = count(page);
    if count == 0 {
        return 0;
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    append_entry(page, 0, &mut first);
    append_entry(page, count - 1, &mut last);
    common_length(&first, &last).min(common_length(&first, entry))
}

/// Rewrites the page with a prefix of another length, without garbage; false when there is no room for a shorter one.
fn rebuild(page: &mut [u8], prefix_length: usize, scratch: &mut Vec<u8>) -> bool {
    let count = count(page);
    let old_prefix = get16(page, PREFIX);
    if prefix_length < old_prefix {
        let more = count * (old_prefix - prefix_length);
        let end = HEADER + SLOT * count;
        let room = get16(page, TOP) + get16(page, GARBAGE);
        if room < end + more + prefix_length {
            return false;
        }
    }
    scratch.clear();
    scratch.extend_from_slice(page);
    let old = scratch.as_slice();
    let mut first = Vec::with_capacity(64);
    if prefix_length <= old_prefix {
        first.extend_from_slice(&prefix(old)[..prefix_length]);
    } else {
        append_entry(old, 0, &mut first);
        first.truncate(prefix_length);
    }
    refill(page, &first, old, 0..count);
    true
}

/// Sets a page's prefix, and its entries to those of another page of the same kind, which have the prefix.
fn refill(page: &mut [u8], prefix: &[u8], from: &[u8], entries: Range<usize>) {
    let length = page.len();
    set16(page, COUNT, 0);
    set16(page, GARBAGE, 0);
    set16(page, PREFIX, prefix.len());
    set16(page, TOP, length);
    page[HEADER..HEADER + prefix.len()].copy_from_slice(prefix);
    let is_inner = !is_leaf(from);
    let mut entry = Vec::with_capacity(64);
    for (position, index) in entries.enumerate() {
        entry.clear();
        append_entry(from, index, &mut entry);
        let child = if is_inner {
            child(from, index + 1)
        } else {
            NONE
        };
        let fits = try_insert(page, position, &entry, child);
        debug_assert!(fits, "there is as much room as in the other page");
    }
}

/// Moves the entries from `position` on to an empty page of the same kind.
pub(super) fn move_upper(page: &mut [u8], position: usize, to: &mut [u8], scratch: &mut Vec<u8>) {
    refill(to, prefix(page), page, position..count(page));
    set16(page, COUNT, position);
    rebuild(page, get16(page, PREFIX), scratch);
}

/// Index at which to split a page so that both halves have about equal sizes in bytes.
pub(super) fn middle(page: &[u8]) -> usize {
    let count = count(page);
    let bytes = |index| SLOT + slot(page, index).tail();
    let total: usize = (0..count).map(bytes).sum();
    let mut lower = 0;
    for index in 0..count {
        lower += bytes(index);
        if lower * 2 >= total {
            return (index + 1).clamp(1, count.saturating_sub(1).max(1));
        }
    }
    count / 2
}

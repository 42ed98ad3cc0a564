//! Store of one byte string per group, in one growing buffer: replaced in place when the new string is no longer,
//! else appended; compacted when more than half of it is garbage.

use super::growth::{lengthen, make_room};
use super::state::States;

/// Byte strings of groups `0 .. n`, each of which may be absent.
#[derive(Debug, Default)]
pub(crate) struct BytesStore {
    slots: Vec<Slot>,
    buffer: Vec<u8>,
    garbage: usize,
}

/// Place of a string, with its first bytes, which decide most comparisons.
#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: usize,
    length: u32,
    /// The first four bytes in memory order, 0 for missing ones.
    start: u32,
}

const ABSENT: Slot = Slot {
    offset: 0,
    length: u32::MAX,
    start: 0,
};

impl Slot {
    fn is_absent(self) -> bool {
        self.length == ABSENT.length
    }
}

impl BytesStore {
    pub(crate) fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.slots, group_count, ABSENT);
    }

    /// The address of the states, for prefetching.
    pub(crate) fn places(&self) -> States {
        States::of(&self.slots)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn get(&self, group: usize) -> Option<&[u8]> {
        let slot = *self.slots.get(group)?;
        let end = slot.offset + slot.length as usize;
        (!slot.is_absent()).then(|| &self.buffer[slot.offset..end])
    }

    /// The first four bytes of a group's string in memory order, 0 for missing ones.
    pub(crate) fn start(&self, group: usize) -> Option<u32> {
        let slot = *self.slots.get(group)?;
        (!slot.is_absent()).then_some(slot.start)
    }

    pub(crate) fn set(&mut self, group: usize, value: &[u8]) {
        // A value of 4 GiB or more cannot arise: strings are limited by max_allowed_packet.
        let length = u32::try_from(value.len()).unwrap_or(ABSENT.length - 1);
        let value = &value[..length as usize];
        let mut start = [0; 4];
        let known = value.len().min(4);
        start[..known].copy_from_slice(&value[..known]);
        let start = u32::from_le_bytes(start);
        let old = self.slots[group];
        if !old.is_absent() && length <= old.length {
            self.buffer[old.offset..old.offset + value.len()].copy_from_slice(value);
            self.garbage += (old.length - length) as usize;
            self.slots[group] = Slot {
                length,
                start,
                ..old
            };
            return;
        }
        if !old.is_absent() {
            self.garbage += old.length as usize;
        }
        self.slots[group] = Slot {
            offset: self.buffer.len(),
            length,
            start,
        };
        make_room(&mut self.buffer, value.len());
        self.buffer.extend_from_slice(value);
        if self.garbage > self.buffer.len() / 2 && self.garbage > 4096 {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut buffer = Vec::with_capacity(self.buffer.len() - self.garbage);
        for slot in self.slots.iter_mut().filter(|slot| !slot.is_absent()) {
            let start = buffer.len();
            let end = slot.offset + slot.length as usize;
            buffer.extend_from_slice(&self.buffer[slot.offset..end]);
            slot.offset = start;
        }
        self.buffer = buffer;
        self.garbage = 0;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.capacity() + self.slots.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_compacts() {
        let mut store = BytesStore::default();
        store.resize(3);
        for round in 0..2000_usize {
            store.set(round % 2, &vec![b'x'; 10 + round % 7]);
        }
        assert_eq!(store.get(0).map(<[u8]>::len), Some(10 + 1998 % 7));
        assert_eq!(store.get(1).map(<[u8]>::len), Some(10 + 1999 % 7));
        assert_eq!(store.get(2), None);
        assert!(store.buffer.len() < 20_000);
    }
}

//! Hash index of records: linear hashing with chains, one bucket per record.
//!
//! As in `hp_write.c` there are as many buckets as records, and each new record adds one by splitting another (Litwin,
//! "Linear Hashing", VLDB 1980), so that growth never needs a rehash of all entries. An entry of 16 bytes, like
//! MySQL's `HASH_INFO`, holds a record's hash and its successor in the chain, and the head of the bucket that has the
//! record's number.

use mayfly_memory::{LimitError, Reservation};

use super::Blocks;

const NONE: u32 = u32::MAX;
pub(super) const ENTRY_BYTES: usize = size_of::<Entry>();

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    /// The next record of the same bucket.
    next: u32,
    /// The first record of the bucket with this number.
    head: u32,
}

#[derive(Debug)]
pub(super) struct HashIndex {
    entries: Blocks<Entry>,
    len: u32,
}

impl HashIndex {
    pub(super) fn new(per_block: usize) -> Self {
        Self {
            entries: Blocks::new(per_block),
            len: 0,
        }
    }

    fn entry(&self, number: u32) -> &Entry {
        let (block, at) = self.place(number);
        &self.entries.blocks[block][at]
    }

    fn entry_mut(&mut self, number: u32) -> &mut Entry {
        let (block, at) = self.place(number);
        &mut self.entries.blocks[block][at]
    }

    fn place(&self, number: u32) -> (usize, usize) {
        let per_block = self.entries.per_block;
        (number as usize / per_block, number as usize % per_block)
    }

    /// The bucket of a hash among `buckets` buckets.
    fn bucket(hash: u64, buckets: u32) -> u32 {
        // The largest power of two up to `buckets`, at least 1.
        let half = 1_u64 << (31 - buckets.max(1).leading_zeros());
        let bucket = hash & (half * 2 - 1);
        let bucket = if bucket < u64::from(buckets) {
            bucket
        } else {
            hash & (half - 1)
        };
        bucket as u32
    }

    /// The records that may have a hash.
    pub(super) fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let mut next = match self.len {
            0 => NONE,
            len => self.entry(Self::bucket(hash, len)).head,
        };
        std::iter::from_fn(move || {
            while next != NONE {
                let (number, entry) = (next, self.entry(next));
                next = entry.next;
                if entry.hash == hash {
                    return Some(number);
                }
            }
            None
        })
    }

    /// Reserves room for one more entry.
    pub(super) fn make_room(&mut self, reservation: &mut Reservation) -> Result<(), LimitError> {
        if (self.len as usize) < self.entries.capacity {
            return Ok(());
        }
        let none = Entry {
            hash: 0,
            next: NONE,
            head: NONE,
        };
        self.entries.grow(none, 1, ENTRY_BYTES, reservation)
    }

    /// Adds the next record; there must be room.
    pub(super) fn insert(&mut self, hash: u64) {
        let number = self.len;
        self.len += 1;
        *self.entry_mut(number) = Entry {
            hash,
            next: NONE,
            head: NONE,
        };
        self.split(number);
        let bucket = Self::bucket(hash, self.len);
        let head = std::mem::replace(&mut self.entry_mut(bucket).head, number);
        self.entry_mut(number).next = head;
    }

    /// Moves the entries of the new last bucket out of the one that it was split from.
    fn split(&mut self, bucket: u32) {
        if bucket == 0 {
            return;
        }
        let old = bucket - (1 << (31 - bucket.leading_zeros()));
        let mut heads = [NONE, NONE];
        let mut tails = [NONE, NONE];
        let mut next = self.entry(old).head;
        while next != NONE {
            let entry = *self.entry(next);
            let moves = usize::from(Self::bucket(entry.hash, self.len) == bucket);
            match tails[moves] {
                NONE => heads[moves] = next,
                tail => self.entry_mut(tail).next = next,
            }
            tails[moves] = next;
            next = entry.next;
        }
        for tail in tails {
            if tail != NONE {
                self.entry_mut(tail).next = NONE;
            }
        }
        self.entry_mut(old).head = heads[0];
        self.entry_mut(bucket).head = heads[1];
    }
}

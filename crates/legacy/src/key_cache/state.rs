//! State of a key cache, guarded by its lock.

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_memory::{Budget, Reservation, Result};

use super::{KeyCacheCounters, KeyCacheOptions};
use crate::file::TableFile;
use crate::frames::{FrameIndex, FrameList, INDEX_BYTES, LINK_BYTES, Links};

/// Minimum number of blocks of a cache that is on.
const BLOCKS_MIN: usize = 8;
/// Number of hits after which a block may become hot.
const HITS_UNTIL_HOT: u8 = 3;
/// Number of blocks whose memory is allocated at once.
const CHUNK_BLOCKS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Free,
    Warm,
    Hot,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    place: Place,
    is_changed: bool,
    hits_left: u8,
    /// Time of the last hit, counted in hits of the cache.
    last_hit: u64,
}

/// Bytes of a block's overhead.
const BLOCK_OVERHEAD: usize = size_of::<Block>() + INDEX_BYTES + LINK_BYTES;

/// Blocks of a cache of one size, replaced when it is resized.
#[derive(Debug)]
struct Blocks {
    /// Maximum number of blocks; 0 when the cache is off.
    max: usize,
    size: usize,
    chunks: Vec<Box<[u8]>>,
    blocks: Vec<Block>,
    index: FrameIndex,
    links: Links,
    warm: FrameList,
    hot: FrameList,
    free: FrameList,
    changed: usize,
    used_max: usize,
    hits: u64,
    reservation: Reservation,
}

impl Blocks {
    fn new(options: KeyCacheOptions, memory: &Budget) -> Self {
        let size = options.block_size.clamp(512, 16384) as usize / 512 * 512;
        let max = options.key_buffer_size / (size + BLOCK_OVERHEAD) as u64;
        let max = (max as usize).min(u32::MAX as usize / 2);
        let max = if max < BLOCKS_MIN { 0 } else { max };
        Self {
            max,
            size,
            chunks: Vec::new(),
            blocks: Vec::new(),
            index: FrameIndex::default(),
            links: Links::default(),
            warm: FrameList::default(),
            hot: FrameList::default(),
            free: FrameList::default(),
            changed: 0,
            used_max: 0,
            hits: 0,
            reservation: memory.reservation(),
        }
    }

    fn used(&self) -> usize {
        self.warm.len() + self.hot.len()
    }

    fn bytes(&self, block: u32) -> &[u8] {
        let (chunk, at) = (block as usize / CHUNK_BLOCKS, block as usize % CHUNK_BLOCKS);
        &self.chunks[chunk][at * self.size..(at + 1) * self.size]
    }

    fn bytes_mut(&mut self, block: u32) -> &mut [u8] {
        let (chunk, at) = (block as usize / CHUNK_BLOCKS, block as usize % CHUNK_BLOCKS);
        &mut self.chunks[chunk][at * self.size..(at + 1) * self.size]
    }

    /// Allocates memory for more blocks; false when there is none.
    fn grow(&mut self) -> bool {
        let count = CHUNK_BLOCKS.min(self.max - self.blocks.len());
        let bytes = count * (self.size + BLOCK_OVERHEAD);
        if count == 0 || self.reservation.try_grow(bytes as u64).is_err() {
            return false;
        }
        self.chunks
            .push(vec![0; count * self.size].into_boxed_slice());
        for _ in 0..count {
            let block = self.blocks.len() as u32;
            self.blocks.push(Block {
                place: Place::Free,
                is_changed: false,
                hits_left: 0,
                last_hit: 0,
            });
            self.free.push_last(&mut self.links, block);
        }
        true
    }

    fn unlink(&mut self, block: u32) {
        let list = match self.blocks[block as usize].place {
            Place::Free => &mut self.free,
            Place::Warm => &mut self.warm,
            Place::Hot => &mut self.hot,
        };
        list.remove(&mut self.links, block);
    }

    /// Counts a hit of a block: it goes to the end of its list, or of the hot one.
    fn hit(&mut self, block: u32, options: &KeyCacheOptions) {
        let warm_min = self.per_cent(options.division_limit.min(100)) + 1;
        self.unlink(block);
        self.hits += 1;
        let hits = self.hits;
        let state = &mut self.blocks[block as usize];
        state.hits_left = state.hits_left.saturating_sub(1);
        state.last_hit = hits;
        let is_hot = state.place == Place::Hot
            || state.hits_left == 0 && self.warm.len() as u64 + 1 > warm_min;
        let (place, list) = if is_hot {
            (Place::Hot, &mut self.hot)
        } else {
            (Place::Warm, &mut self.warm)
        };
        state.place = place;
        list.push_last(&mut self.links, block);
        self.age(options);
    }

    fn per_cent(&self, per_cent: u32) -> u64 {
        self.max as u64 * u64::from(per_cent) / 100
    }

    /// Makes the oldest hot block warm if its last hit was long ago.
    fn age(&mut self, options: &KeyCacheOptions) {
        if let Some(oldest) = self.hot.first()
            && self.hits - self.blocks[oldest as usize].last_hit
                > self.per_cent(options.age_threshold)
        {
            self.hot.remove(&mut self.links, oldest);
            self.blocks[oldest as usize].place = Place::Warm;
            self.warm.push_first(&mut self.links, oldest);
        }
    }

    /// Assigns a block to new content, at the end of the warm list.
    fn put(&mut self, block: u32, key: (u64, u64), options: &KeyCacheOptions) {
        self.unlink(block);
        self.hits += 1;
        self.blocks[block as usize] = Block {
            place: Place::Warm,
            is_changed: false,
            hits_left: HITS_UNTIL_HOT - 1,
            last_hit: self.hits,
        };
        self.warm.push_last(&mut self.links, block);
        self.index.insert(key, block);
        self.used_max = self.used_max.max(self.used());
        self.age(options);
    }

    /// Frees a block.
    fn clear(&mut self, block: u32) {
        self.unlink(block);
        self.index.remove(block);
        let state = &mut self.blocks[block as usize];
        if std::mem::take(&mut state.is_changed) {
            self.changed -= 1;
        }
        state.place = Place::Free;
        self.free.push_last(&mut self.links, block);
    }
}

#[derive(Debug)]
pub(super) struct State {
    options: KeyCacheOptions,
    memory: Budget,
    blocks: Blocks,
    files: HashMap<u64, Arc<TableFile>>,
    next_file: u64,
    requests: KeyCacheCounters,
}

/// Piece of a request that lies in one block.
struct Piece {
    number: u64,
    start: usize,
    end: usize,
    /// Offset of the piece in the request.
    at: usize,
}

fn pieces(length: usize, offset: u64, size: usize) -> impl Iterator<Item = Piece> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == length {
            return None;
        }
        let place = offset + at as u64;
        let start = (place % size as u64) as usize;
        let end = (start + length - at).min(size);
        let piece = Piece {
            number: place / size as u64,
            start,
            end,
            at,
        };
        at += end - start;
        Some(piece)
    })
}

impl State {
    pub(super) fn new(options: KeyCacheOptions, memory: &Budget) -> Self {
        Self {
            options,
            memory: memory.clone(),
            blocks: Blocks::new(options, memory),
            files: HashMap::new(),
            next_file: 0,
            requests: KeyCacheCounters::default(),
        }
    }

    pub(super) fn options(&self) -> KeyCacheOptions {
        self.options
    }

    pub(super) fn set_options(&mut self, options: KeyCacheOptions) -> Result<()> {
        let is_same = options.key_buffer_size == self.options.key_buffer_size
            && options.block_size == self.options.block_size;
        if !is_same {
            self.flush()?;
            self.blocks.reservation.free();
            self.blocks = Blocks::new(options, &self.memory);
        }
        self.options = options;
        Ok(())
    }

    pub(super) fn counters(&self) -> KeyCacheCounters {
        KeyCacheCounters {
            blocks_not_flushed: self.blocks.changed as u64,
            blocks_unused: (self.blocks.max - self.blocks.used()) as u64,
            blocks_used: self.blocks.used_max as u64,
            ..self.requests
        }
    }

    pub(super) fn reset_counters(&mut self) {
        self.requests = KeyCacheCounters::default();
    }

    pub(super) fn add_file(&mut self, file: Arc<TableFile>) -> u64 {
        let number = self.next_file;
        self.next_file += 1;
        self.files.insert(number, file);
        number
    }

    /// Drops all blocks of a file.
    pub(super) fn forget(&mut self, file: u64) {
        self.files.remove(&file);
        for block in 0..self.blocks.blocks.len() as u32 {
            let is_used = self.blocks.blocks[block as usize].place != Place::Free;
            if is_used && self.blocks.index.key(block).0 == file {
                self.blocks.clear(block);
            }
        }
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        for block in 0..self.blocks.blocks.len() as u32 {
            self.flush_block(block)?;
        }
        Ok(())
    }

    fn flush_block(&mut self, block: u32) -> Result<()> {
        if !self.blocks.blocks[block as usize].is_changed {
            return Ok(());
        }
        let (file, number) = self.blocks.index.key(block);
        if let Some(file) = self.files.get(&file) {
            file.write_at(self.blocks.bytes(block), number * self.blocks.size as u64)?;
            self.requests.writes += 1;
        }
        self.blocks.blocks[block as usize].is_changed = false;
        self.blocks.changed -= 1;
        Ok(())
    }

    /// A free block; if there is none, the least recently used one is evicted. `None` if there is no memory for any.
    fn take_block(&mut self) -> Result<Option<u32>> {
        let blocks = &mut self.blocks;
        if blocks.free.first().is_none() && !blocks.grow() {
            let oldest = blocks.warm.first().or_else(|| blocks.hot.first());
            let Some(oldest) = oldest else {
                return Ok(None);
            };
            self.flush_block(oldest)?;
            self.blocks.clear(oldest);
        }
        Ok(self.blocks.free.first())
    }

    /// The block that holds a piece of a file, read from it unless all of it is to be written. `None` if there is no
    /// memory for one.
    fn block(
        &mut self,
        key: (u64, u64),
        file: &TableFile,
        is_read: bool,
    ) -> Result<Option<(u32, bool)>> {
        if let Some(block) = self.blocks.index.find(key) {
            self.blocks.hit(block, &self.options);
            return Ok(Some((block, false)));
        }
        let Some(block) = self.take_block()? else {
            return Ok(None);
        };
        if is_read {
            let offset = key.1 * self.blocks.size as u64;
            let bytes = self.blocks.bytes_mut(block);
            let read = file.read_at(bytes, offset)?;
            bytes[read..].fill(0);
            self.requests.reads += 1;
        }
        self.blocks.put(block, key, &self.options);
        Ok(Some((block, is_read)))
    }

    pub(super) fn read(
        &mut self,
        number: u64,
        file: &TableFile,
        bytes: &mut [u8],
        offset: u64,
    ) -> Result<bool> {
        if self.blocks.max == 0 {
            self.requests.read_requests += 1;
            self.requests.reads += 1;
            file.read_exact_at(bytes, offset)?;
            return Ok(true);
        }
        let mut is_from_file = false;
        for piece in pieces(bytes.len(), offset, self.blocks.size) {
            self.requests.read_requests += 1;
            let target = &mut bytes[piece.at..piece.at + piece.end - piece.start];
            match self.block((number, piece.number), file, true)? {
                Some((block, is_read)) => {
                    is_from_file |= is_read;
                    target.copy_from_slice(&self.blocks.bytes(block)[piece.start..piece.end]);
                }
                None => {
                    self.requests.reads += 1;
                    is_from_file = true;
                    file.read_exact_at(target, offset + piece.at as u64)?;
                }
            }
        }
        Ok(is_from_file)
    }

    pub(super) fn write(
        &mut self,
        number: u64,
        file: &TableFile,
        bytes: &[u8],
        offset: u64,
    ) -> Result<()> {
        if self.blocks.max == 0 {
            self.requests.write_requests += 1;
            self.requests.writes += 1;
            return file.write_at(bytes, offset);
        }
        for piece in pieces(bytes.len(), offset, self.blocks.size) {
            self.requests.write_requests += 1;
            let source = &bytes[piece.at..piece.at + piece.end - piece.start];
            let is_part = source.len() < self.blocks.size;
            let Some((block, _)) = self.block((number, piece.number), file, is_part)? else {
                self.requests.writes += 1;
                file.write_at(source, offset + piece.at as u64)?;
                continue;
            };
            self.blocks.bytes_mut(block)[piece.start..piece.end].copy_from_slice(source);
            let state = &mut self.blocks.blocks[block as usize];
            if !std::mem::replace(&mut state.is_changed, true) {
                self.blocks.changed += 1;
            }
        }
        Ok(())
    }
}

/// Contents of the warm and the hot list for tests, by block number in the file.
#[cfg(test)]
impl State {
    pub(super) fn lists(&self) -> (Vec<u64>, Vec<u64>) {
        let numbers = |list: &FrameList| {
            let blocks = list.iter(&self.blocks.links);
            blocks.map(|block| self.blocks.index.key(block).1).collect()
        };
        (numbers(&self.blocks.warm), numbers(&self.blocks.hot))
    }

    /// Bytes of `blocks` blocks of size `size`.
    pub(super) fn bytes_of(blocks: usize, size: usize) -> u64 {
        (blocks * (size + BLOCK_OVERHEAD)) as u64
    }
}

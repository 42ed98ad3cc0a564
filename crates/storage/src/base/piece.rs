//! Pieces of a chunk: bytes that are in memory, in the temporary file, or in both.

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_buffer::Buffer;
use mayfly_memory::{Block, Budget, Extent, Reservation, Result, SizeClass, StableRange, TempFile};

use super::BaseTableContext;

/// Memory of exactly the piece's length, or a block of the pool.
#[derive(Debug)]
enum Memory {
    Exact(
        Vec<u8>,
        #[expect(dead_code, reason = "gives back by drop")] Reservation,
    ),
    Block(Block),
}

impl Memory {
    fn take(context: &BaseTableContext, length: usize, forced: bool) -> Result<Self> {
        let (pool, budget) = (&context.resources.pool, &context.memory);
        // Transient memory comes from the pool, so that it is reused; what stays is of the exact
        // length unless a huge page is nearly filled.
        if forced {
            context
                .resources
                .make_room(SizeClass::charged(length), budget);
            return Ok(Self::Block(pool.take_bytes_forced(length, budget)?));
        }
        if length <= SizeClass::Huge.bytes() && length > SizeClass::Huge.bytes() / 4 * 3 {
            return Ok(Self::Block(pool.take(SizeClass::Huge, budget)?));
        }
        let reservation = budget.reserve(length as u64)?;
        Ok(Self::Exact(vec![0; length], reservation))
    }

    fn bytes_mut(&mut self, length: usize) -> &mut [u8] {
        match self {
            Self::Exact(bytes, _) => &mut bytes[..length],
            Self::Block(block) => &mut block.as_mut_slice()[..length],
        }
    }

    fn bytes(&self, length: usize) -> &[u8] {
        match self {
            Self::Exact(bytes, _) => &bytes[..length],
            Self::Block(block) => &block.as_slice()[..length],
        }
    }
}

/// What a buffer of a piece keeps alive.
struct Owner {
    _memory: Memory,
    /// Whoever reads the buffer may point into it instead of copying: it is charged to the table.
    _stable: Option<StableRange>,
}

#[expect(unsafe_code, reason = "hands memory to Arrow without a copy")]
fn into_buffer(context: &BaseTableContext, memory: Memory, length: usize, stable: bool) -> Buffer {
    let bytes = memory.bytes(length);
    let Some(start) = NonNull::new(bytes.as_ptr().cast_mut()).filter(|_| length > 0) else {
        return Buffer::from_vec(Vec::<u8>::new());
    };
    let ranges = &context.resources.stable;
    let owner = Owner {
        _stable: stable.then(|| ranges.register(start.as_ptr() as usize, length)),
        _memory: memory,
    };
    // SAFETY: the owner keeps `length` initialised bytes at `start`, which nobody changes any more.
    unsafe { Buffer::from_custom_allocation(start, length, Arc::new(AssertUnwindSafe(owner))) }
}

/// A piece that is being filled.
pub(super) struct PieceBuilder {
    memory: Memory,
    length: usize,
    stays: bool,
}

impl PieceBuilder {
    /// Memory for `length` bytes; beyond the limit only until the bytes are in the file.
    pub(super) fn new(context: &BaseTableContext, length: usize) -> Result<Self> {
        let (memory, stays) = match Memory::take(context, length, false) {
            Ok(memory) => (memory, true),
            Err(error) if error.is_memory_limit() => (Memory::take(context, length, true)?, false),
            Err(error) => return Err(error),
        };
        Ok(Self {
            memory,
            length,
            stays,
        })
    }

    /// The bytes, to be filled.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        self.memory.bytes_mut(self.length)
    }

    pub(super) fn finish(self, context: &BaseTableContext, file: &TempFile) -> Result<Piece> {
        let mut home = Home::default();
        if self.stays {
            home.memory = Some(into_buffer(context, self.memory, self.length, true));
        } else {
            home.file = Some(file.write(self.memory.bytes(self.length))?);
        }
        Ok(Piece {
            home: Mutex::new(home),
            length: self.length,
        })
    }
}

/// Where a piece is; at least one of both.
#[derive(Debug, Default)]
struct Home {
    memory: Option<Buffer>,
    file: Option<Extent>,
}

/// Bytes of a chunk. They never change.
#[derive(Debug)]
pub(super) struct Piece {
    home: Mutex<Home>,
    length: usize,
}

impl Piece {
    /// The bytes, read back if they are in the file. They stay in memory for the next scan when
    /// there is plenty of it.
    pub(super) fn load(&self, context: &BaseTableContext) -> Result<Buffer> {
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = &home.memory {
            return Ok(buffer.clone());
        }
        let extent = home.file.as_ref();
        let extent = extent.expect("a piece is in memory or in the file");
        let stays = has_plenty(&context.memory, self.length);
        let (mut memory, stays) = match Memory::take(context, self.length, !stays) {
            Err(error) if error.is_memory_limit() => {
                (Memory::take(context, self.length, true)?, false)
            }
            memory => (memory?, stays),
        };
        extent.read(memory.bytes_mut(self.length))?;
        let buffer = into_buffer(context, memory, self.length, stays);
        if stays {
            home.memory = Some(buffer.clone());
        }
        Ok(buffer)
    }

    /// Sends the piece to the file unless someone uses it; says how many bytes left memory.
    pub(super) fn send_away(&self, file: &TempFile) -> Result<u64> {
        let Ok(mut home) = self.home.try_lock() else {
            return Ok(0);
        };
        let Some(buffer) = home.memory.as_ref() else {
            return Ok(0);
        };
        if buffer.strong_count() > 1 || self.length == 0 {
            return Ok(0);
        }
        if home.file.is_none() {
            home.file = Some(file.write(buffer)?);
        }
        home.memory = None;
        Ok(self.length as u64)
    }

    /// Bytes in memory and in the file.
    pub(super) fn usage(&self) -> (u64, u64) {
        let home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |is_there: bool| if is_there { self.length as u64 } else { 0 };
        (of(home.memory.is_some()), of(home.file.is_some()))
    }
}

/// Whether half of the limit is free even with `bytes` more in use.
fn has_plenty(budget: &Budget, bytes: usize) -> bool {
    budget.available() > budget.effective_limit() / 2 + bytes as u64
}

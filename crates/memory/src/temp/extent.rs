//! A table's temporary file and its extents.
//!
//! An extent is stored in pieces of at most [`PIECE`] bytes. Each piece is compressed and encrypted separately, so that
//! the memory for that does not grow with the extent, and is in the first directory that has room for it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::codec::{Check, Encoded};
use super::disk_space::NoRoom;
use super::injected::{self, FaultInjection, Struck};
use super::lane::Allocation;
use super::shared::Inner;
use super::sizes::{EXTENT_UNIT, PIECE};
use super::tier::Refused;
use crate::budget::{Budget, Reservation};
use crate::error::{IoFailure, MemoryError, Result};

#[derive(Debug)]
struct FileInner {
    space: Arc<Inner>,
    lane: usize,
    budget: Budget,
    faults: Option<Arc<FaultInjection>>,
    counted: AtomicBool,
}

impl FileInner {
    /// The error of a write that a fault struck: the one that a device gives, in each directory if it is full.
    fn injected_failure(&self, struck: Struck, size: u64) -> MemoryError {
        let space = &self.space;
        let refused = space.tiers.iter().map(|tier| {
            let directory = tier.directory();
            let directory = directory.unwrap_or_else(|| tier.options().directory.clone());
            let path = directory.join(space.options.name(self.lane));
            let source = struck.error().unwrap_or_else(|| ErrorKind::Other.into());
            Refused::from(injected::failure(path, size, source))
        });
        let mut refusals: Vec<Refused> = refused.collect();
        match refusals.remove(0) {
            Refused::Failed(failure) => failure.into(),
            full => {
                refusals.insert(0, full);
                space.full(size, refusals)
            }
        }
    }
}

/// A table's temporary file: write extents, read them back in any order.
#[derive(Debug)]
pub struct TempFile(Arc<FileInner>);

impl TempFile {
    pub(super) fn new(
        space: Arc<Inner>,
        lane: usize,
        budget: Budget,
        faults: Option<Arc<FaultInjection>>,
    ) -> Self {
        Self(Arc::new(FileInner {
            space,
            lane,
            budget,
            faults,
            counted: AtomicBool::new(false),
        }))
    }

    /// Writes `bytes` as one extent. The budget is charged the bytes of the file that it takes.
    pub fn write(&self, bytes: &[u8]) -> Result<Extent> {
        let inner = &*self.0;
        let codec = &inner.space.codec;
        // From here on the extent's drop returns the space.
        let mut extent = Extent {
            file: Arc::clone(&self.0),
            length: 0,
            pieces: Pieces::None,
            reservation: inner.budget.reservation(),
        };
        for piece in bytes.chunks(PIECE) {
            let mut workspace = codec.workspace(piece.len());
            let encoded = codec.encode(piece, workspace.as_deref_mut());
            let encoded = encoded.map_err(|source| IoFailure {
                operation: "encrypt",
                path: inner.space.options.tiers[0].directory.clone(),
                offset: 0,
                bytes: piece.len() as u64,
                source,
            })?;
            extent.append(piece.len(), &encoded)?;
        }
        if !inner.counted.swap(true, Ordering::Relaxed) {
            inner.space.counters.count_file();
        }
        inner.space.counters.count_write();
        Ok(extent)
    }

    /// The budget that is charged.
    pub fn budget(&self) -> &Budget {
        &self.0.budget
    }
}

/// A piece of an extent, in its stored form.
#[derive(Debug)]
struct Piece {
    tier: usize,
    allocation: Allocation,
    length: usize,
    stored: usize,
    is_compressed: bool,
    check: Check,
}

/// The pieces of an extent; most have one.
#[derive(Debug)]
enum Pieces {
    None,
    One(Piece),
    Many(Vec<Piece>),
}

impl Pieces {
    fn as_slice(&self) -> &[Piece] {
        match self {
            Self::None => &[],
            Self::One(piece) => std::slice::from_ref(piece),
            Self::Many(pieces) => pieces,
        }
    }

    fn push(&mut self, piece: Piece) {
        *self = match std::mem::replace(self, Self::None) {
            Self::None => Self::One(piece),
            Self::One(first) => Self::Many(vec![first, piece]),
            Self::Many(mut pieces) => {
                pieces.push(piece);
                Self::Many(pieces)
            }
        };
    }

    fn pop(&mut self) -> Option<Piece> {
        match std::mem::replace(self, Self::None) {
            Self::None => None,
            Self::One(piece) => Some(piece),
            Self::Many(mut pieces) => {
                let last = pieces.pop();
                *self = Self::Many(pieces);
                last
            }
        }
    }
}

/// Bytes in temporary files. Dropping it gives the space back.
pub struct Extent {
    file: Arc<FileInner>,
    length: usize,
    pieces: Pieces,
    reservation: Reservation,
}

impl Extent {
    /// Bytes written.
    #[expect(clippy::len_without_is_empty, reason = "no extent is empty")]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Bytes of files that it takes.
    #[cfg(test)]
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.reservation.bytes()
    }

    /// The file that holds its first bytes.
    pub fn path(&self) -> &Path {
        let first = self.pieces.as_slice().first();
        first.map_or(Path::new(""), |piece| &piece.allocation.file.path)
    }

    /// Tells the system that all bytes of some extents are read back soon. Those that lie side by side, as small ones of one
    /// table do, are one request.
    pub fn will_need<'e>(extents: impl Iterator<Item = &'e Self>) {
        let pieces = extents.flat_map(|extent| extent.pieces.as_slice());
        let mut parts: Vec<&Allocation> = pieces.map(|piece| &piece.allocation).collect();
        parts.sort_unstable_by_key(|part| (Arc::as_ptr(&part.file), part.offset));
        let follows = |one: &&Allocation, next: &&Allocation| {
            Arc::ptr_eq(&one.file, &next.file) && one.offset + one.size == next.offset
        };
        for run in parts.chunk_by(follows) {
            let size = run.iter().map(|part| part.size).sum();
            run[0].file.file.will_need(run[0].offset, size);
        }
    }

    /// Reads all bytes back into the first `len()` bytes of `bytes` and checks them.
    ///
    /// # Panics
    /// When `bytes` is shorter than the extent.
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        let mut rest = &mut bytes[..self.length];
        if let Some(faults) = &self.file.faults {
            faults.delay_read();
        }
        for piece in self.pieces.as_slice() {
            let (bytes, behind) = std::mem::take(&mut rest).split_at_mut(piece.length);
            rest = behind;
            let allocation = &piece.allocation;
            let codec = &self.file.space.codec;
            let read = |bytes: &mut [u8]| {
                let file = &allocation.file.file;
                let read = |done: usize, offset| file.read_at(&mut bytes[done..], offset);
                allocation.transfer("read", piece.stored, ErrorKind::UnexpectedEof, read)
            };
            let (stored, is_compressed) = (piece.stored, piece.is_compressed);
            if !codec.decode(bytes, stored, is_compressed, &piece.check, read)? {
                return Err(MemoryError::Corrupt {
                    path: allocation.file.path.clone(),
                    offset: allocation.offset,
                    bytes: stored as u64,
                });
            }
        }
        Ok(())
    }

    /// Stores a piece of `length` bytes in the first directory that has room for it.
    fn append(&mut self, length: usize, encoded: &Encoded<'_>) -> Result<()> {
        let file = Arc::clone(&self.file);
        let tiers = &file.space.tiers;
        let size = (encoded.bytes.len() as u64).next_multiple_of(EXTENT_UNIT);
        self.reservation.try_grow(size)?;
        let faults = file.faults.as_deref();
        let struck = faults.and_then(|faults| faults.strike_write(encoded.bytes.len()));
        let wrong = match struck {
            Some(Struck::Corrupt) => injected::with_wrong_bit(encoded.bytes),
            Some(struck) => return Err(file.injected_failure(struck, size)),
            None => Vec::new(),
        };
        let encoded = &Encoded {
            bytes: if wrong.is_empty() {
                encoded.bytes
            } else {
                &wrong
            },
            ..*encoded
        };
        let mut refusals = Vec::new();
        for number in 0..tiers.len() {
            match self.append_to(number, length, encoded)? {
                None => return Ok(()),
                Some(refused) => refusals.push(refused),
            }
        }
        // Before giving up, full devices are asked again.
        for (number, refused) in refusals.iter_mut().enumerate() {
            if matches!(refused, Refused::NoRoom(NoRoom::Device)) {
                tiers[number].disk.forget_full_device();
                match self.append_to(number, length, encoded)? {
                    None => return Ok(()),
                    Some(again) => *refused = again,
                }
            }
        }
        Err(file.space.full(size, refusals))
    }

    /// Stores a piece in a directory, unless that is full.
    fn append_to(
        &mut self,
        number: usize,
        length: usize,
        encoded: &Encoded<'_>,
    ) -> Result<Option<Refused>> {
        let file = Arc::clone(&self.file);
        let (space, lane) = (&*file.space, file.lane);
        let tier = &space.tiers[number];
        let bytes = encoded.bytes;
        let size = (bytes.len() as u64).next_multiple_of(EXTENT_UNIT);
        let allocated = tier.allocate(lane, size, &space.tiers, (&*space.io, &space.options));
        let allocation = match allocated {
            Ok(allocation) => allocation,
            Err(Refused::Full(failure)) => {
                tier.disk.note_full_device();
                return Ok(Some(Refused::Full(failure)));
            }
            Err(Refused::Failed(failure)) => return Err(failure.into()),
            Err(refused) => return Ok(Some(refused)),
        };
        let open = Arc::clone(&allocation.file);
        self.length += length;
        self.pieces.push(Piece {
            tier: number,
            allocation,
            length,
            stored: bytes.len(),
            is_compressed: encoded.is_compressed,
            check: encoded.check,
        });
        let write = |done: usize, offset| open.file.write_at(&bytes[done..], offset);
        let pieces = self.pieces.as_slice();
        let allocation = &pieces[pieces.len() - 1].allocation;
        let Err(failure) = allocation.transfer("write", bytes.len(), ErrorKind::WriteZero, write)
        else {
            return Ok(None);
        };
        if !failure.is_disk_full() {
            return Err(failure.into());
        }
        if let Some(piece) = self.pieces.pop() {
            self.length -= length;
            tier.give_back_unwritten(lane, &piece.allocation);
        }
        Ok(Some(Refused::Full(failure)))
    }
}

impl std::fmt::Debug for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Extent({} bytes in '{}')",
            self.length,
            self.path().display()
        )
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        let file = &*self.file;
        while let Some(piece) = self.pieces.pop() {
            file.space.tiers[piece.tier].give_back(file.lane, piece.allocation);
        }
    }
}

impl Allocation {
    /// Moves `length` bytes. `step` moves bytes from an index on, at an offset of the file, and returns how many; 0 is
    /// the error `at_end`.
    fn transfer(
        &self,
        operation: &'static str,
        length: usize,
        at_end: ErrorKind,
        mut step: impl FnMut(usize, u64) -> std::io::Result<usize>,
    ) -> Result<(), IoFailure> {
        let mut done = 0;
        while done < length {
            let offset = self.offset + done as u64;
            let error = match step(done, offset) {
                Ok(0) => at_end.into(),
                Ok(moved) => {
                    done += moved;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(IoFailure {
                operation,
                path: self.file.path.clone(),
                offset,
                bytes: (length - done) as u64,
                source: error,
            });
        }
        Ok(())
    }
}

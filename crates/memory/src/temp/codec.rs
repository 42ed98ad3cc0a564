//! Encoding of bytes between memory and a file: compression, then encryption, and a check.
//!
//! Bytes are compressed if that saves a unit of file space, and then encrypted. LZ4 (block format) is the compression;
//! AES-256 in Galois/counter mode (NIST SP 800-38D) is the encryption. The key belongs to one process and never leaves
//! its memory. A nonce is a counter that no two writes share, whatever position of a file they go to, and stays in
//! memory like the tag, so that an old content of the same position, or the content of another, fails the check.
//!
//! Both need a buffer for their output: a *workspace*. There is at most one per lane, made when it is needed and kept
//! until the space is trimmed; a thread that finds none free waits for one.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};
use xxhash_rust::xxh3::xxh3_64;

use super::sizes::{EXTENT_UNIT, PIECE};
use crate::budget::{Budget, Reservation};
use crate::sync::lock;

/// Compression of temporary files: `tmp_files_compression`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// LZ4, where it saves space.
    Lz4,
}

/// A key of AES-256 for the temporary files of one process. It is never printed.
#[derive(Clone)]
pub struct EncryptionKey([u8; 32]);

impl EncryptionKey {
    /// A key of random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey")
    }
}

const TAG: usize = 16;

/// Check of stored bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// XXH3 of the stored bytes.
    Checksum(u64),
    /// Nonce and tag of encrypted bytes.
    Sealed { nonce: u64, tag: [u8; TAG] },
}

/// Bytes in their stored form.
#[derive(Debug)]
pub(super) struct Encoded<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_compressed: bool,
    pub(super) check: Check,
}

struct Cipher {
    key: LessSafeKey,
    next_nonce: AtomicU64,
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl Cipher {
    fn new(key: &EncryptionKey) -> Option<Self> {
        let key = UnboundKey::new(&AES_256_GCM, &key.0).ok()?;
        Some(Self {
            key: LessSafeKey::new(key),
            next_nonce: AtomicU64::new(0),
        })
    }

    /// Encrypts by `seal`, which gets a nonce that no other call has.
    fn seal<E>(&self, seal: impl FnOnce(Nonce) -> Result<[u8; TAG], E>) -> io::Result<Check> {
        let number = self.next_nonce.fetch_add(1, Ordering::Relaxed);
        let tag = seal(nonce(number)).map_err(|_| io::Error::other("the encryption failed"))?;
        Ok(Check::Sealed { nonce: number, tag })
    }
}

/// Encoder and decoder of stored bytes, with its workspaces.
pub(super) struct Codec {
    compression: AtomicU8,
    cipher: Option<Cipher>,
    workspaces: Workspaces,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("compression", &self.compression())
            .field("is_encrypted", &self.is_encrypted())
            .finish_non_exhaustive()
    }
}

impl Codec {
    pub(super) fn new(
        compression: Compression,
        key: Option<&EncryptionKey>,
        workspaces: usize,
        memory: Option<Budget>,
    ) -> Self {
        let cipher = |key| Cipher::new(key).expect("a key of 32 bytes is one of AES-256");
        let codec = Self {
            compression: AtomicU8::new(0),
            cipher: key.map(cipher),
            workspaces: Workspaces {
                slots: (0..workspaces.max(1)).map(|_| Mutex::default()).collect(),
                memory,
            },
        };
        codec.set_compression(compression);
        codec
    }

    pub(super) fn compression(&self) -> Compression {
        match self.compression.load(Ordering::Relaxed) {
            0 => Compression::None,
            _ => Compression::Lz4,
        }
    }

    pub(super) fn set_compression(&self, compression: Compression) {
        let number = match compression {
            Compression::None => 0,
            Compression::Lz4 => 1,
        };
        self.compression.store(number, Ordering::Relaxed);
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.cipher.is_some()
    }

    /// Frees the memory of unused workspaces.
    pub(super) fn trim(&self) {
        for slot in &self.workspaces.slots {
            if let Some(mut slot) = try_lock(slot) {
                *slot = None;
            }
        }
    }

    /// Whether bytes of this length are compressed: those of one unit take one unit anyway.
    fn compresses(&self, length: usize) -> bool {
        self.compression() != Compression::None && length as u64 > EXTENT_UNIT
    }

    /// The workspace that [`Self::encode`] needs for `length` bytes; `None` when they are stored as they are.
    pub(super) fn workspace(&self, length: usize) -> Option<WorkspaceGuard<'_>> {
        let is_needed = self.compresses(length) || self.is_encrypted();
        is_needed.then(|| self.workspaces.take())
    }

    /// The stored form of the bytes.
    pub(super) fn encode<'a>(
        &self,
        bytes: &'a [u8],
        workspace: Option<&'a mut Workspace>,
    ) -> io::Result<Encoded<'a>> {
        let Some(workspace) = workspace else {
            return Ok(checked(bytes, false));
        };
        let compressed = if self.compresses(bytes.len()) {
            workspace.compress(bytes)
        } else {
            None
        };
        let buffer = &mut workspace.buffer;
        let stored = compressed.unwrap_or(bytes.len());
        let is_compressed = compressed.is_some();
        let Some(cipher) = &self.cipher else {
            let stored = if is_compressed {
                &buffer[..stored]
            } else {
                bytes
            };
            return Ok(checked(stored, is_compressed));
        };
        let check = cipher.seal(|nonce| {
            let (key, mut tag) = (&cipher.key, [0; TAG]);
            if is_compressed {
                let buffer = &mut buffer[..stored];
                let sealed = key.seal_in_place_separate_tag(nonce, Aad::empty(), buffer);
                tag.copy_from_slice(sealed?.as_ref());
            } else {
                let buffer = &mut buffer[..stored];
                key.seal_out_of_place_scatter(nonce, Aad::empty(), bytes, buffer, &[], &mut tag)?;
            }
            Ok::<_, aws_lc_rs::error::Unspecified>(tag)
        })?;
        Ok(Encoded {
            bytes: &buffer[..stored],
            is_compressed,
            check,
        })
    }

    /// Fills `bytes` from `stored` bytes that `read` reads; false when the check fails.
    pub(super) fn decode<E>(
        &self,
        bytes: &mut [u8],
        stored: usize,
        is_compressed: bool,
        check: &Check,
        read: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        if !is_compressed {
            read(bytes)?;
            return Ok(self.open(bytes, check));
        }
        let mut workspace = self.workspaces.take();
        let buffer = &mut workspace.buffer[..stored];
        read(buffer)?;
        let is_whole = self.open(buffer, check);
        let length = bytes.len();
        Ok(is_whole && decompress_into(buffer, bytes).is_ok_and(|filled| filled == length))
    }

    /// Checks stored bytes, and decrypts them in place.
    fn open(&self, bytes: &mut [u8], check: &Check) -> bool {
        match (check, &self.cipher) {
            (Check::Checksum(checksum), _) => xxh3_64(bytes) == *checksum,
            (Check::Sealed { nonce: number, tag }, Some(cipher)) => cipher
                .key
                .open_in_place_separate_tag(nonce(*number), Aad::empty(), tag, bytes)
                .is_ok(),
            (Check::Sealed { .. }, None) => false,
        }
    }
}

fn checked(bytes: &[u8], is_compressed: bool) -> Encoded<'_> {
    Encoded {
        bytes,
        is_compressed,
        check: Check::Checksum(xxh3_64(bytes)),
    }
}

/// Memory to compress, encrypt and decompress one piece in.
pub(super) struct Workspace {
    buffer: Vec<u8>,
    table: CompressTable,
}

impl Workspace {
    /// The compressor asks for more room than it uses.
    const BUFFER: usize = get_maximum_output_size(PIECE);
    /// With the compressor's table of 4096 positions.
    const BYTES: u64 = Self::BUFFER as u64 + (16 << 10);

    fn new() -> Self {
        Self {
            buffer: vec![0; Self::BUFFER],
            table: CompressTable::large(),
        }
    }

    /// Compresses into the buffer; returns the compressed length if it saves a unit.
    fn compress(&mut self, bytes: &[u8]) -> Option<usize> {
        let length = compress_into_with_table(bytes, &mut self.buffer, &mut self.table).ok()?;
        let units = |length: usize| (length as u64).div_ceil(EXTENT_UNIT);
        (units(length) < units(bytes.len())).then_some(length)
    }
}

struct Workspaces {
    slots: Box<[Mutex<Option<Workspace>>]>,
    /// Charged while a workspace is in use.
    memory: Option<Budget>,
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Workspaces {
    fn take(&self) -> WorkspaceGuard<'_> {
        let reserve = || {
            let memory = self.memory.as_ref();
            memory
                .map(|memory| memory.reserve_forced(Workspace::BYTES))
                .transpose()
        };
        // The first workspace is there whatever the limit: without it, no table could overflow.
        let first = try_lock(&self.slots[0]).map(|slot| (slot, reserve().unwrap_or(None)));
        let free = first.or_else(|| {
            let slot = self.slots[1..].iter().find_map(try_lock)?;
            Some((slot, reserve().ok()?))
        });
        let (mut slot, reservation) =
            free.unwrap_or_else(|| (lock(&self.slots[0]), reserve().unwrap_or(None)));
        slot.get_or_insert_with(Workspace::new);
        WorkspaceGuard {
            _reservation: reservation,
            slot,
        }
    }
}

/// A workspace that nobody else uses until this is dropped.
pub(super) struct WorkspaceGuard<'a> {
    /// Dropped first, so that no two reservations are charged for one workspace.
    _reservation: Option<Reservation>,
    slot: MutexGuard<'a, Option<Workspace>>,
}

impl Deref for WorkspaceGuard<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.slot.as_ref().expect("it is made before it is given")
    }
}

impl DerefMut for WorkspaceGuard<'_> {
    fn deref_mut(&mut self) -> &mut Workspace {
        self.slot.as_mut().expect("it is made before it is given")
    }
}

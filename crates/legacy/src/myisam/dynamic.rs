//! Rows of varying length (DYNAMIC): a row is one block, or several linked ones.
//!
//! A block is a header of 11 bytes and room for bytes of a row:
//!
//! | bytes | |
//! |---|---|
//! | 1 | 1 the whole row, 2 its first block, 3 one in between, 4 its last |
//! | 3 | bytes of room |
//! | 3 | bytes of the room that the row uses |
//! | 4 | a checksum of the rest |
//!
//! In blocks of kinds 2 and 3 the room begins with the offset of the next one. An updated row keeps its blocks; when
//! it needs more, the last block of the file is extended, others get a new block at the end of the file. A row stays
//! where it was first written, so that its position never changes.

use mayfly_memory::Result;
use mayfly_storage::values::StoredValue;

use super::rows::{CHECKSUM_BYTES, RowFile, SequentialReader, checksum};
use crate::refusal::Outcome;
use crate::row::{PackedLayout, PackedValue};

const HEADER: usize = 7 + CHECKSUM_BYTES;
const LINK: usize = 8;
/// Minimum room of a block: MyISAM's blocks have 20 bytes at least.
const ROOM_MIN: usize = 9;
/// Maximum room of a block.
const ROOM_MAX: usize = (1 << 24) - 4;
/// Number of bytes that are read first of a row of unknown length.
const HEADER_READ: usize = 20;

const WHOLE: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

#[derive(Debug, Clone, Copy)]
struct Header {
    kind: u8,
    room: usize,
    used: usize,
}

impl Header {
    fn link_bytes(self) -> usize {
        if matches!(self.kind, FIRST | MIDDLE) {
            LINK
        } else {
            0
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let three = |at: usize| {
            let bytes = bytes.get(at..at + 3)?;
            Some(usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16)
        };
        let header = Self {
            kind: *bytes.first()?,
            room: three(1)?,
            used: three(4)?,
        };
        let is_valid = (WHOLE..=LAST).contains(&header.kind)
            && header.link_bytes() + header.used <= header.room;
        is_valid.then_some(header)
    }
}

/// Appends the written part of a block to `out`, without unused room.
fn put_block(header: Header, link: u64, bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.push(header.kind);
    out.extend_from_slice(&(header.room as u32).to_le_bytes()[..3]);
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes()[..3]);
    out.extend_from_slice(&[0; CHECKSUM_BYTES]);
    if header.link_bytes() > 0 {
        out.extend_from_slice(&link.to_le_bytes());
    }
    out.extend_from_slice(bytes);
    let sum = block_checksum(&out[start..]);
    out[start + 7..start + HEADER].copy_from_slice(&sum);
}

fn block_checksum(block: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let of_header = checksum(&block[..7]);
    let of_rest = checksum(&block[HEADER..]);
    (u32::from_le_bytes(of_header).rotate_left(7) ^ u32::from_le_bytes(of_rest)).to_le_bytes()
}

/// The link of a block with a valid checksum, and its bytes of the row.
fn open_block(header: Header, block: &[u8]) -> Option<(u64, &[u8])> {
    let end = HEADER + header.link_bytes() + header.used;
    let block = block.get(..end)?;
    if block_checksum(block) != block[7..HEADER] {
        return None;
    }
    let (link, bytes) = block[HEADER..].split_at(header.link_bytes());
    let link = link.try_into().map_or(0, u64::from_le_bytes);
    Some((link, bytes))
}

#[derive(Debug)]
pub(super) struct DynamicRows {
    layout: PackedLayout,
    pub(super) file: RowFile,
    blocks: Vec<u8>,
}

impl DynamicRows {
    pub(super) fn new(layout: PackedLayout, file: RowFile) -> Self {
        Self {
            layout,
            file,
            blocks: Vec::new(),
        }
    }

    pub(super) fn encode(&self, row: &[StoredValue<'_>], out: &mut Vec<u8>) -> Outcome<()> {
        let row = row.iter().map(|value| PackedValue::Value(*value));
        self.layout.pack(row, out)
    }

    /// Appends a row.
    pub(super) fn append(&mut self, row: &[u8]) -> Outcome<u64> {
        Ok(self.append_blocks(row, WHOLE, FIRST)?)
    }

    /// Appends bytes of a row as one block of kind `one`, or as several, the first of kind `first`.
    fn append_blocks(&mut self, mut bytes: &[u8], one: u8, first: u8) -> Result<u64> {
        let end = self.file.end();
        self.blocks.clear();
        let mut kinds = (one, first);
        loop {
            let is_last = bytes.len() <= ROOM_MAX;
            let (kind, part) = if is_last {
                (kinds.0, bytes.len())
            } else {
                (kinds.1, ROOM_MAX - LINK)
            };
            let header = Header {
                kind,
                room: if is_last {
                    part.max(ROOM_MIN)
                } else {
                    ROOM_MAX
                },
                used: part,
            };
            let start = self.blocks.len();
            let next = end + (start + HEADER + header.room) as u64;
            put_block(header, next, &bytes[..part], &mut self.blocks);
            self.blocks.resize(start + HEADER + header.room, 0);
            bytes = &bytes[part..];
            if is_last {
                break;
            }
            kinds = (LAST, MIDDLE);
        }
        self.file.append(&self.blocks)
    }

    /// Appends a block's bytes of the row to `image`. `expected` is the likely length, if any is known. Returns the
    /// block's header and link.
    fn read_block(
        &self,
        at: u64,
        expected: usize,
        image: &mut Vec<u8>,
        block: &mut Vec<u8>,
    ) -> Result<(Header, u64)> {
        let left = self.file.end().saturating_sub(at);
        let first = (HEADER + LINK + expected).max(HEADER_READ);
        block.clear();
        block.resize(left.min(first as u64) as usize, 0);
        self.file.read(block, at)?;
        let corrupt = || self.file.corrupt(at, HEADER);
        let header = Header::parse(block).ok_or_else(corrupt)?;
        let whole = HEADER + header.link_bytes() + header.used;
        if whole as u64 > left {
            return Err(corrupt());
        }
        let known = block.len();
        if whole > known {
            block.resize(whole, 0);
            self.file.read(&mut block[known..], at + known as u64)?;
        }
        let (link, bytes) = open_block(header, block).ok_or_else(corrupt)?;
        image.extend_from_slice(bytes);
        Ok((header, link))
    }

    /// Appends a row to `image`.
    pub(super) fn read(&self, position: u64, image: &mut Vec<u8>) -> Outcome<()> {
        let mut block = Vec::new();
        let mut at = position;
        loop {
            let (header, link) = self.read_block(at, 0, image, &mut block)?;
            if header.link_bytes() == 0 {
                return Ok(());
            }
            at = link;
        }
    }

    /// Calls a function with each column of a row.
    pub(super) fn each(
        &self,
        position: u64,
        row: &[u8],
        mut take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<()> {
        let mut is_whole = true;
        let unpacked = self.layout.each(row, |column, value, _| match value {
            PackedValue::Value(value) => take(column, value),
            PackedValue::External(_) => is_whole = false,
        });
        if unpacked.is_ok() && is_whole {
            Ok(())
        } else {
            Err(self.file.corrupt(position, row.len()).into())
        }
    }

    /// Updates the columns from `first` on of a row whose bytes are `image`.
    pub(super) fn update(
        &mut self,
        position: u64,
        image: &[u8],
        first: usize,
        values: &[StoredValue<'_>],
        scratch: &mut Vec<u8>,
    ) -> Outcome<()> {
        let values = values.iter().map(|value| PackedValue::Value(*value));
        self.layout.repack(image, first, values, scratch)?;
        Ok(self.rewrite(position, image.len(), scratch)?)
    }

    fn rewrite(&mut self, position: u64, expected: usize, mut bytes: &[u8]) -> Result<()> {
        let (mut old, mut block) = (Vec::new(), Vec::new());
        let mut at = position;
        loop {
            old.clear();
            let (mut header, mut link) = self.read_block(at, expected, &mut old, &mut block)?;
            if header.link_bytes() == 0 && bytes.len() > header.room {
                let is_at_end = at + (HEADER + header.room) as u64 == self.file.end();
                if is_at_end && bytes.len() <= ROOM_MAX {
                    self.file.extend((bytes.len() - header.room) as u64)?;
                    header.room = bytes.len();
                } else {
                    let rest = &bytes[header.room - LINK..];
                    link = self.append_blocks(rest, LAST, MIDDLE)?;
                    header.kind = if header.kind == WHOLE { FIRST } else { MIDDLE };
                    bytes = &bytes[..header.room - LINK];
                    self.write_block(at, header, link, bytes, &mut block)?;
                    return Ok(());
                }
            }
            let part = bytes.len().min(header.room - header.link_bytes());
            self.write_block(at, header, link, &bytes[..part], &mut block)?;
            if header.link_bytes() == 0 {
                return Ok(());
            }
            bytes = &bytes[part..];
            at = link;
        }
    }

    fn write_block(
        &self,
        at: u64,
        header: Header,
        link: u64,
        bytes: &[u8],
        block: &mut Vec<u8>,
    ) -> Result<()> {
        block.clear();
        put_block(header, link, bytes, block);
        self.file.write(block, at)
    }

    pub(super) fn next_row(
        &self,
        reader: &mut SequentialReader,
        take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<Option<u64>> {
        loop {
            let position = reader.next;
            if position >= self.file.end() {
                return Ok(None);
            }
            let corrupt = || self.file.corrupt(position, HEADER);
            let header = reader.bytes(&self.file, position, HEADER)?;
            let header = Header::parse(header).ok_or_else(corrupt)?;
            let whole = HEADER + header.link_bytes() + header.used;
            // The room behind the row's bytes may not have been written, if the block is the last one.
            let block = reader.bytes(&self.file, position, whole)?;
            let (_, bytes) = open_block(header, block).ok_or_else(corrupt)?;
            let next = position + (HEADER + header.room) as u64;
            match header.kind {
                WHOLE => self.each(position, bytes, take)?,
                FIRST => {
                    let mut row = Vec::new();
                    self.read(position, &mut row)?;
                    self.each(position, &row, take)?;
                }
                _ => {
                    reader.next = next;
                    continue;
                }
            }
            reader.next = next;
            return Ok(Some(position));
        }
    }
}

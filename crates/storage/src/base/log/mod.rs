//! The redo log: changes committed since the last checkpoint of the data file.
//!
//! LMDB needs two syncs for a commit, one before and one after the meta page that identifies the last state. So it
//! never syncs here: the changes of a commit go to the log first, with one sync, and the file is synced now and then,
//! at a checkpoint. A checkpoint keeps a copy of the file's meta pages (its first two) and a snapshot of that state,
//! so that none of its pages is reused. Opening a directory restores those pages, whatever of the later ones came to
//! disk, and applies the changes of the log again (ARIES' redo: Mohan et al., TODS 1992).
//! The log holds the changed rows, not the blocks: those are made from the state of the checkpoint, by the code that
//! changed them first ([`super::environment::file_writer`]).
//!
//! ```text
//! file:   header | header | frames                the valid header of the greatest generation counts;
//!                                                 an even one is first, and each has room for 160 KiB
//! header: checksum u64 | generation u64 | length u32 | the first pages of the data file
//!         | checksum u64 | generation u64 | bytes of the data file u64
//! frame:  checksum u64 | generation u64 | group u64 | length u32 | is last u32 | changes
//! ```
//! Changes are entries of [`super::redo`]. `docs/file-format.md` describes each field.
//!
//! A group is what one commit of the file changes; it counts when its last frame is there. Groups are numbered, failed
//! ones too: the remainder of a longer group behind a shorter one that overwrote it is no part of the log, since its
//! number is smaller. The upper half of a number is random for each opening: what an earlier process has left behind
//! the end of the log is no part of it either.
//!
//! After a failed sync, Linux treats the pages that it could not write as written ("PostgreSQL's fsync() surprise",
//! LWN 2018; Rebello et al., "Can Applications Recover from fsync Failures?", ATC 2020): the next sync succeeds
//! without them. So everything written since the last successful sync is written again before the next one, and the
//! log does not begin anew until that is done.

use std::io::{Error, ErrorKind, Result};

use mayfly_memory::io::{DataDirectory, DirectoryFile};

use super::redo::{self, ChangeReader, Redo};

/// Name of the log file.
pub(super) const LOG_FILE: &str = "redo.log";
/// Space for a header.
const SLOT_BYTES: u64 = 160 << 10;
/// Offset of the first frame.
const FRAMES: u64 = 2 * SLOT_BYTES;
const HEADER_BYTES: usize = 20;
const FRAME_BYTES: usize = 32;
/// Mark of a new log in the place of the second header, until a first header exists.
const BEGINNING: &[u8; 16] = b"mayfly begins...";
/// Bytes of the trailer behind the pages of a header.
const TRAILER_BYTES: usize = 24;
/// Bytes of changes at which a frame is written.
const FRAME_FULL: usize = 1 << 20;
/// Step in which the file grows: a sync is cheaper when it does not change the length.
const STEP: u64 = 1 << 20;
/// File length to which a checkpoint shrinks the log.
const SPARE_BYTES: u64 = 64 << 20;

/// Step of recovery.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// Apply a change.
    Change(Redo<'a>),
    /// Commit the changes since the last commit; with the group's bytes in the log.
    Commit(u64),
}

/// The open log.
#[derive(Debug)]
pub(super) struct Log {
    file: DirectoryFile,
    generation: u64,
    /// The random upper half of group numbers.
    salt: u32,
    /// The number of the last group; 0 while the generation has none.
    group: u64,
    /// Offset of the next group.
    end: u64,
    /// Offset of the next frame of the open group.
    at: u64,
    /// Length of the file.
    length: u64,
    /// Buffer of the next frame.
    frame: Vec<u8>,
    /// Offset up to which the file is on disk.
    synced: u64,
    /// Whether the last sync has failed: the state on disk behind `synced` is unknown.
    has_failed_sync: bool,
    /// Whether the groups were read.
    is_read: bool,
    /// Whether the data file has changes that are in no group.
    is_incomplete: bool,
    /// Offset of a header whose write has failed and may still be on disk.
    doubtful: Option<u64>,
}

fn checksum(bytes: &[u8]) -> u64 {
    super::block::checksum_of(bytes)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> usize {
    let bytes = bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, |bytes| u32::from_le_bytes(bytes) as usize)
}

/// Header of the log: a checkpoint.
#[derive(Debug)]
pub(super) struct Header {
    generation: u64,
    /// The meta pages of the data file.
    pub(super) pages: Vec<u8>,
    /// The length of the data file, if the header has it.
    pub(super) data_bytes: Option<u64>,
}

impl Log {
    /// Opens the log of a directory, with its last checkpoint; `None` where there was no log.
    pub(super) fn open(directory: &DataDirectory) -> Result<(Self, Option<Header>)> {
        let file = directory.file(LOG_FILE)?;
        let length = file.length()?;
        let mut newest: Option<Header> = None;
        for slot in [0, SLOT_BYTES] {
            if let Some(header) = read_header(&file, length, slot)?
                && newest
                    .as_ref()
                    .is_none_or(|newest| newest.generation < header.generation)
            {
                newest = Some(header);
            }
        }
        if newest.is_none() && length > FRAMES {
            let text = "the redo log has no header that is whole";
            return Err(Error::new(ErrorKind::InvalidData, text));
        }
        if let Some(header) = &newest {
            // The header may be in the page cache alone, if a sync of an earlier process has failed.
            file.write_at(&header.encode(), slot_of(header.generation))?;
            file.sync()?;
        }
        let random = super::random::number();
        let log = Self {
            file,
            generation: newest.as_ref().map_or(0, |header| header.generation),
            salt: random as u32,
            group: 0,
            end: FRAMES,
            at: FRAMES,
            length,
            frame: Vec::new(),
            synced: FRAMES,
            has_failed_sync: false,
            is_read: false,
            is_incomplete: false,
            doubtful: None,
        };
        if log.has_later_generation()? {
            let text = "the newest header of the redo log is damaged";
            return Err(Error::new(ErrorKind::InvalidData, text));
        }
        Ok((log, newest))
    }

    /// Whether the frames are of a later generation than the headers: a header is on disk before its first frame, so
    /// this is damage and no remainder of a power cut.
    fn has_later_generation(&self) -> Result<bool> {
        let mut frame = [0; FRAME_BYTES];
        if self.length < FRAMES + FRAME_BYTES as u64 {
            return Ok(false);
        }
        self.file.read_at(&mut frame, FRAMES)?;
        let generation = word(&frame, 8);
        Ok(generation > self.generation && self.frame_of(generation, FRAMES)?.is_some())
    }

    /// Whether the log was begun beside an empty data file, and had no checkpoint since.
    pub(super) fn has_begun(&self) -> Result<bool> {
        let mut note = [0; BEGINNING.len()];
        if self.length < note.len() as u64 {
            return Ok(false);
        }
        self.file.read_at(&mut note, 0)?;
        Ok(self.generation == 0 && note == *BEGINNING)
    }

    /// Marks the log as begun beside an empty data file.
    pub(super) fn note_beginning(&mut self) -> Result<()> {
        self.file.write_at(BEGINNING, 0)?;
        self.length = self.length.max(BEGINNING.len() as u64);
        self.bring_to_disk()
    }

    /// The last checkpoint, from which recovery starts.
    pub(super) fn last_checkpoint(&mut self) -> Result<Header> {
        self.remove_doubtful()?;
        let header = read_header(&self.file, self.length, slot_of(self.generation))?;
        let header = header.filter(|header| header.generation == self.generation);
        header.ok_or_else(|| Error::new(ErrorKind::InvalidData, "the redo log has lost its header"))
    }

    /// Calls `each` with the changes of all groups, and sets the end of the log behind them.
    pub(super) fn replay<E>(
        &mut self,
        failed: impl Fn(Error) -> E,
        mut each: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let damaged = |what: &str| failed(Error::new(ErrorKind::InvalidData, what));
        let mut reader = ChangeReader::new();
        let (mut begin, mut last) = (FRAMES, None);
        // Bytes behind the end of an open log are failed groups.
        while (!self.is_read || begin < self.end)
            && let Some((end, group)) = self.end_of_group(begin, last).map_err(&failed)?
        {
            let mut at = begin;
            while at < end {
                let frame = self.read_frame(at).map_err(&failed)?;
                let (frame, _) = frame.ok_or_else(|| damaged("the redo log changes"))?;
                at += frame.len() as u64;
                let is_whole =
                    reader.read(&frame[FRAME_BYTES..], |change| each(Step::Change(change)))?;
                if !is_whole {
                    return Err(damaged("a change of the redo log makes no sense"));
                }
            }
            each(Step::Commit(end - begin))?;
            (begin, last) = (end, Some(group));
        }
        if begin < self.end {
            return Err(damaged("the redo log has lost groups that were in it"));
        }
        self.group = self.group.max(last.unwrap_or(0));
        self.end = begin;
        self.at = begin;
        self.is_read = true;
        Ok(())
    }

    /// The end and the number of the complete group at `start` that follows the group `last`, if any.
    fn end_of_group(&self, start: u64, last: Option<u64>) -> Result<Option<(u64, u64)>> {
        let follows = |group: u64| {
            last.is_none_or(|last| last >> u32::BITS == group >> u32::BITS && last < group)
        };
        let (mut at, mut number) = (start, None);
        while let Some((frame, is_last)) = self.read_frame(at)? {
            let group = word(&frame, 16);
            if !follows(group) || number.is_some_and(|number| number != group) {
                return Ok(None);
            }
            number = Some(group);
            at += frame.len() as u64;
            if is_last {
                return Ok(Some((at, group)));
            }
        }
        Ok(None)
    }

    /// The changes of the frame at an offset and whether it ends its group; `None` if there is no frame.
    fn read_frame(&self, at: u64) -> Result<Option<(Vec<u8>, bool)>> {
        self.frame_of(self.generation, at)
    }

    fn frame_of(&self, generation: u64, at: u64) -> Result<Option<(Vec<u8>, bool)>> {
        let left = self.length.saturating_sub(at);
        if left < FRAME_BYTES as u64 {
            return Ok(None);
        }
        let mut frame = vec![0; FRAME_BYTES];
        self.file.read_at(&mut frame, at)?;
        let length = half(&frame, 24);
        if word(&frame, 8) != generation || left < (FRAME_BYTES + length) as u64 {
            return Ok(None);
        }
        frame.resize(FRAME_BYTES + length, 0);
        self.file
            .read_at(&mut frame[FRAME_BYTES..], at + FRAME_BYTES as u64)?;
        if word(&frame, 0) != checksum(&frame[8..]) {
            return Ok(None);
        }
        let is_last = half(&frame, 28) != 0;
        Ok(Some((frame, is_last)))
    }

    /// Begins a group; returns its offset.
    pub(super) fn begin(&mut self) -> u64 {
        if self.group == 0 {
            self.group = u64::from(self.salt) << u32::BITS;
        }
        self.group += 1;
        self.at = self.end;
        self.frame.clear();
        self.end
    }

    /// Adds a change to the group.
    pub(super) fn add(&mut self, change: Redo<'_>) -> Result<()> {
        change.entries(|kind, key, value| {
            if self.frame.is_empty() {
                self.frame.resize(FRAME_BYTES, 0);
            }
            redo::append_entry(&mut self.frame, kind, key, value)?;
            if self.frame.len() < FRAME_FULL {
                Ok(())
            } else {
                self.write_frame(false)
            }
        })
    }

    fn write_frame(&mut self, is_last: bool) -> Result<()> {
        self.frame.resize(self.frame.len().max(FRAME_BYTES), 0);
        let length = (self.frame.len() - FRAME_BYTES) as u32;
        self.frame[8..16].copy_from_slice(&self.generation.to_le_bytes());
        self.frame[16..24].copy_from_slice(&self.group.to_le_bytes());
        self.frame[24..28].copy_from_slice(&length.to_le_bytes());
        self.frame[28..32].copy_from_slice(&u32::from(is_last).to_le_bytes());
        let sum = checksum(&self.frame[8..]);
        self.frame[..8].copy_from_slice(&sum.to_le_bytes());
        let end = self.at + self.frame.len() as u64;
        if end > self.length {
            let grown = end.next_multiple_of(STEP);
            self.file.set_length(grown)?;
            if self.frame.len() < FRAME_FULL {
                let zeros = vec![0; usize::try_from(grown - end).unwrap_or(0)];
                self.file.write_at(&zeros, end)?;
            }
            self.length = grown;
        }
        self.file.write_at(&self.frame, self.at)?;
        self.at = end;
        self.frame.clear();
        Ok(())
    }

    /// Ends the group, synced if `syncs`: from here on it counts.
    pub(super) fn finish(&mut self, syncs: bool) -> Result<()> {
        self.remove_doubtful()?;
        self.write_frame(true)?;
        if syncs {
            self.bring_to_disk()?;
        }
        self.end = self.at;
        Ok(())
    }

    /// Syncs everything written.
    fn bring_to_disk(&mut self) -> Result<()> {
        if self.has_failed_sync {
            self.write_again()?;
        }
        self.has_failed_sync = true;
        self.file.sync()?;
        self.has_failed_sync = false;
        self.synced = self.at;
        Ok(())
    }

    /// Writes again what a failed sync may have lost.
    fn write_again(&self) -> Result<()> {
        let mut at = self.synced;
        while at < self.at {
            let Some((frame, _)) = self.read_frame(at)? else {
                let text =
                    "what a failed sync should have brought to disk is gone from the redo log";
                return Err(Error::new(ErrorKind::InvalidData, text));
            };
            self.file.write_at(&frame, at)?;
            at += frame.len() as u64;
        }
        Ok(())
    }

    /// Erases the header of a failed checkpoint: if it came to disk after all, the groups that follow would be no part
    /// of the log, so it is erased before the first of them counts.
    fn remove_doubtful(&mut self) -> Result<()> {
        if let Some(slot) = self.doubtful {
            self.file.write_at(&[0; HEADER_BYTES], slot)?;
            self.bring_to_disk()?;
            self.doubtful = None;
        }
        Ok(())
    }

    /// Truncates the log at an offset: an unfinished group, or one whose changes could not be applied, and everything
    /// behind it. The next group overwrites them.
    pub(super) fn cut(&mut self, offset: u64) {
        self.frame.clear();
        self.end = offset;
        self.at = offset;
        self.synced = self.synced.min(offset);
        // A failed write may have written its bytes.
        if self.length >= offset + FRAME_BYTES as u64 {
            // If erasing fails too, and the process ends before the next commit, recovery finds the failed
            // transactions committed.
            let removed = self.file.write_at(&[0; FRAME_BYTES], offset);
            let _ = removed.and_then(|()| self.bring_to_disk());
        }
    }

    /// Syncs the part that is not on disk yet.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.synced < self.end {
            self.bring_to_disk()
        } else {
            Ok(())
        }
    }

    /// Notes that the data file was changed without a group.
    pub(super) fn pass_by(&mut self) {
        self.is_incomplete = true;
    }

    /// Whether the data file has changes since the last checkpoint, or there was none yet.
    pub(super) fn wants_checkpoint(&self) -> bool {
        self.end > FRAMES || self.is_incomplete || self.generation == 0
    }

    /// Bytes of groups since the last checkpoint.
    pub(super) fn bytes(&self) -> u64 {
        self.end - FRAMES
    }

    /// Begins a new generation after a checkpoint: the data file is synced, has `data_bytes` bytes and begins with
    /// `pages`.
    pub(super) fn restart(&mut self, pages: &[u8], data_bytes: u64) -> Result<()> {
        if self.has_failed_sync {
            self.bring_to_disk()?;
        }
        let header = Header {
            generation: self.generation + 1,
            pages: pages.to_vec(),
            data_bytes: Some(data_bytes),
        };
        let generation = header.generation;
        let header = header.encode();
        if header.len() as u64 > SLOT_BYTES {
            return Err(Error::new(ErrorKind::InvalidInput, "a page is too long"));
        }
        let slot = slot_of(generation);
        self.doubtful = Some(slot);
        self.file.write_at(&header, slot)?;
        self.bring_to_disk()?;
        self.doubtful = None;
        self.generation = generation;
        self.group = 0;
        self.end = FRAMES;
        self.at = FRAMES;
        self.synced = FRAMES;
        self.is_read = true;
        self.is_incomplete = false;
        // A longer file has had a header.
        if self.length <= FRAMES && self.file.set_length(FRAMES + STEP).is_ok() {
            self.length = FRAMES + STEP;
        }
        if self.length > SPARE_BYTES && self.file.set_length(SPARE_BYTES).is_ok() {
            self.length = SPARE_BYTES;
        }
        Ok(())
    }
}

/// The offset of the header of a generation.
fn slot_of(generation: u64) -> u64 {
    generation % 2 * SLOT_BYTES
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut header = vec![0; HEADER_BYTES];
        header[8..16].copy_from_slice(&self.generation.to_le_bytes());
        header[16..20].copy_from_slice(&(self.pages.len() as u32).to_le_bytes());
        header.extend_from_slice(&self.pages);
        let sum = checksum(&header[8..]);
        header[..8].copy_from_slice(&sum.to_le_bytes());
        if let Some(data_bytes) = self.data_bytes {
            let mut trailer = [0; TRAILER_BYTES];
            trailer[8..16].copy_from_slice(&self.generation.to_le_bytes());
            trailer[16..].copy_from_slice(&data_bytes.to_le_bytes());
            let sum = checksum(&trailer[8..]);
            trailer[..8].copy_from_slice(&sum.to_le_bytes());
            header.extend_from_slice(&trailer);
        }
        header
    }
}

/// The header at an offset, if it is complete.
fn read_header(file: &DirectoryFile, length: u64, at: u64) -> Result<Option<Header>> {
    if length < at + HEADER_BYTES as u64 {
        return Ok(None);
    }
    let mut header = vec![0; HEADER_BYTES];
    file.read_at(&mut header, at)?;
    let pages = half(&header, 16);
    let end = at + (HEADER_BYTES + pages) as u64;
    if pages == 0 || end > length.min(at + SLOT_BYTES) {
        return Ok(None);
    }
    header.resize(HEADER_BYTES + pages, 0);
    file.read_at(&mut header[HEADER_BYTES..], at + HEADER_BYTES as u64)?;
    if word(&header, 0) != checksum(&header[8..]) {
        return Ok(None);
    }
    let generation = word(&header, 8);
    let mut trailer = [0; TRAILER_BYTES];
    if end + TRAILER_BYTES as u64 <= length {
        file.read_at(&mut trailer, end)?;
    }
    // A program that writes no trailer leaves the one of another generation.
    let is_whole = word(&trailer, 0) == checksum(&trailer[8..]) && word(&trailer, 8) == generation;
    Ok(Some(Header {
        generation,
        pages: header.split_off(HEADER_BYTES),
        data_bytes: is_whole.then(|| word(&trailer, 16)),
    }))
}

#[cfg(test)]
mod tests;

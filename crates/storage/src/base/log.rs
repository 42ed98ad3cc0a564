//! The redo log: what was committed since the data file was last known to be whole on disk.
//!
//! The library needs two syncs for a commit, one before and one after the page that says which state
//! is the last one. So it never syncs here: what a commit changes is in the log first, with one sync,
//! and the file is synced now and then, at a checkpoint. A checkpoint keeps a copy of the file's first
//! two pages, where the library notes its last state, and a snapshot of that state, so that no page
//! of it is used for something else. Opening a directory puts those pages back, whatever of the later
//! ones came to disk, and makes the changes of the log again (ARIES' redo: Mohan et al., TODS 1992).
//! It holds the rows that were changed, not the blocks: those come from the state of the checkpoint, by
//! the code that changed them first ([`super::file_writer`]).
//!
//! ```text
//! file:   header | header | frames                the valid header of the greatest generation counts
//! header: checksum u64 | generation u64 | length u32 | the first pages of the data file
//! frame:  checksum u64 | generation u64 | group u64 | length u32 | is last u32 | changes
//! ```
//! Changes are entries of [`super::redo`].
//!
//! A group is what one commit of the file changes; it counts when its last frame is there. Groups are
//! numbered, also those that failed: what a longer one has left behind a shorter one is no part of
//! the log, since its number is smaller.

use super::redo::{self, ChangeReader, Redo};
use mayfly_memory::io::{DataDirectory, DirectoryFile};
use std::io::{Error, ErrorKind, Result};

/// The name of the file.
pub(super) const LOG_FILE: &str = "redo.log";
/// Room for a header.
const SLOT_BYTES: u64 = 160 << 10;
/// Where frames begin.
const FRAMES: u64 = 2 * SLOT_BYTES;
const HEADER_BYTES: usize = 20;
const FRAME_BYTES: usize = 32;
/// A frame is written when it has so many bytes of changes.
const FRAME_FULL: usize = 1 << 20;
/// The file grows in such steps: a sync is cheaper when it has its length already.
const STEP: u64 = 1 << 20;
/// What a checkpoint leaves of a file that has grown.
const KEPT: u64 = 64 << 20;

/// What is to be done again.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A change.
    Change(Redo<'a>),
    /// Those since the last commit were committed together; how many bytes of the log they are.
    Commit(u64),
}

/// The open log.
#[derive(Debug)]
pub(super) struct Log {
    file: DirectoryFile,
    generation: u64,
    /// The number of the last group.
    group: u64,
    /// Where the next group begins.
    end: u64,
    /// Where the next frame of the open group begins.
    at: u64,
    /// Bytes of the file.
    length: u64,
    /// The next frame.
    frame: Vec<u8>,
    /// Groups are there that are not synced.
    is_dirty: bool,
    /// The file has changes that are in no group.
    is_incomplete: bool,
    /// Where a header was to be written that may be there or not.
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

impl Log {
    /// Opens the log of a directory, with the pages of its last checkpoint; none where there was no
    /// log.
    pub(super) fn open(directory: &DataDirectory) -> Result<(Self, Option<Vec<u8>>)> {
        let file = directory.file(LOG_FILE)?;
        let length = file.length()?;
        let mut newest: Option<(u64, Vec<u8>)> = None;
        for slot in [0, SLOT_BYTES] {
            if let Some(header) = read_header(&file, length, slot)?
                && newest.as_ref().is_none_or(|newest| newest.0 < header.0)
            {
                newest = Some(header);
            }
        }
        if newest.is_none() && length > FRAMES {
            let text = "the redo log has no header that is whole";
            return Err(Error::new(ErrorKind::InvalidData, text));
        }
        let (generation, pages) = match newest {
            Some((generation, pages)) => (generation, Some(pages)),
            None => (0, None),
        };
        let log = Self {
            file,
            generation,
            group: 0,
            end: FRAMES,
            at: FRAMES,
            length,
            frame: Vec::new(),
            is_dirty: false,
            is_incomplete: false,
            doubtful: None,
        };
        Ok((log, pages))
    }

    /// Gives the changes of all groups to `each`, and goes on behind them.
    pub(super) fn replay<E>(
        &mut self,
        failed: impl Fn(Error) -> E,
        mut each: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let damaged = |what: &str| failed(Error::new(ErrorKind::InvalidData, what));
        let mut reader = ChangeReader::new();
        while let Some(end) = self.end_of_group(self.end).map_err(&failed)? {
            let begin = self.end;
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
            self.end = end;
        }
        self.at = self.end;
        Ok(())
    }

    /// Where a group ends that is whole; its number is the last one then.
    fn end_of_group(&mut self, start: u64) -> Result<Option<u64>> {
        let (mut at, mut number) = (start, None);
        while let Some((frame, is_last)) = self.read_frame(at)? {
            let group = word(&frame, 16);
            if group <= self.group || number.is_some_and(|number| number != group) {
                return Ok(None);
            }
            number = Some(group);
            at += frame.len() as u64;
            if is_last {
                self.group = group;
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The frame at a place and whether it ends its group; `None`: there is none.
    fn read_frame(&self, at: u64) -> Result<Option<(Vec<u8>, bool)>> {
        let left = self.length.saturating_sub(at);
        if left < FRAME_BYTES as u64 {
            return Ok(None);
        }
        let mut frame = vec![0; FRAME_BYTES];
        self.file.read_at(&mut frame, at)?;
        let length = half(&frame, 24);
        if word(&frame, 8) != self.generation || left < (FRAME_BYTES + length) as u64 {
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

    /// Begins a group; where that is in the file.
    pub(super) fn begin(&mut self) -> u64 {
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
            match self.frame.len() < FRAME_FULL {
                true => Ok(()),
                false => self.write_frame(false),
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

    /// Ends the group, on disk if `syncs`: from here on it counts.
    pub(super) fn finish(&mut self, syncs: bool) -> Result<()> {
        self.remove_doubtful()?;
        self.write_frame(true)?;
        if syncs {
            self.file.sync()?;
        }
        self.end = self.at;
        self.is_dirty = !syncs;
        Ok(())
    }

    /// A checkpoint has failed while its header was written. If that came to disk after all, the groups
    /// that follow would be no part of the log: so it goes before the first of them counts.
    fn remove_doubtful(&mut self) -> Result<()> {
        if let Some(slot) = self.doubtful {
            self.file.write_at(&[0; HEADER_BYTES], slot)?;
            self.file.sync()?;
            self.doubtful = None;
        }
        Ok(())
    }

    /// What begins at a place is no part of the log: a group that was not finished, or one whose changes
    /// could not be made, and what is behind it. The next one takes its place.
    pub(super) fn cut(&mut self, place: u64) {
        self.frame.clear();
        if self.at > place {
            // If that fails too, and the process ends before the next commit, the transactions that
            // failed are found committed.
            let removed = self.file.write_at(&[0; FRAME_BYTES], place);
            let _ = removed.and_then(|()| self.file.sync());
        }
        self.end = place;
        self.at = place;
    }

    /// Brings to disk what is not there yet.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.is_dirty {
            self.file.sync()?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// The file was changed without a group.
    pub(super) fn pass_by(&mut self) {
        self.is_incomplete = true;
    }

    /// Whether the file has changes since the last checkpoint, or there was none yet.
    pub(super) fn wants_checkpoint(&self) -> bool {
        self.end > FRAMES || self.is_incomplete || self.generation == 0
    }

    /// Bytes of groups since the last checkpoint.
    pub(super) fn bytes(&self) -> u64 {
        self.end - FRAMES
    }

    /// A checkpoint: the data file is whole on disk, and begins with these pages.
    pub(super) fn restart(&mut self, pages: &[u8]) -> Result<()> {
        let generation = self.generation + 1;
        let mut header = vec![0; HEADER_BYTES];
        header[8..16].copy_from_slice(&generation.to_le_bytes());
        header[16..20].copy_from_slice(&(pages.len() as u32).to_le_bytes());
        header.extend_from_slice(pages);
        if header.len() as u64 > SLOT_BYTES {
            return Err(Error::new(ErrorKind::InvalidInput, "a page is too long"));
        }
        let sum = checksum(&header[8..]);
        header[..8].copy_from_slice(&sum.to_le_bytes());
        let slot = generation % 2 * SLOT_BYTES;
        self.doubtful = Some(slot);
        self.file.write_at(&header, slot)?;
        self.file.sync()?;
        self.doubtful = None;
        self.generation = generation;
        self.end = FRAMES;
        self.at = FRAMES;
        self.is_dirty = false;
        self.is_incomplete = false;
        // A file that is longer has had a header.
        if self.length <= FRAMES && self.file.set_length(FRAMES + STEP).is_ok() {
            self.length = FRAMES + STEP;
        }
        if self.length > KEPT && self.file.set_length(KEPT).is_ok() {
            self.length = KEPT;
        }
        Ok(())
    }
}

/// The generation and the pages of a header, if it is whole.
fn read_header(file: &DirectoryFile, length: u64, at: u64) -> Result<Option<(u64, Vec<u8>)>> {
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
    let is_whole = word(&header, 0) == checksum(&header[8..]);
    Ok(is_whole.then(|| (word(&header, 8), header.split_off(HEADER_BYTES))))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mayfly_types::PhysicalType;

    use super::super::tree::RowChange;
    use super::*;

    fn directory(name: &str) -> (std::path::PathBuf, DataDirectory) {
        let path = std::env::temp_dir().join(format!("mayfly-log-{name}-{}", std::process::id()));
        let directory = DataDirectory::claim(&path).expect("it can be made");
        (path, directory.expect("nobody has it"))
    }

    /// What a change does, by key.
    fn names(change: Redo<'_>) -> Vec<Vec<u8>> {
        let row = |(key, row): &RowChange<'_>| [*key, b"->", row.unwrap_or_default()].concat();
        vec![match change {
            Redo::Put(key, value) => [key, b"=", &value[..3]].concat(),
            Redo::Remove(key) => [b"-", key].concat(),
            Redo::Clear(low, high) => [low, b"..", high].concat(),
            Redo::Count { tree, more, anew } => format!("{tree}: {more} {anew}").into_bytes(),
            Redo::Rows(tree, types, rows) => {
                let tree = format!("{tree}: {types:?}").into_bytes();
                return std::iter::once(tree).chain(rows.iter().map(row)).collect();
            }
        }]
    }

    /// The groups that a log has, and the pages of its checkpoint.
    fn groups(directory: &DataDirectory) -> (Vec<Vec<Vec<u8>>>, Option<Vec<u8>>) {
        let (mut log, pages) = Log::open(directory).expect("it opens");
        let mut groups = vec![Vec::new()];
        let each = |step: Step<'_>| {
            match step {
                Step::Change(change) => groups.last_mut().expect("one").extend(names(change)),
                Step::Commit(_) => groups.push(Vec::new()),
            }
            Ok(())
        };
        log.replay(|error| error, each).expect("it can be read");
        assert_eq!(groups.pop(), Some(Vec::new()));
        (groups, pages)
    }

    fn put(log: &mut Log, keys: &[&[u8]]) -> u64 {
        let place = log.begin();
        for key in keys {
            log.add(Redo::Put(key, b"value")).expect("it is written");
        }
        log.finish(true).expect("it is written");
        place
    }

    #[test]
    fn what_was_written_is_read() {
        let (_, directory) = directory("read");
        let (mut log, pages) = Log::open(&directory).expect("it opens");
        assert_eq!(pages, None);
        log.restart(b"pages").expect("it is written");
        put(&mut log, &[b"a", b"b"]);
        log.begin();
        log.add(Redo::Remove(b"a")).expect("it is written");
        log.add(Redo::Clear(b"k", b"l")).expect("it is written");
        log.finish(false).expect("it is written");
        // One that was not finished.
        log.begin();
        log.add(Redo::Remove(b"z")).expect("it is written");
        let read = groups(&directory);
        let first = vec![b"a=val".to_vec(), b"b=val".to_vec()];
        let second = vec![b"-a".to_vec(), b"k..l".to_vec()];
        assert_eq!(read, (vec![first, second], Some(b"pages".to_vec())));
        log.restart(b"others").expect("it is written");
        assert_eq!(groups(&directory), (vec![], Some(b"others".to_vec())));
    }

    #[test]
    fn rows_of_a_tree_come_with_its_types() {
        let (_, directory) = directory("rows");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        let types: Arc<[PhysicalType]> = Arc::from([
            PhysicalType::Bool,
            PhysicalType::Int64,
            PhysicalType::UInt64,
            PhysicalType::Float64,
            PhysicalType::Decimal128(2),
            PhysicalType::Decimal256(30),
            PhysicalType::Bytes,
        ]);
        log.begin();
        let none = Arc::from([]);
        let changes = [
            Redo::Rows(7, &types, &[(b"a", Some(b"row")), (b"b", None)]),
            Redo::Rows(8, &none, &[(b"", Some(b""))]),
            Redo::Count {
                tree: 8,
                more: -3,
                anew: true,
            },
        ];
        for change in changes {
            log.add(change).expect("it is written");
        }
        log.finish(true).expect("it is written");
        let expected = [
            format!("7: {types:?}").into_bytes(),
            b"a->row".to_vec(),
            b"b->".to_vec(),
            b"8: []".to_vec(),
            b"->".to_vec(),
            b"8: -3 true".to_vec(),
        ];
        assert_eq!(groups(&directory).0, [expected]);
    }

    #[test]
    fn rows_go_on_in_the_next_frame() {
        let (_, directory) = directory("frames");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        let types: Arc<[PhysicalType]> = Arc::from([PhysicalType::Bytes]);
        let long = vec![b'x'; FRAME_FULL];
        let rows: [RowChange<'_>; 3] = [(b"a", Some(&long)), (b"b", None), (b"c", Some(&long))];
        log.begin();
        log.add(Redo::Rows(9, &types, &rows))
            .expect("it is written");
        log.finish(true).expect("it is written");
        let tree = b"9: [Bytes]".to_vec();
        let long = |key: &[u8]| [key, b"->", &long].concat();
        let expected = [tree.clone(), long(b"a"), tree, b"b->".to_vec(), long(b"c")];
        assert!(groups(&directory).0 == [expected]);
    }

    #[test]
    fn large_groups_have_several_frames() {
        let (_, directory) = directory("large");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        let long = vec![7; 700_000];
        for _ in 0..2 {
            log.begin();
            for key in [b"a", b"b", b"c", b"d"] {
                log.add(Redo::Put(key, &long)).expect("it is written");
            }
            log.finish(true).expect("it is written");
        }
        let (read, _) = groups(&directory);
        assert_eq!(read.len(), 2);
        assert_eq!(read[1].len(), 4);
    }

    #[test]
    fn a_failed_group_leaves_nothing_behind_a_shorter_one() {
        let (_, directory) = directory("failed");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        put(&mut log, &[b"a"]);
        // Frames of the same length, so that the second would follow the next group.
        let long = vec![7; FRAME_FULL];
        let place = log.begin();
        log.add(Redo::Put(b"b", &long)).expect("it is written");
        log.add(Redo::Put(b"c", &long)).expect("it is written");
        log.finish(true).expect("it is written");
        log.cut(place);
        assert_eq!(groups(&directory).0.len(), 1);
        log.begin();
        log.add(Redo::Put(b"d", &long)).expect("it is written");
        log.finish(true).expect("it is written");
        let (read, _) = groups(&directory);
        assert_eq!(read, [[b"a=val".to_vec()], [b"d=\x07\x07\x07".to_vec()]]);
    }

    #[test]
    fn a_cut_takes_what_is_behind_it() {
        let (_, directory) = directory("cut");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        put(&mut log, &[b"a"]);
        let place = put(&mut log, &[b"b"]);
        put(&mut log, &[b"c"]);
        log.cut(place);
        assert_eq!(groups(&directory).0, [[b"a=val".to_vec()]]);
        // The one behind it would follow this one again.
        put(&mut log, &[b"d"]);
        let expected = [[b"a=val".to_vec()], [b"d=val".to_vec()]];
        assert_eq!(groups(&directory).0, expected);
    }

    #[test]
    fn groups_after_a_checkpoint_that_failed_count() {
        let (_, directory) = directory("doubtful");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        put(&mut log, &[b"a"]);
        let (generation, group, end) = (log.generation, log.group, log.end);
        log.restart(b"later").expect("it is written");
        // As if its sync had failed: nobody knows whether the header is there.
        log.doubtful = Some(log.generation % 2 * SLOT_BYTES);
        (log.generation, log.group, log.end) = (generation, group, end);
        put(&mut log, &[b"b"]);
        assert!(log.doubtful.is_none());
        let (read, pages) = groups(&directory);
        assert_eq!(read, [[b"a=val".to_vec()], [b"b=val".to_vec()]]);
        assert_eq!(pages.as_deref(), Some(&b"pages"[..]));
    }

    #[test]
    fn a_torn_end_is_no_part_of_it() {
        let (path, directory) = directory("torn");
        let (mut log, _) = Log::open(&directory).expect("it opens");
        log.restart(b"pages").expect("it is written");
        put(&mut log, &[b"a"]);
        let whole = log.end;
        put(&mut log, &[b"b", b"c"]);
        let bytes = std::fs::read(path.join(LOG_FILE)).expect("it is there");
        for damaged in whole..log.end {
            let mut bytes = bytes.clone();
            bytes[usize::try_from(damaged).expect("it is small")] ^= 0x20;
            std::fs::write(path.join(LOG_FILE), bytes).expect("it can be written");
            assert_eq!(groups(&directory).0, [[b"a=val".to_vec()]], "{damaged}");
        }
        // A header that is torn leaves the one before.
        let mut torn = bytes.clone();
        torn[usize::try_from(SLOT_BYTES).expect("it is small") + 22] ^= 1;
        std::fs::write(path.join(LOG_FILE), torn).expect("it can be written");
        assert!(Log::open(&directory).is_err(), "it was the only one");
    }
}

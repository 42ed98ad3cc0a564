//! Files that are read: of this machine, or objects of a store. Both give ranges of bytes, in any order and from any
//! thread; so no reader of a format knows which one it has.

use std::fs::File;
use std::io::{self, Error as IoError, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::stores::{FileVersion, StoreFile};

/// A file that a statement reads. Cloning shares it.
#[derive(Debug, Clone)]
pub struct InputFile(Source);

#[derive(Debug, Clone)]
enum Source {
    Local(Arc<File>),
    Stored(StoreFile),
}

impl From<File> for InputFile {
    fn from(file: File) -> Self {
        Self(Source::Local(Arc::new(file)))
    }
}

impl From<StoreFile> for InputFile {
    fn from(file: StoreFile) -> Self {
        Self(Source::Stored(file))
    }
}

impl InputFile {
    /// Its present version; of an object the one that is read.
    ///
    /// # Errors
    /// Those of the system.
    pub fn version(&self) -> io::Result<FileVersion> {
        match &self.0 {
            Source::Local(file) => {
                let metadata = file.metadata()?;
                Ok(FileVersion {
                    length: metadata.len(),
                    modified: metadata.modified().ok(),
                    tag: None,
                })
            }
            Source::Stored(file) => Ok(file.version()),
        }
    }

    /// Whether each read is a request that takes some time: readers then ask for several ranges at once, and for more than
    /// they need next.
    pub fn is_remote(&self) -> bool {
        matches!(self.0, Source::Stored(_))
    }

    /// The bytes of ranges, each whole.
    ///
    /// # Errors
    /// Those of the system or the store; the end of the file within a range.
    pub fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let file = match &self.0 {
            Source::Stored(file) => return file.ranges(ranges),
            Source::Local(file) => file,
        };
        let bytes = |range: &Range<u64>| {
            let length = range.end.saturating_sub(range.start);
            // Nothing is allocated for a length that the file does not have.
            if range.end > file.metadata()?.len() {
                return Err(IoError::from(ErrorKind::UnexpectedEof));
            }
            let length = usize::try_from(length).map_err(IoError::other)?;
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, range.start)?;
            Ok(bytes)
        };
        ranges.iter().map(bytes).collect()
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// As [`Self::ranges`].
    pub fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut all = self.ranges(std::slice::from_ref(&range))?;
        Ok(all.pop().unwrap_or_default())
    }

    /// All bytes, one after another.
    ///
    /// # Errors
    /// Those of the system or the store.
    pub fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.0 {
            Source::Local(file) => Ok(Box::new(InputCursor::local(file))),
            Source::Stored(file) => file.reader(),
        }
    }

    /// A reader from a position on, which may be moved.
    ///
    /// # Errors
    /// Those of the system.
    pub fn cursor(&self, position: u64) -> io::Result<InputCursor> {
        Ok(InputCursor {
            length: self.version()?.length,
            file: self.clone(),
            position,
            window: Vec::new(),
            window_start: 0,
        })
    }
}

/// Bytes of an object that a cursor asks for at once.
const WINDOW: u64 = 4 << 20;

/// A position in a file, for readers that move.
#[derive(Debug)]
pub struct InputCursor {
    file: InputFile,
    length: u64,
    position: u64,
    /// Bytes of an object around the position.
    window: Vec<u8>,
    window_start: u64,
}

impl InputCursor {
    fn local(file: &Arc<File>) -> Self {
        Self {
            file: InputFile(Source::Local(Arc::clone(file))),
            length: 0,
            position: 0,
            window: Vec::new(),
            window_start: 0,
        }
    }

    /// The bytes of the window from the position on.
    fn windowed(&mut self) -> io::Result<&[u8]> {
        let end = self.window_start + self.window.len() as u64;
        if !(self.window_start..end).contains(&self.position) && self.position < self.length {
            let end = self.length.min(self.position.saturating_add(WINDOW));
            self.window.clear();
            self.window = self.file.range(self.position..end)?;
            self.window_start = self.position;
        }
        let from = self.position.saturating_sub(self.window_start);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(self.window.get(from..).unwrap_or_default())
    }
}

impl Read for InputCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &self.file.0 {
            Source::Local(file) => file.read_at(buffer, self.position)?,
            Source::Stored(_) => self.windowed()?.read(buffer)?,
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for InputCursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.position = position.ok_or_else(|| IoError::from(ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}

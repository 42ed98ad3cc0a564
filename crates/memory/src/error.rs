//! Errors of requests for memory and temporary space. Each variant calls for another reaction: at a
//! limit a table overflows, an I/O failure ends the statement.

use std::fmt;
use std::path::PathBuf;

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BudgetKind {
    /// Bytes of memory.
    Memory,
    /// Bytes of temporary files.
    TempSpace,
}

/// Result of a request for memory or temporary space.
pub type Result<T, E = MemoryError> = std::result::Result<T, E>;

/// Error of a limit that would be passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitError {
    /// The setting that sets the limit, as the user writes it.
    pub setting: &'static str,
    /// The limited resource.
    pub kind: BudgetKind,
    /// The setting's value in bytes.
    pub limit: u64,
    /// Bytes in use under this limit.
    pub used: u64,
    /// Bytes requested beyond those in use.
    pub requested: u64,
    /// The part of the setting's value that the limit is; `None` where it is the whole value.
    pub share: Option<Share>,
}

/// A part of a setting's value that serves as a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The setting's value in bytes.
    pub whole: u64,
    /// The owner of the part.
    pub owner: &'static str,
    /// Advice other than raising the setting.
    pub advice: &'static str,
}

impl LimitError {
    /// The setting's value in bytes.
    pub fn value(&self) -> u64 {
        self.share.map_or(self.limit, |share| share.whole)
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            setting,
            kind,
            limit,
            used,
            requested,
            share,
        } = self;
        if let Some(Share {
            whole,
            owner,
            advice,
        }) = share
        {
            return write!(
                f,
                "{setting} = {whole} bytes of memory, of which {owner} may have {limit}; {used} in use, {requested} more \
                 needed; raise {setting} {advice}"
            );
        }
        let (what, advice) = match kind {
            BudgetKind::Memory => ("memory", "or make the statement read less"),
            BudgetKind::TempSpace => ("temporary space", "or give the statement more memory"),
        };
        write!(
            f,
            "{setting} = {limit} bytes of {what}, {used} in use, {requested} more needed; \
             raise {setting} {advice}"
        )
    }
}

impl std::error::Error for LimitError {}

/// A call to the operating system that failed on a temporary file.
#[derive(Debug)]
pub struct IoFailure {
    /// The operation: "write", "read", "create" …
    pub operation: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// Offset in the file.
    pub offset: u64,
    /// Number of bytes of the operation.
    pub bytes: u64,
    /// The system's error.
    pub source: std::io::Error,
}

impl IoFailure {
    /// The system's error number, or 0 when the failure did not come from the system.
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(0)
    }

    /// Description of the failure, for a message that names the file itself: `28 - No space left on
    /// device; write of 4096 bytes at offset 0`.
    pub fn detail(&self) -> String {
        let text = self.source.to_string();
        // Rust appends the number to the system's text.
        let text = text.split(" (os error").next().unwrap_or_default();
        format!(
            "{} - {text}; {} of {} bytes at offset {}",
            self.errno(),
            self.operation,
            self.bytes,
            self.offset
        )
    }

    /// Whether the device or a quota is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(
            self.source.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
        )
    }
}

impl fmt::Display for IoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}': {}", self.path.display(), self.detail())
    }
}

impl std::error::Error for IoFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A directory without room for more temporary files.
#[derive(Debug)]
pub struct DirectoryFull {
    /// The directory.
    pub directory: PathBuf,
    /// Greatest size of the files in it; `u64::MAX` for no limit of its own.
    pub capacity: u64,
    /// Bytes in use there.
    pub used: u64,
    /// Error of its device; `None`: the capacity is used up.
    pub failure: Option<IoFailure>,
}

impl fmt::Display for DirectoryFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' (", self.directory.display())?;
        match &self.failure {
            Some(failure) => f.write_str(&failure.detail())?,
            None => write!(f, "tmpdir_capacity = {} bytes", self.capacity)?,
        }
        write!(f, ", {} in use)", self.used)
    }
}

/// Error when all directories for temporary files are full.
#[derive(Debug)]
pub struct NoRoomError {
    /// Bytes requested beyond those in use.
    pub requested: u64,
    /// Each directory of `tmpdir`.
    pub directories: Vec<DirectoryFull>,
}

impl fmt::Display for NoRoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes more of temporary space needed: ",
            self.requested
        )?;
        for (number, directory) in self.directories.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{directory}")?;
        }
        f.write_str("; raise tmpdir_capacity, or add a directory to tmpdir")
    }
}

/// Error of this crate.
#[derive(Debug)]
pub enum MemoryError {
    /// A budget's limit: overflow to temporary files, or name the setting in the error.
    Limit(LimitError),
    /// The operating system has no memory left for a block of this many bytes.
    OutOfMemory {
        /// The size of the block.
        bytes: usize,
    },
    /// The statement is to end; its `Interrupt` has the reason.
    Interrupted,
    /// A temporary file could not be created, written, read or removed.
    Io(Box<IoFailure>),
    /// No directory has room for a temporary file.
    NoRoom(Box<NoRoomError>),
    /// Bytes read back are not the bytes that were written.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Offset in the file.
        offset: u64,
        /// Number of bytes read.
        bytes: u64,
    },
}

impl MemoryError {
    /// Whether a budget refused: the only error on which a table overflows to temporary files.
    pub fn is_memory_limit(&self) -> bool {
        matches!(self, Self::Limit(limit) if limit.kind == BudgetKind::Memory)
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::OutOfMemory { bytes } => {
                write!(f, "the operating system refused a block of {bytes} bytes")
            }
            Self::Interrupted => f.write_str("the statement was ended"),
            Self::Io(failure) => failure.fmt(f),
            Self::NoRoom(error) => error.fmt(f),
            Self::Corrupt {
                path,
                offset,
                bytes,
            } => write!(f, "'{}': {}", path.display(), corruption(*offset, *bytes)),
        }
    }
}

/// Description of corrupt bytes, for a message that names the file itself.
pub fn corruption(offset: u64, bytes: u64) -> String {
    format!(
        "checksum mismatch in {bytes} bytes at offset {offset}; the temporary file was changed or \
         the device is faulty"
    )
}

impl std::error::Error for MemoryError {}

impl From<LimitError> for MemoryError {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}

impl From<IoFailure> for MemoryError {
    fn from(error: IoFailure) -> Self {
        Self::Io(Box::new(error))
    }
}

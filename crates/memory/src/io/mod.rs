//! The file operations of temporary files, behind a trait so that a test can make any one fail.

mod bus_error;
mod data_directory;
mod directory_lock;
mod fault;
mod held_directory;
mod mapped;
mod private;
mod scan;
mod small_device;
mod system;

use std::fmt::Debug;
use std::io;
use std::path::Path;

pub use bus_error::MappedFile;
pub use data_directory::{DataDirectory, DirectoryFile, Taken, is_full, sync_entries};
pub use fault::{Fault, FaultIo};
pub use held_directory::HeldDirectory;
pub use mapped::mapped_range;
pub use private::{create_private_directory, make_private, private_file, rename_to_new};
pub use scan::{DIRECT_ALIGNMENT, PageCache, ScanIo, ScannedFile};
pub use small_device::SmallDevice;
pub use system::SystemIo;

/// Operations that temporary files need of a file system.
pub trait IoBackend: Send + Sync + Debug {
    /// Makes a directory; it must not exist.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a file, to be read and written; it must not exist.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>>;
    /// Opens a file that exists, to be read and written.
    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>>;
    /// Whether something of this name exists.
    fn exists(&self, path: &Path) -> bool;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// An open temporary file. Reads and writes name their offset, so several threads may share it.
pub trait IoFile: Send + Sync + Debug {
    /// Writes at `offset`, possibly fewer bytes than given; returns how many.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Reads from `offset`, possibly fewer bytes than asked for; 0 at the end of the file.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Gives an empty file `length` bytes, with space for all of them.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// Cuts or extends the file.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Gives the space of a range back to the file system; the file keeps its length.
    fn punch(&self, offset: u64, length: u64) -> io::Result<()>;
    /// Tells that `length` bytes from `offset` are read soon, so that the device may read many parts at once.
    fn will_need(&self, offset: u64, length: u64) {
        let _ = (offset, length);
    }
    /// Locks the file against other processes until it is closed; false when another holds it.
    fn try_lock(&self) -> io::Result<bool>;
}

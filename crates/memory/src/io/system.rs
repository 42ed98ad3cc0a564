//! The operating system's file system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::{IoBackend, IoFile};

/// The real thing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIo;

impl IoBackend for SystemIo {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(SystemFile(options.open(path)?)))
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        Ok(Box::new(SystemFile(
            OpenOptions::new().read(true).write(true).open(path)?,
        )))
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }
}

#[derive(Debug)]
struct SystemFile(File);

impl IoFile for SystemFile {
    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.0, bytes, offset)
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.0, bytes, offset)
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "fallocate has no safe wrapper in std")]
    fn allocate(&self, length: u64) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let size = i64::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the descriptor is open for as long as `self` lives; no memory is passed.
        if unsafe { libc::fallocate(self.0.as_raw_fd(), 0, 0, size) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // Without fallocate, space is allocated as it is written.
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => self.0.set_len(length),
            _ => Err(error),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn allocate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "fallocate has no safe wrapper in std")]
    fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let (Ok(offset), Ok(length)) = (i64::try_from(offset), i64::try_from(length)) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // SAFETY: the descriptor is open for as long as `self` lives; no memory is passed.
        let result = unsafe {
            libc::fallocate(
                self.0.as_raw_fd(),
                libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
                offset,
                length,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "posix_fadvise has no safe wrapper in std")]
    fn will_need(&self, offset: u64, length: u64) {
        use std::os::fd::AsRawFd;
        if let (Ok(offset), Ok(length)) = (i64::try_from(offset), i64::try_from(length)) {
            let file = self.0.as_raw_fd();
            // SAFETY: the descriptor is open for as long as `self` lives; no memory is passed. It is advice: a failure
            // changes nothing.
            unsafe { libc::posix_fadvise(file, offset, length, libc::POSIX_FADV_WILLNEED) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn punch(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

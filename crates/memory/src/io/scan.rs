//! Files that are read for a measurement: through the page cache or past it, and with a cache that can be emptied.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::SystemIo;

/// Alignment of offsets, lengths and addresses of reads past the page cache.
pub const DIRECT_ALIGNMENT: usize = 4096;

/// Use of the operating system's page cache by reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCache {
    /// Reads go through it.
    Used,
    /// Reads go past it (`O_DIRECT`): offset, length and address are multiples of [`DIRECT_ALIGNMENT`].
    Bypassed,
}

/// Operations that measurements need of a file system.
pub trait ScanIo: Send + Sync + Debug {
    /// Opens a file to be read. An error of the kind `Unsupported` or `InvalidInput` where the file system cannot read
    /// past the cache.
    fn open_scanned(&self, path: &Path, cache: PageCache) -> io::Result<Box<dyn ScannedFile>>;
}

/// An open file that is only read. Reads name their offset, so several threads may share it.
pub trait ScannedFile: Send + Sync + Debug {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Reads from `offset`, possibly fewer bytes than asked for; 0 at the end of the file.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Removes the file from the page cache, as far as the system does.
    fn evict(&self) -> io::Result<()>;
    /// Bytes of a range that are in the page cache, in whole pages. For a file of another user the system may report
    /// all of them.
    fn cached_bytes(&self, offset: u64, length: u64) -> io::Result<u64>;
}

impl ScanIo for SystemIo {
    fn open_scanned(&self, path: &Path, cache: PageCache) -> io::Result<Box<dyn ScannedFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        if cache == PageCache::Bypassed {
            #[cfg(target_os = "linux")]
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_DIRECT);
            #[cfg(not(target_os = "linux"))]
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Box::new(SystemScannedFile(options.open(path)?)))
    }
}

#[derive(Debug)]
struct SystemScannedFile(File);

impl ScannedFile for SystemScannedFile {
    fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.0, bytes, offset)
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "posix_fadvise has no safe wrapper in std")]
    fn evict(&self) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        // Pages that are not on disk yet would stay in the cache.
        self.0.sync_data()?;
        // SAFETY: the descriptor is open for as long as `self` lives; no memory is passed.
        let error =
            unsafe { libc::posix_fadvise(self.0.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        match error {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "mincore has no safe wrapper in std")]
    fn cached_bytes(&self, offset: u64, length: u64) -> io::Result<u64> {
        use std::os::fd::AsRawFd;
        let end = offset.saturating_add(length).min(self.length()?);
        let page = DIRECT_ALIGNMENT as u64;
        let start = offset / page * page;
        let wrong = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let length = usize::try_from(end.saturating_sub(start)).map_err(wrong)?;
        if offset >= end {
            return Ok(0);
        }
        let start = i64::try_from(start).map_err(wrong)?;
        // On a system with larger pages the rest of the vector stays unused.
        let mut pages = vec![0_u8; length.div_ceil(DIRECT_ALIGNMENT)];
        // SAFETY: a new mapping that nothing else knows, which is never looked into and is given back before the
        // function ends; `pages` has a byte for each page of it.
        let found = unsafe {
            let fd = self.0.as_raw_fd();
            let null = std::ptr::null_mut();
            let map = libc::mmap(null, length, libc::PROT_READ, libc::MAP_SHARED, fd, start);
            if map == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let found = libc::mincore(map, length, pages.as_mut_ptr());
            let error = io::Error::last_os_error();
            libc::munmap(map, length);
            if found == 0 { Ok(()) } else { Err(error) }
        };
        found?;
        let resident = pages.iter().filter(|page| **page & 1 == 1).count() as u64;
        Ok((resident * page).min(length as u64))
    }

    #[cfg(not(target_os = "linux"))]
    fn evict(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn cached_bytes(&self, _offset: u64, _length: u64) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::IoBackend;

    #[test]
    fn a_file_that_was_read_is_cached_and_reads_as_written() {
        let name = format!("mayfly-scan-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let bytes: Vec<u8> = (0..20_000_u32).map(|number| number as u8).collect();
        let file = SystemIo.create_file(&path).expect("it can be made");
        assert_eq!(
            file.write_at(&bytes, 0).expect("it can be written"),
            bytes.len()
        );
        let scanned = SystemIo.open_scanned(&path, PageCache::Used);
        let missing = SystemIo.open_scanned(&path.join("nothing"), PageCache::Used);
        SystemIo.remove_file(&path).expect("it can be removed");
        assert!(missing.is_err());
        let scanned = scanned.expect("it can be opened");
        assert_eq!(scanned.length().expect("it has a length"), 20_000);
        let mut read = vec![0; 30_000];
        assert_eq!(
            scanned.read_at(&mut read, 5000).expect("it can be read"),
            15_000
        );
        assert_eq!(read[..15_000], bytes[5000..]);
        assert_eq!(
            scanned.read_at(&mut read, 20_000).expect("it can be read"),
            0
        );
        if cfg!(target_os = "linux") {
            let cached = |offset, length| scanned.cached_bytes(offset, length).expect("it is told");
            assert_eq!(cached(0, u64::MAX), 20_000);
            assert_eq!(cached(4096, 4096), 4096);
            assert_eq!(cached(20_000, 1), 0);
            scanned.evict().expect("it may be evicted");
            assert!(cached(0, 20_000) <= 20_000);
        }
    }
}

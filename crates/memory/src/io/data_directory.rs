//! The data directory, which one process at a time owns.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::directory_lock::{LOCK_FILE, Lock, take};
use super::private::{create_private_directory, make_private, private_file};

/// Content of the lock file of a directory with data.
const MARK: &[u8] = b"this directory holds a database\n";

/// A directory that no other process uses as long as this lives. The lock is released with the process, however that
/// ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    lock: File,
    was_open_to_others: bool,
}

/// Result of taking a directory.
#[derive(Debug)]
pub enum Taken {
    /// The directory, owned by this process.
    Free(DataDirectory),
    /// Another process owns it; the text names that process where it is known.
    Held(String),
}

impl DataDirectory {
    /// Takes a directory, and creates it if it does not exist. It and its files are made private, unless it holds
    /// something else than data.
    pub fn lock(path: &Path) -> io::Result<Taken> {
        create_private_directory(path)?;
        let lock_path = path.join(LOCK_FILE);
        let is_of_data = lock_path.symlink_metadata().is_ok() || is_empty(path)?;
        // Before locking: a process that may not open the file cannot hold its lock.
        let was_open_to_others = is_of_data && make_all_private(path)?;
        Ok(match take(path)? {
            Lock::Own(lock) => Taken::Free(Self {
                path: path.to_path_buf(),
                lock,
                was_open_to_others,
            }),
            Lock::Others(holder) => Taken::Held(holder),
        })
    }

    /// Whether it has ever held data.
    pub fn is_marked(&self) -> io::Result<bool> {
        self.lock.metadata().map(|metadata| metadata.len() > 0)
    }

    /// Notes permanently that it holds data.
    pub fn mark(&self) -> io::Result<()> {
        self.lock.write_all_at(MARK, 0)
    }

    /// The length of one of its files; `None` where it does not exist.
    pub fn length_of(&self, name: &str) -> io::Result<Option<u64>> {
        match self.path.join(name).metadata() {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether others could read or write in it until now.
    pub fn was_open_to_others(&self) -> bool {
        self.was_open_to_others
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens one of its files, and creates it if it does not exist.
    pub fn file(&self, name: &str) -> io::Result<DirectoryFile> {
        let mut options = private_file();
        let options = options.read(true).write(true).create(true).truncate(false);
        options.open(self.path.join(name)).map(DirectoryFile)
    }

    /// Syncs the directory's entries, and its own entry, to disk.
    pub fn sync(&self) -> io::Result<()> {
        sync_entries(&self.path)
    }

    /// Creates a private directory for a copy; false when it exists and is not empty.
    pub fn make_empty(path: &Path) -> io::Result<bool> {
        create_private_directory(path)?;
        let is_empty = is_empty(path)?;
        if is_empty {
            make_private(&File::open(path)?);
        }
        Ok(is_empty)
    }
}

fn is_empty(path: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(path)?.next().is_none())
}

/// Makes a directory and its files private; returns whether something was not.
fn make_all_private(path: &Path) -> io::Result<bool> {
    let mut was_open = make_private(&File::open(path)?);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            // Does not follow a link that has replaced it.
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let opened = File::options()
                .read(true)
                .custom_flags(flags)
                .open(entry.path());
            was_open |= opened.is_ok_and(|file| make_private(&file));
        }
    }
    Ok(was_open)
}

impl Drop for DataDirectory {
    // Closing the file is not enough: a process that another thread has just forked holds the same open file
    // until it executes its program, and with it the lock (flock(2)).
    fn drop(&mut self) {
        // On an error, closing the file releases the lock.
        let _ = self.lock.unlock();
    }
}

/// Whether a device has no room for another page of a file. Blocks reserved for root do not count, since the system
/// does not say how many of them root may use.
pub fn is_full(path: &Path) -> bool {
    const PAGES: u64 = 4;
    let has_no_room =
        |space: rustix::fs::StatVfs| space.f_bavail.saturating_mul(space.f_frsize) < PAGES * 4096;
    rustix::fs::statvfs(path).is_ok_and(has_no_room)
}

/// Syncs to disk the entries of a directory, and its own entry: a new directory is an entry of its parent, which may be
/// new as well.
pub fn sync_entries(directory: &Path) -> io::Result<()> {
    let directory = directory.canonicalize()?;
    File::open(&directory)?.sync_all()?;
    for above in directory.ancestors().skip(1) {
        let synced = File::open(above).and_then(|above| above.sync_all());
        match synced.map_err(|error| error.kind()) {
            // A directory that cannot be read has no new entries of ours, and not every file system syncs directories.
            Ok(()) | Err(io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => {}
            Err(kind) => return Err(kind.into()),
        }
    }
    Ok(())
}

/// A file of a data directory.
#[derive(Debug)]
pub struct DirectoryFile(File);

impl DirectoryFile {
    /// Its length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    /// Changes its length.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    /// Changes its length and allocates disk space for all bytes.
    pub fn allocate(&self, length: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        match fallocate(&self.0, FallocateFlags::empty(), 0, length) {
            // Not every file system supports the call.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let zeros = vec![0; 64 << 10];
                let mut at = self.length()?;
                while at < length {
                    let some = (length - at).min(zeros.len() as u64);
                    self.write_at(&zeros[..some as usize], at)?;
                    at += some;
                }
                Ok(())
            }
            done => Ok(done?),
        }
    }

    /// Fills `bytes`; fewer bytes are an error.
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }

    /// Writes all bytes.
    #[inline]
    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    /// Syncs written bytes to disk.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::{DataDirectory, Taken};

    fn lock(path: &std::path::Path) -> DataDirectory {
        match DataDirectory::lock(path).unwrap() {
            Taken::Free(directory) => directory,
            Taken::Held(holder) => panic!("in use by {holder}"),
        }
    }

    #[test]
    fn a_directory_is_free_at_once_although_a_forked_process_still_has_its_files() {
        let path = std::env::temp_dir().join(format!("mayfly-lock-{}", std::process::id()));
        let locked = lock(&path);
        let inherited = locked.lock.try_clone().unwrap();
        let Taken::Held(holder) = DataDirectory::lock(&path).unwrap() else {
            panic!("it is locked");
        };
        let own = format!("process {}", std::process::id());
        assert!(holder.is_empty() || holder.contains(&own), "{holder}");
        drop(locked);
        drop(lock(&path));
        drop(inherited);
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_directory_and_its_files_are_private_those_of_before_too() {
        use std::os::unix::fs::PermissionsExt as _;

        let path = std::env::temp_dir().join(format!("mayfly-modes-{}", std::process::id()));
        let mode =
            |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let widen = |path: &std::path::Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let directory = lock(&path);
        directory.file("data").unwrap();
        assert!(!directory.was_open_to_others());
        let file = path.join("data");
        for private in [&path, &file, &path.join(super::LOCK_FILE)] {
            assert_eq!(mode(private) & 0o027, 0, "{private:?}");
        }
        drop(directory);
        std::fs::write(path.join("public_key.pem"), "").unwrap();
        widen(&path.join("public_key.pem"), 0o644);
        widen(&path, 0o755);
        widen(&file, 0o664);
        let directory = lock(&path);
        assert!(directory.was_open_to_others());
        assert_eq!((mode(&path), mode(&file)), (0o750, 0o640));
        assert_eq!(mode(&path.join("public_key.pem")), 0o640);
        assert_eq!(mode(&path.join(super::LOCK_FILE)), 0o600);
        drop(directory);
        // A directory that holds something else stays as it is.
        std::fs::remove_file(path.join(super::LOCK_FILE)).unwrap();
        widen(&path, 0o755);
        let directory = lock(&path);
        assert!(!directory.was_open_to_others());
        assert_eq!(mode(&path), 0o755);
        drop(directory);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

//! The directory of durable data: one process at a time has it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::private::{create_private_directory, make_private, private_file};

const LOCK_FILE: &str = "mayfly.lock";

/// A directory that no other process has, as long as this lives. The lock goes with the process,
/// however that ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    lock: File,
    was_open_to_others: bool,
}

impl DataDirectory {
    /// Takes a directory, which is made if it is not there; `None` when another process has it. What others may do with
    /// it and its files is taken from them, unless it holds something else.
    pub fn lock(path: &Path) -> io::Result<Option<Self>> {
        create_private_directory(path)?;
        let lock_path = path.join(LOCK_FILE);
        let is_of_data = lock_path.symlink_metadata().is_ok() || is_empty(path)?;
        let mut options = private_file();
        let options = options.write(true).create(true).truncate(false);
        let lock = options.open(lock_path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_path_buf(),
                lock,
                was_open_to_others: is_of_data && make_all_private(path)?,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// True where others could read or write in it until now.
    pub fn was_open_to_others(&self) -> bool {
        self.was_open_to_others
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of it, which is made if it is not there.
    pub fn file(&self, name: &str) -> io::Result<DirectoryFile> {
        let mut options = private_file();
        let options = options.read(true).write(true).create(true).truncate(false);
        options.open(self.path.join(name)).map(DirectoryFile)
    }

    /// Brings to disk which files there are, and that it is there itself.
    pub fn sync(&self) -> io::Result<()> {
        sync_entries(&self.path)
    }

    /// Makes a directory for a copy; false when there is something in it.
    pub fn make_empty(path: &Path) -> io::Result<bool> {
        create_private_directory(path)?;
        is_empty(path)
    }
}

fn is_empty(path: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(path)?.next().is_none())
}

/// Makes a directory and its files private, but for what clients are given: certificates and public keys. True where
/// something was not.
fn make_all_private(path: &Path) -> io::Result<bool> {
    let mut was_open = make_private(&File::open(path)?);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_for_clients = entry.path().extension().is_some_and(|end| end == "pem");
        if !is_for_clients && entry.file_type()?.is_file() {
            // Without following a link that has taken its place.
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
        // An error leaves the lock to the file's closing.
        let _ = self.lock.unlock();
    }
}

/// Brings to disk what is in a directory, and that it is there: a directory that was made is an entry
/// of the one above, which may have been made with it.
pub fn sync_entries(directory: &Path) -> io::Result<()> {
    let directory = directory.canonicalize()?;
    File::open(&directory)?.sync_all()?;
    for above in directory.ancestors().skip(1) {
        let synced = File::open(above).and_then(|above| above.sync_all());
        match synced.map_err(|error| error.kind()) {
            // Without the right to read it nothing was made in it, and not every file system syncs directories.
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
    /// How many bytes it has.
    pub fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    /// Gives it another length.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    /// Reads as many bytes as there is room for; fewer are an error.
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }

    /// Writes all bytes.
    #[inline]
    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    /// Brings to disk what was written.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::DataDirectory;

    #[test]
    fn a_directory_is_free_at_once_although_a_forked_process_still_has_its_files() {
        let path = std::env::temp_dir().join(format!("mayfly-lock-{}", std::process::id()));
        let locked = DataDirectory::lock(&path).unwrap().unwrap();
        let inherited = locked.lock.try_clone().unwrap();
        assert!(DataDirectory::lock(&path).unwrap().is_none());
        drop(locked);
        assert!(DataDirectory::lock(&path).unwrap().is_some());
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
        let directory = DataDirectory::lock(&path).unwrap().unwrap();
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
        let directory = DataDirectory::lock(&path).unwrap().unwrap();
        assert!(directory.was_open_to_others());
        assert_eq!((mode(&path), mode(&file)), (0o750, 0o640));
        assert_eq!(mode(&path.join("public_key.pem")), 0o644);
        drop(directory);
        // A directory that holds something else stays as it is.
        std::fs::remove_file(path.join(super::LOCK_FILE)).unwrap();
        widen(&path, 0o755);
        let directory = DataDirectory::lock(&path).unwrap().unwrap();
        assert!(!directory.was_open_to_others());
        assert_eq!(mode(&path), 0o755);
        drop(directory);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

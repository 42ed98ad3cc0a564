//! The directory of durable data: one process at a time has it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::directory_lock::{LOCK_FILE, Lock, take};
use super::private::{create_private_directory, make_private, private_file};

/// What the lock file holds once there are data.
const MARK: &[u8] = b"this directory holds a database\n";

/// A directory that no other process has, as long as this lives. The lock goes with the process,
/// however that ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    lock: File,
    was_open_to_others: bool,
}

/// A directory that was asked for.
#[derive(Debug)]
pub enum Taken {
    /// It is this process's now.
    Free(DataDirectory),
    /// Another process has it, which this text names where that is known.
    Held(String),
}

impl DataDirectory {
    /// Takes a directory, which is made if it is not there. What others may do with it and its files is taken from
    /// them, unless it holds something else.
    pub fn lock(path: &Path) -> io::Result<Taken> {
        create_private_directory(path)?;
        let lock_path = path.join(LOCK_FILE);
        let is_of_data = lock_path.symlink_metadata().is_ok() || is_empty(path)?;
        // Before the lock is asked for: who may not open its file cannot hold it.
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

    /// Whether there were data in it once.
    pub fn is_marked(&self) -> io::Result<bool> {
        self.lock.metadata().map(|metadata| metadata.len() > 0)
    }

    /// Notes that there are data in it, for good.
    pub fn mark(&self) -> io::Result<()> {
        self.lock.write_all_at(MARK, 0)
    }

    /// The length of a file of it; none where it is not there.
    pub fn length_of(&self, name: &str) -> io::Result<Option<u64>> {
        match self.path.join(name).metadata() {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
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

    /// Makes a directory for a copy, which is private from then on; false when there is something in it.
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

/// Makes a directory and its files private. True where something was not.
fn make_all_private(path: &Path) -> io::Result<bool> {
    let mut was_open = make_private(&File::open(path)?);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
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

/// Whether a device has no room for another page of a file. What it keeps for root and for itself does not count: it does
/// not say how much of that root may have.
pub fn is_full(path: &Path) -> bool {
    const PAGES: u64 = 4;
    let has_no_room =
        |space: rustix::fs::StatVfs| space.f_bavail.saturating_mul(space.f_frsize) < PAGES * 4096;
    rustix::fs::statvfs(path).is_ok_and(has_no_room)
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

    /// Gives it a length, all of whose bytes have their place on the disk.
    pub fn allocate(&self, length: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        match fallocate(&self.0, FallocateFlags::empty(), 0, length) {
            // Not every file system knows the call.
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

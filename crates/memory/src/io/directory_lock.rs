//! The lock file of a data directory, and the processes that hold its lock.
//!
//! A lock (flock(2)) needs only the right to open the file, so the file is readable by its owner alone. A process that
//! opened it before may hold a lock for ever: a process of another user cannot be a server of this directory, so it
//! keeps the lock of the old file, which is replaced by a new one. Two processes that do so at the same time are kept
//! apart by the name under which the new file is made.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Its name.
pub(super) const LOCK_FILE: &str = "mayfly.lock";
/// Name of a new lock file before it replaces the old one.
const NEW_FILE: &str = "mayfly.lock.new";
const MODE: u32 = 0o600;
/// Number of attempts, each lost to a faster process.
const TRIES: usize = 20;

/// Result of taking a lock.
pub(super) enum Lock {
    /// This process holds it.
    Own(File),
    /// Another process holds it; its process id and user, where they are known.
    Others(String),
}

/// Takes the lock of a directory.
pub(super) fn take(directory: &Path) -> io::Result<Lock> {
    let (path, new) = (directory.join(LOCK_FILE), directory.join(NEW_FILE));
    let mut holder = String::new();
    for _ in 0..TRIES {
        let file = open(&path, false)?;
        match file.try_lock() {
            Ok(()) if is_of(&file, &path) && !is_replaced(&new)? => return Ok(Lock::Own(file)),
            // Another file has replaced it, or is about to.
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let holders = Holder::all_of(&file)?;
        holder = Holder::describe(&holders);
        let owner = directory.metadata()?.uid();
        if holders.is_empty() || !holders.iter().all(|holder| holder.is_stranger(owner)) {
            break;
        }
        if let Some(file) = replace(&path, &new, owner)? {
            return Ok(Lock::Own(file));
        }
    }
    Ok(Lock::Others(holder))
}

fn open(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .mode(MODE)
        .custom_flags(libc::O_NOFOLLOW);
    let options = if is_new {
        options.create_new(true)
    } else {
        options.create(true).truncate(false)
    };
    let file = options.open(path)?;
    if file.metadata()?.mode() & 0o777 & !MODE != 0 {
        // Another user's file stays as it is: a user who may write into the directory made it.
        let _ = file.set_permissions(Permissions::from_mode(MODE));
    }
    Ok(file)
}

/// Whether a path still refers to an open file.
fn is_of(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let named = path.symlink_metadata().map(identity);
    let opened = file.metadata().map(identity);
    matches!((named, opened), (Ok(named), Ok(opened)) if named == opened)
}

/// Whether another process is making a new file. The new file of a process that has ended is removed.
fn is_replaced(new: &Path) -> io::Result<bool> {
    let file = match OpenOptions::new().write(true).open(new) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if file.try_lock().is_ok() && is_of(&file, new) {
        std::fs::remove_file(new)?;
        return Ok(false);
    }
    Ok(true)
}

/// Replaces a file that strangers hold by a new one, which this process has locked; `None` where another process has
/// changed something in between.
fn replace(path: &Path, new: &Path, owner: u32) -> io::Result<Option<File>> {
    if is_replaced(new)? {
        return Ok(None);
    }
    let file = match open(new, true) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.try_lock().is_err() || !is_of(&file, new) {
        return Ok(None);
    }
    // A process that locked the old file before the new one was in place is seen here; a later one sees the new file.
    let old = open(path, false)?;
    let holders = Holder::all_of(&old)?;
    let is_strangers = old.try_lock().is_err()
        && !holders.is_empty()
        && holders.iter().all(|holder| holder.is_stranger(owner));
    if !is_strangers {
        std::fs::remove_file(new)?;
        return Ok(None);
    }
    // Copies the mark of the directory to the new file.
    let mark = std::fs::read(path).unwrap_or_default();
    std::os::unix::fs::FileExt::write_all_at(&file, &mark, 0)?;
    std::fs::rename(new, path)?;
    Ok(Some(file))
}

/// A process that holds a lock.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    process: u32,
    user: u32,
}

impl Holder {
    /// The holders known to the system; empty in another namespace of processes.
    fn all_of(file: &File) -> io::Result<Vec<Self>> {
        let metadata = file.metadata()?;
        let device = format!(
            "{:02x}:{:02x}",
            libc::major(metadata.dev()),
            libc::minor(metadata.dev())
        );
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let processes = processes(&locks, &device, metadata.ino()).into_iter();
        let holder = |process: u32| {
            let user = std::fs::metadata(format!("/proc/{process}")).ok()?.uid();
            Some(Self { process, user })
        };
        Ok(processes.filter_map(holder).collect())
    }

    /// Whether it belongs to a user other than the directory's owner, the user of this process, and root.
    fn is_stranger(&self, owner: u32) -> bool {
        let own = rustix::process::geteuid().as_raw();
        ![0, own, owner].contains(&self.user)
    }

    fn describe(holders: &[Self]) -> String {
        let names = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let describe = |holder: &Self| {
            let process = holder.process;
            let program = std::fs::read_to_string(format!("/proc/{process}/comm"));
            let program = program.unwrap_or_default();
            let user = name_of(&names, holder.user);
            format!("process {process} ({}) of user {user}", program.trim_end())
        };
        let described: Vec<String> = holders.iter().map(describe).collect();
        described.join(", ")
    }
}

/// The processes that hold a file's lock, as `/proc/locks` lists them: `1: FLOCK  ADVISORY  WRITE 4711 fd:01:123 0 EOF`.
fn processes(locks: &str, device: &str, inode: u64) -> Vec<u32> {
    let place = format!("{device}:{inode}");
    let process = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.as_slice() {
            [_, "FLOCK", _, _, process, at, ..] if *at == place => process.parse().ok(),
            _ => None,
        }
    };
    locks.lines().filter_map(process).collect()
}

/// A user's name from the text of `/etc/passwd`, or the number.
fn name_of(passwd: &str, user: u32) -> String {
    let mut lines = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.get(2).and_then(|id| id.parse().ok()) == Some(user));
    let name = found.and_then(|fields| fields.first().map(|name| (*name).to_owned()));
    name.unwrap_or_else(|| user.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn holders_are_found_and_named() {
        let locks = "1: POSIX  ADVISORY  WRITE 10 fd:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 11 fd:01:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 fd:01:77 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 13 fd:02:77 0 EOF\n\
                     4: FLOCK  ADVISORY  READ 14 fd:01:77 0 EOF\n";
        assert_eq!(processes(locks, "fd:01", 77), [11, 14]);
        assert_eq!(processes("", "fd:01", 77), [0; 0]);
        let passwd = "root:x:0:0::/root:/bin/sh\nann:x:1001:1001::/home/ann:/bin/sh\n";
        assert_eq!(name_of(passwd, 1001), "ann");
        assert_eq!(name_of(passwd, 7), "7");
        let holder = Holder {
            process: 1,
            user: u32::MAX,
        };
        assert!(holder.is_stranger(0));
        assert!(
            !Holder {
                process: 1,
                user: 5
            }
            .is_stranger(5)
        );
        assert!(
            !Holder {
                process: 1,
                user: 0
            }
            .is_stranger(5)
        );
    }

    #[test]
    fn a_file_that_was_left_is_no_hindrance() {
        let directory = std::env::temp_dir().join(format!("mayfly-left-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(NEW_FILE), "").unwrap();
        let Lock::Own(file) = take(&directory).unwrap() else {
            panic!("nobody has it");
        };
        assert!(!directory.join(NEW_FILE).exists());
        assert_eq!(file.metadata().unwrap().mode() & 0o777, MODE);
        // While a new one is being made, nobody gets the old one.
        drop(file);
        let made = open(&directory.join(NEW_FILE), true).unwrap();
        made.try_lock().unwrap();
        assert!(matches!(take(&directory).unwrap(), Lock::Others(_)));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

//! A directory held open, to look up and remove its entries by handles.
//!
//! A user who may write in `tmpdir` can put a link where a directory or a lock file is expected, also between a check
//! and the removal. Names are looked up below the open directory alone (openat(2)), links are never followed, and
//! entries of another user stay as they are.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

/// Depth of nested directories that are removed with their content.
const DEPTH_MAX: u32 = 2;

/// A directory that is held open.
#[derive(Debug)]
pub struct HeldDirectory(OwnedFd);

impl HeldDirectory {
    /// Opens a directory; links in the path that the user has given are followed.
    ///
    /// # Errors
    /// Where there is none, or it may not be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Names of its entries, those that are text.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    /// Opens a file of this user, and locks it; `None` where it is a link, not a file, another user's, or locked, or
    /// where the name refers to another file once it is locked.
    pub fn lock(&self, name: &str) -> Option<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty()).ok()?;
        let opened = rustix::fs::fstat(&file).ok()?;
        if !is_own(&opened) || FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile {
            return None;
        }
        let file = File::from(file);
        file.try_lock().ok()?;
        let named = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_same = (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino);
        is_same.then_some(file)
    }

    /// Removes a file, or a link as such.
    ///
    /// # Errors Where it is neither, or may not be removed.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes a directory of this user with its files, and the directories in it that hold only files. Entries that
    /// cannot be removed are left.
    pub(crate) fn remove_directory(&self, name: &OsStr) {
        self.remove_below(name.as_bytes(), DEPTH_MAX);
    }

    fn remove_below(&self, name: &[u8], depth: u32) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(held) = rustix::fs::openat(&self.0, name, flags, Mode::empty()) else {
            return;
        };
        if !rustix::fs::fstat(&held).is_ok_and(|opened| is_own(&opened)) {
            return;
        }
        let held = Self(held);
        for entry in Dir::read_from(&held.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_removed = rustix::fs::unlinkat(&held.0, name, AtFlags::empty()).is_ok();
            if !is_removed && !matches!(name.to_bytes(), b"." | b"..") && depth > 1 {
                held.remove_below(name.to_bytes(), depth - 1);
            }
        }
        // An entry that was replaced is a link, which stays, or an empty directory.
        let _ = rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR);
    }
}

/// Whether it belongs to the user that this process runs as.
fn is_own(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::os::unix::fs::symlink;

    use super::*;

    fn directory(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("held-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn nothing_is_removed_through_a_link() {
        let (tmpdir, other) = (directory("links"), directory("other"));
        std::fs::write(other.join("kept"), "kept").unwrap();
        std::fs::create_dir(tmpdir.join("own")).unwrap();
        symlink(&other, tmpdir.join("own/inner")).unwrap();
        symlink(&other, tmpdir.join("outer")).unwrap();
        let held = HeldDirectory::open(&tmpdir).unwrap();
        held.remove_directory(OsStr::new("own"));
        held.remove_directory(OsStr::new("outer"));
        assert_eq!(std::fs::read(other.join("kept")).unwrap(), b"kept");
        assert_eq!(held.names().unwrap(), ["outer"]);
        for path in [tmpdir, other] {
            std::fs::remove_dir_all(path).unwrap();
        }
    }

    #[test]
    fn a_link_and_a_locked_file_are_not_locked() {
        let tmpdir = directory("locks");
        std::fs::write(tmpdir.join("file"), "").unwrap();
        symlink(tmpdir.join("file"), tmpdir.join("link")).unwrap();
        std::fs::create_dir(tmpdir.join("directory")).unwrap();
        let held = HeldDirectory::open(&tmpdir).unwrap();
        assert!(held.lock("link").is_none());
        assert!(held.lock("directory").is_none());
        assert!(held.lock("missing").is_none());
        let locked = held.lock("file");
        assert!(locked.is_some());
        assert!(held.lock("file").is_none());
        std::fs::remove_dir_all(tmpdir).unwrap();
    }
}

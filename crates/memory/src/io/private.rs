//! Files and directories of a database's data: its account may write them, its group read them, and others nothing
//! (MySQL's defaults of `UMASK` and `UMASK_DIR`), whatever the umask of the process allows.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::io::Errno;

/// Mode of a file that is made.
const FILE_MODE: u32 = 0o640;
/// Mode of a directory that is made.
const DIRECTORY_MODE: u32 = 0o750;
/// Permissions that are always removed: writing for the group, everything for others.
const FORBIDDEN: u32 = 0o027;
/// Sticky bit of a directory in which everyone may make files and remove their own.
const STICKY: u32 = 0o1000;

/// Options to open a file with; a new one is private.
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.mode(FILE_MODE);
    options
}

/// Gives a file another name, which no file has: [`io::ErrorKind::AlreadyExists`] otherwise.
///
/// # Errors
/// Where it cannot be renamed.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        // The file system does not know the flag. A second name of a file replaces nothing either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes a private directory, and those above it that are missing.
///
/// # Errors
/// Where it cannot be made.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(DIRECTORY_MODE).create(path)
}

/// Removes the permissions of others from an existing file or directory; returns whether there were any. A sticky
/// directory stays as it is.
pub fn make_private(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    let mode = metadata.permissions().mode();
    if mode & FORBIDDEN == 0 || mode & STICKY != 0 {
        return false;
    }
    let private = Permissions::from_mode(mode & 0o7777 & !FORBIDDEN);
    file.set_permissions(private).is_ok()
}

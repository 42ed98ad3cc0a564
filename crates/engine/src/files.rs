//! The files that statements may read and write, within `secure_file_priv`.

use std::fs::{File, OpenOptions};
use std::io::Error as IoError;
use std::path::{Path, PathBuf};

use mayfly_functions::context::{FileContents, ServerFiles};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::options::FileAccess;
use crate::session::Session;

fn refused() -> Error {
    codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&"--secure-file-priv"])
}

/// The path that a statement's text names, if it may be touched: 1290 otherwise.
fn allowed(session: &Session, path: &str) -> Result<PathBuf> {
    within(&session.database.options.file_access, path)
}

fn within(access: &FileAccess, path: &str) -> Result<PathBuf> {
    let path = Path::new(path);
    let directory = match access {
        FileAccess::Anywhere => return Ok(path.to_owned()),
        FileAccess::Disabled => return Err(refused()),
        FileAccess::Directory(directory) => directory,
    };
    // The file itself need not exist yet; its directory must, or it cannot be inside.
    let real = |path: &Path| path.canonicalize().map_err(|_| refused());
    let parent = path.parent().map(real).transpose()?.ok_or_else(refused)?;
    if !parent.starts_with(real(directory)?) {
        return Err(refused());
    }
    Ok(match path.file_name() {
        Some(name) => parent.join(name),
        None => parent,
    })
}

/// The files that LOAD_FILE() may read.
#[derive(Debug)]
pub(crate) struct ReadableFiles(pub(crate) FileAccess);

impl ServerFiles for ReadableFiles {
    fn read(&self, path: &str, most: u64) -> FileContents {
        let Ok(path) = within(&self.0, path) else {
            return FileContents::Missing;
        };
        let Ok(metadata) = std::fs::metadata(&path) else {
            return FileContents::Missing;
        };
        if !metadata.is_file() {
            return FileContents::NotAFile;
        }
        if metadata.len() > most {
            return FileContents::TooLong;
        }
        std::fs::read(&path).map_or(FileContents::Missing, FileContents::Bytes)
    }
}

/// A new file for SELECT … INTO: 1086 when there is one of that name.
pub(crate) fn create(session: &Session, path: &str) -> Result<File> {
    let real = allowed(session, path)?;
    if real.exists() {
        return Err(codes::ER_FILE_EXISTS_ERROR.with(&[&path]));
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(real)
        .map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(0);
            codes::EE_CANTCREATEFILE.with(&[&path, &errno, &system_text(&error)])
        })
}

/// An existing file for LOAD DATA.
pub(crate) fn open(session: &Session, path: &str, local: bool) -> Result<File> {
    let (real, code) = match local {
        true => (PathBuf::from(path), codes::EE_FILENOTFOUND),
        false => (allowed(session, path)?, codes::EE_FILE_NOT_READABLE),
    };
    File::open(&real).map_err(|error| {
        let errno = error.raw_os_error().unwrap_or(0);
        code.with(&[&path, &errno, &system_text(&error)])
    })
}

/// What the system says of an error, without the number that Rust adds.
pub(crate) fn system_text(error: &IoError) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// The error of a write that failed, with its file.
pub(crate) fn write_error(path: &str, error: &IoError) -> Error {
    let errno = error.raw_os_error().unwrap_or(0);
    codes::ER_ERROR_ON_WRITE.with(&[&path, &format!("{errno} - {}", system_text(error))])
}

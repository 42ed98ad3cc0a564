//! A file that begins with a byte order mark, read without it: LOAD DATA, as in MySQL, keeps every byte.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use mayfly_engine::{Error, LocalFiles, codes};

use crate::statements::BYTE_ORDER_MARK;

/// The files of this process, one of them without its byte order mark.
#[derive(Debug)]
pub(super) struct UnmarkedFile {
    path: String,
}

impl UnmarkedFile {
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
        }
    }
}

impl LocalFiles for UnmarkedFile {
    fn open(&mut self, name: &str) -> Result<Box<dyn Read + Send>, Error> {
        let open = || {
            let mut file = File::open(name)?;
            if name == self.path {
                file.seek(SeekFrom::Start(BYTE_ORDER_MARK.len() as u64))?;
            }
            Ok::<_, std::io::Error>(file)
        };
        let failed = |error: std::io::Error| {
            let number = error.raw_os_error().unwrap_or(0);
            codes::EE_FILENOTFOUND.with(&[&name, &number, &error])
        };
        Ok(Box::new(open().map_err(failed)?))
    }
}

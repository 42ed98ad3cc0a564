//! A file system with a directory on a small device, for tests: writes beyond its capacity find the device full, as
//! with `write` and `fallocate`.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{IoBackend, IoFile};
use crate::sync::lock;

const PAGE: u64 = 4096;

#[derive(Debug)]
struct Device {
    capacity: u64,
    /// The pages of each file.
    files: HashMap<PathBuf, BTreeSet<u64>>,
}

impl Device {
    fn used(&self) -> u64 {
        self.files
            .values()
            .map(|pages| pages.len() as u64)
            .sum::<u64>()
            * PAGE
    }

    /// Allocates pages to a file, from the first on, as long as there are any; returns the end of the allocated part.
    fn grow(&mut self, file: &Path, start: u64, end: u64) -> u64 {
        let mut left = self.capacity.saturating_sub(self.used()) / PAGE;
        let pages = self.files.entry(file.to_owned()).or_default();
        for page in start / PAGE..end.div_ceil(PAGE) {
            if !pages.contains(&page) {
                if left == 0 {
                    return (page * PAGE).max(start);
                }
                left -= 1;
                pages.insert(page);
            }
        }
        end
    }
}

/// Backend with a directory on a device of limited capacity. Removal always works.
#[derive(Debug)]
pub struct SmallDevice {
    inner: Arc<dyn IoBackend>,
    directory: PathBuf,
    device: Arc<Mutex<Device>>,
}

impl SmallDevice {
    /// A backend over `inner`, where `directory` is on a device of `capacity` bytes. Directories take no space.
    pub fn new(inner: Arc<dyn IoBackend>, directory: PathBuf, capacity: u64) -> Self {
        let device = Device {
            capacity,
            files: HashMap::new(),
        };
        Self {
            inner,
            directory,
            device: Arc::new(Mutex::new(device)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Device> {
        lock(&self.device)
    }

    /// Changes the capacity of the device.
    pub fn set_capacity(&self, capacity: u64) {
        self.lock().capacity = capacity;
    }

    /// Bytes that files use.
    pub fn used(&self) -> u64 {
        self.lock().used()
    }

    fn wrap(&self, path: &Path, file: Box<dyn IoFile>) -> Box<dyn IoFile> {
        if !path.starts_with(&self.directory) {
            return file;
        }
        Box::new(SmallFile {
            inner: file,
            path: path.to_owned(),
            device: Arc::clone(&self.device),
        })
    }
}

impl IoBackend for SmallDevice {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        Ok(self.wrap(path, self.inner.create_file(path)?))
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        Ok(self.wrap(path, self.inner.open_file(path)?))
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.lock().files.remove(path);
        self.inner.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }
}

#[derive(Debug)]
struct SmallFile {
    inner: Box<dyn IoFile>,
    path: PathBuf,
    device: Arc<Mutex<Device>>,
}

fn full() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSPC)
}

impl IoFile for SmallFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let end = offset + bytes.len() as u64;
        let end = lock(&self.device).grow(&self.path, offset, end);
        match (end - offset) as usize {
            0 if !bytes.is_empty() => Err(full()),
            length => self.inner.write_at(&bytes[..length], offset),
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(bytes, offset)
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        if lock(&self.device).grow(&self.path, 0, length) < length {
            return Err(full());
        }
        self.inner.allocate(length)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut device = lock(&self.device);
        if let Some(pages) = device.files.get_mut(&self.path) {
            pages.retain(|page| page * PAGE < length);
        }
        drop(device);
        self.inner.set_len(length)
    }

    fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        let mut device = lock(&self.device);
        if let Some(pages) = device.files.get_mut(&self.path) {
            pages.retain(|page| page * PAGE < offset || (page + 1) * PAGE > offset + length);
        }
        drop(device);
        self.inner.punch(offset, length)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.inner.try_lock()
    }
}

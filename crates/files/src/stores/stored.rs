//! An object that is read: ranges of it, or all of it as a stream.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use mayfly_engine::{FileVersion, Interrupt, Reservation, StoreAccess, StoredObject};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, OBJECT_STORE_COALESCE_DEFAULT, ObjectMeta, ObjectStore, coalesce_ranges,
};
use tokio::task::JoinHandle;

use super::errors::what;
use super::runtime::{io_error, runtime, wait};

/// An object as it was when it was looked at.
#[derive(Debug)]
pub(super) struct Stored {
    url: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    length: u64,
    tag: Option<String>,
    modified: std::time::SystemTime,
}

impl Stored {
    pub(super) fn new(
        url: &str,
        store: Arc<dyn ObjectStore>,
        path: Path,
        meta: ObjectMeta,
    ) -> Self {
        Self {
            url: url.to_owned(),
            store,
            path,
            length: meta.size,
            tag: meta.e_tag,
            modified: meta.last_modified.into(),
        }
    }

    /// A request for the object as it was.
    fn options(&self) -> GetOptions {
        // A weak tag equals none in this comparison (RFC 9110, 13.1.1).
        let is_strong = |tag: &String| !tag.starts_with("W/");
        GetOptions {
            if_match: self.tag.clone().filter(is_strong),
            ..GetOptions::default()
        }
    }
}

impl StoredObject for Stored {
    fn version(&self) -> FileVersion {
        FileVersion {
            length: self.length,
            modified: Some(self.modified),
            tag: self.tag.clone(),
        }
    }

    fn ranges(&self, ranges: &[Range<u64>], access: &StoreAccess) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (store, path, options) = (Arc::clone(&self.store), self.path.clone(), self.options());
        // Servers refuse a range without bytes.
        let asked = ranges.iter().filter(|range| !range.is_empty());
        let asked: Vec<Range<u64>> = asked.cloned().collect();
        let found = wait(&access.interrupt, async move {
            let get = |range: Range<u64>| {
                let options = GetOptions {
                    range: Some(GetRange::Bounded(range)),
                    ..options.clone()
                };
                let (store, path) = (&store, &path);
                async move { store.get_opts(path, options).await?.bytes().await }
            };
            coalesce_ranges(&asked, get, OBJECT_STORE_COALESCE_DEFAULT).await
        });
        let found = found.map_err(io_error)?;
        let found = found.map_err(|error| io::Error::other(what(&self.url, &error)))?;
        let mut found = found.into_iter();
        let bytes = ranges.iter().map(|range| {
            let bytes = match range.is_empty() {
                true => Bytes::new(),
                false => found.next().unwrap_or_default(),
            };
            if bytes.len() as u64 != range.end - range.start {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(Vec::from(bytes))
        });
        bytes.collect()
    }

    fn reader(&self, access: &StoreAccess) -> io::Result<Box<dyn Read + Send>> {
        let memory = access.memory.reserve(STREAM).map_err(io_error)?;
        if self.length == 0 {
            return Ok(Box::new(io::empty()));
        }
        let (sender, receiver) = sync_channel(PARTS);
        let (store, path, options) = (Arc::clone(&self.store), self.path.clone(), self.options());
        let url = self.url.clone();
        let failed = move |error: object_store::Error| what(&url, &error);
        let (requests, wanted) = tokio::sync::mpsc::channel(PARTS);
        let task = runtime().map_err(io_error)?.spawn(async move {
            let mut wanted = wanted;
            let mut stream = match store.get_opts(&path, options).await {
                Ok(found) => found.into_stream(),
                Err(error) => return give(&sender, Err(failed(error))),
            };
            // Each part that the reader takes lets one more be read.
            while wanted.recv().await.is_some() {
                match stream.next().await {
                    Some(part) => give(&sender, part.map_err(&failed)),
                    None => return,
                }
            }
        });
        for _ in 0..PARTS {
            // There is room for each.
            let _ = requests.try_send(());
        }
        Ok(Box::new(Stream {
            receiver,
            requests,
            part: Bytes::new(),
            left: self.length,
            interrupt: access.interrupt.clone(),
            task,
            _memory: memory,
        }))
    }
}

/// Parts of a stream that wait for its reader.
const PARTS: usize = 8;

/// Memory of a stream: its parts are what arrived together, some hundred KiB at most.
const STREAM: u64 = 2 << 20;

type Part = std::result::Result<Bytes, String>;

fn give(sender: &SyncSender<Part>, part: Part) {
    // There is room for each part that was asked for; a reader that was dropped takes none.
    let _ = sender.try_send(part);
}

/// The reader of an object.
struct Stream {
    receiver: Receiver<Part>,
    /// Asks for another part.
    requests: tokio::sync::mpsc::Sender<()>,
    part: Bytes,
    /// Bytes that are still to come.
    left: u64,
    interrupt: Interrupt,
    task: JoinHandle<()>,
    _memory: Reservation,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() && self.left > 0 {
            self.interrupt.check().map_err(io_error)?;
            match self.receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(part) => {
                    self.part = part.map_err(io::Error::other)?;
                    self.left = self.left.saturating_sub(self.part.len() as u64);
                    let _ = self.requests.try_send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                // It ended before its length: not the end of the file.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        let bytes = self.part.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&self.part.split_to(bytes));
        Ok(bytes)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

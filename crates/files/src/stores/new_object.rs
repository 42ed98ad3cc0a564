//! An object that is written: parts of it are uploaded while rows come, and it appears when the upload ends.
//!
//! A small object is one request, which a store refuses where one of its name exists. Of a larger one the existing is looked
//! for before the upload and before its end. An upload that is dropped is aborted, and leaves nothing.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Error, Interrupt, NewObject, Reservation, Result, StoreAccess, codes};
use object_store::path::Path;
use object_store::{
    Error as StoreError, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
};
use tokio::sync::oneshot;

use super::errors::failed;
use super::runtime::{io_error, runtime, wait};

/// Bytes of a part: stores take 10,000 of them, each but the last one of at least 5 MiB.
const PART: usize = 8 << 20;

/// Objects of a directory up to this size wait in memory for its end; larger ones are uploaded before.
const WAITING_MAX: usize = 64 << 10;

/// An object that is being written.
pub(super) struct Upload {
    url: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    replaces: bool,
    access: StoreAccess,
    /// Written, but not sent yet.
    buffer: Vec<u8>,
    memory: Option<Reservation>,
    /// The upload of parts, once there is one.
    parts: Option<Box<dyn MultipartUpload>>,
    /// The part that is being sent.
    sending: Option<oneshot::Receiver<object_store::Result<()>>>,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Upload {
    pub(super) fn new(
        url: &str,
        store: Arc<dyn ObjectStore>,
        path: Path,
        replaces: bool,
        access: StoreAccess,
    ) -> Self {
        Self {
            url: url.to_owned(),
            store,
            path,
            replaces,
            access,
            buffer: Vec::new(),
            memory: None,
            parts: None,
            sending: None,
        }
    }

    fn failed(&self, error: &StoreError) -> Error {
        match error {
            StoreError::AlreadyExists { .. } => self.is_taken(),
            error => failed(&self.url, error),
        }
    }

    fn is_taken(&self) -> Error {
        codes::ER_FILE_EXISTS_ERROR.with(&[&self.url])
    }

    /// Whether there is an object of its name.
    pub(super) fn exists(&self) -> Result<bool> {
        let (store, path) = (Arc::clone(&self.store), self.path.clone());
        let found = wait(
            &self.access.interrupt,
            async move { store.head(&path).await },
        )?;
        match found {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Waits for the part that is being sent.
    fn sent(&mut self) -> Result<()> {
        let Some(sending) = self.sending.take() else {
            return Ok(());
        };
        match wait(&self.access.interrupt, sending)? {
            Ok(sent) => sent.map_err(|error| self.failed(&error)),
            Err(_) => Err(failed_request()),
        }
    }

    /// Begins to send what the buffer holds as a part.
    fn send(&mut self) -> Result<()> {
        self.sent()?;
        if self.parts.is_none() {
            let (store, path) = (Arc::clone(&self.store), self.path.clone());
            let begun = wait(&self.access.interrupt, async move {
                store.put_multipart(&path).await
            })?;
            self.parts = Some(begun.map_err(|error| self.failed(&error))?);
        }
        let Some(parts) = &mut self.parts else {
            return Ok(());
        };
        let part = parts.put_part(PutPayload::from(std::mem::take(&mut self.buffer)));
        let (sender, receiver) = oneshot::channel();
        runtime()?.spawn(async move {
            // An upload that was dropped waits for nothing.
            let _ = sender.send(part.await);
        });
        self.sending = Some(receiver);
        Ok(())
    }
}

fn failed_request() -> Error {
    codes::ER_UNKNOWN_ERROR.with(&[&"a request to a store has failed"])
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.buffer.len());
        // A part that is being sent is held as well.
        let needed = self.buffer.len() + taken + if self.sending.is_some() { PART } else { 0 };
        let held = self.memory.as_ref().map_or(0, Reservation::bytes);
        if needed as u64 > held {
            self.memory = None;
            let most = needed.next_power_of_two().min(2 * PART) as u64;
            self.memory = Some(self.access.memory.reserve(most).map_err(io_error)?);
        }
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART {
            self.send().map_err(io_error)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewObject for Upload {
    fn upload(&mut self) -> Result<()> {
        if self.parts.is_some() || self.buffer.len() > WAITING_MAX {
            if !self.buffer.is_empty() {
                self.send()?;
            }
            self.sent()?;
            self.memory = None;
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<()> {
        let (store, path) = (Arc::clone(&self.store), self.path.clone());
        if self.parts.is_none() {
            let mode = match self.replaces {
                true => PutMode::Overwrite,
                false => PutMode::Create,
            };
            let payload = PutPayload::from(std::mem::take(&mut self.buffer));
            let put = wait(&self.access.interrupt, async move {
                store.put_opts(&path, payload, mode.into()).await
            })?;
            return put.map(drop).map_err(|error| self.failed(&error));
        }
        self.upload()?;
        if !self.replaces && self.exists()? {
            return Err(self.is_taken());
        }
        let Some(mut parts) = self.parts.take() else {
            return Ok(());
        };
        // It is not interrupted any more: whether the object appears would be open.
        let ended = wait(&Interrupt::default(), async move {
            let ended = parts.complete().await;
            if ended.is_err() {
                // What cannot be aborted remains as a part of no object.
                let _ = parts.abort().await;
            }
            ended
        })?;
        ended.map(drop).map_err(|error| self.failed(&error))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        /// Time for a store to forget the parts.
        const ABORT: Duration = Duration::from_secs(10);
        let Some(mut parts) = self.parts.take() else {
            return;
        };
        let sending = self.sending.take();
        let aborted = wait(&Interrupt::default(), async move {
            let abort = async {
                if let Some(sending) = sending {
                    let _ = sending.await;
                }
                parts.abort().await
            };
            tokio::time::timeout(ABORT, abort).await.is_ok()
        });
        // Parts that could not be aborted are removed by the rules of the bucket.
        let _ = aborted;
    }
}

//! LOAD DATA LOCAL: the client sends the file over the connection of the statement.

use std::io::{self, Read};
use std::sync::Arc;

use mayfly_engine::{Error, LocalFiles, codes};
use parking_lot::Mutex;

use crate::channel::{Channel, Failure};

/// The first byte of the request for a file.
const REQUEST: u8 = 0xFB;

type Slot = Arc<Mutex<Option<Box<Channel>>>>;

/// The channel of a connection, lent to the session while a statement runs.
#[derive(Debug)]
pub(super) struct Lent {
    own: Option<Box<Channel>>,
    slot: Slot,
}

impl Lent {
    pub(super) fn new(channel: Box<Channel>) -> Self {
        Self {
            own: Some(channel),
            slot: Slot::default(),
        }
    }

    /// The channel, which is back when no statement runs.
    pub(super) fn get(&mut self) -> &mut Channel {
        self.take_back();
        self.own.as_mut().expect("lent channels come back")
    }

    /// Lends the channel to a statement that may ask for files.
    pub(super) fn lend(&mut self) {
        if let Some(channel) = self.own.take() {
            *self.slot.lock() = Some(channel);
        }
    }

    fn take_back(&mut self) {
        if self.own.is_none() {
            let mut slot = self.slot.lock();
            self.own = slot.take();
        }
    }

    /// The files of the client, for the session.
    pub(super) fn local_files(&self, is_allowed: bool) -> Box<dyn LocalFiles> {
        Box::new(ClientFiles {
            slot: Arc::clone(&self.slot),
            is_allowed,
        })
    }
}

/// The files of a client.
#[derive(Debug)]
struct ClientFiles {
    slot: Slot,
    /// Whether the client announced that it sends files.
    is_allowed: bool,
}

impl LocalFiles for ClientFiles {
    fn open(&mut self, name: &str) -> Result<Box<dyn Read + Send>, Error> {
        let not_allowed = || codes::ER_CLIENT_LOCAL_FILES_DISABLED.error();
        if !self.is_allowed {
            return Err(not_allowed());
        }
        let mut slot = self.slot.lock();
        let channel = slot.as_mut().ok_or_else(not_allowed)?;
        channel.packet(|out| {
            out.push(REQUEST);
            out.extend_from_slice(name.as_bytes());
        });
        let lost = |_| codes::ER_NET_ERROR_ON_WRITE.error();
        channel.flush().map_err(lost)?;
        drop(slot);
        Ok(Box::new(ClientFile {
            slot: Arc::clone(&self.slot),
            payload: Vec::new(),
            read: 0,
            is_at_end: false,
        }))
    }
}

/// One file, received packet by packet; an empty packet is the end. On drop the rest is read, so
/// that the next command follows in the stream.
#[derive(Debug)]
struct ClientFile {
    slot: Slot,
    payload: Vec<u8>,
    read: usize,
    is_at_end: bool,
}

impl ClientFile {
    fn next_packet(&mut self) -> io::Result<()> {
        let mut slot = self.slot.lock();
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        let channel = slot.as_mut().ok_or_else(gone)?;
        let received = channel.receive_now(&mut self.payload);
        self.read = 0;
        self.is_at_end = self.payload.is_empty() || received.is_err();
        received.map_err(|failure| match failure {
            Failure::Gone(error) => error,
            Failure::Wrong(error) | Failure::Refused(error) => io::Error::other(error),
        })
    }
}

impl Read for ClientFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.read == self.payload.len() && !self.is_at_end {
            self.next_packet()?;
        }
        let rest = &self.payload[self.read..];
        let length = rest.len().min(bytes.len());
        bytes[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}

impl Drop for ClientFile {
    fn drop(&mut self) {
        // The next read returns the error again.
        while !self.is_at_end && self.next_packet().is_ok() {}
    }
}

//! Packets over a stream: the channel through which the rest of the crate talks to a client.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_engine::{Error, codes};
use rustls::ServerConfig;

use crate::packet::{Algorithm, Compression, PacketDecoder, PacketEncoder, PacketError};
use crate::stream::{PACE, PIECE_MIN, Stream};

/// How long a read waits before it frees the thread: short enough for timeouts and shutdowns, long enough that a busy
/// client keeps its thread.
pub(crate) const READ_PAUSE: Duration = Duration::from_millis(100);

/// Number of bytes of a reply at which they are sent.
const FLUSH_AT: usize = 64 << 10;

/// Size of a read.
pub(crate) const READ_SIZE: usize = 16 << 10;

/// Greatest number of bytes of a refused packet that are read, so that the client can read the error.
const DRAIN_MAX: usize = 256 << 20;

/// [`DRAIN_MAX`] for a client that has not logged in.
const LOGIN_DRAIN_MAX: usize = 256 << 10;

/// Greatest number of reads of a login: the largest login takes about a hundred packets of a slow network. Each byte of
/// a login byte by byte would cost a system call and more.
const LOGIN_PIECES_MAX: u32 = 128;

/// Failure of the wait for a packet, a login or a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client has closed the connection, or is too slow.
    Gone(io::Error),
    /// The client's packets are malformed: it gets the error, and the connection ends.
    Wrong(Error),
    /// The request failed, or is denied: the client gets the error.
    Refused(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

/// Result of waiting for a payload for one pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// A payload.
    Payload,
    /// No complete payload.
    Nothing,
    /// The end of the stream.
    End,
}

/// Network timeouts of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkTimeouts {
    /// `net_read_timeout`: for the rest of a packet whose first bytes have come.
    pub(crate) read: Duration,
    /// `net_write_timeout`: for sent bytes to be accepted.
    pub(crate) write: Duration,
}

/// Packets to and from a client over its stream.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The stream; `None` only while TLS begins.
    stream: Option<Stream>,
    decoder: PacketDecoder,
    encoder: PacketEncoder,
    compression: Option<Compression>,
    /// Compressed bytes to be sent.
    compressed: Vec<u8>,
    timeouts: NetworkTimeouts,
    drain_max: usize,
    /// Number of reads until the end of the login.
    login_pieces: u32,
    received: u64,
    sent: u64,
    /// Bytes of replies sent, before compression.
    replied: u64,
    /// Bytes of replies, sent and waiting, at the last [`Self::take_replied`].
    replied_before: u64,
}

impl Channel {
    pub(crate) fn new(
        stream: Stream,
        max_payload: usize,
        timeouts: NetworkTimeouts,
    ) -> io::Result<Self> {
        stream.socket().set_timeouts(READ_PAUSE, timeouts.write)?;
        Ok(Self {
            stream: Some(stream),
            decoder: PacketDecoder::new(max_payload),
            encoder: PacketEncoder::default(),
            compression: None,
            compressed: Vec::new(),
            timeouts,
            drain_max: LOGIN_DRAIN_MAX,
            login_pieces: 0,
            received: 0,
            sent: 0,
            replied: 0,
            replied_before: 0,
        })
    }

    pub(crate) fn stream(&mut self) -> io::Result<&mut Stream> {
        self.stream.as_mut().ok_or_else(gone)
    }

    pub(crate) fn set_max_payload(&mut self, bytes: usize) {
        self.drain_max = DRAIN_MAX;
        self.decoder.set_max_payload(bytes);
    }

    pub(crate) fn set_timeouts(&mut self, timeouts: NetworkTimeouts) -> io::Result<()> {
        self.timeouts = timeouts;
        let stream = self.stream()?;
        stream.socket().set_timeouts(READ_PAUSE, timeouts.write)
    }

    /// Switches to TLS, as the client asked.
    pub(crate) fn start_tls(&mut self, configuration: Arc<ServerConfig>) -> io::Result<()> {
        let stream = self.stream.take().ok_or_else(gone)?;
        let socket = stream.socket().clone();
        socket.set_timeouts(self.timeouts.read, self.timeouts.write)?;
        let begun = self.decoder.take_rest();
        self.stream = Some(stream.start_tls(configuration, &begun)?);
        socket.set_timeouts(READ_PAUSE, self.timeouts.write)
    }

    /// Compresses everything from here on.
    pub(crate) fn start_compression(&mut self, algorithm: Algorithm) {
        self.compression = Some(Compression::new(algorithm));
        self.decoder.count_outside();
    }

    /// Begins a command: packets are numbered anew.
    pub(crate) fn begin_command(&mut self) {
        self.decoder.begin_command();
        if let Some(compression) = &mut self.compression {
            compression.begin_command();
        }
    }

    /// Whether a packet has come, at least in part.
    pub(crate) fn has_begun(&mut self) -> bool {
        !self.decoder.is_empty()
            || self.compression.as_ref().is_some_and(|it| !it.is_empty())
            || self.stream.as_mut().is_some_and(Stream::has_read_ahead)
    }

    /// Begins a packet of the server that is not a reply.
    pub(crate) fn begin_reply(&mut self) {
        self.begin_command();
        self.encoder.set_sequence(0);
    }

    /// Bytes received and sent since the last call.
    pub(crate) fn take_traffic(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.received),
            std::mem::take(&mut self.sent),
        )
    }

    /// Bytes of replies since the last call, sent or waiting to be sent, before compression.
    pub(crate) fn take_replied(&mut self) -> u64 {
        let replied = self.replied + self.encoder.len() as u64;
        let before = std::mem::replace(&mut self.replied_before, replied);
        replied.saturating_sub(before)
    }

    /// Receives the next payload into `payload`, if one comes within a pause. A payload whose first bytes have come may
    /// take `net_read_timeout`.
    pub(crate) fn receive(&mut self, payload: &mut Vec<u8>) -> Result<Received, Failure> {
        let mut began: Option<Instant> = None;
        loop {
            match self.decoder.next(payload) {
                Ok(true) => {
                    self.encoder.set_sequence(self.decoder.sequence());
                    return Ok(Received::Payload);
                }
                Ok(false) => {}
                Err(wrong) => return Err(self.wrong(wrong)),
            }
            if self.expand_next()? {
                continue;
            }
            match self.read_some() {
                Ok(0) if self.has_begun() => {
                    return Err(Failure::Gone(ErrorKind::UnexpectedEof.into()));
                }
                Ok(0) => return Ok(Received::End),
                Ok(read) => {
                    began = Some(Instant::now());
                    let has_logged_in = self.drain_max == DRAIN_MAX;
                    if !has_logged_in && !self.decoder.has_whole() {
                        self.login_pieces += 1;
                        if self.login_pieces > LOGIN_PIECES_MAX {
                            return Err(Failure::Wrong(codes::ER_HANDSHAKE_ERROR.error()));
                        }
                        if read < PIECE_MIN {
                            std::thread::sleep(PACE);
                        }
                    }
                }
                Err(Failure::Gone(error)) if is_pause(&error) => {
                    if !self.has_begun() {
                        return Ok(Received::Nothing);
                    }
                    let began = *began.get_or_insert_with(Instant::now);
                    if began.elapsed() >= self.timeouts.read {
                        return Err(Failure::Wrong(codes::ER_NET_READ_INTERRUPTED.error()));
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The next payload, which must come within `within`.
    pub(crate) fn receive_within(
        &mut self,
        payload: &mut Vec<u8>,
        within: Duration,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            match self.receive(payload)? {
                Received::Payload => return Ok(()),
                Received::End => return Err(Failure::Gone(ErrorKind::UnexpectedEof.into())),
                Received::Nothing if begun.elapsed() >= within => {
                    return Err(Failure::Gone(ErrorKind::TimedOut.into()));
                }
                Received::Nothing => {}
            }
        }
    }

    /// [`Self::receive_within`] with `net_read_timeout`.
    pub(crate) fn receive_now(&mut self, payload: &mut Vec<u8>) -> Result<(), Failure> {
        self.receive_within(payload, self.timeouts.read)
    }

    fn read_some(&mut self) -> Result<usize, Failure> {
        let mut bytes = [0; READ_SIZE];
        let read = loop {
            match self.stream()?.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // TLS that ends without a closing message.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break 0,
                read => break read?,
            }
        };
        self.received += read as u64;
        match &mut self.compression {
            None => self.decoder.feed(&bytes[..read]),
            Some(compression) => compression.feed(&bytes[..read]),
        }
        Ok(read)
    }

    /// Decompresses the next packet, if it has come.
    fn expand_next(&mut self) -> Result<bool, Failure> {
        let Some(compression) = &mut self.compression else {
            return Ok(false);
        };
        let decoder = &mut self.decoder;
        let expanded = compression.decode_next(|plain| decoder.feed(plain));
        expanded.map_err(|wrong| self.wrong(wrong))
    }

    /// The error of malformed packets. The rest of a packet that is too long is read, so that the client gets to read
    /// the error.
    fn wrong(&mut self, wrong: PacketError) -> Failure {
        self.encoder
            .set_sequence(self.decoder.sequence().wrapping_add(1));
        match wrong {
            PacketError::OutOfOrder => Failure::Wrong(codes::ER_NET_PACKETS_OUT_OF_ORDER.error()),
            PacketError::Compression => Failure::Wrong(codes::ER_NET_UNCOMPRESS_ERROR.error()),
            PacketError::TooLarge => {
                let missing = self.decoder.missing().unwrap_or(0);
                self.drain(missing.min(self.drain_max));
                Failure::Wrong(codes::ER_NET_PACKET_TOO_LARGE.error())
            }
        }
    }

    /// Reads and discards `bytes` bytes.
    fn drain(&mut self, mut bytes: usize) {
        let begun = Instant::now();
        let mut buffer = [0; READ_SIZE];
        while bytes > 0 && begun.elapsed() < self.timeouts.read {
            let Ok(stream) = self.stream() else {
                return;
            };
            match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => bytes = bytes.saturating_sub(read),
                Err(error) if is_pause(&error) => {}
                Err(_) => return,
            }
        }
    }

    /// The encoder of the reply.
    pub(crate) fn encoder(&mut self) -> &mut PacketEncoder {
        &mut self.encoder
    }

    /// Appends a packet to the reply.
    pub(crate) fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.encoder.packet(write);
    }

    /// Sends waiting bytes if there are many; returns whether there were.
    pub(crate) fn flush_if_full(&mut self) -> io::Result<bool> {
        let is_full = self.encoder.len() >= FLUSH_AT;
        if is_full {
            self.flush()?;
        }
        Ok(is_full)
    }

    /// Sends the waiting bytes.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        let stream = self.stream.as_mut().ok_or_else(gone)?;
        let bytes = match &mut self.compression {
            None => self.encoder.bytes(),
            Some(compression) => {
                self.compressed.clear();
                compression.encode(self.encoder.bytes(), &mut self.compressed)?;
                &self.compressed
            }
        };
        stream.write_all(bytes)?;
        stream.flush()?;
        self.sent += bytes.len() as u64;
        self.replied += self.encoder.len() as u64;
        self.encoder.clear();
        // Both sides continue numbering from here.
        self.decoder.set_sequence(self.encoder.sequence());
        Ok(())
    }

    /// Frees the buffers, which an idle connection does not need.
    pub(crate) fn release(&mut self) {
        self.decoder.release();
        self.encoder.release(0);
        self.compressed = Vec::new();
    }
}

/// The error when there is no stream any more.
fn gone() -> io::Error {
    ErrorKind::NotConnected.into()
}

/// Whether a read ended because no byte came in time.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

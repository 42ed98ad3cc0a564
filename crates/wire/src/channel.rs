//! Packets over a stream: what the rest of the crate talks to a client through.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_engine::{Error, codes};
use rustls::ServerConfig;

use crate::packet::{Algorithm, Compression, PacketDecoder, PacketEncoder, PacketError};
use crate::stream::{PACE, PIECE_MIN, Stream};

/// How long a read waits before it gives the thread back: short enough for timeouts and shutdowns,
/// long enough that a busy client finds its thread still there.
pub(crate) const READ_PAUSE: Duration = Duration::from_millis(100);

/// So many bytes of a reply are sent on their way.
const FLUSH_AT: usize = 64 << 10;

/// What a read takes at once.
pub(crate) const READ_SIZE: usize = 16 << 10;

/// How much of a refused packet is read so that the client can read the error.
const DRAIN_MAX: usize = 256 << 20;

/// The same of a client that has not logged in.
const LOGIN_DRAIN_MAX: usize = 256 << 10;

/// In how many pieces a login may come: the largest there is takes about a hundred packets of a slow network.
/// A login byte by byte costs the system a call and more for each.
const LOGIN_PIECES_MAX: u32 = 128;

/// Why the wait for a packet, a login or a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client is gone, or too slow.
    Gone(io::Error),
    /// Its packets are wrong: it gets the error, and the connection ends.
    Wrong(Error),
    /// What it asked for failed, or is denied: it gets the error.
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

/// What was received within a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// A payload.
    Payload,
    /// Nothing.
    Nothing,
    /// The end of the stream.
    End,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkTimeouts {
    /// `net_read_timeout`: for the rest of a packet that began.
    pub(crate) read: Duration,
    /// `net_write_timeout`: to take what is sent.
    pub(crate) write: Duration,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Channel {
    /// None only while TLS begins.
    stream: Option<Stream>,
    decoder: PacketDecoder,
    encoder: PacketEncoder,
    compression: Option<Compression>,
    /// What is sent, compressed.
    compressed: Vec<u8>,
    timeouts: NetworkTimeouts,
    drain_max: usize,
    /// Reads until the login was over.
    login_pieces: u32,
    received: u64,
    sent: u64,
    /// Bytes of replies that were sent, before they were compressed.
    replied: u64,
    /// How many they were, with those that waited, when that was asked last.
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

    /// The client asked for TLS.
    pub(crate) fn start_tls(&mut self, configuration: Arc<ServerConfig>) -> io::Result<()> {
        let stream = self.stream.take().ok_or_else(gone)?;
        let socket = stream.socket().clone();
        socket.set_timeouts(self.timeouts.read, self.timeouts.write)?;
        let begun = self.decoder.take_rest();
        self.stream = Some(stream.start_tls(configuration, &begun)?);
        socket.set_timeouts(READ_PAUSE, self.timeouts.write)
    }

    /// From here on everything is compressed.
    pub(crate) fn start_compression(&mut self, algorithm: Algorithm) {
        self.compression = Some(Compression::new(algorithm));
        self.decoder.count_outside();
    }

    /// A command begins: packets are counted anew.
    pub(crate) fn begin_command(&mut self) {
        self.decoder.begin_command();
        if let Some(compression) = &mut self.compression {
            compression.begin_command();
        }
    }

    /// Whether a packet has begun to come, or has come already.
    pub(crate) fn has_begun(&mut self) -> bool {
        !self.decoder.is_empty()
            || self.compression.as_ref().is_some_and(|it| !it.is_empty())
            || self.stream.as_mut().is_some_and(Stream::has_read_ahead)
    }

    /// The server sends a packet that is no reply.
    pub(crate) fn begin_reply(&mut self) {
        self.begin_command();
        self.encoder.set_sequence(0);
    }

    /// How many bytes were received and sent since this was asked last.
    pub(crate) fn take_traffic(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.received),
            std::mem::take(&mut self.sent),
        )
    }

    /// How many bytes of replies there are since this was asked last, sent or waiting to be sent, before they
    /// are compressed.
    pub(crate) fn take_replied(&mut self) -> u64 {
        let replied = self.replied + self.encoder.len() as u64;
        let before = std::mem::replace(&mut self.replied_before, replied);
        replied.saturating_sub(before)
    }

    /// Puts the next payload in `payload`, if one comes within a pause. A payload that has begun to
    /// come may take as long as `net_read_timeout` says.
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

    /// The next payload, for which the client has as long as `within`.
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

    /// The same within `net_read_timeout`.
    pub(crate) fn receive_now(&mut self, payload: &mut Vec<u8>) -> Result<(), Failure> {
        self.receive_within(payload, self.timeouts.read)
    }

    fn read_some(&mut self) -> Result<usize, Failure> {
        let mut bytes = [0; READ_SIZE];
        let read = loop {
            match self.stream()?.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // TLS that ends without a word.
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

    /// Expands the next compressed packet, if one has come.
    fn expand_next(&mut self) -> Result<bool, Failure> {
        let Some(compression) = &mut self.compression else {
            return Ok(false);
        };
        let decoder = &mut self.decoder;
        let expanded = compression.decode_next(|plain| decoder.feed(plain));
        expanded.map_err(|wrong| self.wrong(wrong))
    }

    /// The error of wrong packets. The rest of one that is too long is read, so that the client
    /// comes to read the error.
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

    /// Reads so many bytes and forgets them.
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

    /// Sends what waits, if it is much: whether it was.
    pub(crate) fn flush_if_full(&mut self) -> io::Result<bool> {
        let is_full = self.encoder.len() >= FLUSH_AT;
        if is_full {
            self.flush()?;
        }
        Ok(is_full)
    }

    /// Sends what waits.
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
        // Both sides count on from here.
        self.decoder.set_sequence(self.encoder.sequence());
        Ok(())
    }

    /// An idle connection needs no memory.
    pub(crate) fn release(&mut self) {
        self.decoder.release();
        self.encoder.release(0);
        self.compressed = Vec::new();
    }
}

/// There is no stream any more.
fn gone() -> io::Error {
    ErrorKind::NotConnected.into()
}

/// Whether a read ended because no byte came in time.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

//! Compressed packets: the content of each is a piece of the stream of plain packets.
//!
//! A header of seven bytes (compressed length, sequence number, plain length; a plain length of 0
//! says that the content is not compressed) and the content.

use std::io::Read;

use flate2::read::{ZlibDecoder, ZlibEncoder};

use super::{PAYLOAD_MAX, PacketError, number_of_three, three_bytes};

const HEADER: usize = 7;

/// Shorter pieces are not compressed: the protocol's own limit.
const LENGTH_MIN: usize = 50;

/// Number of bytes compressed at a time with zstd, whose tables are as large as its input (three MiB at the highest
/// level that is allowed), while larger pieces hardly compress better.
const ZSTD_PIECE: usize = 256 << 10;

/// Compression algorithm of the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// `zlib`, at its default level.
    Zlib,
    /// `zstd`, at a level.
    Zstd(i32),
}

impl Algorithm {
    /// Its name and level, as SHOW STATUS shows them.
    pub(crate) fn name_and_level(self) -> (&'static str, u32) {
        match self {
            Self::Zlib => ("zlib", flate2::Compression::default().level()),
            Self::Zstd(level) => ("zstd", level.unsigned_abs()),
        }
    }
}

/// The compressed side of a connection.
#[derive(Debug)]
pub(crate) struct Compression {
    algorithm: Algorithm,
    /// Received bytes of an incomplete packet.
    buffer: Vec<u8>,
    sequence: u8,
}

impl Compression {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            buffer: Vec::new(),
            sequence: 0,
        }
    }

    /// A command begins.
    pub(crate) fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// Whether no incomplete packet is buffered.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Appends received bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Passes the plain bytes of the next packet to `plain`; false when the packet is incomplete. One packet at a time:
    /// the bytes behind a command may be the next one, whose packets are numbered anew.
    pub(crate) fn decode_next(&mut self, plain: impl FnOnce(&[u8])) -> Result<bool, PacketError> {
        let Some(header) = self.buffer.get(..HEADER) else {
            return Ok(false);
        };
        let (length, plain_length) = (number_of_three(header), number_of_three(&header[4..]));
        if header[3] != self.sequence {
            return Err(PacketError::OutOfOrder);
        }
        let end = HEADER + length;
        let Some(content) = self.buffer.get(HEADER..end) else {
            return Ok(false);
        };
        match plain_length {
            0 => plain(content),
            _ => plain(&self.expand(content, plain_length)?),
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.buffer.drain(..end);
        if self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
        Ok(true)
    }

    /// Decompresses `content` to exactly `length` bytes, which is below 16 MiB: no packet can be larger inside.
    fn expand(&self, content: &[u8], length: usize) -> Result<Vec<u8>, PacketError> {
        let mut plain = Vec::new();
        let limit = length as u64 + 1;
        let read = match self.algorithm {
            Algorithm::Zlib => ZlibDecoder::new(content)
                .take(limit)
                .read_to_end(&mut plain),
            Algorithm::Zstd(_) => zstd::stream::read::Decoder::new(content)
                .and_then(|decoder| decoder.take(limit).read_to_end(&mut plain)),
        };
        match read {
            Ok(read) if read == length => Ok(plain),
            _ => Err(PacketError::Compression),
        }
    }

    /// Appends plain packets as compressed ones to `out`.
    pub(crate) fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
        let piece_bytes = match self.algorithm {
            // As in MySQL: mysql-connector-python reads a row from no more than two compressed packets.
            Algorithm::Zlib => PAYLOAD_MAX,
            Algorithm::Zstd(_) => ZSTD_PIECE,
        };
        for piece in plain.chunks(piece_bytes) {
            let begin = out.len();
            out.extend_from_slice(&[0; HEADER]);
            if piece.len() >= LENGTH_MIN {
                match self.algorithm {
                    Algorithm::Zlib => {
                        let level = flate2::Compression::default();
                        ZlibEncoder::new(piece, level).read_to_end(out)?;
                    }
                    Algorithm::Zstd(level) => {
                        // In one call: the compressor's tables then have the piece's size, not the level's.
                        out.extend_from_slice(&zstd::bulk::compress(piece, level)?);
                    }
                }
            }
            let is_smaller = (1..piece.len()).contains(&(out.len() - begin - HEADER));
            if !is_smaller {
                out.truncate(begin + HEADER);
                out.extend_from_slice(piece);
            }
            let length = out.len() - begin - HEADER;
            out[begin..begin + 3].copy_from_slice(&three_bytes(length));
            out[begin + 3] = self.sequence;
            let plain_length = if is_smaller { piece.len() } else { 0 };
            out[begin + 4..begin + 7].copy_from_slice(&three_bytes(plain_length));
            self.sequence = self.sequence.wrapping_add(1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(algorithm: Algorithm, plain: &[u8], step: usize) {
        let mut bytes = Vec::new();
        let mut sender = Compression::new(algorithm);
        sender.encode(plain, &mut bytes).expect("in memory");
        let mut receiver = Compression::new(algorithm);
        let mut came = Vec::new();
        for piece in bytes.chunks(step) {
            receiver.feed(piece);
            while receiver
                .decode_next(|plain| came.extend_from_slice(plain))
                .expect("what was encoded")
            {}
        }
        assert!(receiver.is_empty());
        assert!(came == plain);
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let long: Vec<u8> = (0..crate::packet::PAYLOAD_MAX + 1000)
            .map(|place| (place / 7) as u8)
            .collect();
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
            round_trip(algorithm, b"short", 1);
            round_trip(algorithm, &long[..1000], 3);
            round_trip(algorithm, &long, 1 << 20);
        }
    }

    #[test]
    fn commands_that_come_together_are_counted_apart() {
        let mut bytes = Vec::new();
        for command in [&b"first"[..], b"second"] {
            let mut sender = Compression::new(Algorithm::Zlib);
            sender.encode(command, &mut bytes).expect("in memory");
        }
        let mut receiver = Compression::new(Algorithm::Zlib);
        receiver.feed(&bytes);
        for command in [&b"first"[..], b"second"] {
            let decoded = receiver.decode_next(|plain| assert_eq!(plain, command));
            assert_eq!(decoded, Ok(true));
            receiver.begin_command();
        }
        assert_eq!(receiver.decode_next(|_| ()), Ok(false));
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut bytes = Vec::new();
        let mut sender = Compression::new(Algorithm::Zlib);
        sender
            .encode(&vec![0; 1 << 20], &mut bytes)
            .expect("in memory");
        // The header announces a smaller size than the content has.
        bytes[4..7].copy_from_slice(&three_bytes(1000));
        let mut receiver = Compression::new(Algorithm::Zlib);
        receiver.feed(&bytes);
        let refused = receiver.decode_next(|_| ());
        assert_eq!(refused, Err(PacketError::Compression));
    }
}

//! Compressed packets: the content of each is a piece of the stream of plain packets.
//!
//! A header of seven bytes (compressed length, sequence number, plain length; a plain length of 0
//! says that the content is not compressed) and the content.

use std::io::Read;

use flate2::read::{ZlibDecoder, ZlibEncoder};

use super::{PAYLOAD_MAX, PacketError, number_of_three, three_bytes};

const HEADER: usize = 7;

/// Shorter pieces are not worth it: the protocol's own limit.
const LENGTH_MIN: usize = 50;

/// How the content is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// `zlib`, at the usual level.
    Zlib,
    /// `zstd`, at a level of 1 to 22.
    Zstd(i32),
}

/// The compressed side of a connection.
#[derive(Debug)]
pub(crate) struct Compression {
    algorithm: Algorithm,
    /// Bytes that came and are no whole packet yet.
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

    /// Whether no bytes wait for the rest of their packet.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The plain bytes of what came, to `plain`.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        mut plain: impl FnMut(&[u8]),
    ) -> Result<(), PacketError> {
        self.buffer.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(header) = self.buffer.get(start..start + HEADER) {
            let (length, plain_length) = (number_of_three(header), number_of_three(&header[4..]));
            if header[3] != self.sequence {
                return Err(PacketError::OutOfOrder);
            }
            let begin = start + HEADER;
            let Some(content) = self.buffer.get(begin..begin + length) else {
                break;
            };
            self.sequence = self.sequence.wrapping_add(1);
            start = begin + length;
            match plain_length {
                0 => plain(content),
                _ => plain(&self.expand(content, plain_length)?),
            }
        }
        self.buffer.drain(..start);
        if self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
        Ok(())
    }

    /// Exactly `length` bytes, which is below 16 MiB: nothing that is sent can be larger inside.
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

    /// Plain packets as compressed ones, to `out`.
    pub(crate) fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
        for piece in plain.chunks(PAYLOAD_MAX) {
            let begin = out.len();
            out.extend_from_slice(&[0; HEADER]);
            if piece.len() >= LENGTH_MIN {
                match self.algorithm {
                    Algorithm::Zlib => {
                        let level = flate2::Compression::default();
                        ZlibEncoder::new(piece, level).read_to_end(out)?;
                    }
                    Algorithm::Zstd(level) => {
                        out.extend_from_slice(&zstd::stream::encode_all(piece, level)?);
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
            let decoded = receiver.decode(piece, |plain| came.extend_from_slice(plain));
            decoded.expect("what was encoded");
        }
        assert!(receiver.is_empty());
        assert!(came == plain);
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let long: Vec<u8> = (0..PAYLOAD_MAX + 1000)
            .map(|place| (place / 7) as u8)
            .collect();
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
            round_trip(algorithm, b"short", 1);
            round_trip(algorithm, &long[..1000], 3);
            round_trip(algorithm, &long, 1 << 20);
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut bytes = Vec::new();
        let mut sender = Compression::new(Algorithm::Zlib);
        sender
            .encode(&vec![0; 1 << 20], &mut bytes)
            .expect("in memory");
        // It says that it is smaller than it is.
        bytes[4..7].copy_from_slice(&three_bytes(1000));
        let refused = Compression::new(Algorithm::Zlib).decode(&bytes, |_| ());
        assert_eq!(refused, Err(PacketError::Compression));
    }
}

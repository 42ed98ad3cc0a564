//! Packets: decoding of the stream into payloads, and encoding of payloads. No I/O here.
//!
//! A packet is a header (length in three bytes, a sequence number) and a payload; a payload of
//! 16 MiB − 1 or more travels in several packets, of which the last is shorter. Both sides count the
//! packets of a command from 0. With compression the packets are the content of larger ones, which
//! have numbers of their own. See the protocol documentation, "MySQL Packets" and "Compression".

mod compression;
mod decoder;
mod encoder;
mod reader;

pub(crate) use self::compression::{Algorithm, Compression};
pub(crate) use self::decoder::{PacketDecoder, PacketError};
pub(crate) use self::encoder::PacketEncoder;
pub(crate) use self::reader::PayloadReader;

/// The longest payload of one packet; a payload of this length or more continues in the next packet.
pub(crate) const PAYLOAD_MAX: usize = 0xFF_FFFF;

/// Length of a header: payload length and sequence number.
pub(crate) const HEADER: usize = 4;

/// A number of three bytes.
pub(crate) fn number_of_three(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16
}

/// The three bytes of a number.
pub(crate) fn three_bytes(number: usize) -> [u8; 3] {
    [number as u8, (number >> 8) as u8, (number >> 16) as u8]
}

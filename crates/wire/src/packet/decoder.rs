//! Decodes a client's bytes into payloads.

use super::{HEADER, PAYLOAD_MAX, number_of_three};

/// Error in the bytes of a client. The connection ends: the start of the next packet is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketError {
    /// Error 1156: the packet has another sequence number than expected.
    OutOfOrder,
    /// Error 1153: the payload is longer than `max_allowed_packet`.
    TooLarge,
    /// Error 1157: a compressed packet cannot be decompressed.
    Compression,
}

/// Size to which the buffer shrinks, so that an idle connection is small.
const KEPT: usize = 16 << 10;

/// Decoder of received bytes into payloads.
#[derive(Debug, Default)]
pub(crate) struct PacketDecoder {
    /// Received bytes; those before `start` were read.
    buffer: Vec<u8>,
    start: usize,
    /// The received part of a payload in several packets.
    begun: Vec<u8>,
    is_begun: bool,
    sequence: u8,
    /// Whether sequence numbers are checked on the compressed packets around these: clients number the inner ones as
    /// they like.
    is_counted_outside: bool,
    max_payload: usize,
}

impl PacketDecoder {
    /// A decoder with a greatest payload length.
    pub(crate) fn new(max_payload: usize) -> Self {
        Self {
            max_payload,
            ..Self::default()
        }
    }

    /// Changes the greatest payload length.
    pub(crate) fn set_max_payload(&mut self, bytes: usize) {
        self.max_payload = bytes;
    }

    /// Ignores the sequence numbers of packets from here on.
    pub(crate) fn count_outside(&mut self) {
        self.is_counted_outside = true;
    }

    /// Begins a command: its packets are numbered from 0.
    pub(crate) fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// The sequence number of the next packet, of either side.
    pub(crate) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the client's next packet.
    pub(crate) fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Whether no bytes wait to be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.buffer.len() && !self.is_begun
    }

    /// Appends received bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether the next packet is complete.
    pub(crate) fn has_whole(&self) -> bool {
        self.missing() == Some(0)
    }

    /// Number of bytes missing of the packet whose header has come, if that is known.
    pub(crate) fn missing(&self) -> Option<usize> {
        let rest = &self.buffer[self.start..];
        let header = rest.get(..HEADER)?;
        Some((HEADER + number_of_three(header)).saturating_sub(rest.len()))
    }

    /// Replaces the content of `payload` by the next payload; false when it is incomplete.
    pub(crate) fn next(&mut self, payload: &mut Vec<u8>) -> Result<bool, PacketError> {
        loop {
            let rest = &self.buffer[self.start..];
            let Some(header) = rest.get(..HEADER) else {
                return Ok(false);
            };
            let length = number_of_three(header);
            if header[3] != self.sequence && !self.is_counted_outside {
                return Err(PacketError::OutOfOrder);
            }
            if self.begun.len() + length > self.max_payload {
                return Err(PacketError::TooLarge);
            }
            let Some(content) = rest.get(HEADER..HEADER + length) else {
                return Ok(false);
            };
            self.sequence = self.sequence.wrapping_add(1);
            let is_last = length < PAYLOAD_MAX;
            if is_last && !self.is_begun {
                payload.clear();
                payload.extend_from_slice(content);
            } else {
                self.begun.extend_from_slice(content);
                self.is_begun = true;
            }
            self.start += HEADER + length;
            if self.start == self.buffer.len() {
                self.buffer.clear();
                self.start = 0;
                self.buffer.shrink_to(KEPT);
            }
            if is_last {
                if self.is_begun {
                    *payload = std::mem::take(&mut self.begun);
                    self.is_begun = false;
                }
                return Ok(true);
            }
        }
    }

    /// Takes the received bytes that were not read: they belong to another protocol.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start);
        self.buffer.clear();
        self.start = 0;
        rest
    }

    /// Frees the memory of the buffer.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            self.buffer = Vec::new();
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PacketEncoder;
    use super::*;

    fn decode(bytes: &[u8], step: usize, max: usize) -> Result<Vec<Vec<u8>>, PacketError> {
        let mut decoder = PacketDecoder::new(max);
        let (mut payloads, mut payload) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(step) {
            decoder.feed(piece);
            while decoder.next(&mut payload)? {
                payloads.push(payload.clone());
            }
        }
        assert!(decoder.is_empty());
        Ok(payloads)
    }

    #[test]
    fn payloads_come_back_however_the_bytes_arrive() {
        let mut encoder = PacketEncoder::default();
        let sent: [&[u8]; 4] = [b"\x0e", b"", b"\x03SELECT 1", b"abc"];
        for payload in sent {
            encoder.packet(|out| out.extend_from_slice(payload));
        }
        let bytes = encoder.take();
        for step in [1, 2, 3, 5, 100] {
            assert_eq!(decode(&bytes, step, 100).expect("in order"), sent);
        }
    }

    #[test]
    fn payloads_of_several_packets_are_joined() {
        for length in [
            PAYLOAD_MAX - 1,
            PAYLOAD_MAX,
            PAYLOAD_MAX + 1,
            2 * PAYLOAD_MAX,
        ] {
            let sent: Vec<u8> = (0..length).map(|index| index as u8).collect();
            let mut encoder = PacketEncoder::default();
            encoder.packet(|out| out.extend_from_slice(&sent));
            encoder.packet(|out| out.push(7));
            let bytes = encoder.take();
            let came = decode(&bytes, 1 << 20, 64 << 20).expect("in order");
            assert!(came == [sent, vec![7]], "{length}");
        }
    }

    #[test]
    fn wrong_numbers_and_long_payloads_are_errors() {
        assert_eq!(
            decode(b"\x01\0\0\x01\x0e", 9, 9),
            Err(PacketError::OutOfOrder)
        );
        assert_eq!(decode(b"\x0a\0\0\0", 9, 9), Err(PacketError::TooLarge));
        let mut encoder = PacketEncoder::default();
        encoder.packet(|out| out.extend_from_slice(&vec![0; PAYLOAD_MAX + 10]));
        let bytes = encoder.take();
        let limit = PAYLOAD_MAX + 9;
        let refused = decode(&bytes, 1 << 20, limit);
        assert!(refused == Err(PacketError::TooLarge));
    }

    #[test]
    fn numbers_of_compressed_packets_mean_nothing() {
        let mut decoder = PacketDecoder::new(usize::MAX);
        decoder.count_outside();
        let mut first = vec![0xff, 0xff, 0xff, 0];
        first.resize(HEADER + PAYLOAD_MAX, b'x');
        decoder.feed(&first);
        decoder.feed(&[1, 0, 0, 0, b'y']);
        let mut payload = Vec::new();
        assert_eq!(decoder.next(&mut payload), Ok(true));
        assert_eq!(
            (payload.len(), payload.last()),
            (PAYLOAD_MAX + 1, Some(&b'y'))
        );
    }
}

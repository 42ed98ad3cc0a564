//! Encodes payloads into the bytes of packets.

use super::{HEADER, PAYLOAD_MAX, three_bytes};

/// Encoded packets that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct PacketEncoder {
    bytes: Vec<u8>,
    sequence: u8,
}

impl PacketEncoder {
    /// The number of the next packet.
    pub(crate) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet: one after the client's last.
    pub(crate) fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Appends a payload, which `write` appends to the bytes before it.
    pub(crate) fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER]);
        write(&mut self.bytes);
        let length = self.bytes.len() - begin - HEADER;
        if length >= PAYLOAD_MAX {
            self.split(begin);
        } else {
            self.header(begin, length);
        }
    }

    fn header(&mut self, at: usize, length: usize) {
        self.bytes[at..at + 3].copy_from_slice(&three_bytes(length));
        self.bytes[at + 3] = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Splits the payload behind the header at `begin`, which is too long for one packet.
    fn split(&mut self, begin: usize) {
        let payload = self.bytes.split_off(begin + HEADER);
        self.bytes.truncate(begin);
        let mut rest = payload.as_slice();
        loop {
            let (now, later) = rest.split_at(rest.len().min(PAYLOAD_MAX));
            let at = self.bytes.len();
            self.bytes.extend_from_slice(&[0; HEADER]);
            self.bytes.extend_from_slice(now);
            self.header(at, now.len());
            if now.len() < PAYLOAD_MAX {
                return;
            }
            rest = later;
        }
    }

    /// Number of waiting bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes that wait.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes the bytes after they were sent.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Takes the waiting bytes.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Removes the bytes behind `length`, so that the reply begins anew.
    pub(crate) fn truncate(&mut self, length: usize, sequence: u8) {
        self.bytes.truncate(length);
        self.sequence = sequence;
    }

    /// Frees the memory except `kept` bytes.
    pub(crate) fn release(&mut self, kept: usize) {
        if self.bytes.is_empty() {
            self.bytes.shrink_to(kept);
        }
    }
}

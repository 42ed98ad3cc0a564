//! Packets: their headers, and the limits of their bytes and time.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use super::channel::Channel;

/// Greatest number of bytes behind one header; a packet of that length continues behind the next
/// one.
const PIECE_MAX: usize = 0xff_ffff;

/// Reader and writer of packets.
#[derive(Debug)]
pub(super) struct Packets {
    channel: Channel,
    sequence: u8,
    /// Greatest size of a packet to be read.
    packet_max: usize,
    time: Duration,
}

impl Packets {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            sequence: 0,
            packet_max: 0,
            time: Duration::ZERO,
        }
    }

    /// Sets the remaining time, and the greatest size of a packet.
    pub(super) fn set_limits(&mut self, time: Duration, packet_max: usize) {
        self.packet_max = packet_max;
        self.time = time;
        // A time beyond the clock's range means no deadline.
        self.channel.set_deadline(Instant::now().checked_add(time));
    }

    /// Sets the greatest size of the packets that follow.
    pub(super) fn set_packet_max(&mut self, packet_max: usize) {
        self.packet_max = packet_max;
    }

    /// Begins a command: packets are numbered anew.
    pub(super) fn begin(&mut self) {
        self.sequence = 0;
    }

    pub(super) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Replaces the channel.
    pub(super) fn change_channel(
        &mut self,
        change: impl FnOnce(Channel) -> Result<Channel, String>,
    ) -> Result<(), String> {
        let old = std::mem::replace(&mut self.channel, Channel::closed());
        self.channel = change(old)?;
        Ok(())
    }

    /// Closes the channel.
    pub(super) fn close(&mut self) {
        self.channel = Channel::closed();
    }

    /// Reads a packet.
    pub(super) fn read(&mut self) -> Result<Vec<u8>, String> {
        let mut packet = Vec::new();
        loop {
            let mut header = [0; 4];
            let read = self.channel.read_exact(&mut header);
            read.map_err(|error| self.failed(&error))?;
            let [a, b, c, sequence] = header;
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            if sequence != self.sequence {
                return Err("the server sends packets out of order".to_owned());
            }
            self.sequence = self.sequence.wrapping_add(1);
            if packet.len() + length > self.packet_max {
                return Err(format!(
                    "the server sends a packet of more than {} bytes",
                    self.packet_max
                ));
            }
            let before = packet.len();
            // Memory is allocated for received bytes, not for the announced length.
            let piece = (&mut self.channel).take(length as u64);
            let read = { piece }.read_to_end(&mut packet);
            read.map_err(|error| self.failed(&error))?;
            if packet.len() != before + length {
                return Err(LOST.to_owned());
            }
            if length < PIECE_MAX {
                return Ok(packet);
            }
        }
    }

    /// Writes a packet.
    pub(super) fn write(&mut self, packet: &[u8]) -> Result<(), String> {
        let mut bytes = Vec::with_capacity(packet.len() + 8);
        let mut rest = packet;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(PIECE_MAX));
            let [a, b, c, _] = (piece.len() as u32).to_le_bytes();
            bytes.extend_from_slice(&[a, b, c, self.sequence]);
            bytes.extend_from_slice(piece);
            self.sequence = self.sequence.wrapping_add(1);
            rest = after;
            if piece.len() < PIECE_MAX {
                break;
            }
        }
        let written = self.channel.write_all(&bytes);
        let written = written.and_then(|()| self.channel.flush());
        written.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> String {
        match error.kind() {
            std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => format!(
                "the server has not answered within {} seconds",
                self.time.as_secs_f32()
            ),
            std::io::ErrorKind::UnexpectedEof => LOST.to_owned(),
            _ => error.to_string(),
        }
    }
}

const LOST: &str = "the server has closed the connection";

//! The buffer of a scanner.

use mayfly_memory::io::DIRECT_ALIGNMENT;

/// Memory for one read, aligned for reads past the page cache, with room before it for the beginning of a row whose end
/// is in the next read: so every row is contiguous.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Offset of the area for reads.
    area: usize,
    area_bytes: usize,
}

impl Buffer {
    /// A buffer for reads of `read_bytes`, and rows of `row_bytes`. It is allocated as zeros, so that new memory from
    /// the system is first touched by reads, as with MySQL's buffers.
    pub(crate) fn new(read_bytes: usize, row_bytes: usize) -> Self {
        let head = row_bytes.next_multiple_of(DIRECT_ALIGNMENT);
        let bytes = vec![0; head + DIRECT_ALIGNMENT + read_bytes];
        let area = head + bytes[head..].as_ptr().align_offset(DIRECT_ALIGNMENT);
        Self {
            bytes,
            area,
            area_bytes: read_bytes,
        }
    }

    pub(crate) fn area_bytes(&self) -> usize {
        self.area_bytes
    }

    /// The area for a read of `bytes` bytes.
    pub(crate) fn area(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.bytes[self.area..self.area + bytes]
    }

    /// The last `kept` bytes before the area and the first `read` bytes in it.
    pub(crate) fn content(&self, kept: usize, read: usize) -> &[u8] {
        &self.bytes[self.area - kept..self.area + read]
    }

    /// Keeps the last `count` of the first `read` bytes of the area, and the bytes kept before them, by moving them
    /// before the area.
    pub(crate) fn keep(&mut self, count: usize, read: usize) {
        let end = self.area + read;
        self.bytes.copy_within(end - count..end, self.area - count);
    }
}

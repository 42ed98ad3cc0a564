//! The buffer of a scanner.

use mayfly_memory::io::DIRECT_ALIGNMENT;

/// Memory for one read, at an address that reads past the cache accept, with room before it for the beginning of a row whose
/// end is in the next read: so every row lies in one piece.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Where reads go.
    area: usize,
    area_bytes: usize,
}

impl Buffer {
    /// A buffer for reads of `read_bytes`, and rows of `row_bytes`. The allocator is asked for zeros, so that memory it takes from the
    /// system is touched by reads only, as with MySQL's buffers.
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

    /// Where a read of so many bytes goes.
    pub(crate) fn area(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.bytes[self.area..self.area + bytes]
    }

    /// The last `kept` bytes before the area and the first `read` bytes in it.
    pub(crate) fn content(&self, kept: usize, read: usize) -> &[u8] {
        &self.bytes[self.area - kept..self.area + read]
    }

    /// Keeps the last `count` of the first `read` bytes of the area, and what was kept before them, by moving them before the area.
    pub(crate) fn keep(&mut self, count: usize, read: usize) {
        let end = self.area + read;
        self.bytes.copy_within(end - count..end, self.area - count);
    }
}

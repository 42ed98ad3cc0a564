//! Memory of a statement's syntax tree, which is held until the statement ends. [`super::memory`] reserves it.

use mayfly_memory::Reservation;

/// Tree size above which free memory is returned to the system after the statement.
const LARGE_STATEMENT: u64 = 8 << 20;

/// Memory of a statement's tree.
#[derive(Debug, Default)]
pub(crate) struct TreeMemory(pub(super) Option<Reservation>);

impl TreeMemory {
    /// Releases the memory.
    pub(crate) fn free(&mut self) {
        if let Some(held) = self.0.take()
            && held.bytes() > LARGE_STATEMENT
        {
            mayfly_memory::trim_allocator();
        }
    }
}

//! Stack for what goes as deep as a statement.

/// How deep a walk may go before it continues on a new piece of stack.
const RED_ZONE: usize = 96 << 10;
/// How large such a piece is.
const STACK_PIECE: usize = 2 << 20;

/// Runs a recursive step with enough stack below it.
pub(crate) fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, step)
}

//! Stack for what goes as deep as a plan or an expression.

/// How much stack is left when a step continues on a new piece: what an operator or a function uses between two steps
/// stays below.
const RED_ZONE: usize = 128 << 10;
/// How large a new piece is.
const STACK_PIECE: usize = 1 << 20;

/// Runs a recursive step with enough stack below it.
#[inline]
pub(crate) fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, step)
}
